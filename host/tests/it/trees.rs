//! What trees of quotas promise, whatever happens. Each test is named after its promise.

use std::{cmp::Reverse, collections::BTreeSet};

use host::{
    admission::Refusal,
    capacity::{
        ledger::{Figures, Ledger},
        recount::recount,
        room,
    },
    events::Event,
    leases::{
        line::{self, Standing},
        model::{CapacityLease, State},
    },
    records::Records,
};
use proptest::prelude::*;

use crate::sim::script::Script;

const ENVIRONMENTS: &str = "eo|ea|eb|ec|e1|e2";

fn quotas() -> impl Strategy<Value = String> {
    let place = prop_oneof![
        Just(("a", "org")),
        Just(("b", "org")),
        Just(("c", "org")),
        Just(("a1", "a")),
        Just(("a2", "a")),
        Just(("a1", "b")),
        Just(("b", "c")),
    ];
    (place, 0..8_u64, any::<Option<u8>>(), any::<Option<u8>>(), any::<bool>()).prop_map(
        |((name, parent), share, borrowing, lending, is_hard)| {
            let mut line = format!("quota {name} parent={parent} share:cpu={share}");
            if let Some(borrowing) = borrowing {
                line += &format!(" borrowing:cpu={}", borrowing % 8);
            }
            if let Some(lending) = lending {
                line += &format!(" lending:cpu={}", u64::from(lending) % (share + 1));
            }
            if is_hard {
                line += &format!(" cpu={}", share + 3);
            }
            line
        },
    )
}

fn leases() -> impl Strategy<Value = String> {
    (ENVIRONMENTS, "p|q|r|s", 1..7_u32, 0..3_u32, 0..25_u32, 0..90_u32, any::<bool>()).prop_map(
        |(environment, name, cpu, priority, ttl, wait, gives_back)| {
            let ttl = if ttl < 5 { String::new() } else { format!("ttl={ttl}") };
            let gives_back = if gives_back { "reclaimable=yes" } else { "" };
            format!(
                "lease {environment}/{name} cpu={cpu} priority={priority} wait={wait} {ttl} {gives_back}"
            )
        },
    )
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => quotas(),
        1 => (8..24_u32, 0..40_u32).prop_map(|(cpu, notice)| format!("quota org cpu={cpu} notice={notice}")),
        8 => leases(),
        3 => (ENVIRONMENTS, "p|q|r|s").prop_map(|(env, name)| format!("delete lease {env}/{name}")),
        2 => (ENVIRONMENTS, 0..5_u32).prop_map(|(env, size)| format!("pool {env}/w size={size} cpu=1")),
        1 => (ENVIRONMENTS, "org|a|b|c|a1|a2")
            .prop_map(|(env, quota)| format!("environment {env} quota={quota}")),
        3 => (1..20_u32).prop_map(|seconds| format!("pass {seconds}")),
    ]
}

fn planted() -> Script {
    let mut script = Script::new();
    for line in [
        "target x",
        "quota org cpu=20 notice=20",
        "quota a parent=org share:cpu=8",
        "quota b parent=org share:cpu=6",
        "quota c parent=org share:cpu=6",
        "quota a1 parent=a share:cpu=4",
        "quota a2 parent=a share:cpu=4",
        "environment eo quota=org",
        "environment ea quota=a",
        "environment eb quota=b",
        "environment ec quota=c",
        "environment e1 quota=a1",
        "environment e2 quota=a2",
    ] {
        let said = script.run(line);
        assert_eq!(said, "ok\n", "{line}");
    }
    script
}

const QUOTAS: [&str; 6] = ["org", "a", "b", "c", "a1", "a2"];

fn cpu(ledger: &Ledger, quota: &str) -> Figures {
    ledger.figures(quota, "cpu")
}

fn granted(records: &Records) -> impl Iterator<Item = &CapacityLease> {
    let all = records.capacity_leases.iter().map(|lease| &**lease);
    all.filter(|lease| matches!(lease.state, State::Granted(_)))
}

