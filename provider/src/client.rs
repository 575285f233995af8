//! The host's API as plain async functions.
//!
//! - The connection is made with the first call, and again when it broke: a provider that only
//!   validates never connects.
//! - Every call has a time limit, is repeated where that may help (`retry.rs`), and ends when
//!   Terraform asks for it. A write that is under way then is given a moment to answer: what it
//!   made must not be forgotten.
//! - Every write carries a request id that stays the same when it is repeated, so that the host
//!   does it once.
//! - A failure is a [`CallError`]; its words for the user are in `problem.rs`.

pub mod error;
pub mod noun;
mod operations;
pub mod problem;
pub mod retry;
pub mod secret;
pub mod settings;

use std::{
    collections::BTreeMap,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use proto::runtimecloud::v1 as api;
use tokio::time::{self, Instant};
use tonic::{
    Request, Response, Status,
    metadata::AsciiMetadataValue,
    transport::{Channel, Endpoint},
};

use self::retry::Tried;
pub use self::{
    error::{CallError, Fault},
    noun::{Draft, Noun, Page},
    secret::Secret,
    settings::{Settings, SettingsError},
};
use crate::framework::Context;

/// How long a write that is under way may go on when Terraform wants to stop.
const LAST_MOMENT: Duration = Duration::from_secs(5);
/// How long a question may take whose answer would only be nice to have.
const GLANCE: Duration = Duration::from_secs(3);

/// The host, and what holds for all resources of one run.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint,
    channel: OnceLock<Channel>,
    settings: Settings,
    authorization: AsciiMetadataValue,
    /// The host has answered some call.
    answered: AtomicBool,
    /// The last call told that there is no access to the host.
    no_access: AtomicBool,
    default_labels: Option<BTreeMap<String, String>>,
    makes_room: AtomicBool,
}

/// One call: what it is for, and how much is done for it.
struct Call<'a> {
    attempted: String,
    context: &'a Context<Client>,
    kind: CallKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Read,
    Write,
    /// Tried once and briefly.
    Glance,
    /// A glance when time is up or nothing more is wanted, to tell how things stand.
    LastGlance,
}

/// A method of a generated client.
type Rpc<Req, Res> = fn(Channel, Request<Req>) -> BoxFuture<'static, RpcResult<Res>>;
type RpcResult<Res> = Result<Response<Res>, Status>;

impl Client {
    /// Connects nowhere yet. `default_labels` belong on every resource; `None`: not known yet.
    pub fn new(
        settings: Settings,
        default_labels: Option<BTreeMap<String, String>>,
    ) -> Result<Self, SettingsError> {
        Ok(Self {
            endpoint: settings.endpoint()?,
            channel: OnceLock::new(),
            authorization: settings.authorization()?,
            settings,
            answered: AtomicBool::new(false),
            no_access: AtomicBool::new(false),
            default_labels,
            makes_room: AtomicBool::new(false),
        })
    }

    /// Labels for every resource; `None`: not known yet.
    pub fn default_labels(&self) -> Option<&BTreeMap<String, String>> {
        self.default_labels.as_ref()
    }

    /// Notes that something planned in this run may leave more room under quotas than there is now.
    pub fn note_that_room_may_grow(&self) {
        self.makes_room.store(true, Ordering::Relaxed);
    }

    /// Whether what the host says about quotas now may not hold when the plan is applied.
    pub fn room_may_grow(&self) -> bool {
        self.makes_room.load(Ordering::Relaxed)
    }

    /// Finds a resource by its id or name.
    pub async fn get<N: Noun>(&self, key: &str, context: &Context<Self>) -> Result<N, CallError> {
        self.look(key, (context, CallKind::Read)).await
    }

    /// Calls any method that changes nothing. `attempted` follows "tried to" in what users read.
    pub(crate) async fn ask<Req: Clone, Res>(
        &self,
        attempted: &str,
        context: &Context<Self>,
        message: Req,
        rpc: Rpc<Req, Res>,
    ) -> Result<Res, CallError> {
        let call = Call { attempted: attempted.to_owned(), context, kind: CallKind::Read };
        self.call(call, message, rpc).await
    }

    /// As [`Client::get`], tried once and briefly.
    pub async fn glance<N: Noun>(
        &self,
        key: &str,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        self.look(key, (context, CallKind::Glance)).await
    }

    /// As [`Client::glance`], even when the operation's time is up.
    pub async fn glance_at_last<N: Noun>(
        &self,
        key: &str,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        self.look(key, (context, CallKind::LastGlance)).await
    }

    async fn look<N: Noun>(
        &self,
        key: &str,
        (context, kind): (&Context<Self>, CallKind),
    ) -> Result<N, CallError> {
        let attempted = format!("read the {} `{key}`", N::KIND);
        let call = Call { attempted, context, kind };
        self.call(call, api::GetRequest { key: key.to_owned() }, N::get).await
    }

