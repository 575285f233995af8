//! Service accounts on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, service_accounts_server::ServiceAccounts};
use tonic::{Request, Response, Status};

use super::wire;
use crate::{
    admission::{Answer, Command, Create, Declare, Update},
    api::{Call, Core, nouns, status},
};

pub struct ServiceAccountsApi(pub Core);

type Answered = Result<Response<v1::ServiceAccount>, Status>;

impl ServiceAccountsApi {
    async fn commit(&self, call: Call, change: Declare<super::model::ServiceAccount>) -> Answered {
        match self.0.write(call, Command::ServiceAccount(change)).await? {
            Answer::ServiceAccount(it) => Ok(Response::new(wire::account(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl ServiceAccounts for ServiceAccountsApi {
    async fn create(&self, request: Request<v1::CreateServiceAccountRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateServiceAccountRequest { name, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let create = Create { parent: String::new(), name, labels, spec };
        self.commit(call, Declare::Create(create)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::account)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListServiceAccountsResponse>, Status> {
        let view = self.0.view();
        let all = view.records.service_accounts.values();
        let page = nouns::page(&view, &request, all, |it| it.meta.name.clone(), wire::account)?;
        Ok(Response::new(v1::ListServiceAccountsResponse {
            service_accounts: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateServiceAccountRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateServiceAccountRequest { key, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Declare::Update(update)).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Declare::Delete(delete)).await
    }
}
