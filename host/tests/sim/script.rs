//! A small language for scenarios: one command a line, its output below.
//!
//! | command | does |
//! | --- | --- |
//! | `target NAME [cordoned] [RESOURCE=AMOUNT]... [label:KEY=VALUE]...` | declares a target |
//! | `quota NAME [parent=NAME] [notice=N] [RESOURCE=HARD[/SOFT]]... [share|borrowing|lending:RESOURCE=N]...` | declares a quota; `-` is no limit |
//! | `environment NAME [quota=NAME] [select:KEY=VALUE]...` | declares an environment |
//! | `pool ENV/NAME size=N [command=WORD] [max_unavailable=N] [RESOURCE=AMOUNT]...` | declares a pool |
//! | `lease ENV/NAME [ttl=N] [life=N] [wait=N] [priority=N] [reclaimable=yes] [RESOURCE=AMOUNT]...` | declares a lease |
//! | `renew ENV/NAME TOKEN`, `check ENV/NAME TOKEN` | as the API does; token 0 is whatever it has |
//! | `pass SECONDS` | time passes, and leases end |
//! | `drain|restart|replace ENV/NAME [parallel=N] [min_ready=N] [deadline=SECONDS] [grace=SECONDS] [WORKER]...` | starts an operation |
//! | `cancel OPERATION [WORKER]...` | lets go of workers that wait |
//! | `scale ENV/NAME SIZE`, `delete KIND KEY` | as the API does |
//! | `round`, `tick`, `settle` | one round of the host; a second; both until nothing is left to do |
//! | `lose WORKER`, `unready WORKER`, `stray TARGET` | something happens to workers |
//! | `mute TARGET`, `heal TARGET`, `refuse TARGET` | something happens to a driver |
//! | `show`, `events` | what is true; what was told since the last time |

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use host::{
    admission::{Answer, Command, Create, Declare, Declared, Delete, Update},
    capacity::{
        quota::{self, Limit, Quota, QuotaSpec},
        room,
        target::{CapacityTarget, CapacityTargetSpec, DriverKind},
    },
    clock::Clock as _,
    conditions::{Condition, Status},
    drivers::SeenPhase,
    environments::model::{Environment, EnvironmentSpec},
    events::Event,
    ids::{CapacityTargetId, WorkerId},
    leases::{
        admit::Renew,
        conditions as leases, line,
        model::{CapacityLease, CapacityLeaseSpec, Preemption, State},
    },
    operations::{
        decide::{Cancel, Start},
        model::{OperationSpec, OperationVerb},
    },
    planner::{Action, PlanReport},
    pools::{
        conditions,
        model::{UpdateSpec, WorkerPool, WorkerPoolSpec, WorkerSpec},
        worker::Phase,
    },
};
use jiff::SignedDuration;
use proto::quantity::Quantity;

use super::world::{World, starting};

/// Words of a line: plain ones, and `key=value` pairs.
struct Line<'a> {
    words: Vec<&'a str>,
    pairs: BTreeMap<&'a str, &'a str>,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Self {
        let (pairs, words): (Vec<_>, Vec<_>) =
            text.split_whitespace().partition(|word| word.contains('='));
        let pairs = pairs.into_iter().map(|pair| pair.split_once('=').unwrap()).collect();
        Self { words, pairs }
    }

    fn prefixed(&self, prefix: &str) -> BTreeMap<String, String> {
        let pair = |(key, value): (&&str, &&str)| {
            key.strip_prefix(prefix).map(|key| (key.to_owned(), (*value).to_owned()))
        };
        self.pairs.iter().filter_map(pair).collect()
    }

    /// Pairs that name a resource.
    fn amounts(&self) -> BTreeMap<String, u64> {
        let known = [
            "size",
            "command",
            "max_unavailable",
            "quota",
            "ttl",
            "life",
            "wait",
            "priority",
            "reclaimable",
        ];
        let is_amount = |key: &&&str| !known.contains(*key) && !key.contains(':');
        let keys = self.pairs.keys().filter(is_amount);
        keys.map(|key| ((*key).to_owned(), amount(key, self.pairs[key]))).collect()
    }
}

fn amount(resource: &str, text: &str) -> u64 {
    Quantity::parse(resource, text).unwrap().amount
}

