//! A whole life: created from a plan with unknowns, nothing to do, read, imported, generated, changed
//! or replaced, protected, deleted.

use std::fmt;

use acceptance_tests::simulator::{
    Action, Listing, Planned, Resource, Stored,
    configurations::{self, Terse, blurred},
    known::{Known, Scale},
};
use anyhow::{Context, Result, ensure};
use proptest::{collection, prelude::*};
use provider::{data_sources::DATA_SOURCES, framework::Value, list_resources::LIST_RESOURCES};

use super::Case;

#[derive(Clone)]
pub(super) struct Input {
    /// What it is first, and what then.
    configs: [Value; 2],
    /// Which values are not known at first, one attribute after the other.
    unknown: Vec<bool>,
    scale: Scale,
}

impl fmt::Debug for Input {
    /// As little as will do: it is read when a case fails.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { configs: [first, second], unknown, scale } = self;
        let [first, second] = [first, second].map(|config| format!("{:?}", Terse(config)));
        write!(f, "{first}\nthen {second}\nunknown {unknown:?}, {scale:?}")
    }
}

pub(super) fn strategy(resource: &Resource<'_>, known: &'static Known) -> BoxedStrategy<Input> {
    let config = || configurations::of(&resource.schema, known);
    let scale = prop_oneof![60 => Just(Scale::Idle), 1 => Just(Scale::Running)];
    let rules = resource.rules();
    let can_be_protected = resource.schema.attribute("deletion_protection").is_some();
    (config(), config(), collection::vec(any::<bool>(), 1..20), scale)
        .prop_map(move |(mut first, mut second, unknown, scale)| {
            (known.touch)(&mut first, scale);
            (known.touch)(&mut second, scale);
            // Or else it could be neither replaced nor deleted.
            if can_be_protected {
                first.set_attribute("deletion_protection", false);
            }
            Input { configs: [first, second], unknown, scale }
        })
        .prop_filter("a rule is broken", move |input| {
            input.configs.iter().all(|it| rules.allow(it))
        })
        .boxed()
}

pub(super) async fn live(case: &Case<'_>, input: &Input) -> Result<()> {
    let resource = &case.resource;
    let [first, second] = [&input.configs[0], &input.configs[1]].map(|config| case.named(config));
    let nothing = Stored::default();
    let state = change(resource, &nothing, &first, &input.unknown).await.context("created")?.1;
    let state = state.marked();
    rest(resource, &state, &first).await.context("after the creation")?;
    import(case, &state, &first).await.context("imported")?;
    look(case, &state).await.context("looked at")?;
    list(case, &state).await.context("listed")?;
    let (planned, state) =
        change(resource, &state, &second, &input.unknown).await.context("changed")?;
    let renamed = first.get("name") != second.get("name");
    ensure!(!renamed || planned.action == Action::Replace, "a new name, and no replacement");
    rest(resource, &state, &second).await.context("after the change")?;
    end(resource, state, second).await.context("deleted")
}

/// Plans with some of it unknown, then carries it out with all known.
async fn change(
    resource: &Resource<'_>,
    prior: &Stored,
    config: &Value,
    unknown: &[bool],
) -> Result<(Planned, Stored)> {
    let before = resource.plan(prior, &blurred(config, unknown)).await?.done()?;
    // What asks for a new object may not be known yet: Terraform then plans the other way.
    let planned = resource.plan(prior, config).await?.done()?;
    let planned = if before.action == planned.action { before } else { planned };
    let stored = resource.apply(&planned, config).await?.done()?;
    Ok((planned, stored))
}

/// Nothing is to do, and nothing has drifted.
async fn rest(resource: &Resource<'_>, stored: &Stored, config: &Value) -> Result<()> {
    let read = resource.refresh(stored).await?.done()?;
    ensure!(read == *stored, "drifted from {:?} to {:?}", Terse(&stored.state), Terse(&read.state));
    let planned = resource.plan(&read, config).await?.done()?;
    ensure!(
        planned.action == Action::NoOp,
        "from {:?} a plan leads to {:?}",
        Terse(&stored.state),
        Terse(&planned.state)
    );
    Ok(())
}

