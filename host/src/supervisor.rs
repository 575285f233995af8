//! The supervisor: one small process per worker, that outlives the host.
//!
//! It starts the worker, watches over it and ends with it. It decides nothing ([`life`]) and answers
//! nobody: its folder ([`folder`]) holds all that it is told and all that it tells. Its threads block
//! until something happens; an idle worker costs a look at its folder every few seconds.
//!
//! Guarantees:
//! - Holding the folder's lock, it is alone. Before it starts anything it kills what an earlier
//!   supervisor, that was itself killed, has left.
//! - Nothing of a worker survives its stop, wherever it moved: neither another process group nor
//!   another session helps.
//! - When its folder is removed, it stops the worker as if it was told to.
//!
//! Assumption: nobody but the host writes into the folder.

mod checks;
pub(crate) mod clock;
mod enter;
pub mod folder;
pub mod groups;
pub mod life;
pub mod output;
pub mod ports;
pub mod processes;
mod run;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, PipeWriter, Read},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::AtomicU64,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};

use crate::supervisor::{
    folder::{Folder, Order, Record, RecordedPhase},
    groups::Groups,
    output::Output,
    run::Run,
};

/// The hidden sub-command under which the host's own program becomes a supervisor.
pub const COMMAND: &str = "supervise";

const STACK_BYTES: usize = 256 * 1024;
/// How long the end of the output may take once nothing of the worker is left.
const LAST_OUTPUT: Duration = Duration::from_secs(5);

/// Runs the sub-command with the arguments that follow it.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    match args.next() {
        Some(flag) if flag == enter::FLAG => enter::enter(args),
        Some(path) => match supervise(&Folder::new(PathBuf::from(path))) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tell(&format!("{error:#}"));
                ExitCode::FAILURE
            }
        },
        None => {
            tell("this command is for the host itself; it takes the folder of a worker");
            ExitCode::from(2)
        }
    }
}

/// Standard error is the worker's `supervisor.log`.
#[expect(clippy::print_stderr, reason = "the supervisor has no other way to tell its own troubles")]
fn tell(trouble: &str) {
    eprintln!("{}: {trouble}", jiff::Timestamp::now());
}

/// Something that the main loop acts on.
#[derive(Debug)]
enum Message {
    /// Somebody wants us to look at the folder.
    Look,
    /// One of our children, by birth or adoption, has ended.
    Ended(Pid, WaitStatus),
    /// A check of the worker's n-th start has been made.
    Checked { start: u32, result: Result<(), String> },
}

/// Watches over the worker of a folder until its life is over. Returns at once when another does.
fn supervise(folder: &Folder) -> anyhow::Result<()> {
    // Fails only for the leader of a process group, which has left its parent's group anyway.
    let _leader = setsid();
    set_child_subreaper(Some(getpid())).context("become the reaper of orphans")?;
    let Some(_lock) = folder.lock().context("lock the folder")? else { return Ok(()) };
    let old = folder.record().context("read what an earlier supervisor saw")?;
    if old.as_ref().is_some_and(|old| old.phase == RecordedPhase::Stopped) {
        return Ok(());
    }
    let order = folder.order().context("read the order")?;
    let groups = Groups::new(&order.places, order.id, &order.template.shape);
    // Even without a record: an earlier supervisor may have been killed before it could write one.
    run::kill_all(order.id, &groups, old.as_ref().and_then(|old| old.process.as_ref()));

    let (messages, inbox) = mpsc::channel();
    watch_control(folder.open_control().context("open the control pipe")?, messages.clone())?;
    let births = reap(messages.clone())?;
    let dropped = Arc::default();
    let (output, keeper) = keep_output(folder, &order, Arc::clone(&dropped))?;
    let links = Links { messages, births, output, dropped };
    let last_word = watch(Run::new(folder.clone(), order, groups, links, old), &inbox);
    // What is in the pipe is kept before the last word is said. All of the worker is gone, but it may
    // have handed the pipe to a stranger, who is not waited for.
    let _ended = keeper.recv_timeout(LAST_OUTPUT);
    folder.write_record(&last_word).context("write the last record")
}

/// What connects a run with the threads around it.
struct Links {
    messages: Sender<Message>,
    /// A word for each child that was born.
    births: Sender<()>,
    output: PipeWriter,
    dropped: Arc<AtomicU64>,
}

fn watch(mut run: Run, inbox: &Receiver<Message>) -> Record {
    run.begin();
    while !run.is_over() {
        match inbox.recv_timeout(run.next_wait()) {
            Ok(message) => run.take(message),
            Err(_) => run.time(),
        }
    }
    run.last_word()
}

fn watch_control(mut control: File, messages: Sender<Message>) -> io::Result<()> {
    spawn("control", move || {
        let mut buffer = [0; 64];
        while control.read(&mut buffer).is_ok() && messages.send(Message::Look).is_ok() {}
    })
}

/// Waits for all children, those included that are only ours since their parent ended.
fn reap(messages: Sender<Message>) -> io::Result<Sender<()>> {
    let (births, born) = mpsc::channel();
    spawn("reaper", move || {
        for () in born {
            // An error means that there is no child now.
            while let Ok(Some((pid, status))) = wait(WaitOptions::empty()) {
                if messages.send(Message::Ended(pid, status)).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok(births)
}

/// The receiver is told by the end of its sender that all output is kept.
fn keep_output(
    folder: &Folder,
    order: &Order,
    dropped: Arc<AtomicU64>,
) -> anyhow::Result<(PipeWriter, Receiver<()>)> {
    let (reader, writer) = io::pipe().context("make the output pipe")?;
    let mut output = Output::new(folder.output(), order.output, dropped);
    let (alive, ended) = mpsc::channel();
    let keep = move || {
        output.copy_from(reader);
        drop(alive);
    };
    spawn("output", keep).context("keep output")?;
    Ok((writer, ended))
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(body).map(drop)
}
