//! Lives told as scripts: `TIME INPUT -> ACTIONS`, then what the worker looks like.

use std::{collections::BTreeMap, fmt::Write};

use proptest::prelude::*;

use super::*;
use crate::pools::template::Check;

const STOP: Input = Input::StopAsked { grace: None };
const RESTART: Input = Input::RestartAsked { grace: None };

fn template() -> WorkerTemplate {
    WorkerTemplate {
        command: vec!["worker".to_owned()],
        variables: BTreeMap::new(),
        working_dir: None,
        ports: vec![],
        shape: BTreeMap::new(),
        readiness: None,
        restart: RestartPolicy {
            delay: Duration::from_secs(1),
            delay_max: Duration::from_secs(5),
            healthy_after: Duration::from_secs(30),
        },
        stop: StopPolicy { signal: StopSignal::Term, grace: Duration::from_secs(10) },
    }
}

fn checked() -> WorkerTemplate {
    WorkerTemplate {
        readiness: Some(Readiness {
            check: Check::Command(vec!["check".to_owned()]),
            interval: Duration::from_millis(200),
            timeout: Duration::from_secs(1),
            failure_threshold: 2,
        }),
        ..template()
    }
}

fn ending() -> Ending {
    Ending { reason: "Exited".to_owned(), message: "it exited with code 1".to_owned() }
}

/// Runs a life and writes down what it does. Times are in milliseconds.
fn story(template: &WorkerTemplate, inputs: &[(u64, Input)]) -> String {
    let mut life = Life::new(template, 0);
    let mut story = String::new();
    for (time, input) in inputs {
        let now = Duration::from_millis(*time);
        let actions = life.step(input.clone(), now);
        let stage = match &life.stage {
            Stage::Fresh => "fresh".to_owned(),
            Stage::Up(up) => if up.ready { "ready" } else { "up" }.to_owned(),
            Stage::Backoff { .. } => "backoff".to_owned(),
            Stage::Stopping(Stopping { after: After::Nothing, .. }) => "stopping".to_owned(),
            Stage::Stopping(_) => "restarting".to_owned(),
            Stage::Stopped => "stopped".to_owned(),
        };
        let timer = life.next_timer().map_or("-".to_owned(), |at| at.as_millis().to_string());
        writeln!(story, "{time} {input:?} -> {actions:?}; {stage}, {}; until {timer}", life.reason)
            .unwrap();
    }
    let story = story.replace("Asked { grace: None }", "Asked");
    story.replace("Ending { reason: \"Exited\", message: \"it exited with code 1\" }", "_")
}

