//! All plans of one input, and the one report that is made of them.
//!
//! - A secret of one plan is hidden in the findings of the others too.
//! - The worst verdict wins, every count is a sum, every reason is kept.

use super::{Analysis, Rereading};
use crate::{
    Checked, Options,
    compare::Found,
    read::{Documents, Header, Position, ReadError},
    redact::Secrets,
    report::{Counts, Report},
};
use std::collections::BTreeMap;

/// The plans of an input while they are read.
pub(crate) struct Plans {
    options: Options,
    rereading: Rereading,
    /// What a previous state tells of the first plan.
    drift: Option<Found>,
    read: Vec<(Analysis, Header)>,
}

impl Plans {
    pub(crate) fn new(options: Options, rereading: Rereading) -> Self {
        Self { options, rereading, drift: None, read: Vec::new() }
    }

    /// With drift that is known before the plan is read.
    pub(crate) fn with_drift(self, found: Found) -> Self {
        Self { drift: Some(found), ..self }
    }

    /// Reads them from a file, twice when that is needed.
    pub(crate) fn read_file(
        &mut self,
        file: &mut (impl std::io::Read + std::io::Seek),
    ) -> Result<(), ReadError> {
        self.read(&mut *file)?;
        if self.must_reread() {
            file.rewind()
                .map_err(|source| ReadError::Io { offset: Position::default(), source })?;
            self.begin_second_pass();
            self.read(file)?;
        }
        Ok(())
    }

    /// Reads them all. A second time, only the changes are looked at.
    pub(crate) fn read(&mut self, reader: impl std::io::Read) -> Result<(), ReadError> {
        let mut documents = Documents::new(reader, self.options.limits);
        for position in 0.. {
            if position == self.read.len() {
                let mut analysis = Analysis::new(self.options.clone(), self.rereading);
                if let Some(found) = self.drift.take() {
                    analysis.take_drift(found);
                }
                self.read.push((analysis, Header::default()));
            }
            let (analysis, header) = &mut self.read[position];
            match documents.next(analysis)? {
                Some(read) => *header = read,
                None => {
                    self.read.truncate(position);
                    break;
                }
            }
            if self.rereading == Rereading::Impossible {
                analysis.settle_held()?;
            }
        }
        if let Some((_, header)) = self.read.first_mut() {
            header.wrapped = documents.are_wrapped();
        }
        Ok(())
    }

    /// True when drift came after the changes somewhere, so that all must be read again.
    fn must_reread(&self) -> bool {
        self.read.iter().any(|(analysis, _)| analysis.must_reread())
    }

    fn begin_second_pass(&mut self) {
        self.read.iter_mut().for_each(|(analysis, _)| analysis.begin_second_pass());
    }

    /// The secrets of all of them.
    pub(crate) fn take_secrets(&mut self) -> Secrets {
        let mut secrets = Secrets::default();
        for (analysis, _) in &mut self.read {
            secrets.take_over(analysis.take_secrets());
        }
        secrets
    }

    pub(crate) fn finish(mut self) -> Checked {
        let secrets = self.take_secrets();
        Checked { report: self.finish_with(&secrets), secrets }
    }

    /// The report, cleared of these secrets.
    pub(crate) fn finish_with(self, secrets: &Secrets) -> Report {
        let read = self.read.into_iter();
        join(read.map(|(analysis, header)| analysis.finish(header, secrets)).collect())
    }
}

/// One report of several; of one, itself.
fn join(mut reports: Vec<Report>) -> Report {
    let several = reports.len();
    if several > 1 {
        for (position, report) in reports.iter_mut().enumerate() {
            report.findings.iter_mut().for_each(|it| it.document = Some(position + 1));
        }
    }
    let mut reports = reports.into_iter();
    let mut whole = reports.next().unwrap_or_else(Report::empty);
    for other in reports {
        whole.verdict = whole.verdict.max(other.verdict);
        // The oldest one counts; one without a time may be older than all.
        let times = whole.plan.timestamp.zip(other.plan.timestamp);
        whole.plan.timestamp = times.map(|(one, two)| one.min(two));
        whole.reasons.extend(other.reasons);
        whole.warnings.extend(other.warnings);
        add(&mut whole.counts, other.counts);
        whole.findings.extend(other.findings);
        whole.planned.extend(other.planned);
        whole.noise.extend(other.noise);
        whole.checks.extend(other.checks);
        whole.violations.extend(other.violations);
        for (kind, counts) in other.changes {
            let of_type = whole.changes.entry(kind).or_default();
            for (action, count) in counts {
                *of_type.entry(action).or_default() += count;
            }
        }
    }
    if several > 1 {
        let sorted = |texts: &mut Vec<String>| {
            texts.sort();
            texts.dedup();
        };
        whole.reasons.sort();
        whole.reasons.dedup();
        sorted(&mut whole.warnings);
        whole.planned.sort();
        whole.planned.truncate(Report::LISTED_MAX);
        whole.noise.sort();
        whole.noise.truncate(Report::LISTED_MAX);
        whole.documents = several;
        whole.warnings.push(format!(
            "the input holds {several} plans, and this report is about all of them; to keep them \
             apart over several runs, give each a file of its own"
        ));
    }
    whole
}

fn add(counts: &mut Counts, other: Counts) {
    fn sum(into: &mut BTreeMap<&'static str, usize>, from: BTreeMap<&'static str, usize>) {
        for (name, count) in from {
            *into.entry(name).or_default() += count;
        }
    }
    let Counts { resources, drifted, actionable, fates, planned, work, noise } = other;
    counts.resources += resources;
    counts.drifted += drifted;
    counts.actionable += actionable;
    counts.planned += planned;
    counts.work.merge(work);
    sum(&mut counts.fates, fates);
    sum(&mut counts.noise, noise);
}
