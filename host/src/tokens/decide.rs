//! How tokens are made, changed and revoked.
//!
//! Invariants:
//! - Nobody makes a token that may more than they themselves, nor one that outlives theirs, but
//!   administrators.
//! - One administrator's token that stands alone and does not expire always stays.
//! - What is revoked or has expired never becomes good again: whoever takes its name or its secret
//!   has it revoked first.
//! - Of those that are over, not more than [`KEPT`] are kept, and none longer than [`KEPT_FOR`].
//! - One token makes not more than [`MADE_MAX`] that are good at a time, but an administrator's.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};

use super::model::{Role, Token, TokenSpec, find};
use crate::{
    admission::{Answer, Context, Decision, Refusal},
    events::{Event, HOST_ACTOR, Subject, TokenRotated, Verb},
    ids::{ServiceAccountId, TokenId},
    records::{Change, Record},
    resource::{self, Kind, Meta},
    violations::Violations,
};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Maker {
    pub token: TokenId,
    pub role: Role,
}

/// A token that shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Id or name of its service account; empty: none.
    pub account: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub spec: TokenSpec,
    pub hash: String,
    pub maker: Maker,
}

/// What a token shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUpdate {
    pub key: String,
    pub labels: BTreeMap<String, String>,
    pub spec: TokenSpec,
    /// Of a new secret.
    pub hash: Option<String>,
    /// 0: whatever it has.
    pub revision: u64,
    pub by: Maker,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    pub key: String,
    /// 0: whatever it has.
    pub revision: u64,
    pub by: Maker,
}

/// How long a token may live that is not made by an administrator.
const DERIVED_FOR: SignedDuration = SignedDuration::from_hours(24);
/// How many of the tokens that it made may be good at a time, if it is no administrator's.
pub const MADE_MAX: usize = 100;
/// How long tokens are kept that are revoked or have expired.
pub const KEPT_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How many tokens are kept that are revoked or have expired.
pub const KEPT: usize = 1000;

/// The name of the token whose secret lies in the data folder.
pub const FIRST_TOKEN: &str = "admin";

pub fn create(
    cx: &Context<'_>,
    new: &NewToken,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    resource::check_name("name", &new.name, &mut found);
    if new.account.is_empty() && new.name == HOST_ACTOR {
        found.add("name", "the event log calls the host itself so: choose another name");
    }
    resource::check_labels("labels", &new.labels, &mut found);
    check_end(cx, new.spec.expires_at, &mut found);
    let account = account(cx, new, &mut found);
    if new.maker.role < Role::Admin {
        check_derived(cx, new, &mut found)?;
    }
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let token = Token {
        id: TokenId::new(cx.ids),
        meta: Meta::first(new.name.clone(), new.labels.clone(), cx.now),
        account,
        made_with: (new.maker.role < Role::Admin).then_some(new.maker.token),
        spec: new.spec.clone(),
        hash: new.hash.clone(),
        secret_changed_at: cx.now,
    };
    let mut decision = Decision::unchanged(Answer::Done);
    make_room(cx, &token, &mut decision)?;
    decision.put(cx, token, &[Event::declared(Verb::Created)]);
    prune(cx, &mut decision);
    Ok(decision)
}

/// Finds its service account; and its role must come from one place.
fn account(cx: &Context<'_>, new: &NewToken, found: &mut Violations) -> Option<ServiceAccountId> {
    if new.account.is_empty() {
        if new.spec.role.is_none() {
            found.add("spec.role", super::NO_ROLE);
        }
        return None;
    }
    if new.spec.role.is_some() {
        found.add("spec.role", ROLE_OF_ACCOUNT);
    }
    let account = cx.records.service_account(&new.account);
    if account.is_none() {
        let key = resource::quoted(&new.account);
        let message = format!("service account {key} does not exist: create it first");
        found.add("service_account", message);
    }
    account.map(|account| account.id)
}

const ROLE_OF_ACCOUNT: &str = "a token of a service account has the account's role: leave it out";

fn check_end(cx: &Context<'_>, expires_at: Option<Timestamp>, found: &mut Violations) {
    if expires_at.is_some_and(|expires| expires <= cx.now) {
        found.add("spec.expires_at", "it lies in the past: give a time to come, or leave it out");
    }
}

/// What holds for a token that no administrator makes.
fn check_derived(cx: &Context<'_>, new: &NewToken, found: &mut Violations) -> Result<(), Refusal> {
    if !new.account.is_empty() {
        return refused("only an administrator makes tokens of a service account");
    }
    let maker = cx.records.tokens.get(&new.maker.token);
    if maker.is_none_or(|maker| maker.made_with.is_some()) {
        return refused("a token that was made with another makes none itself");
    }
    let is_made = |it: &&Arc<Token>| it.made_with == Some(new.maker.token) && !it.is_over(cx.now);
    if cx.records.tokens.values().filter(is_made).count() >= MADE_MAX {
        return Err(Refusal::TooManyTokens { most: MADE_MAX });
    }
    check_limits(cx, &new.spec, new.maker, found)
}

