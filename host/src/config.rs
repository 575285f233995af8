//! What the host is told by its command line and its environment; nothing else reads the latter.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;

/// Runs the host until it is told to stop (SIGTERM or SIGINT).
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Folder for all that the host keeps; made if it is not there
    #[arg(long, env = "RUNTIMECLOUD_DATA_DIR", value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Loopback address to listen on; port 0 takes any free one
    #[arg(
        long,
        env = "RUNTIMECLOUD_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:7443",
        value_parser = loopback
    )]
    pub listen: SocketAddr,

    /// On the way out, stop all workers; otherwise they go on and a later host finds them
    #[arg(long)]
    pub stop_workers: bool,

    /// How long events are kept
    #[arg(
        long,
        env = "RUNTIMECLOUD_EVENTS_MAX_AGE",
        value_name = "TIME",
        default_value = "168h",
        value_parser = age
    )]
    pub events_max_age: Duration,

    /// How many events are kept at most
    #[arg(
        long,
        env = "RUNTIMECLOUD_EVENTS_MAX_COUNT",
        value_name = "NUMBER",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub events_max_count: u64,

    /// What to log on standard error, such as `info` or `host=debug`
    #[arg(long, env = "RUNTIMECLOUD_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
}

fn age(text: &str) -> Result<Duration, String> {
    let age = proto::duration::parse(text)?;
    if age < Duration::from_secs(1) {
        return Err("it is shorter than a second: keep events for a while".to_owned());
    }
    Ok(age)
}

/// Tokens travel in clear, so they must not leave the machine.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "it must be ADDRESS:PORT, such as 127.0.0.1:7443".to_owned())?;
    if !address.ip().is_loopback() {
        return Err(
            "it is not a loopback address, and connections are not encrypted: listen on 127.0.0.1 \
             and put a proxy with TLS before it"
                .to_owned(),
        );
    }
    Ok(address)
}
