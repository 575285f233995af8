//! What the configuration, the baseline and the history make of a report.
//!
//! - Pure: the clock and the files come in as values, and what is to be kept goes out as one.
//! - Nothing is dropped: what an ignore rule takes out stands among the suppressed.
//! - Judging comes before proposing: proposals are about what is left.

mod weigh;

use crate::{
    config::{Age, Config},
    redact::Secrets,
    report::{Reason, Report, Verdict},
};
use jiff::Timestamp;

/// All that a report is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    pub config: &'a Config,
    pub now: Timestamp,
    /// When the plan was made, for plans that do not say it themselves.
    pub made: Option<Timestamp>,
    /// An older plan proves nothing.
    pub max_age: Option<Age>,
}

impl Judge<'_> {
    /// Judges a report.
    pub fn judge(&self, report: &mut Report, secrets: &Secrets) {
        report.workspace = self.config.workspace.as_deref().map(|name| secrets.text(name));
        if self.is_too_old(report) {
            report.reasons.push(Reason::TooOld);
            report.reasons.sort_unstable();
        }
        for finding in &mut report.findings {
            weigh::weigh(finding, self.config, secrets);
        }
        for check in &mut report.checks {
            check.severity = weigh::severity_of(check.rule, self.config);
        }
        report.verdict = match (report.findings.is_empty(), report.reasons.is_empty()) {
            (false, _) => Verdict::Drifted,
            (true, false) => Verdict::Inconclusive,
            (true, true) => Verdict::Clean,
        };
    }

    /// True also when nobody knows when the plan was made: an age that was asked for is to be shown.
    fn is_too_old(&self, report: &Report) -> bool {
        let Some(Age(max)) = self.max_age else { return false };
        let said = report.plan.timestamp.as_deref().and_then(|text| text.parse().ok());
        match said.or(self.made) {
            Some(made) => self.now.duration_since(made) > max,
            None => true,
        }
    }
}
