//! A failed call in words for the user: short summary; then what was attempted, the cause with the
//! host's message and request id, and the next step. Pure.
//!
//! Guarantee: no value of the configuration and no token is in a text, but names and what the host
//! itself says.

use std::fmt::Write as _;

use super::error::{
    CallError, Fault, NAME_EXISTS, OTHERS_WAIT, QUOTA_EXCEEDED, Remote, SHARE_AWAITED,
};

/// One thing to tell the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field of the request that it is about, in the API's terms; empty: the whole.
    pub field: String,
    pub summary: String,
    pub detail: String,
}

impl CallError {
    /// The first problem, and any others.
    pub fn problems(&self) -> (Problem, Vec<Problem>) {
        let (summary, cause, next) = match &self.fault {
            Fault::Remote(remote) => return self.remote_problems(remote),
            Fault::Unreachable { cause, .. } => (
                "The host can not be reached",
                cause.clone(),
                "Check that the host runs (`runtimecloud serve`) and that `endpoint` (or \
                 RUNTIMECLOUD_ENDPOINT) names its address; then run again.",
            ),
            Fault::Tls { cause } => (
                "No secure connection to the host",
                cause.clone(),
                "If the host's certificate is signed by an authority of your own, name that \
                 authority's certificate (PEM) in `ca_file` or RUNTIMECLOUD_CA_FILE. If the host \
                 speaks plain HTTP, begin `endpoint` with `http://`.",
            ),
            Fault::TimedOut { after } => (
                "The host did not answer in time",
                format!("No answer came within {after:?}."),
                "Run again; if the host is merely slow, raise `request_timeout` (or \
                 RUNTIMECLOUD_REQUEST_TIMEOUT).",
            ),
            Fault::Cancelled => {
                ("Cancelled", "Terraform asked the provider to stop.".to_owned(), "")
            }
        };
        (self.problem(summary, &cause, next), Vec::new())
    }

    fn remote_problems(&self, remote: &Remote) -> (Problem, Vec<Problem>) {
        if remote.reason == QUOTA_EXCEEDED {
            return (self.quota_problem(remote), Vec::new());
        }
        let mut refused = remote.violations.iter().map(|(field, description)| Problem {
            field: field.clone(),
            ..self.told("The host refuses a value", description, remote, "")
        });
        if let Some(first) = refused.next() {
            return (first, refused.collect());
        }
        let (field, (summary, next)) = match REASONS.iter().find(|row| row.0 == remote.reason) {
            Some((_, field, advice)) => (*field, *advice),
            None => ("", advice(remote.code)),
        };
        let mut next = next.to_owned();
        if let (NAME_EXISTS, Some(id)) = (remote.reason.as_str(), remote.metadata.get("id")) {
            let _ = write!(next, " Its id is `{id}`.");
        }
        let problem = self.told(summary, &remote.message, remote, &next);
        (Problem { field: field.to_owned(), ..problem }, Vec::new())
    }

    fn quota_problem(&self, remote: &Remote) -> Problem {
        let mut cause = remote.message.clone();
        for (key, label) in QUOTA_FACTS {
            if let Some(value) = remote.metadata.get(*key) {
                let _ = write!(cause, "\n  {label}: {value}");
            }
        }
        let next = "Ask for less, or raise the quota's limit. If something else in the same \
                    configuration makes room, let this depend on it (`depends_on`).";
        Problem {
            field: "spec.size".to_owned(),
            ..self.told("The quota has no room", &cause, remote, next)
        }
    }

    fn told(&self, summary: &str, cause: &str, remote: &Remote, next: &str) -> Problem {
        let mut cause = format!("The host says: {cause}");
        if let Some(id) = &remote.request_id {
            let _ = write!(cause, "\nRequest id: {id}");
        }
        self.problem(summary, &cause, next)
    }

    fn problem(&self, summary: &str, cause: &str, next: &str) -> Problem {
        let Self { attempted, endpoint, .. } = self;
        if self.repeated {
            let detail = format!(
                "The provider also tried to {attempted} at {endpoint}; what another message says \
                 of it holds here too."
            );
            return Problem { field: String::new(), summary: summary.to_owned(), detail };
        }
        let mut detail = format!("The provider tried to {attempted} at {endpoint}.\n\n{cause}");
        if !next.is_empty() {
            let _ = write!(detail, "\n\n{next}");
        }
        Problem { field: String::new(), summary: summary.to_owned(), detail }
    }
}

