//! All in a report that a baseline may know.

use crate::{
    fingerprint,
    report::{Report, Standing},
};

/// A finding, a broken policy or a failed check.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    pub(crate) fingerprint: String,
    /// Under the address that the object had before it was moved.
    pub(crate) former: Option<String>,
    pub(crate) address: String,
    pub(crate) rule: String,
    pub(crate) standing: &'a mut Standing,
}

/// Everything in the report, by kind and in its order.
pub(crate) fn items(report: &mut Report) -> Vec<Item<'_>> {
    let findings = report.findings.iter_mut().map(|finding| Item {
        former: fingerprint::former(finding),
        fingerprint: finding.fingerprint.clone(),
        address: finding.address.clone(),
        rule: finding.rule.id.to_owned(),
        standing: &mut finding.standing,
    });
    let violations = report.violations.iter_mut().map(|violation| Item {
        former: None,
        fingerprint: violation.fingerprint.clone(),
        address: violation.address.clone(),
        rule: format!("policy/{}", violation.policy),
        standing: &mut violation.standing,
    });
    let checks = report.checks.iter_mut().map(|check| Item {
        former: None,
        fingerprint: check.fingerprint.clone(),
        address: check.address.clone(),
        rule: check.rule.id.to_owned(),
        standing: &mut check.standing,
    });
    findings.chain(violations).chain(checks).collect()
}
