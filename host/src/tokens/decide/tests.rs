//! What time does to tokens.

use super::*;
use crate::{
    ids::SystemIds,
    records::Records,
    tokens::model::{Void, access},
};

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn at(days: i32) -> Timestamp {
    Timestamp::UNIX_EPOCH + DAY * days
}

/// Decides at a time, and applies what was decided.
fn run(
    records: &mut Records,
    now: Timestamp,
    decide: impl FnOnce(&Context<'_>) -> Result<Decision, Refusal>,
) -> Result<Answer, Refusal> {
    let decision = decide(&Context { records, now, ids: &SystemIds })?;
    *records = records.with(&decision.changes);
    Ok(decision.answer)
}

fn new(name: &str, expires_at: Option<Timestamp>) -> NewToken {
    NewToken {
        account: String::new(),
        name: name.to_owned(),
        labels: BTreeMap::new(),
        spec: TokenSpec { role: Some(Role::Viewer), expires_at },
        hash: format!("hash of {name}"),
        maker: Maker { token: TokenId::FIRST, role: Role::Admin },
    }
}

fn create_at(records: &mut Records, now: Timestamp, new: &NewToken) -> Result<Answer, Refusal> {
    run(records, now, |cx| create(cx, new, Violations::default()))
}

#[test]
fn tokens_that_are_over_are_kept_for_a_while_and_not_too_many() {
    let mut records = Records::default();
    create_at(&mut records, at(0), &new("short", Some(at(1)))).unwrap();
    create_at(&mut records, at(0), &new("long", None)).unwrap();
    create_at(&mut records, at(8), &new("now", None)).unwrap();
    assert!(find(&records, "short", at(8)).is_none(), "its name is free");
    assert_eq!(records.tokens.len(), 3, "seven days have not passed");
    create_at(&mut records, at(9), &new("later", None)).unwrap();
    assert_eq!(records.tokens.len(), 3);
    assert!(records.tokens.values().all(|it| it.meta.name != "short"));

    for number in 0..=KEPT {
        let name = format!("run-{number}");
        create_at(&mut records, at(9), &new(&name, Some(at(10)))).unwrap();
    }
    create_at(&mut records, at(11), &new("last", None)).unwrap();
    assert_eq!(records.tokens.values().filter(|it| it.is_over(at(11))).count(), KEPT);
}

#[test]
fn an_expired_token_whose_secret_is_taken_is_not_good_again_when_the_clock_is_set_back() {
    let mut records = Records::default();
    create_at(&mut records, at(0), &new("one", Some(at(1)))).unwrap();
    let same_secret = NewToken { hash: "hash of one".to_owned(), ..new("two", None) };
    assert!(create_at(&mut records, at(0), &same_secret).is_err());
    create_at(&mut records, at(2), &same_secret).unwrap();
    let one = records.tokens.values().find(|it| it.meta.name == "one").unwrap();
    assert_eq!(access(&records, one, at(0)), Err(Void::Revoked));
}

#[test]
fn a_token_made_with_another_is_never_good_for_more_or_longer() {
    let mut records = Records::default();
    let maker = NewToken {
        spec: TokenSpec { role: Some(Role::Editor), expires_at: Some(at(5)) },
        ..new("maker", None)
    };
    let Ok(Answer::Token(maker)) = create_at(&mut records, at(0), &maker) else { panic!() };
    let by = Maker { token: maker.id, role: Role::Editor };
    let editor = |expires_at| NewToken {
        maker: by,
        spec: TokenSpec { role: Some(Role::Editor), expires_at },
        ..new("run", None)
    };
    let late = editor(Some(at(5) + SignedDuration::from_secs(1)));
    assert!(matches!(create_at(&mut records, at(4), &late), Err(Refusal::Invalid(_))));
    let made = create_at(&mut records, at(4), &editor(Some(at(5)))).unwrap();
    let Answer::Token(made) = made else { panic!() };
    assert_eq!(access(&records, &made, at(4)), Ok(Role::Editor));

    let weaker = TokenUpdate {
        key: "maker".to_owned(),
        labels: BTreeMap::new(),
        spec: TokenSpec { role: Some(Role::Viewer), ..maker.spec.clone() },
        hash: None,
        revision: 0,
        by: Maker { token: TokenId::FIRST, role: Role::Admin },
    };
    run(&mut records, at(4), |cx| update(cx, &weaker, Violations::default())).unwrap();
    assert_eq!(access(&records, &made, at(4)), Ok(Role::Viewer));
    assert_eq!(access(&records, &made, at(5)), Err(Void::Expired));
    let revocation = Revocation {
        key: "maker".to_owned(),
        revision: 0,
        by: Maker { token: TokenId::FIRST, role: Role::Admin },
    };
    run(&mut records, at(4), |cx| revoke(cx, &revocation)).unwrap();
    assert_eq!(access(&records, &made, at(4)), Err(Void::MakerEnded));
}

/// A token of a role without an end.
fn lasting(name: &str, role: Role) -> NewToken {
    NewToken { spec: TokenSpec { role: Some(role), expires_at: None }, ..new(name, None) }
}

fn made(answer: Result<Answer, Refusal>) -> Arc<Token> {
    match answer {
        Ok(Answer::Token(token)) => token,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_token_makes_not_more_than_so_many_that_are_good_at_a_time() {
    let mut records = Records::default();
    let viewer = made(create_at(&mut records, at(0), &lasting("viewer", Role::Viewer)));
    let by = Maker { token: viewer.id, role: Role::Viewer };
    let brief = |name: &str| NewToken { maker: by, ..new(name, Some(at(1))) };
    for number in 0..MADE_MAX {
        create_at(&mut records, at(0), &brief(&format!("run-{number}"))).unwrap();
    }
    let refused = create_at(&mut records, at(0), &brief("more"));
    assert_eq!(refused, Err(Refusal::TooManyTokens { most: MADE_MAX }));
    let own = Revocation { key: "run-7".to_owned(), revision: 0, by };
    run(&mut records, at(0), |cx| revoke(cx, &own)).unwrap();
    create_at(&mut records, at(0), &brief("more")).unwrap();
    let tomorrow = NewToken { maker: by, ..new("later", Some(at(2))) };
    create_at(&mut records, at(1), &tomorrow).unwrap();
}

#[test]
fn an_administrators_token_that_ends_with_another_is_not_the_one_that_stays() {
    let mut records = Records::default();
    create_at(&mut records, at(0), &lasting("root", Role::Admin)).unwrap();
    let editor = made(create_at(&mut records, at(0), &lasting("editor", Role::Editor)));
    let by = Maker { token: editor.id, role: Role::Editor };
    create_at(&mut records, at(0), &NewToken { maker: by, ..new("run", Some(at(1))) }).unwrap();
    let raised = TokenUpdate {
        key: "run".to_owned(),
        labels: BTreeMap::new(),
        spec: TokenSpec { role: Some(Role::Admin), expires_at: None },
        hash: None,
        revision: 0,
        by: Maker { token: TokenId::FIRST, role: Role::Admin },
    };
    run(&mut records, at(0), |cx| update(cx, &raised, Violations::default())).unwrap();
    let revocation = Revocation {
        key: "root".to_owned(),
        revision: 0,
        by: Maker { token: TokenId::FIRST, role: Role::Admin },
    };
    let refused = run(&mut records, at(0), |cx| revoke(cx, &revocation));
    assert_eq!(refused, Err(Refusal::LastAdministrator { name: "root".to_owned() }));
}

#[test]
fn nobody_is_called_like_the_host_in_the_event_log() {
    let mut records = Records::default();
    let refused = create_at(&mut records, at(0), &new(HOST_ACTOR, None));
    assert!(matches!(refused, Err(Refusal::Invalid(_))), "{refused:?}");
}
