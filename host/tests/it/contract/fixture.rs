//! A driver with a data folder of its own, and workers to give it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::StreamExt;
use host::{
    drivers::{
        CapacityDriver, LogOptions, SeenPhase, SeenWorker,
        process::{GroupUse, ProcessDriver, ProcessOptions, worker_folder},
    },
    ids::{SystemIds, WorkerId},
    pools::template::{RestartPolicy, StopPolicy, StopSignal, WorkerTemplate},
    supervisor::{folder::Folder, output::OutputLimits},
};
use rustix::process::{Flock, FlockType, Pid, Signal, kill_process};

/// Generous: a slow machine must not fail a test, and a passing test does not wait for it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Fixture {
    pub driver: ProcessDriver,
    options: ProcessOptions,
    _root: tempfile::TempDir,
}

impl Fixture {
    pub(super) fn new(groups: GroupUse) -> Self {
        Self::in_folder(groups, "data")
    }

    pub(super) fn in_folder(groups: GroupUse, name: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut options = options(root.path().join(name), groups);
        options.output = OutputLimits { file_bytes: 1_000, files: 3 };
        let driver = ProcessDriver::new(options.clone()).unwrap();
        Self { driver, options, _root: root }
    }

    /// Another target of the same host.
    pub(super) fn neighbour(&self) -> Self {
        let root = tempfile::tempdir().unwrap();
        let options = ProcessOptions { data_dir: root.path().join("data"), ..self.options.clone() };
        let driver = ProcessDriver::new(options.clone()).unwrap();
        Self { driver, options, _root: root }
    }

    pub(super) fn groups(&self) -> GroupUse {
        self.options.groups
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.options.data_dir
    }

    /// As a restarted host would make it.
    pub(super) fn new_driver(&self) -> ProcessDriver {
        ProcessDriver::new(self.options.clone()).unwrap()
    }

    pub(super) async fn start(&self, template: &WorkerTemplate) -> WorkerId {
        let id = new_id();
        self.driver.ensure(id, template).await.unwrap();
        id
    }

    pub(super) async fn seen(&self, id: WorkerId) -> Option<SeenWorker> {
        self.driver.list().await.unwrap().into_iter().find(|worker| worker.id == id)
    }

    pub(super) async fn until(
        &self,
        id: WorkerId,
        what: &str,
        holds: impl Fn(&SeenWorker) -> bool,
    ) -> SeenWorker {
        let mut last = None;
        for _ in 0..PATIENCE.as_millis() / 10 {
            last = self.seen(id).await;
            if let Some(worker) = last.take_if(|worker| holds(worker)) {
                return worker;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never {what}: {last:?}");
    }

    pub(super) async fn until_ready(&self, id: WorkerId) -> SeenWorker {
        self.until(id, "ready", |worker| worker.ready).await
    }

    pub(super) async fn stop(&self, id: WorkerId) -> SeenWorker {
        self.driver.stop(id, None).await.unwrap();
        self.until(id, "stopped", |worker| worker.phase == SeenPhase::Stopped).await
    }

    /// All that the worker printed until now.
    pub(super) async fn printed(&self, id: WorkerId, tail_lines: Option<u32>) -> String {
        self.collect(id, LogOptions { follow: false, tail_lines }).await
    }

    pub(super) async fn collect(&self, id: WorkerId, options: LogOptions) -> String {
        let pieces: Vec<_> = self.driver.logs(id, options).collect().await;
        let bytes: Vec<u8> = pieces.into_iter().flat_map(Result::unwrap).collect();
        String::from_utf8(bytes).unwrap()
    }

    pub(super) async fn until_printed(&self, id: WorkerId, text: &str) -> String {
        until(&format!("printed `{text}`"), async || {
            Some(self.printed(id, None).await).filter(|printed| printed.contains(text))
        })
        .await
    }

    pub(super) fn folder(&self, id: WorkerId) -> PathBuf {
        worker_folder(self.data_dir(), id)
    }

    /// Kills the worker's supervisor so that it can not say a last word.
    pub(super) async fn kill_supervisor(&self, id: WorkerId) {
        let lock = fs::File::open(self.folder(id).join("lock")).unwrap();
        let holder = rustix::process::fcntl_getlk(&lock, &Flock::from(FlockType::WriteLock));
        let pid = holder.unwrap().and_then(|holder| holder.pid).expect("a supervisor lives");
        kill_process(pid, Signal::KILL).unwrap();
        until("without a supervisor", async || {
            Folder::new(self.folder(id)).supervisor().unwrap().is_none().then_some(())
        })
        .await;
    }
}

/// A failed test leaves no process and no control group either.
impl Drop for Fixture {
    fn drop(&mut self) {
        let driver = self.driver.clone();
        let cleaned = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(stop_all(&driver));
        });
        let _failed_before = cleaned.join();
    }
}

async fn stop_all(driver: &ProcessDriver) {
    for worker in driver.list().await.unwrap() {
        driver.stop(worker.id, None).await.unwrap();
    }
    until("all stopped", async || {
        let all = driver.list().await.unwrap();
        all.iter().all(|worker| worker.phase == SeenPhase::Stopped).then_some(())
    })
    .await;
}

pub(super) fn options(data_dir: PathBuf, groups: GroupUse) -> ProcessOptions {
    let ports = data_dir.join("ports");
    ProcessOptions {
        program: env!("CARGO_BIN_EXE_runtimecloud").into(),
        groups,
        ..ProcessOptions::new(data_dir, ports)
    }
}

pub(super) async fn until<T>(what: &str, mut holds: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE.as_millis() / 10 {
        if let Some(value) = holds().await {
            return value;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never {what}");
}

pub(super) fn new_id() -> WorkerId {
    WorkerId::new(&SystemIds)
}

/// A worker that runs `command` and is restarted quickly.
pub(super) fn template(command: &[&str]) -> WorkerTemplate {
    WorkerTemplate {
        command: command.iter().map(ToString::to_string).collect(),
        variables: BTreeMap::new(),
        working_dir: None,
        ports: vec![],
        shape: BTreeMap::new(),
        readiness: None,
        restart: RestartPolicy {
            delay: Duration::from_millis(20),
            delay_max: Duration::from_millis(200),
            healthy_after: Duration::from_secs(60),
        },
        stop: StopPolicy { signal: StopSignal::Term, grace: Duration::from_secs(20) },
    }
}

pub(super) fn shell(script: &str) -> WorkerTemplate {
    template(&["sh", "-c", script])
}

pub(super) fn sleeper() -> WorkerTemplate {
    template(&["sleep", "1000"])
}

/// Living processes that carry the worker's mark.
pub(super) fn running(id: WorkerId) -> Vec<u32> {
    let mark = format!("RUNTIMECLOUD_WORKER_ID={id}");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// The names of the programs that the worker runs now.
pub(super) fn running_programs(id: WorkerId) -> Vec<String> {
    let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let mut names: Vec<_> = running(id).into_iter().filter_map(name).collect();
    names.iter_mut().for_each(|name| name.truncate(name.trim_end().len()));
    names.sort();
    names
}

pub(super) fn is_running(pid: u32) -> bool {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}
