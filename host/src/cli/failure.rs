//! Why a command failed: one clear message with what to do, and an exit code.

use std::{error::Error, fmt, io};

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// What the program answers to the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// For none of the reasons below.
    Failed = 1,
    /// Wrong arguments, or declarations that can not be read or that the host finds fault with.
    Usage = 2,
    /// What was named is not there.
    NotFound = 3,
    /// The host can not be reached.
    Unreachable = 4,
    /// The token is missing, wrong, or of too weak a role.
    NotAllowed = 5,
    /// It exists already, was changed meanwhile, is protected or is in use.
    Conflict = 6,
    /// A quota has no room.
    NoRoom = 7,
    /// What was waited for did not come in time.
    TimedOut = 8,
}

/// What is said on standard error.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    /// A line each.
    pub details: Vec<String>,
    /// What to do next.
    pub help: Option<String>,
    /// Under which the host's log knows the call.
    pub request_id: Option<String>,
    /// The reader of our output has gone: nothing more is to be said.
    pub is_silent: bool,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            details: Vec::new(),
            help: None,
            request_id: None,
            is_silent: false,
        }
    }

    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The host's answer to an attempt such as ``create worker pool `dev/web` ``.
    pub fn of_status(attempt: &str, endpoint: &str, status: &Status) -> Self {
        if let Some(source) = status.source() {
            return Self::unreachable(endpoint, source);
        }
        let details = status.get_error_details();
        let violations = details.bad_request().into_iter().flat_map(|bad| &bad.field_violations);
        let violations = violations.map(|one| format!("{}: {}", one.field, one.description));
        let excesses = details.quota_failure().into_iter().flat_map(|quota| &quota.violations);
        let excesses = excesses.map(|one| one.description.clone());
        let faults: Vec<_> = violations.chain(excesses).collect();
        let reason = details.error_info().map_or("", |info| info.reason.as_str());
        let exit = exit_of(status.code(), reason);
        // The message lists the same faults in one line.
        let message = match (&faults[..], exit) {
            ([], _) => format!("cannot {attempt}: {}", status.message()),
            (_, Exit::NoRoom) => format!("cannot {attempt}: there is no room"),
            _ => format!("cannot {attempt}: the host refuses it"),
        };
        let id = details.request_info().map(|info| info.request_id.clone());
        let header = || {
            let header = status.metadata().get("x-request-id")?;
            header.to_str().ok().map(str::to_owned)
        };
        Self {
            details: faults,
            help: help_for(exit, reason),
            request_id: id.or_else(header).filter(|id| !id.is_empty()),
            ..Self::new(exit, message)
        }
    }

    pub fn unreachable(endpoint: &str, source: &dyn Error) -> Self {
        let message = format!("cannot reach the host at {endpoint}: {}", innermost(source));
        Self::new(Exit::Unreachable, message).help(
            "start it with `runtimecloud serve --data-dir DIR`, or say where it is with `--endpoint` \
             or `--data-dir`",
        )
    }
}

/// The cause that says most: connection errors wrap it several times.
fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn exit_of(code: Code, reason: &str) -> Exit {
    match (code, reason) {
        (Code::ResourceExhausted, "OTHERS_WAIT" | "QUOTA_EXCEEDED") => Exit::NoRoom,
        (Code::InvalidArgument, _) => Exit::Usage,
        (Code::NotFound, _) => Exit::NotFound,
        // The host has answered.
        (Code::Unavailable, "DRIVER_FAILED" | "STORE_FAILED") => Exit::Failed,
        (Code::Unavailable, _) => Exit::Unreachable,
        (Code::Unauthenticated | Code::PermissionDenied, _) => Exit::NotAllowed,
        (Code::AlreadyExists | Code::Aborted | Code::FailedPrecondition, _) => Exit::Conflict,
        (Code::DeadlineExceeded, _) => Exit::TimedOut,
        _ => Exit::Failed,
    }
}

