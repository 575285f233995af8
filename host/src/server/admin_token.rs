//! The administrator's token in the data folder: who owns the folder owns the host.
//!
//! The file is written before the token is stored, and its secret is taken over when the store knows
//! of no token yet; so a host killed in between starts again with the same one. A file that was
//! removed is made anew, and the token that it held is revoked.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::write_file;
use crate::{
    admission::{Answer, Command},
    events::HOST_ACTOR,
    store::{CommitError, Mode, Store, Write},
    tokens::{
        model::{NewToken, Role},
        secret::{self, Secret},
    },
    violations::Violations,
};

const FILE: &str = "admin.token";
const NAME: &str = "admin";

pub(super) async fn provide(data_dir: &Path, store: &dyn Store) -> Result<PathBuf> {
    let path = data_dir.join(FILE);
    let records = store.records();
    let secret = match std::fs::read_to_string(&path) {
        Ok(text) if records.tokens.is_empty() => Secret::from(text.trim().to_owned()),
        Ok(text) => {
            if secret::find(&records, text.trim()).is_none_or(|it| it.revoked_at.is_some()) {
                tracing::warn!(
                    "the token in `{}` is not valid any more; remove the file and start again to \
                     have a new one",
                    path.display()
                );
            }
            return Ok(path);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let secret = Secret::generate().context("cannot make a secret")?;
            write_file(&path, &format!("{}\n", secret.reveal()))?;
            secret
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
        }
    };
    let name = free_name(store);
    let new =
        NewToken { name: name.clone(), role: Role::Admin, hash: secret.hash(), expires_at: None };
    commit(store, Command::CreateToken(new)).await.context("cannot store the first token")?;
    for token in records.tokens.values() {
        if is_ours(&token.name) && token.revoked_at.is_none() {
            let revoke = Command::RevokeToken(token.id.to_string());
            commit(store, revoke).await.context("cannot revoke the token that was lost")?;
        }
    }
    Ok(path)
}

/// `admin`, or `admin-2` and so on while that name is taken.
fn free_name(store: &dyn Store) -> String {
    let records = store.records();
    let is_free = |name: &String| {
        !records.tokens.values().any(|it| it.revoked_at.is_none() && it.name == *name)
    };
    let numbered = (2_u32..).map(|number| format!("{NAME}-{number}"));
    std::iter::once(NAME.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

fn is_ours(name: &str) -> bool {
    let number = name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('-'));
    name == NAME || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

async fn commit(store: &dyn Store, command: Command) -> Result<Answer, CommitError> {
    let write = Write {
        command,
        found: Violations::default(),
        actor: HOST_ACTOR.to_owned(),
        request: None,
        mode: Mode::Commit,
    };
    store.commit(write).await
}
