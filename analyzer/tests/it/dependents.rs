//! What depends on a finding, by the references in the plan's configuration.

use driftgate::{Limits, Report, check, check_file};
use std::io::Cursor;

const CONFIGURATION: &str = r#"{"root_module":{
  "resources":[
    {"address":"a_b.base","mode":"managed","expressions":{"n":{"constant_value":1}}},
    {"address":"a_b.direct","expressions":{"x":{"references":["a_b.base.id","a_b.base"]}}},
    {"address":"a_b.nested","expressions":{"rule":[{"to":{"references":["a_b.direct[0].id"]}}]}},
    {"address":"a_b.counted","count_expression":{"references":["a_b.base"]}},
    {"address":"a_b.ordered","depends_on":["a_b.counted"]},
    {"address":"data.a_b.read","mode":"data","expressions":{"x":{"references":["a_b.base[\"k.x\"].id"]}}},
    {"address":"a_b.after_module","expressions":{"x":{"references":["module.m.out","module.m"]}}},
    {"address":"a_b.other_output","expressions":{"x":{"references":["module.m.other","module.m"]}}},
    {"address":"a_b.after_whole","depends_on":["module.m"]},
    {"address":"a_b.apart","expressions":{"x":{"references":["var.v","local.base","each.key"]}}},
    {"address":"a_b.base2","expressions":{"x":{"references":["a_b.base2"]}}}],
  "outputs":{"url":{"expression":{"references":["a_b.nested.url"]}},"apart":{"expression":{"references":["var.v"]}}},
  "module_calls":{
    "m":{"source":"./m","expressions":{"in":{"references":["a_b.base.id"]},"free":{"constant_value":1}},
      "module":{
        "variables":{"in":{}},
        "resources":[
          {"address":"a_b.inner","expressions":{"x":{"references":["var.in"]}}},
          {"address":"a_b.free","expressions":{"x":{"references":["var.free"]}}}],
        "outputs":{"out":{"expression":{"references":["a_b.inner.id"]}},"other":{"expression":{"references":["a_b.free.id"]}}}}},
    "gated":{"source":"./g","for_each_expression":{"references":["a_b.base"]},
      "module":{"resources":[{"address":"a_b.g"}],"module_calls":{"deep":{"module":{"resources":[{"address":"a_b.d"}]}}}}}},
  "variables":{"v":{"sensitive":true}}}}"#;

fn drift(address: &str) -> String {
    let module = address.rsplit_once(".a_b.").map_or("", |(module, _)| module);
    let name = address.rsplit('.').next().unwrap();
    format!(
        r#""resource_drift":[{{"address":"{address}","module_address":"{module}","mode":"managed","type":"a_b","name":"{name}","change":{{"actions":["update"],"before":{{"n":1}},"after":{{"n":2}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}]"#
    )
}

fn plan(sections: &[&str]) -> String {
    format!(r#"{{"format_version":"1.2",{}}}"#, sections.join(","))
}

fn dependents(report: &Report) -> String {
    report.findings[0].dependents.join(" ")
}

#[test]
fn references_are_followed_through_modules() {
    let configuration = format!(r#""configuration":{CONFIGURATION}"#);
    for (address, wanted) in [
        (
            "a_b.base",
            "a_b.after_module a_b.after_whole a_b.counted a_b.direct a_b.nested a_b.ordered \
             data.a_b.read module.gated.a_b.g module.gated.module.deep.a_b.d module.m.a_b.inner \
             output.url",
        ),
        ("a_b.counted", "a_b.ordered"),
        ("module.m.a_b.free", "a_b.after_whole a_b.other_output"),
        ("module.m.a_b.inner", "a_b.after_module a_b.after_whole"),
        ("module.gated.module.deep.a_b.d", ""),
        ("a_b.apart", ""),
        ("a_b.base2", ""),
    ] {
        let plan = plan(&[&drift(address), &configuration]);
        let report = check(plan.as_bytes(), Limits::STANDARD).unwrap();
        assert_eq!(dependents(&report), wanted, "{address}");
        assert_eq!(report.findings[0].dependents_count, wanted.split_whitespace().count());
    }
}

#[test]
fn the_order_of_the_sections_does_not_matter_in_a_file() {
    let configuration = format!(r#""configuration":{CONFIGURATION}"#);
    let drift = drift("a_b.counted");
    let changes = r#""resource_changes":[{"address":"x_y.z","change":{"actions":["no-op"]}}]"#;
    for sections in [
        [configuration.as_str(), changes, &drift],
        [&configuration, &drift, changes],
        [changes, &configuration, &drift],
        [&drift, changes, &configuration],
    ] {
        let plan = plan(&sections);
        let checked = check_file(Cursor::new(plan), Limits::STANDARD).unwrap();
        assert_eq!(dependents(&checked.report), "a_b.ordered");
    }
}

#[test]
fn many_dependents_are_counted_and_not_all_listed() {
    let users: Vec<String> = (0..1_000)
        .map(|it| {
            format!(
                r#"{{"address":"a_b.u{it}","expressions":{{"x":{{"references":["a_b.base"]}}}}}}"#
            )
        })
        .collect();
    let configuration =
        format!(r#""configuration":{{"root_module":{{"resources":[{}]}}}}"#, users.join(","));
    let report = check(plan(&[&drift("a_b.base"), &configuration]).as_bytes(), Limits::STANDARD);
    let finding = &report.unwrap().findings[0];
    assert_eq!((finding.dependents.len(), finding.dependents_count), (200, 1_000));
}

#[test]
fn odd_configurations_do_no_harm() {
    for configuration in [
        "null",
        "[]",
        r#"{"root_module":null}"#,
        r#"{"root_module":{"resources":{},"module_calls":[],"outputs":7}}"#,
        r#"{"root_module":{"resources":[1,null,{"address":5},{"address":"","depends_on":[1,"",".","[","module."]}]}}"#,
        r#"{"root_module":{"module_calls":{"":{"module":[],"expressions":"x","depends_on":7}}}}"#,
        r#"{"root_module":{"resources":[{"address":"a.b","expressions":{"references":["a.b"]}},{"address":"a.c","expressions":{"x":{"references":["a.b"]}}},{"address":"a.b","expressions":{"x":{"references":["a.c"]}}}]}}"#,
    ] {
        let plan = plan(&[&drift("a_b.base"), &format!(r#""configuration":{configuration}"#)]);
        assert_eq!(check(plan.as_bytes(), Limits::STANDARD).unwrap().counts.drifted, 1);
    }
}
