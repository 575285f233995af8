//! A token's secret: 32 random bytes, shown once, kept as a hash.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::model::Token;
use crate::records::Records;

/// A secret in clear. `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(String);

const PREFIX: &str = "rct_";
const BYTES: usize = 32;
/// No secret of ours is longer; a longer one is not even hashed.
const LENGTH_MAX: usize = 128;

impl Secret {
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// What [`generate`](Self::generate) made once; nothing else is a secret.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (bytes.len() == BYTES).then(|| Self(text.to_owned()))
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

/// The token with this secret. Every token is compared, each in constant time.
pub fn find<'a>(records: &'a Records, secret: &str) -> Option<&'a Token> {
    if secret.len() > LENGTH_MAX {
        return None;
    }
    let hash = hash(secret);
    let mut found = None;
    for token in records.tokens.values() {
        if bool::from(token.hash.as_bytes().ct_eq(hash.as_bytes())) {
            found = Some(&**token);
        }
    }
    found
}
