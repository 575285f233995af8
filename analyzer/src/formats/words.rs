//! Sentences, orders and counts that formats share.

use super::{shorten, visible};
use crate::{
    action::Action,
    fate::Fate,
    proposal::Refusal,
    report::{
        CheckStatus, FailedCheck, Finding, IgnoreState, IgnoreUse, NoiseItem, Outside, Place,
        Planned, PlannedNote, Report, Resolved, Standing, Subject, Suppressed, Verdict, Violation,
    },
    rule::Severity,
};
use std::collections::BTreeMap;

/// The answer in one line.
pub(super) fn headline(report: &Report) -> String {
    let counts = &report.counts;
    let mut parts = vec![match report.verdict {
        Verdict::Clean if report.subject != Subject::Plan => {
            "clean: the two do not differ".to_owned()
        }
        Verdict::Clean => "clean: nothing was changed outside".to_owned(),
        Verdict::Drifted if report.subject != Subject::Plan => {
            let (count, verb) = (counts.drifted, if counts.drifted == 1 { "s" } else { "" });
            format!("drifted: {} differ{verb} between the two", number(count, "object"))
        }
        Verdict::Inconclusive => "inconclusive: no drift found, but the plan proves little".into(),
        Verdict::Drifted => {
            let severities: Vec<String> = severities(report)
                .iter()
                .map(|(severity, count)| format!("{count} {}", severity.name()))
                .collect();
            let resources = number(counts.drifted, "resource");
            format!("drifted: {resources} changed outside ({})", severities.join(", "))
        }
    }];
    let known = report.findings.iter().filter(|it| it.standing != Standing::New).count();
    let counted = [
        (known, "of them known or awaited"),
        (report.suppressed.len(), "ignored"),
        (report.resolved.len(), "resolved"),
    ];
    parts.extend(
        counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}")),
    );
    let failed = report.checks.iter().filter(|it| it.status != CheckStatus::Unknown).count();
    let nouns = [
        (failed, "failed condition"),
        (report.violations.len(), "policy violation"),
        (counts.planned, "planned change"),
    ];
    parts.extend(
        nouns.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| number(*count, noun)),
    );
    let noise: usize = counts.noise.values().sum();
    if noise > 0 {
        let kinds: Vec<&str> = counts.noise.keys().copied().collect();
        parts.push(format!(
            "{} without meaning ({})",
            number(noise, "difference"),
            kinds.join(", ")
        ));
    }
    parts.join("; ")
}

/// How many findings have each severity, the gravest first; severities without any are left out.
pub(super) fn severities(report: &Report) -> Vec<(Severity, usize)> {
    let count = |severity| report.findings.iter().filter(|it| it.severity == severity).count();
    let all = Severity::ALL.iter().rev().map(|severity| (*severity, count(*severity)));
    all.filter(|(_, count)| *count > 0).collect()
}

/// Findings with the gravest first, those of one severity by address.
pub(super) fn by_severity(report: &Report) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The fingerprint of each finding, in the order of the report, with a number behind the second
/// and later ones that are alike: the objects of a block with `count`, say.
pub(super) fn numbered<'a>(fingerprints: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    fingerprints
        .map(|fingerprint| {
            let times = seen.entry(fingerprint).or_default();
            *times += 1;
            format!("{fingerprint}:{times}")
        })
        .collect()
}

/// Where a finding is to be seen in the configuration: at the attribute of the gravest outcome
/// that is set there, or else at the block.
pub(super) fn place(finding: &Finding) -> Option<&Place> {
    let attributes = finding.attributes.iter().filter(|attribute| attribute.declared.is_some());
    // Of equals the last is the maximum, and the first is wanted.
    let gravest = attributes.rev().max_by_key(|attribute| attribute.fate);
    gravest.and_then(|attribute| attribute.declared.as_ref()).or(finding.declared.as_ref())
}

/// A finding in one sentence without its address.
pub(super) fn brief(finding: &Finding) -> String {
    const PATHS: usize = 5;
    let attributes = finding.attributes.iter().take(PATHS);
    let paths: Vec<String> =
        attributes.map(|attribute| shorten(&visible(&attribute.path), 0, 80)).collect();
    let mut text = what(finding).to_owned();
    if finding.outside == Outside::Changed && !paths.is_empty() {
        text.push_str(&format!(" in {}", paths.join(", ")));
        if finding.attributes.len() > PATHS {
            text.push_str(&format!(" and {} more", finding.attributes.len() - PATHS));
        }
    }
    text + match (finding.fate, finding.outside) {
        (Fate::Observed, _) => "",
        _ if finding.one_way => "; apply would destroy it",
        (Fate::Absorbed, _) => "; apply only records it",
        (Fate::Undecidable, _) => "; what apply does is open",
        (_, Outside::Deleted) => "; apply creates it again",
        (Fate::Reverted, _) => "; apply undoes it",
        (Fate::Conflict, _) => "; apply replaces it with a third value",
    }
}