/// What the host tells of a quota that is too small, in the order in which a reader needs it.
const QUOTA_FACTS: &[(&str, &str)] = &[
    ("quota", "quota"),
    ("resource", "resource"),
    ("rule", "kind of limit"),
    ("limit", "limit"),
    ("used", "in use"),
    ("kept", "kept for others"),
    ("requested", "requested"),
    ("fits_at", "fits at, if nobody renews"),
];

/// A summary and a next step.
type Advice = (&'static str, &'static str);

/// The host's reasons that say more than the code: the field they are about, and what to do.
const REASONS: &[(&str, &str, Advice)] = &[
    (
        "BEING_DELETED",
        "",
        ("It is being deleted", "Wait until it is gone (`runtimecloud get`), then run again."),
    ),
    (
        "DELETION_PROTECTED",
        "spec.deletion_protection",
        (
            "Protected from deletion",
            "If deleting it is meant, set `deletion_protection = false` and apply that first.",
        ),
    ),
    (
        "IN_USE",
        "",
        (
            "Still in use",
            "Remove what uses it first. In one configuration, refer to it by its attribute (as in \
             `environment = runtimecloud_environment.dev.name`), so that Terraform knows the order.",
        ),
    ),
    ("LEASE_ENDED", "", ("The lease has ended", "Plan again: the plan makes another one.")),
    (
        NAME_EXISTS,
        "name",
        (
            "The name is taken",
            "Choose another name, or bring what exists under management with `terraform import`.",
        ),
    ),
    (
        OTHERS_WAIT,
        "spec.wait",
        (
            "Others wait in line for the quota",
            "Let it stand in line too (`wait`), raise the quota's limit, or run again later.",
        ),
    ),
    (
        SHARE_AWAITED,
        "",
        (
            "What is free is held for the owner of a share",
            "Ask for no more than what the quota's own share has left, or run again later.",
        ),
    ),
];

