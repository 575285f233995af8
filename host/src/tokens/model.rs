//! A token, and whether it is good.
//!
//! Invariants:
//! - The secret itself is never here: only its hash is.
//! - [`access`] alone says what a token's holder may do; nothing else looks at its parts for that.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    events::Subject,
    ids::{ServiceAccountId, TokenId},
    records::Records,
    resource::{Kind, Meta},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub id: TokenId,
    /// Being deleted is being revoked.
    pub meta: Meta,
    /// That it belongs to; it stands alone without.
    pub account: Option<ServiceAccountId>,
    /// The token that it was made with, unless an administrator made it. It ends with that.
    pub made_with: Option<TokenId>,
    pub spec: TokenSpec,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub hash: String,
    pub secret_changed_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSpec {
    /// Just if it stands alone.
    pub role: Option<Role>,
    pub expires_at: Option<Timestamp>,
}

/// What a caller may do; each may all that the one before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Changes all but service accounts and tokens.
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
    pub fn revoked_at(&self) -> Option<Timestamp> {
        self.meta.deleting_since
    }

    /// Since when it is revoked or expired, if it is.
    pub fn over_since(&self, now: Timestamp) -> Option<Timestamp> {
        let expired = self.spec.expires_at.filter(|expires| *expires <= now);
        self.revoked_at().into_iter().chain(expired).min()
    }

    pub fn is_over(&self, now: Timestamp) -> bool {
        self.over_since(now).is_some()
    }

    /// `ACCOUNT/NAME`, or `NAME` of one that stands alone.
    pub fn key(&self, records: &Records) -> String {
        match self.account_name(records) {
            Some(account) => format!("{account}/{}", self.meta.name),
            None => self.meta.name.clone(),
        }
    }

    /// The account's name, or its id when it is gone.
    pub fn account_name(&self, records: &Records) -> Option<String> {
        let id = self.account?;
        let account = records.service_accounts.get(&id);
        Some(account.map_or_else(|| id.to_string(), |account| account.meta.name.clone()))
    }

    pub(super) fn subject(&self, records: &Records) -> Subject {
        Subject {
            kind: Kind::Token,
            id: self.id.to_string(),
            name: self.key(records),
            generation: self.meta.generation,
        }
    }
}

/// Why a token is not good. The text continues "the token ...".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Void {
    #[error("was revoked")]
    Revoked,
    #[error("has expired")]
    Expired,
    #[error("belongs to the service account `{name}`, which is disabled")]
    AccountDisabled { name: String },
    #[error("belongs to a service account that was deleted")]
    AccountDeleted,
    #[error("was made with another token, which is not valid any more")]
    MakerEnded,
}

impl Void {
    /// One word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Revoked => "Revoked",
            Self::Expired => "Expired",
            Self::AccountDisabled { .. } => "AccountDisabled",
            Self::AccountDeleted => "AccountDeleted",
            Self::MakerEnded => "MakerEnded",
        }
    }
}

/// What the holder of a token may do now.
pub fn access(records: &Records, token: &Token, now: Timestamp) -> Result<Role, Void> {
    if token.revoked_at().is_some() {
        return Err(Void::Revoked);
    }
    if token.is_over(now) {
        return Err(Void::Expired);
    }
    if let Some(id) = &token.account {
        let account = records.service_accounts.get(id).ok_or(Void::AccountDeleted)?;
        if account.spec.disabled {
            return Err(Void::AccountDisabled { name: account.meta.name.clone() });
        }
        return Ok(account.spec.role);
    }
    let own = token.spec.role.unwrap_or(Role::Viewer);
    let Some(maker) = &token.made_with else { return Ok(own) };
    // What was made with a token makes none itself, so this goes one step and no further.
    let maker = records.tokens.get(maker).ok_or(Void::MakerEnded)?;
    let most = access(records, maker, now).map_err(|_| Void::MakerEnded)?;
    Ok(own.min(most))
}

/// When a token ends by itself, if it does.
pub fn ends_at(records: &Records, token: &Token) -> Option<Timestamp> {
    let maker = token.made_with.and_then(|maker| records.tokens.get(&maker));
    [Some(token), maker.map(|it| &**it)]
        .into_iter()
        .flatten()
        .filter_map(|it| it.spec.expires_at)
        .min()
}

/// By id, or by name among those that are neither revoked nor expired.
pub fn find<'a>(records: &'a Records, key: &str, now: Timestamp) -> Option<&'a Token> {
    if let Some(token) = key.parse().ok().and_then(|id: TokenId| records.tokens.get(&id)) {
        return Some(token);
    }
    let (account, name) = match key.split_once('/') {
        Some((account, name)) => (Some(records.service_account(account)?.id), name),
        None => (None, key),
    };
    let is_it = |it: &Token| it.account == account && it.meta.name == name && !it.is_over(now);
    records.tokens.values().map(|it| &**it).find(|it| is_it(it))
}
