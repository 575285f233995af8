//! Reads plan JSON as a stream: one forward pass, one entry in memory at a time.
//!
//! - [`Documents`] walks the sections of each plan and hands each entry to a [`Sink`]; what nobody
//!   needs is passed over, though its grammar is checked.
//! - Only the major format version decides whether a plan can be read; everything else goes by
//!   the fields that are present. Unknown fields and actions are tolerated.
//! - A failure is an error with its byte, never an empty result.

mod entry;
mod envelope;
mod error;
mod events;
pub(crate) mod grammar;
mod lanes;
mod plan;
mod references;
mod schemas;
mod sections;
mod source;
mod state;
pub(crate) mod text;

pub use envelope::{Position, Text};
pub use error::{ReadError, WrongKind};

pub(crate) use entry::Entry;
pub(crate) use plan::{Documents, Header, Kind, Sink};
pub(crate) use references::{Part, Reference};
pub(crate) use schemas::read_schemas;
pub(crate) use state::{read_prior_state, read_state};

/// Bounds on what reading may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest single entry (one resource's change), in bytes.
    pub entry_bytes_max: usize,
    /// From a pipe: how much to keep of changes that come before the drift, in bytes. Terraform
    /// writes the drift first; other tools may reorder the sections.
    pub held_bytes_max: usize,
}

impl Limits {
    /// What suits a build machine: entries up to 256 MiB, 16 MiB of reordered changes.
    pub const STANDARD: Self =
        Self { entry_bytes_max: 256 * 1024 * 1024, held_bytes_max: 16 * 1024 * 1024 };
}
