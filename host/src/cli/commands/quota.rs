//! `quota`: the tree of quotas, and whether what is booked is what is used.

use std::{collections::BTreeMap, fmt::Write as _};

use clap::{Args, Subcommand};
use proto::runtimecloud::v1::RecountQuotasRequest;
use serde_json::{Value, json};

use crate::cli::{
    Action,
    client::Filter,
    connection::Connect,
    failure::{Exit, Failure},
    kinds::{Declared, Resource, quota},
    output::Output,
    text,
};

/// Show the tree of quotas, or count anew what is used; `get`, `create` and `delete` do the rest
#[derive(Debug, Args)]
pub struct Quota {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Recount(Recount),
    Tree(Tree),
}

/// Show which quota lies under which, and what is used and borrowed of each
#[derive(Debug, Args)]
struct Tree {
    /// Only this quota and those under it
    quota: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Count anew what is used of every quota, and tell whether it is what was booked; if not, that is a
/// failure
#[derive(Debug, Args)]
struct Recount {
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Quota {
    async fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Recount(recount) => recount.run().await,
            What::Tree(tree) => tree.run().await,
        }
    }
}

impl Tree {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure("list quotas");
        let all = session.list(Declared::Quota, &Filter::default()).await.map_err(failure)?;
        let forest = Forest::new(&all);
        let roots = match &self.quota {
            Some(name) if !forest.quotas.contains_key(name.as_str()) => {
                let message = format!("there is no quota `{name}`");
                return Err(Failure::new(Exit::NotFound, message));
            }
            Some(name) => vec![name.as_str()],
            None => forest.under(""),
        };
        if self.output.is_json() {
            let trees: Vec<_> = roots.iter().map(|name| forest.json(name)).collect();
            return Ok(self.output.json(&Value::Array(trees))?);
        }
        let mut rows = Vec::new();
        for root in roots {
            forest.rows(root, ("", ""), &mut rows);
        }
        Ok(self.output.table(&["NAME", "USED", "BORROWED", "STATUS"], rows)?)
    }
}

/// Quotas by name, and which lie under which.
struct Forest<'a> {
    quotas: BTreeMap<&'a str, &'a Resource>,
}

impl<'a> Forest<'a> {
    fn new(all: &'a [Resource]) -> Self {
        Self { quotas: all.iter().map(|quota| (quota.key.as_str(), quota)).collect() }
    }

    /// Names of those directly under one; of those under none if it is empty.
    fn under(&self, parent: &str) -> Vec<&'a str> {
        let is_under = |quota: &Resource| {
            quota.spec.get("parent").and_then(Value::as_str).unwrap_or_default() == parent
        };
        self.quotas.iter().filter(|(_, it)| is_under(it)).map(|(name, _)| *name).collect()
    }

    fn rows(&self, name: &str, (line, below): (&str, &str), rows: &mut Vec<Vec<String>>) {
        let Some(quota) = self.quotas.get(name) else { return };
        let cells = quota::row(quota);
        let [used, borrowed] = [1, 2].map(|at| cells.get(at).cloned().unwrap_or_default());
        rows.push(vec![format!("{line}{name}"), used, borrowed, quota.standing()]);
        let children = self.under(name);
        for (index, child) in children.iter().enumerate() {
            let is_last = index + 1 == children.len();
            let (line, further) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.rows(child, (&format!("{below}{line}"), &format!("{below}{further}")), rows);
        }
    }

    fn json(&self, name: &str) -> Value {
        let mut quota = self.quotas.get(name).map_or(Value::Null, |quota| quota.json());
        let children = self.under(name).into_iter().map(|child| self.json(child)).collect();
        if let Some(fields) = quota.as_object_mut() {
            fields.insert("children".to_owned(), Value::Array(children));
        }
        quota
    }
}

impl Recount {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure("count what is used of quotas");
        let counted = session.quotas().recount(RecountQuotasRequest {}).await;
        let counted = counted.map_err(failure)?.into_inner();
        let shown = |resource: &str, amount| text::amount(resource, amount);
        if self.output.is_json() {
            let differences = counted.differences.iter().map(|it| {
                json!({
                    "quota": it.quota,
                    "resource": it.resource,
                    "booked": shown(&it.resource, it.booked),
                    "counted": shown(&it.resource, it.counted),
                })
            });
            self.output.json(&json!({
                "quotas": counted.quotas,
                "environments": counted.environments,
                "worker_pools": counted.worker_pools,
                "capacity_leases": counted.capacity_leases,
                "differences": differences.collect::<Vec<_>>(),
                "counted_at": text::time(counted.counted_at.as_ref()),
            }))?;
        }
        if !counted.differences.is_empty() {
            let mut message = "what was booked is not what is used; it was corrected:".to_owned();
            for it in &counted.differences {
                let (booked, used) =
                    (shown(&it.resource, it.booked), shown(&it.resource, it.counted));
                let (quota, resource) = (&it.quota, &it.resource);
                let _ = write!(
                    message,
                    "\n  quota `{quota}`, {resource}: {booked} booked, {used} used"
                );
            }
            return Err(Failure::new(Exit::Failed, message));
        }
        if self.output.is_json() {
            return Ok(());
        }
        Ok(self.output.line(&format!(
            "what is booked is what is used: {} quotas, {} environments, {} worker pools and {} granted \
             leases were counted",
            counted.quotas, counted.environments, counted.worker_pools, counted.capacity_leases
        ))?)
    }
}