/// What the baseline says of something, unless it is new.
pub(super) fn standing(standing: &Standing) -> Option<String> {
    match standing {
        Standing::New => None,
        Standing::Known { since } => Some(format!("known since {}", visible(since))),
        Standing::Awaiting { runs, wanted } => {
            Some(format!("seen in {runs} of the {wanted} runs in a row that an alert takes"))
        }
    }
}

/// What depends on a finding, unless nothing does.
pub(super) fn dependents(finding: &Finding, listed: usize) -> Option<String> {
    let count = finding.dependents_count.max(finding.dependents.len());
    let shown: Vec<String> =
        finding.dependents.iter().take(listed).map(|address| visible(address)).collect();
    let more = count - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let verb = if count == 1 { "depends" } else { "depend" };
    (count > 0).then(|| format!("{count} {verb} on it: {}{more}", shown.join(", ")))
}

/// `file:line`, as it is printed.
pub(super) fn file_line(place: &Place) -> String {
    format!("{}:{}", visible(&place.file), place.line)
}

/// A list beside the findings.
pub(super) struct List {
    pub(super) title: &'static str,
    pub(super) lines: Vec<String>,
    /// How many there are; not all need be listed.
    pub(super) total: usize,
    /// True when somebody should see it at once.
    pub(super) is_grave: bool,
}

/// Everything beside the findings, what matters most first; empty lists included.
pub(super) fn lists(report: &Report) -> Vec<List> {
    let list =
        |title, lines: Vec<String>| List { title, total: lines.len(), lines, is_grave: false };
    let checks = list("Conditions", report.checks.iter().map(check).collect());
    let violations = list("Policy violations", report.violations.iter().map(violation).collect());
    let planned = list("Planned changes", report.planned.iter().map(planned).collect());
    let noise = list("Without meaning", report.noise.iter().map(noise).collect());
    vec![
        List { is_grave: true, ..violations },
        List { is_grave: true, ..checks },
        list("Ignored", report.suppressed.iter().map(suppressed).collect()),
        list("Resolved", report.resolved.iter().map(resolved).collect()),
        list("Ignore rules of no use", stale(&report.ignores)),
        List { total: report.counts.planned, ..planned },
        List { total: report.counts.noise.values().sum(), ..noise },
    ]
}

/// What broke a policy.
pub(super) fn violation(violation: &Violation) -> String {
    let (policy, message) = (visible(&violation.policy), visible(&violation.message));
    let place = violation.place.as_ref().map(|it| format!(" ({})", file_line(it)));
    let address = match violation.address.as_str() {
        "" => String::new(),
        address => format!(" {}:", visible(address)),
    };
    let severity = violation.severity.name();
    let standing = standing(&violation.standing).map(|it| format!(", {it}")).unwrap_or_default();
    let place = place.unwrap_or_default();
    format!("{policy} ({severity}{standing}):{address} {message}{place}")
}

/// A finding that an ignore rule hit.
fn suppressed(item: &Suppressed) -> String {
    let (address, rule) = (visible(&item.finding.address), item.finding.rule.id);
    format!("{address} ({rule}), by {}: {}", visible(&item.by), visible(&item.reason))
}

/// A finding of the baseline that is gone.
fn resolved(item: &Resolved) -> String {
    let fingerprint = visible(&item.fingerprint);
    format!("{} ({}), fingerprint {fingerprint}", visible(&item.address), visible(&item.rule))
}

/// Ignore rules that somebody should look at.
fn stale(ignores: &[IgnoreUse]) -> Vec<String> {
    let stale = ignores.iter().filter(|ignore| ignore.state != IgnoreState::Used);
    stale
        .map(|ignore| {
            let expires = match (&ignore.expires, ignore.state) {
                (Some(day), IgnoreState::Expired) => {
                    let hits = number(ignore.hits, "finding");
                    format!(" on {}, would have hit {hits}", visible(day))
                }
                _ => String::new(),
            };
            let (name, owner) = (visible(&ignore.name), visible(&ignore.owner));
            format!("{name} of {owner}: {}{expires}", ignore.state.name())
        })
        .collect()
}

/// A difference without meaning.
fn noise(item: &NoiseItem) -> String {
    let path = if item.path.is_empty() { "as a whole" } else { &item.path };
    format!("{} {}: {}", visible(&item.address), visible(path), item.kind.name())
}

