//! Operations on workers: begun once, and then only looked at.

use proto::runtimecloud::v1::{
    self as api, worker_operations_client::WorkerOperationsClient as Operations,
};

use super::{Call, CallError, CallKind, Client, DRY_RUN, write_options};
use crate::framework::Context;

impl Client {
    /// Begins an operation. It goes on at the host when this returns.
    pub async fn start_operation(
        &self,
        request: api::StartWorkerOperationRequest,
        context: &Context<Self>,
    ) -> Result<api::WorkerOperation, CallError> {
        let options = Some(write_options(0));
        let request = api::StartWorkerOperationRequest { options, ..request };
        self.start(request, (context, CallKind::Write)).await
    }

    /// What the host would answer to [`Client::start_operation`]. Tried once and briefly.
    pub async fn try_start_operation(
        &self,
        request: api::StartWorkerOperationRequest,
        context: &Context<Self>,
    ) -> Result<api::WorkerOperation, CallError> {
        let request = api::StartWorkerOperationRequest { options: Some(DRY_RUN), ..request };
        self.start(request, (context, CallKind::Glance)).await
    }

    async fn start(
        &self,
        request: api::StartWorkerOperationRequest,
        (context, kind): (&Context<Self>, CallKind),
    ) -> Result<api::WorkerOperation, CallError> {
        let attempted = format!("begin an operation on the workers of `{}`", request.worker_pool);
        let call = Call { attempted, context, kind };
        self.call(call, request, |channel, request| {
            Box::pin(async move { Operations::new(channel).start(request).await })
        })
        .await
    }

    /// How an operation stands.
    pub async fn operation(
        &self,
        id: &str,
        context: &Context<Self>,
    ) -> Result<api::WorkerOperation, CallError> {
        self.look_at_operation(id, (context, CallKind::Read)).await
    }

    /// As [`Client::operation`], tried once and briefly even when the operation's time is up.
    pub async fn operation_at_last(
        &self,
        id: &str,
        context: &Context<Self>,
    ) -> Result<api::WorkerOperation, CallError> {
        self.look_at_operation(id, (context, CallKind::LastGlance)).await
    }

    async fn look_at_operation(
        &self,
        id: &str,
        (context, kind): (&Context<Self>, CallKind),
    ) -> Result<api::WorkerOperation, CallError> {
        let call = Call { attempted: format!("look at `{id}`"), context, kind };
        let request = api::GetRequest { key: id.to_owned() };
        self.call(call, request, |channel, request| {
            Box::pin(async move { Operations::new(channel).get(request).await })
        })
        .await
    }
}
