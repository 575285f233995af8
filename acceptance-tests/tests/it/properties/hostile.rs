//! Configurations that nobody means well with: refused by validation or plan, at their place; or else
//! they hold, to the end.

use std::fmt;

use acceptance_tests::simulator::{
    Outcome, Refusal, Resource, Stored,
    configurations::{self, Terse},
    known::{Known, Scale},
};
use anyhow::{Context, Result, ensure};
use proptest::prelude::*;
use provider::framework::Value;

use super::Case;

#[derive(Clone)]
pub(super) struct Input(Value);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Terse(&self.0).fmt(f)
    }
}

pub(super) fn strategy(resource: &Resource<'_>, known: &'static Known) -> BoxedStrategy<Input> {
    let can_be_protected = resource.schema.attribute("deletion_protection").is_some();
    let fit = move |mut config: Value| {
        (known.touch)(&mut config, Scale::Idle);
        if can_be_protected {
            config.set_attribute("deletion_protection", false);
        }
        Input(config)
    };
    configurations::hostile(configurations::of(&resource.schema, known)).prop_map(fit).boxed()
}

pub(super) async fn defy(case: &Case<'_>, Input(config): &Input) -> Result<()> {
    let resource = &case.resource;
    let config = case.named(config);
    // What it refers to may come to be until it is applied, so a plan can not know.
    for (path, there) in case.known.choices {
        let named = config.get(path).as_str();
        if named.is_some_and(|named| *path != "name" && !there.contains(&named)) {
            return refused_or_planned(resource, &config).await;
        }
    }
    let planned = match resource.plan(&Stored::default(), &config).await? {
        Outcome::Done(planned) => planned,
        Outcome::Refused(refusal) => return placed(&refusal),
    };
    let stored = resource.apply(&planned, &config).await?.done().context("planned, and then")?;
    let planned = resource.plan(&stored, &Value::Null).await?.done()?;
    resource.apply(&planned, &Value::Null).await?.done()?;
    Ok(())
}

async fn refused_or_planned(resource: &Resource<'_>, config: &Value) -> Result<()> {
    match resource.plan(&Stored::default(), config).await? {
        Outcome::Done(_) => Ok(()),
        Outcome::Refused(refusal) => placed(&refusal),
    }
}

/// Each error says where.
fn placed(refusal: &Refusal) -> Result<()> {
    let places = refusal.places();
    ensure!(places.iter().all(|place| !place.is_empty()), "an error without a place: {refusal:?}");
    Ok(())
}