/// A token that no administrator makes may not more than the one it is made with, nor for longer.
fn check_limits(
    cx: &Context<'_>,
    spec: &TokenSpec,
    by: Maker,
    found: &mut Violations,
) -> Result<(), Refusal> {
    if let Some(wanted) = spec.role.filter(|wanted| *wanted > by.role) {
        let (role, wanted) = (by.role.name(), wanted.name());
        let why = format!("the token of a {role} can not make one of the role {wanted}");
        return Err(Refusal::RoleTooLow { why });
    }
    let own_end = cx.records.tokens.get(&by.token).and_then(|own| own.spec.expires_at);
    let day = cx.now.saturating_add(DERIVED_FOR).unwrap_or(Timestamp::MAX);
    let most = own_end.map_or(day, |end| end.min(day));
    if spec.expires_at.is_none_or(|end| end > most) {
        let message = format!(
            "a token that no administrator makes expires within a day, and no later than the one \
             it is made with: give a time up to {most}"
        );
        found.add("spec.expires_at", message);
    }
    Ok(())
}

fn refused<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal::RoleTooLow { why: why.to_owned() })
}

/// Administrators handle all tokens, everybody else the ones that they have made. Whether there are
/// others is not their business.
fn lookup_of<'a>(
    cx: &Context<'a>,
    (key, revision): (&str, u64),
    by: Maker,
) -> Result<&'a Token, Refusal> {
    let token = lookup(cx, key, revision);
    let is_made_by = |token: &&Token| token.made_with == Some(by.token);
    if by.role < Role::Admin && !token.as_ref().is_ok_and(is_made_by) {
        return refused(
            "only an administrator handles tokens that were not made with the caller's own",
        );
    }
    token
}

/// No token that is still good has the same name or secret. One that has expired gives way.
fn make_room(cx: &Context<'_>, token: &Token, decision: &mut Decision) -> Result<(), Refusal> {
    let others = cx.records.tokens.values();
    for other in others.filter(|it| it.id != token.id && it.revoked_at().is_none()) {
        let same_name = other.account == token.account && other.meta.name == token.meta.name;
        let same_secret = other.hash == token.hash;
        if !same_name && !same_secret {
            continue;
        }
        if other.is_over(cx.now) {
            let (change, event) = revoked(cx, other);
            decision.changes.push(change);
            decision.events.push(event);
        } else if same_name {
            let (name, id) = (token.key(cx.records), other.id.to_string());
            return Err(Refusal::NameExists { kind: Kind::Token, name, id });
        } else {
            let mut found = Violations::default();
            found.add("spec.secret", "another token has it: choose a secret of its own");
            return Err(Refusal::Invalid(found.into_vec()));
        }
    }
    Ok(())
}

pub fn update(
    cx: &Context<'_>,
    it: &TokenUpdate,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    let current = lookup_of(cx, (&it.key, it.revision), it.by)?;
    if it.by.role < Role::Admin {
        check_limits(cx, &it.spec, it.by, &mut found)?;
    }
    let name = current.key(cx.records);
    resource::check_labels("labels", &it.labels, &mut found);
    if it.spec.expires_at != current.spec.expires_at {
        check_end(cx, it.spec.expires_at, &mut found);
    }
    match (current.account, it.spec.role) {
        (Some(_), Some(_)) => found.add("spec.role", ROLE_OF_ACCOUNT),
        (None, None) => found.add("spec.role", super::NO_ROLE),
        (Some(_), None) | (None, Some(_)) => {}
    }
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    if current.revoked_at().is_some() {
        return Err(Refusal::BeingDeleted { kind: Kind::Token, name });
    }
    let rotates = it.hash.as_ref().is_some_and(|hash| *hash != current.hash);
    if !rotates && current.meta.labels == it.labels && current.spec == it.spec {
        return Ok(Decision::unchanged(Answer::Token(Arc::new(current.clone()))));
    }
    let after = Token {
        meta: current.meta.declared_anew(it.labels.clone(), cx.now),
        spec: it.spec.clone(),
        hash: it.hash.clone().unwrap_or_else(|| current.hash.clone()),
        secret_changed_at: if rotates { cx.now } else { current.secret_changed_at },
        ..current.clone()
    };
    if lasts(current) && !lasts(&after) {
        keep_one(cx, current)?;
    }
    let mut decision = Decision::unchanged(Answer::Done);
    make_room(cx, &after, &mut decision)?;
    let rotated = rotates.then_some(Event::TokenRotated(TokenRotated {}));
    let events: Vec<_> = [Event::declared(Verb::Updated)].into_iter().chain(rotated).collect();
    decision.put(cx, after, &events);
    prune(cx, &mut decision);
    Ok(decision)
}

