//! What every store guarantees, tried on each; and the databases of earlier versions.

use std::{path::Path, sync::Arc, time::Duration};

use host::{
    admission::{Answer, Command, Create, Declare, Refusal, Update},
    capacity::quota::{Limit, Quota, QuotaSpec},
    clock::{FakeClock, SystemClock},
    environments::model::EnvironmentSpec,
    ids::{SystemIds, TokenId},
    leases::model::CapacityLeaseSpec,
    store::{
        CommitError, EventQuery, Mode, Order, Prune, RequestKey, Store, StoreError, Write,
        sqlite::SqliteStore,
    },
    tokens::{self, model::Role},
};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, Arc::new(SystemClock), Arc::new(SystemIds))
}

fn create(name: &str) -> Command {
    let limits = [("cpu".to_owned(), Limit { hard: Some(1), ..Limit::default() })].into();
    let spec = QuotaSpec { limits, ..QuotaSpec::default() };
    Command::Quota(Declare::Create(Create {
        parent: String::new(),
        name: name.to_owned(),
        labels: [].into(),
        spec,
    }))
}

fn update(name: &str, revision: u64, hard: u64) -> Command {
    let limits = [("cpu".to_owned(), Limit { hard: Some(hard), ..Limit::default() })].into();
    let spec = QuotaSpec { limits, ..QuotaSpec::default() };
    let (key, labels) = (name.to_owned(), [].into());
    Command::Quota(Declare::Update(Update { key, labels, spec, revision }))
}

fn quota(answer: Answer) -> Arc<Quota> {
    match answer {
        Answer::Quota(quota) => quota,
        other => panic!("{other:?}"),
    }
}

fn events_after(after: u64) -> EventQuery {
    EventQuery::after(after, 1000)
}

