//! Edits of generated configuration: what is meant changes, nothing else does, and what was in
//! canonical form stays in it. The judge of the latter is a real `terraform fmt`, where there is
//! one.

use driftgate::{Configuration, Limits, Written, check_stream, propose};
use std::{collections::BTreeSet, fmt::Write, fs, path::Path, process::Command};

/// How many configurations to make.
const SAMPLES: usize = 400;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// An attribute: its value in a plan before and after, and as it is written now.
struct Sample {
    name: String,
    before: String,
    after: String,
    written: String,
}

fn attribute(dice: &mut Dice, number: usize) -> Sample {
    let name = format!("a{number}{}", "x".repeat(dice.roll(6)));
    let (n, m) = (dice.roll(1000), dice.roll(1_000_000));
    let (before, after, written) = match dice.roll(6) {
        0 => (n.to_string(), m.to_string(), n.to_string()),
        1 => (format!("\"t{n}\""), format!("\"t${{{m}}}\""), format!("\"t{n}\"")),
        2 => ("true".into(), "false".into(), "true".into()),
        3 => (format!("[\"{n}\"]"), format!("[\"{n}\",\"{m}\"]"), format!("[\n    \"{n}\",\n  ]")),
        4 => (
            format!("{{\"k\":\"{n}\",\"long_key\":\"v\"}}"),
            format!("{{\"k\":\"{n}\",\"even_longer_key\":\"{m}\"}}"),
            format!("{{\n    k        = \"{n}\"\n    long_key = \"v\"\n  }}"),
        ),
        _ => (
            format!("{{\"k\":\"{n}\"}}"),
            format!("{{\"k\":\"{m}\"}}"),
            format!("{{ k = \"{n}\" }}"),
        ),
    };
    // Some do not change, some go away.
    let after = match dice.roll(5) {
        0 => before.clone(),
        1 => "null".into(),
        _ => after,
    };
    Sample { name, before, after, written }
}

/// The body in canonical form: `=` and trailing comments aligned over neighbouring lines.
fn body(samples: &[Sample], dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut run: Vec<(&Sample, bool)> = Vec::new();
    // Comments of lines around a removed one stay in their column.
    let comments = samples.iter().all(|it| it.after != "null");
    for sample in samples {
        if sample.written.contains('\n') {
            flush(&mut run, &mut out);
            run.push((sample, false));
            flush(&mut run, &mut out);
        } else {
            run.push((sample, comments && dice.roll(2) == 0));
        }
        let between = ["", "", "", "", "\n", "  # a remark\n"][dice.roll(6)];
        if !between.is_empty() {
            flush(&mut run, &mut out);
            out.push_str(between);
        }
    }
    flush(&mut run, &mut out);
    out
}

/// Writes neighbouring lines.
fn flush(run: &mut Vec<(&Sample, bool)>, out: &mut String) {
    let width = run.iter().map(|(it, _)| it.name.len()).max().unwrap_or(0);
    let content = |it: &Sample| format!("  {:width$} = {}", it.name, it.written);
    for chain in run.chunk_by(|left, right| left.1 == right.1) {
        let column = chain.iter().map(|(it, _)| content(it).len()).max().unwrap_or(0);
        for (it, commented) in chain {
            let _ = match commented {
                true => writeln!(out, "{:column$} # why", content(it)),
                false => writeln!(out, "{}", content(it)),
            };
        }
    }
    run.clear();
}

fn object(samples: &[Sample], side: impl Fn(&Sample) -> &String) -> String {
    let fields: Vec<String> =
        samples.iter().map(|it| format!("\"{}\":{}", it.name, side(it))).collect();
    format!("{{{}}}", fields.join(","))
}

fn plan(before: &str, after: &str) -> String {
    let entry = |before: &str, after: &str| {
        format!(
            r#"{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(before, after),
        entry(after, before)
    )
}

/// What the configuration says, as a plan would.
fn read(text: &str) -> serde_json::Value {
    let body = hcl_edit::parser::parse_body(text).unwrap();
    let block = body.get_blocks("resource").next().unwrap();
    let value = |expression: &hcl_edit::expr::Expression| -> serde_json::Value {
        serde_json::from_str(&json(expression)).unwrap()
    };
    block
        .body
        .attributes()
        .map(|it| (it.key.to_string().trim().to_owned(), value(&it.value)))
        .collect()
}

fn json(expression: &hcl_edit::expr::Expression) -> String {
    use hcl_edit::expr::{Expression, ObjectKey};
    match expression {
        Expression::String(text) => serde_json::to_string(text.value()).unwrap(),
        Expression::Array(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Expression::Object(object) => {
            let fields: Vec<String> = object
                .iter()
                .map(|(key, item)| match key {
                    ObjectKey::Ident(name) => format!("\"{}\":{}", name.value(), json(item.expr())),
                    ObjectKey::Expression(name) => format!("{}:{}", json(name), json(item.expr())),
                })
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string().trim().to_owned(),
    }
}

#[test]
fn generated_configurations_say_what_is_real_and_keep_their_form() {
    let [old, new] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut dice = Dice(7);
    for number in 0..SAMPLES {
        let samples: Vec<Sample> =
            (0..2 + dice.roll(7)).map(|at| attribute(&mut dice, at)).collect();
        let text = format!(
            "# head\nresource \"t_x\" \"n\" {{\n{}}}\n\n# tail\n",
            body(&samples, &mut dice)
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.tf");
        fs::write(&file, &text).unwrap();
        let plan = plan(&object(&samples, |it| &it.before), &object(&samples, |it| &it.after));
        let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
        let configuration = Configuration::load(folder.path()).unwrap();
        let edited = propose(&mut checked.report, &configuration, &checked.secrets);
        Written::write(folder.path(), &edited).unwrap();
        let result = fs::read_to_string(&file).unwrap();
        let mut wanted: serde_json::Value =
            serde_json::from_str(&object(&samples, |it| &it.after)).unwrap();
        wanted.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(read(&result), wanted, "\n{text}\nbecame\n{result}");
        for kept in ["# head\n", "# tail\n"] {
            assert!(result.contains(kept));
        }
        assert_eq!(result.matches("# a remark").count(), text.matches("# a remark").count());
        fs::write(old.path().join(format!("{number:03}.tf")), &text).unwrap();
        fs::write(new.path().join(format!("{number:03}.tf")), &result).unwrap();
    }
    let (Some(before), Some(after)) = (unformatted(old.path()), unformatted(new.path())) else {
        println!("skipped: no terraform on the path, the form was not judged");
        return;
    };
    assert_eq!(before, BTreeSet::new(), "the samples are in canonical form");
    if let Some(name) = after.first() {
        let [old, new] = [&old, &new].map(|it| fs::read_to_string(it.path().join(name)).unwrap());
        panic!("{} files lost their form, first {name}:\n{old}\nbecame\n{new}", after.len());
    }
}

/// Names of files that `terraform fmt` would change.
fn unformatted(folder: &Path) -> Option<BTreeSet<String>> {
    let output = Command::new("terraform")
        .args(["fmt", "-list=true", "-write=false"])
        .arg(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).unwrap();
    let name = |path: &str| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
    Some(names.lines().map(name).collect())
}
