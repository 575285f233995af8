//! Tables and JSON of each kind.

use proto::runtimecloud::v1::{
    Amounts, CapacityTarget, CapacityTargetObserved, Condition, ConditionStatus, Environment,
    EnvironmentObserved, EnvironmentSpec, EventSubscription, EventSubscriptionObserved,
    EventSubscriptionSpec, Limit, Metadata, Quota, QuotaObserved, QuotaSpec, Role, ServiceAccount,
    ServiceAccountObserved, ServiceAccountSpec, Token, TokenObserved, TokenSpec, Worker,
    WorkerPhase, WorkerPool, WorkerPoolObserved, WorkerPoolSpec,
};

use super::*;
use crate::cli::output::table;

const NOW: i64 = 1_800_000_000;

fn at(seconds_ago: i64) -> Option<prost_types::Timestamp> {
    Some(prost_types::Timestamp { seconds: NOW - seconds_ago, nanos: 0 })
}

fn metadata(name: &str) -> Option<Metadata> {
    Some(Metadata {
        id: format!("id_{name}"),
        name: name.to_owned(),
        generation: 2,
        revision: 5,
        created_at: at(7_300),
        updated_at: at(60),
        ..Metadata::default()
    })
}

fn condition(name: &str, status: ConditionStatus, reason: &str) -> Condition {
    Condition {
        r#type: name.to_owned(),
        status: status.into(),
        reason: reason.to_owned(),
        message: format!("{reason}, in a sentence"),
        changed_at: at(5),
        observed_generation: 2,
    }
}

fn amounts<const N: usize>(amounts: [(&str, u64); N]) -> Option<Amounts> {
    let amounts = amounts.into_iter().map(|(name, amount)| (name.to_owned(), amount)).collect();
    Some(Amounts { amounts })
}

fn pool(conditions: Vec<Condition>) -> Resource {
    let observed =
        WorkerPoolObserved { conditions, workers: 3, ready_workers: 2, ..Default::default() };
    WorkerPool {
        metadata: metadata("web"),
        environment: "dev".to_owned(),
        spec: Some(WorkerPoolSpec { size: 3, ..WorkerPoolSpec::default() }),
        observed: Some(observed),
    }
    .into()
}

fn shown(resources: &[Resource]) -> String {
    let now = jiff::Timestamp::from_second(NOW).unwrap();
    let rows = resources.iter().map(|resource| resource.row(now)).collect();
    table(Resource::headers(resources[0].kind), rows, None)
}

