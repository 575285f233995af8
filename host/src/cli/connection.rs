//! The way to the host: where it is, and who calls.

use std::{fs, io, net::IpAddr, path::PathBuf, time::Duration};

use clap::Args;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, Endpoint},
};

use crate::cli::failure::{Exit, Failure};

const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:7443";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Where the host is. What is not given is read from the host's data folder, if that is given.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connect {
    /// Address of the host [default: http://127.0.0.1:7443]
    #[arg(long, value_name = "URL", env = "RUNTIMECLOUD_ENDPOINT", hide_env_values = true)]
    pub endpoint: Option<String>,

    /// Token that says who calls
    #[arg(long, value_name = "TOKEN", env = "RUNTIMECLOUD_TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// The host's data folder, to read what is not given: its address and the administrator's token
    #[arg(long, value_name = "DIR", env = "RUNTIMECLOUD_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
}

impl Connect {
    /// Whether anything says which host is meant.
    pub fn names_a_host(&self) -> bool {
        self.token.is_some() || self.data_dir.is_some()
    }

    /// Read anew each time: a host that was started again may listen elsewhere.
    pub fn endpoint(&self) -> Result<String, Failure> {
        if let Some(endpoint) = self.endpoint.as_ref().filter(|endpoint| !endpoint.is_empty()) {
            return Ok(endpoint.clone());
        }
        Ok(self.kept("endpoint", "has a host run with it?")?.unwrap_or(DEFAULT_ENDPOINT.to_owned()))
    }

    fn token(&self) -> Result<String, Failure> {
        if let Some(token) = self.token.as_ref().filter(|token| !token.is_empty()) {
            return Ok(token.clone());
        }
        self.kept("admin.token", "may you read it, and has a host run with it?")?.ok_or_else(|| {
            Failure::new(Exit::NotAllowed, "no token was given").help(
                "give one with `--token` or RUNTIMECLOUD_TOKEN, or the host's data folder with \
                 `--data-dir`, whose `admin.token` is then used",
            )
        })
    }

    /// A line that the host keeps in its data folder.
    fn kept(&self, name: &str, help: &str) -> Result<Option<String>, Failure> {
        let Some(data_dir) = &self.data_dir else { return Ok(None) };
        let path = data_dir.join(name);
        let text = fs::read_to_string(&path).map_err(|error| {
            let exit = match error.kind() {
                io::ErrorKind::PermissionDenied => Exit::NotAllowed,
                _ => Exit::Unreachable,
            };
            Failure::new(exit, format!("cannot read `{}`: {error}", path.display())).help(help)
        })?;
        Ok(Some(text.trim().to_owned()))
    }

    pub async fn open(&self) -> Result<Session, Failure> {
        let endpoint = self.endpoint()?;
        let usage = |why: &str| {
            Failure::new(Exit::Usage, format!("`{endpoint}` is not the address of a host: {why}"))
                .help(format!("write for example `{DEFAULT_ENDPOINT}`"))
        };
        if endpoint.starts_with("https:") {
            return Err(usage(
                "the command line speaks plain HTTP only, on the host's own machine",
            ));
        }
        if !endpoint.starts_with("http://") {
            return Err(usage("it does not begin with `http://`"));
        }
        let host =
            Endpoint::from_shared(endpoint.clone()).map_err(|error| usage(&error.to_string()))?;
        if !is_this_machine(host.uri().host().unwrap_or_default()) {
            return Err(usage(
                "it is another machine, and the token would travel there in clear; forward a \
                 local port to it through something that encrypts, such as `ssh -L`",
            ));
        }
        let bearer = Bearer::new(&self.token()?)?;
        let channel = host
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .connect()
            .await
            .map_err(|error| Failure::unreachable(&endpoint, &error))?;
        Ok(Session { endpoint, channel: InterceptedService::new(channel, bearer) })
    }
}

/// Whether what is sent to a host stays on this machine.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| host.eq_ignore_ascii_case("localhost"), |it| it.is_loopback())
}

/// Puts the token on each call.
#[derive(Clone)]
pub struct Bearer(MetadataValue<Ascii>);

impl Bearer {
    fn new(token: &str) -> Result<Self, Failure> {
        let mut value =
            format!("Bearer {token}").parse::<MetadataValue<Ascii>>().map_err(|_| {
                Failure::new(Exit::NotAllowed, "the token has characters that no token has")
                    .help("copy it again, without line breaks")
            })?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

pub type Authorized = InterceptedService<Channel, Bearer>;

/// A connection to a host.
#[derive(Clone)]
pub struct Session {
    pub endpoint: String,
    pub channel: Authorized,
}

impl Session {
    /// Turns the host's answer to an attempt into a failure.
    pub fn failure(&self, attempt: impl AsRef<str>) -> impl Fn(Status) -> Failure {
        let (attempt, endpoint) = (attempt.as_ref().to_owned(), self.endpoint.clone());
        move |status| Failure::of_status(&attempt, &endpoint, &status)
    }
}
