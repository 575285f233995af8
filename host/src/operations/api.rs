//! Worker operations on the wire: decode, commit or read, encode.

use std::sync::Arc;

use proto::runtimecloud::v1::{self, worker_operations_server::WorkerOperations};
use tonic::{Request, Response, Status};

use super::{
    decide::{Cancel, DEADLINE_DEFAULT, Start},
    model::{Fate, Operation, OperationSpec, OperationState, OperationVerb},
};
use crate::{
    admission::{Answer, Command, Declared},
    api::{Call, Core, View, caller, convert, nouns, page, status},
    conditions::{Condition, Status as Holds},
    pools::{conditions, model::WorkerPool},
    resource::Kind,
    violations::Violations,
};

pub struct WorkerOperationsApi(pub Core);

type Answered = Result<Response<v1::WorkerOperation>, Status>;

impl WorkerOperationsApi {
    async fn commit(&self, call: Call, command: Command) -> Answered {
        match self.0.write(call, command).await? {
            Answer::Operation(it) => Ok(Response::new(encode(&it, &self.0.view()))),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl WorkerOperations for WorkerOperationsApi {
    async fn start(&self, request: Request<v1::StartWorkerOperationRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::StartWorkerOperationRequest { worker_pool, workers, spec, options: _ } =
            request.into_inner();
        let spec = read(spec, &mut call.found);
        let start = Start { pool: worker_pool, revision: call.revision(), workers, spec };
        self.commit(call, Command::StartOperation(start)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        let caller = caller(&request)?;
        let view = self.0.view();
        let key = &request.get_ref().key;
        match view.records.operation(key) {
            Some(it) => Ok(Response::new(encode(it, &view))),
            None => Err(status::not_found(Kind::WorkerOperation, key, &caller.request_id)),
        }
    }

    /// Operations have no labels, so a list by labels is empty.
    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListWorkerOperationsResponse>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let pool = nouns::parent::<WorkerPool>(&view, &request)?.map(|it| it.id);
        let request = request.get_ref();
        let fits = |it: &&Arc<Operation>| {
            request.labels.is_empty() && pool.is_none_or(|pool| pool == it.pool)
        };
        let matching = view.records.operations.values().filter(fits);
        let keyed = matching.map(|it| (it.id.to_string(), it));
        let page = page::cut(request, &caller.request_id, keyed)?;
        Ok(Response::new(v1::ListWorkerOperationsResponse {
            worker_operations: page.items.into_iter().map(|it| encode(it, &view)).collect(),
            next_page_token: page.next_page_token,
        }))
    }

    async fn cancel(&self, request: Request<v1::CancelWorkerOperationRequest>) -> Answered {
        let call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CancelWorkerOperationRequest { key, workers, options: _ } = request.into_inner();
        self.commit(call, Command::CancelOperation(Cancel { key, workers })).await
    }
}

fn read(spec: Option<v1::WorkerOperationSpec>, found: &mut Violations) -> OperationSpec {
    let spec = convert::spec(spec, found);
    let verb = match spec.verb() {
        v1::WorkerOperationVerb::Drain => OperationVerb::Drain,
        v1::WorkerOperationVerb::Restart => OperationVerb::Restart,
        v1::WorkerOperationVerb::Replace => OperationVerb::Replace,
        v1::WorkerOperationVerb::Unspecified => {
            found.add("spec.verb", "say what shall be done: drain, restart or replace");
            OperationVerb::Drain
        }
    };
    let deadline = convert::read_duration("spec.deadline", spec.deadline.as_ref(), found);
    OperationSpec {
        verb,
        parallel: (spec.parallel != 0).then_some(spec.parallel),
        min_ready: spec.min_ready,
        grace: convert::read_duration("spec.grace", spec.grace.as_ref(), found),
        deadline: deadline.unwrap_or(DEADLINE_DEFAULT),
    }
}

pub(crate) fn encode(it: &Operation, view: &View) -> v1::WorkerOperation {
    let OperationSpec { verb, parallel, min_ready, grace, deadline } = it.spec.clone();
    let pool = view.records.worker_pools.get(&it.pool);
    let waiting = view
        .records
        .workers_of(it.pool)
        .filter(|worker| worker.task.is_some_and(|task| task.operation == it.id && task.waits()));
    let waiting = u32::try_from(waiting.count()).unwrap_or(u32::MAX);
    v1::WorkerOperation {
        id: it.id.to_string(),
        worker_pool: pool.map_or_else(String::new, |pool| pool.key(&view.records)),
        spec: Some(v1::WorkerOperationSpec {
            verb: match verb {
                OperationVerb::Drain => v1::WorkerOperationVerb::Drain,
                OperationVerb::Restart => v1::WorkerOperationVerb::Restart,
                OperationVerb::Replace => v1::WorkerOperationVerb::Replace,
            }
            .into(),
            parallel: parallel.unwrap_or(0),
            min_ready,
            grace: grace.map(convert::duration),
            deadline: Some(convert::duration(deadline)),
        }),
        state: match it.state() {
            OperationState::UnderWay => v1::WorkerOperationState::UnderWay,
            OperationState::Done => v1::WorkerOperationState::Done,
            OperationState::Failed => v1::WorkerOperationState::Failed,
            OperationState::Cancelled => v1::WorkerOperationState::Cancelled,
            OperationState::Superseded => v1::WorkerOperationState::Superseded,
        }
        .into(),
        message: message(it, pool.map(|pool| &**pool), view),
        total: it.total,
        done: it.done,
        failed: it.failed,
        skipped: it.skipped,
        waiting,
        under_way: it.under_way(waiting),
        created_at: Some(convert::timestamp(it.created_at)),
        expires_at: Some(convert::timestamp(it.expires_at)),
        ended_at: it.ended_at.map(convert::timestamp),
        superseded_by: match it.fate {
            Some(Fate::Superseded(by)) => by.to_string(),
            Some(Fate::Cancelled | Fate::Expired | Fate::PoolDeleted) | None => String::new(),
        },
    }
}

/// How an operation stands, or why it ended so.
fn message(it: &Operation, pool: Option<&WorkerPool>, view: &View) -> String {
    let so_far = format!("{} of {} workers are done", it.done, it.total);
    match (it.fate, pool) {
        (Some(Fate::Cancelled), _) => format!("it was called off: {so_far}"),
        (Some(Fate::Expired), _) => {
            let after = proto::duration::print(it.spec.deadline);
            format!("its deadline of {after} is over: {so_far}")
        }
        (Some(Fate::PoolDeleted), _) => format!("its worker pool is being deleted: {so_far}"),
        (Some(Fate::Superseded(by)), _) => {
            format!("`{by}` took over some of its workers: {so_far}")
        }
        (None, Some(pool)) if it.ended_at.is_none() => match unready(pool, view) {
            Some(ready) => format!("{so_far}; {}", ready.message),
            None => so_far,
        },
        (None, _) => so_far,
    }
}

/// What the pool says of not being ready, as that is what its operations wait for.
fn unready(pool: &WorkerPool, view: &View) -> Option<Condition> {
    let said = conditions::conditions(pool, &view.records, &view.observed);
    said.into_iter().find(|it| it.name == "Ready" && it.status == Holds::False)
}
