//! `markdown`: for a comment on a pull request.
//!
//! - Whatever comes from the plan stands in code spans or fences, where mentions, markup and HTML
//!   mean nothing, whatever backticks it holds.
//! - The result is shorter than what GitHub accepts. It is cut between findings; the summary and
//!   the number of what is missing always stay.

use super::{Format, Style, inline, shorten, side_by_side, visible, visible_lines, words};
use crate::{
    fate::Fate,
    proposal::Proposal,
    report::{Finding, Outside, Report},
};
use std::fmt::Write;

pub(super) const FORMAT: Format =
    Format { name: "markdown", summary: "for a comment on a pull request", render };

/// GitHub takes 65,536; the rest is for whoever adds a line of their own.
const BYTES_MAX: usize = 64_000;

/// Of one resource, and of the lists at the end.
const ATTRIBUTES_MAX: usize = 40;
const DIFF_BYTES_MAX: usize = 12_000;
const LISTED_MAX: usize = 50;

/// Columns of one value.
const VALUE_MAX: usize = 160;

fn render(report: &Report, _style: Style) -> String {
    let mut head = format!("<!-- driftgate -->\n### driftgate: {}\n\n", words::headline(report));
    for reason in &report.reasons {
        let _ = writeln!(head, "- **{}**: {}", reason.name(), reason.meaning());
    }
    for warning in &report.warnings {
        let _ = writeln!(head, "- warning: {}", prose(warning));
    }
    let planned: Vec<String> = report.planned.iter().map(words::planned).collect();
    let noise: Vec<String> = report
        .noise
        .iter()
        .map(|item| format!("{} {} {}", item.kind.name(), item.address, item.path))
        .collect();
    let checks: Vec<String> = report.checks.iter().map(words::check).collect();
    let tail = list("Conditions", &checks, checks.len())
        + &list("Planned changes", &planned, report.counts.planned)
        + &list("Without meaning", &noise, report.counts.noise.values().sum());
    let mut out = head;
    for (shown, finding) in report.findings.iter().enumerate() {
        let section = section(finding);
        if out.len() + section.len() + tail.len() + 100 > BYTES_MAX {
            let more = report.findings.len() - shown;
            let _ = writeln!(
                out,
                "\n**{}**: see the full report.",
                words::number(more, "more finding")
            );
            break;
        }
        out.push_str(&section);
    }
    out + &tail
}

fn section(finding: &Finding) -> String {
    let mut out = format!("\n#### {}\n\n{}.\n\n", code(&finding.address), sentence(finding));
    for attribute in finding.attributes.iter().take(ATTRIBUTES_MAX) {
        let (before, after) = side_by_side(&attribute.before, &attribute.after, VALUE_MAX);
        let path = shorten(&attribute.path, 0, VALUE_MAX);
        let outcome = attribute.fate.name();
        let _ =
            writeln!(out, "- {}: {} → {} ({outcome})", code(&path), code(&before), code(&after));
        if let (Fate::Conflict, Some(desired)) = (attribute.fate, &attribute.desired) {
            let desired = shorten(&inline(desired), 0, VALUE_MAX);
            let _ = writeln!(out, "  - the configuration wants {}", code(&desired));
        }
    }
    if finding.attributes.len() > ATTRIBUTES_MAX {
        let _ = writeln!(out, "- and {} more", finding.attributes.len() - ATTRIBUTES_MAX);
    }
    out.push('\n');
    let mut intent = prose(&words::intent(finding));
    if !finding.pending.is_empty() {
        let shown: Vec<String> =
            finding.pending.iter().take(10).map(|path| code(&shorten(path, 0, 80))).collect();
        let _ = write!(intent, "; also planned: {}", shown.join(", "));
    }
    let _ = writeln!(out, "{}.\n", capital(&intent));
    for item in &finding.proposals {
        proposal(item, &mut out);
    }
    out
}

