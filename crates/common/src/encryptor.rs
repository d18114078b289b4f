//! Encrypts values that must not be readable in rows and backups: queued emails, secrets of
//! sign-on providers, secrets of second factors. AES-256-GCM with a key that is derived from a secret of the installation.

use anyhow::anyhow;
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::error::Result;
use crate::settings::{RotatedSecret, Secret};

/// What is encrypted. Each purpose has a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptionPurpose {
    Emails,
    /// The client secrets of sign-on providers.
    SignOn,
    /// The client secrets of roster sources.
    Rosters,
    /// The secrets of second factors.
    SecondFactor,
}

impl EncryptionPurpose {
    /// The label of the key derivation. It must never change: stored data would become unreadable.
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Emails => b"groupwork letters",
            Self::SignOn => b"groupwork sign-on",
            Self::Rosters => b"groupwork rosters",
            Self::SecondFactor => b"groupwork second factor",
        }
    }
}

/// Encrypts and decrypts for one purpose.
pub struct Encryptor {
    key: RandomizedNonceKey,
    /// The key of the secret that is replaced; it only decrypts.
    previous: Option<RandomizedNonceKey>,
}

impl Encryptor {
    /// Derives the keys from the secrets.
    pub fn new(secret: &RotatedSecret, purpose: EncryptionPurpose) -> Result<Self> {
        let derive = |secret| derive_key(secret, purpose);
        Ok(Self {
            key: derive(secret.current())?,
            previous: secret.previous().map(derive).transpose()?,
        })
    }

    /// Encrypts the text of the row with this id. The id is authenticated, so rows cannot be swapped.
    pub fn encrypt(&self, id: &str, text: &str) -> Result<String> {
        let mut bytes = text.as_bytes().to_vec();
        let nonce = self
            .key
            .seal_in_place_append_tag(Aad::from(id), &mut bytes)
            .map_err(|_| anyhow!("encryption failed"))?;
        bytes.extend_from_slice(nonce.as_ref());
        Ok(BASE64.encode(bytes))
    }

    /// Encrypts a text with the current secret that only the previous one decrypts; `None` for every other text.
    pub fn renew(&self, id: &str, sealed: &str) -> Result<Option<String>> {
        let Some(previous) = &self.previous else {
            return Ok(None);
        };
        let bytes = BASE64.decode(sealed).unwrap_or_default();
        if open(&self.key, id, &bytes).is_some() {
            return Ok(None);
        }
        open(previous, id, &bytes)
            .map(|text| self.encrypt(id, &text))
            .transpose()
    }

    /// Decrypts a text; `None` if `AUTH_SECRET` has changed or the row was modified.
    pub fn decrypt(&self, id: &str, sealed: &str) -> Option<String> {
        let bytes = BASE64.decode(sealed).ok()?;
        open(&self.key, id, &bytes).or_else(|| open(self.previous.as_ref()?, id, &bytes))
    }
}

fn open(key: &RandomizedNonceKey, id: &str, bytes: &[u8]) -> Option<String> {
    let at = bytes.len().checked_sub(NONCE_LEN)?;
    let (text, nonce) = bytes.split_at(at);
    // A failed attempt overwrites the buffer.
    let mut buffer = text.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let text = key.open_in_place(nonce, Aad::from(id), &mut buffer).ok()?;
    String::from_utf8(text.to_vec()).ok()
}

fn derive_key(secret: &Secret, purpose: EncryptionPurpose) -> Result<RandomizedNonceKey> {
    let root = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let key = hmac::sign(&root, purpose.label());
    Ok(RandomizedNonceKey::new(&AES_256_GCM, key.as_ref()).map_err(|_| anyhow!("key derivation failed"))?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn only_same_secret_purpose_and_id_decrypt() {
        let of = |secret: &str| Encryptor::new(&secret.into(), EncryptionPurpose::Emails).unwrap();
        let (encryptor, other) = (of("one"), of("two"));
        let sealed = encryptor.encrypt("a", "a secret link").unwrap();
        assert!(!String::from_utf8_lossy(&BASE64.decode(&sealed).unwrap()).contains("secret"));
        assert_eq!(encryptor.decrypt("a", &sealed).as_deref(), Some("a secret link"));
        assert_eq!(encryptor.decrypt("b", &sealed), None);
        assert_eq!(other.decrypt("a", &sealed), None);
        let sign_on = Encryptor::new(&"one".into(), EncryptionPurpose::SignOn).unwrap();
        assert_eq!(sign_on.decrypt("a", &sealed), None);
        let rotated = RotatedSecret::new("two", Some("one".to_owned()));
        let rotated = Encryptor::new(&rotated, EncryptionPurpose::Emails).unwrap();
        assert_eq!(rotated.decrypt("a", &sealed).as_deref(), Some("a secret link"));
        let renewed = rotated.renew("a", &sealed).unwrap().unwrap();
        assert_eq!(other.decrypt("a", &renewed).as_deref(), Some("a secret link"));
        assert_eq!(rotated.renew("a", &renewed).unwrap(), None);
        assert_eq!(rotated.renew("b", &sealed).unwrap(), None);
        assert_eq!(encryptor.renew("a", &sealed).unwrap(), None);
        let newer = rotated.encrypt("a", "a secret link").unwrap();
        assert_eq!(other.decrypt("a", &newer).as_deref(), Some("a secret link"));
        assert_eq!(encryptor.decrypt("a", "AAAA"), None);
        assert_ne!(encryptor.encrypt("a", "a secret link").unwrap(), sealed);
    }
}
