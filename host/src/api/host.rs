//! What the host is.

use proto::runtimecloud::v1::{self, host_server::Host};
use tonic::{Request, Response, Status};

use super::Core;
use crate::capacity::target::DriverKind;

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
        }))
    }
}