/// A count with its noun; thousands are set apart.
pub(super) fn number(count: usize, noun: &str) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What happened to a resource, after its address; none of it comes from the plan.
pub(super) fn what(finding: &Finding) -> &'static str {
    match finding.outside {
        Outside::Appeared => "is only in the second of the two",
        Outside::Changed if finding.fate == Fate::Observed => "differs between the two",
        Outside::Deleted if finding.fate == Fate::Observed => "is only in the first of the two",
        Outside::Changed => "was changed outside",
        Outside::Deleted => "was deleted outside",
    }
}

/// As [`what`], with all that is known of it.
pub(super) fn happened(finding: &Finding) -> String {
    let mut text = what(finding).to_owned();
    if !finding.deposed.is_empty() {
        text.push_str(&format!(", deposed object {}", visible(&finding.deposed)));
    }
    if let Some(place) = &finding.declared {
        text.push_str(&format!(", declared in {}", file_line(place)));
    }
    if let Some(number) = finding.document {
        text.push_str(&format!(", in plan {number} of the input"));
    }
    if let Some(from) = &finding.moved_from {
        text.push_str(&format!(", moved from {}", visible(from)));
    }
    if finding.identity_changed {
        text.push_str("; its identity changed, so it is another object");
    }
    if finding.shown_by_engine == Some(false) {
        text.push_str("; the plan command does not print it, as no planned change depends on it");
    }
    text
}

/// What apply will do with it.
pub(super) fn intent(finding: &Finding) -> String {
    let Some(action) = &finding.action else {
        if finding.fate == Fate::Observed {
            return "what apply would make of it is for a plan to say".to_owned();
        }
        return "the plan has no entry for it, so it does not say what apply would do".to_owned();
    };
    let mut text = format!("planned: {}", visible(action.word()));
    if let Some(reason) = &finding.action_reason {
        text.push_str(&format!(" ({})", visible(&reason.replace('_', " "))));
    }
    if finding.one_way {
        text.push_str("; one-way door: the object is destroyed");
    }
    text
}

/// Refusals with the same reason in one: the paths, the reason, and where.
pub(super) fn refusals(refusals: &[Refusal]) -> Vec<(Vec<&str>, &Refusal)> {
    let mut grouped: Vec<(Vec<&str>, &Refusal)> = Vec::new();
    for refusal in refusals {
        let same = grouped
            .iter_mut()
            .find(|(_, it)| it.reason == refusal.reason && it.place == refusal.place);
        match same {
            Some((paths, _)) => paths.push(&refusal.path),
            None => grouped.push((vec![&refusal.path], refusal)),
        }
    }
    grouped
}

/// One planned change.
fn planned(item: &Planned) -> String {
    let word = match (&item.action, &item.note) {
        (Action::NoOp, Some(PlannedNote::Import)) => "import",
        (Action::NoOp, Some(PlannedNote::MovedFrom(_))) => "move",
        (action, _) => action.word(),
    };
    let (symbol, address) = (item.action.symbol(), visible(&item.address));
    let mut text = format!("{symbol} {} {address}", visible(word));
    match &item.note {
        Some(PlannedNote::Import) if word == "import" => {}
        Some(PlannedNote::Import) => text.push_str(" (import)"),
        Some(PlannedNote::MovedFrom(from)) => {
            text.push_str(&format!(" (moved from {})", visible(from)));
        }
        Some(PlannedNote::Deposed(id)) => {
            text.push_str(&format!(" (deposed object {})", visible(id)));
        }
        Some(PlannedNote::TriggeredBy(what)) => {
            text.push_str(&format!(" (triggered by {})", visible(what)));
        }
        Some(PlannedNote::Deferred(reason)) => {
            text.push_str(&format!(" (deferred: {})", visible(&reason.replace('_', " "))));
        }
        Some(PlannedNote::Output) | None => {}
    }
    text
}

/// One condition that does not hold.
pub(super) fn check(check: &FailedCheck) -> String {
    let address = visible(&check.address);
    let status = match check.status {
        CheckStatus::Failed => "does not hold",
        CheckStatus::Errored => "could not be computed",
        CheckStatus::Unknown => "is known only after apply",
    };
    let standing = standing(&check.standing).map(|it| format!(" ({it})")).unwrap_or_default();
    let messages: Vec<String> = check.messages.iter().map(|it| visible(it)).collect();
    if messages.is_empty() {
        format!("{address} {status}{standing}")
    } else {
        format!("{address} {status}{standing}: {}", messages.join("; "))
    }
}
