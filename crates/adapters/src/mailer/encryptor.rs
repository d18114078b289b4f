//! Encrypts queued emails with a key derived from `AUTH_SECRET` (AES-256-GCM), so that rows and backups reveal no
//! links.

use anyhow::anyhow;
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use common::error::Result;
use common::settings::Secret;

/// The key derivation label; other uses of `AUTH_SECRET` derive other keys.
const PURPOSE: &[u8] = b"groupwork letters";

/// Encrypts and decrypts the queued emails of an installation.
pub struct Encryptor(RandomizedNonceKey);

impl Encryptor {
    /// Derives the key from the secret.
    pub fn new(secret: &Secret) -> Result<Self> {
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
        let key = hmac::sign(&root, PURPOSE);
        let key = RandomizedNonceKey::new(&AES_256_GCM, key.as_ref()).map_err(|_| anyhow!("no key for letters"))?;
        Ok(Self(key))
    }

    /// Encrypts the text of the email with this id. The id is authenticated, so rows cannot be swapped.
    pub fn encrypt(&self, id: &str, text: &str) -> Result<String> {
        let mut bytes = text.as_bytes().to_vec();
        let nonce = self
            .0
            .seal_in_place_append_tag(Aad::from(id), &mut bytes)
            .map_err(|_| anyhow!("a letter was not sealed"))?;
        bytes.extend_from_slice(nonce.as_ref());
        Ok(BASE64.encode(bytes))
    }

    /// Decrypts a text; `None` if `AUTH_SECRET` has changed or the row was modified.
    pub fn decrypt(&self, id: &str, sealed: &str) -> Option<String> {
        let mut bytes = BASE64.decode(sealed).ok()?;
        let at = bytes.len().checked_sub(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(&bytes.split_off(at)).ok()?;
        let text = self.0.open_in_place(nonce, Aad::from(id), &mut bytes).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
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
        assert_eq!(encryptor.decrypt("a", "AAAA"), None);
        assert_ne!(encryptor.encrypt("a", "a secret link").unwrap(), sealed);
    }
}
