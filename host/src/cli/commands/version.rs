//! `version`: of this program, and of the host where one is named.

use clap::Args;
use proto::runtimecloud::v1::GetInfoRequest;
use serde_json::{Value, json};

use crate::cli::{Action, connection::Connect, failure::Failure, output::Output};

/// Show the version of this program, and of the host if one is named
#[derive(Debug, Args)]
pub struct Version {
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Version {
    async fn run(self) -> Result<(), Failure> {
        let client = env!("CARGO_PKG_VERSION");
        let host = if self.connect.names_a_host() {
            let session = self.connect.open().await?;
            let failure = session.failure("ask the host what it is");
            let info = session.host().get_info(GetInfoRequest {}).await.map_err(failure)?;
            Some((info.into_inner(), session.endpoint))
        } else {
            None
        };
        if self.output.is_json() {
            let host = host.map_or(Value::Null, |(info, endpoint)| {
                json!({
                    "id": info.host_id,
                    "version": info.version,
                    "endpoint": endpoint,
                    "drivers": info.drivers,
                    "last_event_position": info.last_event_position,
                })
            });
            return Ok(self.output.json(&json!({"client": client, "host": host}))?);
        }
        self.output.line(&format!("runtimecloud {client}"))?;
        if let Some((info, endpoint)) = host {
            self.output.line(&format!("host {} at {endpoint} ({})", info.version, info.host_id))?;
        }
        Ok(())
    }
}