#[test]
fn delays_double_to_the_limit_and_begin_anew_after_a_healthy_life() {
    let mut inputs = vec![(0, Input::Begin)];
    for [time, next] in
        [[0, 1_000], [1_000, 3_000], [3_000, 7_000], [7_000, 12_000], [12_000, 17_000]]
    {
        inputs.extend([(time, Input::Started), (time, Input::Ended(ending()))]);
        inputs.push((next, Input::Time));
    }
    inputs.extend([(17_000, Input::Started), (47_000, Input::Ended(ending()))]);
    insta::assert_snapshot!(story(&template(), &inputs), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; ready, Running; until -
    0 Ended(_) -> [KillRest]; backoff, Exited; until 1000
    1000 Time -> [Start]; fresh, Exited; until -
    1000 Started -> []; ready, Running; until -
    1000 Ended(_) -> [KillRest]; backoff, Exited; until 3000
    3000 Time -> [Start]; fresh, Exited; until -
    3000 Started -> []; ready, Running; until -
    3000 Ended(_) -> [KillRest]; backoff, Exited; until 7000
    7000 Time -> [Start]; fresh, Exited; until -
    7000 Started -> []; ready, Running; until -
    7000 Ended(_) -> [KillRest]; backoff, Exited; until 12000
    12000 Time -> [Start]; fresh, Exited; until -
    12000 Started -> []; ready, Running; until -
    12000 Ended(_) -> [KillRest]; backoff, Exited; until 17000
    17000 Time -> [Start]; fresh, Exited; until -
    17000 Started -> []; ready, Running; until -
    47000 Ended(_) -> [KillRest]; backoff, Exited; until 48000
    ");
}

#[test]
fn a_worker_is_checked_often_until_it_is_ready_and_unready_after_failures_in_a_row() {
    let failed = || Input::Checked(Err("refused".to_owned()));
    let inputs = [
        (0, Input::Begin),
        (0, Input::Started),
        (49, Input::Time),
        (50, Input::Time),
        (60, failed()),
        (160, Input::Time),
        (170, failed()),
        (370, Input::Time),
        (380, Input::Checked(Ok(()))),
        (580, Input::Time),
        (590, failed()),
        (790, Input::Time),
        (800, failed()),
        (1_000, Input::Time),
        (1_010, Input::Checked(Ok(()))),
    ];
    insta::assert_snapshot!(story(&checked(), &inputs), @r#"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; up, Starting; until 50
    49 Time -> []; up, Starting; until 50
    50 Time -> [Check]; up, Starting; until -
    60 Checked(Err("refused")) -> []; up, NotReady; until 160
    160 Time -> [Check]; up, NotReady; until -
    170 Checked(Err("refused")) -> []; up, NotReady; until 370
    370 Time -> [Check]; up, NotReady; until -
    380 Checked(Ok(())) -> []; ready, Running; until 580
    580 Time -> [Check]; ready, Running; until -
    590 Checked(Err("refused")) -> []; ready, Running; until 790
    790 Time -> [Check]; ready, Running; until -
    800 Checked(Err("refused")) -> []; up, NotReady; until 1000
    1000 Time -> [Check]; up, NotReady; until -
    1010 Checked(Ok(())) -> []; ready, Running; until 1210
    "#);
}

#[test]
fn a_stop_waits_for_what_got_the_signal_and_no_longer_than_the_grace() {
    let inputs = [
        (0, Input::Begin),
        (0, Input::Started),
        (100, STOP),
        (100, STOP),
        (200, Input::Ended(ending())),
        (200, Input::Left { something: true }),
        (249, Input::Time),
        (250, Input::Time),
        (250, Input::Left { something: true }),
        (10_100, Input::Time),
        (10_101, STOP),
    ];
    insta::assert_snapshot!(story(&template(), &inputs), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; ready, Running; until -
    100 StopAsked -> [Signal]; stopping, Stopping; until 10100
    100 StopAsked -> []; stopping, Stopping; until 10100
    200 Ended(_) -> [Look]; stopping, Stopping; until 200
    200 Left { something: true } -> []; stopping, Stopping; until 250
    249 Time -> []; stopping, Stopping; until 250
    250 Time -> [Look]; stopping, Stopping; until 10100
    250 Left { something: true } -> []; stopping, Stopping; until 300
    10100 Time -> [KillRest, Finish]; stopped, Stopped; until -
    10101 StopAsked -> []; stopped, Stopped; until -
    ");
}

#[test]
fn a_stop_of_what_does_not_run_is_over_at_once() {
    let before = [(0, STOP)];
    insta::assert_snapshot!(story(&template(), &before), @r"
    0 StopAsked -> [KillRest, Finish]; stopped, Stopped; until -
    ");
    let during = [(0, Input::Begin), (0, Input::NotStarted(ending())), (1, STOP)];
    insta::assert_snapshot!(story(&template(), &during), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 NotStarted(_) -> [KillRest]; backoff, Exited; until 1000
    1 StopAsked -> [KillRest, Finish]; stopped, Stopped; until -
    ");
}

#[test]
fn a_restart_stops_and_starts_and_a_stop_meanwhile_is_for_good() {
    let begun = [(0, Input::Begin), (0, Input::Started), (100, RESTART), (100, RESTART)];
    let restarted = [
        (200, Input::Ended(ending())),
        (200, Input::Left { something: false }),
        (200, Input::Started),
    ];
    insta::assert_snapshot!(story(&template(), &[&begun[..], &restarted].concat()), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; ready, Running; until -
    100 RestartAsked -> [Signal]; restarting, Restarting; until 10100
    100 RestartAsked -> []; restarting, Restarting; until 10100
    200 Ended(_) -> [Look]; restarting, Restarting; until 200
    200 Left { something: false } -> [KillRest, Start]; fresh, Starting; until -
    200 Started -> []; ready, Running; until -
    ");
    let stopped = [(150, STOP), (10_100, Input::Time)];
    insta::assert_snapshot!(story(&template(), &[&begun[..], &stopped].concat()), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; ready, Running; until -
    100 RestartAsked -> [Signal]; restarting, Restarting; until 10100
    100 RestartAsked -> []; restarting, Restarting; until 10100
    150 StopAsked -> []; stopping, Stopping; until 10100
    10100 Time -> [KillRest, Finish]; stopped, Stopped; until -
    ");
}

#[test]
fn a_restart_of_what_waits_for_its_next_start_is_that_start() {
    let inputs = [
        (0, Input::Begin),
        (0, Input::NotStarted(ending())),
        (0, RESTART),
        (0, Input::NotStarted(ending())),
        (1_000, STOP),
    ];
    insta::assert_snapshot!(story(&template(), &inputs), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 NotStarted(_) -> [KillRest]; backoff, Exited; until 1000
    0 RestartAsked -> [KillRest, Start]; fresh, Starting; until -
    0 NotStarted(_) -> [KillRest]; backoff, Exited; until 1000
    1000 StopAsked -> [KillRest, Finish]; stopped, Stopped; until -
    ");
}

#[test]
fn an_order_may_bring_a_grace_of_its_own() {
    let grace = Some(Duration::from_secs(1));
    let inputs = [
        (0, Input::Begin),
        (0, Input::Started),
        (0, RESTART),
        (0, Input::StopAsked { grace }),
        (1_000, Input::Time),
    ];
    insta::assert_snapshot!(story(&template(), &inputs), @r"
    0 Begin -> [Start]; fresh, Starting; until -
    0 Started -> []; ready, Running; until -
    0 RestartAsked -> [Signal]; restarting, Restarting; until 10000
    0 StopAsked { grace: Some(1s) } -> []; stopping, Stopping; until 1000
    1000 Time -> [KillRest, Finish]; stopped, Stopped; until -
    ");
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        Just(Input::Ended(ending())),
        Just(Input::Checked(Ok(()))),
        Just(Input::Checked(Err("refused".to_owned()))),
        Just(STOP),
        Just(RESTART),
        any::<bool>().prop_map(|something| Input::Left { something }),
        Just(Input::Time),
    ]
}

proptest! {
    /// The shell starts only what is over, whatever comes in whatever order.
    #[test]
    fn nothing_is_started_beside_what_may_run_nor_after_a_stop(
        inputs in prop::collection::vec((0_u64..4_000, any_input(), any::<bool>()), 0..60),
    ) {
        let mut life = Life::new(&checked(), 0);
        let (mut now, mut may_run, mut is_over, mut was_stopped) = (Duration::ZERO, false, false, false);
        let mut queue = vec![(Input::Begin, true)];
        let mut inputs = inputs.into_iter();
        loop {
            let (input, starts) = match queue.pop() {
                Some(next) => next,
                None => match inputs.next() {
                    Some((wait, input, starts)) => {
                        now += Duration::from_millis(wait);
                        (input, starts)
                    }
                    None => break,
                },
            };
            was_stopped |= input == STOP;
            for action in life.step(input, now) {
                prop_assert!(!is_over, "{action:?} after the end");
                match action {
                    Action::Start => {
                        prop_assert!(!may_run && !was_stopped);
                        may_run = starts;
                        let answer =
                            if starts { Input::Started } else { Input::NotStarted(ending()) };
                        queue.push((answer, starts));
                    }
                    Action::KillRest => may_run = false,
                    Action::Finish => {
                        prop_assert!(!may_run);
                        is_over = true;
                    }
                    Action::Check | Action::Signal | Action::Look => {}
                }
            }
        }
        prop_assert!(is_over || life.next_timer().is_some() || may_run, "stuck: {life:?}");
    }
}