/// Revoking what is revoked changes nothing.
pub fn revoke(cx: &Context<'_>, it: &Revocation) -> Result<Decision, Refusal> {
    let token = match lookup(cx, &it.key, it.revision) {
        // Every token may end itself.
        Ok(token) if token.id == it.by.token => token,
        _ => lookup_of(cx, (&it.key, it.revision), it.by)?,
    };
    if token.revoked_at().is_some() {
        return Ok(Decision::unchanged(Answer::Token(Arc::new(token.clone()))));
    }
    if lasts(token) {
        keep_one(cx, token)?;
    }
    let (change, event) = revoked(cx, token);
    let answer = match &change {
        Change::Put(Record::Token(token)) => Answer::Token(Arc::clone(token)),
        _ => Answer::Done,
    };
    let mut decision = Decision { changes: vec![change], events: vec![event], answer };
    prune(cx, &mut decision);
    Ok(decision)
}

/// What it is to revoke a token.
pub(crate) fn revoked(cx: &Context<'_>, token: &Token) -> (Change, (Subject, Event)) {
    let meta = Meta {
        revision: token.meta.revision + 1,
        updated_at: cx.now,
        deleting_since: Some(cx.now),
        ..token.meta.clone()
    };
    let token = Token { meta, ..token.clone() };
    let event = (token.subject(cx.records), Event::declared(Verb::Revoked));
    (Change::Put(Record::Token(Arc::new(token))), event)
}

/// Puts a new administrator's token in the place of the one that lies in the data folder.
pub fn replace_first(cx: &Context<'_>, hash: &str) -> Decision {
    let mut decision = Decision::unchanged(Answer::Done);
    let is_old = |it: &&Arc<Token>| {
        it.account.is_none() && it.revoked_at().is_none() && it.meta.name == FIRST_TOKEN
    };
    if let Some(old) = cx.records.tokens.values().find(is_old) {
        let (change, event) = revoked(cx, old);
        decision.changes.push(change);
        decision.events.push(event);
    }
    let new = Token {
        id: TokenId::new(cx.ids),
        meta: Meta::first(FIRST_TOKEN.to_owned(), BTreeMap::new(), cx.now),
        account: None,
        made_with: None,
        spec: TokenSpec { role: Some(Role::Admin), expires_at: None },
        hash: hash.to_owned(),
        secret_changed_at: cx.now,
    };
    decision.put(cx, new, &[Event::declared(Verb::Created)]);
    decision
}

impl Decision {
    fn put(&mut self, cx: &Context<'_>, token: Token, events: &[Event]) {
        let subject = token.subject(cx.records);
        let token = Arc::new(token);
        self.changes.push(Change::Put(Record::Token(Arc::clone(&token))));
        self.events.extend(events.iter().map(|event| (subject.clone(), event.clone())));
        self.answer = Answer::Token(token);
    }
}

fn lookup<'a>(cx: &Context<'a>, key: &str, revision: u64) -> Result<&'a Token, Refusal> {
    let not_found = || Refusal::NotFound { kind: Kind::Token, key: key.to_owned() };
    let token = find(cx.records, key, cx.now).ok_or_else(not_found)?;
    let has = token.meta.revision;
    if revision != 0 && revision != has {
        let name = token.key(cx.records);
        return Err(Refusal::RevisionMismatch { kind: Kind::Token, name, wanted: revision, has });
    }
    Ok(token)
}

/// An administrator's for good: not one that an account, another token or time may void.
fn lasts(token: &Token) -> bool {
    token.spec == TokenSpec { role: Some(Role::Admin), expires_at: None }
        && token.made_with.is_none()
        && token.revoked_at().is_none()
}

/// Without one of those nobody could make another.
fn keep_one(cx: &Context<'_>, token: &Token) -> Result<(), Refusal> {
    if cx.records.tokens.values().any(|it| it.id != token.id && lasts(it)) {
        return Ok(());
    }
    Err(Refusal::LastAdministrator { name: token.meta.name.clone() })
}

/// Lets go of tokens that have been over for long, and of the oldest of too many.
fn prune(cx: &Context<'_>, decision: &mut Decision) {
    let over = cx.records.tokens.values().filter_map(|it| Some((it.over_since(cx.now)?, it)));
    let mut over: Vec<_> = over.collect();
    over.sort_by_key(|(since, token)| (*since, token.id));
    let too_many = over.len().saturating_sub(KEPT);
    let is_old = |since: Timestamp| cx.now.duration_since(since) > KEPT_FOR;
    let going =
        over.iter().enumerate().filter(|(index, (since, _))| *index < too_many || is_old(*since));
    for (_, (_, token)) in going {
        let is_news =
            |change: &Change| matches!(change, Change::Put(Record::Token(it)) if it.id == token.id);
        if !decision.changes.iter().any(is_news) {
            decision.changes.push(Change::Remove(Record::Token(Arc::clone(token))));
        }
    }
}

#[cfg(test)]
mod tests;
