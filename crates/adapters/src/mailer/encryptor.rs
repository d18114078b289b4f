//! Encrypts queued emails with a key derived from `AUTH_SECRET` (AES-256-GCM), so that rows and backups reveal no
//! links.

use anyhow::anyhow;
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use common::error::Result;
use common::settings::{RotatedSecret, Secret};

/// The key derivation label; other uses of `AUTH_SECRET` derive other keys.
const PURPOSE: &[u8] = b"groupwork letters";

/// Encrypts and decrypts the queued emails of an installation.
pub struct Encryptor {
    key: RandomizedNonceKey,
    /// The key of the secret that is replaced; it only decrypts.
    previous: Option<RandomizedNonceKey>,
}

impl Encryptor {
    /// Derives the keys from the secrets.
    pub fn new(secret: &RotatedSecret) -> Result<Self> {
        Ok(Self {
            key: derive_key(secret.current())?,
            previous: secret.previous().map(derive_key).transpose()?,
        })
    }

    /// Encrypts the text of the email with this id. The id is authenticated, so rows cannot be swapped.
    pub fn encrypt(&self, id: &str, text: &str) -> Result<String> {
        let mut bytes = text.as_bytes().to_vec();
        let nonce = self
            .key
            .seal_in_place_append_tag(Aad::from(id), &mut bytes)
            .map_err(|_| anyhow!("a letter was not sealed"))?;
        bytes.extend_from_slice(nonce.as_ref());
        Ok(BASE64.encode(bytes))
    }

    /// Decrypts a text; `None` if `AUTH_SECRET` has changed or the row was modified.
    pub fn decrypt(&self, id: &str, sealed: &str) -> Option<String> {
        let bytes = BASE64.decode(sealed).ok()?;
        let at = bytes.len().checked_sub(NONCE_LEN)?;
        let (text, nonce) = bytes.split_at(at);
        let open = |key: &RandomizedNonceKey| {
            // A failed attempt overwrites the buffer.
            let mut buffer = text.to_vec();
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let text = key.open_in_place(nonce, Aad::from(id), &mut buffer).ok()?;
            String::from_utf8(text.to_vec()).ok()
        };
        open(&self.key).or_else(|| open(self.previous.as_ref()?))
    }
}

fn derive_key(secret: &Secret) -> Result<RandomizedNonceKey> {
    let root = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let key = hmac::sign(&root, PURPOSE);
    Ok(RandomizedNonceKey::new(&AES_256_GCM, key.as_ref()).map_err(|_| anyhow!("no key for letters"))?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn only_the_same_secret_decrypts_the_email() {
        let (encryptor, other) = (
            Encryptor::new(&"one".into()).unwrap(),
            Encryptor::new(&"two".into()).unwrap(),
        );
        let sealed = encryptor.encrypt("a", "a secret link").unwrap();
        assert!(!String::from_utf8_lossy(&BASE64.decode(&sealed).unwrap()).contains("secret"));
        assert_eq!(encryptor.decrypt("a", &sealed).as_deref(), Some("a secret link"));
        assert_eq!(encryptor.decrypt("b", &sealed), None);
        assert_eq!(other.decrypt("a", &sealed), None);
        let rotated = Encryptor::new(&RotatedSecret::new("two", Some("one".to_owned()))).unwrap();
        assert_eq!(rotated.decrypt("a", &sealed).as_deref(), Some("a secret link"));
        let newer = rotated.encrypt("a", "a secret link").unwrap();
        assert_eq!(other.decrypt("a", &newer).as_deref(), Some("a secret link"));
        assert_eq!(encryptor.decrypt("a", "AAAA"), None);
        assert_ne!(encryptor.encrypt("a", "a secret link").unwrap(), sealed);
    }
}
