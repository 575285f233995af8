//! Rules that each answer is held against, besides those of plans and states.

use anyhow::{Result, bail, ensure};
use proto::tfplugin6::{self as pb, attribute_path::step::Selector, diagnostic::Severity};
use provider::framework::{
    Attribute, Kind, Nesting, Schema, Type, Value,
    conformance::{Violation, check_state},
};

use super::Stored;

/// The longest summary that fits a line of Terraform's output.
const SUMMARY_MAX: usize = 80;

/// What a call came to.
#[derive(Debug)]
pub enum Outcome<T> {
    Done(T),
    Refused(Refusal),
}

/// An error for the user.
#[derive(Debug)]
pub struct Refusal {
    /// The call that refused.
    pub call: &'static str,
    pub diagnostics: Vec<pb::Diagnostic>,
    /// What is stored all the same.
    pub left: Option<Stored>,
}

impl<T> Outcome<T> {
    /// What was done; an error when it was refused.
    pub fn done(self) -> Result<T> {
        match self {
            Self::Done(done) => Ok(done),
            Self::Refused(refusal) => {
                bail!("{} refused: {}", refusal.call, in_words(&refusal.diagnostics))
            }
        }
    }

    /// The refusal; an error when there was none.
    pub fn refused(self) -> Result<Refusal> {
        match self {
            Self::Done(_) => bail!("done, where a refusal was expected"),
            Self::Refused(refusal) => Ok(refusal),
        }
    }
}

impl Refusal {
    /// The top-level attributes that the errors are about; empty for the whole block.
    pub fn places(&self) -> Vec<&str> {
        let errors = self.diagnostics.iter().filter(|it| it.severity() == Severity::Error);
        errors.map(place).collect()
    }
}

fn place(diagnostic: &pb::Diagnostic) -> &str {
    let first = diagnostic.attribute.as_ref().and_then(|path| path.steps.first());
    match first.and_then(|step| step.selector.as_ref()) {
        Some(Selector::AttributeName(name)) => name,
        _ => "",
    }
}

/// The messages of an answer.
pub(super) struct Told {
    pub(super) call: &'static str,
    pub(super) diagnostics: Vec<pb::Diagnostic>,
}

impl Told {
    pub(super) fn is_refusal(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity() == Severity::Error)
    }

    pub(super) fn refused<T>(self, left: Option<Stored>) -> Outcome<T> {
        Outcome::Refused(Refusal { call: self.call, diagnostics: self.diagnostics, left })
    }

    pub(super) fn nothing_wrong(&self) -> Result<()> {
        ensure!(!self.is_refusal(), "{} refused: {}", self.call, in_words(&self.diagnostics));
        Ok(())
    }
}

fn in_words(diagnostics: &[pb::Diagnostic]) -> String {
    let words = |it: &pb::Diagnostic| format!("[{}] {}: {}", place(it), it.summary, it.detail);
    diagnostics.iter().map(words).collect::<Vec<_>>().join("\n")
}

/// Each message has a severity, a short summary, a detail that says more, and a place that is there;
/// none holds a secret.
pub(super) fn messages(
    schema: &Schema,
    diagnostics: &[pb::Diagnostic],
    secrets: &[String],
) -> Result<()> {
    for it in diagnostics {
        let words = in_words(std::slice::from_ref(it));
        ensure!(it.severity() != Severity::Invalid, "no severity: {words}");
        let summary = &it.summary;
        let is_short = (1..=SUMMARY_MAX).contains(&summary.chars().count());
        ensure!(is_short && !summary.contains('\n'), "a summary that is no short line: {words}");
        ensure!(it.detail.trim() != "" && it.detail != *summary, "no detail: {words}");
        let told = secrets.iter().any(|secret| words.contains(secret.as_str()));
        ensure!(!told, "a message of {summary:?} holds a secret");
        if let Some(path) = &it.attribute {
            ensure!(
                leads_somewhere(schema, path),
                "the place {path:?} is not in the schema: {words}"
            );
        }
    }
    Ok(())
}

