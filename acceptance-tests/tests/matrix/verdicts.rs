//! Each verdict of driftgate, brought about by really changing things outside, and found.

use std::fs;

use acceptance_tests::{
    cli::Cli,
    feature::{APPLYABLE, Feature, Release},
    world::World,
};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::story::{Told, lacks, told};

/// Something changed by hand, and what driftgate must say of the next plan.
struct Row {
    name: &'static str,
    /// Without which a plan does not tell.
    needs: Option<Feature>,
    by_hand: ByHand,
    /// The configuration afterwards; none: as it was.
    after: Option<&'static str>,
    /// How the plan is made.
    plan: &'static [&'static str],
    /// What the report must hold, in JSON: of an object the fields that are named, of a list all items.
    report: &'static str,
}

/// What somebody does to the environment `dev`.
pub(crate) enum ByHand {
    Nothing,
    /// What it is made to be.
    Declare(&'static str),
    Delete,
    /// It is deleted, and another one of the same name is made.
    MakeAgain(&'static str),
}

impl ByHand {
    pub(crate) fn change(&self, world: &World) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Declare(text) => declare(world, text),
            Self::Delete => delete(world),
            Self::MakeAgain(text) => {
                delete(world)?;
                declare(world, text)
            }
        }
    }
}

fn declare(world: &World, text: &str) -> Result<()> {
    let file = world.path().join("by_hand.hcl");
    fs::write(&file, text)?;
    let file = file.to_str().context("a path that is no text")?;
    world.host.operator(&["apply", "-f", file])?.succeeded()?;
    Ok(())
}

fn delete(world: &World) -> Result<()> {
    world.host.operator(&["delete", "environment", "dev"])?.succeeded()?;
    Ok(())
}

const BEFORE: &str = r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "first"
  variables   = { STAGE = "dev" }
}
"#;

/// The description was changed, and nothing else.
const DESCRIBED: ByHand = ByHand::Declare(
    r#"environment "dev" {
  description = "by hand"
  variables   = { STAGE = "dev" }
}
"#,
);

