//! A folder with a host and a configuration, and a command line to run on them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Error, Result, anyhow, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    binaries,
    cli::Cli,
    folders,
    host::{self, Host},
    plan::{Plan, Planned},
    processes::{self, Process},
    run::{Ran, Running, run, until},
};

/// Both registries' names, since a short source means another one to each command line.
const SOURCES: [&str; 2] = [
    "registry.terraform.io/runtimecloud/runtimecloud",
    "registry.opentofu.org/runtimecloud/runtimecloud",
];

/// Names the provider where a configuration doesn't.
const REQUIRED: &str = r#"terraform {
  required_providers {
    runtimecloud = { source = "runtimecloud/runtimecloud" }
  }
}
"#;

/// The value of the variable `webhook_secret`, where a configuration has it.
const WEBHOOK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The value of the variable `deploy_secret`, where a configuration has it.
pub const DEPLOY_SECRET: &str = "a-secret-of-the-user-that-is-kept-nowhere";

/// Whether a plan asks the host what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    Yes,
    No,
}

pub struct World {
    pub host: Host,
    cli: Cli,
    /// The token that Terraform is given; absent: none.
    pub token: Option<String>,
    dir: TempDir,
}

impl World {
    /// A host that runs and an empty configuration.
    pub fn new(cli: &Cli) -> Result<Self> {
        // Short: the path of a plugin's socket, inside, may have 107 bytes.
        let dir = tempfile::Builder::new().prefix("rc-").tempdir()?;
        let path = dir.path();
        for folder in ["config", "tmp"] {
            fs::create_dir(path.join(folder))?;
        }
        let provider = binaries::PROVIDER.path()?;
        let provider = provider.parent().context("the provider is in no folder")?.display();
        let overrides =
            SOURCES.map(|source| format!("    \"{source}\" = \"{provider}\"\n")).concat();
        fs::write(
            path.join("cli.tfrc"),
            format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n"),
        )?;
        let host = Host::start(path)?;
        let token = Some(host.token()?);
        Ok(Self { host, cli: cli.clone(), token, dir })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The provider under test.
    pub fn provider(&self) -> Result<PathBuf> {
        binaries::PROVIDER.path()
    }

    /// Has the command line install the provider from a mirror, as users do, by `init`.
    pub fn install_from(&self, mirror: &Path) -> Result<()> {
        let mirror = mirror.display();
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{mirror}\"\n  }}\n}}\n"
        );
        Ok(fs::write(self.path().join("cli.tfrc"), text)?)
    }

    /// The folder of the configuration and of Terraform's state.
    pub fn config(&self) -> PathBuf {
        self.path().join("config")
    }

    /// Makes the configuration consist of this text alone.
    pub fn configure(&self, text: &str) -> Result<()> {
        self.configure_files(&[("main.tf", text.to_owned())])
    }

    /// Makes the configuration consist of these files alone. The provider is required, and an
    /// endpoint written for the default port becomes this host's.
    pub fn configure_files(&self, files: &[(&str, String)]) -> Result<()> {
        self.configure_in(&self.config(), files)
    }

    /// As [`World::configure_files`], in another folder of this world.
    pub fn configure_in(&self, dir: &Path, files: &[(&str, String)]) -> Result<()> {
        for old in fs::read_dir(dir)?.flatten() {
            if old.path().extension().is_some_and(|ext| ext == "tf" || ext == "hcl") {
                fs::remove_file(old.path())?;
            }
        }
        if !files.iter().any(|(_, text)| text.contains("required_providers")) {
            fs::write(dir.join("required.tf"), REQUIRED)?;
        }
        for (name, text) in files {
            let text = text.replace("http://127.0.0.1:7443", &self.host.endpoint());
            fs::write(dir.join(name), text)?;
        }
        Ok(())
    }

    /// Runs the command line.
    pub fn terraform(&self, arguments: &[&str]) -> Result<Ran> {
        run(self.command(&self.config(), arguments))
    }

    /// Starts the command line.
    pub fn begin_terraform(&self, arguments: &[&str]) -> Result<Running> {
        self.begin_terraform_in(&self.config(), arguments)
    }

    /// Starts the command line in another folder of this world.
    pub fn begin_terraform_in(&self, dir: &Path, arguments: &[&str]) -> Result<Running> {
        Running::start(self.command(dir, arguments))
    }

