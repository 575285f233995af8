//! `text`: for a terminal. Colours and line lengths follow the [`Style`].

use super::{Color, Format, Style, inline, shorten, side_by_side, visible, visible_lines, words};
use crate::{
    fate::Fate,
    proposal::Proposal,
    report::{Attribute, Finding, Outside, Report, Verdict},
};

pub(super) const FORMAT: Format = Format { name: "text", summary: "for a terminal", render };

/// How many planned changes and items of noise are listed.
const LISTED: usize = 20;

/// How many dependents are named.
const DEPENDENTS: usize = 10;

fn render(report: &Report, style: &Style) -> String {
    let mut page = Page { out: String::new(), width: style.width, color: style.color };
    let code = match report.verdict {
        Verdict::Clean => GREEN,
        Verdict::Inconclusive => YELLOW,
        Verdict::Drifted => RED,
    };
    page.paragraph("", &words::headline(report), code);
    for reason in &report.reasons {
        page.paragraph("  ", &format!("{}: {}", reason.name(), reason.meaning()), YELLOW);
    }
    for warning in &report.warnings {
        page.paragraph("  ", &format!("warning: {}", visible(warning)), YELLOW);
    }
    let findings = words::by_severity(report);
    for same in findings.chunk_by(|left, right| left.severity == right.severity) {
        page.out.push('\n');
        page.line("", &format!("{} ({})", same[0].severity.name(), same.len()), BOLD);
        for finding in same {
            page.finding(finding);
        }
    }
    for list in words::lists(report) {
        page.list(list.title, &list.lines, list.total);
    }
    page.out
}

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const PLAIN: &str = "";

struct Page {
    out: String,
    width: usize,
    color: Color,
}

impl Page {
    fn line(&mut self, indent: &str, text: &str, code: &str) {
        self.out.push_str(indent);
        // What a line of GitHub's runner begins with is a command to it.
        let text = match text.trim_start().strip_prefix("::") {
            Some(rest) => &format!("\\u{{3a}}:{rest}"),
            None => text,
        };
        if self.color == Color::On && !code.is_empty() {
            self.out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        } else {
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    /// Prose, broken between words.
    fn paragraph(&mut self, indent: &str, text: &str, code: &str) {
        let mut line = String::new();
        for word in text.split(' ') {
            let full = indent.len() + line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && full > self.width {
                self.line(indent, &line, code);
                line.clear();
                line.push_str("  ");
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(indent, &line, code);
    }

    fn finding(&mut self, finding: &Finding) {
        self.out.push('\n');
        let symbol = match finding.outside {
            Outside::Appeared => '+',
            Outside::Changed => '~',
            Outside::Deleted => '-',
        };
        let code = if finding.is_actionable() { RED } else { YELLOW };
        self.line("", &format!("{symbol} {}", visible(&finding.address)), code);
        self.paragraph("  ", &words::happened(finding), PLAIN);
        let (rule, fingerprint) = (finding.rule.id, visible(&finding.fingerprint));
        self.paragraph("  ", &format!("rule {rule}, fingerprint {fingerprint}"), DIM);
        if let Some(standing) = words::standing(&finding.standing) {
            self.paragraph("  ", &standing, PLAIN);
        }
        if let Some(owner) = &finding.owner {
            self.paragraph("  ", &format!("owner: {}", visible(owner)), PLAIN);
        }
        for attribute in &finding.attributes {
            self.attribute(attribute);
        }
        self.paragraph("  ", &words::intent(finding), if finding.one_way { RED } else { PLAIN });
        if !finding.pending.is_empty() {
            let paths: Vec<String> = finding.pending.iter().map(|path| visible(path)).collect();
            self.paragraph("  ", &format!("also planned: {}", paths.join(", ")), PLAIN);
        }
        if let Some(dependents) = words::dependents(finding, DEPENDENTS) {
            self.paragraph("  ", &dependents, PLAIN);
        }
        for proposal in &finding.proposals {
            self.proposal(proposal);
        }
    }

    fn attribute(&mut self, attribute: &Attribute) {
        let path = visible(&attribute.path);
        let place = attribute.declared.as_ref();
        let place = place.map(|it| format!(", {}", words::file_line(it))).unwrap_or_default();
        let outcome = format!("{}{place}", attribute.fate.name());
        let taken = 4 + path.chars().count() + 2 + 4 + outcome.len() + 4;
        let columns = self.width.saturating_sub(taken).max(40) / 2;
        let (before, after) = side_by_side(&attribute.before, &attribute.after, columns);
        let code = if attribute.fate == Fate::Absorbed { DIM } else { BOLD };
        self.line("    ", &format!("{path}: {before} -> {after}  ({outcome})"), code);
        if let (Fate::Conflict, Some(desired)) = (attribute.fate, &attribute.desired) {
            let desired = shorten(&inline(desired), 0, columns * 2);
            self.line("    ", &format!("  the configuration wants {desired}"), DIM);
        }
    }

    fn proposal(&mut self, proposal: &Proposal) {
        let name = proposal.kind.name();
        let text =
            format!("{name} (risk {}): {}", proposal.risk.name(), visible(&proposal.summary));
        self.paragraph("  ", &text, CYAN);
        for command in &proposal.commands {
            self.line("      ", &visible(command), PLAIN);
        }
        for (paths, refusal) in words::refusals(&proposal.refusals) {
            let place = match &refusal.place {
                Some(place) => format!(" ({})", words::file_line(place)),
                None => String::new(),
            };
            let paths = visible(&paths.join(", "));
            let what = if paths.is_empty() { "possible" } else { &paths };
            let text = format!("not {what}: {}{place}", visible(&refusal.reason));
            self.paragraph("      ", &text, PLAIN);
        }
        for line in visible_lines(proposal.diff.as_deref().unwrap_or("")).lines() {
            let code = match line.as_bytes().first() {
                Some(b'+') => GREEN,
                Some(b'-') => RED,
                Some(b'@') => CYAN,
                _ => PLAIN,
            };
            self.line("      ", line, code);
        }
    }

    fn list(&mut self, title: &str, items: &[String], total: usize) {
        if total == 0 {
            return;
        }
        self.out.push('\n');
        self.line("", &format!("{title}:"), BOLD);
        for item in items.iter().take(LISTED) {
            self.line("  ", item, PLAIN);
        }
        if total > items.len().min(LISTED) {
            let more = total - items.len().min(LISTED);
            self.line("  ", &format!("and {more} more"), DIM);
        }
    }
}