/// Each guarantee on each store: a line per store.
macro_rules! contract {
    ($($store:ident: $open:expr;)*) => {$(
        mod $store {
            use super::*;

            #[tokio::test]
            async fn what_was_answered_is_there_after_it_is_opened_again() {
                let dir = TempDir::new().unwrap();
                let store = $open(dir.path()).unwrap();
                let made = quota(store.commit(Write::of_host(create("team"))).await.unwrap());
                let (id, position) = (store.host_id(), *store.last_position().borrow());
                drop(store);
                let store = $open(dir.path()).unwrap();
                assert_eq!(store.records().quota("team"), Some(&*made));
                assert_eq!((store.host_id(), *store.last_position().borrow()), (id, position));
            }

            #[tokio::test]
            async fn a_refusal_and_a_dry_run_store_nothing() {
                let dir = TempDir::new().unwrap();
                let store = $open(dir.path()).unwrap();
                let mut dry = Write::of_host(create("team"));
                dry.mode = Mode::DryRun;
                quota(store.commit(dry).await.unwrap());
                let refused = store.commit(Write::of_host(create("not a name"))).await.unwrap_err();
                assert!(matches!(refused, CommitError::Refused(Refusal::Invalid(_))));
                assert!(store.records().quotas.is_empty());
                assert!(store.events(events_after(0)).await.unwrap().events.is_empty());
            }

            #[tokio::test]
            async fn of_many_who_saw_the_same_revision_one_changes_it() {
                let dir = TempDir::new().unwrap();
                let store = $open(dir.path()).unwrap();
                store.commit(Write::of_host(create("team"))).await.unwrap();
                let calls = (2..50).map(|hard| store.commit(Write::of_host(update("team", 1, hard))));
                let results = futures_util::future::join_all(calls).await;
                assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
            }

            #[tokio::test]
            async fn events_have_one_order_and_each_position_once() {
                let dir = TempDir::new().unwrap();
                let store = $open(dir.path()).unwrap();
                let names: Vec<_> = (0..200).map(|number| format!("team-{number}")).collect();
                let calls = names.iter().map(|name| store.commit(Write::of_host(create(name))));
                for result in futures_util::future::join_all(calls).await {
                    result.unwrap();
                }
                let events = store.events(events_after(0)).await.unwrap().events;
                assert!(events.is_sorted_by(|a, b| a.position < b.position));
                let ids: std::collections::BTreeSet<_> = events.iter().map(|it| it.id).collect();
                assert_eq!(ids.len(), events.len());
                let last = events.last().unwrap().position;
                assert_eq!(*store.last_position().borrow(), last);
                let rest = store.events(events_after(last - 3)).await.unwrap().events;
                assert_eq!(rest, events[events.len() - 3..]);
            }

            #[tokio::test]
            async fn events_are_found_from_either_end_by_type_and_time() {
                let dir = TempDir::new().unwrap();
                let clock = Arc::new(FakeClock::new(Timestamp::from_second(1_000_000).unwrap()));
                let store = SqliteStore::open(dir.path(), clock.clone(), Arc::new(SystemIds)).unwrap();
                for number in 1..=20 {
                    let command = if number == 1 { create("team") } else { update("team", 0, number) };
                    store.commit(Write::of_host(command)).await.unwrap();
                    clock.advance(SignedDuration::from_secs(1));
                }
                let all = store.events(events_after(0)).await.unwrap().events;
                let both = ["QuotaChanged".to_owned(), "SpecificationDeclared".to_owned()];
                let types = [&[][..], &both[..1], &both[..]];
                let times = [None, Some(0), Some(7), Some(500)];
                let time = |after: i64| Timestamp::from_second(1_000_000 + after).unwrap();
                for (types, since) in types.iter().flat_map(|it| times.map(|time| (*it, time))) {
                    let since = since.map(time);
                    let mut expected: Vec<_> = all.iter().filter(|event| {
                        (types.is_empty() || types.contains(&event.type_name))
                            && since.is_none_or(|since| event.time >= since)
                    }).cloned().collect();
                    for order in [Order::OldestFirst, Order::NewestFirst] {
                        let query = EventQuery {
                            since, types: types.to_vec(), order, ..EventQuery::after(0, 5)
                        };
                        let found = store.events(query).await.unwrap().events;
                        assert_eq!(found, expected[..expected.len().min(5)], "{types:?} {since:?}");
                        expected.reverse();
                    }
                }
            }

            #[tokio::test]
            async fn the_oldest_events_go_by_number_and_by_age_and_positions_stay() {
                let dir = TempDir::new().unwrap();
                let start = Timestamp::from_second(1_000_000).unwrap();
                let clock = Arc::new(FakeClock::new(start));
                let store = SqliteStore::open(dir.path(), clock.clone(), Arc::new(SystemIds)).unwrap();
                for number in 0..10 {
                    store.commit(Write::of_host(create(&format!("team-{number}")))).await.unwrap();
                    clock.advance(SignedDuration::from_secs(1));
                }
                let last = *store.last_position().borrow();
                let prune = async |before, keep, most| {
                    let before = start + SignedDuration::from_secs(before);
                    store.prune_events(Prune { before, keep, most }).await.unwrap()
                };
                assert_eq!(prune(0, last, 100).await, 0);
                assert_eq!(prune(0, last - 3, 2).await, 2, "a few at a time");
                assert_eq!(prune(0, last - 3, 2).await, 1);
                let page = store.events(events_after(0)).await.unwrap();
                assert_eq!((page.gone, page.last), (3, last));
                assert_eq!(page.events[0].position, 4);
                assert!(page.goes_on_from(0) && page.goes_on_from(3) && page.goes_on_from(last));
                assert!(!page.goes_on_from(2) && !page.goes_on_from(last + 1));
                let removed = prune(9, last, 100).await;
                let left = store.events(events_after(0)).await.unwrap().events;
                assert!(left.iter().all(|event| event.time >= start + SignedDuration::from_secs(9)));
                assert_eq!(removed + left.len() as u64, last - 3);
                assert!(!left.is_empty());
                prune(100, last, 100).await;
                drop(store);
                let store = $open(dir.path()).unwrap();
                let page = store.events(events_after(0)).await.unwrap();
                assert_eq!((page.events.len(), page.gone, page.last), (0, last, last));
                store.commit(Write::of_host(create("later"))).await.unwrap();
                let page = store.events(events_after(last)).await.unwrap();
                assert_eq!(page.events[0].position, last + 1, "no position is used twice");
            }

            #[tokio::test]
            async fn a_repeated_request_is_answered_again_even_by_a_later_host() {
                let dir = TempDir::new().unwrap();
                let store = $open(dir.path()).unwrap();
                let request = RequestKey {
                    caller: TokenId::new(&SystemIds),
                    request_id: "one".to_owned(),
                    fingerprint: "a".to_owned(),
                };
                let with = |request: &RequestKey| Write {
                    request: Some(request.clone()),
                    ..Write::of_host(create("team"))
                };
                let first = quota(store.commit(with(&request)).await.unwrap());
                store.commit(Write::of_host(update("team", 0, 9))).await.unwrap();
                drop(store);
                let store = $open(dir.path()).unwrap();
                assert_eq!(quota(store.commit(with(&request)).await.unwrap()), first);
                let other_call = RequestKey { fingerprint: "b".to_owned(), ..request.clone() };
                let refused = store.commit(with(&other_call)).await.unwrap_err();
                assert!(matches!(refused, CommitError::Refused(Refusal::RequestIdReused { .. })));
                let other_caller = RequestKey { caller: TokenId::new(&SystemIds), ..request };
                let refused = store.commit(with(&other_caller)).await.unwrap_err();
                assert!(matches!(refused, CommitError::Refused(Refusal::NameExists { .. })));
            }
        }
    )*};
}

