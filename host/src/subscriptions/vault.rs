//! Secrets that the host must be able to use again are kept sealed: encrypted with AES-256-GCM by a key
//! that is a file of its own beside the database, so that a copy of the database tells none.
//!
//! Whoever may read the whole data folder may read them; nobody else.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey},
    hmac,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use thiserror::Error;

use super::model::Sealed;

const FILE: &str = "secrets.key";
const KEY_BYTES: usize = 32;
const PREFIX: &str = "whsec_";

pub struct Vault(RandomizedNonceKey);

#[derive(Debug, Error)]
pub enum VaultError {
    #[error("cannot {doing} the key of the host's secrets")]
    Io { doing: &'static str, source: io::Error },
    #[error(
        "`{FILE}` in the data folder is not a key: put it back from a copy, or remove it, and give \
         every event subscription a new secret"
    )]
    BadKey,
    #[error("the system gives no random bytes")]
    NoRandom(#[source] getrandom::Error),
}

/// What signs. `Debug` does not show it.
#[derive(Clone)]
pub struct Signer(hmac::Key);

/// Says what a secret must be, and nothing of the one that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it must be `{PREFIX}` and 24 to 64 bytes in base64")]
pub struct UnfitSecret;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the secret can not be opened with the key in `{FILE}`: give the subscription a new one")]
pub struct Unopened;

impl Vault {
    /// Reads the key of a data folder, or makes it.
    pub fn open(data_dir: &Path) -> Result<Self, VaultError> {
        let path = data_dir.join(FILE);
        let key = match fs::read(&path) {
            Ok(key) => key,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
            Err(source) => return Err(VaultError::Io { doing: "read", source }),
        };
        if key.len() != KEY_BYTES {
            return Err(VaultError::BadKey);
        }
        RandomizedNonceKey::new(&AES_256_GCM, &key).map(Self).map_err(|_| VaultError::BadKey)
    }

    /// Seals a secret of the caller's, if it is a decent one.
    pub fn seal(&self, secret: &str) -> Result<Sealed, UnfitSecret> {
        let bytes = read_secret(secret).ok_or(UnfitSecret)?;
        let mut sealed = bytes;
        let nonce = self.0.seal_in_place_append_tag(Aad::empty(), &mut sealed);
        let nonce = nonce.map_err(|_| UnfitSecret)?;
        let whole = [nonce.as_ref().as_slice(), &sealed].concat();
        Ok(Sealed(STANDARD.encode(whole)))
    }

    pub fn signer(&self, sealed: &Sealed) -> Result<Signer, Unopened> {
        let mut whole = STANDARD.decode(&sealed.0).map_err(|_| Unopened)?;
        if whole.len() < NONCE_LEN {
            return Err(Unopened);
        }
        let mut rest = whole.split_off(NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(&whole).map_err(|_| Unopened)?;
        let secret = self.0.open_in_place(nonce, Aad::empty(), &mut rest).map_err(|_| Unopened)?;
        Ok(Signer(hmac::Key::new(hmac::HMAC_SHA256, secret)))
    }
}

impl Signer {
    /// One signature as the header `webhook-signature` has it.
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let text = format!("{id}.{timestamp}.{body}");
        format!("v1,{}", STANDARD.encode(hmac::sign(&self.0, text.as_bytes())))
    }
}

fn read_secret(text: &str) -> Option<Vec<u8>> {
    let encoded = text.strip_prefix(PREFIX).filter(|it| it.len() <= 128)?;
    STANDARD.decode(encoded).ok().filter(|bytes| (24..=64).contains(&bytes.len()))
}

/// Makes a key, whole or not at all.
fn make(path: &Path) -> Result<Vec<u8>, VaultError> {
    let mut key = vec![0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(VaultError::NoRandom)?;
    let fresh = path.with_extension("new");
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&key)?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(|source| VaultError::Io { doing: "make", source })?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    /// The example of the Standard Webhooks convention.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn what_is_sealed_signs_as_the_convention_says() {
        let dir = TempDir::new().unwrap();
        let sealed = Vault::open(dir.path()).unwrap().seal(SECRET).unwrap();
        assert!(!format!("{sealed:?}").contains("MfKQ9r8GKYqr"));
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // By a later host.
        let signer = Vault::open(dir.path()).unwrap().signer(&sealed).unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = signer.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn another_key_opens_nothing_and_a_broken_one_is_told() {
        let (dir, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let sealed = Vault::open(dir.path()).unwrap().seal(SECRET).unwrap();
        let vault = Vault::open(other.path()).unwrap();
        for wrong in [sealed.0.as_str(), "", "%", "AAAA", &"A".repeat(64)] {
            assert!(vault.signer(&Sealed(wrong.to_owned())).is_err(), "{wrong}");
        }
        fs::write(dir.path().join(FILE), "short").unwrap();
        assert!(matches!(Vault::open(dir.path()), Err(VaultError::BadKey)));
    }

    #[test]
    fn secrets_that_are_short_or_no_base64_are_refused() {
        let vault = Vault::open(TempDir::new().unwrap().path()).unwrap();
        for wrong in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_%%%%"]
        {
            assert!(vault.seal(wrong).is_err(), "{wrong}");
        }
        assert!(vault.seal(&format!("whsec_{}", "A".repeat(200_000))).is_err());
    }
}
