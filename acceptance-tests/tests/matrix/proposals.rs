//! Each proposal of driftgate, carried out as it says: afterwards nothing is left to do.

use std::fs;

use acceptance_tests::{cli::Cli, world::World};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{
    story::{Told, told},
    verdicts::ByHand,
};

const DEV: &str = "runtimecloud_environment.dev";

/// A way to settle what was changed by hand.
struct Row {
    name: &'static str,
    /// The configuration that was applied, by file.
    before: &'static [(&'static str, &'static str)],
    by_hand: ByHand,
    /// The configuration afterwards, where it was changed too.
    after: Option<&'static [(&'static str, &'static str)]>,
    kind: &'static str,
    /// What `propose` needs besides.
    with: &'static [&'static str],
    /// What is left to do after the commands of the proposal.
    then: &'static [&'static str],
}

const PLAIN: &[(&str, &str)] = &[(
    "main.tf",
    r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "first" # what it is for
  variables   = { STAGE = "dev" }
}
"#,
)];

/// The description and a variable were changed.
const CHANGED: ByHand = ByHand::Declare(
    r#"environment "dev" {
  description = "by hand: \"$${x}\""
  variables   = { STAGE = "hand", MORE = "1" }
}
"#,
);

const DESCRIBED: ByHand = ByHand::Declare(
    r#"environment "dev" {
  description = "by hand"
  variables   = { STAGE = "dev" }
}
"#,
);

const ROWS: &[Row] = &[
    Row {
        name: "adopt",
        before: PLAIN,
        by_hand: CHANGED,
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_a_deletion",
        before: PLAIN,
        by_hand: ByHand::Delete,
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_in_json",
        before: &[(
            "main.tf.json",
            r#"{
  "//": "What stands here stays.",
  "resource": {
    "runtimecloud_environment": {
      "dev": {
        "name": "dev",
        "description": "first",
        "variables": { "STAGE": "dev" }
      }
    }
  }
}
"#,
        )],
        by_hand: DESCRIBED,
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_in_a_heredoc",
        before: &[(
            "main.tf",
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = <<-EOT
    first
  EOT
  variables   = { STAGE = "dev" }
}
"#,
        )],
        by_hand: ByHand::Declare(
            "environment \"dev\" {\n  description = \"by\\nhand\\n\"\n  variables = { STAGE = \"dev\" }\n}\n",
        ),
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_in_a_local_value",
        before: &[(
            "main.tf",
            r#"
locals {
  purpose = "first"
}

resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = local.purpose
  variables   = { STAGE = "dev" }
}
"#,
        )],
        by_hand: DESCRIBED,
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_in_a_values_file",
        before: &[
            (
                "main.tf",
                r#"
variable "purpose" {
  type    = string
  default = "none"
}

resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = var.purpose
  variables   = { STAGE = "dev" }
}
"#,
            ),
            ("terraform.tfvars", "purpose = \"first\"\n"),
        ],
        by_hand: DESCRIBED,
        after: None,
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "adopt_in_place_of_a_third_value",
        before: PLAIN,
        by_hand: DESCRIBED,
        after: Some(&[(
            "main.tf",
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "third"
  variables   = { STAGE = "dev" }
}
"#,
        )]),
        kind: "adopt",
        with: &[],
        then: &[],
    },
    Row {
        name: "ignore",
        before: PLAIN,
        by_hand: CHANGED,
        after: None,
        kind: "ignore",
        with: &[],
        then: &[],
    },
    Row {
        name: "import",
        before: PLAIN,
        by_hand: ByHand::MakeAgain(
            "environment \"dev\" {\n  description = \"first\"\n  variables = { STAGE = \"dev\" }\n}\n",
        ),
        after: None,
        kind: "import",
        with: &["--id", "dev"],
        then: &["terraform apply -refresh-only", "terraform apply"],
    },
    Row {
        name: "move",
        before: PLAIN,
        by_hand: DESCRIBED,
        after: Some(&[(
            "main.tf",
            r#"
resource "runtimecloud_environment" "new" {
  name        = "dev"
  description = "first"
  variables   = { STAGE = "dev" }
}
"#,
        )]),
        kind: "move",
        with: &[],
        then: &["terraform apply"],
    },
    Row {
        name: "record",
        before: PLAIN,
        by_hand: DESCRIBED,
        after: Some(&[(
            "main.tf",
            r#"
resource "runtimecloud_environment" "dev" {
  name        = "dev"
  description = "by hand"
  variables   = { STAGE = "dev" }
}
"#,
        )]),
        kind: "record",
        with: &[],
        then: &[],
    },
    Row {
        name: "remove",
        before: PLAIN,
        by_hand: DESCRIBED,
        after: None,
        kind: "remove",
        with: &[],
        then: &[],
    },
    Row {
        name: "revert",
        before: PLAIN,
        by_hand: CHANGED,
        after: None,
        kind: "revert",
        with: &[],
        then: &[],
    },
    Row {
        name: "revert_a_deletion",
        before: PLAIN,
        by_hand: ByHand::Delete,
        after: None,
        kind: "revert",
        with: &[],
        then: &[],
    },
];

