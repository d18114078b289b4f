//! Random ids and tokens over `A-Z a-z 0-9`. All characters are equally likely: bytes that would bias the distribution
//! are discarded, not reduced with a remainder.

use rand::{TryRng, rngs::SysRng};

/// Length of an id and of a session token: 32 characters of 62 possibilities each, about 190 bits.
pub const TOKEN_LENGTH: usize = 32;

/// Length of a password reset token: about 143 bits.
pub const RESET_TOKEN_LENGTH: usize = 24;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The largest multiple of 62 in a byte; larger bytes would bias the distribution.
const UNBIASED_LIMIT: u8 = 248;

/// Returns a new row id.
pub fn id() -> String {
    random_text(TOKEN_LENGTH)
}

/// Returns a new session token.
pub fn session_token() -> String {
    random_text(TOKEN_LENGTH)
}

/// Returns a new password reset token.
pub fn reset_token() -> String {
    random_text(RESET_TOKEN_LENGTH)
}

/// Returns random text of this length from the operating system's random number generator.
pub fn random_text(length: usize) -> String {
    text_from(length, |bytes| {
        SysRng
            .try_fill_bytes(bytes)
            .expect("without randomness from the operating system nobody may sign in");
    })
}

/// Returns a random number below `count`, which is at least 1, from the operating system's random number generator.
pub fn random_below(count: usize) -> usize {
    let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
    // The largest multiple of the count; larger numbers would bias the distribution.
    let limit = u64::MAX - u64::MAX % count;
    loop {
        let mut bytes = [0_u8; 8];
        SysRng
            .try_fill_bytes(&mut bytes)
            .expect("without randomness from the operating system nobody may sign in");
        let number = u64::from_ne_bytes(bytes);
        if number < limit {
            return usize::try_from(number % count).unwrap_or_default();
        }
    }
}

fn text_from(length: usize, mut fill: impl FnMut(&mut [u8])) -> String {
    let mut text = String::with_capacity(length);
    let mut bytes = [0_u8; 64];
    while text.len() < length {
        fill(&mut bytes);
        let even = bytes.iter().filter(|byte| **byte < UNBIASED_LIMIT);
        text.extend(
            even.take(length - text.len())
                .map(|byte| char::from(ALPHABET[usize::from(byte % 62)])),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;

    #[test]
    fn tokens_have_their_length_and_alphabet() {
        for (token, length) in [(id(), 32), (session_token(), 32), (reset_token(), 24)] {
            assert_eq!(token.len(), length);
            assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
    }

    #[test]
    fn tokens_do_not_repeat() {
        let tokens: HashSet<String> = (0..1000).map(|_| session_token()).collect();
        assert_eq!(tokens.len(), 1000);
    }

    #[test]
    fn each_of_the_256_bytes_counts_evenly_or_not_at_all() {
        let mut next = 0_u8;
        let text = text_from(62 * 40, |bytes| {
            for byte in bytes {
                *byte = next;
                next = next.wrapping_add(1);
            }
        });
        let mut counts = BTreeMap::new();
        for character in text.chars() {
            *counts.entry(character).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 62);
        assert!(counts.values().all(|count| *count == 40), "{counts:?}");
    }
}
