//! A token, and how one is made and revoked.
//!
//! The secret itself is never here: only its hash is.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    admission::{Answer, Context, Decision, Refusal},
    events::{Event, Subject, Verb},
    ids::TokenId,
    records::{Change, Record, Records},
    resource::{self, Kind},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub id: TokenId,
    pub name: String,
    pub role: Role,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub hash: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// What a caller may do; each may all that the one before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Changes all but tokens.
    Editor,
    Admin,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}

impl Token {
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires| now < expires)
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: Kind::Token,
            id: self.id.to_string(),
            name: self.name.clone(),
            generation: 0,
        }
    }
}

/// A token that shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    pub name: String,
    pub role: Role,
    pub hash: String,
    pub expires_at: Option<Timestamp>,
}

pub fn create(
    cx: &Context<'_>,
    new: &NewToken,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    resource::check_name("name", &new.name, &mut found);
    if new.expires_at.is_some_and(|expires| expires <= cx.now) {
        found.add("expires_at", "it lies in the past: give a time to come, or leave it out");
    }
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let same = |token: &&Arc<Token>| token.revoked_at.is_none() && token.name == new.name;
    if let Some(token) = cx.records.tokens.values().find(same) {
        return Err(Refusal::NameExists {
            kind: Kind::Token,
            name: new.name.clone(),
            id: token.id.to_string(),
        });
    }
    let token = Token {
        id: TokenId::new(cx.ids),
        name: new.name.clone(),
        role: new.role,
        hash: new.hash.clone(),
        created_at: cx.now,
        expires_at: new.expires_at,
        revoked_at: None,
    };
    Ok(decision(token, Verb::Created))
}

/// The name of the token whose secret lies in the data folder.
pub const FIRST_TOKEN: &str = "admin";

/// Puts a new administrator's token in the place of the one that lies in the data folder.
pub fn replace_first(cx: &Context<'_>, hash: &str) -> Decision {
    let is_old = |it: &&Arc<Token>| it.revoked_at.is_none() && it.name == FIRST_TOKEN;
    let old = cx.records.tokens.values().find(is_old);
    let revoked = old.map(|old| Token { revoked_at: Some(cx.now), ..Token::clone(old) });
    let new = Token {
        id: TokenId::new(cx.ids),
        name: FIRST_TOKEN.to_owned(),
        role: Role::Admin,
        hash: hash.to_owned(),
        created_at: cx.now,
        expires_at: None,
        revoked_at: None,
    };
    let mut both = decision(new, Verb::Created);
    if let Some(revoked) = revoked {
        let Decision { changes, events, answer: _ } = decision(revoked, Verb::Revoked);
        both.changes.extend(changes);
        both.events.extend(events);
    }
    both
}

/// Revoking what is revoked changes nothing. The last administrator's token that does not expire
/// stays, or nobody could make another.
pub fn revoke(cx: &Context<'_>, key: &str) -> Result<Decision, Refusal> {
    let token = find(cx.records, key)
        .ok_or_else(|| Refusal::NotFound { kind: Kind::Token, key: key.to_owned() })?;
    if token.revoked_at.is_some() {
        return Ok(Decision::unchanged(Answer::Token(Arc::clone(token))));
    }
    let lasts = |token: &Token| {
        token.role == Role::Admin && token.revoked_at.is_none() && token.expires_at.is_none()
    };
    let others = cx.records.tokens.values().filter(|it| it.id != token.id && lasts(it)).count();
    if lasts(token) && others == 0 {
        return Err(Refusal::LastAdministrator { name: token.name.clone() });
    }
    Ok(decision(Token { revoked_at: Some(cx.now), ..Token::clone(token) }, Verb::Revoked))
}

fn decision(token: Token, verb: Verb) -> Decision {
    let token = Arc::new(token);
    Decision {
        events: vec![(token.subject(), Event::declared(verb))],
        changes: vec![Change::Put(Record::Token(Arc::clone(&token)))],
        answer: Answer::Token(token),
    }
}

/// By id, or by name among those that are not revoked.
fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Arc<Token>> {
    let by_name = || records.tokens.values().find(|it| it.revoked_at.is_none() && it.name == key);
    key.parse().ok().and_then(|id: TokenId| records.tokens.get(&id)).or_else(by_name)
}
