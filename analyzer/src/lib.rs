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
pub mod diff;
pub mod exit_code;
pub mod explain;
pub mod fate;
pub mod fingerprint;
pub mod formats;
pub mod gate;
pub mod noise;
pub mod number;
pub mod path;
pub mod proposal;
pub mod redact;
pub mod report;
pub mod rule;
pub mod schemas;
pub mod value;

mod adopt;
mod analysis;
mod drift;
mod read;

pub use adopt::{Configuration, Written, propose};
pub use read::{Limits, ReadError, WrongKind};
pub use report::Report;
pub use schemas::Schemas;

use analysis::{Analysis, Rereading};
use redact::Secrets;
use std::io::{Read, Seek, SeekFrom};

/// A report, and the secrets of the plan it was made from: what is printed beside the report must
/// be cleared of them too.
#[derive(Debug)]
pub struct Checked {
    pub report: Report,
    pub secrets: Secrets,
}

/// Checks a plan that can be read only once, such as one from a pipe.
pub fn check(reader: impl Read, limits: Limits) -> Result<Report, ReadError> {
    check_stream(reader, limits).map(|checked| checked.report)
}

/// As [`check`], with the secrets.
pub fn check_stream(reader: impl Read, limits: Limits) -> Result<Checked, ReadError> {
    let mut analysis = Analysis::new(limits, Rereading::Impossible);
    let header = read::read_plan(reader, limits, &mut analysis)?;
    analysis.settle_held()?;
    let (report, secrets) = analysis.finish(header);
    Ok(Checked { report, secrets })
}

/// Reads what `terraform providers schema -json` prints.
pub fn read_schemas(reader: impl Read, limits: Limits) -> Result<Schemas, ReadError> {
    read::read_schemas(reader, limits)
}

/// Checks a plan in a file. If its sections stand in an unusual order it is read twice.
pub fn check_file(mut file: impl Read + Seek, limits: Limits) -> Result<Checked, ReadError> {
    let mut analysis = Analysis::new(limits, Rereading::Possible);
    let mut header = read::read_plan(&mut file, limits, &mut analysis)?;
    if analysis.must_reread() {
        file.seek(SeekFrom::Start(0)).map_err(|source| ReadError::Io { offset: 0, source })?;
        analysis.begin_second_pass();
        header = read::read_plan(&mut file, limits, &mut analysis)?;
    }
    let (report, secrets) = analysis.finish(header);
    Ok(Checked { report, secrets })
}
