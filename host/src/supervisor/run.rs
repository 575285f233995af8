//! Does what the state machine says: starts, signals, checks, kills and records.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitStatus, kill_process_group, test_kill_process_group};

use super::{
    Links, Message, checks,
    clock::uptime,
    enter,
    folder::{Folder, Order, Record, RecordedPhase, create_dir_inside},
    groups::Groups,
    life::{Action, After, Ending, Input, Life, Stage, Stopping},
    ports::Ports,
    processes::{self, Identity, MARKER},
    spawn, tell,
};
use crate::{
    drivers::RestartOrder,
    ids::WorkerId,
    pools::template::{Check, StopSignal, port_variable},
};

/// How often a supervisor looks whether its folder is still there. Without it nobody can reach it.
const LOOK_FOR_FOLDER: Duration = Duration::from_secs(10);
/// How long a record that could not be written waits for the next try.
const RECORD_RETRY: Duration = Duration::from_secs(1);

/// One worker under supervision.
pub(super) struct Run {
    folder: Folder,
    order: Order,
    groups: Groups,
    links: Links,
    life: Life,
    ports: Ports,
    ports_before: BTreeMap<String, u16>,
    starts: u32,
    /// The last order to restart that was taken up.
    restart: u64,
    main: Option<Main>,
    /// The main process's group, which may outlive it.
    process_group: Option<Pid>,
    command_check: Option<CommandCheck>,
    written: Option<Record>,
    retry_record_at: Option<Duration>,
    is_over: bool,
}

/// The worker's main process.
struct Main {
    pid: Pid,
    identity: Option<Identity>,
    started_at: jiff::Timestamp,
    oom_kills_before: u64,
}

struct CommandCheck {
    pid: Pid,
    until: Duration,
}

impl Run {
    pub(super) fn new(
        folder: Folder,
        order: Order,
        groups: Groups,
        links: Links,
        old: Option<Record>,
    ) -> Self {
        let starts = old.as_ref().map_or(0, |old| old.starts);
        Self {
            life: Life::new(&order.template, starts),
            ports: Ports::new(order.ports.clone()),
            ports_before: old.map(|old| old.ports).unwrap_or_default(),
            folder,
            order,
            groups,
            links,
            starts,
            restart: 0,
            main: None,
            process_group: None,
            command_check: None,
            written: None,
            retry_record_at: None,
            is_over: false,
        }
    }

