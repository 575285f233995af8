//! Worker pools on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, worker_pools_server::WorkerPools};
use tonic::{Request, Response, Status};

use super::{model::WorkerPool, wire};
use crate::{
    admission::{Answer, Command, Create, Declare, Declared, Update},
    api::{Call, Core, nouns, status},
    environments::model::Environment,
};

pub struct WorkerPoolsApi(pub Core);

type Answered = Result<Response<v1::WorkerPool>, Status>;

impl WorkerPoolsApi {
    async fn commit(&self, call: Call, command: Command) -> Answered {
        match self.0.write(call, command).await? {
            Answer::WorkerPool(it) => Ok(Response::new(wire::pool(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl WorkerPools for WorkerPoolsApi {
    async fn create(&self, request: Request<v1::CreateWorkerPoolRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateWorkerPoolRequest { environment, name, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let create = Create { parent: environment, name, labels, spec };
        self.commit(call, Command::WorkerPool(Declare::Create(create))).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::pool)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListWorkerPoolsResponse>, Status> {
        let view = self.0.view();
        let parent = nouns::parent::<Environment>(&view, &request)?.map(|it| it.id);
        let all = view.records.worker_pools.values();
        let all = all.filter(|it| parent.is_none_or(|parent| parent == it.environment));
        let sort_key = |it: &WorkerPool| it.key(&view.records);
        let page = nouns::page(&view, &request, all, sort_key, wire::pool)?;
        Ok(Response::new(v1::ListWorkerPoolsResponse {
            worker_pools: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateWorkerPoolRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateWorkerPoolRequest { key, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Command::WorkerPool(Declare::Update(update))).await
    }

    async fn scale(&self, request: Request<v1::ScaleWorkerPoolRequest>) -> Answered {
        let call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::ScaleWorkerPoolRequest { key, size, options: _ } = request.into_inner();
        let revision = call.revision();
        self.commit(call, Command::ScalePool { key, size, revision }).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Command::WorkerPool(Declare::Delete(delete))).await
    }
}
