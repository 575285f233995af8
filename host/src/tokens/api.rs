//! Tokens on the wire: decode, commit or read, encode. Who may make and revoke which is decided in
//! [`decide`](super::decide).

use proto::runtimecloud::v1::{self, tokens_server::Tokens};
use tonic::{Code, Request, Response, Status};

use super::{
    decide::{Maker, NewToken, Revocation, TokenUpdate},
    model,
    secret::Secret,
    wire,
};
use crate::{
    accounts::model::ServiceAccount,
    admission::{Answer, Command, Delete},
    api::{Call, Core, caller, nouns, page, status},
    resource::{self, Kind},
};

pub struct TokensApi(pub Core);

impl TokensApi {
    async fn commit(&self, call: Call, command: Command) -> Result<v1::Token, Status> {
        match self.0.write(call, command).await? {
            Answer::Token(token) => Ok(wire::token(&token, &self.0.view())),
            other => Err(status::unexpected(&other)),
        }
    }
}

fn maker(call: &Call) -> Maker {
    Maker { token: call.caller.token, role: call.caller.role }
}

fn host_made(call: &Call) -> Result<Secret, Status> {
    Secret::generate().map_err(|error| {
        let message = format!("cannot make a secret: {error}");
        status::plain((Code::Internal, "NO_RANDOM"), message, &call.caller.request_id)
    })
}

#[tonic::async_trait]
impl Tokens for TokensApi {
    async fn create(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateTokenRequest { service_account, name, labels, spec, options: _ } =
            request.into_inner();
        let is_given = spec.as_ref().is_some_and(|spec| !spec.secret.is_empty());
        let (spec, given) = wire::read(spec, &mut call.found);
        if !is_given && call.is_repeatable() {
            // What the host makes, it could not show again.
            let message =
                "it is missing: a call with a `request_id` needs a secret of the caller's";
            call.found.add("spec.secret", message);
        }
        let made = if is_given || call.is_dry_run() { None } else { Some(host_made(&call)?) };
        // One that was given and is faulty is refused, whatever stands here.
        let hash = given.as_ref().or(made.as_ref()).map(Secret::hash).unwrap_or_default();
        let maker = maker(&call);
        let new = NewToken { account: service_account, name, labels, spec, hash, maker };
        let token = self.commit(call, Command::CreateToken(new)).await?;
        let secret = made.map(|secret| secret.reveal().to_owned()).unwrap_or_default();
        Ok(Response::new(v1::CreateTokenResponse { token: Some(token), secret }))
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Result<Response<v1::Token>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let key = &request.get_ref().key;
        match model::find(&view.records, key, view.now) {
            Some(it) => Ok(Response::new(wire::token(it, &view))),
            None => Err(status::not_found(Kind::Token, key, &caller.request_id)),
        }
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        let caller = caller(&request)?;
        let view = self.0.view();
        let account = nouns::parent::<ServiceAccount>(&view, &request)?.map(|it| it.id);
        let request = request.get_ref();
        let matching = view.records.tokens.values().filter(|it| {
            resource::matches(&request.labels, &it.meta.labels)
                && (account.is_none() || it.account == account)
        });
        // Several may have had the same name.
        let keyed = matching.map(|it| (format!("{} {}", it.key(&view.records), it.id), it));
        let page = page::cut(request, &caller.request_id, keyed)?;
        Ok(Response::new(v1::ListTokensResponse {
            tokens: page.items.into_iter().map(|it| wire::token(it, &view)).collect(),
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(
        &self,
        request: Request<v1::UpdateTokenRequest>,
    ) -> Result<Response<v1::Token>, Status> {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateTokenRequest { key, labels, spec, options: _ } = request.into_inner();
        let (spec, secret) = wire::read(spec, &mut call.found);
        let hash = secret.map(|secret| secret.hash());
        let (revision, by) = (call.revision(), maker(&call));
        let update = TokenUpdate { key, labels, spec, hash, revision, by };
        self.commit(call, Command::UpdateToken(update)).await.map(Response::new)
    }

    async fn delete(
        &self,
        request: Request<v1::DeleteRequest>,
    ) -> Result<Response<v1::Token>, Status> {
        let (call, Delete { key, revision }) = nouns::deletion(request)?;
        let revocation = Revocation { key, revision, by: maker(&call) };
        self.commit(call, Command::RevokeToken(revocation)).await.map(Response::new)
    }
}
