//! What the host is.

use jiff::Timestamp;
use proto::runtimecloud::v1::{self, host_server::Host};
use tonic::{Request, Response, Status};

use super::{Core, convert, gate::METHODS};
use crate::capacity::{recount::Recount, target::DriverKind};

pub struct HostApi(pub Core);

#[tonic::async_trait]
impl Host for HostApi {
    async fn get_info(
        &self,
        _: Request<v1::GetInfoRequest>,
    ) -> Result<Response<v1::HostInfo>, Status> {
        let mut drivers: Vec<_> =
            DriverKind::ALL.iter().map(|kind| kind.name().to_owned()).collect();
        drivers.sort();
        Ok(Response::new(v1::HostInfo {
            host_id: self.0.store.host_id().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drivers,
            last_event_position: *self.0.store.last_position().borrow(),
            capabilities: capabilities(),
            last_recount: self.0.board.recounted().map(|(at, it)| last_recount(at, &it)),
        }))
    }
}

fn last_recount(at: Timestamp, it: &Recount) -> v1::UsageRecount {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    v1::UsageRecount {
        counted_at: Some(convert::timestamp(at)),
        quotas: number(it.quotas),
        capacity_leases: number(it.leases),
        differences: number(it.differences.len()),
    }
}

/// The services of the API, in lower case with underscores: what the gate lets through.
fn capabilities() -> Vec<String> {
    let services = METHODS.iter().filter_map(|(path, _)| {
        let (service, _method) = path.strip_prefix("/runtimecloud.v1.")?.split_once('/')?;
        Some(service)
    });
    let mut names: Vec<String> = services.map(in_lower_case).collect();
    names.sort();
    names.dedup();
    names
}

/// `worker_pools` for `WorkerPools`.
fn in_lower_case(name: &str) -> String {
    let mut lower = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !lower.is_empty() {
            lower.push('_');
        }
        lower.extend(letter.to_lowercase());
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_is_named_once() {
        let names = capabilities();
        assert!(names.contains(&"worker_pools".to_owned()), "{names:?}");
        assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
    }
}
