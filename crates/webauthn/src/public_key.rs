//! Public keys of credentials in COSE form (RFC 9052), and the signatures that they verify.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use ciborium::Value;

use crate::cbor;
use crate::error::WebAuthnError;

/// The algorithms of new credentials by their COSE numbers, preferred ones first.
pub const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];
const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// Length of a coordinate of P-256 and of an Ed25519 key.
const COORDINATE: usize = 32;
/// Lengths of an RSA modulus in bytes: 2048 to 4096 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=512;
/// Maximum length of an RSA exponent in bytes.
const EXPONENT_MAX: usize = 4;
/// The smallest RSA exponent that is accepted.
const EXPONENT_MIN: u64 = 65_537;

/// A public key that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosePublicKey {
    algorithm: i64,
    material: KeyMaterial,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyMaterial {
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

impl CosePublicKey {
    /// Parses a key that the bytes consist of.
    pub fn parse(bytes: &[u8]) -> Result<Self, WebAuthnError> {
        Self::of(&cbor::read_whole_map(bytes)?)
    }

    /// The COSE number of the algorithm.
    pub fn algorithm(&self) -> i64 {
        self.algorithm
    }

    pub(crate) fn of(entries: &[(Value, Value)]) -> Result<Self, WebAuthnError> {
        let integer = |key: i64| -> Option<i64> {
            let value = cbor::integer_key(entries, key)?.as_integer()?;
            i64::try_from(i128::from(value)).ok()
        };
        let bytes = |key: i64| cbor::integer_key(entries, key).and_then(Value::as_bytes);
        let coordinate = |key: i64| {
            bytes(key)
                .filter(|bytes| bytes.len() == COORDINATE)
                .ok_or(WebAuthnError::InvalidKey)
        };
        let algorithm = integer(3).ok_or(WebAuthnError::InvalidKey)?;
        // The type of the key and the curve must be those of the algorithm.
        let material = match (algorithm, integer(1), integer(-1)) {
            (ES256, Some(2), Some(1)) => {
                let point: Vec<u8> = [&[4], coordinate(-2)?.as_slice(), coordinate(-3)?.as_slice()].concat();
                ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &point).map_err(|_| WebAuthnError::InvalidKey)?;
                KeyMaterial::P256(point)
            }
            (EDDSA, Some(1), Some(6)) => KeyMaterial::Ed25519(coordinate(-2)?.clone()),
            (RS256, Some(3), _) => rsa(bytes(-1), bytes(-2))?,
            (ES256 | EDDSA | RS256, ..) => return Err(WebAuthnError::InvalidKey),
            _ => return Err(WebAuthnError::UnsupportedAlgorithm),
        };
        Ok(Self { algorithm, material })
    }

    /// Verifies a signature of the message.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), WebAuthnError> {
        let verified = match &self.material {
            KeyMaterial::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            KeyMaterial::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature),
            KeyMaterial::Rsa { modulus, exponent } => RsaPublicKeyComponents {
                n: modulus,
                e: exponent,
            }
            .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
        };
        verified.map_err(|_| WebAuthnError::InvalidSignature)
    }
}

fn rsa(modulus: Option<&Vec<u8>>, exponent: Option<&Vec<u8>>) -> Result<KeyMaterial, WebAuthnError> {
    let (modulus, exponent) = modulus.zip(exponent).ok_or(WebAuthnError::InvalidKey)?;
    let is_short = exponent.len() <= EXPONENT_MAX;
    let value = exponent
        .iter()
        .take(EXPONENT_MAX)
        .fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    let is_modulus = MODULUS.contains(&modulus.len()) && modulus.first().is_some_and(|byte| *byte >= 0x80);
    if !is_modulus || !is_short || value < EXPONENT_MIN || value % 2 == 0 {
        return Err(WebAuthnError::InvalidKey);
    }
    Ok(KeyMaterial::Rsa {
        modulus: modulus.clone(),
        exponent: exponent.clone(),
    })
}