contract! {
    sqlite: open;
}

/// A clock that is set back, as it may be while no host runs.
#[tokio::test]
async fn the_time_of_the_store_never_goes_back() {
    let dir = TempDir::new().unwrap();
    let at = |time: &str| Arc::new(FakeClock::new(time.parse().unwrap()));
    let open = |clock| SqliteStore::open(dir.path(), clock, Arc::new(SystemIds)).unwrap();
    let store = open(at("2026-01-01T12:00:00Z"));
    let first = quota(store.commit(Write::of_host(create("first"))).await.unwrap());
    drop(store);
    let store = open(at("2026-01-01T11:00:00Z"));
    assert_eq!(store.records().time, first.meta.created_at);
    let second = quota(store.commit(Write::of_host(create("second"))).await.unwrap());
    assert_eq!(second.meta.created_at, first.meta.created_at);
}

/// Whose command comes first afterwards has nothing to do with it, and may even be refused.
#[tokio::test]
async fn what_time_has_brought_about_is_told_as_the_doing_of_the_host() {
    let dir = TempDir::new().unwrap();
    let clock = Arc::new(FakeClock::new("2026-01-01T12:00:00Z".parse().unwrap()));
    let shared = Arc::<FakeClock>::clone(&clock);
    let store = SqliteStore::open(dir.path(), shared, Arc::new(SystemIds)).unwrap();
    let environment = Create {
        parent: String::new(),
        name: "dev".to_owned(),
        labels: [].into(),
        spec: EnvironmentSpec::default(),
    };
    let lease = Create {
        parent: "dev".to_owned(),
        name: "brief".to_owned(),
        labels: [].into(),
        spec: CapacityLeaseSpec {
            amounts: [("cpu".to_owned(), 1)].into(),
            ttl: Some(Duration::from_secs(1)),
            ..CapacityLeaseSpec::default()
        },
    };
    let somebody = |command| Write { actor: "somebody".to_owned(), ..Write::of_host(command) };
    let environment = Command::Environment(Declare::Create(environment));
    store.commit(somebody(environment)).await.unwrap();
    let lease = Command::CapacityLease(Declare::Create(lease));
    store.commit(somebody(lease)).await.unwrap();
    clock.advance(SignedDuration::from_secs(2));
    store.commit(somebody(create("not a name"))).await.unwrap_err();
    let events = store.events(events_after(0)).await.unwrap().events;
    let told: Vec<_> = events.iter().map(|it| (it.type_name.as_str(), it.actor.as_str())).collect();
    assert_eq!(
        told,
        [
            ("SpecificationDeclared", "somebody"),
            ("SpecificationDeclared", "somebody"),
            ("CapacityLeaseGranted", "somebody"),
            ("CapacityLeaseExpired", "host"),
        ]
    );
}

/// Closing any handle of a file takes a process's locks on it: a host without locks would be taken for
/// gone, and its journal thrown away under it.
#[tokio::test]
async fn somebody_who_looks_at_the_database_of_a_host_takes_nothing_away() {
    let mut world = crate::world::World::start();
    let mut api = world.api().await;
    api.quota("before", &[]).await;
    let path = world.dir.path().join("runtimecloud.db");
    let other = rusqlite::Connection::open(path).unwrap();
    let seen: u32 = other.query_row("SELECT count(*) FROM quotas", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 1);
    drop(other);
    api.quota("after", &[]).await;
    world.kill();
    world.restart(&[]);
    use proto::runtimecloud::v1;
    let quotas =
        world.api().await.quotas.list(v1::ListRequest::default()).await.unwrap().into_inner();
    assert_eq!(quotas.quotas.len(), 2);
}

#[test]
fn a_database_of_a_newer_host_is_refused() {
    let dir = TempDir::new().unwrap();
    drop(open(dir.path()).unwrap());
    let connection = rusqlite::Connection::open(dir.path().join("runtimecloud.db")).unwrap();
    connection.pragma_update(None, "user_version", 1000).unwrap();
    drop(connection);
    let error = open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("written by a newer host"), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_kept() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("runtimecloud.db");
    std::fs::write(&path, "no database, but somebody's only copy of something").unwrap();
    assert!(open(dir.path()).is_err());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("no database"));
}

