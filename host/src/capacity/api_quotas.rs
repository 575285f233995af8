//! Quotas on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, quotas_server::Quotas};
use tonic::{Request, Response, Status};

use super::wire;
use crate::{
    admission::{Answer, Command, Create, Declare, Delete, Update},
    api::{Call, Core, caller, page, status},
    resource::{self, Kind},
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
        let caller = caller(&request)?;
        let view = self.0.view();
        let key = &request.get_ref().key;
        match view.records.quota(key) {
            Some(it) => Ok(Response::new(wire::quota(it, &view))),
            None => Err(status::not_found(Kind::Quota, key, &caller.request_id)),
        }
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListQuotasResponse>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let request = request.get_ref();
        let all = view.records.quotas.values();
        let matching = all.filter(|it| resource::matches(&request.labels, &it.meta.labels));
        let keyed = matching.map(|it| (it.meta.name.clone(), it));
        let page = page::cut(request, &caller.request_id, keyed)?;
        Ok(Response::new(v1::ListQuotasResponse {
            quotas: page.items.into_iter().map(|it| wire::quota(it, &view)).collect(),
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

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let call = Call::new(&request, request.get_ref().options.as_ref())?;
        let delete = Delete { key: request.into_inner().key, revision: call.revision() };
        self.commit(call, Declare::Delete(delete)).await
    }
}