/// Whether a line changes limits or the tree, so that use may be above a limit afterwards.
fn redraws(line: &str) -> bool {
    line.starts_with("quota") || line.starts_with("environment")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// I1, I13: every limit of every quota on the way up, and the books are the sum of the uses.
    #[test]
    fn no_grant_exceeds_any_limit_of_the_tree_and_the_books_are_right(
        lines in prop::collection::vec(line(), 0..60),
    ) {
        let mut script = planted();
        for line in &lines {
            let before = script.world.records.ledger.clone();
            script.run(line);
            let records = &script.world.records;
            prop_assert_eq!(recount(records).differences, vec![], "{}", line);
            for quota in QUOTAS {
                let (was, is) = (cpu(&before, quota), cpu(&records.ledger, quota));
                for (rule, limit) in room::limits(&records.ledger, quota, "cpu") {
                    let limit = u128::from(limit);
                    let text = format!("{line}: {quota} {rule:?} {limit} {was:?} {is:?}");
                    prop_assert!(is.used <= limit.max(was.used), "{}", text);
                    if !redraws(line) {
                        prop_assert!(is.inside <= limit.max(was.inside), "{}", text);
                    }
                }
            }
        }
    }

    /// I9, I10 and the order of the line: nobody waits who could be granted, and nobody is overtaken by
    /// somebody who takes what they wait for.
    #[test]
    fn nobody_waits_who_is_next_and_has_room(lines in prop::collection::vec(line(), 0..60)) {
        let mut script = planted();
        for line in &lines {
            script.run(line);
            let records = &script.world.records;
            let line: Vec<_> = records.capacity_leases.in_line().collect();
            for lease in &line {
                prop_assert_ne!(line::standing(records, lease), Standing::Next);
            }
            let key = |lease: &CapacityLease| (Reverse(lease.spec.priority), lease.id);
            prop_assert!(line.is_sorted_by_key(|lease| key(lease)), "{:?}", line);
        }
    }

    /// What a quota says that there is room for is granted, and one more is not.
    #[test]
    fn the_room_that_is_shown_is_just_what_is_granted(lines in prop::collection::vec(line(), 0..40)) {
        let mut script = planted();
        for line in &lines {
            script.run(line);
        }
        let records = &script.world.records;
        for environment in records.environments.values() {
            let Some(quota) = &environment.spec.quota else { continue };
            let Some(room) = room::room(&records.ledger, quota, "cpu") else { continue };
            let lacks = |cpu| {
                !room::lacking(&records.ledger, environment.id, &[("cpu".to_owned(), cpu)].into())
                    .is_empty()
            };
            prop_assert!(room == 0 || !lacks(room), "{} {}", quota, room);
            prop_assert!(lacks(room + 1), "{} {}", quota, room);
        }
    }

    /// I6: who stays within its share is granted when the notice is over at the latest, if all that is
    /// borrowed is by those who have agreed to give it back.
    #[test]
    fn an_owner_gets_its_share_back_within_the_notice(
        borrowed in prop::collection::vec((ENVIRONMENTS, 1..5_u32, 0..3_u32), 1..25),
        (owner, share) in prop_oneof![
            (Just("ea"), 1..=8_u32), (Just("eb"), 1..=6_u32), (Just("ec"), 1..=6_u32),
            (Just("e1"), 1..=4_u32),
        ],
        priority in 0..3_u32,
    ) {
        let mut script = planted();
        let others = borrowed.iter().enumerate().filter(|(_, (it, ..))| {
            it != owner && !(owner == "ea" && it.len() == 2 && ["e1", "e2"].contains(&it.as_str()))
        });
        for (number, (environment, cpu, priority)) in others {
            script.run(&format!(
                "lease {environment}/l{number} cpu={cpu}000m priority={priority} reclaimable=yes"
            ));
        }
        let asked = format!("lease {owner}/own cpu={share} wait=100 priority={priority}");
        prop_assert_eq!(script.run(&asked), "ok\n");
        script.run("pass 20");
        let key = format!("{owner}/own");
        let own = script.world.records.capacity_lease(&key).unwrap();
        prop_assert!(matches!(own.state, State::Granted(_)), "{:?}", own.state);
        // None of those that were ended could have been spared.
        let ended = script.world.records.capacity_leases.iter().filter(|it| !it.is_living());
        for lease in ended {
            let ledger = &script.world.records.ledger;
            let lacking = room::lacking(ledger, lease.environment, &lease.uses());
            prop_assert!(!lacking.is_empty(), "{} ended in vain", lease.meta.name);
        }
    }

    /// I7: whoever had to give back asks again at once, and again; it comes to rest nevertheless.
    #[test]
    fn nobody_takes_from_each_other_in_turn(lines in prop::collection::vec(leases(), 0..40)) {
        let mut script = planted();
        for line in &lines {
            let line = line.split(" ttl=").next().unwrap();
            script.run(&format!("{line} reclaimable=yes"));
        }
        let mut rounds = 0;
        loop {
            let told = script.world.events.len();
            script.run("pass 20");
            let back: Vec<_> = script.world.events[told..]
                .iter()
                .filter(|(_, event)| matches!(event, Event::CapacityLeaseReclaimed(_)))
                .map(|(subject, _)| subject.name.clone())
                .collect();
            let is_told = script.world.records.capacity_leases.reclaimed().next().is_some();
            if back.is_empty() && !is_told {
                break;
            }
            for key in back {
                let cpu = script.world.records.capacity_lease(&key).unwrap().spec.amounts["cpu"];
                script.run(&format!("lease {key} cpu={cpu}m wait=100000 reclaimable=yes"));
            }
            rounds += 1;
            prop_assert!(rounds <= 40, "it does not come to rest");
        }
        let records = &script.world.records;
        for lease in granted(records) {
            prop_assert!(lease.reclaim().is_none());
        }
    }

    /// Only who has agreed to it, and only while its quota is above its share, has to give back.
    #[test]
    fn only_borrowers_that_agreed_give_back(lines in prop::collection::vec(line(), 0..60)) {
        let mut script = planted();
        for line in lines.iter().filter(|line| !redraws(line)) {
            let told = script.world.events.len();
            script.run(line);
            for (subject, event) in &script.world.events[told..] {
                let Event::CapacityLeaseReclaiming(_) = event else { continue };
                let now = script.world.records.capacity_lease(&subject.id).unwrap();
                prop_assert!(now.spec.preemption == host::leases::model::Preemption::Reclaimable);
                let ledger = &script.world.records.ledger;
                let chain = ledger.chain(now.environment);
                let borrows = chain.iter().any(|quota| {
                    let it = cpu(ledger, quota);
                    it.used > it.share.unwrap_or(0)
                });
                // What is used directly of a quota that shares out is nobody's own.
                let shares_out = cpu(ledger, chain[0]).shares_below.is_some();
                prop_assert!(borrows || shares_out, "{}", line);
            }
        }
    }
}