    /// Runs a line in a shell that finds the command line under its usual names. Applies go ahead
    /// without a question.
    pub fn shell(&self, line: &str) -> Result<Ran> {
        let names = self.path().join("bin");
        fs::create_dir_all(&names)?;
        let program = self.cli.path.display();
        for name in ["terraform", "tofu"] {
            let wrapper = names.join(name);
            fs::write(&wrapper, format!("#!/bin/sh\nexec '{program}' \"$@\"\n"))?;
            fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o700))?;
        }
        let line = format!("PATH='{}':\"$PATH\"\n{line}", names.display());
        let mut command = self.in_world(Path::new("sh"), &self.config(), &["-c", &line]);
        command.env("TF_CLI_ARGS_apply", "-auto-approve -input=false");
        run(command)
    }

    fn command(&self, dir: &Path, arguments: &[&str]) -> Command {
        self.in_world(&self.cli.path, dir, arguments)
    }

    fn in_world(&self, program: &Path, dir: &Path, arguments: &[&str]) -> Command {
        let mut command = host::command(program);
        command.args(arguments).current_dir(dir);
        command.env("TF_CLI_CONFIG_FILE", self.path().join("cli.tfrc"));
        command.env("TF_IN_AUTOMATION", "1").env("TF_CLI_ARGS", "-no-color");
        command.env("TMPDIR", self.path().join("tmp")).env("CHECKPOINT_DISABLE", "1");
        command.env("RUNTIMECLOUD_ENDPOINT", self.host.endpoint());
        command.env("TF_VAR_deploy_secret", DEPLOY_SECRET);
        command.env("TF_VAR_webhook_secret", WEBHOOK_SECRET);
        if let Some(token) = &self.token {
            command.env("RUNTIMECLOUD_TOKEN", token);
        }
        command
    }

    /// Applies the configuration. Succeeds or fails as the command line does.
    pub fn try_apply(&self) -> Result<Ran> {
        self.terraform(&["apply", "-auto-approve", "-input=false"])
    }

    /// Applies the configuration, which must succeed.
    pub fn apply(&self) -> Result<()> {
        self.try_apply()?.succeeded().map_err(|error| self.with_log(&error))?;
        Ok(())
    }

    /// Plans, which must succeed.
    pub fn plan(&self, refresh: Refresh) -> Result<Plan> {
        self.plan_as(&[&format!("-refresh={}", refresh == Refresh::Yes)])
    }

    /// Plans with some arguments, which must succeed; the plan in JSON is `plan.json`.
    pub fn plan_as(&self, arguments: &[&str]) -> Result<Plan> {
        let arguments = [&["plan", "-input=false", "-out=plan.bin"], arguments].concat();
        self.terraform(&arguments)?.succeeded()?;
        let plan = self.kept_plan()?;
        fs::write(self.config().join("plan.json"), plan.json.to_string())?;
        Ok(plan)
    }

    /// Plans, which must succeed, and keeps the plan for [`World::apply_plan`].
    pub fn plan_step(&self) -> Result<Planned> {
        self.stream(&["plan", "-input=false", "-json", "-out=plan.bin"])
    }

    /// Applies the last plan that was kept, which must succeed.
    pub fn apply_plan(&self) -> Result<()> {
        let applied = self.terraform(&["apply", "-input=false", "plan.bin"])?;
        applied.succeeded().map_err(|error| self.with_log(&error))?;
        Ok(())
    }

    /// The last plan that was kept.
    pub fn kept_plan(&self) -> Result<Plan> {
        let json = self.terraform(&["show", "-json", "plan.bin"])?.succeeded()?.stdout;
        Ok(Plan { json: serde_json::from_str(&json)? })
    }

    fn stream(&self, arguments: &[&str]) -> Result<Planned> {
        let ran = self.terraform(arguments)?;
        let planned = Planned::read(&ran.stdout)?;
        ran.succeeded().with_context(|| planned.said.clone())?;
        Ok(planned)
    }

    /// Fails unless a plan, with and without asking the host, finds nothing to do and no drift.
    pub fn expect_empty_plan(&self, when: &str) -> Result<()> {
        for refresh in ["-refresh=false", "-refresh=true"] {
            let planned =
                self.stream(&["plan", "-input=false", "-json", "-out=plan.bin", refresh])?;
            let Planned { actions, drifted, .. } = &planned;
            if !actions.is_empty() || !drifted.is_empty() {
                let differences = self.kept_plan()?.differences();
                bail!(
                    "{when}, a plan with {refresh} is not empty: {actions:?}, drift {drifted:?}\n\
                     {differences}"
                );
            }
        }
        Ok(())
    }

    /// Terraform's state as it shows it.
    pub fn show(&self) -> Result<Value> {
        Ok(serde_json::from_str(&self.terraform(&["show", "-json"])?.succeeded()?.stdout)?)
    }

    /// A value of a resource in Terraform's state; `path` is names separated by dots.
    pub fn value(&self, address: &str, path: &str) -> Result<Value> {
        let shown = self.show()?;
        let resources = shown["values"]["root_module"]["resources"].as_array();
        let resource = resources.into_iter().flatten().find(|one| one["address"] == address);
        let resource = resource.with_context(|| format!("`{address}` is not in the state"))?;
        Ok(path.split('.').fold(&resource["values"], |value, name| &value[name]).clone())
    }

    /// One attribute of a resource in Terraform's state, as text.
    pub fn attribute(&self, address: &str, name: &str) -> Result<String> {
        let value = self.value(address, name)?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Destroys everything, and fails when a process or a control group of a worker is left.
    pub fn destroy(&self) -> Result<()> {
        let workers: Vec<String> = self.workers().into_keys().collect();
        let destroyed = self.terraform(&["destroy", "-auto-approve", "-input=false"])?;
        destroyed.succeeded().map_err(|error| self.with_log(&error))?;
        let host = self.host.pid()?;
        let mut left = String::new();
        until("all that workers are made of to be gone", || {
            let mut processes = processes::of_world(self.path());
            processes.retain(|process| process.pid != host);
            let groups = processes::control_groups(&workers);
            left = format!("left: {processes:?} {groups:?}");
            Ok((processes.is_empty() && groups.is_empty()).then_some(()))
        })
        .map_err(|error| error.context(left))
    }

    /// The processes of each worker, by its id; a supervisor is none of them.
    pub fn workers(&self) -> BTreeMap<String, Vec<Process>> {
        let mut workers: BTreeMap<String, Vec<Process>> = BTreeMap::new();
        for process in processes::of_world(self.path()) {
            if let Some(id) = process.environment.get(processes::WORKER_MARK) {
                workers.entry(id.clone()).or_default().push(process);
            }
        }
        workers
    }

    fn with_log(&self, error: &Error) -> Error {
        anyhow!("{error:#}\n{}", self.host.log())
    }

    /// Runs `driftgate` in the folder of the configuration.
    pub fn driftgate(&self, arguments: &[&str]) -> Result<Ran> {
        let mut command = host::command(&binaries::DRIFTGATE.path()?);
        command.args(arguments).current_dir(self.config());
        run(command)
    }

    /// Has `driftgate state` ask the command line what is real.
    pub fn driftgate_state(&self, arguments: &[&str]) -> Result<Ran> {
        let engine = self.cli.path.to_str().context("the command line's path is no text")?;
        let asking = [&["state", "--config-dir", ".", "--terraform", engine], arguments].concat();
        run(self.in_world(&binaries::DRIFTGATE.path()?, &self.config(), &asking))
    }
}

/// The names of all folders that a driver keeps for a worker.
fn worker_folders(dir: &Path) -> Vec<String> {
    let names = |folder: &PathBuf| Some(folder.file_name()?.to_str()?.to_owned());
    let folders = folders(dir);
    let inner = folders.iter().flat_map(|folder| worker_folders(folder));
    let own = folders.iter().filter_map(names).filter(|name| name.starts_with("worker_"));
    own.chain(inner).collect()
}

#[expect(clippy::panic, reason = "a test that leaves processes behind has failed")]
impl Drop for World {
    fn drop(&mut self) {
        let kill_all = || {
            self.host.kill()?;
            // Their groups are named after the workers, and so are their folders.
            let workers = worker_folders(self.host.data());
            processes::kill_world(self.path())?;
            processes::remove_control_groups(&workers)
        };
        let cleaned: Result<()> = kill_all();
        if let Err(error) = cleaned
            && !std::thread::panicking()
        {
            panic!("a world could not be cleaned up: {error:#}");
        }
    }
}
