//! What the configuration, the baseline and the history make of a report.
//!
//! - Pure: the clock and the files come in as values, and what is to be kept goes out as one.
//! - Nothing is dropped: what an ignore rule takes out stands among the suppressed.
//! - Judging comes before proposing: proposals are about what is left.

mod ignoring;
mod item;
mod policies;
mod weigh;

pub use ignoring::{Hit, hits, is_expired, state};
pub(crate) use item::{Item, items};
pub(crate) use policies::violation;
pub(crate) use weigh::severity_origin;

use crate::{
    baseline::Baseline,
    config::{Age, Config, Day},
    history::History,
    policy::Policies,
    redact::Secrets,
    report::{Reason, Report, Verdict},
};
use jiff::{Timestamp, tz::TimeZone};

/// All that a report is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    pub config: &'a Config,
    pub now: Timestamp,
    /// When the plan was made, for plans that do not say it themselves.
    pub made: Option<Timestamp>,
    /// An older plan proves nothing.
    pub max_age: Option<Age>,
    /// What is asked about each finding and about the plan; reading asked about each change.
    pub policies: Option<&'a Policies>,
    /// What was accepted.
    pub baseline: Option<&'a Baseline>,
    /// What the runs before have seen.
    pub history: Option<&'a History>,
    /// In how many runs in a row a finding must be seen to be new.
    pub min_consecutive: u32,
}

impl<'a> Judge<'a> {
    /// Judges by a configuration alone.
    pub fn new(config: &'a Config, now: Timestamp) -> Self {
        Self {
            config,
            now,
            made: None,
            max_age: config.gate.max_age,
            policies: None,
            baseline: None,
            history: None,
            min_consecutive: 1,
        }
    }

    /// Judges a report, and gives the history for the next run when there is one.
    pub fn judge(&self, report: &mut Report, secrets: &Secrets) -> Option<History> {
        report.workspace = self.config.workspace.as_deref().map(|name| secrets.text(name));
        if self.is_too_old(report) {
            report.reasons.push(Reason::TooOld);
            report.reasons.sort_unstable();
        }
        let today = today(self.now);
        ignoring::ignore(report, self.config, today, secrets);
        for finding in &mut report.findings {
            weigh::weigh(finding, self.config, secrets);
        }
        for suppressed in &mut report.suppressed {
            weigh::weigh(&mut suppressed.finding, self.config, secrets);
        }
        for check in &mut report.checks {
            check.severity = weigh::severity_of(check.rule, self.config);
        }
        report.counts.count_findings(&report.findings);
        report.verdict = match (report.findings.is_empty(), report.reasons.is_empty()) {
            (false, _) => Verdict::Drifted,
            (true, false) => Verdict::Inconclusive,
            (true, true) => Verdict::Clean,
        };
        if let Some(policies) = self.policies {
            policies::ask(report, policies, secrets);
        }
        if let Some(baseline) = self.baseline {
            baseline.compare(report, today);
        }
        self.history.map(|history| history.continue_with(report, self.min_consecutive))
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

/// The day, in UTC.
pub fn today(now: Timestamp) -> Day {
    Day(TimeZone::UTC.to_datetime(now).date())
}
