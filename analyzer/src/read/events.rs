//! The event stream of `plan -json` and `apply -json`: one line, one event.
//!
//! - It names what drifted and what is planned, but holds no values.
//! - It is complete only when each run in it ends with a summary of its plan; a line that is cut
//!   ends the stream.
//! - Lines that are no events are passed over.

use super::{
    Entry, ReadError,
    plan::{Header, Kind, Sink},
    source::Source,
    text::{self, decode},
};
use crate::{report::Reason, value::Value};
use std::{collections::BTreeMap, io};

/// How many messages of errors are kept.
const REMARKS_MAX: usize = 5;

/// Reads all events up to the end of the input, or up to a document of another kind.
pub(super) fn read_stream<R: io::Read>(
    source: &mut Source<R>,
    sink: &mut impl Sink,
) -> Result<Header, ReadError> {
    let mut stream = Stream { header: Header::default(), runs: 0, summaries: 0, sink };
    stream.header.kind = Kind::Stream;
    // An engine names its drift first; of several runs in one stream nothing is held back.
    stream.sink.drift_begins();
    "the event stream".clone_into(&mut source.section);
    loop {
        match source.take() {
            Ok(taken) => stream.event(taken.bytes)?,
            Err(ReadError::CutOff { .. }) => {
                stream.header.reasons.insert(Reason::Truncated);
                source.give_up();
                break;
            }
            Err(error) => return Err(error),
        }
        if !source.next_event()? {
            break;
        }
    }
    Ok(stream.finish())
}

struct Stream<'s, S> {
    header: Header,
    /// How many runs of the engine began, and how many made a plan.
    runs: usize,
    summaries: usize,
    sink: &'s mut S,
}

impl<S: Sink> Stream<'_, S> {
    fn event(&mut self, raw: &[u8]) -> Result<(), ReadError> {
        let event: BTreeMap<_, _> = text::fields(raw).collect();
        let field = |name: &str| event.get(name).copied().unwrap_or_default();
        match decode(field("type")).as_ref() {
            "version" => {
                self.runs += 1;
                self.header.is_tofu |= !field("tofu").is_empty();
                let version = [field("terraform"), field("tofu")].concat();
                self.header.terraform_version = Some(decode(&version).into_owned());
            }
            "resource_drift" => return entry(field("change"), |it| self.sink.announced(it)),
            "planned_change" => return entry(field("change"), |it| self.sink.change(it)),
            "change_summary" => self.summary(&text::value(field("changes"))),
            "outputs" => self.outputs(&text::value(field("outputs"))),
            "diagnostic" => self.diagnostic(&text::value(field("diagnostic"))),
            _ if field("@level") == b"\"error\"" && field("@policy").is_empty() => {
                self.header.reasons.insert(Reason::Errored);
            }
            _ => {}
        }
        Ok(())
    }

    fn summary(&mut self, changes: &Value) {
        let Value::Object(changes) = changes else { return };
        match changes.get("operation").map(Value::as_str) {
            // The first versions made plans only.
            None | Some(Some("plan")) => self.summaries += 1,
            Some(_) => self.remark(
                "the stream goes on with an apply, which may have changed what is reported here",
            ),
        }
    }

    /// What is planned for an output; an apply lists them again with their values.
    fn outputs(&mut self, outputs: &Value) {
        let Value::Object(outputs) = outputs else { return };
        for (name, output) in outputs {
            if let Some(action) = output.get("action").and_then(Value::as_str) {
                let verbs = verbs(action).iter().map(|&verb| Value::String(verb.to_owned()));
                let actions = Value::List(verbs.collect());
                self.sink.output(name, Value::Object([("actions".to_owned(), actions)].into()));
            }
        }
    }

    fn diagnostic(&mut self, diagnostic: &Value) {
        let text = |key| diagnostic.get(key).and_then(Value::as_str).unwrap_or_default();
        let summary = text("summary");
        if text("severity") == "error" {
            self.header.reasons.insert(Reason::Errored);
            self.remark(&format!("planning failed: {summary}"));
        } else if summary.contains("targeting is in effect") {
            self.header.reasons.insert(Reason::Targeted);
        }
    }

    fn remark(&mut self, remark: &str) {
        let remarks = &mut self.header.remarks;
        if remarks.len() < REMARKS_MAX && !remarks.iter().any(|known| known == remark) {
            remarks.push(remark.to_owned());
        }
    }

    fn finish(mut self) -> Header {
        if self.summaries < self.runs.max(1) && !self.header.reasons.contains(&Reason::Errored) {
            self.header.reasons.insert(Reason::Truncated);
        }
        if self.runs > 1 {
            let remark = "the stream holds more than one run; what has the same address in \
                          several of them is not told apart";
            self.remark(remark);
        }
        self.header
    }
}

/// Hands on a change of the stream in the form in which a plan has it.
fn entry(
    change: &[u8],
    hand_on: impl FnOnce(&Entry<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let change: BTreeMap<_, _> = text::fields(change).collect();
    let part = |of: &str| -> BTreeMap<_, _> {
        text::fields(change.get(of).copied().unwrap_or_default()).collect()
    };
    let (resource, previous) = (part("resource"), part("previous_resource"));
    let relative = decode(resource.get("resource").copied().unwrap_or_default()).into_owned();
    let mode = ["data", "ephemeral"]
        .into_iter()
        .find(|mode| relative.strip_prefix(mode).is_some_and(|rest| rest.starts_with('.')));
    let action = decode(change.get("action").copied().unwrap_or_default()).into_owned();
    let mut document = format!(r#"{{"mode":"{}""#, mode.unwrap_or("managed")).into_bytes();
    let mut add = |key: &str, value: Option<&&[u8]>| {
        if let Some(value) = value {
            document.extend_from_slice(format!(",\"{key}\":").as_bytes());
            document.extend_from_slice(value);
        }
    };
    add("address", resource.get("addr"));
    add("previous_address", previous.get("addr"));
    add("module_address", resource.get("module"));
    add("type", resource.get("resource_type"));
    add("name", resource.get("resource_name"));
    add("index", resource.get("resource_key"));
    add("provider_name", resource.get("implied_provider"));
    let word = decode(change.get("reason").copied().unwrap_or_default());
    add("action_reason", Some(&format!("\"{}\"", reason(&word)).as_bytes()));
    let actions = format!("{{\"actions\":[\"{}\"]", verbs(&action).join("\",\""));
    add("change", Some(&actions.as_bytes()));
    match change.get("importing") {
        Some(importing) => add("importing", Some(importing)),
        None if action == "import" => add("importing", Some(&&b"{}"[..])),
        None => {}
    }
    document.extend_from_slice(b"}}");
    Entry::find(&document).map_or(Ok(()), |entry| hand_on(&entry))
}

/// The verbs of a plan for a word of the stream.
fn verbs(action: &str) -> &'static [&'static str] {
    match action {
        "noop" | "move" | "import" => &["no-op"],
        "create" => &["create"],
        "read" => &["read"],
        "update" => &["update"],
        "replace" => &["delete", "create"],
        "delete" => &["delete"],
        "remove" | "forget" => &["forget"],
        "open" => &["open"],
        _ => &["unknown"],
    }
}

/// The reason in the words of a plan; the filter of what is known comes later.
fn reason(reason: &str) -> &str {
    match reason {
        "tainted" => "replace_because_tainted",
        "requested" => "replace_by_request",
        "replace_triggered_by" => "replace_by_triggers",
        "cannot_update" => "replace_because_cannot_update",
        other if other.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()) => other,
        _ => "",
    }
}
