//! Runs commands to their end and waits for conditions, never longer than a limit.

use std::{
    fmt,
    fs::{self, File},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

/// Long enough for a busy machine; a test that reaches it has failed.
pub const LIMIT: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(20);

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    what: String,
    /// Absent when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Fails, with all that was printed, unless the command exited with 0.
    pub fn succeeded(self) -> Result<Self> {
        self.exited_with(0)
    }

    /// Fails, with all that was printed, unless the command exited with this code.
    pub fn exited_with(self, code: i32) -> Result<Self> {
        ensure!(self.code == Some(code), "expected exit code {code} of {self}");
        Ok(self)
    }

    /// Fails, with all that was printed, unless [each of the pieces](expect_said) was printed.
    pub fn says(self, pieces: &[&str]) -> Result<Self> {
        expect_said(&format!("{}\n{}", self.stdout, self.stderr), pieces)
            .with_context(|| self.to_string())?;
        Ok(self)
    }
}

/// Fails unless each of the pieces is in the text. Line breaks and the bars that Terraform draws
/// beside its diagnostics do not matter.
pub fn expect_said(text: &str, pieces: &[&str]) -> Result<()> {
    let said = unwrapped(text);
    for piece in pieces {
        ensure!(said.contains(piece), "`{piece}` was not said");
    }
    Ok(())
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, code, stdout, stderr } = self;
        write!(f, "`{what}` (exit code {code:?})\n{stdout}{stderr}")
    }
}

fn unwrapped(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !matches!(*word, "│" | "|" | "╷" | "╵"));
    words.collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end, or kills it at [`LIMIT`].
pub fn run(command: Command) -> Result<Ran> {
    Running::start(command)?.wait()
}

/// A command under way; what it prints goes to files, so that nobody needs to read along.
pub struct Running {
    what: String,
    child: Child,
    output: tempfile::TempDir,
}

impl Running {
    pub fn start(mut command: Command) -> Result<Self> {
        let what = describe(&command);
        let output = tempfile::tempdir()?;
        // A group of its own, to be interrupted as a terminal does.
        command.process_group(0).stdin(Stdio::null());
        command.stdout(File::create(output.path().join("stdout"))?);
        command.stderr(File::create(output.path().join("stderr"))?);
        let child = command.spawn().with_context(|| format!("cannot start `{what}`"))?;
        Ok(Self { what, child, output })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn said(&self) -> Result<String> {
        Ok(self.read("stdout")? + &self.read("stderr")?)
    }

    /// Ends when the command has ended; kills it at [`LIMIT`].
    pub fn wait(mut self) -> Result<Ran> {
        let what = self.what.clone();
        let ended = until(&format!("`{what}` to end"), || Ok(self.child.try_wait()?));
        let status = match ended {
            Ok(status) => status,
            Err(error) => {
                self.child.kill()?;
                self.child.wait()?;
                return Err(error.context(self.said()?));
            }
        };
        let (stdout, stderr) = (self.read("stdout")?, self.read("stderr")?);
        Ok(Ran { what, code: status.code(), stdout, stderr })
    }

    fn read(&self, stream: &str) -> Result<String> {
        let bytes = fs::read(self.output.path().join(stream))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Asks again and again until there is an answer; an error of the asking ends it at once.
#[expect(clippy::disallowed_methods, reason = "the suite's one clock")]
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if begin.elapsed() > LIMIT {
            bail!("waited {} s in vain for {what}", LIMIT.as_secs());
        }
        thread::sleep(PAUSE);
    }
}