#[test]
fn each_kind_has_its_table() {
    let target = CapacityTarget {
        metadata: metadata("local"),
        observed: Some(CapacityTargetObserved {
            conditions: vec![condition("Schedulable", ConditionStatus::False, "Cordoned")],
            used: amounts([("cpu", 1_500), ("memory", 1 << 30)]),
            workers: 3,
            ..CapacityTargetObserved::default()
        }),
        ..CapacityTarget::default()
    };
    insta::assert_snapshot!(shown(&[target.into()]), @r"
    NAME   DRIVER  CAPACITY  USED                   WORKERS  STATUS    AGE
    local          -         cpu 1500m, memory 1Gi  3        Cordoned  2h
    ");

    let environment = Environment {
        metadata: metadata("dev"),
        spec: Some(EnvironmentSpec { quota: "team-a".to_owned(), ..EnvironmentSpec::default() }),
        observed: Some(EnvironmentObserved {
            worker_pools: 1,
            workers: 3,
            ready_workers: 2,
            ..EnvironmentObserved::default()
        }),
    };
    insta::assert_snapshot!(shown(&[environment.into()]), @r"
    NAME  QUOTA   POOLS  READY  STATUS  AGE
    dev   team-a  1      2/3    OK      2h
    ");

    let limit = |hard, soft| Limit { hard, soft, ..Limit::default() };
    let limits = [("cpu", limit(Some(2_000), None)), ("workers", limit(None, Some(10)))];
    let quota = Quota {
        metadata: metadata("team-a"),
        spec: Some(QuotaSpec {
            limits: limits.into_iter().map(|(name, limit)| (name.to_owned(), limit)).collect(),
            deletion_protection: false,
            ..QuotaSpec::default()
        }),
        observed: Some(QuotaObserved {
            used: amounts([("cpu", 300), ("gpus", 1)]),
            ..QuotaObserved::default()
        }),
    };
    insta::assert_snapshot!(shown(&[quota.into()]), @r"
    NAME    PARENT  USED                                    BORROWED  STATUS  AGE
    team-a  -       cpu 300m of 2, gpus 1, workers 0 of 10  -         OK      2h
    ");

    let account = |disabled| ServiceAccount {
        metadata: metadata("ci"),
        spec: Some(ServiceAccountSpec {
            role: Role::Editor.into(),
            disabled,
            ..ServiceAccountSpec::default()
        }),
        observed: Some(ServiceAccountObserved { tokens: 2, ..ServiceAccountObserved::default() }),
    };
    insta::assert_snapshot!(shown(&[account(false).into(), account(true).into()]), @r"
    NAME  ROLE    ENABLED  TOKENS  STATUS  AGE
    ci    editor  yes      2       OK      2h
    ci    editor  no       2       OK      2h
    ");

    let ready = condition("Ready", ConditionStatus::True, "AllWorkersReady");
    let unready = condition("Ready", ConditionStatus::False, "CommandNotFound");
    insta::assert_snapshot!(shown(&[pool(vec![ready]), pool(vec![unready]), pool(vec![])]), @r"
    NAME     READY  CURRENT  STATUS           AGE
    dev/web  2/3    0        Ready            2h
    dev/web  2/3    0        CommandNotFound  2h
    dev/web  2/3    0        OK               2h
    ");
}

#[test]
fn a_subscription_shows_how_its_deliveries_stand() {
    let subscription = |delivering| EventSubscription {
        metadata: metadata("chat"),
        spec: Some(EventSubscriptionSpec {
            url: "https://example.com/hooks".to_owned(),
            secret: "never shown".to_owned(),
            ..EventSubscriptionSpec::default()
        }),
        observed: Some(EventSubscriptionObserved {
            conditions: vec![
                condition("Delivering", delivering, "KeepsFailing"),
                condition("Complete", ConditionStatus::False, "DeadLetters"),
            ],
            behind: 7,
            delivered: 30,
            dead_letters: 5,
            ..EventSubscriptionObserved::default()
        }),
    };
    let [stopped, incomplete] =
        [ConditionStatus::False, ConditionStatus::True].map(|it| subscription(it).into());
    insta::assert_snapshot!(shown(&[stopped, incomplete]), @r"
    NAME  URL                        BEHIND  DELIVERED  DEAD  STATUS        AGE
    chat  https://example.com/hooks  7       30         5     KeepsFailing  2h
    chat  https://example.com/hooks  7       30         5     DeadLetters   2h
    ");
}

#[test]
fn workers_and_tokens_have_their_tables() {
    let now = jiff::Timestamp::from_second(NOW).unwrap();
    let worker = Worker {
        id: "worker_1".to_owned(),
        worker_pool: "dev/web".to_owned(),
        phase: WorkerPhase::Backoff.into(),
        reason: "CommandNotFound".to_owned(),
        restarts: 4,
        ports: [("http".to_owned(), 4_000), ("admin".to_owned(), 4_001)].into(),
        created_at: at(30),
        ..Worker::default()
    };
    let rows = vec![worker::row(&worker, now)];
    insta::assert_snapshot!(table(worker::HEADERS, rows, None), @r"
    WORKER    POOL     PHASE    READY  RESTARTS  PORTS                  REASON           AGE
    worker_1  dev/web  backoff  no     4         admin=4001, http=4000  CommandNotFound  30s
    ");
    insta::assert_snapshot!(format!("{:#}", worker::json(&worker)), @r#"
    {
      "capacity_target": "",
      "created_at": "2027-01-15T07:59:30Z",
      "id": "worker_1",
      "kind": "worker",
      "message": "",
      "observed_at": null,
      "operation": null,
      "phase": "backoff",
      "pid": null,
      "pool_generation": 0,
      "ports": {
        "admin": 4001,
        "http": 4000
      },
      "ready": false,
      "reason": "CommandNotFound",
      "restarts": 4,
      "started_at": null,
      "worker_pool": "dev/web"
    }
    "#);

    let token = |account: &str, name: &str, reason: &str| Token {
        metadata: Some(Metadata { created_at: at(30), ..metadata(name).unwrap_or_default() }),
        service_account: account.to_owned(),
        spec: Some(TokenSpec { expires_at: at(-9), ..TokenSpec::default() }),
        observed: Some(TokenObserved {
            valid: reason.is_empty(),
            reason: reason.to_owned(),
            role: Role::Editor.into(),
            ..TokenObserved::default()
        }),
    };
    let alone = Token {
        spec: Some(TokenSpec { role: Role::Viewer.into(), ..TokenSpec::default() }),
        observed: None,
        ..token("", "a", "")
    };
    let tokens = [alone, token("ci", "b", ""), token("ci", "c", "AccountDisabled")];
    let rows = tokens.iter().map(|token| token::row(token, now)).collect();
    insta::assert_snapshot!(table(token::HEADERS, rows, None), @r"
    NAME  ROLE    VALID            EXPIRES               AGE  ID
    a     viewer                   never                 30s  id_a
    ci/b  editor  yes              2027-01-15T08:00:09Z  30s  id_b
    ci/c  editor  AccountDisabled  2027-01-15T08:00:09Z  30s  id_c
    ");
}

#[test]
fn a_resource_has_one_stable_json_form() {
    let ready = condition("Ready", ConditionStatus::True, "AllWorkersReady");
    insta::assert_snapshot!(format!("{:#}", pool(vec![ready]).json()), @r#"
    {
      "created_at": "2027-01-15T05:58:20Z",
      "generation": 2,
      "id": "id_web",
      "kind": "worker_pool",
      "labels": {},
      "name": "dev/web",
      "observed": {
        "conditions": [
          {
            "changed_at": "2027-01-15T07:59:55Z",
            "message": "AllWorkersReady, in a sentence",
            "observed_generation": 2,
            "reason": "AllWorkersReady",
            "status": "true",
            "type": "Ready"
          }
        ],
        "current_workers": 0,
        "ready_workers": 2,
        "workers": 3
      },
      "revision": 5,
      "spec": {
        "deletion_protection": false,
        "restart": {
          "delay": "1s",
          "delay_max": "1m",
          "healthy_after": "30s"
        },
        "size": 3,
        "stop": {
          "grace": "10s",
          "signal": "TERM"
        },
        "update": {
          "max_unavailable": 1
        },
        "worker": {
          "command": [],
          "ports": [],
          "shape": {},
          "variables": {}
        }
      },
      "updated_at": "2027-01-15T07:59:00Z"
    }
    "#);
}

#[test]
fn a_kind_has_many_names() {
    let pool = Ok(Kind::Declared(Declared::WorkerPool));
    for name in ["worker_pool", "worker-pools", "POOL", "pools", "wp"] {
        assert_eq!(Kind::parse(name), pool, "{name}");
    }
    assert_eq!(Kind::parse("env"), Ok(Kind::Declared(Declared::Environment)));
    assert!(Kind::parse("enviroment").unwrap_err().contains("did you mean `environment`?"));
    assert!(Kind::parse("banana").unwrap_err().contains("`quota`"));
    assert!(Declared::parse("worker").unwrap_err().contains("scale"));
    let mut names: Vec<_> =
        KINDS.iter().flat_map(|names| [&[names.one, names.many], names.short].concat()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "a name means one kind");
}
