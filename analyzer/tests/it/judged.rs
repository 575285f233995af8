//! A report with something of everything: a baseline, ignore rules, policies, conditions, owners.

use crate::case;
use driftgate::{
    Report,
    report::{
        CheckStatus, FailedCheck, IgnoreState, IgnoreUse, Place, Resolved, Standing, Suppressed,
        Violation,
    },
    rule::{self, Severity},
};
use std::path::PathBuf;

/// The report of a case.
pub(crate) fn report(case: &str) -> Report {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(case);
    case::check(&folder).unwrap().report
}

/// Findings of three cases, of which one is known, one awaited and one ignored.
pub(crate) fn judged() -> Report {
    let text = str::to_owned;
    let [mut all, mut conflict, reverted] = ["one_way", "conflict", "reverted"].map(report);
    all.workspace = Some(text("team/prod"));
    conflict.findings[0].standing = Standing::Known { since: text("2026-01-01T00:00:00Z") };
    conflict.findings[0].owner = Some(text("network team"));
    conflict.findings[0].dependents = vec![text("aws_instance.a"), text("aws_instance.b")];
    let mut awaited = reverted.findings[0].clone();
    awaited.standing = Standing::Awaiting { runs: 1, wanted: 3 };
    all.suppressed.push(Suppressed {
        finding: reverted.findings[0].clone(),
        by: text("autoscaling"),
        reason: text("the autoscaler is in charge"),
    });
    all.findings.extend([conflict.findings.remove(0), awaited]);
    all.counts.drifted = all.findings.len();
    all.violations = [Standing::New, Standing::Known { since: text("2026-01-01T00:00:00Z") }]
        .map(|standing| Violation {
            policy: text("no-public-buckets"),
            address: text("aws_s3_bucket.b"),
            message: text("the bucket is public"),
            severity: Severity::High,
            fingerprint: text("0123456789abcdef"),
            standing,
            place: Some(Place { file: text("a b.tf"), line: 3 }),
        })
        .into();
    all.checks = vec![FailedCheck {
        address: text("check.health"),
        status: CheckStatus::Failed,
        messages: vec![text("it is down")],
        rule: rule::find("check-failed").unwrap(),
        severity: Severity::Medium,
        fingerprint: text("fedcba9876543210"),
        standing: Standing::New,
    }];
    all.resolved = vec![Resolved {
        fingerprint: text("00112233445566ff"),
        address: text("aws_thing.gone"),
        rule: text("reverted"),
    }];
    all.ignores = vec![IgnoreUse {
        name: text("old"),
        owner: text("platform"),
        reason: text("was moved"),
        expires: Some(text("2026-01-01")),
        state: IgnoreState::Expired,
        hits: 2,
    }];
    all
}