/// Kinds that edit the configuration before their commands are run.
const EDITS: &[&str] = &["adopt", "ignore", "import", "move", "remove"];

pub(crate) fn stories() -> impl Iterator<Item = Told> {
    ROWS.iter().map(|row| told(format!("proposal::{}", row.name), |cli| row.works(cli)))
}

impl Row {
    fn works(&self, cli: &Cli) -> Result<()> {
        let world = World::new(cli)?;
        configure(&world, self.before)?;
        world.apply()?;
        self.by_hand.change(&world)?;
        if let Some(after) = self.after {
            configure(&world, after)?;
        }
        world.plan_as(&[])?;
        let commands = self.commands(&world)?;
        if EDITS.contains(&self.kind) {
            let propose =
                ["propose", "plan.json", "--config-dir", ".", "--kind", self.kind, "--write"];
            let only = ["--only", DEV];
            world.driftgate(&[&propose[..], &only, self.with].concat())?.exited_with(0)?;
        }
        for command in commands.iter().map(String::as_str).chain(self.then.iter().copied()) {
            world.shell(command)?.succeeded()?;
        }
        let files = || -> Result<String> {
            let read = |entry: std::io::Result<fs::DirEntry>| fs::read_to_string(entry?.path());
            let files = fs::read_dir(world.config())?.map(read);
            Ok(files.filter_map(Result::ok).collect::<Vec<_>>().join("\n---\n"))
        };
        world
            .expect_empty_plan("after the proposal was carried out")
            .with_context(|| format!("the configuration is\n{}", files().unwrap_or_default()))?;
        world.destroy()
    }

    /// The commands of the proposal, as the report gives them.
    fn commands(&self, world: &World) -> Result<Vec<String>> {
        let check = ["check", "plan.json", "--config-dir", ".", "--format", "json"];
        let report: Value = serde_json::from_str(&world.driftgate(&check)?.stdout)?;
        let findings = report["findings"].as_array().into_iter().flatten();
        let proposals = findings.flat_map(|finding| finding["proposals"].as_array()).flatten();
        let found: Vec<_> = proposals.filter(|proposal| proposal["kind"] == self.kind).collect();
        ensure!(found.len() == 1, "not one proposal to {}: {report:#}", self.kind);
        let commands = found[0]["commands"].as_array().into_iter().flatten();
        let commands: Vec<String> =
            commands.filter_map(|command| Some(command.as_str()?.to_owned())).collect();
        let is_told = !commands.is_empty() || !self.then.is_empty();
        ensure!(is_told, "no command to {}: {report:#}", self.kind);
        Ok(commands)
    }
}

fn configure(world: &World, files: &[(&str, &str)]) -> Result<()> {
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    world.configure_files(&files)
}
