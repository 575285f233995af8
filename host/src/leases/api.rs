//! Leases on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, capacity_leases_server::CapacityLeases};
use tonic::{Request, Response, Status};

use super::{admit::Renew, conditions, model::CapacityLease, wire};
use crate::{
    admission::{Answer, Command, Create, Declare, Declared, Update},
    api::{Call, Core, caller, nouns, status},
    environments::model::Environment,
};

pub struct CapacityLeasesApi(pub Core);

type Answered = Result<Response<v1::CapacityLease>, Status>;

impl CapacityLeasesApi {
    async fn commit(&self, call: Call, command: Command) -> Answered {
        match self.0.write(call, command).await? {
            Answer::CapacityLease(it) => Ok(Response::new(wire::lease(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl CapacityLeases for CapacityLeasesApi {
    async fn create(&self, request: Request<v1::CreateCapacityLeaseRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateCapacityLeaseRequest { environment, name, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let create = Create { parent: environment, name, labels, spec };
        self.commit(call, Command::CapacityLease(Declare::Create(create))).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::lease)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListCapacityLeasesResponse>, Status> {
        let view = self.0.view();
        let parent = nouns::parent::<Environment>(&view, &request)?.map(|it| it.id);
        let all = view.records.capacity_leases.iter();
        let all = all.filter(|it| parent.is_none_or(|parent| parent == it.environment));
        // Several that have ended may have had the same name.
        let sort_key = |it: &CapacityLease| format!("{} {}", it.key(&view.records), it.id);
        let page = nouns::page(&view, &request, all, sort_key, wire::lease)?;
        Ok(Response::new(v1::ListCapacityLeasesResponse {
            capacity_leases: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateCapacityLeaseRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateCapacityLeaseRequest { key, labels, spec, options: _ } = request.into_inner();
        let spec = wire::read(spec, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.commit(call, Command::CapacityLease(Declare::Update(update))).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.commit(call, Command::CapacityLease(Declare::Delete(delete))).await
    }

    async fn renew(&self, request: Request<v1::RenewCapacityLeaseRequest>) -> Answered {
        let call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::RenewCapacityLeaseRequest { key, fencing_token, options: _ } = request.into_inner();
        let renew = Renew { key, fencing_token, revision: call.revision() };
        self.commit(call, Command::RenewLease(renew)).await
    }

    async fn check(
        &self,
        request: Request<v1::CheckCapacityLeaseRequest>,
    ) -> Result<Response<v1::CheckCapacityLeaseResponse>, Status> {
        caller(&request)?;
        let view = self.0.view();
        let v1::CheckCapacityLeaseRequest { key, fencing_token } = request.into_inner();
        let lease = view.records.capacity_lease(&key);
        let checked = conditions::check(lease, fencing_token, view.now);
        Ok(Response::new(wire::checked(checked, view.now)))
    }
}
