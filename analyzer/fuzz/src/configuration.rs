//! Files of configuration, whatever they hold: edits of every kind end, and end well.

use driftgate::{
    Configuration, Limits, Selection, check_stream, proposal::ProposalKind, propose_selected,
};
use std::collections::BTreeMap;

/// Values of `t_x.n` before and after, of every shape that an edit knows.
const SIDES: [&str; 2] = [
    r#"{"a":1,"b":"x","c":null,"l":["a","b"],"m":{"k":"v","o":1},"p":"{\"a\":1,\"b\":[1]}","r":[{"p":1},{"p":2}],"t":"one\ntwo\n"}"#,
    r#"{"a":-2.50,"b":"${y}\n\"","c":"new","l":["b","c","d"],"m":{"k":"w","n m":true},"p":"{\"a\":2,\"b\":[1,2]}","r":[{"p":1},{"p":3},{"p":4}],"t":"${one}\n\n  two\n"}"#,
];

/// The names that files may have; a NUL ends each file.
const NAMES: &[&str] = &["main.tf", "main.tf.json", "terraform.tfvars", "a.auto.tfvars.json", "p"];

/// Files of a configuration, one behind another.
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let files: BTreeMap<String, String> = text
        .split('\0')
        .zip(NAMES)
        .map(|(text, name)| ((*name).to_owned(), text.to_owned()))
        .collect();
    for kind in ProposalKind::EDITS {
        let edited = edit(&files, *kind);
        if *kind != ProposalKind::Adopt {
            continue;
        }
        // What is adopted stays adopted.
        let mut after = files.clone();
        after.extend(edited);
        let again = edit(&after, ProposalKind::Adopt);
        for (name, text) in again {
            assert_eq!(text, after[&name], "{name} is edited twice");
        }
    }
}

fn edit(files: &BTreeMap<String, String>, kind: ProposalKind) -> BTreeMap<String, String> {
    let entry = |before: &str, after: &str| {
        format!(
            r#"{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    let [before, after] = SIDES;
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(before, after),
        entry(after, before)
    );
    let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).expect("it is a plan");
    let configuration = Configuration::of(files.clone());
    let selection = Selection { kind, only: Vec::new(), id: Some("i".to_owned()) };
    propose_selected(&mut checked.report, &configuration, &checked.secrets, &selection)
}
