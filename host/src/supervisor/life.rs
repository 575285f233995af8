//! The life of one worker as a state machine: what happened goes in, what to do comes out.
//!
//! 1. A worker that is not told to stop is started, and started again after each end. The delay doubles
//!    with each end in a row and begins anew after a life of `healthy_after`.
//! 2. What an ended process leaves behind is killed before anything is started again.
//! 3. Told to stop, it gets the signal of its policy. Once all that got the signal has ended, or the
//!    grace is over, the rest is killed, and its life is over for good.
//! 4. Told to restart, it is stopped in the same way and then started at once. Told to stop meanwhile,
//!    it is not started again.
//!
//! Time is a parameter: the time since some fixed moment, as the caller measures it.

use std::time::Duration;

use crate::pools::template::{Readiness, RestartPolicy, StopPolicy, StopSignal, WorkerTemplate};

/// The first wait between two checks of a worker that was never ready; it doubles up to the interval.
const FIRST_CHECK: Duration = Duration::from_millis(50);
/// Time between two looks at what is left while stopping.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The supervisor is there, and nothing of the worker runs.
    Begin,
    Started,
    NotStarted(Ending),
    /// The worker's main process ended.
    Ended(Ending),
    Checked(Result<(), String>),
    /// For good; within a grace of its own, if there is one.
    StopAsked {
        grace: Option<Duration>,
    },
    RestartAsked {
        grace: Option<Duration>,
    },
    /// The answer to [`Action::Look`].
    Left {
        something: bool,
    },
    /// Nothing but time went by.
    Time,
}

/// What to do, in the order given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Start,
    Check,
    /// Send the stop policy's signal to the process group.
    Signal,
    /// Look whether anything that got the signal is left.
    Look,
    /// Kill all that is left and wait until it is gone.
    KillRest,
    /// It is over: clean up and end.
    Finish,
}

/// Why a process ended or did not start: one word, and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub reason: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    Fresh,
    Up(Up),
    Backoff { until: Duration },
    Stopping(Stopping),
    Stopped,
}

/// A process that was told to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopping {
    grace: Duration,
    kill_at: Duration,
    look_at: Option<Duration>,
    pub after: After,
}

/// What comes when a process that was told to end has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Start,
    Nothing,
}

/// A started process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Up {
    since: Duration,
    pub ready: bool,
    /// It was ready at some time since its start.
    pub was_ready: bool,
    failures: u32,
    /// The wait before the check after the next one.
    wait: Duration,
    /// Absent while a check runs, and when there is none.
    check_at: Option<Duration>,
}

/// Where a worker stands in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    pub stage: Stage,
    /// Starts after the first one.
    pub restarts: u32,
    pub reason: String,
    pub message: String,
    /// Ends in a row that came before `healthy_after`.
    short_lives: u32,
    starts: u32,
    restart: RestartPolicy,
    stop: StopPolicy,
    readiness: Option<Readiness>,
}

impl Life {
    /// A worker that has been started `starts` times before.
    pub fn new(template: &WorkerTemplate, starts: u32) -> Self {
        Self {
            stage: Stage::Fresh,
            restarts: starts.saturating_sub(1),
            reason: "Starting".to_owned(),
            message: String::new(),
            short_lives: 0,
            starts,
            restart: template.restart.clone(),
            stop: template.stop.clone(),
            readiness: template.readiness.clone(),
        }
    }

