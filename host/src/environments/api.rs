//! Environments on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, environments_server::Environments};
use tonic::{Request, Response, Status};

use super::wire;
use crate::{
    admission::{Answer, Command, Create, Declare, Update},
    api::{Call, Core, nouns, status},
};

pub struct EnvironmentsApi(pub Core);

type Answered = Result<Response<v1::Environment>, Status>;

impl EnvironmentsApi {
    async fn commit(&self, call: Call, change: Declare<super::model::Environment>) -> Answered {
        match self.0.write(call, Command::Environment(change)).await? {
            Answer::Environment(it) => Ok(Response::new(wire::environment(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl Environments for EnvironmentsApi {
    async fn create(&self, request: Request<v1::CreateEnvironmentRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateEnvironmentRequest { name, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let create = Create { parent: String::new(), name, labels, spec };
        self.commit(call, Declare::Create(create)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::environment)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListEnvironmentsResponse>, Status> {
        let view = self.0.view();
        let all = view.records.environments.values();
        let page = nouns::page(&view, &request, all, |it| it.meta.name.clone(), wire::environment)?;
        Ok(Response::new(v1::ListEnvironmentsResponse {
            environments: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateEnvironmentRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateEnvironmentRequest { key, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Declare::Update(update)).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Declare::Delete(delete)).await
    }
}
