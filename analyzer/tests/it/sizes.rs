//! Reports of large plans stay within what their readers can take.

#[path = "../../benches/generator.rs"]
mod generator;

use driftgate::{
    Limits, Report, check,
    formats::{self, Style},
};
use generator::{Shape, write_plan};

fn report(resources: usize, drift_per_mille: usize) -> Report {
    let mut plan = Vec::new();
    write_plan(Shape { resources, drift_per_mille }, &mut plan).unwrap();
    check(plan.as_slice(), Limits::STANDARD).unwrap()
}

fn render(report: &Report, format: &str, width: usize) -> String {
    (formats::find(format).unwrap().render)(report, &Style { width, ..Style::default() })
}

#[test]
fn the_generated_plan_holds_what_it_was_asked_for() {
    let report = report(1_000, 20);
    assert_eq!((report.counts.resources, report.counts.drifted), (1_000, 20));
    assert_eq!(report.counts.fates.get("reverted"), Some(&20));
    assert!(report.counts.planned > 50);
}

#[test]
fn a_comment_is_cut_between_findings_and_tells_how_many_are_missing() {
    let report = report(600, 1_000);
    let comment = render(&report, "markdown", 100);
    assert!(comment.len() < 65_536, "{}", comment.len());
    let shown = comment.matches("\n#### ").count();
    let missing = format!("**{} more findings**", report.counts.drifted - shown);
    assert!(comment.contains(&missing), "{shown} shown");
    assert!(comment.contains(&format!("{} resources changed outside", report.counts.drifted)));
    // Each section that was begun is whole.
    assert_eq!(comment.matches("- **revert**").count(), shown);
    assert_eq!(comment.matches("- **ignore**").count(), shown);
}

#[test]
fn no_comment_and_no_summary_is_longer_than_allowed_whatever_is_in_it() {
    let mut report = report(3_000, 1_000);
    let long = "`<b>` @all | ".repeat(2_000);
    report.warnings = vec![long.clone(); 100];
    report.workspace = Some(long.clone());
    for finding in &mut report.findings {
        finding.owner = Some(long.clone());
        finding.dependents = vec![long.clone(); 20];
    }
    for bytes in [0, 4_000, 20_000, 65_000] {
        let style = Style { comment_bytes_max: bytes, ..Style::default() };
        let comment = (formats::find("markdown").unwrap().render)(&report, &style);
        assert!(comment.len() <= bytes.max(4_000), "{bytes}: {}", comment.len());
        assert!(comment.contains("more finding"));
    }
    let summary = formats::step_summary(&report);
    assert!(summary.len() < 1 << 20 && summary.len() > 500_000, "{}", summary.len());
    assert!(!summary.contains("<!--"));
}

#[test]
fn prose_keeps_within_the_width_of_the_terminal() {
    let report = report(50, 1_000);
    for width in [60, 80, 120] {
        let text = render(&report, "text", width);
        let prose =
            text.lines().filter(|line| line.contains("if something else") || line.contains("risk"));
        for line in prose {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}
