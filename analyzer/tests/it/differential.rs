//! Edits of generated configuration, and of every file under `examples/`: what is meant changes,
//! nothing else does, and what was in canonical form stays in it. The judge of the latter is a
//! real `terraform fmt`, where there is one.

use crate::generated::{self, Dice, Generated};
use driftgate::{
    Configuration, Limits, Selection, check_stream, proposal::ProposalKind, propose,
    propose_selected,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// How many files of each syntax to make.
const SAMPLES: usize = 1_200;

/// The file after the edit, and the paths that were refused.
fn edit(name: &str, sample: &Generated) -> (String, BTreeSet<String>) {
    let files = BTreeMap::from([(name.to_owned(), sample.text.clone())]);
    let mut checked = check_stream(sample.plan().as_bytes(), Limits::STANDARD).unwrap();
    let mut edited = propose(&mut checked.report, &Configuration::of(files), &checked.secrets);
    let proposals = checked.report.findings.iter().flat_map(|it| &it.proposals);
    let refusals =
        proposals.filter(|it| it.kind == ProposalKind::Adopt).flat_map(|it| &it.refusals);
    let refused = refusals.map(|it| it.path.clone()).collect();
    (edited.remove(name).unwrap_or_else(|| sample.text.clone()), refused)
}

/// What a literal says, as a plan would; `None` for all else.
fn value(text: &str, expression: &hcl_edit::expr::Expression) -> Option<serde_json::Value> {
    use hcl_edit::{
        Span,
        expr::{Expression, ObjectKey},
        template::Element,
    };
    Some(match expression {
        Expression::Null(_) => serde_json::Value::Null,
        Expression::Bool(flag) => (*flag.value()).into(),
        Expression::Number(number) => serde_json::from_str(&text[number.span()?]).ok()?,
        Expression::String(string) => string.value().as_str().into(),
        Expression::Parenthesis(inner) => value(text, inner.inner())?,
        Expression::Array(items) => {
            items.iter().map(|it| value(text, it)).collect::<Option<Vec<_>>>()?.into()
        }
        Expression::Object(object) => object
            .iter()
            .map(|(key, item)| {
                let key = match key {
                    ObjectKey::Ident(name) => name.value().to_string(),
                    ObjectKey::Expression(Expression::String(name)) => name.value().clone(),
                    ObjectKey::Expression(_) => return None,
                };
                Some((key, value(text, item.expr())?))
            })
            .collect::<Option<serde_json::Map<_, _>>>()?
            .into(),
        Expression::FuncCall(call) if call.name.name.as_str() == "jsonencode" => {
            value(text, call.args.get(0)?)?.to_string().into()
        }
        Expression::HeredocTemplate(heredoc) => {
            let mut said = String::new();
            for element in &heredoc.template {
                let Element::Literal(part) = element else { return None };
                said.push_str(part.value());
            }
            // The parser keeps the white space that `<<-` takes off.
            let lines = || said.split_inclusive('\n').filter(|line| !line.trim().is_empty());
            let width = |line: &str| line.len() - line.trim_start().len();
            let indent = match text[heredoc.span()?].starts_with("<<-") {
                true => lines().map(width).min().unwrap_or(0),
                false => 0,
            };
            let cut = |line: &str| {
                line.get(indent..).filter(|_| !line.trim().is_empty()).map(str::to_owned)
            };
            let said: String = said
                .split_inclusive('\n')
                .map(|line| cut(line).unwrap_or_else(|| line.to_owned()))
                .collect();
            said.into()
        }
        _ => return None,
    })
}

/// The same value, documents in texts taken for what they say.
fn same(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    let document = |it: &serde_json::Value| {
        let parsed = serde_json::from_str::<serde_json::Value>(it.as_str()?).ok()?;
        parsed.is_object().then_some(parsed)
    };
    match (document(left), document(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

fn parse(text: &str) -> hcl_edit::structure::Body {
    let blank = text.replacen('\u{feff}', "   ", 1);
    hcl_edit::parser::parse_body(&blank).map_err(|error| format!("{error}\n{text}")).unwrap()
}

/// The resource's attributes as values, and everything else as it is written.
fn taken_apart(text: &str, names: &BTreeSet<&str>) -> (BTreeMap<String, String>, Vec<String>) {
    use hcl_edit::{Span, structure::Structure};
    let (mut values, mut rest) = (BTreeMap::new(), Vec::new());
    let body = parse(text);
    for structure in &body {
        let block = match structure {
            Structure::Block(block) if block.ident.as_str() == "resource" => block,
            other => {
                rest.push(text[other.span().unwrap()].split_whitespace().collect());
                continue;
            }
        };
        for inner in &block.body {
            match inner {
                Structure::Attribute(it) if names.contains(it.key.as_str()) => {
                    let said = value(text, &it.value).ok_or(text).unwrap();
                    values.insert(it.key.to_string().trim().to_owned(), said.to_string());
                }
                other => rest.push(text[other.span().unwrap()].split_whitespace().collect()),
            }
        }
    }
    (values, rest)
}

/// Comments that stand for themselves.
fn remarks(text: &str) -> usize {
    ["# a remark", "/* several", "# head"].iter().map(|it| text.matches(it).count()).sum()
}

fn check_native(sample: &Generated, result: &str, refused: &BTreeSet<String>) {
    let names: BTreeSet<&str> = sample.targets.iter().map(|it| it.name.as_str()).collect();
    let context = || format!("\n{}\nbecame\n{result}\nrefused {refused:?}", sample.text);
    let (before, untouched) = taken_apart(&sample.text, &names);
    let (after, kept) = taken_apart(result, &names);
    assert_eq!(untouched, kept, "{}", context());
    for target in &sample.targets {
        let wanted = if refused.contains(&target.name)
            || refused.iter().any(|it| it.starts_with(&format!("{}[", target.name)))
            || refused.iter().any(|it| it.starts_with(&format!("{}.", target.name)))
        {
            before.get(&target.name).cloned()
        } else {
            Some(target.after.clone()).filter(|it| it != "null")
        };
        let said = |text: &Option<String>| -> serde_json::Value {
            text.as_deref().map_or(serde_json::Value::Null, |it| serde_json::from_str(it).unwrap())
        };
        let (found, wanted) = (said(&after.get(&target.name).cloned()), said(&wanted));
        assert!(same(&found, &wanted), "{}: {found} is not {wanted}{}", target.name, context());
    }
    assert_eq!(remarks(&sample.text), remarks(result), "{}", context());
    if sample.targets.iter().all(|it| it.after != "null") {
        let kept = |text: &str| text.matches("# kept").count();
        assert_eq!(kept(&sample.text), kept(result), "{}", context());
    }
    assert_eq!(sample.text.contains('\r'), result.contains('\r'), "{}", context());
    assert_eq!(sample.text.starts_with('\u{feff}'), result.starts_with('\u{feff}'));
    let begins = |text: &str| text[..text.find("resource").unwrap()].to_owned();
    assert_eq!(begins(&sample.text), begins(result), "{}", context());
    let ends = |text: &str| text[text.find("# tail").unwrap()..].to_owned();
    assert_eq!(ends(&sample.text), ends(result), "{}", context());
}

/// Writes files, lets `terraform fmt` do something with them, and reads what it names.
fn fmt(folder: &Path, arguments: &[&str]) -> Option<BTreeSet<String>> {
    let output = Command::new("terraform")
        .arg("fmt")
        .args(arguments)
        .arg(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || !errors.contains("Error"), "{errors}");
    let names = String::from_utf8(output.stdout).unwrap();
    let name = |path: &str| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
    Some(names.lines().map(name).collect())
}

#[test]
fn generated_files_change_in_what_is_meant_and_keep_their_form() {
    let mut dice = Dice(23);
    let mut samples: Vec<Generated> = (0..SAMPLES).map(|_| generated::native(&mut dice)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(format!("{number:04}.tf"));
    // Every other file is put into canonical form first.
    for (number, sample) in samples.iter().enumerate().step_by(2) {
        fs::write(path(number), &sample.text).unwrap();
    }
    let has_fmt = fmt(folder.path(), &["-list=true"]).is_some();
    if !has_fmt {
        println!("skipped: no terraform on the path, the form is not judged");
    }
    let (mut edits, mut refusals) = (0, 0);
    for (number, sample) in samples.iter_mut().enumerate() {
        if number % 2 == 0 {
            sample.text = fs::read_to_string(path(number)).unwrap();
        }
        let (result, refused) = edit("main.tf", sample);
        check_native(sample, &result, &refused);
        edits += usize::from(result != sample.text);
        refusals += refused.len();
        if number % 2 == 0 {
            fs::write(path(number), result).unwrap();
        }
    }
    println!("{edits} of {SAMPLES} files were edited, {refusals} attributes refused");
    assert!(edits > SAMPLES * 9 / 10, "only {edits} were edited");
    if !has_fmt {
        return;
    }
    let lost = fmt(folder.path(), &["-list=true", "-write=false"]).unwrap();
    if let Some(name) = lost.first() {
        let number: usize = name.trim_end_matches(".tf").parse().unwrap();
        let result = fs::read_to_string(path(number)).unwrap();
        panic!(
            "{} files lost their form, first {name}:\n{}\nbecame\n{result}",
            lost.len(),
            samples[number].text
        );
    }
}

#[test]
fn generated_json_files_change_in_what_is_meant() {
    let mut dice = Dice(29);
    let mut edits = 0;
    for _ in 0..SAMPLES {
        let sample = generated::json(&mut dice);
        let (result, refused) = edit("main.tf.json", &sample);
        edits += usize::from(result != sample.text);
        let context = || format!("\n{}\nbecame\n{result}\nrefused {refused:?}", sample.text);
        let read = |text: &str| -> serde_json::Value {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}{}", context()))
        };
        let (mut before, mut after) = (read(&sample.text), read(&result));
        for target in &sample.targets {
            let take = |document: &mut serde_json::Value| {
                let body = document.pointer_mut("/resource/t_x/n").unwrap().as_object_mut();
                body.unwrap().remove(&target.name)
            };
            let (old, new) = (take(&mut before), take(&mut after));
            if refused.iter().any(|it| it.starts_with(&target.name)) {
                continue;
            }
            // A text is a template there.
            let wanted = target.after.replace("${", "$${").replace("%{", "%%{");
            let wanted: serde_json::Value = serde_json::from_str(&wanted).unwrap();
            let found = new.unwrap_or_default();
            assert_eq!(found, wanted, "{} was {old:?}{}", target.name, context());
        }
        assert_eq!(before, after, "{}", context());
        let remarks = |text: &str| text.matches("\"//\"").count();
        assert_eq!(remarks(&sample.text), remarks(&result), "{}", context());
    }
    assert!(edits > SAMPLES * 8 / 10, "only {edits} were edited");
}

fn examples(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            examples(&path, found);
        } else if path.extension().is_some_and(|it| it == "tf") {
            found.push(path);
        }
    }
}

/// A plan in which every literal attribute of a resource drifted.
fn drift_of(text: &str) -> Vec<String> {
    let mut entries = Vec::new();
    for block in parse(text).get_blocks("resource") {
        let mut sides = [serde_json::Map::new(), serde_json::Map::new()];
        for attribute in block.body.attributes() {
            let Some(old) = value(text, &attribute.value) else { continue };
            let new = match &old {
                serde_json::Value::Number(_) => 4_711.into(),
                serde_json::Value::Bool(flag) => (!flag).into(),
                serde_json::Value::String(text) => format!("{text}-real").into(),
                _ => continue,
            };
            for (side, value) in sides.iter_mut().zip([old, new]) {
                side.insert(attribute.key.as_str().to_owned(), value);
            }
        }
        let [kind, name] = [0, 1].map(|at| block.labels[at].as_str());
        let [before, after] = sides.map(|it| serde_json::Value::Object(it).to_string());
        entries.push(format!(
            r#"{{"address":"{kind}.{name}","mode":"managed","type":"{kind}","name":"{name}","change":{{"actions":["update"],"before":{before},"after":{after},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        ));
    }
    entries
}

#[test]
fn every_example_keeps_its_form_under_every_kind_of_edit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut paths = Vec::new();
    examples(&root, &mut paths);
    let folder = tempfile::tempdir().unwrap();
    let mut edits = 0;
    for (number, path) in paths.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let drift = drift_of(&text);
        let changes: Vec<String> = drift
            .iter()
            .map(|entry| {
                // What apply would do: the sides the other way round.
                let mut entry: serde_json::Value = serde_json::from_str(entry).unwrap();
                let change = entry["change"].as_object_mut().unwrap();
                let (before, after) = (change["before"].clone(), change["after"].clone());
                change.insert("before".to_owned(), after);
                change.insert("after".to_owned(), before);
                entry.to_string()
            })
            .collect();
        let plan = format!(
            r#"{{"format_version":"1.2","terraform_version":"1.15.5","resource_drift":[{}],"resource_changes":[{}]}}"#,
            drift.join(","),
            changes.join(",")
        );
        for kind in [ProposalKind::Adopt, ProposalKind::Ignore, ProposalKind::Remove] {
            let files = BTreeMap::from([("main.tf".to_owned(), text.clone())]);
            let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
            let selection = Selection { kind, ..Selection::default() };
            let edited = propose_selected(
                &mut checked.report,
                &Configuration::of(files),
                &checked.secrets,
                &selection,
            );
            let Some(result) = edited.get("main.tf") else { continue };
            edits += 1;
            parse(result);
            fs::write(folder.path().join(format!("{number:03}-{}.tf", kind.name())), result)
                .unwrap();
        }
    }
    assert!(edits > 15, "only {edits} edits of {} files", paths.len());
    match fmt(folder.path(), &["-list=true", "-write=false"]) {
        Some(lost) => {
            let first =
                lost.first().map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
            assert!(lost.is_empty(), "{lost:?}\n{}", first.unwrap_or_default());
        }
        None => println!("skipped: no terraform on the path, the form was not judged"),
    }
}
