//! Sentences that the formats for people share.

use super::visible;
use crate::{
    action::Action,
    fate::Fate,
    proposal::Refusal,
    report::{
        CheckStatus, FailedCheck, Finding, Outside, Planned, PlannedNote, Report, Subject, Verdict,
    },
};

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
            format!("drifted: {} changed outside", number(counts.drifted, "resource"))
        }
    }];
    if counts.planned > 0 {
        parts.push(number(counts.planned, "planned change"));
    }
    let failed = report.checks.iter().filter(|it| it.status != CheckStatus::Unknown).count();
    if failed > 0 {
        parts.push(number(failed, "failed condition"));
    }
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

/// What happened to a resource, after its address.
pub(super) fn happened(finding: &Finding) -> String {
    let mut text = match finding.outside {
        Outside::Appeared => "is only in the second of the two".to_owned(),
        Outside::Changed if finding.fate == Fate::Observed => "differs between the two".to_owned(),
        Outside::Deleted if finding.fate == Fate::Observed => {
            "is only in the first of the two".to_owned()
        }
        Outside::Changed => "was changed outside".to_owned(),
        Outside::Deleted => "was deleted outside".to_owned(),
    };
    if !finding.deposed.is_empty() {
        text.push_str(&format!(", deposed object {}", visible(&finding.deposed)));
    }
    if let Some(place) = &finding.declared {
        text.push_str(&format!(", declared in {}:{}", visible(&place.file), place.line));
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
pub(super) fn planned(item: &Planned) -> String {
    let word = match (&item.action, &item.note) {
        (Action::NoOp, Some(PlannedNote::Import)) => "import",
        (Action::NoOp, Some(PlannedNote::MovedFrom(_))) => "move",
        (action, _) => action.word(),
    };
    let mut text = format!("{} {}", visible(word), visible(&item.address));
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
    let messages: Vec<String> = check.messages.iter().map(|it| visible(it)).collect();
    if messages.is_empty() {
        format!("{address} {status}")
    } else {
        format!("{address} {status}: {}", messages.join("; "))
    }
}
