//! Gathers a plan's entries, in whatever order they come, and makes the report of them.
//!
//! - Drift is kept as differing attributes only; of a change nothing is kept but what the report
//!   lists. So memory grows with the drift and with what is sensitive, not with the plan.
//! - Changes that come before the drift are held within a bound, or read again from the start.
//! - Values are cleared of secrets at the very end, when all secrets are known.

mod changes;
mod compared;
mod documents;
mod finish;
mod held;
mod outside;
mod policies;
mod references;
mod sections;
mod sensitive;

pub(crate) use compared::{report_of_plans, report_of_states};
pub(crate) use documents::Plans;

use crate::{
    Options,
    action::{Action, Work},
    diff::{Change, diff_by},
    drift::Drift,
    noise::Noise,
    path::Path,
    read::{Entry, Part, ReadError, Reference, Sink},
    redact::Secrets,
    report::{BlockAddress, FailedCheck, NoiseItem, Outside, Planned, PlannedNote, Report},
    value::Value,
};
use held::Held;

use policies::Judged;
use references::References;
use sensitive::Side;
use std::collections::{BTreeMap, BTreeSet};

/// Address and deposed id.
type Key = (String, String);

/// What is known of a resource that drifted.
struct Record {
    drift: Drift,
    provider: String,
    moved_from: Option<String>,
    block: BlockAddress,
    identity_changed: bool,
    /// A planned change depends on something of it that drifted.
    relevant: bool,
    /// It is no drift of a plan: what differs between two states or plans.
    observed: Option<Outside>,
}

/// What one section of the plan adds up to; lists are cut at [`Report::LISTED_MAX`], counts are not.
#[derive(Default)]
struct Tally {
    entries: usize,
    /// Managed ones that are not deleted, or are so since their block is gone.
    left: usize,
    planned: BTreeSet<Planned>,
    planned_count: usize,
    work: Work,
    noise: BTreeSet<NoiseItem>,
    noise_counts: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn add_noise(&mut self, entry: &Entry<'_>, path: String, kind: Noise) {
        self.add_noise_item(NoiseItem { address: entry.address().into_owned(), path, kind });
    }

    fn add_noise_item(&mut self, item: NoiseItem) {
        *self.noise_counts.entry(item.kind.name()).or_default() += 1;
        if self.noise.len() < Report::LISTED_MAX {
            self.noise.insert(item);
        }
    }

    fn add_planned(&mut self, planned: Planned) {
        self.planned_count += 1;
        if planned.note != Some(PlannedNote::Output) {
            self.work.add(&planned.action);
        }
        if self.planned.len() < Report::LISTED_MAX {
            self.planned.insert(planned);
        }
    }

    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.left += other.left;
        self.planned_count += other.planned_count;
        self.work.merge(other.work);
        self.planned.extend(other.planned);
        self.noise.extend(other.noise);
        for (kind, count) in other.noise_counts {
            *self.noise_counts.entry(kind).or_default() += count;
        }
    }
}

/// Whether the input can be read a second time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rereading {
    Possible,
    Impossible,
}

/// Who tells what was changed outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DriftFrom {
    Plan,
    /// The plan and a previous state, which was read before it.
    PreviousState,
}

/// Which of the two sections came first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Open,
    DriftFirst,
    ChangesFirst,
}

/// How often the input was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    First,
    /// The first one saw the sections in the wrong order.
    MustReread,
    Second,
}

/// Everything that one plan adds up to.
pub(crate) struct Analysis {
    records: BTreeMap<Key, Record>,
    from_drift: Tally,
    from_changes: Tally,
    from_outputs: Tally,
    from_sections: Tally,
    checks: Vec<FailedCheck>,
    secrets: Secrets,
    variables: BTreeMap<String, Value>,
    sensitive_variables: BTreeSet<String>,
    /// Names of the blocks that drifted, to tell quickly what did not.
    names: BTreeSet<String>,
    /// How many instances each drifted block has.
    instances: BTreeMap<BlockAddress, usize>,
    opentofu: bool,
    without_masks: bool,
    redacted: bool,
    drift_from: DriftFrom,
    rereading: Rereading,
    order: Order,
    pass: Pass,
    held: Held,
    options: Options,
    judged: Judged,
    references: References,
}

impl Analysis {
    pub(crate) fn new(options: Options, rereading: Rereading) -> Self {
        Self {
            records: BTreeMap::new(),
            from_drift: Tally::default(),
            from_changes: Tally::default(),
            from_outputs: Tally::default(),
            from_sections: Tally::default(),
            checks: Vec::new(),
            secrets: Secrets::default(),
            variables: BTreeMap::new(),
            sensitive_variables: BTreeSet::new(),
            names: BTreeSet::new(),
            instances: BTreeMap::new(),
            opentofu: false,
            without_masks: false,
            redacted: false,
            drift_from: DriftFrom::Plan,
            rereading,
            order: Order::Open,
            pass: Pass::First,
            held: Held::new(options.limits.held_bytes_max),
            options,
            judged: Judged::default(),
            references: References::default(),
        }
    }

    /// Forgets what the changes said, because the drift was not known yet; drift is kept.
    pub(crate) fn begin_second_pass(&mut self) {
        self.from_changes = Tally::default();
        self.pass = Pass::Second;
    }

