//! A provider of notes in memory: the framework's test subject. A note's name says what happens to
//! it: `fails late`, `panics`, `hangs`, `forgets` (a value) or `lies` (about its size).

use provider::framework::{
    Attribute, BoxFuture, Configure, Context, Create, DataSource, Delete, Diagnostics, Failed,
    Import, MoveSource, Nesting, Path, Plan, Planned, Provider, Read, Reported, Resource, Schema,
    Type, Update, Upgrade, Validator, Value, timeouts,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Notes by id, as the remote end holds them.
pub(crate) type Store = Arc<Mutex<BTreeMap<String, Value>>>;

#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) store: Store,
}

struct Note;
struct Finder;

impl Provider for Notes {
    type Client = Store;

    fn address(&self) -> &'static str {
        "registry.terraform.io/example/notes"
    }

    fn schema(&self) -> Schema {
        Schema::new("Notes.").attributes([Attribute::string("shelf", "Where they are.")])
    }

    fn configure<'a>(
        &'a self,
        request: Configure<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Store>, Reported>> {
        let known = !request.config.get("shelf").is_unknown();
        Box::pin(async move { Ok(known.then(|| self.store.clone())) })
    }

    fn resources(&self) -> &'static [&'static dyn Resource<Store>] {
        &[&Note]
    }

    fn data_sources(&self) -> &'static [&'static dyn DataSource<Store>] {
        &[&Finder]
    }
}

pub(crate) fn same_in_lower_case(a: &Value, b: &Value) -> bool {
    a.as_str().map(str::to_lowercase) == b.as_str().map(str::to_lowercase)
}

fn upper(value: &Value) -> Value {
    match value {
        Value::String(text) => text.to_uppercase().into(),
        Value::Map(entries) => Value::map(entries.iter().map(|(k, v)| (k.clone(), upper(v)))),
        other => other.clone(),
    }
}

/// What the remote end makes of a note: it writes in capitals, knows no empty collections, and
/// counts revisions.
fn answer(id: &str, note: &Value, revision: u32) -> Value {
    let mut kept = note.clone();
    kept.set_attribute("id", id);
    kept.set_attribute("revision", revision);
    kept.set_attribute("text", upper(note.get("text")));
    kept.set_attribute("labels", upper(note.get("labels")));
    for name in ["labels", "tags"] {
        if kept.get(name).elements().is_empty() && kept.get(name).entries().next().is_none() {
            kept.set_attribute(name, Value::Null);
        }
    }
    if let Value::List(parts) = note.get("parts") {
        let costed = parts.iter().map(|part| {
            let mut part = part.clone();
            part.set_attribute("cost", 7_u32);
            part
        });
        kept.set_attribute("parts", Value::list(costed.collect::<Vec<_>>()));
    }
    kept
}

