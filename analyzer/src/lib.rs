//! driftgate: finds in a plan what was changed outside, and says what to do about it.
//!
//! In one breath: [`read`](mod@self) a plan as a stream, [`diff`](diff::diff) what was with what
//! is, join it with what is wanted ([`Fate`](fate::Fate)), and render the [`Report`] in one of
//! [`FORMATS`](formats::FORMATS). With a configuration, [`propose`] adds patches that adopt what
//! was changed outside.
//!
//! - Only `read`, `config` and the command line touch files; the rest is plain data and pure
//!   functions.
//! - No report holds a sensitive value: see [`redact`].
//!
//! ```
//! let plan = br#"{"format_version":"1.2","resource_changes":[]}"#;
//! let report = driftgate::check(&plan[..], driftgate::Limits::STANDARD)?;
//! assert_eq!(report.verdict, driftgate::report::Verdict::Clean);
//! # Ok::<(), driftgate::ReadError>(())
//! ```

pub mod action;
pub mod address;
pub mod baseline;
pub mod compare;
pub mod config;
pub mod diff;
pub mod exit_code;
pub mod explain;
pub mod fate;
pub mod fingerprint;
pub mod fleet;
pub mod formats;
pub mod gate;
pub mod history;
pub mod judge;
pub mod noise;
pub mod number;
pub mod options;
pub mod path;
pub mod policy;
pub mod proposal;
pub mod redact;
pub mod report;
pub mod rule;
pub mod schemas;
pub mod state;
pub mod value;

mod adopt;
mod analysis;
mod drift;
mod read;

pub use adopt::{Configuration, Selection, Written, propose, propose_selected, replace_file};
pub use compare::{CompareError, check_with_previous, compare, compare_with_live};
pub use options::Options;
pub use read::{Limits, Position, ReadError, Text, WrongKind};
pub use report::Report;
pub use schemas::Schemas;

use analysis::{Plans, Rereading};
use redact::Secrets;
use std::io::{Read, Seek};

/// A report, and the secrets of the plan it was made from: what is printed beside the report must
/// be cleared of them too.
#[derive(Debug)]
pub struct Checked {
    pub report: Report,
    pub secrets: Secrets,
}

impl Checked {
    /// The report of a plan that was recognised and of which nothing can be known: encrypted, or
    /// cut off. `None` when the error says nothing of a plan.
    pub fn unread(error: &ReadError) -> Option<Self> {
        let report = Report {
            verdict: report::Verdict::Inconclusive,
            reasons: vec![error.reason()?],
            warnings: vec![error.to_string()],
            ..Report::empty()
        };
        Some(Self { report, secrets: Secrets::default() })
    }
}

/// Checks a plan that can be read only once, such as one from a pipe. An input with several plans
/// makes one report about all of them.
pub fn check(reader: impl Read, options: impl Into<Options>) -> Result<Report, ReadError> {
    check_stream(reader, options).map(|checked| checked.report)
}

/// As [`check`], with the secrets.
pub fn check_stream(reader: impl Read, options: impl Into<Options>) -> Result<Checked, ReadError> {
    let mut plans = Plans::new(options.into(), Rereading::Impossible);
    plans.read(reader)?;
    Ok(plans.finish())
}

/// Reads what `terraform providers schema -json` prints.
pub fn read_schemas(reader: impl Read, limits: Limits) -> Result<Schemas, ReadError> {
    read::read_schemas(reader, limits)
}

/// Reads a state of any format, object by object.
pub fn read_state(
    reader: impl Read,
    limits: Limits,
    receiver: &mut impl state::Receiver,
) -> Result<state::Info, ReadError> {
    read::read_state(reader, limits, receiver)
}

/// Checks plans in a file. If the sections of one stand in an unusual order, it is read twice.
pub fn check_file(
    mut file: impl Read + Seek,
    options: impl Into<Options>,
) -> Result<Checked, ReadError> {
    let mut plans = Plans::new(options.into(), Rereading::Possible);
    plans.read_file(&mut file)?;
    Ok(plans.finish())
}