/// Whether a path follows the schema: names to attributes, keys and indices into collections.
fn leads_somewhere(schema: &Schema, path: &pb::AttributePath) -> bool {
    enum At<'a> {
        Object(&'a [Attribute]),
        Objects(Nesting, &'a [Attribute]),
        Value(Type),
    }
    let mut at = At::Object(&schema.attributes);
    for step in &path.steps {
        let Some(selector) = &step.selector else { return false };
        at = match (at, selector) {
            (At::Object(attributes), Selector::AttributeName(name)) => {
                let Some(found) = attributes.iter().find(|it| it.name == name) else {
                    return false;
                };
                match &found.kind {
                    Kind::Value(ty) => At::Value(ty.clone()),
                    Kind::Nested(Nesting::Single, inner)
                    | Kind::Block(Nesting::Single | Nesting::Group, inner) => At::Object(inner),
                    Kind::Nested(nesting, inner) | Kind::Block(nesting, inner) => {
                        At::Objects(*nesting, inner)
                    }
                }
            }
            (At::Objects(Nesting::List, inner), Selector::ElementKeyInt(_))
            | (At::Objects(Nesting::Map, inner), Selector::ElementKeyString(_)) => {
                At::Object(inner)
            }
            (At::Value(Type::List(inner)), Selector::ElementKeyInt(_))
            | (At::Value(Type::Map(inner)), Selector::ElementKeyString(_)) => At::Value(*inner),
            _ => return false,
        };
    }
    !path.steps.is_empty()
}

/// Fails with the rules that are broken.
pub(super) fn clean(what: &str, violations: &[Violation]) -> Result<()> {
    let found: Vec<String> = violations.iter().map(ToString::to_string).collect();
    ensure!(found.is_empty(), "{what}: {}", found.join("; "));
    Ok(())
}

/// Bytes of a provider's own that no provider wrote.
pub(super) const MARKED: &[u8] = br#"{"of another version":true}"#;

/// The provider's own bytes are few, and those that it knows nothing of come back.
pub(super) fn private(what: &str, before: &[u8], after: &[u8]) -> Result<()> {
    const MOST: usize = 16 << 10;
    ensure!(after.len() <= MOST, "{what} keeps {} bytes of its own", after.len());
    ensure!(before != MARKED || after == MARKED, "{what} lost bytes of another version");
    Ok(())
}

/// What a data source found: there, known, and with all that was asked for as it was.
pub(super) fn data_source(schema: &Schema, config: &Value, state: &Value) -> Result<()> {
    ensure!(!state.is_null(), "a data source found null");
    clean("a data source's state", &check_state(schema, state))?;
    for (name, asked) in config.entries().filter(|(_, value)| !value.is_null()) {
        ensure!(state.get(name) == asked, "`{name}` is not as it was asked for");
    }
    Ok(())
}

/// What a path leads to; null where that is absent, nothing where the path fits no value.
pub(super) fn follow<'a>(value: &'a Value, path: &pb::AttributePath) -> Option<&'a Value> {
    let mut at = value;
    for step in &path.steps {
        at = match step.selector.as_ref()? {
            Selector::AttributeName(name) | Selector::ElementKeyString(name) => at.get(name),
            Selector::ElementKeyInt(index) => {
                at.elements().get(usize::try_from(*index).ok()?).unwrap_or(&Value::Null)
            }
        };
    }
    Some(at)
}