/// I2: the lease, its number, what it uses and the event are one decision.
#[test]
fn a_grant_is_one_write_with_its_event_and_its_use() {
    let mut script = planted();
    let (version, told) = (script.world.records.version, script.world.events.len());
    script.run("lease e1/x cpu=2");
    let records = &script.world.records;
    assert!(records.version > version);
    let events: Vec<_> = script.world.events[told..].iter().map(|(_, it)| it.type_name()).collect();
    assert_eq!(events, ["SpecificationDeclared", "CapacityLeaseGranted"]);
    for quota in ["a1", "a", "org"] {
        assert_eq!(cpu(&records.ledger, quota).used, 2_000, "{quota}");
    }
}

/// I4: what is released twice is given back once.
#[test]
fn a_lease_gives_back_once() {
    let mut script = planted();
    script.run("lease e1/x cpu=2");
    script.run("lease e1/y cpu=1");
    for _ in 0..3 {
        script.run("delete lease e1/x");
        assert_eq!(cpu(&script.world.records.ledger, "org").used, 1_000);
    }
}

/// I5: limits that are lowered take nothing from anybody, and hold from then on.
#[test]
fn a_lowered_limit_takes_nothing_and_holds() {
    let mut script = planted();
    script.run("lease e1/x cpu=4 reclaimable=yes");
    assert_eq!(script.run("quota a1 parent=a share:cpu=1 borrowing:cpu=1"), "ok\n");
    assert_eq!(script.run("quota org cpu=2"), "ok\n");
    assert_eq!(granted(&script.world.records).count(), 1);
    assert!(script.run("lease eb/y cpu=1").starts_with("refused: quota `org` has no room"));
    assert_eq!(room::room(&script.world.records.ledger, "org", "cpu"), Some(0));
}