impl Resource<Store> for Note {
    fn type_name(&self) -> &'static str {
        "notes_note"
    }

    fn schema(&self) -> Schema {
        Schema::new("A note.").version(2).attributes([
            Attribute::string("id", "Chosen by the store.").computed().keep_prior(),
            Attribute::number("revision", "Counts changes.").computed(),
            Attribute::string("name", "Unique.")
                .required()
                .replace()
                .check(Validator::length(1..=20)),
            Attribute::string("text", "What it says.").equal(same_in_lower_case),
            Attribute::number("size", "How large; 1 if left out.").default(1_u32),
            Attribute::value("labels", Type::map(Type::String), "Words.").equal(same_in_lower_case),
            Attribute::value("tags", Type::set(Type::String), "Marks."),
            Attribute::string("secret", "Never stored.").write_only(),
            Attribute::nested(
                "parts",
                Nesting::List,
                "Its parts.",
                [
                    Attribute::string("name", "Its name.").required(),
                    Attribute::number("cost", "What it costs.").computed().keep_prior(),
                    Attribute::string("color", "Its color; `red` if left out.").default("red"),
                ],
            ),
            timeouts(),
        ])
    }

    fn upgrades(&self) -> &'static [Upgrade] {
        &[
            Upgrade {
                from: 0,
                schema: || {
                    Schema::new("A note, first form.").attributes([
                        Attribute::string("id", "Its id.").computed(),
                        Attribute::string("title", "Its name.").required(),
                    ])
                },
                upgrade: |old, _| {
                    let (id, title) = (old.get("id").clone(), old.get("title").clone());
                    Ok(Value::object([("id", id), ("label", title)]))
                },
            },
            Upgrade {
                from: 1,
                schema: || {
                    Schema::new("A note, second form.").attributes([
                        Attribute::string("id", "Its id.").computed(),
                        Attribute::string("label", "Its name.").required(),
                    ])
                },
                upgrade: |old, _| {
                    let (id, label) = (old.get("id").clone(), old.get("label").clone());
                    Ok(Value::object([("id", id), ("name", label), ("size", 1_u32.into())]))
                },
            },
        ]
    }

    fn plan<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Plan<'a>,
        planned: &'a mut Planned,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            if planned.state.is_null() && request.prior.text("text") == "precious" {
                diagnostics.warning("text", "Precious", "It is about to go.");
            }
            if request.config.text("name") == "panics" {
                panic!("no such page");
            }
            Ok(())
        })
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Read<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Value>, Reported>> {
        Box::pin(async move {
            let store = context.client(diagnostics)?.lock().unwrap();
            Ok(store.get(request.prior.text("id")).cloned())
        })
    }

    fn create<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Create<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move {
            let store = context.client(diagnostics)?;
            let name = request.planned.text("name");
            let id = format!("note-{name}");
            let mut note = answer(&id, request.planned, 1);
            if name == "hangs" {
                context.stopped().await;
                let reported =
                    diagnostics.error(Path::root(), "Interrupted", "The note is not finished.");
                return Err(reported.keeping(Value::object([("id", id.into())])));
            }
            if name == "fails late" {
                let reported = diagnostics.error("text", "No ink", "The text was not written.");
                return Err(reported.keeping(Value::object([("id", id.into())])));
            }
            if name == "forgets" {
                note.set_attribute("revision", Value::UNKNOWN);
            }
            if name == "lies" {
                note.set_attribute("size", 99_u32);
            }
            store.lock().unwrap().insert(id, note.clone());
            Ok(note)
        })
    }

    fn update<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Update<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move {
            let store = context.client(diagnostics)?;
            let id = request.prior.text("id");
            let revision = request.prior.get("revision").as_u32().unwrap_or(0) + 1;
            if request.planned.text("text") == "unwritable" {
                return Err(diagnostics.error("text", "No ink", "Nothing was changed.").into());
            }
            let note = answer(id, request.planned, revision);
            store.lock().unwrap().insert(id.to_owned(), note.clone());
            Ok(note)
        })
    }

    fn delete<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Delete<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            context.client(diagnostics)?.lock().unwrap().remove(request.prior.text("id"));
            Ok(())
        })
    }

    fn import<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Import<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            match request {
                Import::Id(id) if id.starts_with("note-") => Ok(Value::object([("id", id.into())])),
                Import::Id(_) | Import::Identity(_) => {
                    Err(diagnostics.error(Path::root(), "Not an id", "An id is `note-NAME`."))
                }
            }
        })
    }

    fn move_from(
        &self,
        source: MoveSource<'_>,
        _diagnostics: &mut Diagnostics,
    ) -> Option<Result<Value, Reported>> {
        (source.type_name == "paper_sheet").then(|| {
            Ok(Value::object([
                ("id", source.state.get("number").clone()),
                ("name", "moved".into()),
            ]))
        })
    }
}

impl DataSource<Store> for Finder {
    fn type_name(&self) -> &'static str {
        "notes_note"
    }

    fn schema(&self) -> Schema {
        Schema::new("Finds a note.").attributes([
            Attribute::string("id", "Its id.").required(),
            Attribute::string("name", "Its name.").computed(),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Store>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            let found = {
                let store = context.client(diagnostics)?.lock().unwrap();
                store.get(config.text("id")).map(|note| note.get("name").clone())
            };
            match found {
                Some(name) => Ok(Value::object([("name", name)])),
                None => Err(diagnostics.error("id", "No such note", "There is none of this id.")),
            }
        })
    }
}