fn help_for(exit: Exit, reason: &str) -> Option<String> {
    let help = match (exit, reason) {
        (Exit::NotAllowed, "ROLE_TOO_LOW") => {
            "use another token, or let an administrator make one with \
             `runtimecloud token create NAME --role ROLE`"
        }
        (Exit::NotAllowed, _) => {
            "give a token with `--token` or RUNTIMECLOUD_TOKEN, or the host's data folder with \
             `--data-dir`, whose `admin.token` is then used"
        }
        (Exit::NoRoom, "OTHERS_WAIT") => {
            "let it wait in line too (`--max-wait`, or `wait` in a file); \
             `runtimecloud get leases` shows who waits"
        }
        (Exit::NoRoom, _) => {
            "ask for less (size, shape), scale something else down, or raise the quota; \
             `runtimecloud describe quota NAME` shows what is used"
        }
        (Exit::Conflict, "NAME_EXISTS") => "`runtimecloud apply` changes what is there",
        _ => return None,
    };
    Some(help.to_owned())
}

impl Failure {
    /// For a command that changes something: its work is done, but nobody heard what became of it.
    pub fn unheard(error: io::Error) -> Self {
        Self { is_silent: false, ..Self::from(error) }
    }
}

/// For a command that only reads: a reader that has enough is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let is_silent = error.kind() == io::ErrorKind::BrokenPipe;
        let message = format!("cannot write the output: {error}");
        Self { is_silent, ..Self::new(Exit::Failed, message) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for detail in &self.details {
            write!(f, "\n  {detail}")?;
        }
        if let Some(id) = &self.request_id {
            write!(f, "\n  (request {id})")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::{ErrorDetails, FieldViolation, QuotaViolation};

    use super::*;

    fn of(code: Code, message: &str, details: ErrorDetails) -> String {
        let status = Status::with_error_details(code, message, details);
        let failure = Failure::of_status("create quota `q`", "http://127.0.0.1:1", &status);
        format!("{failure}\nexit {}", failure.exit as i32)
    }

    fn reason(reason: &str) -> ErrorDetails {
        let mut details = ErrorDetails::with_error_info(reason, "runtimecloud", []);
        details.set_request_info("r-1", "");
        details
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let mut invalid = reason("INVALID");
        invalid.set_bad_request(vec![
            FieldViolation::new("name", "is not a name"),
            FieldViolation::new("spec.limits", "soft is above hard"),
        ]);
        insta::assert_snapshot!(of(Code::InvalidArgument, "name: is not a name; …", invalid), @r"
    cannot create quota `q`: the host refuses it
      name: is not a name
      spec.limits: soft is above hard
      (request r-1)
    exit 2
    ");
        insta::assert_snapshot!(
            of(Code::AlreadyExists, "quota `q` exists already", reason("NAME_EXISTS")), @r"
    cannot create quota `q`: quota `q` exists already
      (request r-1)
    help: `runtimecloud apply` changes what is there
    exit 6
    ");
        let mut excess = reason("QUOTA_EXCEEDED");
        excess.set_quota_failure(vec![
            QuotaViolation::new("q", "quota `q` has no room for cpu"),
            QuotaViolation::new("q", "quota `q` has no room for memory"),
        ]);
        insta::assert_snapshot!(of(Code::ResourceExhausted, "…; …", excess), @r"
    cannot create quota `q`: there is no room
      quota `q` has no room for cpu
      quota `q` has no room for memory
      (request r-1)
    help: ask for less (size, shape), scale something else down, or raise the quota; `runtimecloud describe quota NAME` shows what is used
    exit 7
    ");
        insta::assert_snapshot!(
            of(Code::Unauthenticated, "a token is needed", reason("NO_TOKEN")), @r"
    cannot create quota `q`: a token is needed
      (request r-1)
    help: give a token with `--token` or RUNTIMECLOUD_TOKEN, or the host's data folder with `--data-dir`, whose `admin.token` is then used
    exit 5
    ");
        insta::assert_snapshot!(of(Code::NotFound, "there is no quota `q`", ErrorDetails::new()), @r"
    cannot create quota `q`: there is no quota `q`
    exit 3
    ");
        insta::assert_snapshot!(
            of(Code::Unavailable, "cannot store the change", reason("STORE_FAILED")), @r"
    cannot create quota `q`: cannot store the change
      (request r-1)
    exit 1
    ");
    }
}
