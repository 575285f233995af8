//! What can go wrong with a call, as data; `problem.rs` puts it into words.

use std::{collections::BTreeMap, error::Error, io, iter, time::Duration};

use tonic::Status;
use tonic_types::StatusExt;

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// What the call was for, to follow "tried to": ``create the quota `team-a` ``.
    pub attempted: String,
    pub endpoint: String,
    pub fault: Fault,
    /// Another call has just told the same, and its advice.
    pub repeated: bool,
    /// The host may have done what it was asked for, though nobody heard of it.
    pub may_be_done: bool,
}

/// Why a call failed. All but `Remote` happened on this side of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There was no connection, or it broke while a call was under way.
    Unreachable {
        cause: String,
        connected: bool,
    },
    /// The two sides could not agree on a secure connection.
    Tls {
        cause: String,
    },
    TimedOut {
        after: Duration,
    },
    /// Terraform asked the provider to stop.
    Cancelled,
    /// The host answered with an error.
    Remote(Box<Remote>),
}

/// An error as the host told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub code: tonic::Code,
    pub message: String,
    /// Under which the host's log knows the call.
    pub request_id: Option<String>,
    /// Fields of the request, in the API's terms, and what is wrong with each.
    pub violations: Vec<(String, String)>,
    /// One word, such as `QUOTA_EXCEEDED`; empty when the host gave none.
    pub reason: String,
    pub metadata: BTreeMap<String, String>,
    pub retry_after: Option<Duration>,
}

impl Default for Remote {
    fn default() -> Self {
        Self {
            code: tonic::Code::Unknown,
            message: String::new(),
            request_id: None,
            violations: Vec::new(),
            reason: String::new(),
            metadata: BTreeMap::new(),
            retry_after: None,
        }
    }
}

impl CallError {
    /// The resource is not there.
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(tonic::Code::NotFound)
    }

    /// The resource has changed since it was read.
    pub fn is_conflict(&self) -> bool {
        self.code() == Some(tonic::Code::Aborted)
    }

    /// Terraform asked the provider to stop.
    pub fn is_cancelled(&self) -> bool {
        self.fault == Fault::Cancelled
    }

    /// There was hardly time for an answer: the operation's own was nearly up.
    pub fn was_cut_short(&self) -> bool {
        matches!(self.fault, Fault::TimedOut { after } if after < Duration::from_secs(1))
    }

    fn code(&self) -> Option<tonic::Code> {
        match &self.fault {
            Fault::Remote(remote) => Some(remote.code),
            Fault::Unreachable { .. }
            | Fault::Tls { .. }
            | Fault::TimedOut { .. }
            | Fault::Cancelled => None,
        }
    }

    /// A quota has no room for what was asked for, or others wait for that room.
    pub fn is_quota_exceeded(&self) -> bool {
        matches!(&self.fault, Fault::Remote(remote)
            if [QUOTA_EXCEEDED, OTHERS_WAIT].contains(&remote.reason.as_str()))
    }
}

/// The host's reason for a use of capacity that a quota has no room for.
pub(super) const QUOTA_EXCEEDED: &str = "QUOTA_EXCEEDED";
/// The host's reason for a use of capacity that others wait in line for.
pub(super) const OTHERS_WAIT: &str = "OTHERS_WAIT";
/// The host's reason for a name that is taken.
pub(super) const NAME_EXISTS: &str = "NAME_EXISTS";

impl Fault {
    /// It is not about the call but about the way to the host, so that every call fails alike.
    pub fn is_no_access(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Tls { .. } => true,
            Self::Remote(remote) => remote.code == tonic::Code::Unauthenticated,
            Self::TimedOut { .. } | Self::Cancelled => false,
        }
    }

    /// Whether the call reached the host, or may have, and its answer got lost.
    pub(super) fn may_be_done(&self) -> bool {
        match self {
            Self::Unreachable { connected, .. } => *connected,
            Self::TimedOut { .. } | Self::Cancelled => true,
            Self::Tls { .. } | Self::Remote(_) => false,
        }
    }
}

impl From<&Status> for Fault {
    fn from(status: &Status) -> Self {
        let Some(source) = status.source() else {
            return Self::Remote(Box::new(Remote::from(status)));
        };
        // The outermost says only that there was trouble with the transport.
        let cause = chain(source.source().unwrap_or(source));
        if is_tls(source) {
            return Self::Tls { cause };
        }
        let connected = !sources(source).any(|error| error.is::<tonic::ConnectError>());
        Self::Unreachable { cause, connected }
    }
}

impl From<&Status> for Remote {
    fn from(status: &Status) -> Self {
        let details = status.get_error_details();
        let header = status.metadata().get("x-request-id").and_then(|id| id.to_str().ok());
        let info = details.error_info();
        Self {
            code: status.code(),
            message: status.message().to_owned(),
            request_id: details
                .request_info()
                .map(|info| info.request_id.clone())
                .or_else(|| header.map(str::to_owned))
                .filter(|id| !id.is_empty()),
            violations: details
                .bad_request()
                .into_iter()
                .flat_map(|request| &request.field_violations)
                .map(|violation| (violation.field.clone(), violation.description.clone()))
                .collect(),
            reason: info.map(|info| info.reason.clone()).unwrap_or_default(),
            metadata: info
                .map(|info| info.metadata.clone().into_iter().collect())
                .unwrap_or_default(),
            retry_after: details.retry_info().and_then(|info| info.retry_delay),
        }
    }
}

/// An error and its sources, each said once.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = String::new();
    for error in sources(error) {
        let text = error.to_string();
        if said.contains(&text) {
            continue;
        }
        if !said.is_empty() {
            said.push_str(": ");
        }
        said.push_str(&text);
    }
    said
}

fn sources<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + 'a {
    iter::successors(Some(error), |error| <dyn Error + 'a>::source(*error))
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    sources(error).any(|error| {
        // An I/O error hides what it wraps from `source`, which goes on behind it.
        let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        error.is::<rustls::Error>() || inside.is_some_and(|inside| inside.is::<rustls::Error>())
    })
}
