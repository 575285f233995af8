//! `markdown`: for a comment on a pull request.
//!
//! - Whatever comes from the plan stands in code spans or fences, where mentions, markup and HTML
//!   mean nothing, whatever backticks it holds.
//! - The result is shorter than what its reader accepts. It is cut between findings, the gravest
//!   come first; the summary and the number of what is missing always stay.
//! - It begins with a comment nobody sees, by which the next run finds and replaces it.

use super::{Format, Style, inline, shorten, side_by_side, visible, visible_lines, words};
use crate::{
    fate::Fate,
    proposal::Proposal,
    report::{Finding, Report},
};
use sha2::{Digest as _, Sha256};
use std::fmt::Write;

pub(super) const FORMAT: Format =
    Format { name: "markdown", summary: "for a comment on a pull request", render };

/// Of one resource, and of the lists at the end.
const ATTRIBUTES_MAX: usize = 40;
const DIFF_BYTES_MAX: usize = 12_000;
const LISTED_MAX: usize = 50;
const DEPENDENTS_MAX: usize = 10;

/// Bytes of a workspace's name in the marker.
const MARKER_MAX: usize = 200;

/// Columns of one value.
const VALUE_MAX: usize = 160;

/// What may be different about a document.
struct Page<'a> {
    bytes_max: usize,
    /// The first line.
    marker: &'a str,
}

fn render(report: &Report, style: &Style) -> String {
    let bytes_max = style.comment_bytes_max.max(Style::COMMENT_BYTES_MIN);
    let marker = marker(report.workspace.as_deref());
    document(report, &Page { bytes_max, marker: &marker })
}

/// The report for a page that keeps one document for each run, such as the summary of a step.
pub(super) fn summary(report: &Report, bytes_max: usize) -> String {
    document(report, &Page { bytes_max, marker: "" })
}

/// A comment that holds the workspace; letters that could end it are spelled in hexadecimal, and of
/// a long name a digest stands for the rest.
fn marker(workspace: Option<&str>) -> String {
    let Some(workspace) = workspace else { return "<!-- driftgate -->\n".to_owned() };
    let mut name = String::new();
    for byte in workspace.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'/' => name.push(byte.into()),
            b'-' if !name.ends_with('-') && !name.is_empty() => name.push('-'),
            other => {
                let _ = write!(name, "%{other:02x}");
            }
        }
    }
    if name.len() > MARKER_MAX {
        let digest = Sha256::digest(workspace);
        name.truncate(MARKER_MAX);
        let _ = write!(
            name,
            "~{:016x}",
            u64::from_be_bytes(digest[..8].try_into().unwrap_or_default())
        );
    }
    format!("<!-- driftgate:{name} -->\n")
}

fn document(report: &Report, page: &Page<'_>) -> String {
    let title = match &report.workspace {
        Some(workspace) => format!("driftgate, {}", code(&shorten(workspace, 0, 100))),
        None => "driftgate".to_owned(),
    };
    let mut out = format!("{}### {title}: {}\n\n", page.marker, words::headline(report));
    for reason in &report.reasons {
        let _ = writeln!(out, "- **{}**: {}", reason.name(), reason.meaning());
    }
    let warnings: Vec<String> =
        report.warnings.iter().map(|it| format!("warning: {}", prose(it))).collect();
    out.push_str(&items(&warnings, warnings.len(), page.bytes_max / 8));
    let tail = lists(report, page.bytes_max / 4);
    for (shown, finding) in words::by_severity(report).into_iter().enumerate() {
        let section = section(finding);
        if out.len() + section.len() + tail.len() + 100 > page.bytes_max {
            let more = words::number(report.findings.len() - shown, "more finding");
            let _ = writeln!(out, "\n**{more}**: see the full report.");
            break;
        }
        out.push_str(&section);
    }
    out + &tail
}

