//! `junit`: for the tests page of a CI system: a test for the plan, one for each finding, violation
//! and condition.
//!
//! - Drift, violations and conditions fail, what is ignored or known is skipped, a plan that proves little is
//!   an error.
//! - XML 1.0 has no control characters, not even escaped: they are spelled out.

use super::{Format, Style, inline, place, problem::problems, shorten, visible, words};
use crate::report::{Finding, Place, Report};
use std::fmt::Write;

pub(super) const FORMAT: Format =
    Format { name: "junit", summary: "test results in XML, for any CI system", render };

/// Columns of one value.
const VALUE_MAX: usize = 300;

/// What became of a test.
enum Outcome {
    Passed,
    Failed { kind: String, message: String, text: String },
    Erred { kind: String, message: String },
    Skipped { message: String },
}

struct Case {
    class: String,
    name: String,
    place: Option<Place>,
    outcome: Outcome,
}

fn render(report: &Report, style: &Style) -> String {
    let cases = cases(report, style);
    let count =
        |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.outcome)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\"",
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed { .. })),
        count(|outcome| matches!(outcome, Outcome::Erred { .. })),
        count(|outcome| matches!(outcome, Outcome::Skipped { .. })),
    );
    // The attribute of the suites has no place for skipped tests in older readers.
    let totals = counts.replace(" skipped", " disabled=\"0\" skipped");
    let name = escape(report.workspace.as_deref().unwrap_or("plan"));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"driftgate\" {totals}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {counts}>");
    for case in &cases {
        write_case(case, &mut out);
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn cases(report: &Report, style: &Style) -> Vec<Case> {
    let mut cases = vec![plan(report)];
    for finding in words::by_severity(report) {
        let outcome = match words::standing(&finding.standing) {
            Some(message) => Outcome::Skipped { message },
            None => Outcome::Failed {
                kind: finding.severity.name().to_owned(),
                message: words::brief(finding),
                text: text(finding),
            },
        };
        cases.push(case(finding, outcome, style));
    }
    for item in &report.suppressed {
        let message = format!("ignored by {}: {}", item.by, item.reason);
        cases.push(case(&item.finding, Outcome::Skipped { message }, style));
    }
    for problem in problems(report) {
        let subject = if problem.address.is_empty() { "the plan" } else { problem.address };
        cases.push(Case {
            class: format!("driftgate.{}", problem.rule),
            name: subject.to_owned(),
            place: place::of_problem(&problem, style),
            outcome: match words::standing(problem.standing) {
                Some(message) => Outcome::Skipped { message },
                None => Outcome::Failed {
                    kind: problem.severity.name().to_owned(),
                    message: problem.text,
                    text: String::new(),
                },
            },
        });
    }
    cases
}

/// Whether the plan can prove anything.
fn plan(report: &Report) -> Case {
    let kinds: Vec<&str> = report.reasons.iter().map(|reason| reason.name()).collect();
    let meanings: Vec<&str> = report.reasons.iter().map(|reason| reason.meaning()).collect();
    let outcome = match kinds.is_empty() {
        true => Outcome::Passed,
        false => Outcome::Erred { kind: kinds.join(" "), message: meanings.join(" ") },
    };
    let name = "the plan shows everything".to_owned();
    Case { class: "driftgate.plan".to_owned(), name, place: None, outcome }
}

fn case(finding: &Finding, outcome: Outcome, style: &Style) -> Case {
    let name = match finding.deposed.as_str() {
        "" => finding.address.clone(),
        deposed => format!("{} (deposed object {deposed})", finding.address),
    };
    let class = format!("driftgate.{}", finding.rule.id);
    Case { class, name, place: place::of_finding(finding, style), outcome }
}

fn text(finding: &Finding) -> String {
    let mut out = format!("{}\n{}\n", words::happened(finding), words::intent(finding));
    for attribute in &finding.attributes {
        let (before, after) = (inline(&attribute.before), inline(&attribute.after));
        let (before, after) = (shorten(&before, 0, VALUE_MAX), shorten(&after, 0, VALUE_MAX));
        let (path, fate) = (visible(&attribute.path), attribute.fate.name());
        let _ = writeln!(out, "{path}: {before} -> {after} ({fate})");
    }
    let (rule, fingerprint) = (finding.rule.id, &finding.fingerprint);
    let _ = writeln!(out, "rule {rule}, fingerprint {fingerprint}");
    out
}

fn write_case(case: &Case, out: &mut String) {
    let (class, name) = (escape(&case.class), escape(&case.name));
    let mut open = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"");
    if let Some(place) = &case.place {
        let _ = write!(open, " file=\"{}\" line=\"{}\"", escape(&place.file), place.line);
    }
    let inner = match &case.outcome {
        Outcome::Passed => {
            let _ = writeln!(out, "{open}/>");
            return;
        }
        Outcome::Failed { kind, message, text } => {
            let (kind, message) = (escape(kind), escape(message));
            let lines: Vec<String> = text.lines().map(escape).collect();
            let text = lines.join("\n");
            format!("<failure type=\"{kind}\" message=\"{message}\">{text}</failure>")
        }
        Outcome::Erred { kind, message } => {
            format!("<error type=\"{}\" message=\"{}\"/>", escape(kind), escape(message))
        }
        Outcome::Skipped { message } => format!("<skipped message=\"{}\"/>", escape(message)),
    };
    let _ = writeln!(out, "{open}>\n      {inner}\n    </testcase>");
}

/// For an attribute or a text; also what XML has no way to say.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            plain => out.push(plain),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_say_is_spelled_out() {
        assert_eq!(
            escape("]]>\u{7}\u{0}\u{ffff}<a b=\"c\">&"),
            "]]&gt;\\u{7}\\u{0}\\u{ffff}&lt;a b=&quot;c&quot;&gt;&amp;"
        );
    }
}