const ROWS: &[Row] = &[
    Row {
        name: "absorbed_since_the_configuration_agrees",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "by hand"
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"verdict": "drifted", "counts": {"drifted": 1, "actionable": 0, "planned": 0}, "findings": [{
            "outside": "changed", "outcome": "absorbed", "action": "no change", "one_way": false,
            "attributes": [{"path": "description", "outcome": "absorbed", "before": "first",
                "after": "by hand", "desired": "by hand"}], "pending": []}]}"#,
    },
    Row {
        name: "absorbed_since_it_is_ignored",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "first"
  variables   = { STAGE = "dev" }
  lifecycle { ignore_changes = [description] }
}
"#,
        ),
        plan: &[],
        report: r#"{"verdict": "drifted", "counts": {"actionable": 0}, "findings": [{
            "outcome": "absorbed", "attributes": [{"path": "description", "outcome": "absorbed"}]}]}"#,
    },
    Row {
        name: "clean_with_a_planned_change",
        needs: None,
        by_hand: ByHand::Nothing,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "second"
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"verdict": "clean", "reasons": [], "counts": {"drifted": 0, "planned": 1}, "findings": [],
            "planned": [{"address": "runtimecloud_environment.dev", "action": "update"}]}"#,
    },
    Row {
        name: "conflict_with_a_third_value",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "third"
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"verdict": "drifted", "findings": [{"outcome": "conflict", "action": "update",
            "attributes": [{"path": "description", "outcome": "conflict", "before": "first",
                "after": "by hand", "desired": "third"}], "pending": []}]}"#,
    },
    Row {
        name: "conflict_and_reverted_side_by_side",
        needs: None,
        by_hand: ByHand::Declare(
            r#"environment "dev" {
  description = "by hand"
  variables   = { STAGE = "hand", MORE = "1" }
}
"#,
        ),
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "third"
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"findings": [{"outcome": "conflict", "attributes": [
            {"path": "description", "outcome": "conflict"},
            {"path": "variables.MORE", "outcome": "reverted", "after": "1"},
            {"path": "variables.STAGE", "outcome": "reverted", "before": "dev", "after": "hand"}]}]}"#,
    },
    Row {
        name: "deleted_outside_and_wanted",
        needs: None,
        by_hand: ByHand::Delete,
        after: None,
        plan: &[],
        report: r#"{"verdict": "drifted", "findings": [{"outside": "deleted", "outcome": "reverted",
            "action": "create", "one_way": false, "attributes": []}]}"#,
    },
    Row {
        name: "deleted_outside_and_not_wanted",
        needs: Some(APPLYABLE),
        by_hand: ByHand::Delete,
        after: Some(""),
        plan: &[],
        report: r#"{"verdict": "drifted", "counts": {"actionable": 0}, "findings": [{"outside": "deleted",
            "outcome": "absorbed"}]}"#,
    },
    Row {
        name: "inconclusive_since_it_destroys_everything",
        needs: None,
        by_hand: DESCRIBED,
        after: None,
        plan: &["-destroy"],
        report: r#"{"verdict": "inconclusive", "reasons": [{"code": "destroy-plan"}], "findings": []}"#,
    },
    Row {
        name: "moved_and_reverted",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "new" {
  name        = "dev"
  description = "first"
  variables   = { STAGE = "dev" }
}

moved {
  from = runtimecloud_environment.dev
  to   = runtimecloud_environment.new
}
"#,
        ),
        plan: &[],
        report: r#"{"findings": [{"address": "runtimecloud_environment.new",
            "moved_from": "runtimecloud_environment.dev", "outcome": "reverted"}]}"#,
    },
    Row {
        name: "one_way_since_it_is_destroyed",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(""),
        plan: &[],
        report: r#"{"findings": [{"one_way": true, "action": "delete", "outcome": "conflict"}]}"#,
    },
    Row {
        name: "one_way_since_it_is_replaced",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "other"
  description = "first"
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"findings": [{"one_way": true, "action": "replace", "outcome": "reverted",
            "attributes": [{"path": "description", "outcome": "reverted"}], "pending": ["name"]}]}"#,
    },
    Row {
        name: "pending_beside_what_is_reverted",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "first"
  variables   = { STAGE = "prod" }
}
"#,
        ),
        plan: &[],
        report: r#"{"counts": {"planned": 1}, "findings": [{"outcome": "reverted", "attributes": [
            {"path": "description", "outcome": "reverted"}], "pending": ["variables.STAGE"]}]}"#,
    },
    Row {
        name: "reverted",
        needs: None,
        by_hand: DESCRIBED,
        after: None,
        plan: &[],
        report: r#"{"verdict": "drifted", "reasons": [], "counts": {"drifted": 1, "actionable": 1, "planned": 0},
            "findings": [{"address": "runtimecloud_environment.dev", "outside": "changed",
            "outcome": "reverted", "action": "update", "one_way": false, "moved_from": null,
            "attributes": [{"path": "description", "outcome": "reverted", "before": "first",
                "after": "by hand", "desired": "first"}], "pending": []}]}"#,
    },
    Row {
        name: "undecidable_since_it_is_known_after_apply",
        needs: None,
        by_hand: DESCRIBED,
        after: Some(
            r#"
resource "terraform_data" "word" {}

resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = terraform_data.word.id
  variables   = { STAGE = "dev" }
}
"#,
        ),
        plan: &[],
        report: r#"{"findings": [{"outcome": "undecidable", "attributes": [
            {"path": "description", "outcome": "undecidable", "desired_unknown": true}]}]}"#,
    },
    Row {
        name: "undecidable_since_the_plan_only_refreshes",
        needs: None,
        by_hand: DESCRIBED,
        after: None,
        plan: &["-refresh-only"],
        report: r#"{"verdict": "drifted", "findings": [{"outcome": "undecidable", "action": null,
            "attributes": [{"path": "description", "outcome": "undecidable"}]}]}"#,
    },
];

pub(crate) fn stories(release: Option<Release>) -> impl Iterator<Item = Told> {
    let story = move |row: &'static Row| Told {
        lacks: row.needs.and_then(|feature| lacks(release, feature)),
        ..told(format!("verdict::{}", row.name), |cli| row.holds(cli))
    };
    ROWS.iter().map(story)
}

impl Row {
    fn holds(&self, cli: &Cli) -> Result<()> {
        let world = World::new(cli)?;
        world.configure(BEFORE)?;
        world.apply()?;
        self.by_hand.change(&world)?;
        world.configure(self.after.unwrap_or(BEFORE))?;
        world.plan_as(self.plan)?;
        let report = world.driftgate(&["check", "plan.json", "--format", "json"])?;
        let report: Value =
            serde_json::from_str(&report.stdout).with_context(|| report.to_string())?;
        let expected: Value = serde_json::from_str(self.report)?;
        expect_within(&expected, &report, "the report").with_context(|| format!("{report:#}"))?;
        world.destroy()
    }
}

/// Fails unless all that is expected is there: other fields of an object do not matter.
fn expect_within(expected: &Value, found: &Value, at: &str) -> Result<()> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, expected) in expected {
                let found = found.get(name).unwrap_or(&Value::Null);
                expect_within(expected, found, &format!("{at}.{name}"))?;
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (position, (expected, found)) in expected.iter().zip(found).enumerate() {
                expect_within(expected, found, &format!("{at}[{position}]"))?;
            }
        }
        _ if expected == found => {}
        _ => bail!("{at} is {found}, not {expected}"),
    }
    Ok(())
}