pub(crate) struct Script {
    pub(crate) world: World,
    told: usize,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { world: World::new(), told: 0 }
    }

    /// Runs one line; what it prints.
    pub(crate) fn run(&mut self, text: &str) -> String {
        let line = Line::parse(text);
        let name = line.words.get(1).copied().unwrap_or_default();
        match line.words[0] {
            "target" => self.target(name, &line),
            "quota" => self.quota(name, &line),
            "environment" => self.environment(name, &line),
            "pool" => self.pool(name, &line),
            "lease" => self.lease(name, &line),
            "renew" => {
                let fencing_token = line.words[2].parse().unwrap();
                let renew = Renew { key: name.to_owned(), fencing_token, revision: 0 };
                self.commit(&Command::RenewLease(renew))
            }
            "check" => self.check(name, line.words[2].parse().unwrap()),
            "pass" => {
                self.world.clock.advance(SignedDuration::from_secs(name.parse().unwrap()));
                self.commit(&Command::SettleLeases)
            }
            "scale" => {
                let size = line.words[2].parse().unwrap();
                self.commit(&Command::ScalePool { key: name.to_owned(), size, revision: 0 })
            }
            "drain" => self.operate(OperationVerb::Drain, name, &line),
            "restart" => self.operate(OperationVerb::Restart, name, &line),
            "replace" => self.operate(OperationVerb::Replace, name, &line),
            "cancel" => {
                let key = long(name);
                let workers = self.workers(&line);
                self.commit(&Command::CancelOperation(Cancel { key, workers }))
            }
            "delete" => self.delete(name, line.words[2]),
            "round" => {
                let (plan, report) = self.world.round();
                self.actions(&plan.actions) + &self.waiting(&report)
            }
            "tick" => {
                self.world.tick();
                String::new()
            }
            "settle" => {
                let rounds = self.world.settle();
                let rounds = rounds.iter().map(|actions| self.actions(actions));
                rounds.collect::<Vec<_>>().join("--\n")
            }
            "lose" => self.happen(name, |seen| {
                seen.phase = SeenPhase::Lost;
                seen.ready = false;
            }),
            "unready" => self.happen(name, |seen| seen.ready = false),
            "stray" => self.stray(name),
            "mute" | "heal" | "refuse" => self.driver(line.words[0], name),
            "show" => self.show(),
            "events" => self.events(),
            other => panic!("no such command: {other}"),
        }
    }

    fn commit(&mut self, command: &Command) -> String {
        match self.world.commit(command) {
            Ok(Answer::Done) => String::new(),
            Ok(_) => "ok\n".to_owned(),
            Err(refusal) => format!("refused: {}\n", short(&refusal.to_string())),
        }
    }

    /// Creates, or updates what is there.
    fn declare<N: Declared>(
        &mut self,
        key: &str,
        create: Create<N::Spec>,
        command: fn(Declare<N>) -> Command,
    ) -> String {
        let change = match N::find(&self.world.records, key) {
            None => Declare::Create(create),
            Some(_) => {
                let Create { labels, spec, .. } = create;
                Declare::Update(Update { key: key.to_owned(), labels, spec, revision: 0 })
            }
        };
        self.commit(&command(change))
    }

    fn target(&mut self, name: &str, line: &Line<'_>) -> String {
        let spec = CapacityTargetSpec {
            driver: DriverKind::Process,
            capacity: line.amounts(),
            cordoned: line.words.contains(&"cordoned"),
            deletion_protection: false,
        };
        let labels = line.prefixed("label:");
        let create = Create { parent: String::new(), name: name.to_owned(), labels, spec };
        self.declare::<CapacityTarget>(name, create, Command::CapacityTarget)
    }

    fn quota(&mut self, name: &str, line: &Line<'_>) -> String {
        let limit = |(key, value): (&&str, &&str)| {
            let (hard, soft) = value.split_once('/').unwrap_or((value, "-"));
            let read = |text| (text != "-").then(|| amount(key, text));
            ((*key).to_owned(), Limit { hard: read(hard), soft: read(soft), ..Limit::default() })
        };
        let is_limit =
            |(key, _): &(&&str, &&str)| !["parent", "notice"].contains(*key) && !key.contains(':');
        let mut limits: BTreeMap<String, Limit> =
            line.pairs.iter().filter(is_limit).map(limit).collect();
        for (key, value) in line.pairs.iter().filter(|(key, _)| key.contains(':')) {
            let (what, resource) = key.split_once(':').unwrap();
            let entry = limits.entry(resource.to_owned()).or_default();
            let place = match what {
                "share" => &mut entry.share,
                "borrowing" => &mut entry.borrowing,
                "lending" => &mut entry.lending,
                other => panic!("no such part of a limit: {other}"),
            };
            *place = Some(amount(resource, value));
        }
        let notice = line.pairs.get("notice").map(|it| it.parse().unwrap());
        let spec = QuotaSpec {
            limits,
            deletion_protection: false,
            parent: line.pairs.get("parent").map(|parent| (*parent).to_owned()),
            reclaim_notice: notice.map(Duration::from_secs),
        };
        let labels = BTreeMap::new();
        let create = Create { parent: String::new(), name: name.to_owned(), labels, spec };
        self.declare::<Quota>(name, create, Command::Quota)
    }

    fn environment(&mut self, name: &str, line: &Line<'_>) -> String {
        let spec = EnvironmentSpec {
            quota: line.pairs.get("quota").map(|quota| (*quota).to_owned()),
            target_selector: line.prefixed("select:"),
            ..EnvironmentSpec::default()
        };
        let labels = BTreeMap::new();
        let create = Create { parent: String::new(), name: name.to_owned(), labels, spec };
        self.declare::<Environment>(name, create, Command::Environment)
    }

    fn pool(&mut self, key: &str, line: &Line<'_>) -> String {
        let (parent, name) = key.split_once('/').unwrap();
        let number = |key| line.pairs.get(key).map(|text| text.parse::<u32>().unwrap());
        let spec = WorkerPoolSpec {
            size: number("size").unwrap(),
            worker: WorkerSpec {
                command: vec![line.pairs.get("command").copied().unwrap_or("run").to_owned()],
                shape: line.amounts(),
                ..WorkerSpec::default()
            },
            update: number("max_unavailable").map(|it| UpdateSpec { max_unavailable: Some(it) }),
            ..WorkerPoolSpec::default()
        };
        let labels = BTreeMap::new();
        let create = Create { parent: parent.to_owned(), name: name.to_owned(), labels, spec };
        self.declare::<WorkerPool>(key, create, Command::WorkerPool)
    }

    /// Declares one of a name whose last has ended anew.
    fn lease(&mut self, key: &str, line: &Line<'_>) -> String {
        let (parent, name) = key.split_once('/').unwrap();
        let seconds = |key| {
            let text = line.pairs.get(key)?;
            Some(Duration::from_secs(text.parse().unwrap()))
        };
        let spec = CapacityLeaseSpec {
            amounts: line.amounts(),
            ttl: seconds("ttl"),
            max_life: seconds("life"),
            wait: seconds("wait"),
            preemption: match line.pairs.contains_key("reclaimable") {
                true => Preemption::Reclaimable,
                false => Preemption::Never,
            },
            priority: line.pairs.get("priority").map_or(0, |text| text.parse().unwrap()),
            ..CapacityLeaseSpec::default()
        };
        let labels = BTreeMap::new();
        let create = Create { parent: parent.to_owned(), name: name.to_owned(), labels, spec };
        let there = self.world.records.capacity_lease(key);
        if there.is_some_and(|it| !it.is_living()) {
            return self.commit(&Command::CapacityLease(Declare::Create(create)));
        }
        self.declare::<CapacityLease>(key, create, Command::CapacityLease)
    }

    fn check(&self, key: &str, fencing_token: u64) -> String {
        let lease = self.world.records.capacity_lease(key);
        let checked = leases::check(lease, fencing_token, self.world.clock.now());
        let valid = if checked.valid { "valid" } else { "not valid" };
        format!("{valid}, {}: {}\n", checked.reason, checked.message)
    }

    fn operate(&mut self, verb: OperationVerb, pool: &str, line: &Line<'_>) -> String {
        let number = |key| line.pairs.get(key).map(|text| text.parse::<u32>().unwrap());
        let deadline = number("deadline").map_or(3600, u64::from);
        let spec = OperationSpec {
            verb,
            parallel: number("parallel"),
            min_ready: number("min_ready").unwrap_or(0),
            grace: number("grace").map(|grace| Duration::from_secs(grace.into())),
            deadline: std::time::Duration::from_secs(deadline),
        };
        let workers = self.workers(line);
        let start = Start { pool: pool.to_owned(), revision: 0, workers, spec };
        match self.world.commit(&Command::StartOperation(start)) {
            Ok(Answer::Operation(it)) => short(&format!("{}: {}\n", it.id, it.total)),
            Ok(other) => panic!("an operation was answered by {other:?}"),
            Err(refusal) => format!("refused: {}\n", short(&refusal.to_string())),
        }
    }

    /// Ids of the workers that a line names after its first two words.
    fn workers(&self, line: &Line<'_>) -> Vec<String> {
        line.words.iter().skip(2).map(|word| long(word)).collect()
    }

    fn delete(&mut self, kind: &str, key: &str) -> String {
        let delete = Delete { key: key.to_owned(), revision: 0 };
        let command = match kind {
            "environment" => Command::Environment(Declare::Delete(delete)),
            "lease" => Command::CapacityLease(Declare::Delete(delete)),
            "pool" => Command::WorkerPool(Declare::Delete(delete)),
            "quota" => Command::Quota(Declare::Delete(delete)),
            "target" => Command::CapacityTarget(Declare::Delete(delete)),
            other => panic!("no such kind: {other}"),
        };
        self.commit(&command)
    }

    fn happen(&mut self, name: &str, what: fn(&mut host::drivers::SeenWorker)) -> String {
        let is_named = |worker: &&WorkerId| short(&worker.to_string()) == name;
        let worker = *self.world.records.workers.keys().find(is_named).expect("no such worker");
        what(self.world.seen_mut(worker));
        String::new()
    }

    fn target_id(&self, name: &str) -> CapacityTargetId {
        self.world.records.capacity_target(name).expect("no such target").id
    }

    fn stray(&mut self, name: &str) -> String {
        let target = self.target_id(name);
        let worker = WorkerId::new(&self.world.ids);
        self.world.seen.entry(target).or_default().insert(worker, starting(worker));
        String::new()
    }

    fn driver(&mut self, verb: &str, name: &str) -> String {
        let target = self.target_id(name);
        match verb {
            "mute" => drop(self.world.mute.insert(target)),
            "refuse" => drop(self.world.refusing.insert(target)),
            _ => {
                self.world.mute.remove(&target);
                self.world.refusing.remove(&target);
            }
        }
        String::new()
    }

    fn actions(&self, actions: &[Action]) -> String {
        let mut text = String::new();
        for action in actions {
            match action {
                Action::Add(worker) => {
                    let target = &self.world.records.capacity_targets[&worker.target];
                    writeln!(text, "add {} on {}", worker.id, target.meta.name).unwrap();
                }
                Action::Ensure(worker) => writeln!(text, "ensure {}", worker.id).unwrap(),
                Action::Retire { worker, why } => {
                    let grace =
                        worker.grace.map_or_else(String::new, |it| format!(", grace {it:?}"));
                    writeln!(text, "retire {} ({}{grace})", worker.id, why.code()).unwrap();
                }
                Action::Stop(worker) => writeln!(text, "stop {}", worker.id).unwrap(),
                Action::Forget(worker) => writeln!(text, "forget {}", worker.id).unwrap(),
                Action::Restart(worker) => writeln!(text, "restart {}", worker.id).unwrap(),
                Action::Advance(it) => {
                    let (under_way, waits) = (it.done + it.skipped + it.failed, it.total);
                    writeln!(text, "advance {}: {under_way} of {waits} counted", it.id).unwrap();
                }
                Action::Dismiss(worker) => writeln!(text, "dismiss {}", worker.id).unwrap(),
                Action::RemovePool(_) => writeln!(text, "remove the pool").unwrap(),
                Action::Evict { worker, .. } => writeln!(text, "evict {worker}").unwrap(),
            }
        }
        short(&text)
    }

    fn waiting(&self, report: &PlanReport) -> String {
        let mut text = String::new();
        for (pool, waiting) in &report.waiting {
            let pool = self.world.records.worker_pools[pool].key(&self.world.records);
            for waiting in waiting {
                let (reason, message) = (waiting.reason.code(), &waiting.message);
                writeln!(text, "{pool} waits, {reason}: {message}").unwrap();
            }
        }
        short(&text)
    }

    fn show(&mut self) -> String {
        self.world.observe();
        let (records, observed) = (&self.world.records, &self.world.observed);
        let mut text = String::new();
        for quota in records.quotas.values() {
            let amounts = room::used(&records.ledger, &quota.meta.name);
            let used: Vec<_> = amounts
                .iter()
                .map(|(resource, amount)| format!("{resource}={}", Quantity::of(resource, *amount)))
                .collect();
            let said = said(&quota::conditions(quota, &amounts, &records.ledger));
            writeln!(text, "quota {}: used {}\n{said}", quota.meta.name, used.join(" ")).unwrap();
        }
        for pool in records.worker_pools.values() {
            let key = pool.key(records);
            let said = said(&conditions::conditions(pool, records, observed));
            writeln!(text, "pool {key}: size {}\n{said}", pool.spec.size).unwrap();
            for worker in records.workers_of(pool.id) {
                let seen = observed.worker(worker.target, worker.id);
                let phase = seen.map_or(Phase::Pending, |seen| Phase::of(seen.phase));
                let ready = if seen.is_some_and(|seen| seen.ready) { ", ready" } else { "" };
                let target = &records.capacity_targets[&worker.target].meta.name;
                let task = worker.task.map_or_else(String::new, |task| {
                    format!(", {} {:?}", task.verb.name(), task.step)
                });
                writeln!(text, "  {} on {target}: {phase:?}{ready}{task}", worker.id).unwrap();
            }
            for it in records.operations.values().filter(|it| it.pool == pool.id) {
                let (verb, state) = (it.spec.verb.name(), it.state());
                writeln!(
                    text,
                    "  {} {verb}: {state:?}, {} of {} done, {} failed, {} skipped",
                    it.id, it.done, it.total, it.failed, it.skipped
                )
                .unwrap();
            }
        }
        for lease in records.capacity_leases.iter() {
            let token = lease.grant().map_or(0, |grant| grant.fencing_token);
            let place = lease.is_living().then(|| line::position(records, lease));
            let state = match &lease.state {
                State::Waiting { .. } => format!("waits at {}", place.unwrap_or_default()),
                State::Granted(_) => format!("has token {token}"),
                State::Ended { .. } => "ended".to_owned(),
            };
            let said = said(&leases::conditions(lease, records));
            writeln!(text, "lease {}: {state}\n{said}", lease.key(records)).unwrap();
        }
        short(&text.replace("\n\n", "\n"))
    }

    fn events(&mut self) -> String {
        let mut text = String::new();
        for (subject, event) in &self.world.events[self.told..] {
            let name = &subject.name;
            let more = match event {
                Event::CapacityLeaseGranted(it) => format!(" token {}", it.fencing_token),
                Event::CapacityLeaseReclaiming(it) => {
                    format!(" for {} at {}", it.by, it.ends_at)
                }
                Event::CapacityLeaseWaiting(it) => format!(" at {}", it.position),
                Event::SpecificationDeclared(it) => format!(" {:?}", it.change),
                Event::ProvisioningPlanned(it) => {
                    format!(" start {}, stop {}", it.start.len(), it.stop.len())
                }
                Event::ProvisioningApplied(it) => {
                    format!(" started {}, removed {}", it.started.len(), it.removed.len())
                }
                Event::WorkerOperationEnded(it) => {
                    format!(" {:?}, {} of {}", it.state, it.done, it.total)
                }
                Event::WorkerOperationStarted(it) => {
                    format!(" {}, {} workers", it.verb.name(), it.workers.len())
                }
                Event::ProvisioningFailed(it) => format!(" {}", it.workers.len()),
                Event::ObservedStateChanged(it) => format!(" {} workers", it.workers.len()),
                Event::WorkerPoolStateChanged(it) => {
                    format!(" {} of {} ready", it.current_workers, it.size)
                }
                _ => String::new(),
            };
            writeln!(text, "{} {name}{more}", event.type_name()).unwrap();
        }
        self.told = self.world.events.len();
        text
    }
}

