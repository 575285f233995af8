//! What can be said of a new resource by arguments. They become the same tree as a file does, so that
//! both are read by the same rules.

use clap::Args;

use super::Way;
use crate::cli::{
    commands::{pair, subscription::new_secret},
    document::{
        Entry, Node, Value,
        fields::{Fields, Found},
    },
    kinds::{Declared, Desired, Spec},
};

type Pair = (String, String);
/// What to create and how, or what is wrong.
type Asked = Result<(Way, Desired), Vec<String>>;

/// Create a capacity target: somewhere workers can run
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Its name
    name: String,
    /// How workers are run
    #[arg(long, default_value = "process", value_parser = ["process"])]
    driver: String,
    /// All that workers may use here together, such as `cpu=2` or `memory=4Gi`
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    capacity: Vec<Pair>,
    /// Place no workers here
    #[arg(long)]
    cordoned: bool,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create a capacity lease: the right to use some of an environment's quota, for a time
#[derive(Debug, Args)]
pub(super) struct Lease {
    /// Its environment and its name
    #[arg(value_name = "ENVIRONMENT/NAME")]
    name: String,
    /// What may be used, such as `cpu=2`, `memory=4Gi` or `workers=3`
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair, required = true)]
    amount: Vec<Pair>,
    /// How long it lives unless it is renewed; until it is released if left out
    #[arg(long, value_name = "TIME")]
    ttl: Option<String>,
    /// How long it lives at most, however often it is renewed
    #[arg(long, value_name = "TIME")]
    max_life: Option<String>,
    /// How long it may wait in line for its grant; it is refused at once if left out
    #[arg(long, value_name = "TIME")]
    max_wait: Option<String>,
    /// A higher one stands before a lower one in line
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// Whether it gives back what it borrows when the owner of a share waits for it
    #[arg(long, default_value = "never", value_parser = ["never", "reclaimable"])]
    preemption: String,
    /// Who uses it
    #[arg(long)]
    holder: Option<String>,
    /// What it is for
    #[arg(long)]
    purpose: Option<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create an environment: a place for worker pools
#[derive(Debug, Args)]
pub(super) struct Environment {
    /// Its name
    name: String,
    /// The quota that its pools count against
    #[arg(long)]
    quota: Option<String>,
    /// Place workers only on capacity targets with this label
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    target_selector: Vec<Pair>,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    /// An environment variable of all its workers
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    variable: Vec<Pair>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create an event subscription: where events are posted to, signed
#[derive(Debug, Args)]
pub(super) struct Subscription {
    /// Its name
    name: String,
    /// Where events are posted to
    #[arg(long)]
    url: String,
    /// What signs: `whsec_` and 24 to 64 bytes in base64; one is made and shown if it is left out
    #[arg(long, env = "RUNTIMECLOUD_WEBHOOK_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only events about the thing with this id
    #[arg(long = "subject", value_name = "ID")]
    subjects: Vec<String>,
    /// Only events about this environment and what lies in it
    #[arg(long = "environment", value_name = "NAME")]
    environments: Vec<String>,
    /// How long one attempt may take
    #[arg(long, value_name = "TIME")]
    attempt_timeout: Option<String>,
    /// How often an event is tried before it becomes a dead letter
    #[arg(long, value_name = "NUMBER")]
    max_attempts: Option<u32>,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create a quota: how much may be used
#[derive(Debug, Args)]
pub(super) struct Quota {
    /// Its name
    name: String,
    /// A limit that is never exceeded, such as `cpu=2`, `memory=4Gi` or `workers=20`
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    limit: Vec<Pair>,
    /// A limit that can be exceeded, and then is reported
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    soft_limit: Vec<Pair>,
    /// The quota that it lies under
    #[arg(long, value_name = "QUOTA")]
    parent: Option<String>,
    /// What is its own of what the parent has
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    share: Vec<Pair>,
    /// How much more than its share it may use; as much as there is if left out
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    borrowing: Vec<Pair>,
    /// How much of what it leaves unused others may use; all of it if left out
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    lending: Vec<Pair>,
    /// How long leases live on that are reclaimed for a share under it
    #[arg(long, value_name = "TIME")]
    reclaim_notice: Option<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create a service account: a program that calls, with a role of its own
#[derive(Debug, Args)]
pub(super) struct Account {
    /// Its name
    name: String,
    /// What its tokens may do: look (viewer), change all but service accounts and tokens (editor), or
    /// everything (admin)
    #[arg(long, value_parser = ["viewer", "editor", "admin"])]
    role: String,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    /// Accept none of its tokens until this is taken back
    #[arg(long)]
    disabled: bool,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

/// Create a worker pool: so many workers of one kind
#[derive(Debug, Args)]
pub(super) struct Pool {
    /// Its environment and its name
    #[arg(value_name = "ENVIRONMENT/NAME")]
    name: String,
    /// How many workers there shall be
    #[arg(long, default_value_t = 1)]
    size: u32,
    /// What one worker may use, such as `cpu=500m` or `memory=64Mi`
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = pair)]
    shape: Vec<Pair>,
    /// Name of a port that each worker gets, as the variable PORT_NAME
    #[arg(long, value_name = "NAME")]
    port: Vec<String>,
    /// An environment variable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    variable: Vec<Pair>,
    /// The folder that workers run in
    #[arg(long, value_name = "FOLDER")]
    working_dir: Option<String>,
    /// A worker is ready when a GET of this path is answered, such as `http/` or `http/health`
    #[arg(long, value_name = "PORT/PATH", group = "readiness")]
    ready_http: Option<String>,
    /// A worker is ready when this port accepts connections
    #[arg(long, value_name = "PORT", group = "readiness")]
    ready_tcp: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    way: Way,
}

#[derive(Debug, Args)]
struct Common {
    /// A label
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = pair)]
    labels: Vec<Pair>,
    /// Refuse to delete it until this is taken back
    #[arg(long)]
    deletion_protection: bool,
}

