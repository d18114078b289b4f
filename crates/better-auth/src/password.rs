//! Hashes and verifies passwords: Argon2id for new hashes, the library's scrypt for imported ones. The time of a
//! verification must not reveal whether an account exists. The functions are slow by design: call them where blocking
//! is allowed and limit their concurrency (19 MiB and 32 MiB each).

use std::hint::black_box;

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use unicode_normalization::UnicodeNormalization;

pub use crate::new_password::{WeakPassword, check_new, is_common};
use crate::{error::AuthError, signature::equal_in_constant_time};

/// Minimum length of a password in UTF-16 code units, as counted by JavaScript.
pub const MIN_LENGTH: usize = 8;

/// Maximum length of a password in UTF-16 code units.
pub const MAX_LENGTH: usize = 128;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Upper limits for the cost of stored hashes: higher than ours, but low enough that a row cannot exhaust the server.
const MAX_MEMORY_KIB: u32 = 256 * 1024;
const MAX_PASSES: u32 = 16;
const MAX_LANES: u32 = 8;

const SCRYPT_LOG_N: u8 = 14;
const SCRYPT_R: u32 = 16;
const SCRYPT_P: u32 = 1;
const SCRYPT_KEY_BYTES: usize = 64;

/// Salt used for accounts that do not exist.
const DUMMY_SALT: &str = "00000000000000000000000000000000";

/// A parsed hash.
enum StoredHash<'a> {
    /// The library's `salt:key`; the salt is used as text.
    Imported { salt: &'a str, key: &'a str },
    /// Argon2id as a PHC string.
    Own(Box<PasswordHash>),
    /// No hash, or one of an unsupported kind.
    Unsupported,
}

impl<'a> StoredHash<'a> {
    fn read(stored: Option<&'a str>) -> Self {
        let Some(stored) = stored else {
            return Self::Unsupported;
        };
        if let Some((salt, key)) = stored.split_once(':') {
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let well_formed = !salt.is_empty() && key.len() == SCRYPT_KEY_BYTES * 2 && key.bytes().all(is_hex);
            return if well_formed {
                Self::Imported { salt, key }
            } else {
                Self::Unsupported
            };
        }
        match PasswordHash::new(stored) {
            Ok(hash) if hash.algorithm.as_str() == "argon2id" && is_affordable(&hash) => Self::Own(Box::new(hash)),
            _ => Self::Unsupported,
        }
    }
}

/// Returns the Argon2id hash to store for a new password.
pub fn hash(password: &str) -> String {
    argon2()
        .hash_password(normalize(password).as_bytes())
        .expect("the parameters are valid and the operating system gives randomness")
        .to_string()
}

/// Returns whether a password matches a stored hash. Hashes of unknown kinds match no password.
pub fn verify(password: &str, stored: &str) -> bool {
    matches_hash(&normalize(password), &StoredHash::read(Some(stored)))
}

/// Returns whether a password matches an account, in the same time whether the account exists or not.
///
/// `stored` is `None` for an unknown account. While any imported hash is stored, `imported_hashes_exist` makes every
/// call compute both kinds of hashes; otherwise the duration would distinguish imported accounts from unknown ones.
pub fn verify_account(password: &str, stored: Option<&str>, imported_hashes_exist: bool) -> bool {
    let password = normalize(password);
    let stored = StoredHash::read(stored);
    let right = matches_hash(&password, &stored);
    if imported_hashes_exist && !matches!(stored, StoredHash::Imported { .. }) {
        black_box(scrypt_key(&password, DUMMY_SALT));
    }
    let own_work_is_done = matches!(stored, StoredHash::Own(_));
    if !own_work_is_done && (imported_hashes_exist || matches!(stored, StoredHash::Unsupported)) {
        black_box(dummy_argon2_hash(&password));
    }
    right
}

/// Returns whether a stored hash should be replaced with [`hash`] after the next successful verification: imported
/// hashes, and hashes with a lower cost than ours.
pub fn needs_rehash(stored: &str) -> bool {
    let StoredHash::Own(hash) = StoredHash::read(Some(stored)) else {
        return true;
    };
    Params::try_from(hash.as_ref()).map_or(true, |params| params.m_cost() < MEMORY_KIB || params.t_cost() < PASSES)
}

/// Returns whether a text is a hash of the library, `salt:key` of its scrypt; such a hash may be imported.
pub fn is_imported_hash(text: &str) -> bool {
    let has_plain_salt = |salt: &str| salt.len() <= 256 && salt.bytes().all(|byte| byte.is_ascii_graphic());
    matches!(StoredHash::read(Some(text)), StoredHash::Imported { salt, .. } if has_plain_salt(salt))
}

/// Checks the length of a new password by the library's rule.
pub fn check_length(password: &str) -> Result<(), AuthError> {
    let length = password.encode_utf16().count();
    if length < MIN_LENGTH {
        return Err(AuthError::password_too_short());
    }
    check_not_too_long(password)
}

/// Checks the length at sign-in, where a short password is simply wrong.
pub fn check_not_too_long(password: &str) -> Result<(), AuthError> {
    if password.encode_utf16().count() > MAX_LENGTH {
        return Err(AuthError::password_too_long());
    }
    Ok(())
}

pub(crate) fn normalize(password: &str) -> String {
    password.nfkc().collect()
}

fn matches_hash(normalized: &str, stored: &StoredHash<'_>) -> bool {
    match stored {
        StoredHash::Imported { salt, key } => {
            let derived = scrypt_key(normalized, salt);
            equal_in_constant_time(derived.as_bytes(), key.as_bytes())
        }
        StoredHash::Own(hash) => argon2().verify_password(normalized.as_bytes(), hash.as_ref()).is_ok(),
        StoredHash::Unsupported => false,
    }
}

