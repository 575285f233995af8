//! `runtimecloud serve` as a process, and its API.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

use crate::{
    binaries, processes,
    run::{self, Ran, Running},
    settings,
};

/// A host and its data folder. The host may be down.
pub struct Host {
    data: PathBuf,
    log: PathBuf,
    /// The address of the first start; every later one takes it again.
    address: OnceLock<String>,
    child: Mutex<Option<Child>>,
}

impl Host {
    /// Starts a host on a free port; its data folder and its log are made in `dir`.
    pub fn start(dir: &Path) -> Result<Self> {
        let (data, log) = (dir.join("data"), dir.join("host.log"));
        let host = Self { data, log, address: OnceLock::new(), child: Mutex::new(None) };
        host.restart()?;
        Ok(host)
    }

    /// Starts the host again, on the port that it had.
    pub fn restart(&self) -> Result<()> {
        self.kill()?;
        // What an earlier host wrote must not be taken for the sign that this one listens.
        let endpoint_file = self.data.join("endpoint");
        match fs::remove_file(&endpoint_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let listen = self.address.get().map_or("127.0.0.1:0", String::as_str);
        let mut command = command(&binaries::HOST.path()?);
        command.args(["serve", "--listen", listen, "--data-dir"]).arg(&self.data);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::options().create(true).append(true).open(&self.log)?);
        let mut running = self.child();
        let child = running.insert(command.spawn().context("cannot start the host")?);
        let endpoint = run::until("the host to listen", || {
            if let Some(status) = child.try_wait()? {
                bail!("the host ended with {status}");
            }
            Ok(fs::read_to_string(&endpoint_file).ok().filter(|text| text.starts_with("http")))
        });
        let endpoint = endpoint.with_context(|| self.log())?;
        self.address.get_or_init(|| endpoint.trim().trim_start_matches("http://").to_owned());
        Ok(())
    }

    /// `kill -9`; nothing when it is down already.
    pub fn kill(&self) -> Result<()> {
        if let Some(mut child) = self.child().take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Asks the host to end, and waits until it has.
    pub fn stop(&self) -> Result<()> {
        if let Some(mut child) = self.child().take() {
            processes::signal(child.id(), Signal::TERM)?;
            run::until("the host to stop", || Ok(child.try_wait()?))?;
        }
        Ok(())
    }

    pub fn pid(&self) -> Result<u32> {
        Ok(self.child().as_ref().context("the host is down")?.id())
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address.get().map_or("", String::as_str))
    }

    pub fn token(&self) -> Result<String> {
        let token = fs::read_to_string(self.data.join("admin.token"));
        Ok(token.context("the host wrote no administrator token")?.trim().to_owned())
    }

    /// The last lines that the host logged.
    pub fn log(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!("the host's log ends with:\n{}", lines[lines.len().saturating_sub(30)..].join("\n"))
    }

    /// Runs an operator's sub-command against this host.
    pub fn operator(&self, arguments: &[&str]) -> Result<Ran> {
        self.begin_operator(arguments)?.wait()
    }

    /// Starts an operator's sub-command against this host.
    pub fn begin_operator(&self, arguments: &[&str]) -> Result<Running> {
        let mut command = command(&binaries::HOST.path()?);
        command.args(arguments).env("RUNTIMECLOUD_DATA_DIR", &self.data);
        Running::start(command)
    }

    /// A connection to the API that carries the administrator's token. It connects when it is used,
    /// and again after a restart of the host.
    pub fn api(&self) -> Result<Api> {
        let channel = Channel::from_shared(self.endpoint())?.connect_lazy();
        let bearer = format!("Bearer {}", self.token()?).parse()?;
        Ok(InterceptedService::new(channel, Bearer(bearer)))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The world's own clean-up kills what is left and reports it.
        drop(self.kill());
    }
}

/// What a generated client is made of: `WorkerPoolsClient::new(api.clone())`.
pub type Api = InterceptedService<Channel, Bearer>;

/// Adds the token to each call.
#[derive(Clone)]
pub struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// The program of host and operator.
pub fn program() -> Result<PathBuf> {
    binaries::HOST.path()
}

/// A command without the variables that would change what it does.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in settings::foreign() {
        command.env_remove(name);
    }
    command
}
