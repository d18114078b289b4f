//! HMAC-SHA-256 over text, and comparison in constant time. Signatures are compared as text, so exactly one spelling of
//! each is accepted.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Returns the HMAC of `message` with the key `secret`, both as UTF-8 bytes.
pub(crate) fn hmac_sha256(secret: &str, message: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of every length");
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

/// Returns whether two texts are equal, in time that depends only on their length.
pub(crate) fn equal_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}
