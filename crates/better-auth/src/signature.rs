//! HMAC-SHA-256 over text, and comparison that takes the same time whether or not it matches.
//! Signatures are compared as text, so that exactly one spelling of each is accepted.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The HMAC of `message` under `secret`, both taken as UTF-8 bytes.
pub(crate) fn hmac_sha256(secret: &str, message: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of every length");
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

/// Whether two texts are equal, in time that depends on their length only.
pub(crate) fn equal_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}
