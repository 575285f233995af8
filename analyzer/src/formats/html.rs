//! `html`: one page for a browser, with search and filters.
//!
//! - The page is complete: it loads nothing, and its policy forbids it to.
//! - What comes from the plan is either escaped or stands in a block of JSON in which no `<` is,
//!   and the script makes text of it, never markup.
//! - Findings become elements when they are looked at, so that thousands of them stay light.

use super::{
    Format, Layout, Style, inline, json_text, place, shorten, visible, visible_lines, words,
};
use crate::{
    proposal::Proposal,
    report::{Attribute, Finding, Report, Shown},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

pub(super) const FORMAT: Format =
    Format { name: "html", summary: "a page for a browser, complete in one file", render };

const BODY: &str = include_str!("html/page.html");
const SCRIPT: &str = include_str!("html/page.js");
const SHEET: &str = include_str!("html/page.css");

/// Columns of one value, and of one line of a value in several lines.
const VALUE_MAX: usize = 20_000;
const LINE_MAX: usize = 60;

const DEPENDENTS_MAX: usize = 50;

fn render(report: &Report, style: &Style) -> String {
    let headline = words::headline(report);
    let headline = headline.split_once(": ").map_or("", |(_, rest)| rest);
    let verdict = report.verdict.name();
    let brand = match &report.workspace {
        Some(workspace) => format!("driftgate, {}", escape(workspace)),
        None => "driftgate".to_owned(),
    };
    let notes: Vec<String> = report
        .reasons
        .iter()
        .map(|reason| format!("{}: {}", reason.name(), reason.meaning()))
        .chain(report.warnings.iter().cloned())
        .map(|note| format!("<li>{}</li>", escape(&note)))
        .collect();
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"notes\" aria-label=\"Notes\">{}</ul>", notes.concat()),
    };
    let headline = escape(headline);
    let body = fill(&[
        ("verdict", verdict),
        ("headline", &headline),
        ("notes", &notes),
        ("facts", &facts(report)),
        ("brand", &brand),
    ]);
    let data = json_text(&data(report, style), Layout::Compact).replace('<', "\\u003c");
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(SHEET)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{brand}: {verdict}</title>\n\
         <style>{SHEET}</style>\n</head>\n<body>\n{body}\
         <script type=\"application/json\" id=\"report\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The body with its places filled; what is put in is not looked at again.
fn fill(places: &[(&str, &str)]) -> String {
    let mut parts = BODY.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let found = places.iter().find(|(place, _)| *place == name);
        out.push_str(found.map_or("", |(_, text)| text));
        out.push_str(rest);
    }
    out
}

/// A source of the page's policy: the text that may run, by its digest.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

fn facts(report: &Report) -> String {
    let count = |count: usize| words::number(count, "").trim_end_matches([' ', 's']).to_owned();
    let engine = if report.plan.opentofu { "OpenTofu" } else { "Terraform" };
    let facts = [
        ("Plan made", report.plan.timestamp.clone()),
        (engine, report.plan.tool_version.clone()),
        ("Resources", Some(count(report.counts.resources))),
        ("Drifted", Some(count(report.counts.drifted))),
        ("Of them apply acts on", Some(count(report.counts.actionable))),
        ("Planned changes", Some(count(report.counts.planned))),
    ];
    facts
        .into_iter()
        .filter_map(|(name, value)| {
            let value = escape(&value?);
            Some(format!("<div><dt>{name}</dt><dd>{value}</dd></div>"))
        })
        .collect()
}

/// What the script reads: texts only, ready to be shown.
fn data(report: &Report, style: &Style) -> Value {
    let mut findings: Vec<Value> = words::by_severity(report)
        .into_iter()
        .map(|it| finding(it, it.standing.name(), None, style))
        .collect();
    findings.extend(report.suppressed.iter().map(|it| {
        let why = format!("{}: {}", it.by, it.reason);
        finding(&it.finding, "ignored", Some(&why), style)
    }));
    let lists = words::lists(report).into_iter().filter(|list| list.total > 0).map(|list| {
        json!({
            "title": list.title,
            "lines": list.lines,
            "total": list.total,
            "open": list.is_grave,
        })
    });
    json!({ "findings": findings, "lists": lists.collect::<Vec<_>>() })
}