    /// Makes a new resource. Its intent is stored when this returns; nothing is awaited.
    pub async fn create<N: Noun>(
        &self,
        draft: Draft<N::Spec>,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        let attempted = format!("create the {} `{}`", N::KIND, draft.key());
        let call = Call { attempted, context, kind: CallKind::Write };
        self.call(call, N::create_message(draft, write_options(0)), N::create).await
    }

    /// Replaces a resource's labels and specification, if it still has this revision (0: whatever
    /// it has).
    pub async fn update<N: Noun>(
        &self,
        id: &str,
        draft: Draft<N::Spec>,
        revision: u64,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        let attempted = format!("update the {} `{}`", N::KIND, draft.key());
        let call = Call { attempted, context, kind: CallKind::Write };
        let message = N::update_message(id.to_owned(), draft, write_options(revision));
        self.call(call, message, N::update).await
    }

    /// Asks for a resource to go. Accepted when this returns; it may take a while to be gone.
    pub async fn delete<N: Noun>(
        &self,
        id: &str,
        name: &str,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        self.remove((id, name), (context, CallKind::Write)).await
    }

    /// Lets a lease live for another time to live, if it still has the grant of this fencing token.
    pub async fn renew_lease(
        &self,
        id: &str,
        fencing_token: u64,
        context: &Context<Self>,
    ) -> Result<api::CapacityLease, CallError> {
        let attempted = format!("renew the capacity lease `{id}`");
        let call = Call { attempted, context, kind: CallKind::Write };
        let options = Some(write_options(0));
        let message = api::RenewCapacityLeaseRequest { key: id.to_owned(), fencing_token, options };
        self.call(call, message, noun::renew_lease).await
    }

    /// As [`Client::delete`], tried once and briefly even when the operation's time is up.
    pub async fn delete_at_last<N: Noun>(
        &self,
        id: &str,
        name: &str,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        self.remove((id, name), (context, CallKind::LastGlance)).await
    }

    async fn remove<N: Noun>(
        &self,
        (id, name): (&str, &str),
        (context, kind): (&Context<Self>, CallKind),
    ) -> Result<N, CallError> {
        let attempted = format!("delete the {} `{name}`", N::KIND);
        let call = Call { attempted, context, kind };
        let options = Some(write_options(0));
        let message = api::DeleteRequest { key: id.to_owned(), options };
        self.call(call, message, N::delete).await
    }

    /// What the host would answer to a creation, without one. Tried once and briefly.
    pub async fn try_create<N: Noun>(
        &self,
        draft: Draft<N::Spec>,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        let attempted =
            format!("find out whether the {} `{}` may be created", N::KIND, draft.key());
        let call = Call { attempted, context, kind: CallKind::Glance };
        self.call(call, N::create_message(draft, DRY_RUN), N::create).await
    }

    /// What the host would answer to an update, without one. Tried once and briefly.
    pub async fn try_update<N: Noun>(
        &self,
        id: &str,
        draft: Draft<N::Spec>,
        context: &Context<Self>,
    ) -> Result<N, CallError> {
        let attempted =
            format!("find out whether the {} `{}` may be updated", N::KIND, draft.key());
        let call = Call { attempted, context, kind: CallKind::Glance };
        self.call(call, N::update_message(id.to_owned(), draft, DRY_RUN), N::update).await
    }

    /// A page of resources: the first one, unless the request has the token of another.
    pub async fn list<N: Noun>(
        &self,
        request: &api::ListRequest,
        context: &Context<Self>,
    ) -> Result<Page<N>, CallError> {
        let attempted = format!("list the {}s", N::KIND);
        self.ask(&attempted, context, request.clone(), N::list).await
    }

    /// A page of the workers of a pool; see [`Client::list`].
    pub async fn list_workers(
        &self,
        request: &api::ListRequest,
        context: &Context<Self>,
    ) -> Result<Page<api::Worker>, CallError> {
        self.page_of_workers(request, context, CallKind::Read).await
    }

    /// All workers of a pool, by id.
    pub async fn workers(
        &self,
        pool_id: &str,
        context: &Context<Self>,
    ) -> Result<Vec<api::Worker>, CallError> {
        self.all_workers(pool_id, context, CallKind::Read).await
    }

    /// As [`Client::workers`], tried once and briefly even when the operation's time is up.
    pub async fn workers_at_last(
        &self,
        pool_id: &str,
        context: &Context<Self>,
    ) -> Result<Vec<api::Worker>, CallError> {
        self.all_workers(pool_id, context, CallKind::LastGlance).await
    }

    async fn all_workers(
        &self,
        pool_id: &str,
        context: &Context<Self>,
        kind: CallKind,
    ) -> Result<Vec<api::Worker>, CallError> {
        let mut workers = Vec::new();
        let mut request = api::ListRequest { parent: pool_id.to_owned(), ..Default::default() };
        loop {
            let page = self.page_of_workers(&request, context, kind).await?;
            workers.extend(page.items);
            if page.next.is_empty() {
                workers.sort_by(|one, other| one.id.cmp(&other.id));
                return Ok(workers);
            }
            request.page_token = page.next;
        }
    }

