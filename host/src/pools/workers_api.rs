//! Workers on the wire. Nobody declares one, so they are only read.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::{
    StreamExt, future,
    stream::{self, BoxStream},
};
use proto::runtimecloud::v1::{self, workers_server::Workers};
use tonic::{Code, Request, Response, Status};

use super::{
    model::WorkerPool,
    worker::{Phase, Worker},
};
use crate::{
    admission::Declared,
    api::{Core, View, caller, convert, nouns, page, status},
    causes::with_causes,
    drivers::{DriverError, LogOptions, SeenPhase},
    operations::model::{OperationVerb, Step},
    resource::Kind,
    store::CommitError,
};

pub struct WorkersApi(pub Core);

#[tonic::async_trait]
impl Workers for WorkersApi {
    async fn get(&self, request: Request<v1::GetRequest>) -> Result<Response<v1::Worker>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let key = &request.get_ref().key;
        match view.records.worker(key) {
            Some(it) => Ok(Response::new(encode(it, &view))),
            None => Err(status::not_found(Kind::Worker, key, &caller.request_id)),
        }
    }

    /// Workers have no labels, so a list by labels is empty.
    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let all: Vec<&Arc<Worker>> = if request.get_ref().labels.is_empty() {
            match nouns::parent::<WorkerPool>(&view, &request)? {
                None => view.records.workers.values().collect(),
                Some(pool) => view.records.workers_of(pool.id).collect(),
            }
        } else {
            Vec::new()
        };
        let request = request.get_ref();
        let keyed = all.into_iter().map(|it| (it.id.to_string(), it));
        let page = page::cut(request, &caller.request_id, keyed)?;
        Ok(Response::new(v1::ListWorkersResponse {
            workers: page.items.into_iter().map(|it| encode(it, &view)).collect(),
            next_page_token: page.next_page_token,
        }))
    }

    type LogsStream = BoxStream<'static, Result<v1::LogChunk, Status>>;

    async fn logs(
        &self,
        request: Request<v1::LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        let caller = caller(&request)?;
        let request_id = caller.request_id.clone();
        let v1::LogsRequest { key, follow, tail_lines } = request.into_inner();
        let records = self.0.store.records();
        let placed = records.worker(&key).and_then(|worker| {
            records.capacity_targets.get(&worker.target).map(|target| (worker.id, target))
        });
        let Some((worker, target)) = placed else {
            return Err(status::not_found(Kind::Worker, &key, &request_id));
        };
        // An end by the host's own end must not look like the end of the output.
        let shutdown = self.0.shutdown.clone();
        let cut_off = status::of_commit(&CommitError::Closed, &request_id);
        let cut_off = stream::once(async { Err(cut_off) })
            .filter(move |_| future::ready(shutdown.is_cancelled()));
        let fail = move |error| {
            let code = match error {
                DriverError::Unknown(_) => (Code::NotFound, "NOT_FOUND"),
                _ => (Code::Unavailable, "DRIVER_FAILED"),
            };
            status::plain(code, with_causes(&error), &request_id)
        };
        let driver = self.0.places.driver(target).map_err(&fail)?;
        let tail_lines = (tail_lines != 0).then_some(tail_lines);
        let logs = driver
            .logs(worker, LogOptions { follow, tail_lines })
            .map(move |piece| piece.map(|data| v1::LogChunk { data }).map_err(&fail))
            .take_until(self.0.shutdown.clone().cancelled_owned())
            .chain(cut_off);
        Ok(Response::new(self.0.guarded(caller, logs)))
    }
}

pub(crate) fn encode(worker: &Worker, view: &View) -> v1::Worker {
    let View { records, observed, .. } = view;
    let seen = observed.worker(worker.target, worker.id);
    let is_as_decided = worker.runs() && seen.is_some_and(|it| it.phase != SeenPhase::Lost);
    let failure = observed.failures.get(&worker.id).filter(|_| !is_as_decided);
    let target = records.capacity_targets.get(&worker.target);
    let phase = seen.map_or(Phase::Pending, |seen| Phase::of(seen.phase));
    let (reason, message) = farewell(worker, phase).unwrap_or_else(|| match (seen, failure) {
        (_, Some(failure)) => ("ActionFailed".to_owned(), failure.message.clone()),
        (Some(seen), None) => (seen.reason.clone(), seen.message.clone()),
        (None, None) => (String::new(), String::new()),
    });
    let ports = seen.map(|seen| &seen.ports).into_iter().flatten();
    v1::Worker {
        id: worker.id.to_string(),
        worker_pool: records
            .worker_pools
            .get(&worker.pool)
            .map_or_else(String::new, |pool| pool.key(records)),
        capacity_target: target.map(|it| it.meta.name.clone()).unwrap_or_default(),
        pool_generation: worker.pool_generation,
        phase: encode_phase(phase).into(),
        ready: seen.is_some_and(|seen| seen.ready),
        reason,
        message,
        restarts: seen.map_or(0, |seen| seen.restarts),
        pid: seen.and_then(|seen| seen.pid).unwrap_or(0),
        ports: ports
            .map(|(name, port)| (name.clone(), u32::from(*port)))
            .collect::<BTreeMap<_, _>>(),
        created_at: Some(convert::timestamp(worker.created_at)),
        started_at: seen.and_then(|seen| seen.started_at).map(convert::timestamp),
        observed_at: seen
            .and_then(|_| observed.targets.get(&worker.target))
            .map(|target| convert::timestamp(target.observed_at)),
        operation: worker.task.map(|task| task.operation.to_string()).unwrap_or_default(),
    }
}

/// How far a worker is that shall be drained: one word, and a sentence.
fn farewell(worker: &Worker, phase: Phase) -> Option<(String, String)> {
    let task = worker.task.filter(|task| task.verb == OperationVerb::Drain)?;
    let (reason, how) = match (task.step, phase) {
        (Step::Waiting, _) => ("Cordoned", "it waits for its turn to be drained"),
        (_, Phase::Stopped) => ("Drained", "it was drained"),
        _ => ("Draining", "it was told to stop"),
    };
    Some((reason.to_owned(), format!("{how}, by `{}`", task.operation)))
}

fn encode_phase(phase: Phase) -> v1::WorkerPhase {
    match phase {
        Phase::Pending => v1::WorkerPhase::Pending,
        Phase::Starting => v1::WorkerPhase::Starting,
        Phase::Running => v1::WorkerPhase::Running,
        Phase::Backoff => v1::WorkerPhase::Backoff,
        Phase::Stopping => v1::WorkerPhase::Stopping,
        Phase::Stopped => v1::WorkerPhase::Stopped,
        Phase::Lost => v1::WorkerPhase::Lost,
    }
}