    /// When to come back with [`Input::Time`], if nothing happens before.
    pub fn next_timer(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Fresh | Stage::Stopped => None,
            Stage::Up(up) => up.check_at,
            Stage::Backoff { until } => Some(*until),
            Stage::Stopping(Stopping { kill_at, look_at, .. }) => {
                Some(look_at.map_or(*kill_at, |at| at.min(*kill_at)))
            }
        }
    }

    /// Takes what happened into account.
    #[must_use = "actions that are not done are lost"]
    pub fn step(&mut self, input: Input, now: Duration) -> Vec<Action> {
        match input {
            Input::Begin => self.start(),
            Input::Started => self.started(now),
            Input::NotStarted(ending) | Input::Ended(ending) => self.ended(&ending, now),
            Input::Checked(result) => self.checked(result, now),
            Input::StopAsked { grace } => self.stop_asked(grace, now),
            Input::RestartAsked { grace } => self.restart_asked(grace, now),
            Input::Left { something } => self.left(something, now),
            Input::Time => self.time(now),
        }
    }

    fn start(&mut self) -> Vec<Action> {
        self.restarts = self.starts;
        self.starts = self.starts.saturating_add(1);
        vec![Action::Start]
    }

    fn started(&mut self, now: Duration) -> Vec<Action> {
        let ready = self.readiness.is_none();
        let (reason, message) = if ready {
            ("Running", String::new())
        } else {
            ("Starting", "it has not passed its readiness check yet".to_owned())
        };
        self.say(reason, message);
        let wait = self.readiness.as_ref().map_or(FIRST_CHECK, |r| r.interval.min(FIRST_CHECK));
        self.stage = Stage::Up(Up {
            since: now,
            ready,
            was_ready: ready,
            failures: 0,
            wait,
            check_at: (!ready).then_some(now + wait),
        });
        vec![]
    }

    fn ended(&mut self, ending: &Ending, now: Duration) -> Vec<Action> {
        match &mut self.stage {
            Stage::Stopped | Stage::Backoff { .. } => vec![],
            Stage::Stopping(stopping) => {
                stopping.look_at = Some(now);
                vec![Action::Look]
            }
            Stage::Fresh => self.back_off(ending, now),
            Stage::Up(up) => {
                if now.saturating_sub(up.since) >= self.restart.healthy_after {
                    self.short_lives = 0;
                }
                self.back_off(ending, now)
            }
        }
    }

    fn back_off(&mut self, ending: &Ending, now: Duration) -> Vec<Action> {
        let factor = 2_u32.saturating_pow(self.short_lives);
        let delay = self.restart.delay.saturating_mul(factor).min(self.restart.delay_max);
        self.short_lives = self.short_lives.saturating_add(1);
        self.say(&ending.reason, format!("{}; next start in {delay:?}", ending.message));
        self.stage = Stage::Backoff { until: now + delay };
        vec![Action::KillRest]
    }

    fn checked(&mut self, result: Result<(), String>, now: Duration) -> Vec<Action> {
        let (Stage::Up(up), Some(rules)) = (&mut self.stage, &self.readiness) else {
            return vec![];
        };
        match result {
            Ok(()) => {
                up.failures = 0;
                up.ready = true;
                up.was_ready = true;
            }
            Err(_) => {
                up.failures = up.failures.saturating_add(1);
                up.ready = up.ready && up.failures < rules.failure_threshold.max(1);
            }
        }
        up.wait = if up.was_ready { rules.interval } else { (up.wait * 2).min(rules.interval) };
        up.check_at = Some(now + up.wait);
        match (up.ready, result) {
            (true, _) => self.say("Running", String::new()),
            (false, Err(why)) => self.say("NotReady", why),
            (false, Ok(())) => {}
        }
        vec![]
    }

    fn stop_asked(&mut self, grace: Option<Duration>, now: Duration) -> Vec<Action> {
        let grace = grace.unwrap_or(self.stop.grace);
        match &mut self.stage {
            Stage::Stopped => vec![],
            Stage::Stopping(stopping) => {
                if stopping.after == After::Start {
                    stopping.after = After::Nothing;
                    stopping.kill_at = stopping.kill_at.min(now + grace);
                    self.say("Stopping", format!("it has {grace:?} to end"));
                }
                vec![]
            }
            Stage::Fresh | Stage::Backoff { .. } => {
                self.finish("it did not run when it was told to stop")
            }
            Stage::Up(_) if self.stop.signal == StopSignal::Kill => {
                self.finish("it was killed, as its stop policy says")
            }
            Stage::Up(_) => {
                self.say("Stopping", format!("it has {grace:?} to end"));
                self.begin_to_stop(grace, After::Nothing, now)
            }
        }
    }

    fn restart_asked(&mut self, grace: Option<Duration>, now: Duration) -> Vec<Action> {
        let grace = grace.unwrap_or(self.stop.grace);
        match &self.stage {
            // About to start, or about to end: either is for good.
            Stage::Fresh | Stage::Stopping(_) | Stage::Stopped => vec![],
            Stage::Backoff { .. } => self.start_anew(),
            Stage::Up(_) if self.stop.signal == StopSignal::Kill => self.start_anew(),
            Stage::Up(_) => {
                self.say(
                    "Restarting",
                    format!("it has {grace:?} to end, and is then started again"),
                );
                self.begin_to_stop(grace, After::Start, now)
            }
        }
    }

    fn begin_to_stop(&mut self, grace: Duration, after: After, now: Duration) -> Vec<Action> {
        let kill_at = now + grace;
        self.stage = Stage::Stopping(Stopping { grace, kill_at, look_at: None, after });
        vec![Action::Signal]
    }

    /// Starts as if it had never ended badly.
    fn start_anew(&mut self) -> Vec<Action> {
        self.short_lives = 0;
        self.stage = Stage::Fresh;
        self.say("Starting", "it is started again, as was asked".to_owned());
        let mut actions = vec![Action::KillRest];
        actions.extend(self.start());
        actions
    }

    fn left(&mut self, something: bool, now: Duration) -> Vec<Action> {
        let Stage::Stopping(stopping) = &mut self.stage else { return vec![] };
        if something {
            stopping.look_at = Some(now + LOOK_AGAIN);
            return vec![];
        }
        self.stopped("it ended after it was told to stop")
    }

    /// It has ended, or its time to end is over.
    fn stopped(&mut self, message: &str) -> Vec<Action> {
        match &self.stage {
            Stage::Stopping(Stopping { after: After::Start, .. }) => self.start_anew(),
            _ => self.finish(message),
        }
    }

    fn time(&mut self, now: Duration) -> Vec<Action> {
        if self.next_timer().is_none_or(|at| now < at) {
            return vec![];
        }
        match &mut self.stage {
            Stage::Fresh | Stage::Stopped => vec![],
            Stage::Up(up) => {
                up.check_at = None;
                vec![Action::Check]
            }
            Stage::Backoff { .. } => {
                self.stage = Stage::Fresh;
                self.start()
            }
            Stage::Stopping(Stopping { kill_at, grace, .. }) if *kill_at <= now => {
                let message = format!("it did not end within {grace:?} and was killed");
                self.stopped(&message)
            }
            Stage::Stopping(stopping) => {
                stopping.look_at = None;
                vec![Action::Look]
            }
        }
    }

    fn finish(&mut self, message: &str) -> Vec<Action> {
        self.say("Stopped", message.to_owned());
        self.stage = Stage::Stopped;
        vec![Action::KillRest, Action::Finish]
    }

    fn say(&mut self, reason: &str, message: String) {
        reason.clone_into(&mut self.reason);
        self.message = message;
    }
}

#[cfg(test)]
mod tests;
