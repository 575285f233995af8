//! Messages for people, and the proof that one was given.
//!
//! [`Reported`] can be made only by [`Diagnostics::error`]; so where a function fails with it, the
//! user has been told.

use super::{Failed, Path, Value};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The operation failed.
    Error,
    /// The operation went on.
    Warning,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What happened, in one short line without user data.
    pub summary: String,
    /// What, why and what to do next, in sentences.
    pub detail: String,
    /// The argument it is about; the root for the whole block.
    pub path: Path,
}

/// Proof that an error was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported(());

impl Reported {
    /// The operation failed, yet this is what exists now: save it.
    pub fn keeping(self, state: Value) -> Failed {
        Failed { state: Some(state), reported: self }
    }
}

/// The messages of one call, in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No messages yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reports an error about `path` (an attribute's name, a [`Path`], or [`Path::root`]).
    pub fn error(
        &mut self,
        path: impl Into<Path>,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Reported {
        self.push(Severity::Error, path.into(), summary.into(), detail.into());
        Reported(())
    }

    /// Reports a warning about `path`.
    pub fn warning(
        &mut self,
        path: impl Into<Path>,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.push(Severity::Warning, path.into(), summary.into(), detail.into());
    }

    /// `Err` when any error was reported: collect first, then stop.
    pub fn stop_if_failed(&self) -> Result<(), Reported> {
        if self.has_errors() { Err(Reported(())) } else { Ok(()) }
    }

    /// Whether any error was reported.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Takes over all messages of `other`.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    fn push(&mut self, severity: Severity, path: Path, summary: String, detail: String) {
        let diagnostic = Diagnostic { severity, summary, detail, path };
        if !self.0.contains(&diagnostic) {
            self.0.push(diagnostic);
        }
    }
}