fn finding(finding: &Finding, standing: &str, ignored: Option<&str>, style: &Style) -> Value {
    let mut meta = vec![("Happened", words::happened(finding))];
    meta.push(("Apply", words::intent(finding)));
    if let Some(place) = place::of_finding(finding, style) {
        meta.push(("Place", words::file_line(&place)));
    }
    if !finding.pending.is_empty() {
        let paths: Vec<String> = finding.pending.iter().map(|path| visible(path)).collect();
        meta.push(("Also planned", paths.join(", ")));
    }
    meta.push(("Type", visible(&finding.resource_type)));
    meta.push(("Provider", visible(&finding.provider)));
    let optional = [
        ("Owner", finding.owner.clone()),
        ("Baseline", words::standing(&finding.standing)),
        ("Ignored by", ignored.map(str::to_owned)),
        ("Blast radius", words::dependents(finding, DEPENDENTS_MAX)),
    ];
    meta.extend(optional.into_iter().filter_map(|(name, it)| Some((name, visible(&it?)))));
    meta.push(("Rule", format!("{}: {}", finding.rule.id, finding.rule.title)));
    meta.push(("What to do", finding.rule.remedy.to_owned()));
    meta.push(("Fingerprint", visible(&finding.fingerprint)));
    json!({
        "address": visible(&finding.address),
        "severity": finding.severity.name(),
        "rule": finding.rule.id,
        "standing": standing,
        "brief": words::brief(finding),
        "meta": meta,
        "attributes": finding.attributes.iter().map(attribute).collect::<Vec<_>>(),
        "proposals": finding.proposals.iter().map(proposal).collect::<Vec<_>>(),
    })
}

fn attribute(attribute: &Attribute) -> Value {
    let text = |shown: &Shown| match shown {
        Shown::Absent => Value::Null,
        shown => json!(shorten(&pretty(shown, 0), 0, VALUE_MAX)),
    };
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(visible(&attribute.path)));
    fields.insert("before".to_owned(), text(&attribute.before));
    fields.insert("after".to_owned(), text(&attribute.after));
    fields.insert("outcome".to_owned(), json!(attribute.fate.name()));
    if let Some(desired) = &attribute.desired {
        fields.insert("desired".to_owned(), text(desired));
    }
    if let Some(place) = &attribute.declared {
        fields.insert("place".to_owned(), json!(words::file_line(place)));
    }
    Value::Object(fields)
}

fn proposal(proposal: &Proposal) -> Value {
    let refusals = words::refusals(&proposal.refusals).into_iter().map(|(paths, refusal)| {
        let place = refusal.place.as_ref();
        let place = place.map(|it| format!(" ({})", words::file_line(it))).unwrap_or_default();
        format!("not {}: {}{place}", visible(&paths.join(", ")), visible(&refusal.reason))
    });
    json!({
        "kind": proposal.kind.name(),
        "risk": proposal.risk.name(),
        "summary": visible(&proposal.summary),
        "commands": proposal.commands.iter().map(|it| visible(it)).collect::<Vec<_>>(),
        "refusals": refusals.collect::<Vec<_>>(),
        "diff": proposal.diff.as_deref().map(visible_lines),
    })
}

/// A value in as many lines as it takes.
fn pretty(shown: &Shown, depth: usize) -> String {
    let short = inline(shown);
    if short.chars().count() + 2 * depth <= LINE_MAX {
        return short;
    }
    let indent = "  ".repeat(depth + 1);
    let (open, lines, close): (_, Vec<String>, _) = match shown {
        Shown::List(items) => {
            let lines = items.iter().map(|item| format!("{indent}{}", pretty(item, depth + 1)));
            ('[', lines.collect(), ']')
        }
        Shown::Object(fields) => {
            let lines = fields.iter().map(|(key, field)| {
                format!("{indent}{}: {}", visible(key), pretty(field, depth + 1))
            });
            ('{', lines.collect(), '}')
        }
        _ => return short,
    };
    format!("{open}\n{}\n{}{close}", lines.join("\n"), "  ".repeat(depth))
}

/// Text without any meaning as markup.
fn escape(text: &str) -> String {
    let text = visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_the_page_ends_what_it_stands_in() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
        assert!(!SHEET.contains("</"));
        assert_eq!(escape("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
    }

    #[test]
    fn long_values_take_several_lines() {
        let long = Shown::String("x".repeat(70));
        let value = Shown::Object([("k".to_owned(), Shown::List(vec![long, Shown::Null]))].into());
        let text = pretty(&value, 0);
        let lines: Vec<&str> = text.lines().map(|line| &line[..line.len().min(8)]).collect();
        assert_eq!(lines, ["{", "  k: [", "    \"xxx", "    null", "  ]", "}"]);
    }
}