/// Where a new object is needed: places that are there and differ, each told once.
pub(super) fn replacement(
    schema: &Schema,
    paths: &[pb::AttributePath],
    (prior, planned): (&Value, &Value),
) -> Result<()> {
    ensure!(
        paths.is_empty() || !(prior.is_null() || planned.is_null()),
        "a creation or a deletion asks for replacement"
    );
    for (at, path) in paths.iter().enumerate() {
        ensure!(leads_somewhere(schema, path), "a replacement because of {path:?}: no such place");
        ensure!(!paths[..at].contains(path), "a replacement because of {path:?} twice");
        let sides = (follow(prior, path), follow(planned, path));
        let there = !matches!(sides, (Some(Value::Null), Some(Value::Null)));
        ensure!(
            there && sides.0 != sides.1,
            "a replacement because of {path:?}, which is the same"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::new("A thing.").attributes([
            Attribute::string("name", "Its name."),
            Attribute::value("tags", Type::set(Type::String), "Its tags."),
            Attribute::value("labels", Type::map(Type::String), "Its labels."),
            Attribute::nested(
                "parts",
                Nesting::List,
                "Its parts.",
                [Attribute::number("size", "How large.")],
            ),
        ])
    }

    fn path(selectors: impl IntoIterator<Item = Selector>) -> pb::AttributePath {
        let step = |selector| pb::attribute_path::Step { selector: Some(selector) };
        pb::AttributePath { steps: selectors.into_iter().map(step).collect() }
    }

    fn name(name: &str) -> Selector {
        Selector::AttributeName(name.to_owned())
    }

    #[test]
    fn a_place_is_one_of_the_schema() {
        let key = || Selector::ElementKeyString("a".to_owned());
        let index = || Selector::ElementKeyInt(0);
        for (selectors, leads) in [
            (vec![name("name")], true),
            (vec![name("labels"), key()], true),
            (vec![name("parts"), index(), name("size")], true),
            (vec![name("nme")], false),
            (vec![name("tags"), index()], false),
            (vec![name("parts"), name("size")], false),
            (vec![name("labels"), index()], false),
            (vec![], false),
        ] {
            assert_eq!(
                leads_somewhere(&schema(), &path(selectors.clone())),
                leads,
                "{selectors:?}"
            );
        }
    }

    fn message(summary: &str, detail: &str) -> pb::Diagnostic {
        pb::Diagnostic {
            severity: Severity::Error.into(),
            summary: summary.to_owned(),
            detail: detail.to_owned(),
            attribute: None,
        }
    }

    #[test]
    fn messages_that_are_none_are_found() {
        let good = message("No ink", "Buy some.");
        let secrets = ["hush".to_owned()];
        let check = |it: pb::Diagnostic| messages(&schema(), &[it], &secrets).is_ok();
        assert!(check(good.clone()));
        assert!(!check(message("", "Buy some.")));
        assert!(!check(message("No ink", "")));
        assert!(!check(message("No ink", "No ink")));
        assert!(!check(message("No\nink", "Buy some.")));
        assert!(!check(message(&"ink ".repeat(30), "Buy some.")));
        assert!(!check(message("No ink", "With the token hush there is none.")));
        assert!(!check(pb::Diagnostic { severity: 0, ..good.clone() }));
        assert!(!check(pb::Diagnostic { attribute: Some(path([name("nme")])), ..good }));
    }

    #[test]
    fn a_replacement_is_told_where_something_differs() {
        let thing = |text: &str| Value::object([("name", Value::from(text))]);
        let (one, two) = (thing("one"), thing("two"));
        let check = |paths: &[pb::AttributePath], sides: (&Value, &Value)| {
            replacement(&schema(), paths, sides).is_ok()
        };
        let at_name = path([name("name")]);
        assert!(check(std::slice::from_ref(&at_name), (&one, &two)));
        assert!(!check(&[at_name.clone(), at_name.clone()], (&one, &two)));
        assert!(!check(std::slice::from_ref(&at_name), (&one, &one)));
        assert!(!check(std::slice::from_ref(&at_name), (&Value::Null, &two)));
        assert!(!check(&[path([name("labels")])], (&one, &two)));
    }

    #[test]
    fn a_data_source_keeps_what_it_was_asked_for() {
        let full = |text: Value| {
            let mut full = Value::object(schema().attributes.iter().map(|a| (a.name, Value::Null)));
            full.set_attribute("name", text);
            full
        };
        let asked = full("a".into());
        assert!(data_source(&schema(), &asked, &full("a".into())).is_ok());
        assert!(data_source(&schema(), &asked, &full("b".into())).is_err());
        assert!(data_source(&schema(), &asked, &Value::Null).is_err());
        assert!(data_source(&schema(), &full(Value::Null), &full(Value::UNKNOWN)).is_err());
    }
}
