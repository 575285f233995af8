//! A provider of crates in memory: the test subject for what is told of an object beside its state.
//! A crate's identity is its serial number, and the shelf it was first put on. Its name says what
//! happens to it: `wanders` (gets another serial when it is changed), `anonymous` (gets none),
//! `breaks` (its updates fail), `waits` (is put off).

use provider::framework::{
    Attribute, BoxFuture, Configure, Context, Create, DataSource, Deferral, Delete, Diagnostics,
    Failed, IdentityAttribute, IdentitySchema, IdentityUpgrade, Import, List, ListRequest, Listed,
    MoveSource, Path, Plan, Planned, Provider, Read, Reported, Resource, Schema, Sink, Update,
    Value,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Crates by serial number.
pub(crate) type Store = Arc<Mutex<BTreeMap<String, Value>>>;

#[derive(Default)]
pub(crate) struct Crates {
    pub(crate) store: Store,
}

struct Crate;
/// Of crates, but without identities.
struct Sack;
struct Crane;
struct Shelf;

impl Provider for Crates {
    type Client = Store;

    fn address(&self) -> &'static str {
        "registry.terraform.io/example/crates"
    }

    fn schema(&self) -> Schema {
        Schema::new("Crates.").attributes([Attribute::string("hall", "Where they are.")])
    }

    fn configure<'a>(
        &'a self,
        request: Configure<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Store>, Reported>> {
        let known = !request.config.get("hall").is_unknown();
        Box::pin(async move { Ok(known.then(|| self.store.clone())) })
    }

    fn resources(&self) -> &'static [&'static dyn Resource<Store>] {
        &[&Crate, &Sack]
    }

    fn data_sources(&self) -> &'static [&'static dyn DataSource<Store>] {
        &[&Crane]
    }

    fn list_resources(&self) -> &'static [&'static dyn List<Store>] {
        &[&Shelf]
    }
}

/// What is kept with a crate.
pub(crate) const TOUCHED: &str = "touched";

fn touch(context: &Context<Store>, by: &str) {
    let before = context.private().get(TOUCHED);
    let before = before.as_ref().and_then(|text| text.as_str()).unwrap_or_default();
    context.private().set(TOUCHED, format!("{before} {by}").trim_start());
}

fn schema() -> Schema {
    Schema::new("A crate.").attributes([
        Attribute::string("serial", "Its number.").computed().keep_prior(),
        Attribute::string("shelf", "Where it was first put.").computed().keep_prior(),
        Attribute::string("name", "What is written on it.").required(),
        Attribute::number("weight", "In kilograms.").default(1_u32),
        Attribute::bool("sealed", "Whether it is closed for good.").replace(),
    ])
}

impl Resource<Store> for Crate {
    fn type_name(&self) -> &'static str {
        "crates_crate"
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn identity(&self) -> Option<IdentitySchema> {
        let values = [
            IdentityAttribute::required("serial", "Its number."),
            IdentityAttribute::optional("shelf", "Where it was first put."),
        ];
        Some(IdentitySchema::new(values).version(2))
    }

    fn identity_upgrades(&self) -> &'static [IdentityUpgrade] {
        &[
            IdentityUpgrade {
                from: 0,
                schema: || IdentitySchema::new([IdentityAttribute::required("no", "Its number.")]),
                upgrade: |old, _| Ok(Value::object([("number", old.get("no").clone())])),
            },
            IdentityUpgrade {
                from: 1,
                schema: || {
                    IdentitySchema::new([IdentityAttribute::required("number", "Its number.")])
                        .version(1)
                },
                upgrade: |old, diagnostics| match old.text("number") {
                    "" => Err(diagnostics.error(Path::root(), "No number", "It has none.")),
                    number => Ok(Value::object([("serial", format!("c-{number}").into())])),
                },
            },
        ]
    }

    fn plan<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Plan<'a>,
        planned: &'a mut Planned,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            if request.config.is_null() || planned.state == *request.prior {
                return Ok(());
            }
            touch(context, "plan");
            match planned.state.text("name") {
                "waits" => drop(context.defer(Deferral::AbsentPrerequisite)),
                "wanders" if !request.prior.is_null() => {
                    planned.state.set_attribute("serial", "c-elsewhere");
                }
                _ => {}
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
            let found = {
                let store = context.client(diagnostics)?.lock().unwrap();
                store.get(request.prior.text("serial")).cloned()
            };
            if found.as_ref().is_some_and(|found| found.text("name") == "waits")
                && context.defer(Deferral::AbsentPrerequisite)
            {
                return Ok(Some(request.prior.clone()));
            }
            Ok(found)
        })
    }

    fn create<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Create<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move {
            let mut store = context.client(diagnostics)?.lock().unwrap();
            touch(context, "create");
            let serial = format!("c-{}", store.len() + 1);
            let mut made = request.planned.clone();
            made.set_attribute("serial", serial.as_str());
            made.set_attribute("shelf", "front");
            store.insert(serial, made.clone());
            match made.text("name") {
                "anonymous" => made.set_attribute("serial", Value::Null),
                "breaks at once" => {
                    let reported = diagnostics.error("name", "Broken", "It fell from the shelf.");
                    return Err(reported.keeping(made));
                }
                _ => {}
            }
            Ok(made)
        })
    }

    fn update<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Update<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move {
            let mut store = context.client(diagnostics)?.lock().unwrap();
            touch(context, "update");
            if request.planned.text("name") == "breaks" {
                return Err(diagnostics.error("name", "Broken", "It fell.").into());
            }
            store.insert(request.prior.text("serial").to_owned(), request.planned.clone());
            Ok(request.planned.clone())
        })
    }

    fn delete<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: Delete<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            if request.prior.text("name") == "breaks" {
                return Err(diagnostics.error("name", "Stuck", "It can't be moved."));
            }
            context.client(diagnostics)?.lock().unwrap().remove(request.prior.text("serial"));
            Ok(())
        })
    }

    fn move_from(
        &self,
        source: MoveSource<'_>,
        _diagnostics: &mut Diagnostics,
    ) -> Option<Result<Value, Reported>> {
        let serial = source.state.get("number").clone();
        Some(Ok(Value::object([("serial", serial), ("name", "moved".into())])))
    }
}

