//! Quotas on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, quotas_server::Quotas};
use tonic::{Request, Response, Status};

use super::wire;
use crate::{
    admission::{Answer, Command, Create, Declare, Update},
    api::{Call, Core, caller, nouns, status},
};

pub struct QuotasApi(pub Core);

type Answered = Result<Response<v1::Quota>, Status>;

impl QuotasApi {
    async fn commit(&self, call: Call, change: Declare<super::quota::Quota>) -> Answered {
        match self.0.write(call, Command::Quota(change)).await? {
            Answer::Quota(it) => Ok(Response::new(wire::quota(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl Quotas for QuotasApi {
    async fn create(&self, request: Request<v1::CreateQuotaRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateQuotaRequest { name, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read_quota(spec, &mut call.found);
        let create = Create { parent: String::new(), name, labels, spec };
        self.commit(call, Declare::Create(create)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::quota)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListQuotasResponse>, Status> {
        let view = self.0.view();
        let all = view.records.quotas.values();
        let page = nouns::page(&view, &request, all, |it| it.meta.name.clone(), wire::quota)?;
        Ok(Response::new(v1::ListQuotasResponse {
            quotas: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateQuotaRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateQuotaRequest { key, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read_quota(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Declare::Update(update)).await
    }

    async fn recount(
        &self,
        request: Request<v1::RecountQuotasRequest>,
    ) -> Result<Response<v1::RecountQuotasResponse>, Status> {
        caller(&request)?;
        let counted = self.0.recounter().count().await;
        let counted = counted.ok_or_else(|| Status::internal("the count ended in a fault"))?;
        Ok(Response::new(wire::recount(&counted, self.0.clock.now())))
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Declare::Delete(delete)).await
    }
}
