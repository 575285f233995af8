//! The border to the plugin protocol: bytes and messages on one side, [`framework`](crate::framework)
//! values on the other.
//!
//! Nothing a CLI sends can panic here: wrong types, cut-off bytes, absurd lengths and deep nesting
//! are errors that name the place. Answers are always msgpack; both forms are read.

mod diagnostics;
mod dynamic_value;
mod json;
mod msgpack;
mod schema;
mod types;

pub use self::{
    diagnostics::{diagnostics_to_proto, path_to_proto},
    dynamic_value::{decode, encode, from_msgpack, to_msgpack},
    json::{from_json, state_from_json, to_json, untyped_from_json},
    schema::{function_to_proto, identity_schema_to_proto, schema_to_proto},
    types::{parse_type, type_to_json},
};

use crate::framework::Path;
use std::fmt;

/// Values nested deeper than this are an attack; schemas and people stay far below. Together with
/// [`TYPE_DEPTH_MAX`] it leaves room for any value to be written as JSON and read back.
const DEPTH_MAX: usize = 60;
/// The same for types.
const TYPE_DEPTH_MAX: usize = 30;

/// Bytes that are not what the protocol says, or a value that doesn't fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Where in the value.
    pub path: Path,
    /// What is wrong there.
    pub what: String,
}

impl WireError {
    pub(crate) fn new(path: &Path, what: impl Into<String>) -> Self {
        Self { path: path.clone(), what: what.into() }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() {
            f.write_str(&self.what)
        } else {
            write!(f, "{} at `{}`", self.what, self.path)
        }
    }
}

impl std::error::Error for WireError {}