/// Every version's database is kept as a dump, `store/vN.sql`; each can still be opened.
#[tokio::test]
async fn databases_of_all_versions_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store");
    let mut versions = 0;
    for dump in std::fs::read_dir(folder).unwrap() {
        let dir = TempDir::new().unwrap();
        let dump = std::fs::read_to_string(dump.unwrap().path()).unwrap();
        let connection = rusqlite::Connection::open(dir.path().join("runtimecloud.db")).unwrap();
        connection.execute_batch(&dump).unwrap();
        drop(connection);
        let store = open(dir.path()).unwrap();
        let records = store.records();
        let pool = records.worker_pool("dev/web").unwrap();
        assert_eq!((pool.spec.size, records.workers_of(pool.id).count()), (2, 2));
        assert!(records.template(pool).unwrap().readiness.is_some());
        assert_eq!(records.quota("team").unwrap().spec.limits["cpu"].hard, Some(2000));
        assert_eq!(records.capacity_target("local").unwrap().spec.capacity["memory"], 1 << 30);
        assert_eq!(records.environments.len(), 1);
        let first = tokens::model::find(&records, "admin", Timestamp::now()).unwrap();
        assert_eq!(tokens::model::access(&records, first, Timestamp::now()), Ok(Role::Admin));
        for account in records.service_accounts.values() {
            let token = records.tokens.values().find(|it| it.account == Some(account.id));
            assert_eq!(token.unwrap().key(&records), "ci/deploy");
        }
        assert!(records.conditions.contains_key(&pool.id.to_string()));
        let tokens =
            records.capacity_leases.iter().filter_map(|lease| Some(lease.grant()?.fencing_token));
        assert_eq!(tokens.max().unwrap_or(0), records.fencing_token);
        let events = store.events(events_after(0)).await.unwrap().events;
        assert!(!events.is_empty());
        for event in events {
            let read = host::events::Event::read(&event.type_name, &event.data).unwrap();
            assert!(read.is_some(), "{event:?}");
        }
        versions += 1;
    }
    assert!(versions > 0);
}

/// `UPDATE=1` writes the dump of a database of today, if there is none of its version.
#[tokio::test]
async fn the_newest_version_has_its_dump() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store");
    let dir = TempDir::new().unwrap();
    drop(open(dir.path()).unwrap());
    let connection = rusqlite::Connection::open(dir.path().join("runtimecloud.db")).unwrap();
    let version: u32 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let path = folder.join(format!("v{version}.sql"));
    if std::env::var_os("UPDATE").is_some() && !path.exists() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, dump_of_a_busy_host(version).await).unwrap();
    }
    assert!(path.exists(), "there is no {}: run with UPDATE=1", path.display());
}

async fn dump_of_a_busy_host(version: u32) -> String {
    use proto::runtimecloud::v1;
    let world = crate::world::World::start();
    let mut api = world.api().await;
    let capacity = crate::world::amounts(&[("cpu", 4000), ("memory", 1 << 30)]);
    api.target("local", capacity).await;
    api.quota("team", &[("cpu", Some(2_000), Some(100))]).await;
    api.environment("dev", "team").await;
    api.account("ci", v1::Role::Editor).await;
    api.token(v1::CreateTokenRequest {
        service_account: "ci".to_owned(),
        name: "deploy".to_owned(),
        spec: Some(v1::TokenSpec::default()),
        ..v1::CreateTokenRequest::default()
    })
    .await;
    let mut spec = crate::world::sleepers(2);
    spec.worker.as_mut().unwrap().ports = vec!["http".to_owned()];
    spec.readiness = Some(v1::Readiness {
        check: Some(v1::readiness::Check::Command(v1::CommandCheck {
            command: crate::world::words(&["true"]),
        })),
        ..v1::Readiness::default()
    });
    spec.restart = Some(v1::RestartPolicy::default());
    spec.stop = Some(v1::StopPolicy { signal: "INT".to_owned(), grace: None });
    api.pools.create(crate::world::new_pool("web", spec)).await.unwrap();
    api.ready("dev/web").await;
    let lease = crate::world::lease_of(&[("cpu", 1_000)]);
    api.leases.create(crate::world::new_lease("batch", lease.clone())).await.unwrap();
    let waits = v1::CapacityLeaseSpec { wait: crate::world::seconds(3600), ..lease };
    api.leases.create(crate::world::new_lease("later", waits)).await.unwrap();
    let connection = rusqlite::Connection::open(world.dir.path().join("runtimecloud.db")).unwrap();
    let mut dump = format!("PRAGMA user_version = {version};\n");
    let schema = "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL
                  AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name";
    let mut statement = connection.prepare(schema).unwrap();
    let objects = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<Vec<(String, String, String)>, _>>()
        .unwrap();
    for (name, kind, sql) in objects {
        dump += &format!("{sql};\n");
        if kind == "table" {
            dump += &rows(&connection, &name);
        }
    }
    dump
}

fn rows(connection: &rusqlite::Connection, table: &str) -> String {
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let quoted: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
    let values = quoted.join(" || ', ' || ");
    let mut statement = connection.prepare(&format!("SELECT {values} FROM {table}")).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|row| format!("INSERT INTO {table} VALUES ({});\n", row.unwrap())).collect()
}