fn argon2() -> Argon2<'static> {
    #[cfg(test)]
    count(|work| work.own += 1);
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Computes a hash of our own kind and discards it.
fn dummy_argon2_hash(normalized: &str) -> [u8; 32] {
    let mut key = [0; 32];
    argon2()
        .hash_password_into(normalized.as_bytes(), DUMMY_SALT.as_bytes(), &mut key)
        .expect("lengths are within Argon2's bounds");
    key
}

fn is_affordable(hash: &PasswordHash) -> bool {
    Params::try_from(hash).is_ok_and(|params| {
        params.m_cost() <= MAX_MEMORY_KIB && params.t_cost() <= MAX_PASSES && params.p_cost() <= MAX_LANES
    })
}

/// Returns the library's derived key in lower-case hexadecimal; password and salt are used as text.
fn scrypt_key(normalized: &str, salt: &str) -> String {
    #[cfg(test)]
    count(|work| work.scrypt += 1);
    let params = scrypt::Params::new(SCRYPT_LOG_N, SCRYPT_R, SCRYPT_P).expect("within scrypt's bounds");
    let mut key = [0; SCRYPT_KEY_BYTES];
    scrypt::scrypt(normalized.as_bytes(), salt.as_bytes(), &params, &mut key)
        .expect("64 bytes are within scrypt's bounds");
    key.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Number of slow computations of each kind on this test thread.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct HashCount {
    own: u32,
    scrypt: u32,
}

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<HashCount> = const { std::cell::Cell::new(HashCount { own: 0, scrypt: 0 }) };
}

#[cfg(test)]
fn count(add: impl Fn(&mut HashCount)) {
    let mut work = DONE.get();
    add(&mut work);
    DONE.set(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of `root-password-1`, generated by the library.
    const IMPORTED: &str = "7d6f432a69baee753fc0b1f3cdc8c906:4b3b97c205fd6ed606646cb697b8bf18f44b27489d35dc82cd5eca9f12ccec05b519b9bf6d344389437b02c92ab336c5fa6f58874593d3642637e578828547d4";

    #[test]
    fn own_hashes_verify_and_need_no_replacement() {
        let stored = hash("Zirkel und Lineal");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(verify("Zirkel und Lineal", &stored));
        assert!(!verify("zirkel und Lineal", &stored));
        assert!(!needs_rehash(&stored));
        assert_ne!(hash("Zirkel und Lineal"), stored);
    }

    #[test]
    fn password_verifies_in_any_unicode_composition() {
        let stored = hash("caf\u{e9} \u{fb01}n");
        assert!(verify("cafe\u{301} fin", &stored));
    }

    #[test]
    fn imported_and_weaker_hashes_need_rehash() {
        let salt_and_key = "$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let with = |head: &str| needs_rehash(&format!("{head}{salt_and_key}"));
        assert!(needs_rehash(IMPORTED));
        assert!(needs_rehash("nonsense"));
        assert!(with("$argon2id$v=19$m=4096,t=2,p=1"));
        assert!(with("$argon2id$v=19$m=19456,t=1,p=1"));
        assert!(with("$argon2i$v=19$m=19456,t=2,p=1"));
        assert!(!with("$argon2id$v=19$m=19456,t=2,p=1"));
        assert!(!with("$argon2id$v=19$m=65536,t=3,p=4"));
    }

    #[test]
    fn malformed_and_too_costly_hashes_match_no_password() {
        let key = "0".repeat(128);
        for stored in [
            "",
            ":",
            "password",
            "$2b$10$abcdefghijklmnopqrstuv",
            "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0",
            &format!(":{key}"),
            &format!("salt:{}", &key[1..]),
            &format!("salt:{}g", &key[1..]),
            &IMPORTED.to_uppercase(),
        ] {
            assert!(!verify("password", stored), "{stored}");
        }
    }

    #[test]
    fn unknown_account_costs_same_as_known_account() {
        let own = hash("Zirkel und Lineal");
        let work = |stored: Option<&str>, imported_hashes_exist| {
            DONE.set(HashCount::default());
            assert!(!verify_account("wrong password", stored, imported_hashes_exist));
            DONE.get()
        };
        let everyone = [None, Some(own.as_str()), Some("malformed"), Some(IMPORTED)];
        for stored in &everyone[..3] {
            assert_eq!(work(*stored, false), HashCount { own: 1, scrypt: 0 }, "{stored:?}");
        }
        for stored in everyone {
            assert_eq!(work(stored, true), HashCount { own: 1, scrypt: 1 }, "{stored:?}");
        }
    }

    #[test]
    fn accounts_verify_with_either_kind_of_hash() {
        assert!(verify_account("root-password-1", Some(IMPORTED), true));
        assert!(!verify_account("root-password-2", Some(IMPORTED), true));
        assert!(verify_account("root-password-1", Some(IMPORTED), false));
        assert!(!verify_account("root-password-1", None, false));
    }

    #[test]
    fn length_counts_utf16_units() {
        assert_eq!(check_length("1234567"), Err(AuthError::password_too_short()));
        assert_eq!(check_length("12345678"), Ok(()));
        assert_eq!(check_length("\u{1f600}\u{1f600}\u{1f600}\u{1f600}"), Ok(()));
        assert_eq!(
            check_length("\u{e4}\u{e4}\u{e4}\u{e4}"),
            Err(AuthError::password_too_short())
        );
        assert_eq!(check_length(&"x".repeat(128)), Ok(()));
        assert_eq!(check_length(&"x".repeat(129)), Err(AuthError::password_too_long()));
        assert_eq!(check_not_too_long("short"), Ok(()));
        assert_eq!(
            check_not_too_long(&"\u{1f600}".repeat(65)),
            Err(AuthError::password_too_long())
        );
    }
}