fn said(conditions: &[Condition]) -> String {
    let mut text = String::new();
    for it in conditions {
        let sign = match it.status {
            Status::True => '+',
            Status::False => '-',
            Status::Unknown => '?',
        };
        writeln!(text, "  {sign} {} {}: {}", it.name, it.reason, it.message).unwrap();
    }
    text
}

/// Ids by their number alone: `worker_7`.
fn short(text: &str) -> String {
    const ZEROS: &str = "00000000-0000-0000-0000-";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(ZEROS) {
        out += &rest[..at];
        let digits = &rest[at + ZEROS.len()..][..12];
        out += &u64::from_str_radix(digits, 16).unwrap().to_string();
        rest = &rest[at + ZEROS.len() + 12..];
    }
    out + rest
}

/// The id of which this is the short form.
fn long(short: &str) -> String {
    let (kind, number) = short.rsplit_once('_').expect("an id is KIND_NUMBER");
    format!("{kind}_00000000-0000-0000-0000-{:012x}", number.parse::<u64>().unwrap())
}

/// Runs a file: lines that begin with `> ` are commands, the lines below each are its output.
/// Answers the file as it would be with the output of today.
pub(crate) fn run_file(text: &str) -> String {
    let mut script = Script::new();
    let mut out = String::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("> ") {
            out += &format!("{line}\n{}", script.run(command));
        } else if line.starts_with('#') || line.is_empty() {
            out += &format!("{line}\n");
        }
    }
    out
}