/// What stands below the findings, in so many bytes.
fn lists(report: &Report, bytes_max: usize) -> String {
    let spans = |items: Vec<String>| -> Vec<String> {
        items.iter().map(|item| code(&shorten(item, 0, 200))).collect()
    };
    let mut out = String::new();
    for list in words::lists(report).into_iter().filter(|list| list.total > 0) {
        let room = bytes_max.saturating_sub(out.len());
        let listed = items(&spans(list.lines), list.total, room);
        let open = if list.is_grave { " open" } else { "" };
        let (title, total) = (list.title, list.total);
        let _ = write!(
            out,
            "\n<details{open}><summary>{title} ({total})</summary>\n\n{listed}\n</details>\n"
        );
    }
    out
}

/// A list in about so many bytes.
fn items(items: &[String], total: usize, bytes_max: usize) -> String {
    let mut out = String::new();
    for (shown, item) in items.iter().enumerate() {
        if shown == LISTED_MAX || out.len() + item.len() > bytes_max {
            let _ = writeln!(out, "- and {} more", total - shown);
            return out;
        }
        let _ = writeln!(out, "- {item}");
    }
    if total > items.len() {
        let _ = writeln!(out, "- and {} more", total - items.len());
    }
    out
}

fn section(finding: &Finding) -> String {
    let (severity, rule) = (finding.severity.name(), finding.rule.id);
    let address = code(&finding.address);
    let mut out = format!("\n#### {severity}: {address}\n\n{}.\n\n", sentence(finding));
    for attribute in finding.attributes.iter().take(ATTRIBUTES_MAX) {
        let (before, after) = side_by_side(&attribute.before, &attribute.after, VALUE_MAX);
        let path = shorten(&attribute.path, 0, VALUE_MAX);
        let (path, before, after) = (code(&path), code(&before), code(&after));
        let place = attribute.declared.as_ref();
        let place = place.map(|it| format!(", {}", code(&words::file_line(it))));
        let (outcome, place) = (attribute.fate.name(), place.unwrap_or_default());
        let _ = writeln!(out, "- {path}: {before} → {after} ({outcome}{place})");
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
    let _ = writeln!(out, "{}.", capital(&intent));
    let _ = write!(out, "Rule `{rule}`, fingerprint {}", code(&finding.fingerprint));
    if let Some(standing) = words::standing(&finding.standing) {
        let _ = write!(out, ", {}", prose(&standing));
    }
    if let Some(owner) = &finding.owner {
        let _ = write!(out, ", owner {}", code(&shorten(owner, 0, VALUE_MAX)));
    }
    out.push_str(".\n");
    if let Some(dependents) = words::dependents(finding, DEPENDENTS_MAX) {
        let _ = writeln!(out, "{}.", code(&shorten(&dependents, 0, 800)));
    }
    out.push('\n');
    for item in &finding.proposals {
        proposal(item, &mut out);
    }
    out
}

fn sentence(finding: &Finding) -> String {
    let mut text = capital(words::what(finding));
    if let Some(place) = &finding.declared {
        let _ = write!(text, ", declared in {}", code(&words::file_line(place)));
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
            Some(place) => format!(" ({})", code(&words::file_line(place))),
            None => String::new(),
        };
        let what = if path.is_empty() { "possible".to_owned() } else { code(&path) };
        let _ = writeln!(out, "  - not {what}: {}{place}", prose(&refusal.reason));
    }
    match proposal.diff.as_deref() {
        Some(diff) if diff.len() <= DIFF_BYTES_MAX => {
            let _ = writeln!(out, "\n{}", fence(diff));
        }
        Some(_) => out.push_str("  - the patch is long: `driftgate propose` prints it\n"),
        None => {}
    }
}

/// A code span that ends where it should.
pub(super) fn code(text: &str) -> String {
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
    fn the_marker_is_one_comment_whatever_the_workspace_is_called() {
        assert_eq!(marker(Some("team/prod-eu")), "<!-- driftgate:team/prod-eu -->\n");
        assert_eq!(marker(Some("a--><b>")), "<!-- driftgate:a-%2d%3e%3cb%3e -->\n");
        assert_eq!(marker(None), "<!-- driftgate -->\n");
    }

    #[test]
    fn spans_and_fences_cannot_be_left() {
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert!(fence("```\n@all").starts_with("````diff\n"));
        assert_eq!(escape("@me <b> a|b"), "&#64;me &lt;b&gt; a\\|b");
    }
}
