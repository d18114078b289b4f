//! Codes of authenticator apps (RFC 6238: SHA-1, 6 digits, 30 seconds) and recovery codes. The current time is always an
//! argument.

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::{signature::equal_in_constant_time, timestamp::UnixMillis, uri_component};

/// Length of a step in seconds.
const STEP_SECONDS: i64 = 30;
const DIGITS: usize = 6;
/// Steps before and after the present one whose codes are accepted: clocks of phones differ, and typing takes time.
const SKEW: i64 = 1;
/// Length of a secret: 160 bits, as RFC 4226 recommends.
const SECRET_LENGTH: usize = 20;
/// Characters of recovery codes: none that look alike in print.
const RECOVERY_ALPHABET: &[u8; 31] = b"abcdefghjkmnpqrstuvwxyz23456789";
const RECOVERY_LENGTH: usize = 12;

/// The secret that is shared with an authenticator app.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Vec<u8>);

impl std::fmt::Debug for TotpSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TotpSecret(..)")
    }
}

impl TotpSecret {
    /// Generates a secret with the operating system's random number generator.
    pub fn generate() -> Self {
        let mut bytes = vec![0; SECRET_LENGTH];
        fill(&mut bytes);
        Self(bytes)
    }

    /// Parses the form that apps show and the database stores encrypted.
    pub fn from_base32(text: &str) -> Option<Self> {
        let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
        (!bytes.is_empty()).then_some(Self(bytes))
    }

    /// Returns the secret as base32 without padding.
    pub fn to_base32(&self) -> String {
        BASE32_NOPAD.encode(&self.0)
    }

    /// Returns the URI with which an app adds the account.
    pub fn uri(&self, issuer: &str, account: &str) -> String {
        let (secret, issuer, account) = (
            self.to_base32(),
            uri_component::encode(issuer),
            uri_component::encode(account),
        );
        format!(
            "otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&digits={DIGITS}&period={STEP_SECONDS}"
        )
    }

    /// Returns the code of a step.
    pub fn code(&self, step: i64) -> String {
        let mut mac = Hmac::<Sha1>::new_from_slice(&self.0).expect("HMAC takes keys of every length");
        mac.update(&step.to_be_bytes());
        let digest = mac.finalize().into_bytes();
        let offset = usize::from(digest[digest.len() - 1] & 15);
        let word = [
            digest[offset],
            digest[offset + 1],
            digest[offset + 2],
            digest[offset + 3],
        ];
        let number = (u32::from_be_bytes(word) & 0x7fff_ffff) % 10_u32.pow(6);
        format!("{number:0DIGITS$}")
    }

    /// Returns the newest step around `now` that has this code. All steps are compared, whichever matches. Spaces, which
    /// apps show between the digits, are ignored.
    pub fn matching_step(&self, code: &str, now: UnixMillis) -> Option<i64> {
        let code: String = code.chars().filter(|character| !character.is_whitespace()).collect();
        let present = step_at(now);
        (present - SKEW..=present + SKEW).fold(None, |found, step| {
            let is_equal = equal_in_constant_time(self.code(step).as_bytes(), code.as_bytes());
            if is_equal { Some(step) } else { found }
        })
    }
}

/// Returns the step of a point in time.
pub fn step_at(now: UnixMillis) -> i64 {
    now.millis().div_euclid(STEP_SECONDS * 1000)
}

/// Returns a new recovery code, about 59 bits, in groups for reading.
pub fn recovery_code() -> String {
    let mut bytes = [0; RECOVERY_LENGTH];
    let mut text = String::with_capacity(RECOVERY_LENGTH + 2);
    while text.len() < RECOVERY_LENGTH + 2 {
        fill(&mut bytes);
        for byte in bytes {
            // An index beyond the alphabet is discarded, so that all characters are equally likely.
            let Some(character) = RECOVERY_ALPHABET.get(usize::from(byte & 31)) else {
                continue;
            };
            if text.len() == 4 || text.len() == 9 {
                text.push('-');
            }
            if text.len() < RECOVERY_LENGTH + 2 {
                text.push(char::from(*character));
            }
        }
    }
    text
}

/// Returns the stored form of a recovery code: a hash that differs between users. Case, spaces and hyphens are ignored.
pub fn recovery_code_hash(user: &str, code: &str) -> String {
    let code: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    let digest = Sha256::digest(format!("{user}:{}", code.to_ascii_lowercase()).as_bytes());
    data_encoding::HEXLOWER.encode(&digest)
}

fn fill(bytes: &mut [u8]) {
    SysRng
        .try_fill_bytes(bytes)
        .expect("without randomness from the operating system nobody may sign in");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B, whose codes have 8 digits there.
    fn of_the_standard() -> TotpSecret {
        TotpSecret(b"12345678901234567890".to_vec())
    }

    fn at(seconds: i64) -> UnixMillis {
        UnixMillis::from_millis(seconds * 1000)
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(of_the_standard().code(step_at(at(seconds))), code, "at {seconds}");
        }
    }

    #[test]
    fn codes_of_one_step_around_the_present_are_accepted() {
        let (secret, now) = (of_the_standard(), at(1_234_567_890));
        let present = step_at(now);
        for offset in -3..=3 {
            let code = secret.code(present + offset);
            let expected = (offset.abs() <= 1).then_some(present + offset);
            assert_eq!(secret.matching_step(&code, now), expected, "{offset}");
        }
        assert_eq!(secret.matching_step("005 924", now), Some(present));
        for wrong in ["", "5924", "0059240", "abcdef", "００５９２４"] {
            assert_eq!(secret.matching_step(wrong, now), None, "{wrong}");
        }
    }

    #[test]
    fn secret_survives_base32() {
        let secret = TotpSecret::generate();
        assert_eq!(secret.to_base32().len(), 32);
        assert_eq!(TotpSecret::from_base32(&secret.to_base32()), Some(secret.clone()));
        assert_ne!(TotpSecret::generate(), secret);
        assert_eq!(TotpSecret::from_base32("not base32!"), None);
        assert!(!format!("{secret:?}").contains(&secret.to_base32()));
    }

    #[test]
    fn uri_escapes_issuer_and_account() {
        let uri = of_the_standard().uri("A & B", "ada+1@school.example");
        assert_eq!(
            uri,
            "otpauth://totp/A%20%26%20B:ada%2B1%40school.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
             &issuer=A%20%26%20B&digits=6&period=30"
        );
    }

    #[test]
    fn recovery_codes_have_groups_and_hash_as_typed() {
        let code = recovery_code();
        let groups: Vec<&str> = code.split('-').collect();
        assert_eq!(groups.len(), 3, "{code}");
        assert!(groups.iter().all(|group| group.len() == 4), "{code}");
        let hash = recovery_code_hash("ada", &code);
        let typed = code.replace('-', " ").to_uppercase();
        assert_eq!(recovery_code_hash("ada", &typed), hash);
        assert_ne!(recovery_code_hash("ben", &code), hash, "a hash belongs to one user");
        assert_ne!(recovery_code_hash("ada", &recovery_code()), hash);
        assert_eq!(hash.len(), 64);
    }

    #[test]
    fn recovery_alphabet_has_no_similar_characters() {
        assert!(!RECOVERY_ALPHABET.iter().any(|character| b"il01o".contains(character)));
        let mut sorted = RECOVERY_ALPHABET.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), RECOVERY_ALPHABET.len());
    }
}