/// What to make of a code without a known reason.
fn advice(code: tonic::Code) -> Advice {
    match code {
        tonic::Code::Unauthenticated => (
            "The host does not accept the token",
            "Give a valid token of this host as `token` or RUNTIMECLOUD_TOKEN; it may also have \
             been revoked or have expired. The host keeps its administrator's token in the file \
             `admin.token` of its data folder, and `runtimecloud token create` makes others.",
        ),
        tonic::Code::PermissionDenied => (
            "The token may not do this",
            "Use a token with a role that may (`runtimecloud token create`).",
        ),
        tonic::Code::NotFound => ("Not found", "Check the name, and that it has not been deleted."),
        tonic::Code::AlreadyExists => (
            "The name is taken",
            "Choose another name, or bring what exists under management with `terraform import`.",
        ),
        tonic::Code::Aborted => (
            "Changed by someone else meanwhile",
            "Nothing was overwritten. Plan again, and look at what changed before you apply.",
        ),
        tonic::Code::FailedPrecondition => {
            ("The host refuses this now", "Remove what stands in the way, then run again.")
        }
        tonic::Code::Unimplemented => (
            "The host does not know this call",
            "The host is probably older than this provider: bring both to the same version.",
        ),
        tonic::Code::Unavailable => ("The host is not available", "Run again in a while."),
        tonic::Code::DeadlineExceeded => (
            "The host did not finish in time",
            "Run again; if the host is merely slow, raise `request_timeout`.",
        ),
        tonic::Code::InvalidArgument | tonic::Code::OutOfRange => {
            ("The host refuses the request", "")
        }
        tonic::Code::ResourceExhausted => ("The host has no room", "Ask for less, or wait."),
        _ => (
            "The host failed",
            "Its log says more under the request id. If it stays so, please report it with that.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};
    use tonic_types::{ErrorDetails, StatusExt};

    use super::*;

    fn problems(fault: Fault) -> Vec<Problem> {
        let attempted = "create the worker pool `dev/web`".to_owned();
        let endpoint = "http://127.0.0.1:7443".to_owned();
        let error = CallError {
            attempted,
            endpoint,
            fault,
            repeated: false,
            may_be_done: false,
            cut_short: false,
        };
        let (first, others) = error.problems();
        [first].into_iter().chain(others).collect()
    }

    fn told(status: &Status) -> Vec<Problem> {
        problems(Fault::from(status))
    }

    #[test]
    fn a_full_quota_is_told_with_quota_limit_use_and_request() {
        let mut details = ErrorDetails::new();
        let metadata = [
            ("quota", "team-a"),
            ("resource", "workers"),
            ("limit", "20"),
            ("used", "18"),
            ("requested", "3"),
        ];
        details.set_error_info(
            QUOTA_EXCEEDED,
            "runtimecloud",
            metadata.map(|(key, value)| (key.to_owned(), value.to_owned())),
        );
        details.set_request_info("req-1", "");
        let status = Status::with_error_details(
            Code::ResourceExhausted,
            "quota `team-a` has room for 2 more workers, not 3",
            details,
        );
        let problems = told(&status);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].field, "spec.size");
        assert_eq!(problems[0].summary, "The quota has no room");
        assert_eq!(
            problems[0].detail,
            "The provider tried to create the worker pool `dev/web` at http://127.0.0.1:7443.\n\
             \n\
             The host says: quota `team-a` has room for 2 more workers, not 3\
             \n  quota: team-a\n  resource: workers\n  limit: 20\n  in use: 18\n  requested: 3\n\
             Request id: req-1\n\
             \n\
             Ask for less, or raise the quota's limit. If something else in the same \
             configuration makes room, let this depend on it (`depends_on`)."
        );
    }

    #[test]
    fn each_refused_field_is_a_problem_of_its_own() {
        let mut details = ErrorDetails::new();
        details.add_bad_request_violation("name", "is too long");
        details.add_bad_request_violation("spec.worker.command", "is empty");
        let problems =
            told(&Status::with_error_details(Code::InvalidArgument, "bad request", details));
        let fields: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["name", "spec.worker.command"]);
        assert!(problems[1].detail.contains("The host says: is empty"), "{problems:?}");
    }

    #[test]
    fn every_fault_has_one_message_that_says_what_to_do() {
        let cause = "connection refused".to_owned();
        for (fault, summary, next) in [
            (
                Fault::Unreachable { cause: cause.clone(), connected: false },
                "can not be reached",
                "serve",
            ),
            (Fault::Tls { cause }, "secure connection", "ca_file"),
            (Fault::TimedOut { after: std::time::Duration::from_secs(3) }, "in time", "3s"),
            (Fault::Cancelled, "Cancelled", "asked"),
        ] {
            check(&problems(fault), summary, next);
        }
        for (code, summary, next) in [
            (Code::Unauthenticated, "does not accept the token", "RUNTIMECLOUD_TOKEN"),
            (Code::PermissionDenied, "may not", "role"),
            (Code::NotFound, "Not found", "name"),
            (Code::AlreadyExists, "taken", "import"),
            (Code::Aborted, "Changed by someone else", "Plan again"),
            (Code::FailedPrecondition, "refuses this now", "in the way"),
            (Code::Unimplemented, "does not know", "version"),
            (Code::Unavailable, "not available", "again"),
            (Code::DeadlineExceeded, "did not finish", "request_timeout"),
            (Code::Internal, "failed", "log"),
        ] {
            check(&told(&Status::new(code, "remote words")), summary, next);
            check(&told(&Status::new(code, "remote words")), summary, "remote words");
        }
    }

    fn check(problems: &[Problem], summary: &str, detail: &str) {
        let [problem] = problems else { panic!("{problems:?}") };
        assert!(problem.summary.contains(summary), "{problem:?}");
        assert!(problem.detail.contains(detail), "{problem:?}");
        assert!(problem.detail.starts_with("The provider tried to create"), "{problem:?}");
    }

    #[test]
    fn a_taken_name_is_told_at_the_name_with_the_id_to_import() {
        let mut details = ErrorDetails::new();
        let id = ("id".to_owned(), "env_1".to_owned());
        details.set_error_info(NAME_EXISTS, "runtimecloud", [id]);
        let status = Status::with_error_details(Code::AlreadyExists, "it exists", details);
        let problems = told(&status);
        check(&problems, "taken", "terraform import");
        check(&problems, "taken", "`env_1`");
        assert_eq!(problems[0].field, "name");
    }

    #[test]
    fn a_request_id_in_the_header_alone_is_told_too() {
        let mut status = Status::internal("disk full");
        status.metadata_mut().insert("x-request-id", "req-9".parse().unwrap());
        assert!(told(&status)[0].detail.contains("Request id: req-9"));
    }
}
