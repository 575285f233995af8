//! Capacity targets on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, capacity_targets_server::CapacityTargets};
use tonic::{Request, Response, Status};

use super::wire;
use crate::{
    admission::{Answer, Command, Create, Declare, Update},
    api::{Call, Core, nouns, status},
};

pub struct CapacityTargetsApi(pub Core);

type Answered = Result<Response<v1::CapacityTarget>, Status>;

impl CapacityTargetsApi {
    async fn commit(&self, call: Call, change: Declare<super::target::CapacityTarget>) -> Answered {
        match self.0.write(call, Command::CapacityTarget(change)).await? {
            Answer::CapacityTarget(it) => Ok(Response::new(wire::target(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl CapacityTargets for CapacityTargetsApi {
    async fn create(&self, request: Request<v1::CreateCapacityTargetRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateCapacityTargetRequest { name, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read_target(spec, &mut call.found);
        let create = Create { parent: String::new(), name, labels, spec };
        self.commit(call, Declare::Create(create)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::target)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListCapacityTargetsResponse>, Status> {
        let view = self.0.view();
        let all = view.records.capacity_targets.values();
        let page = nouns::page(&view, &request, all, |it| it.meta.name.clone(), wire::target)?;
        Ok(Response::new(v1::ListCapacityTargetsResponse {
            capacity_targets: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateCapacityTargetRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateCapacityTargetRequest { key, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read_target(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Declare::Update(update)).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Declare::Delete(delete)).await
    }
}
