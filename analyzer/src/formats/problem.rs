//! What is to be told beside findings, for formats with one list of everything: broken policies and
//! conditions that do not hold.

use super::{visible, words};
use crate::{
    report::{Place, Report, Standing},
    rule::Severity,
};

/// One of them; texts are fit to be printed.
pub(super) struct Problem<'a> {
    /// A rule's id, or `policy/NAME`.
    pub(super) rule: String,
    /// Empty for the plan as a whole.
    pub(super) address: &'a str,
    pub(super) text: String,
    pub(super) severity: Severity,
    /// Numbered, see [`words::numbered`].
    pub(super) fingerprint: String,
    pub(super) place: Option<&'a Place>,
    pub(super) standing: &'a Standing,
}

/// Of a report those that are new, the gravest first.
pub(super) fn new_problems(report: &Report) -> impl Iterator<Item = Problem<'_>> {
    problems(report).into_iter().filter(|problem| *problem.standing == Standing::New)
}

/// All of a report, the gravest first.
pub(super) fn problems(report: &Report) -> Vec<Problem<'_>> {
    let numbers = words::numbered(report.violations.iter().map(|it| it.fingerprint.as_str()));
    let violations = report.violations.iter().zip(numbers).map(|(violation, number)| Problem {
        rule: format!("policy/{}", visible(&violation.policy)),
        address: &violation.address,
        text: words::violation(violation),
        severity: violation.severity,
        fingerprint: number,
        place: violation.place.as_ref(),
        standing: &violation.standing,
    });
    let numbers = words::numbered(report.checks.iter().map(|it| it.fingerprint.as_str()));
    let checks = report.checks.iter().zip(numbers).map(|(check, number)| Problem {
        rule: check.rule.id.to_owned(),
        address: &check.address,
        text: words::check(check),
        severity: check.severity,
        fingerprint: number,
        place: None,
        standing: &check.standing,
    });
    let mut problems: Vec<Problem<'_>> = violations.chain(checks).collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    problems
}