impl Resource<Store> for Sack {
    fn type_name(&self) -> &'static str {
        "crates_sack"
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn read<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Read<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Value>, Reported>> {
        Box::pin(async move { Ok(Some(request.prior.clone())) })
    }

    fn create<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Create<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move { Ok(request.planned.clone()) })
    }

    fn update<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Update<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(async move { Ok(request.planned.clone()) })
    }

    fn delete<'a>(
        &'a self,
        _context: &'a Context<Store>,
        _request: Delete<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move { Ok(()) })
    }

    fn import<'a>(
        &'a self,
        _context: &'a Context<Store>,
        request: Import<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            match request {
                Import::Id(serial) => Ok(Value::object([("serial", serial.into())])),
                Import::Identity(_) => {
                    Err(diagnostics.error(Path::root(), "Never asked", "Sacks have none."))
                }
            }
        })
    }
}

impl DataSource<Store> for Crane {
    fn type_name(&self) -> &'static str {
        "crates_crane"
    }

    fn schema(&self) -> Schema {
        Schema::new("What lifts crates.").attributes([
            Attribute::string("name", "Which one.").required(),
            Attribute::number("lifts", "In kilograms.").computed(),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Store>,
        _config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            context.client(diagnostics)?;
            Ok(Value::object([("lifts", 100_u32.into())]))
        })
    }
}

impl List<Store> for Shelf {
    fn type_name(&self) -> &'static str {
        "crates_crate"
    }

    fn schema(&self) -> Schema {
        Schema::new("Crates.").attributes([
            Attribute::string("name", "Only those of this name."),
            Attribute::string(
                "then",
                "What happens in the end: `warns`, `fails`, `panics`, `waits`.",
            ),
        ])
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        if config.text("name") == "none" {
            diagnostics.error("name", "No name", "`none` is none.");
        }
    }

    fn list<'a>(
        &'a self,
        context: &'a Context<Store>,
        request: ListRequest<'a>,
        sink: &'a mut dyn Sink,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?.clone();
            let found: Vec<(String, Value)> =
                client.lock().unwrap().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            let wanted = request.config.get("name");
            for (serial, state) in found {
                if wanted.is_set() && state.get("name") != wanted {
                    continue;
                }
                let anonymous = state.text("name") == "anonymous";
                let listed = Listed {
                    display_name: state.text("name").to_owned(),
                    identity: Value::object([
                        ("serial", if anonymous { Value::Null } else { serial.into() }),
                        ("shelf", state.get("shelf").clone()),
                    ]),
                    // Whether or not it is wanted.
                    state: Some(state),
                };
                if sink.send(listed).await.is_break() {
                    // Seen by tests: the list was ended from the other side.
                    client.lock().unwrap().insert("ended".to_owned(), Value::Null);
                    return Ok(());
                }
            }
            match request.config.text("then") {
                "warns" => diagnostics.warning("name", "More", "There may be more."),
                "fails" => return Err(diagnostics.error("name", "Dark", "The light went out.")),
                "panics" => panic!("no shelf"),
                "waits" => {
                    let _here = Mark(client);
                    std::future::pending::<()>().await;
                }
                _ => {}
            }
            Ok(())
        })
    }
}

/// Leaves a mark when it is dropped.
struct Mark(Store);

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.lock().unwrap().insert("dropped".to_owned(), Value::Null);
    }
}
