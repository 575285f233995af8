//! What was seen in the runs before, so that an alert can wait for the N-th in a row.
//!
//! - A finding that a run does not see begins anew; a run that proves nothing forgets nothing.
//! - Broken policies and failed checks never wait.

use crate::{
    baseline::{KeptError, check_version, parse},
    fingerprint,
    report::{Report, Standing},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Findings by fingerprint, with the number of runs in a row that saw them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    schema_version: u32,
    pub workspace: Option<String>,
    runs_in_a_row: BTreeMap<String, u32>,
}

impl Default for History {
    fn default() -> Self {
        Self { schema_version: 1, workspace: None, runs_in_a_row: BTreeMap::new() }
    }
}

impl History {
    /// Reads the text of a history file.
    pub fn parse(text: &str) -> Result<Self, KeptError> {
        let history: Self = parse(text)?;
        check_version(history.schema_version)?;
        Ok(history)
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Makes findings wait that were seen in fewer than `wanted` runs in a row, this one included,
    /// and gives the history for the next run.
    pub(crate) fn continue_with(&self, report: &mut Report, wanted: u32) -> Self {
        let mut next = BTreeMap::new();
        if !report.reasons.is_empty() {
            next.clone_from(&self.runs_in_a_row);
        }
        for finding in &mut report.findings {
            let former = fingerprint::former(finding);
            let seen = [Some(&finding.fingerprint), former.as_ref()]
                .into_iter()
                .flatten()
                .filter_map(|fingerprint| self.runs_in_a_row.get(fingerprint))
                .max();
            let runs = seen.copied().unwrap_or(0).saturating_add(1);
            next.insert(finding.fingerprint.clone(), runs);
            if finding.standing == Standing::New && runs < wanted {
                finding.standing = Standing::Awaiting { runs, wanted };
            }
        }
        Self { workspace: report.workspace.clone(), runs_in_a_row: next, ..self.clone() }
    }
}
