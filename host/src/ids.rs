//! The register of typed ids: a worker's id is not a pool's, and each says which it is.
//!
//! An id is `KIND_UUID` with a UUIDv7 inside, so ids of one kind sort by birth. They are made only by
//! an [`IdSource`], which tests replace by one that counts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not an id of the form `{kind}_UUID`")]
pub struct ParseIdError {
    text: String,
    kind: &'static str,
}

/// Where new ids come from.
pub trait IdSource: Send + Sync {
    fn next(&self) -> Uuid;
}

/// UUIDv7 from the system's clock and random numbers.
#[derive(Debug, Clone, Copy)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            pub const KIND: &str = $kind;
            /// Before every other in order.
            pub const FIRST: Self = Self(Uuid::nil());

            pub fn new(source: &dyn IdSource) -> Self {
                Self(source.next())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($kind, "_{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix(concat!($kind, "_"))
                    .and_then(|uuid| Uuid::try_parse(uuid).ok())
                    .map(Self)
                    .ok_or_else(|| ParseIdError { text: text.to_owned(), kind: $kind })
            }
        }

        impl TryFrom<String> for $name {
            type Error = ParseIdError;

            fn try_from(text: String) -> Result<Self, ParseIdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )*};
}

ids! {
    CapacityLeaseId = "lease";
    CapacityTargetId = "target";
    EnvironmentId = "env";
    EventId = "event";
    EventSubscriptionId = "subscription";
    HostId = "host";
    OperationId = "operation";
    PlanId = "plan";
    QuotaId = "quota";
    ServiceAccountId = "account";
    TokenId = "token";
    /// Also the name under which a driver knows a worker, carried on the worker itself.
    WorkerId = "worker";
    WorkerPoolId = "pool";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_its_kind_and_reads_back() {
        let id = WorkerId::new(&SystemIds);
        assert!(id.to_string().starts_with("worker_"));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn an_id_of_another_kind_is_refused() {
        let pool = WorkerPoolId::new(&SystemIds).to_string();
        let error = pool.parse::<WorkerId>().unwrap_err();
        assert!(error.to_string().contains("worker_UUID"), "{error}");
    }
}
