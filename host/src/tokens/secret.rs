//! A token's secret: 32 random bytes of the host's, shown once, or a text of the caller's. It is kept
//! as a hash.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::model::Token;
use crate::records::Records;

/// A secret in clear. `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(String);

const PREFIX: &str = "rct_";
const BYTES: usize = 32;
/// Shorter ones could be guessed.
const LENGTH_MIN: usize = 32;
/// A longer one is not even hashed.
const LENGTH_MAX: usize = 256;

/// Says what a secret must be, and nothing of the one that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it must be {LENGTH_MIN} to {LENGTH_MAX} printable ASCII characters without spaces")]
pub struct UnfitSecret;

impl Secret {
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// What [`generate`](Self::generate) made once; nothing else is one of the host's own.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (bytes.len() == BYTES).then(|| Self(text.to_owned()))
    }

    /// One of the caller's choice.
    pub fn given(text: String) -> Result<Self, UnfitSecret> {
        let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text)) } else { Err(UnfitSecret) }
    }

    pub fn hash(&self) -> String {
        hash(&self.0)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

fn hash(secret: &str) -> String {
    Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The token with this secret; one that is not revoked if there is one. Every token is compared, each
/// in constant time.
pub fn find<'a>(records: &'a Records, secret: &str) -> Option<&'a Token> {
    if secret.len() > LENGTH_MAX {
        return None;
    }
    let hash = hash(secret);
    let mut found: Option<&Token> = None;
    for token in records.tokens.values() {
        if bool::from(token.hash.as_bytes().ct_eq(hash.as_bytes()))
            && found.is_none_or(|found| found.revoked_at().is_some())
        {
            found = Some(token);
        }
    }
    found
}
