//! The administrator's token in the data folder: who owns the folder owns the host.
//!
//! The file is written before the token is stored, and its secret is taken over when the store knows
//! of no token yet; so a host killed in between starts again with the same one. A file that was
//! removed is made anew, and the token that it held is revoked.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::write_file;
use crate::{
    admission::Command,
    store::{Store, Write},
    tokens::secret::{self, Secret},
};

const FILE: &str = "admin.token";

pub(super) async fn provide(data_dir: &Path, store: &dyn Store) -> Result<PathBuf> {
    let path = data_dir.join(FILE);
    let records = store.records();
    let secret = match std::fs::read_to_string(&path) {
        Ok(text) if records.tokens.is_empty() => Secret::read(text.trim()).with_context(|| {
            format!(
                "`{}` holds no token that a host has made: remove the file and start again",
                path.display()
            )
        })?,
        Ok(text) => {
            if secret::find(&records, text.trim()).is_none_or(|it| it.revoked_at().is_some()) {
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
    let replace = Command::ReplaceFirstToken { hash: secret.hash() };
    store.commit(Write::of_host(replace)).await.context("cannot store the first token")?;
    Ok(path)
}
