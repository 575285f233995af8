//! `sarif`: SARIF 2.1.0, with the HCL line of what drifted.
//!
//! - Ignored and known findings are suppressed, resolved ones absent, as the standard has it; for
//!   GitHub, which looks at neither, there is `github-sarif`.
//! - Each workspace has an automation id of its own, so that none overwrites another's results.
//! - A result is the same one as before when its fingerprint is.

use super::{
    Format, Layout, Style, inline, json_text, place, problem::problems, shorten, visible, words,
};
use crate::{
    report::{Finding, Place, Report, Standing},
    rule::{RULES, Severity},
};
use serde_json::{Map, Value, json};
use std::{cmp::Reverse, collections::BTreeSet};

pub(super) const FORMAT: Format =
    Format { name: "sarif", summary: "SARIF 2.1.0, for code scanning", render };

/// Who reads a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Whoever keeps to the standard.
    Any,
    /// GitHub's code scanning.
    CodeScanning,
}

/// What GitHub keeps of a run.
const RESULTS_MAX: usize = 5_000;

/// Of one result.
const RELATED_MAX: usize = 99;
const ATTRIBUTES_MAX: usize = 20;
const VALUE_MAX: usize = 120;

fn render(report: &Report, style: &Style) -> String {
    log(report, style, Audience::Any)
}

/// One result, before it is known where its rule stands.
struct Found {
    severity: Severity,
    rule: String,
    fields: Map<String, Value>,
}

pub(super) fn log(report: &Report, style: &Style, audience: Audience) -> String {
    let mut found = findings(report, style);
    found.extend(others(report, style));
    let mut notes: Vec<Value> = report
        .reasons
        .iter()
        .map(|reason| note(&format!("{}: {}", reason.name(), reason.meaning())))
        .collect();
    notes.extend(report.warnings.iter().map(|warning| note(warning)));
    match audience {
        Audience::Any => found.extend(absent(report, style)),
        Audience::CodeScanning => {
            found.retain(|it| !it.fields.contains_key("suppressions"));
            found.sort_by_key(|it| Reverse(it.severity));
            if found.len() > RESULTS_MAX {
                let more = words::number(found.len() - RESULTS_MAX, "result");
                notes.push(note(&format!("{more} left out: code scanning keeps {RESULTS_MAX}")));
                found.truncate(RESULTS_MAX);
            }
        }
    }
    let rules = rules(&found);
    let ids: Vec<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    let results: Vec<Value> = found
        .into_iter()
        .map(|mut it| {
            let index = ids.iter().position(|id| *id == it.rule);
            it.fields.insert("ruleIndex".to_owned(), json!(index));
            it.fields.insert("ruleId".to_owned(), json!(it.rule));
            Value::Object(it.fields)
        })
        .collect();
    let workspace = report.workspace.as_deref().unwrap_or("default");
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "driftgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "automationDetails": { "id": format!("driftgate/{}/", place::percent(workspace)) },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes,
            }],
            "originalUriBaseIds": { "SRCROOT": {
                "description": { "text": "The root of the repository." },
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": report.verdict.name(),
                "workspace": report.workspace,
            },
        }],
    });
    json_text(&document, Layout::Lines) + "\n"
}

fn note(text: &str) -> Value {
    json!({ "level": "warning", "message": { "text": plain(text) } })
}

fn rules(found: &[Found]) -> Vec<Value> {
    let mut rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "name": rule.id,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": rule.meaning },
                "help": { "text": format!("{} {}", rule.meaning, rule.remedy) },
                "defaultConfiguration": { "level": level(rule.severity) },
                "properties": { "tags": ["drift", "infrastructure-as-code"] },
            })
        })
        .collect();
    let policies: BTreeSet<&str> =
        found.iter().map(|it| it.rule.as_str()).filter(|id| id.starts_with("policy/")).collect();
    rules.extend(policies.iter().map(|id| {
        json!({
            "id": id,
            "shortDescription": { "text": format!("The plan breaks the policy {id}") },
            "help": { "text": "A policy of the configuration. Change what it names, or the policy." },
            "defaultConfiguration": { "level": "warning" },
            "properties": { "tags": ["infrastructure-as-code", "policy"] },
        })
    }));
    rules
}

fn findings(report: &Report, style: &Style) -> Vec<Found> {
    let open = report.findings.iter().map(|finding| (finding, None));
    let hidden = report.suppressed.iter().map(|it| (&it.finding, Some(it)));
    let all: Vec<_> = open.chain(hidden).collect();
    let numbers = words::numbered(all.iter().map(|(finding, _)| finding.fingerprint.as_str()));
    all.into_iter()
        .zip(numbers)
        .map(|((finding, suppressed), number)| {
            let text = format!("{} {}.{}", finding.address, words::brief(finding), values(finding));
            let place = place::of_finding(finding, style);
            let place = place.unwrap_or_else(|| place::fallback(style));
            let place = location(&place, &finding.address);
            let mut fields = result(finding.severity, &text, &place, &number);
            let related = related(finding, style);
            if related.len() > 1 {
                fields.insert("relatedLocations".to_owned(), Value::Array(related));
            }
            let ignored = suppressed.map(|it| format!("{} (ignore rule {})", it.reason, it.by));
            judge(&mut fields, &finding.standing, ignored);
            fields.insert("properties".to_owned(), properties(finding));
            Found { severity: finding.severity, rule: finding.rule.id.to_owned(), fields }
        })
        .collect()
}