    /// True when drift came after the changes, so that they must be read again.
    pub(crate) fn must_reread(&self) -> bool {
        self.pass == Pass::MustReread
    }
}

impl Sink for Analysis {
    fn redacted(&mut self) {
        self.redacted = true;
    }

    fn announced(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        let changes = match entry.action() {
            _ if !entry.is_managed() || self.pass == Pass::Second => return Ok(()),
            // It was moved, no more.
            Action::NoOp => return Ok(()),
            Action::Delete => vec![Change::of_whole()],
            _ => Vec::new(),
        };
        let masks = [Value::Bool(false), Value::Bool(false)];
        self.add_record(entry, Drift { changes, masks, joined: None })
    }

    fn drift_begins(&mut self) {
        if self.order == Order::Open {
            self.order = Order::DriftFirst;
        }
    }

    fn drift(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        if self.pass == Pass::Second {
            return Ok(());
        }
        self.learn_secrets(entry);
        if !entry.is_managed() {
            return Ok(());
        }
        // Where values were replaced, equal ones may have been different.
        let is_listed = entry.identity_changed() || self.redacted && entry.hides_something();
        if entry.sides_are_alike() && !is_listed {
            self.add_empty_drift(entry);
            return Ok(());
        }
        let counts = |kind| self.options.as_drift.contains(&kind);
        let (noise, changes): (Vec<_>, Vec<_>) =
            diff_by(&entry.before(), &entry.after(), self.schema(entry))
                .into_iter()
                .partition(|change| change.noise.is_some_and(|kind| !counts(kind)));
        let masks = [Side::Before, Side::After].map(|side| self.mask_of(entry, side));
        let named: BTreeSet<(Path, Noise)> = noise
            .iter()
            .filter_map(|change| Some((cut(&change.path, &masks), change.noise?)))
            .collect();
        for (path, kind) in named {
            self.from_drift.add_noise(entry, path.to_string(), kind);
        }
        if changes.is_empty() && !is_listed {
            if noise.is_empty() {
                self.add_empty_drift(entry);
            }
            return Ok(());
        }
        self.add_record(entry, Drift { changes, masks, joined: None })
    }

    fn change(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        self.from_changes.entries += 1;
        let goes = entry.action() == Action::Delete && entry.action_reason().is_none();
        self.from_changes.left += usize::from(entry.is_managed() && !goes);
        if self.order == Order::Open {
            self.order = Order::ChangesFirst;
        }
        if self.pass != Pass::Second {
            self.learn_secrets(entry);
            self.ask_policies(entry);
        }
        if self.records.is_empty() {
            if self.order == Order::ChangesFirst && self.rereading == Rereading::Impossible {
                self.held.push(entry);
            }
            self.change_alone(entry);
            return Ok(());
        }
        if !self.names.contains(entry.name().as_ref()) {
            self.change_alone(entry);
            return Ok(());
        }
        if let Some(instances) = self.instances.get_mut(&block_of(entry)) {
            *instances += 1;
        }
        let key = entry.key();
        if self.records.contains_key(&key) {
            self.change_drifted(entry, &key);
        } else {
            self.change_alone(entry);
        }
        Ok(())
    }

    fn output(&mut self, name: &str, change: Value) {
        for (side, mask) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
            if let (Some(value), Some(mask)) = (change.get(side), change.get(mask)) {
                self.secrets.learn(value, mask);
            }
        }
        let verbs: Vec<&str> = match change.get("actions") {
            Some(Value::List(verbs)) => verbs.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let action = Action::parse(&verbs);
        if self.pass != Pass::Second && !verbs.is_empty() && !action.is_idle() {
            let address = format!("output.{name}");
            self.from_outputs.add_planned(Planned {
                address,
                action,
                reason: None,
                note: Some(PlannedNote::Output),
            });
        }
    }

    fn variable(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Drift comes first; only what comes before anything else has to be taken on trust.
    fn wants_references(&self) -> bool {
        !self.records.is_empty() || self.order == Order::Open
    }

    fn uses(&mut self, path: &[String], part: Part<'_>, references: Vec<Reference>) {
        self.references.add(path, part, references);
    }

    fn sensitive_variable(&mut self, name: &str) {
        self.sensitive_variables.insert(name.to_owned());
    }

    fn deferred(&mut self, entry: &Entry<'_>, reason: &str) {
        if self.pass != Pass::Second {
            self.add_deferred(entry, reason);
        }
    }

    fn invocation(&mut self, invocation: &Value, deferred: Option<&str>) {
        if self.pass != Pass::Second {
            self.add_invocation(invocation, deferred);
        }
    }

    fn check(&mut self, check: &Value) {
        if self.pass != Pass::Second {
            self.add_check(check);
        }
    }

    fn relevant(&mut self, resource: &str, attribute: &Value) {
        self.add_relevant(resource, attribute);
    }
}

fn block_of(entry: &Entry<'_>) -> BlockAddress {
    BlockAddress {
        modules: BlockAddress::module_names(&entry.module_address()),
        resource_type: entry.kind().into_owned(),
        name: entry.name().into_owned(),
        instances: 0,
    }
}

/// The path as it may be shown.
fn cut<'a>(path: &Path, masks: impl IntoIterator<Item = &'a Value>) -> Path {
    masks.into_iter().fold(path.clone(), Path::cut)
}