    async fn page_of_workers(
        &self,
        request: &api::ListRequest,
        context: &Context<Self>,
        kind: CallKind,
    ) -> Result<Page<api::Worker>, CallError> {
        let attempted = match request.parent.as_str() {
            "" => "list the workers".to_owned(),
            pool => format!("list the workers of the worker pool `{pool}`"),
        };
        let call = Call { attempted, context, kind };
        self.call(call, request.clone(), noun::list_workers).await
    }

    /// Tries until it works, can not work, or is no longer wanted.
    async fn call<Req: Clone, Res>(
        &self,
        call: Call<'_>,
        message: Req,
        rpc: Rpc<Req, Res>,
    ) -> Result<Res, CallError> {
        let mut tries = 0;
        let mut may_be_done = false;
        let fault = loop {
            if call.context.is_stopped() && call.kind != CallKind::LastGlance {
                break Fault::Cancelled;
            }
            let fault = match self.try_once(&call, message.clone(), rpc).await {
                Ok(response) => return Ok(response),
                Err(fault) => fault,
            };
            tries += 1;
            may_be_done |= fault.may_be_done();
            let host_answered = self.answered.load(Ordering::Relaxed);
            let tried = Tried { tries, fault: &fault, host_answered, chance: chance() };
            let delay = retry::delay_before_next(tried).filter(|_| call.kind.is_patient());
            let told = fault.for_log();
            let Some(delay) = delay else {
                tracing::debug!(tries, fault = told, "a call to the host failed");
                break fault;
            };
            tracing::warn!(
                tries,
                ?delay,
                fault = told,
                "a call to the host failed; trying it again"
            );
            tokio::select! {
                () = call.context.stopped() => break Fault::Cancelled,
                () = time::sleep_until(call.deadline()) => break fault,
                () = time::sleep(delay) => {}
            }
        };
        // A glance's faults are not told, so that they repeat nothing.
        let is_told = call.kind.is_patient() && fault.is_no_access();
        let repeated = is_told && self.no_access.swap(true, Ordering::Relaxed);
        // A host that answers knows what it has done, whatever became of earlier tries.
        let is_settled = matches!(fault, Fault::Remote(_)) && !fault.may_be_done();
        let may_be_done = may_be_done && !is_settled;
        let cut_short = call.kind.is_patient()
            && matches!(fault, Fault::TimedOut { after } if after < self.settings.request_timeout);
        let Call { attempted, .. } = call;
        let endpoint = self.settings.endpoint.clone();
        Err(CallError { attempted, endpoint, fault, repeated, may_be_done, cut_short })
    }

    async fn try_once<Req, Res>(
        &self,
        call: &Call<'_>,
        message: Req,
        rpc: Rpc<Req, Res>,
    ) -> Result<Res, Fault> {
        let left = call.deadline() - Instant::now();
        let most = self.settings.request_timeout;
        let after = match call.kind {
            CallKind::Read | CallKind::Write => most.min(left),
            CallKind::Glance => most.min(GLANCE).min(left),
            CallKind::LastGlance => most.min(GLANCE),
        };
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.authorization.clone());
        let channel = self.channel.get_or_init(|| self.endpoint.connect_lazy()).clone();
        tokio::select! {
            biased;
            answer = time::timeout(after, rpc(channel, request)) => match answer {
                Ok(answer) => self.told(answer),
                Err(_) => Err(Fault::TimedOut { after }),
            },
            () = call.unwanted() => Err(Fault::Cancelled),
        }
    }

    fn told<Res>(&self, answer: RpcResult<Res>) -> Result<Res, Fault> {
        let told = answer.map(Response::into_inner).map_err(|status| Fault::from(&status));
        if matches!(told, Ok(_) | Err(Fault::Remote(_))) {
            self.answered.store(true, Ordering::Relaxed);
        }
        if told.is_ok() {
            self.no_access.store(false, Ordering::Relaxed);
        }
        told
    }
}

impl CallKind {
    /// Whether it is tried again.
    fn is_patient(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

impl Call<'_> {
    fn deadline(&self) -> Instant {
        Instant::from_std(self.context.deadline)
    }

    /// Ends when no answer is wanted any more.
    async fn unwanted(&self) {
        self.context.stopped().await;
        match self.kind {
            CallKind::Read | CallKind::Glance => {}
            CallKind::Write => time::sleep(LAST_MOMENT).await,
            CallKind::LastGlance => std::future::pending().await,
        }
    }
}

const DRY_RUN: api::WriteOptions =
    api::WriteOptions { request_id: String::new(), revision: 0, dry_run: true };

fn write_options(revision: u64) -> api::WriteOptions {
    let request_id = uuid::Uuid::now_v7().to_string();
    api::WriteOptions { request_id, revision, dry_run: false }
}

/// For the spread of delays; without chance they are merely not spread.
fn chance() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