fn sentence(finding: &Finding) -> String {
    // Names in it come from the plan, so it goes into a span when there are any.
    let mut text = match finding.outside {
        Outside::Appeared => "Only in the second of the two".to_owned(),
        Outside::Changed if finding.fate == Fate::Observed => "Differs between the two".to_owned(),
        Outside::Deleted if finding.fate == Fate::Observed => {
            "Only in the first of the two".to_owned()
        }
        Outside::Changed => "Changed outside".to_owned(),
        Outside::Deleted => "Deleted outside".to_owned(),
    };
    if let Some(place) = &finding.declared {
        let _ = write!(text, ", declared in {}", code(&format!("{}:{}", place.file, place.line)));
    }
    if let Some(from) = &finding.moved_from {
        let _ = write!(text, ", moved from {}", code(from));
    }
    if !finding.deposed.is_empty() {
        let _ = write!(text, ", deposed object {}", code(&finding.deposed));
    }
    if let Some(number) = finding.document {
        let _ = write!(text, ", in plan {number} of the input");
    }
    if finding.identity_changed {
        text.push_str("; its identity changed, so it is another object");
    }
    if finding.shown_by_engine == Some(false) {
        text.push_str("; the plan command does not print it, as no planned change depends on it");
    }
    text
}

fn proposal(proposal: &Proposal, out: &mut String) {
    let (name, risk) = (proposal.kind.name(), proposal.risk.name());
    let summary = prose(&proposal.summary);
    let _ = writeln!(out, "- **{name}** (risk {risk}): {summary}");
    for command in &proposal.commands {
        let _ = writeln!(out, "  - {}", code(&shorten(command, 0, 400)));
    }
    for (paths, refusal) in words::refusals(&proposal.refusals).into_iter().take(ATTRIBUTES_MAX) {
        let path = shorten(&paths.join(", "), 0, VALUE_MAX);
        let place = match &refusal.place {
            Some(place) => format!(" ({})", code(&format!("{}:{}", place.file, place.line))),
            None => String::new(),
        };
        let _ = writeln!(out, "  - not {}: {}{place}", code(&path), prose(&refusal.reason));
    }
    match proposal.diff.as_deref() {
        Some(diff) if diff.len() <= DIFF_BYTES_MAX => {
            let _ = writeln!(out, "\n{}", fence(diff));
        }
        Some(_) => out.push_str("  - the patch is long: `driftgate propose` prints it\n"),
        None => {}
    }
}

fn list(title: &str, items: &[String], total: usize) -> String {
    if total == 0 {
        return String::new();
    }
    let mut out = format!("\n<details><summary>{title} ({total})</summary>\n\n");
    let shown = items.len().min(LISTED_MAX);
    for item in &items[..shown] {
        let _ = writeln!(out, "- {}", code(&shorten(item, 0, 200)));
    }
    if total > shown {
        let _ = writeln!(out, "- and {} more", total - shown);
    }
    out + "\n</details>\n"
}

/// A code span that ends where it should.
fn code(text: &str) -> String {
    let text = visible(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn fence(text: &str) -> String {
    let ticks = "`".repeat((longest_run(text) + 1).max(3));
    format!("{ticks}diff\n{}\n{ticks}\n", visible_lines(text).trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Our own prose, in which words of the plan may stand. What is between backticks is code; a
/// backtick that comes from the plan can at most move the border between two harmless forms.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { code(part) } else { escape(part) }).collect()
}

/// Text without any meaning as markup.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in visible(text).chars() {
        match character {
            // An entity in place of the sign: a backslash does not keep a mention from being one.
            '@' => out.push_str("&#64;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '`' | '|' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(character);
            }
            plain => out.push(plain),
        }
    }
    out
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_harmless_wherever_its_backticks_are() {
        assert_eq!(prose("add `a_b` to @x"), "add `a_b` to &#64;x");
        assert_eq!(prose("`a`@x`b`"), "`a`&#64;x`b`");
    }

    #[test]
    fn spans_and_fences_cannot_be_left() {
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert!(fence("```\n@all").starts_with("````diff\n"));
        assert_eq!(escape("@me <b> a|b"), "&#64;me &lt;b&gt; a\\|b");
    }
}
