//! The HTML page in a real browser, where there is one.
//!
//! With `SHOTS=FOLDER` in the environment the tests leave pictures of the page there.

use crate::{
    chromium::Chromium,
    judged::{judged, report},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use driftgate::{
    Limits, Report, check,
    formats::{self, Style},
    rule::{self, Severity},
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// The page of a report in a browser; the folder holds the file.
fn page(report: &Report) -> Option<(Chromium, TempDir)> {
    let mut browser = Chromium::start()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let format = formats::find("html").unwrap();
    fs::write(&file, (format.render)(report, &Style::default())).unwrap();
    browser.open(&file);
    Some((browser, folder))
}

fn shoot(browser: &mut Chromium, name: &str) {
    if let Some(folder) = std::env::var_os("SHOTS") {
        let picture = browser.call("Page.captureScreenshot", &json!({}));
        let bytes = BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        fs::write(PathBuf::from(folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

const ROWS: &str = "document.querySelectorAll('details.finding').length";
const COUNT: &str = "document.getElementById('count').textContent";
const FOCUS: &str = "document.activeElement.querySelector('h3')?.textContent ?? \
    document.activeElement.id";

fn click(browser: &mut Chromium, what: &str) {
    browser.evaluate(&format!("document.querySelector({what:?}).click()"));
}

#[test]
fn findings_are_searched_and_filtered() {
    let report = judged();
    let all = report.findings.len() + report.suppressed.len();
    let Some((mut browser, _folder)) = page(&report) else { return };
    assert_eq!(browser.evaluate(ROWS), all);
    assert_eq!(browser.evaluate(COUNT), format!("{all} findings"));

    click(&mut browser, ".chip.tone-critical");
    assert_eq!(browser.evaluate(ROWS), 1);
    assert_eq!(browser.evaluate(COUNT), format!("1 of {all} findings"));
    let pressed = "document.querySelector('.chip.tone-critical').getAttribute('aria-pressed')";
    assert_eq!(browser.evaluate(pressed), "true");
    click(&mut browser, ".chip.tone-critical");
    assert_eq!(browser.evaluate(ROWS), all);

    for (select, value, rows) in [
        ("rule", "conflict", 1),
        ("rule", "", all),
        ("standing", "known", 1),
        ("standing", "ignored", report.suppressed.len()),
        ("standing", "", all),
    ] {
        browser.evaluate(&format!(
            "{{ const it = document.getElementById({select:?}); it.value = {value:?}; \
             it.dispatchEvent(new Event('change')); }}"
        ));
        assert_eq!(browser.evaluate(ROWS), rows, "{select} {value}");
    }

    // Search finds values and owners too, all words in any order.
    browser.evaluate("document.getElementById('search').focus()");
    browser.write("TEAM network");
    assert_eq!(browser.evaluate(ROWS), 1);
    browser.write(" nowhere");
    assert_eq!(browser.evaluate(ROWS), 0);
    assert_eq!(
        browser.evaluate("document.getElementById('nothing').textContent"),
        "Nothing matches."
    );
}

#[test]
fn the_page_is_used_with_keys_alone() {
    let Some((mut browser, _folder)) = page(&judged()) else { return };
    browser.press("j");
    assert_eq!(browser.evaluate(FOCUS), "aws_db_instance.main");
    browser.press("Enter");
    let open = "document.querySelector('details.finding').open";
    assert_eq!(browser.evaluate(open), true);
    let values =
        "[...document.querySelectorAll('details[open] td.value')].map(it => it.textContent)";
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))");
    assert_eq!(browser.evaluate(values), json!(["\"15.3\"", "\"16.1\"", "\"15.3\""]));
    shoot(&mut browser, "open");
    browser.press("ArrowDown");
    assert_ne!(browser.evaluate(FOCUS), "aws_db_instance.main");
    browser.press("k");
    assert_eq!(browser.evaluate(FOCUS), "aws_db_instance.main");
    browser.press("/");
    assert_eq!(browser.evaluate(FOCUS), "search");
    browser.write("jj");
    assert_eq!(browser.evaluate(ROWS), 0, "letters in the search are no commands");
    browser.press("Escape");
    assert_eq!(browser.evaluate("document.getElementById('search').value"), "");
    assert_ne!(browser.evaluate(ROWS), 0);
    // Whatever can be used has a name for those who do not see it.
    let tree = browser.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
    for node in nodes.iter().filter(|node| {
        ["button", "searchbox", "combobox", "region", "search"].contains(&role(node).as_str())
    }) {
        assert_ne!(node["name"]["value"].as_str().unwrap_or_default(), "", "{node}");
    }
    for landmark in ["banner", "search", "main", "contentinfo"] {
        assert!(nodes.iter().any(|node| role(node) == landmark), "there is a {landmark}");
    }
}

/// The lowest contrast between a text and what is behind it, among the classes that carry meaning.
const CONTRAST: &str = "(() => {
    const parse = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(it => it / 255)
        .map(it => it <= .03928 ? it / 12.92 : ((it + .055) / 1.055) ** 2.4)
        .reduce((sum, it, at) => sum + it * [.2126, .7152, .0722][at], 0);
    const ground = (it) => { for (; it; it = it.parentElement) {
        const color = parse(getComputedStyle(it).backgroundColor);
        if (color.length === 3 || color[3] > 0) return color; } return [255, 255, 255]; };
    const contrast = (it) => { const [a, b] = [light(parse(getComputedStyle(it).color)),
        light(ground(it))].sort((x, y) => y - x); return (a + .05) / (b + .05); };
    const all = document.querySelectorAll('.severity, .brief, .tag, .facts dt, .facts dd, h1, h3, \
        .verdict, .count, #count, .meta dt, .was mark, .is mark, .plus, .minus, .at, kbd, th, p');
    return Math.min(...[...all].filter(it => it.offsetParent).map(contrast));
})()";

#[test]
fn light_and_dark_follow_the_preference_or_the_switch_and_can_be_read() {
    let Some((mut browser, _folder)) = page(&judged()) else { return };
    let ground = "getComputedStyle(document.body).backgroundColor";
    click(&mut browser, "#expand");
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        grounds.push(browser.evaluate(ground));
        let contrast = browser.evaluate(CONTRAST).as_f64().unwrap();
        assert!(contrast >= 4.5, "{scheme}: {contrast}");
        shoot(&mut browser, scheme);
    }
    assert_ne!(grounds[0], grounds[1]);
    click(&mut browser, "#theme");
    assert_eq!(browser.evaluate(ground), grounds[0], "light, whatever is preferred");
    browser.prefer("light");
    click(&mut browser, "#theme");
    assert_eq!(browser.evaluate(ground), grounds[1], "dark, whatever is preferred");
    click(&mut browser, "#theme");
    assert_eq!(browser.evaluate(ground), grounds[0], "as preferred");
}

#[test]
fn on_paper_stands_all_that_matches_opened() {
    let Some((mut browser, _folder)) = page(&many(250)) else { return };
    let printed = browser.call("Page.printToPDF", &json!({ "preferCSSPageSize": true }));
    let pdf = BASE64_STANDARD.decode(printed["data"].as_str().unwrap()).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    assert_eq!(
        browser.evaluate("document.querySelectorAll('details.finding[open] .body').length"),
        250
    );
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    let shown = "getComputedStyle(document.querySelector('.tools')).display";
    assert_eq!(browser.evaluate(shown), "none");
}

#[test]
fn the_page_loads_nothing_and_runs_nothing_of_the_plan() {
    let hostile = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)> \
        <!-- ]]> {{brand}} ' \" \u{202e} https://example.invalid/";
    let text = serde_json::to_string(hostile).unwrap();
    let entry = format!(
        r#"{{"address":{text},"change":{{"actions":["update"],"before":{{"a":"x"}},"after":{{"a":{text},{text}:1}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
    );
    let plan =
        format!(r#"{{"format_version":"1.2","timestamp":{text},"resource_drift":[{entry}]}}"#);
    let mut report = check(plan.as_bytes(), Limits::STANDARD).unwrap();
    report.workspace = Some(hostile.to_owned());
    report.warnings.push(hostile.to_owned());
    let Some((mut browser, _folder)) = page(&report) else { return };
    click(&mut browser, "#expand");
    assert_eq!(browser.evaluate("document.scripts.length"), 2);
    assert_eq!(
        browser.evaluate("document.querySelectorAll('img, iframe, link, object').length"),
        0
    );
    let shown = hostile.replace('\u{202e}', "\\u{202e}");
    assert_eq!(browser.evaluate("document.querySelector('h3').textContent"), shown.as_str());
    assert_eq!(browser.evaluate("document.title"), format!("driftgate, {shown}: drifted"));
    let refused = browser.evaluate(
        "new Promise(done => { addEventListener('securitypolicyviolation', it => \
         done(it.effectiveDirective)); fetch('http://127.0.0.1:9/').catch(() => {}); })",
    );
    assert_eq!(refused, "connect-src");
    let requests: Vec<&str> = browser
        .events
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSent")
        .filter_map(|event| event["params"]["request"]["url"].as_str())
        .filter(|url| !url.starts_with("file://"))
        .collect();
    assert_eq!(requests, [""; 0]);
    let faults: Vec<&Value> = browser
        .events
        .iter()
        .filter(|event| event["method"] == "Runtime.exceptionThrown")
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// So many findings, with addresses of their own.
fn many(count: usize) -> Report {
    let mut report = report("one_way");
    let finding = report.findings.remove(0);
    report.findings = (0..count)
        .map(|number| {
            let mut finding = finding.clone();
            finding.address = format!("module.m{}.aws_db_instance.db[{number}]", number % 50);
            if number % 10 != 0 {
                finding.severity = Severity::Medium;
                finding.rule = rule::find("reverted").unwrap();
            }
            finding
        })
        .collect();
    report.counts.drifted = count;
    report
}

#[test]
fn five_thousand_findings_stay_light() {
    let Some((mut browser, _folder)) = page(&many(5_000)) else { return };
    assert_eq!(browser.evaluate(COUNT), "5,000 findings");
    let elements = "document.getElementsByTagName('*').length";
    let begin = browser.evaluate(elements).as_u64().unwrap();
    assert!(begin < 2_000, "{begin} elements");
    shoot(&mut browser, "many");
    browser.evaluate("document.getElementById('search').focus()");
    browser.write("db[4321]");
    assert_eq!(browser.evaluate(COUNT), "1 of 5,000 findings");
    assert_eq!(browser.evaluate(ROWS), 1);
    browser.press("Escape");
    click(&mut browser, ".chip.tone-critical");
    assert_eq!(browser.evaluate(COUNT), "500 of 5,000 findings");
    assert!(browser.evaluate(elements).as_u64().unwrap() < 2_000);
    // The rest comes when it is looked for.
    let rows = browser.evaluate(ROWS).as_u64().unwrap();
    let grown = browser.evaluate(&format!(
        "new Promise(done => {{ const look = () => {ROWS} > {rows} ? done({ROWS}) : \
         requestAnimationFrame(look); scrollTo(0, document.body.scrollHeight); look(); }})"
    ));
    assert!(grown.as_u64().unwrap() <= 500);
}
