//! Runs Terraform or OpenTofu, to see what is real.
//!
//! - Nothing is written but a plan in a folder of our own: the plan is refresh-only and is never
//!   applied, and the state is not even locked.
//! - What the engine says on standard error goes to ours; what it says on standard output may hold
//!   values, and goes nowhere but into the plan.
//! - It is asked to stop when its time is over, and ended when it does not.

use anyhow::{Context as _, bail, ensure};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// How long an engine may take to stop by itself.
const GRACE: Duration = Duration::from_secs(15);

/// What to run, and where.
pub(crate) struct Engine<'a> {
    pub(crate) program: &'a Path,
    /// The folder of the root module.
    pub(crate) root: &'a Path,
    /// For each of its two commands.
    pub(crate) timeout: Duration,
}

/// Makes a refresh-only plan in JSON inside `folder`; its path. `more` are arguments for `plan`.
pub(crate) fn refresh_only_plan(
    engine: &Engine<'_>,
    folder: &Path,
    more: &[String],
) -> anyhow::Result<PathBuf> {
    let (binary, json) = (folder.join("plan.bin"), folder.join("plan.json"));
    let mut plan = command(engine);
    plan.args(["plan", "-refresh-only", "-input=false", "-lock=false", "-no-color"]);
    let mut out = std::ffi::OsString::from("-out=");
    out.push(&binary);
    plan.arg(out).args(more);
    run(plan, engine, "plan", io::sink())?;
    let mut show = command(engine);
    show.args(["show", "-json"]).arg(&binary);
    let file = File::create(&json).context("failed to write the plan")?;
    run(show, engine, "show", file)?;
    Ok(json)
}

fn command(engine: &Engine<'_>) -> Command {
    let mut command = Command::new(engine.program);
    command.current_dir(engine.root).env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Runs a command to its end and copies what it prints.
fn run(
    mut command: Command,
    engine: &Engine<'_>,
    name: &str,
    mut into: impl io::Write + Send + 'static,
) -> anyhow::Result<()> {
    let program = engine.program.display();
    let mut child = command.spawn().with_context(|| {
        format!("failed to run `{program}`; name the engine with --terraform PATH")
    })?;
    let mut printed = child.stdout.take().context("the engine has no standard output")?;
    let (done, wait) = mpsc::channel();
    // It ends when the engine does, which closes its output.
    let copier = thread::spawn(move || {
        let copied = io::copy(&mut printed, &mut into);
        // Nobody waits any more when the time is over.
        done.send(()).ok();
        copied
    });
    if wait.recv_timeout(engine.timeout) == Err(RecvTimeoutError::Timeout) {
        stop(&mut child, || wait.recv_timeout(GRACE).is_ok());
        bail!(
            "`{program} {name}` was stopped after {} seconds; allow more with --timeout",
            engine.timeout.as_secs()
        );
    }
    let status = child.wait().context("failed to wait for the engine")?;
    ensure!(
        status.success(),
        "`{program} {name}` in {} failed ({status}); what it said stands above",
        engine.root.display()
    );
    match copier.join() {
        Ok(copied) => copied.map(drop).with_context(|| format!("failed to keep the {name}")),
        Err(_) => bail!("failed to keep the {name}"),
    }
}

/// Asks a process to stop, so that it can end its providers, then ends it.
fn stop(child: &mut Child, has_ended: impl FnOnce() -> bool) {
    #[cfg(unix)]
    if let Some(id) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        && rustix::process::kill_process(id, rustix::process::Signal::INT).is_ok()
        && has_ended()
    {
        drop(child.wait());
        return;
    }
    #[cfg(not(unix))]
    drop(has_ended);
    drop(child.kill());
    drop(child.wait());
}
