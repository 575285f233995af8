//! Tokens on the wire. The gate lets only administrators in.

use proto::runtimecloud::v1::{self, tokens_server::Tokens};
use tonic::{Code, Request, Response, Status};

use super::{
    model::{NewToken, Role, Token},
    secret::Secret,
};
use crate::{
    admission::{Answer, Command},
    api::{Call, Core, convert, status},
};

pub struct TokensApi(pub Core);

impl TokensApi {
    async fn commit(&self, call: Call, command: Command) -> Result<v1::Token, Status> {
        match self.0.write(call, command).await? {
            Answer::Token(token) => Ok(encode(&token)),
            other => Err(status::unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl Tokens for TokensApi {
    async fn create(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        let mut call = Call::new(&request, None)?;
        let v1::CreateTokenRequest { name, role, expires_at } = request.into_inner();
        let role = match v1::Role::try_from(role) {
            Ok(v1::Role::Viewer) => Role::Viewer,
            Ok(v1::Role::Editor) => Role::Editor,
            Ok(v1::Role::Admin) => Role::Admin,
            Ok(v1::Role::Unspecified) | Err(_) => {
                call.found.add("role", "it is not a role: use `viewer`, `editor` or `admin`");
                Role::Viewer
            }
        };
        let expires_at = expires_at
            .and_then(|time| convert::read_timestamp("expires_at", &time, &mut call.found));
        let secret = Secret::generate().map_err(|error| {
            let message = format!("cannot make a secret: {error}");
            status::plain((Code::Internal, "NO_RANDOM"), message, &call.caller.request_id)
        })?;
        let new = NewToken { name, role, hash: secret.hash(), expires_at };
        let token = self.commit(call, Command::CreateToken(new)).await?;
        let secret = secret.reveal().to_owned();
        Ok(Response::new(v1::CreateTokenResponse { token: Some(token), secret }))
    }

    async fn list(
        &self,
        _: Request<v1::ListTokensRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        let records = self.0.store.records();
        let tokens = records.tokens.values().map(|token| encode(token)).collect();
        Ok(Response::new(v1::ListTokensResponse { tokens }))
    }

    async fn revoke(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Result<Response<v1::Token>, Status> {
        let call = Call::new(&request, None)?;
        let command = Command::RevokeToken(request.into_inner().key);
        self.commit(call, command).await.map(Response::new)
    }
}

fn encode(token: &Token) -> v1::Token {
    v1::Token {
        id: token.id.to_string(),
        name: token.name.clone(),
        role: match token.role {
            Role::Viewer => v1::Role::Viewer,
            Role::Editor => v1::Role::Editor,
            Role::Admin => v1::Role::Admin,
        }
        .into(),
        created_at: Some(convert::timestamp(token.created_at)),
        expires_at: token.expires_at.map(convert::timestamp),
        revoked_at: token.revoked_at.map(convert::timestamp),
    }
}
