//! Why an input could not be read, and what to do about it.
//!
//! - Each message says what was found and the next command to try.
//! - Nothing of the input's values is quoted, only the one byte that was in the way.

use super::{envelope::Position, grammar::Fault};
use crate::report::Reason;
use std::io;
use thiserror::Error;

/// Why a plan could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The device or the pipe failed.
    #[error("failed to read the input at {offset}")]
    Io { offset: Position, source: io::Error },
    /// Another kind of input than a plan in JSON.
    #[error(transparent)]
    Kind(#[from] WrongKind),
    /// Broken JSON.
    #[error(
        "not valid JSON: {reason}, at {offset}; make it again with `terraform show -json FILE`"
    )]
    Syntax { offset: Position, reason: String },
    /// The input ends in the middle of the document.
    #[error(
        "the input is cut off at {offset}, inside {section}: whatever wrote it stopped early or has \
         a size limit; write it to a file with `terraform show -json FILE > plan.json`"
    )]
    CutOff { offset: Position, section: String },
    /// Valid JSON that is not shaped as it should be.
    #[error("{section} is not shaped as it should be: {reason}, at {offset}")]
    Shape { section: String, reason: String, offset: Position },
    /// A format of the future.
    #[error(
        "plan format version {0} is not known; this program reads 0.x and 1.x: a newer driftgate \
         may read it"
    )]
    Version(String),
    /// One entry is larger than the memory we may use.
    #[error("{section} holds one entry of more than {limit} bytes, at {offset}; raise --max-entry")]
    TooLarge { section: String, limit: usize, offset: Position },
    /// The sections stand in an unusual order and the input cannot be read twice.
    #[error(
        "resource_drift comes after resource_changes, and a pipe cannot be read a second time; \
         save the plan to a file and give its name"
    )]
    OrderNeedsFile,
}

/// Inputs that are recognised and are not what is needed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WrongKind {
    #[error(
        "the input is empty; a failed `terraform show -json` writes nothing, so look at its own \
         error first"
    )]
    Empty,
    #[error("this is a binary plan file; run `terraform show -json FILE` and give its output")]
    BinaryPlan,
    /// What it is and what it says about itself in clear.
    #[error(
        "this is {0}, encrypted by OpenTofu; run `tofu show -json FILE` where its key is \
         configured and give its output"
    )]
    Encrypted(String),
    #[error(
        "this is `.terraform/terraform.tfstate`, which only says where the state is kept; run \
         `terraform plan -out plan.bin` and give `terraform show -json plan.bin`"
    )]
    BackendStub,
    #[error(
        "this is a raw state file, which knows nothing of reality; run \
         `terraform plan -out plan.bin` and give `terraform show -json plan.bin`"
    )]
    RawState,
    #[error(
        "this is a state in JSON, which knows nothing of reality; run \
         `terraform plan -out plan.bin` and give `terraform show -json plan.bin`"
    )]
    StateJson,
    #[error(
        "this is an event of `terraform plan -json` with its fields in another order; give the \
         stream as it was written"
    )]
    EventStream,
    #[error(
        "this is a plan, where a state is needed: give the output of `terraform state pull`, or of \
         `terraform show -json` without a plan file"
    )]
    Plan,
    #[error(
        "this plan holds no prior_state, so a previous state cannot be compared with it; give the \
         output of `terraform show -json FILE`"
    )]
    NoPriorState,
    #[error(
        "this is a stored state of version {0}, as Terraform before 0.7 wrote it; copy it into an \
         empty folder as terraform.tfstate and give what `terraform state pull` prints there"
    )]
    OldState(u64),
    #[error(
        "state format version {0} is not known; this program reads 0.x and 1.x of `show -json`, and \
         3 and 4 of stored states: a newer driftgate may read it"
    )]
    StateVersion(String),
    #[error(
        "this is JSON but no state; give the output of `terraform show -json` or of `terraform \
         state pull`"
    )]
    NotState,
    #[error("these are no provider schemas; give the output of `terraform providers schema -json`")]
    NotSchemas,
    #[error("this is a provider schema; a plan is needed: `terraform show -json FILE`")]
    Schemas,
    #[error("this is JSON but not a plan; give the output of `terraform show -json FILE`")]
    OtherJson,
    #[error(
        "this holds more than one JSON document, and not all of them are plans; give plans of one \
         kind, or each one in a file of its own"
    )]
    SeveralDocuments,
}

impl ReadError {
    pub(super) fn syntax(offset: Position, fault: Fault) -> Self {
        Self::Syntax { offset, reason: fault.to_string() }
    }

    /// When the input is a plan of which nothing can be said.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::CutOff { .. } => Some(Reason::Truncated),
            Self::Kind(WrongKind::Encrypted(_)) => Some(Reason::Encrypted),
            _ => None,
        }
    }
}
