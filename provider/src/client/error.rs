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
    /// There was less time for an answer than usual: the operation's own was up.
    pub cut_short: bool,
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

impl Remote {
    /// Whether what was asked for may be done all the same. The host knows what it has done, and gives
    /// each call an id; a proxy before it only knows that it got no answer.
    fn leaves_open(&self) -> bool {
        match self.code {
            tonic::Code::DeadlineExceeded => true,
            tonic::Code::Unavailable
            | tonic::Code::Unknown
            | tonic::Code::Internal
            | tonic::Code::Cancelled => self.request_id.is_none(),
            _ => false,
        }
    }
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

    /// The host had a fair time to answer, and did not.
    pub fn is_silence(&self) -> bool {
        matches!(self.fault, Fault::TimedOut { after } if after >= Duration::from_secs(1))
    }

    /// The operation that it belongs to ended before it: interrupted, or out of time.
    pub fn ended_early(&self) -> bool {
        self.fault == Fault::Cancelled || self.cut_short
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
            if [QUOTA_EXCEEDED, OTHERS_WAIT, SHARE_AWAITED].contains(&remote.reason.as_str()))
    }
}

/// The host's reason for a use of capacity that a quota has no room for.
pub(super) const QUOTA_EXCEEDED: &str = "QUOTA_EXCEEDED";
/// The host's reason for a use of capacity that others wait in line for.
pub(super) const OTHERS_WAIT: &str = "OTHERS_WAIT";
/// The host's reason for a use of capacity that owners of shares wait for.
pub(super) const SHARE_AWAITED: &str = "SHARE_AWAITED";
/// The host's reason for a name that is taken.
pub(super) const NAME_EXISTS: &str = "NAME_EXISTS";

impl Fault {
    /// For the log: where and under which request id it happened, and none of the host's words, which
    /// may quote what the user typed.
    pub(super) fn for_log(&self) -> String {
        match self {
            Self::Unreachable { cause, .. } => format!("unreachable: {cause}"),
            Self::Tls { cause } => format!("no secure connection: {cause}"),
            Self::TimedOut { after } => format!("no answer within {after:?}"),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Remote(remote) => {
                let (code, reason) = (remote.code, &remote.reason);
                let request_id = remote.request_id.as_deref().unwrap_or("none");
                format!("refused: {code:?} {reason}, request id {request_id}")
            }
        }
    }

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
            Self::Remote(remote) => remote.leaves_open(),
            Self::Tls { .. } => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_the_request_id_and_not_the_hosts_words() {
        let remote = Remote {
            code: tonic::Code::InvalidArgument,
            message: "`hush` is wrong".to_owned(),
            violations: vec![("spec.variables".to_owned(), "`hush` is wrong".to_owned())],
            request_id: Some("req-1".to_owned()),
            reason: "INVALID".to_owned(),
            ..Remote::default()
        };
        let said = Fault::Remote(Box::new(remote)).for_log();
        assert_eq!(said, "refused: InvalidArgument INVALID, request id req-1");
    }

    #[test]
    fn only_the_host_knows_what_was_not_done() {
        for (code, request_id, open) in [
            (tonic::Code::Unavailable, None, true),
            (tonic::Code::Unavailable, Some("req-1"), false),
            (tonic::Code::DeadlineExceeded, Some("req-1"), true),
            (tonic::Code::InvalidArgument, None, false),
        ] {
            let request_id = request_id.map(str::to_owned);
            let remote = Remote { code, request_id, ..Remote::default() };
            assert_eq!(Fault::Remote(Box::new(remote)).may_be_done(), open, "{code:?}");
        }
    }
}
