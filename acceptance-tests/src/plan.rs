//! What a plan's JSON says would be done.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use anyhow::{Context, Result};
use serde_json::Value;

/// What is planned for one resource. Reading and doing nothing are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Create,
    Update,
    Replace,
    Delete,
}

impl Action {
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "create" => Some(Self::Create),
            "update" => Some(Self::Update),
            "replace" => Some(Self::Replace),
            "delete" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// Actions by address.
pub type Actions = BTreeMap<String, Action>;

/// What `plan -json` told while it planned.
#[derive(Debug, Default)]
pub struct Planned {
    pub actions: Actions,
    /// Addresses of resources that were changed outside.
    pub drifted: Vec<String>,
    /// Summaries and details of all warnings and errors.
    pub said: String,
}

impl Planned {
    /// Reads lines of JSON; other lines tell nothing.
    pub fn read(lines: &str) -> Result<Self> {
        let mut planned = Self::default();
        for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let change = &line["change"];
            match line["type"].as_str() {
                Some("planned_change") => {
                    let action = Action::parse(change["action"].as_str().unwrap_or_default());
                    if let Some(action) = action {
                        planned.actions.insert(streamed_address(change)?, action);
                    }
                }
                Some("resource_drift") => planned.drifted.push(streamed_address(change)?),
                Some("diagnostic") => {
                    let told = &line["diagnostic"];
                    for part in ["summary", "detail"] {
                        let text = told[part].as_str().unwrap_or_default();
                        writeln!(planned.said, "{text}").unwrap_or_default();
                    }
                }
                _ => {}
            }
        }
        Ok(planned)
    }
}

fn streamed_address(change: &Value) -> Result<String> {
    Ok(change["resource"]["addr"].as_str().context("a change has no address")?.to_owned())
}

/// A plan, read from `show -json`.
#[derive(Debug)]
pub struct Plan {
    pub json: Value,
}

impl Plan {
    pub fn actions(&self) -> Result<Actions> {
        let mut actions = Actions::new();
        for change in self.list("resource_changes") {
            let verbs =
                change["change"]["actions"].as_array().context("a change has no actions")?;
            let action = match verbs.as_slice() {
                [one] => Action::parse(one.as_str().unwrap_or_default()),
                _ => Some(Action::Replace),
            };
            if let Some(action) = action {
                actions.insert(address(change)?, action);
            }
        }
        Ok(actions)
    }

    /// Addresses of resources that were changed outside.
    pub fn drifted(&self) -> Result<Vec<String>> {
        self.list("resource_drift").iter().map(address).collect()
    }

    /// For people: each attribute that a change or a drift is about, before and after.
    pub fn differences(&self) -> String {
        let changes = self.list("resource_changes").iter().chain(self.list("resource_drift"));
        let mut lines = String::new();
        for change in changes {
            let (before, after) = (&change["change"]["before"], &change["change"]["after"]);
            let unknown = &change["change"]["after_unknown"];
            let names = [before, after].into_iter().filter_map(Value::as_object).flatten();
            let names: BTreeSet<&String> = names.map(|(name, _)| name).collect();
            for name in names.into_iter().filter(|name| before[*name] != after[*name]) {
                let known =
                    if unknown[name].is_null() { after[name].to_string() } else { "?".into() };
                let (address, before) = (&change["address"], &before[name]);
                writeln!(lines, "{address} {name}: {before} -> {known}").unwrap_or_default();
            }
        }
        lines
    }

    fn list(&self, key: &str) -> &[Value] {
        self.json[key].as_array().map_or(&[], Vec::as_slice)
    }
}

fn address(change: &Value) -> Result<String> {
    Ok(change["address"].as_str().context("a change has no address")?.to_owned())
}
