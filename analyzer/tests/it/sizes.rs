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