/// I9: one resource that lacks is enough to grant none.
#[test]
fn all_amounts_are_granted_in_every_quota_or_none() {
    let mut script = planted();
    script.run("quota b parent=org share:cpu=6 gpu=1");
    assert!(script.run("lease eb/x cpu=1 gpu=2").starts_with("refused"));
    assert_eq!(cpu(&script.world.records.ledger, "org").used, 0);
    assert_eq!(script.run("lease eb/x cpu=1 gpu=1"), "ok\n");
}

/// I10: what comes free for an owner is not taken by a borrower, wherever that one stands in line.
#[test]
fn what_comes_free_for_an_owner_is_held_for_it() {
    let mut script = planted();
    script.run("lease ec/own cpu=6");
    for number in 0..14 {
        assert_eq!(script.run(&format!("lease eb/x{number} cpu=1 reclaimable=yes")), "ok\n");
    }
    script.run("lease ec/more cpu=2 wait=100 priority=5");
    script.run("lease ea/own cpu=3 wait=100");
    let records = &script.world.records;
    assert_eq!(records.capacity_leases.reclaimed().count(), 3);
    assert_eq!(line::position(records, records.capacity_lease("ec/more").unwrap()), 2);
    assert!(script.run("pool eb/w size=1 cpu=1").starts_with("refused: quota `org` has no room"));
    script.run("delete lease eb/x0");
    assert!(script.run("pool eb/w size=1 cpu=1").starts_with("refused: what is free"));
    script.run("pass 20");
    let records = &script.world.records;
    let state = |key: &str| records.capacity_lease(key).unwrap().state.clone();
    assert!(matches!(state("ea/own"), State::Granted(_)));
    assert!(matches!(state("ec/more"), State::Waiting { .. }));
    assert_eq!(cpu(&records.ledger, "b").used, 11_000, "no more than needed gave back");
}

/// I14: every quota and resource that says no, by which limit, with its numbers and who has the rest.
#[test]
fn a_refusal_names_every_quota_and_resource_that_says_no() {
    let mut script = planted();
    script.run("quota a1 parent=a cpu=5 share:cpu=4 memory=1Gi");
    script.run("lease eb/x cpu=16 ttl=30");
    let (environment, wanted) = {
        let records = &script.world.records;
        (
            records.environment("e1").unwrap().id,
            [("cpu".to_owned(), 6_000), ("memory".to_owned(), 2 << 30)],
        )
    };
    let lacking = room::lacking(&script.world.records.ledger, environment, &wanted.into());
    let said: BTreeSet<_> = lacking
        .iter()
        .map(|it| (it.quota.as_str(), it.resource.as_str(), it.rule.code()))
        .collect();
    let expected = [("a1", "cpu", "hard"), ("a1", "memory", "hard"), ("org", "cpu", "hard")];
    assert_eq!(said, expected.into());
    script.run("quota a1 parent=a share:cpu=4");
    let said = script.run("lease e1/y cpu=5");
    assert_eq!(
        said,
        "refused: quota `org` has no room for 5 more of cpu: 16 of at most 20 is used; `b` uses 10 more \
         than its share; it fits at 2026-01-01T00:00:30Z if no lease is renewed\n"
    );
    let refusal = Refusal::ShareAwaited { quota: "org".to_owned(), others: 2 };
    assert_eq!(
        refusal.to_string(),
        "what is free of quota `org` is held for 2 leases that wait for their own shares: ask for no more \
         than your own share, or try again later"
    );
}
