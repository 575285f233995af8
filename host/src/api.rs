//! The host's API: what all its handlers share. A handler decodes, commits or reads, and encodes;
//! the [`gate`] before it has authenticated and authorized the caller.

pub mod convert;
pub mod events;
pub mod feed;
pub mod gate;
pub mod host;
pub mod nouns;
pub mod page;
pub mod snapshot;
pub mod sse;
pub mod status;
pub mod web;

use std::{sync::Arc, time::Duration};

use futures_util::{
    FutureExt, Stream, StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use proto::runtimecloud::v1;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Status};

use crate::{
    admission::{Answer, Command},
    board::Board,
    clock::Clock,
    ids::TokenId,
    observed::Observed,
    places::Places,
    records::Records,
    store::{Mode, RequestKey, Store, Write},
    subscriptions::{
        standing::{Standing, Stands},
        vault::Vault,
    },
    tasks::recount::Recounter,
    tokens::model::{Role, Void, access, ends_at},
    violations::Violations,
};

/// What the handlers work with.
#[derive(Clone)]
pub struct Core {
    pub store: Arc<dyn Store>,
    pub board: Arc<Board>,
    pub places: Arc<Places>,
    pub clock: Arc<dyn Clock>,
    pub standing: Arc<Standing>,
    pub vault: Arc<Vault>,
    /// Ends the streams that follow something.
    pub shutdown: CancellationToken,
}

/// Who calls; put into each request by the gate.
#[derive(Debug, Clone)]
pub struct Caller {
    pub token: TokenId,
    /// The token's, as a key.
    pub name: String,
    /// What the token is good for at present.
    pub role: Role,
    pub request_id: String,
}

/// The truth at one moment, to encode resources from.
pub struct View {
    pub records: Arc<Records>,
    pub observed: Arc<Observed>,
    pub stands: Stands,
    /// Of the event log.
    pub last_position: u64,
    pub now: jiff::Timestamp,
}

/// A call that changes something.
pub struct Call {
    pub caller: Caller,
    options: v1::WriteOptions,
    fingerprint: String,
    pub found: Violations,
}

impl Call {
    /// Takes in the envelope of a request.
    pub fn new<M: Message>(
        request: &Request<M>,
        options: Option<&v1::WriteOptions>,
    ) -> Result<Self, Status> {
        let caller = caller(request)?;
        let mut found = Violations::default();
        let options = options.cloned().unwrap_or_default();
        let id = &options.request_id;
        if id.len() > 128 || !id.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            found.add("options.request_id", "it must be 1 to 128 printable ASCII characters");
        }
        // The type tells calls apart whose fields look alike.
        let mut hash = Sha256::new();
        hash.update(std::any::type_name::<M>());
        hash.update(request.get_ref().encode_to_vec());
        let fingerprint = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { caller, options, fingerprint, found })
    }

    /// Whether the same call may come again, to be answered in the same way.
    pub fn is_repeatable(&self) -> bool {
        !self.options.request_id.is_empty()
    }

    pub fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }

    pub fn revision(&self) -> u64 {
        self.options.revision
    }
}

impl Core {
    pub fn recounter(&self) -> Recounter {
        Recounter {
            store: Arc::clone(&self.store),
            board: Arc::clone(&self.board),
            clock: Arc::clone(&self.clock),
        }
    }

    /// Commits a command for a caller.
    pub async fn write(&self, call: Call, command: Command) -> Result<Answer, Status> {
        let Call { caller, options, fingerprint, found } = call;
        let mode = if options.dry_run { Mode::DryRun } else { Mode::Commit };
        let request_id = options.request_id;
        let request = (!request_id.is_empty() && found.is_empty()).then_some(RequestKey {
            caller: caller.token,
            request_id,
            fingerprint,
        });
        let write = Write { command, found, actor: caller.name, request, mode };
        let answer = self.store.commit(write).await;
        answer.map_err(|error| status::of_commit(&error, &caller.request_id))
    }

    /// A stream that lasts, and that ends with a refusal once the caller's token is no longer good.
    pub fn guarded<T: Send + 'static>(
        &self,
        caller: Caller,
        stream: impl Stream<Item = Result<T, Status>> + Send + 'static,
    ) -> BoxStream<'static, Result<T, Status>> {
        // Looked at before each item, and awaited between them.
        let refused = refused(self.clone(), caller).boxed().shared();
        let guarded = stream.take_until(refused.clone());
        let last = stream::once(async move { refused.peek().cloned() });
        guarded.chain(last.filter_map(async |it| it.map(Err))).boxed()
    }

    pub fn view(&self) -> View {
        let records = self.store.records();
        let now = self.clock.now().max(records.time);
        View {
            records,
            observed: self.board.observed(),
            stands: self.standing.all(),
            last_position: *self.store.last_position().borrow(),
            now,
        }
    }
}

/// What a call gets whose token is no good.
fn bad_token(why: &str, request_id: &str) -> Status {
    let message = format!("{why}: ask an administrator for a new one");
    status::plain((Code::Unauthenticated, "BAD_TOKEN"), message, request_id)
}

/// Comes when the caller's token is not good any more.
async fn refused(core: Core, caller: Caller) -> Status {
    /// The clock may be set anew meanwhile.
    const LOOK_AGAIN: Duration = Duration::from_secs(60);
    let mut version = core.store.version();
    loop {
        version.mark_unchanged();
        let (records, now) = (core.store.records(), core.clock.now());
        let token = records.tokens.get(&caller.token);
        let access = token.ok_or(Void::Revoked).and_then(|it| access(&records, it, now));
        if let Err(void) = access {
            return bad_token(&format!("the token {void}"), &caller.request_id);
        }
        let end = token.and_then(|token| ends_at(&records, token));
        let left = end.map(|end| end.duration_since(now).unsigned_abs());
        tokio::select! {
            _ = version.changed() => {}
            () = tokio::time::sleep(left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)) => {}
        }
    }
}

/// The caller of a request that went through the gate.
pub fn caller<M>(request: &Request<M>) -> Result<Caller, Status> {
    let caller = request.extensions().get::<Caller>().cloned();
    caller.ok_or_else(|| Status::unauthenticated("no token was checked for this call"))
}