/// Importing gives an empty plan, but for what only the configuration knows.
async fn import(case: &Case<'_>, stored: &Stored, config: &Value) -> Result<()> {
    let resource = &case.resource;
    let mut config = without_empty(config);
    for local in case.known.local {
        config.set_attribute(local, Value::Null);
    }
    let state = &stored.state;
    let name = match case.known.parent {
        Some(parent) => format!("{}/{}", state.text(parent), state.text("name")),
        None => state.text("name").to_owned(),
    };
    let mut imports = vec![
        (name.clone(), resource.import(&name).await?),
        (state.text("id").to_owned(), resource.import(state.text("id")).await?),
    ];
    if !stored.identity.is_null() {
        let imported = resource.import_by_identity(&stored.identity).await?;
        imports.push(("its identity".to_owned(), imported));
    }
    for (key, imported) in imports {
        let imported = imported.done().with_context(|| format!("by `{key}`"))?;
        ensure!(imported.identity == stored.identity, "another identity by `{key}`");
        let planned = resource.plan(&imported, &config).await?.done()?;
        ensure!(
            planned.action == Action::NoOp,
            "from {:?} a plan leads to {:?}",
            Terse(&imported.state),
            Terse(&planned.state)
        );
        let generated = resource.generate(&imported).await?.done()?;
        let planned = resource.plan(&imported, &generated).await?.done().context("generated")?;
        ensure!(
            planned.action == Action::NoOp,
            "{:?} leads to {:?}",
            Terse(&generated),
            Terse(&planned.state)
        );
    }
    Ok(())
}

/// The data source of the same type finds it, by id and by name, as it is declared.
async fn look(case: &Case<'_>, stored: &Stored) -> Result<()> {
    let Some(source) = DATA_SOURCES.iter().find(|it| it.type_name() == case.known.type_name) else {
        return Ok(());
    };
    let nulls = source.schema().attributes.into_iter().map(|it| (it.name, Value::Null));
    let nothing = Value::object(nulls);
    let by_name = ["name"].into_iter().chain(case.known.parent);
    for key in [vec!["id"], by_name.collect()] {
        let mut config = nothing.clone();
        for name in &key {
            config.set_attribute(name, stored.state.get(name).clone());
        }
        let found = case.simulator.read_data_source(case.known.type_name, &config).await?.done()?;
        for name in ["id", "name", "labels_all", "deletion_protection"] {
            let same = found.get(name) == stored.state.get(name) || found.get(name).is_null();
            ensure!(same, "by {key:?} another `{name}`: {:?}", Terse(&found));
        }
    }
    Ok(())
}

/// It is among the objects of its type, with the state that an import finds.
async fn list(case: &Case<'_>, stored: &Stored) -> Result<()> {
    let ty = case.known.type_name;
    if !LIST_RESOURCES.iter().any(|it| it.type_name() == ty) {
        return Ok(());
    }
    let listing = Listing { given: &[], limit: 10_000, with_states: true };
    let found = case.simulator.list(ty, listing).await?.done()?;
    let own = found.into_iter().find(|it| it.identity == stored.identity).context("not found")?;
    let imported = case.resource.import_by_identity(&stored.identity).await?.done()?;
    ensure!(own.state == imported.state, "listed as {:?}", Terse(&own.state));
    let few = Listing { limit: 1, with_states: false, ..listing };
    ensure!(case.simulator.list(ty, few).await?.done()?.len() == 1, "not one, where one is wanted");
    Ok(())
}

/// Protected as long as it says so; then deleted, which is seen, and is no error once more.
async fn end(resource: &Resource<'_>, stored: Stored, mut config: Value) -> Result<()> {
    let mut stored = stored;
    if stored.state.get("deletion_protection").as_bool() == Some(true) {
        let refusal = resource.plan(&stored, &Value::Null).await?.refused()?;
        ensure!(refusal.places() == ["deletion_protection"], "refused with {refusal:?}");
        config.set_attribute("deletion_protection", false);
        stored = change(resource, &stored, &config, &[false]).await?.1;
    }
    let planned = resource.plan(&stored, &Value::Null).await?.done()?;
    ensure!(planned.action == Action::Delete, "a deletion is planned as {planned:?}");
    resource.apply(&planned, &Value::Null).await?.done()?;
    let read = resource.refresh(&stored).await?.done()?;
    ensure!(read == Stored::default(), "deleted, and still there: {read:?}");
    resource.apply(&planned, &Value::Null).await?.done().context("once more")?;
    Ok(())
}

/// Empty strings and collections left out: the host does not tell the one from the other.
fn without_empty(config: &Value) -> Value {
    match config {
        Value::Map(entries) if entries.is_empty() => Value::Null,
        Value::String(text) if text.is_empty() => Value::Null,
        Value::Object(_) => {
            Value::object(config.entries().map(|(name, value)| (name, without_empty(value))))
        }
        value => value.clone(),
    }
}