/// How a result stands against the baseline, and why it is no alert if it is none.
fn judge(fields: &mut Map<String, Value>, standing: &Standing, ignored: Option<String>) {
    let (state, status) = match standing {
        Standing::New => ("new", "accepted"),
        Standing::Known { .. } => ("unchanged", "accepted"),
        Standing::Awaiting { .. } => ("new", "underReview"),
    };
    fields.insert("baselineState".to_owned(), json!(state));
    if let Some(text) = ignored.or_else(|| words::standing(standing)) {
        let text = visible(&text);
        let item = json!({ "kind": "external", "status": status, "justification": text });
        fields.insert("suppressions".to_owned(), json!([item]));
    }
}

fn properties(finding: &Finding) -> Value {
    json!({
        "address": visible(&finding.address),
        "severity": finding.severity.name(),
        "outcome": finding.fate.name(),
        "oneWay": finding.one_way,
        "owner": finding.owner.as_deref().map(visible),
        "dependents": finding.dependents_count,
    })
}

fn others(report: &Report, style: &Style) -> Vec<Found> {
    let found = problems(report).into_iter().map(|problem| {
        let place = place::of_problem(&problem, style);
        let place = place.unwrap_or_else(|| place::fallback(style));
        let place = location(&place, problem.address);
        let mut fields = result(problem.severity, &problem.text, &place, &problem.fingerprint);
        judge(&mut fields, problem.standing, None);
        Found { severity: problem.severity, rule: problem.rule, fields }
    });
    found.collect()
}

/// What the baseline knows and the plan no longer has.
fn absent(report: &Report, style: &Style) -> Vec<Found> {
    let numbers = words::numbered(report.resolved.iter().map(|it| it.fingerprint.as_str()));
    let known = |id: &str| RULES.iter().any(|rule| rule.id == id);
    let resolved = report.resolved.iter().zip(numbers).filter(|(it, _)| known(&it.rule));
    resolved
        .map(|(resolved, number)| {
            let text = format!("{} is no longer drifted", resolved.address);
            let place = location(&place::fallback(style), &resolved.address);
            let mut fields = result(Severity::Info, &text, &place, &number);
            fields.insert("baselineState".to_owned(), json!("absent"));
            Found { severity: Severity::Info, rule: resolved.rule.clone(), fields }
        })
        .collect()
}

fn result(severity: Severity, text: &str, location: &Value, number: &str) -> Map<String, Value> {
    let rank = match severity {
        Severity::Critical => 95,
        Severity::High => 75,
        Severity::Medium => 50,
        Severity::Low => 25,
        Severity::Info => 5,
    };
    let fields = [
        ("level", json!(level(severity))),
        ("message", json!({ "text": plain(text) })),
        ("locations", json!([location])),
        // GitHub looks at the first only, which must end with a number.
        (
            "partialFingerprints",
            json!({ "primaryLocationLineHash": number, "driftgate/v1": number }),
        ),
        ("rank", json!(rank)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn location(place: &Place, address: &str) -> Value {
    let mut location = json!({ "physicalLocation": physical(place) });
    if !address.is_empty() {
        let name = visible(address);
        location["logicalLocations"] = json!([{ "fullyQualifiedName": name, "kind": "resource" }]);
    }
    location
}

fn physical(place: &Place) -> Value {
    json!({
        "artifactLocation": { "uri": place::percent(&place.file), "uriBaseId": "SRCROOT" },
        "region": { "startLine": place.line },
    })
}

/// Where the attributes of a finding are set.
fn related(finding: &Finding, style: &Style) -> Vec<Value> {
    let declared = finding.attributes.iter().filter_map(|attribute| {
        attribute.declared.as_ref().map(|place| (attribute, place::in_repository(place, style)))
    });
    declared
        .take(RELATED_MAX)
        .enumerate()
        .map(|(id, (attribute, place))| {
            let text = format!("{}: {}", attribute.path, attribute.fate.name());
            json!({
                "id": id,
                "physicalLocation": physical(&place),
                "message": { "text": plain(&text) },
            })
        })
        .collect()
}

/// What was and what is, a line for each attribute.
fn values(finding: &Finding) -> String {
    let mut out = String::new();
    for attribute in finding.attributes.iter().take(ATTRIBUTES_MAX) {
        let before = shorten(&inline(&attribute.before), 0, VALUE_MAX);
        let after = shorten(&inline(&attribute.after), 0, VALUE_MAX);
        let (path, fate) = (&attribute.path, attribute.fate.name());
        out.push_str(&format!("\n{path}: {before} -> {after} ({fate})"));
    }
    out
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// Text in which nothing is a link: readers make one of `[text](target)`.
fn plain(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n").replace("](", "] (")
}