impl Target {
    pub(super) fn desired(self) -> Asked {
        let driver = map([(self.driver.as_str(), map([]))]);
        let fields = [
            ("driver", driver),
            ("capacity", pairs(self.capacity)),
            ("cordoned", Value::Bool(self.cordoned)),
        ];
        let desired = read(Declared::CapacityTarget, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Lease {
    pub(super) fn desired(self) -> Asked {
        check_name(Declared::CapacityLease, &self.name)?;
        let fields = [
            ("amounts", pairs(self.amount)),
            ("ttl", text(self.ttl)),
            ("max_life", text(self.max_life)),
            ("wait", text(self.max_wait)),
            ("priority", Value::Number(self.priority.to_string())),
            ("preemption", Value::Text(self.preemption)),
            ("holder", text(self.holder)),
            ("purpose", text(self.purpose)),
        ];
        let desired = read(Declared::CapacityLease, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Environment {
    pub(super) fn desired(self) -> Asked {
        let fields = [
            ("quota", text(self.quota)),
            ("target_selector", pairs(self.target_selector)),
            ("description", text(self.description)),
            ("variables", pairs(self.variable)),
        ];
        let desired = read(Declared::Environment, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Subscription {
    pub(super) fn desired(self) -> Asked {
        let secret = match self.secret {
            Some(secret) => secret,
            None => new_secret().map_err(|error| vec![error.to_string()])?,
        };
        let fields = [
            ("url", Value::Text(self.url)),
            ("secret", Value::Text(secret)),
            ("types", texts(self.types)),
            ("subject_ids", texts(self.subjects)),
            ("environments", texts(self.environments)),
            ("timeout", text(self.attempt_timeout)),
            (
                "max_attempts",
                self.max_attempts.map_or(Value::Null, |it| Value::Number(it.to_string())),
            ),
            ("description", text(self.description)),
        ];
        let desired = read(Declared::EventSubscription, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Quota {
    pub(super) fn desired(self) -> Asked {
        let mut limits: Vec<(String, Vec<Entry>)> = Vec::new();
        let given = [
            ("hard", self.limit),
            ("soft", self.soft_limit),
            ("share", self.share),
            ("borrowing", self.borrowing),
            ("lending", self.lending),
        ];
        let given =
            given.into_iter().flat_map(|(kind, pairs)| pairs.into_iter().map(move |it| (kind, it)));
        for (kind, (resource, amount)) in given {
            let limit = entry(kind, Value::Text(amount));
            match limits.iter_mut().find(|(name, _)| *name == resource) {
                Some((_, entries)) => entries.push(limit),
                None => limits.push((resource, vec![limit])),
            }
        }
        let limits = limits.into_iter().map(|(name, limit)| entry(&name, Value::Map(limit)));
        let fields = [
            ("parent", text(self.parent)),
            ("limits", Value::Map(limits.collect())),
            ("reclaim_notice", text(self.reclaim_notice)),
        ];
        let desired = read(Declared::Quota, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Account {
    pub(super) fn desired(self) -> Asked {
        let fields = [
            ("role", Value::Text(self.role)),
            ("description", text(self.description)),
            ("disabled", Value::Bool(self.disabled)),
        ];
        let desired = read(Declared::ServiceAccount, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

impl Pool {
    pub(super) fn desired(self) -> Asked {
        check_name(Declared::WorkerPool, &self.name)?;
        let readiness = match (self.ready_http, self.ready_tcp) {
            (Some(http), _) => {
                let (port, path) = http.split_once('/').unwrap_or((&http, ""));
                let path = Value::Text(format!("/{path}"));
                map([("http", map([("port", Value::Text(port.to_owned())), ("path", path)]))])
            }
            (None, Some(port)) => map([("tcp", map([("port", Value::Text(port))]))]),
            (None, None) => Value::Null,
        };
        let worker = map([
            ("command", texts(self.command)),
            ("variables", pairs(self.variable)),
            ("working_dir", text(self.working_dir)),
            ("ports", texts(self.port)),
            ("shape", pairs(self.shape)),
        ]);
        let fields = [
            ("size", Value::Number(self.size.to_string())),
            ("worker", worker),
            ("readiness", readiness),
        ];
        let desired = read(Declared::WorkerPool, self.name, fields, self.common)?;
        Ok((self.way, desired))
    }
}

fn check_name(kind: Declared, name: &str) -> Result<(), Vec<String>> {
    if name.contains('/') {
        return Ok(());
    }
    Err(vec![format!("the name of a {kind} is `ENVIRONMENT/NAME`, not `{name}`")])
}

fn read<const N: usize>(
    kind: Declared,
    key: String,
    fields: [(&str, Value); N],
    common: Common,
) -> Result<Desired, Vec<String>> {
    let mut entries: Vec<_> = fields.into_iter().map(|(name, value)| entry(name, value)).collect();
    entries.push(entry("deletion_protection", Value::Bool(common.deletion_protection)));
    let mut faults = Vec::new();
    refuse_twice(&entries, &mut faults);
    let mut found = Found::default();
    let spec = Fields::read(("spec", 0), &entries, &mut found, |fields| Spec::read(kind, fields));
    faults.extend(found.faults.into_iter().map(|fault| fault.message));
    if faults.is_empty() {
        Ok(Desired { kind, key, labels: common.labels.into_iter().collect(), spec })
    } else {
        Err(faults)
    }
}

/// The parser of files has seen to this already; here nobody has.
fn refuse_twice(entries: &[Entry], faults: &mut Vec<String>) {
    for (index, entry) in entries.iter().enumerate() {
        if entries[..index].iter().any(|other| other.name == entry.name) {
            faults.push(format!("`{}` is given twice", entry.name));
        }
        if let Value::Map(inner) = &entry.node.value {
            refuse_twice(inner, faults);
        }
    }
}

fn entry(name: &str, value: Value) -> Entry {
    Entry { at: 0, name: name.to_owned(), node: Node { at: 0, value } }
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| entry(name, value)).collect())
}

fn pairs(pairs: Vec<Pair>) -> Value {
    Value::Map(pairs.into_iter().map(|(name, value)| entry(&name, Value::Text(value))).collect())
}

fn text(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::Text)
}

fn texts(texts: Vec<String>) -> Value {
    let node = |text| Node { at: 0, value: Value::Text(text) };
    Value::List(texts.into_iter().map(node).collect())
}