    pub(super) fn begin(&mut self) {
        // A first start is a restart, whatever was ordered before.
        self.restart = self.folder.restart_order().number;
        let input = match self.folder.stop_order() {
            Some(order) => Input::StopAsked { grace: order.grace },
            None => Input::Begin,
        };
        self.feed(input);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// How long to wait for a message at most.
    pub(super) fn next_wait(&self) -> Duration {
        let check = self.command_check.as_ref().map(|check| check.until);
        let timers = [self.life.next_timer(), check, self.retry_record_at];
        let next = timers.into_iter().flatten().min();
        next.map_or(LOOK_FOR_FOLDER, |at| at.saturating_sub(uptime()).min(LOOK_FOR_FOLDER))
    }

    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Look => self.look(),
            Message::Checked { start, result } if start == self.starts => {
                self.feed(Input::Checked(result));
            }
            Message::Checked { .. } => {}
            Message::Ended(pid, status) => self.ended(pid, status),
        }
    }

    fn look(&mut self) {
        if let Some(order) = self.folder.stop_order() {
            return self.feed(Input::StopAsked { grace: order.grace });
        }
        let RestartOrder { number, grace } = self.folder.restart_order();
        if number > self.restart {
            self.restart = number;
            self.feed(Input::RestartAsked { grace });
        }
    }

    pub(super) fn time(&mut self) {
        if self.command_check.as_ref().is_some_and(|check| check.until <= uptime()) {
            self.end_check(Err("the readiness command took too long and was killed".to_owned()));
        }
        self.feed(Input::Time);
        if self.folder.is_gone() {
            self.feed(Input::StopAsked { grace: None });
        }
    }

    /// The record that says that it is over.
    pub(super) fn last_word(self) -> Record {
        self.record()
    }

    fn ended(&mut self, pid: Pid, status: WaitStatus) {
        if self.command_check.as_ref().is_some_and(|check| check.pid == pid) {
            self.end_check(match status.exit_status() {
                Some(0) => Ok(()),
                _ => Err(format!("the readiness command {}", describe(status))),
            });
        } else if self.main.as_ref().is_some_and(|main| main.pid == pid) {
            let ending = self.explain(status);
            self.main = None;
            self.feed(Input::Ended(ending));
        }
    }

    fn explain(&self, status: WaitStatus) -> Ending {
        let before = self.main.as_ref().map_or(0, |main| main.oom_kills_before);
        let memory = self.order.template.shape.get("memory").copied().unwrap_or(0);
        if status.exit_status() != Some(0) && self.groups.oom_kills() > before {
            let limit = proto::quantity::Quantity::of("memory", memory);
            let message = format!("it needed more memory than its limit of {limit} and was killed");
            return Ending { reason: "OomKilled".to_owned(), message };
        }
        let reason = if status.signaled() { "Killed" } else { "Exited" };
        Ending { reason: reason.to_owned(), message: format!("it {}", describe(status)) }
    }

    fn end_check(&mut self, result: Result<(), String>) {
        if let Some(check) = self.command_check.take() {
            // Its group may be gone already.
            let _gone = kill_process_group(check.pid, Signal::KILL);
        }
        self.feed(Input::Checked(result));
    }

    fn feed(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for action in self.life.step(input, uptime()) {
                inputs.extend(self.act(action));
            }
            self.save();
        }
    }

    fn act(&mut self, action: Action) -> Option<Input> {
        match action {
            Action::Start => Some(match self.start() {
                Ok(()) => Input::Started,
                Err(ending) => Input::NotStarted(ending),
            }),
            Action::Check => self.check().map(|result| Input::Checked(Err(result))),
            Action::Signal => {
                self.signal();
                None
            }
            Action::Look => Some(Input::Left { something: self.is_group_left() }),
            Action::KillRest => {
                self.save();
                self.kill_rest();
                None
            }
            Action::Finish => {
                self.groups.remove();
                self.is_over = true;
                None
            }
        }
    }

    fn start(&mut self) -> Result<(), Ending> {
        self.starts = self.starts.saturating_add(1);
        let cannot = |doing: &str, error: io::Error| Ending {
            reason: "CannotStart".to_owned(),
            message: format!("cannot {doing}: {error}"),
        };
        self.ports
            .choose(&self.order.template.ports, &self.ports_before)
            .map_err(|error| cannot("find free ports", error))?;
        create_dir_inside(&self.folder.work())
            .map_err(|error| cannot("make its working folder", error))?;
        self.groups.create().map_err(|error| Ending {
            reason: "CannotLimit".to_owned(),
            message: format!("cannot make its control groups: {error}"),
        })?;
        let oom_kills_before = self.groups.oom_kills();
        let pid = self.spawn(&self.order.template.command, OutputTo::Files)?;
        self.process_group = Some(pid);
        self.main = Some(Main {
            identity: u32::try_from(pid.as_raw_nonzero().get()).ok().and_then(Identity::of),
            started_at: jiff::Timestamp::now(),
            pid,
            oom_kills_before,
        });
        Ok(())
    }

    /// Starts a command of the worker in its groups and in a process group of its own, and waits until
    /// its program has begun.
    fn spawn(&self, command: &[String], output: OutputTo) -> Result<Pid, Ending> {
        let template = &self.order.template;
        let program = command.first().map_or("", String::as_str);
        let work = template.working_dir.as_ref().map_or_else(|| self.folder.work(), Into::into);
        if !work.is_dir() {
            return Err(Ending {
                reason: "WorkingFolderMissing".to_owned(),
                message: format!("its working folder `{}` is not there", work.display()),
            });
        }
        let cannot = |error: io::Error| Ending {
            reason: "CannotStart".to_owned(),
            message: format!("cannot start `{program}`: {error}"),
        };
        let (report, reporter) = io::pipe().map_err(cannot)?;
        let [stdout, stderr] = output.pair(self).map_err(cannot)?;
        let ports = self.ports.by_name();
        let child = Command::new("/proc/self/exe")
            .args([super::COMMAND, enter::FLAG, &std::process::id().to_string()])
            .args(self.groups.doors())
            .arg("--")
            .args(command)
            .envs(&template.variables)
            .envs(ports.iter().map(|(name, port)| (port_variable(name), port.to_string())))
            .env(MARKER, self.order.id.to_string())
            .current_dir(work)
            .process_group(0)
            .stdin(reporter)
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(cannot)?;
        // The reaper waits for it, by its number.
        let pid = Pid::from_child(&child);
        let _reaper_lives_as_long_as_we = self.links.births.send(());
        enter::wait_for_program(report, program)?;
        Ok(pid)
    }

    fn check(&mut self) -> Option<String> {
        let readiness = self.order.template.readiness.clone()?;
        let ports = self.ports.by_name();
        let port = |name: &str| ports.get(name).copied().unwrap_or(0);
        let (start, timeout) = (self.starts, readiness.timeout);
        let messages = self.links.messages.clone();
        let send = move |result| {
            let _we_are_over = messages.send(Message::Checked { start, result });
        };
        let begun = match readiness.check {
            Check::Http { port: name, path } => {
                let port = port(&name);
                spawn("check", move || send(checks::http(port, &path, timeout)))
            }
            Check::Tcp { port: name } => {
                let port = port(&name);
                spawn("check", move || send(checks::tcp(port, timeout)))
            }
            Check::Command(command) => {
                return match self.spawn(&command, OutputTo::Nowhere) {
                    Ok(pid) => {
                        self.command_check = Some(CommandCheck { pid, until: uptime() + timeout });
                        None
                    }
                    Err(ending) => Some(format!("the readiness command: {}", ending.message)),
                };
            }
        };
        begun.err().map(|error| format!("cannot begin the readiness check: {error}"))
    }

    fn signal(&self) {
        let signal = match self.order.template.stop.signal {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
            StopSignal::Hup => Signal::HUP,
            StopSignal::Quit => Signal::QUIT,
            StopSignal::Usr1 => Signal::USR1,
            StopSignal::Usr2 => Signal::USR2,
            StopSignal::Kill => Signal::KILL,
        };
        if let Some(group) = self.process_group {
            // It may end by itself at the same moment.
            let _gone = kill_process_group(group, signal);
        }
    }

    /// Whether anything that got the stop signal still runs. What left the process group did not get it
    /// and is not waited for.
    fn is_group_left(&self) -> bool {
        self.process_group.is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    fn kill_rest(&mut self) {
        self.command_check = None;
        kill_all(self.order.id, &self.groups, None);
        self.main = None;
        self.process_group = None;
    }

    fn record(&self) -> Record {
        let (phase, ready) = match &self.life.stage {
            Stage::Fresh => (RecordedPhase::Starting, false),
            Stage::Up(up) if up.was_ready => (RecordedPhase::Running, up.ready),
            Stage::Up(_) => (RecordedPhase::Starting, false),
            Stage::Backoff { .. } => (RecordedPhase::Backoff, false),
            Stage::Stopping(Stopping { after: After::Start, .. }) => {
                (RecordedPhase::Starting, false)
            }
            Stage::Stopping(_) => (RecordedPhase::Stopping, false),
            Stage::Stopped if self.is_over => (RecordedPhase::Stopped, false),
            Stage::Stopped => (RecordedPhase::Stopping, false),
        };
        Record {
            supervisor: std::process::id(),
            phase,
            ready,
            reason: self.life.reason.clone(),
            message: self.life.message.clone(),
            starts: self.starts,
            restarts: self.life.restarts,
            restart: self.restart,
            process: self.main.as_ref().and_then(|main| main.identity.clone()),
            ports: self.ports.by_name(),
            started_at: self.main.as_ref().map(|main| main.started_at),
            dropped_bytes: self.links.dropped.load(Ordering::Relaxed),
        }
    }

    /// Writes the record if it says something new. The last word is not ours to write: output comes
    /// first.
    fn save(&mut self) {
        let record = self.record();
        if self.is_over || self.written.as_ref() == Some(&record) {
            return;
        }
        match self.folder.write_record(&record) {
            Ok(()) => {
                self.written = Some(record);
                self.retry_record_at = None;
            }
            Err(error) => {
                tell(&format!("cannot write what was seen: {error}"));
                self.retry_record_at = Some(uptime() + RECORD_RETRY);
            }
        }
    }
}

/// Where a started command prints.
#[derive(Clone, Copy)]
enum OutputTo {
    Files,
    Nowhere,
}

impl OutputTo {
    fn pair(self, run: &Run) -> io::Result<[Stdio; 2]> {
        Ok(match self {
            Self::Files => {
                let output = &run.links.output;
                [output.try_clone()?.into(), output.try_clone()?.into()]
            }
            Self::Nowhere => [Stdio::null(), Stdio::null()],
        })
    }
}

fn describe(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// Kills all that is in the worker's group, all that left it, and `old`, the main process of an earlier
/// supervisor. Returns when nothing is left: a worker that can not be killed must not be started again.
pub(super) fn kill_all(id: WorkerId, groups: &Groups, old: Option<&Identity>) {
    let kill = || Ok::<_, io::Error>(groups.kill()? || processes::kill_marked(id, old)? > 0);
    let mut told = String::new();
    // The kernel ends processes soon, but not at once.
    let mut pause = Duration::from_millis(1);
    loop {
        match kill() {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) if error.to_string() == told => {}
            Err(error) => {
                told = error.to_string();
                tell(&format!("cannot kill what is left of the worker: {told}"));
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}
