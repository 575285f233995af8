//! Differences that were found by comparing, as drift of a plan or as a report of their own.

use super::{Analysis, DriftFrom, Record, Rereading};
use crate::{
    Checked, Options,
    compare::{Difference, Found},
    drift::Drift,
    read::{Header, Sink as _},
    redact::Secrets,
    report::{Report, Subject},
    state::{Format, Info},
};

/// Who found a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It is drift, and the plan to come says what apply makes of it.
    BeforePlan,
    /// There is no plan that says.
    Alone,
}

impl Analysis {
    /// Takes the drift that a previous state tells, before the plan is read.
    pub(super) fn take_drift(&mut self, found: Found) {
        self.drift_from = DriftFrom::PreviousState;
        self.preload(found, Origin::BeforePlan);
    }

    fn preload(&mut self, found: Found, origin: Origin) {
        self.secrets.take_over(found.secrets);
        self.without_masks |= found.without_masks;
        for item in found.noise {
            self.from_drift.add_noise_item(item);
        }
        self.drift_begins();
        for difference in found.differences {
            let Difference { key, block, provider, moved_from, outside, changes, masks } =
                difference;
            self.names.insert(block.name.clone());
            self.instances.insert(block.clone(), 0);
            self.opentofu |= provider.starts_with("registry.opentofu.org/");
            let record = Record {
                drift: Drift { changes, masks, joined: None },
                provider,
                moved_from,
                block,
                identity_changed: false,
                relevant: false,
                observed: (origin == Origin::Alone).then_some(outside),
            };
            self.records.insert(key, record);
        }
    }
}

/// The report on two states.
pub(crate) fn report_of_states(mut found: Found, info: &Info, warnings: Vec<String>) -> Checked {
    let secrets = std::mem::take(&mut found.secrets);
    let version = match &info.format {
        Format::Unknown => None,
        Format::Json(version) => Some(version.clone()),
        Format::Raw(version) => Some(version.to_string()),
    };
    let objects = found.objects;
    let mut report = report_of(found, &secrets, Subject::States);
    report.plan.format_version = version;
    report.plan.tool_version.clone_from(&info.tool_version);
    report.counts.resources = objects;
    report.warnings = warnings;
    Checked { report, secrets }
}

/// What differs between the changes of two plans: a part of their report.
pub(crate) fn report_of_plans(found: Found, secrets: &Secrets) -> Report {
    report_of(found, secrets, Subject::Plans)
}

fn report_of(found: Found, secrets: &Secrets, subject: Subject) -> Report {
    let mut analysis = Analysis::new(Options::default(), Rereading::Impossible);
    analysis.preload(found, Origin::Alone);
    let report = analysis.finish(Header::default(), secrets);
    Report { subject, warnings: Vec::new(), reasons: Vec::new(), ..report }
}
