//! The data that an authenticator signs: relying party, flags, counter, and the new credential of a registration.

use sha2::{Digest as _, Sha256};

use crate::cbor;
use crate::error::WebAuthnError;
use crate::public_key::CosePublicKey;

/// Maximum length of a credential id in bytes (WebAuthn, section 6.5.1).
pub const CREDENTIAL_ID_MAX: usize = 1023;
/// Maximum length of authenticator data in bytes.
const LENGTH_MAX: usize = 4096;
/// Length of hash, flags and counter.
const HEADER: usize = 37;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

/// Parsed authenticator data.
#[derive(Clone, Debug)]
pub struct AuthenticatorData {
    relying_party: [u8; 32],
    flags: u8,
    /// The signature counter; 0 if the authenticator has none.
    pub counter: u32,
    /// Present in a registration only.
    pub credential: Option<NewCredential>,
}

/// A credential that an authenticator has created.
#[derive(Clone, Debug)]
pub struct NewCredential {
    /// The model of the authenticator; zeros if it is hidden.
    pub aaguid: [u8; 16],
    pub id: Vec<u8>,
    /// The public key in COSE form.
    pub public_key: Vec<u8>,
    pub key: CosePublicKey,
}

impl AuthenticatorData {
    /// Parses the data. Flags that contradict the contents or each other are rejected, as are trailing bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, WebAuthnError> {
        if bytes.len() > LENGTH_MAX {
            return Err(WebAuthnError::TooLarge);
        }
        let (header, mut rest) = bytes.split_at_checked(HEADER).ok_or(WebAuthnError::Malformed)?;
        let (relying_party, tail) = header.split_first_chunk::<32>().ok_or(WebAuthnError::Malformed)?;
        let (flags, counter) = tail.split_first().ok_or(WebAuthnError::Malformed)?;
        let counter: [u8; 4] = counter.try_into().map_err(|_| WebAuthnError::Malformed)?;
        let data = Self {
            relying_party: *relying_party,
            flags: *flags,
            counter: u32::from_be_bytes(counter),
            credential: if flags & HAS_CREDENTIAL == 0 {
                None
            } else {
                Some(credential(&mut rest)?)
            },
        };
        if flags & HAS_EXTENSIONS != 0 {
            cbor::read_map(&mut rest)?;
        }
        if !rest.is_empty() || (data.is_backed_up() && !data.is_backup_eligible()) {
            return Err(WebAuthnError::Malformed);
        }
        Ok(data)
    }

    /// Requires that the data is for a relying party, and that the user was present.
    pub fn check(&self, relying_party_id: &str) -> Result<(), WebAuthnError> {
        if Sha256::digest(relying_party_id.as_bytes())[..] != self.relying_party[..] {
            return Err(WebAuthnError::WrongRelyingParty);
        }
        if self.flags & USER_PRESENT == 0 {
            return Err(WebAuthnError::UserNotPresent);
        }
        Ok(())
    }

    /// Whether the authenticator verified the user, with a PIN or a fingerprint for example.
    pub fn is_user_verified(&self) -> bool {
        self.flags & USER_VERIFIED != 0
    }

    /// Whether the credential can be copied to other devices.
    pub fn is_backup_eligible(&self) -> bool {
        self.flags & BACKUP_ELIGIBLE != 0
    }

    /// Whether a copy of the credential exists.
    pub fn is_backed_up(&self) -> bool {
        self.flags & BACKED_UP != 0
    }
}

fn credential(rest: &mut &[u8]) -> Result<NewCredential, WebAuthnError> {
    let (aaguid, tail) = rest.split_first_chunk::<16>().ok_or(WebAuthnError::Malformed)?;
    let (length, tail) = tail.split_first_chunk::<2>().ok_or(WebAuthnError::Malformed)?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length == 0 || length > CREDENTIAL_ID_MAX {
        return Err(WebAuthnError::Malformed);
    }
    let (id, tail) = tail.split_at_checked(length).ok_or(WebAuthnError::Malformed)?;
    let mut after_key = tail;
    let entries = cbor::read_map(&mut after_key)?;
    let public_key = &tail[..tail.len() - after_key.len()];
    let credential = NewCredential {
        aaguid: *aaguid,
        id: id.to_vec(),
        key: CosePublicKey::of(&entries)?,
        public_key: public_key.to_vec(),
    };
    *rest = after_key;
    Ok(credential)
}
