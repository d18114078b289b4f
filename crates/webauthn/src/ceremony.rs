//! The checks of a registration (WebAuthn, section 7.1) and of an assertion (section 7.2). What needs a database is left to
//! the caller: whether the challenge was issued and is unused, whose credential it is, its counter, and whether the user
//! has to be verified.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::authenticator_data::{AuthenticatorData, CREDENTIAL_ID_MAX, NewCredential};
use crate::cbor;
use crate::error::WebAuthnError;
use crate::public_key::CosePublicKey;

/// Maximum length of the JSON that a browser signs, in bytes.
const CLIENT_DATA_MAX: usize = 4096;
/// Maximum length of an attestation object in bytes. Without certificates it is little more than the authenticator data.
const ATTESTATION_MAX: usize = 8192;
/// Maximum length of a signature in bytes: RSA with 4096 bits has 512.
const SIGNATURE_MAX: usize = 512;
/// Maximum length of a user handle in bytes (WebAuthn, section 5.4.3).
const USER_HANDLE_MAX: usize = 64;

/// The service that credentials belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// The host of the service.
    pub id: String,
    /// The origin of its pages, as browsers write it.
    pub origin: String,
}

/// A response of `navigator.credentials.create` as JSON. Other fields repeat what is signed and are ignored.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationResponse {
    pub id: String,
    pub raw_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub response: AttestationResponse,
}

/// The part of the authenticator in a registration.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttestationResponse {
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    pub attestation_object: String,
    /// How the browser reaches the authenticator. It is not signed.
    #[serde(default)]
    pub transports: Vec<String>,
}

/// A response of `navigator.credentials.get` as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssertionResponse {
    pub id: String,
    pub raw_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub response: SignedAssertion,
}

/// The part of the authenticator in an assertion.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedAssertion {
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    pub authenticator_data: String,
    pub signature: String,
    #[serde(default)]
    pub user_handle: Option<String>,
}

/// The credential of a verified registration.
#[derive(Clone, Debug)]
pub struct RegisteredKey {
    /// The id as base64url without padding.
    pub credential_id: String,
    /// The public key in COSE form.
    pub public_key: Vec<u8>,
    pub counter: u32,
    pub aaguid: [u8; 16],
    pub is_user_verified: bool,
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
}

/// A verified assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assertion {
    pub counter: u32,
    pub is_user_verified: bool,
    pub is_backed_up: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    #[serde(default)]
    top_origin: Option<String>,
}

impl RelyingParty {
    /// Verifies a registration for a challenge that was issued.
    pub fn verify_registration(
        &self,
        challenge: &str,
        response: &RegistrationResponse,
    ) -> Result<RegisteredKey, WebAuthnError> {
        let id = credential_id(&response.id, &response.raw_id, &response.kind)?;
        let client_data = decode(&response.response.client_data, CLIENT_DATA_MAX)?;
        self.check_client_data(&client_data, "webauthn.create", challenge)?;
        let object = decode(&response.response.attestation_object, ATTESTATION_MAX)?;
        let object = cbor::read_whole_map(&object)?;
        let signed = cbor::text_key(&object, "authData").and_then(|value| value.as_bytes());
        let signed = signed.ok_or(WebAuthnError::Malformed)?;
        let data = AuthenticatorData::parse(signed)?;
        data.check(&self.id)?;
        let credential = data.credential.as_ref().ok_or(WebAuthnError::Malformed)?;
        if credential.id != id {
            return Err(WebAuthnError::Malformed);
        }
        check_attestation(
            &object,
            credential,
            &[signed, &Sha256::digest(&client_data)[..]].concat(),
        )?;
        Ok(RegisteredKey {
            credential_id: URL_SAFE_NO_PAD.encode(&credential.id),
            public_key: credential.public_key.clone(),
            counter: data.counter,
            aaguid: credential.aaguid,
            is_user_verified: data.is_user_verified(),
            is_backup_eligible: data.is_backup_eligible(),
            is_backed_up: data.is_backed_up(),
        })
    }

    /// Verifies an assertion for a challenge that was issued, with the stored key of the credential.
    pub fn verify_assertion(
        &self,
        challenge: &str,
        public_key: &[u8],
        response: &AssertionResponse,
    ) -> Result<Assertion, WebAuthnError> {
        credential_id(&response.id, &response.raw_id, &response.kind)?;
        let client_data = decode(&response.response.client_data, CLIENT_DATA_MAX)?;
        self.check_client_data(&client_data, "webauthn.get", challenge)?;
        let signed = decode(&response.response.authenticator_data, ATTESTATION_MAX)?;
        let data = AuthenticatorData::parse(&signed)?;
        data.check(&self.id)?;
        let signature = decode(&response.response.signature, SIGNATURE_MAX)?;
        let message = [signed.as_slice(), &Sha256::digest(&client_data)[..]].concat();
        CosePublicKey::parse(public_key)?.verify(&message, &signature)?;
        Ok(Assertion {
            counter: data.counter,
            is_user_verified: data.is_user_verified(),
            is_backed_up: data.is_backed_up(),
        })
    }

    fn check_client_data(&self, json: &[u8], kind: &str, challenge: &str) -> Result<(), WebAuthnError> {
        let data: ClientData = serde_json::from_slice(json).map_err(|_| WebAuthnError::Malformed)?;
        if data.kind != kind {
            return Err(WebAuthnError::WrongType);
        }
        if data.challenge != challenge {
            return Err(WebAuthnError::WrongChallenge);
        }
        // A page of another origin that embeds the service must not use its credentials.
        if data.origin != self.origin || data.cross_origin || data.top_origin.is_some() {
            return Err(WebAuthnError::WrongOrigin);
        }
        Ok(())
    }
}

impl AssertionResponse {
    /// The user handle that a discoverable credential names.
    pub fn user_handle(&self) -> Result<Option<Vec<u8>>, WebAuthnError> {
        let handle = self.response.user_handle.as_deref().filter(|handle| !handle.is_empty());
        handle.map(|handle| decode(handle, USER_HANDLE_MAX)).transpose()
    }
}

/// Returns the id of the credential in a response.
fn credential_id(id: &str, raw_id: &str, kind: &str) -> Result<Vec<u8>, WebAuthnError> {
    if kind != "public-key" || id != raw_id {
        return Err(WebAuthnError::Malformed);
    }
    decode(id, CREDENTIAL_ID_MAX)
}

/// Accepts an attestation without a statement, and one that is signed with the new key itself. Others name a vendor, which
/// was not asked for.
fn check_attestation(
    object: &[(ciborium::Value, ciborium::Value)],
    credential: &NewCredential,
    message: &[u8],
) -> Result<(), WebAuthnError> {
    let format = cbor::text_key(object, "fmt").and_then(|value| value.as_text());
    let statement = cbor::text_key(object, "attStmt").and_then(|value| value.as_map());
    let (format, statement) = format.zip(statement).ok_or(WebAuthnError::Malformed)?;
    match format {
        "none" if statement.is_empty() => Ok(()),
        "packed" if cbor::text_key(statement, "x5c").is_none() => {
            let algorithm = cbor::text_key(statement, "alg").and_then(|value| value.as_integer());
            if algorithm.map(i128::from) != Some(i128::from(credential.key.algorithm())) {
                return Err(WebAuthnError::UnsupportedAttestation);
            }
            let signature = cbor::text_key(statement, "sig").and_then(|value| value.as_bytes());
            credential
                .key
                .verify(message, signature.ok_or(WebAuthnError::Malformed)?)
        }
        _ => Err(WebAuthnError::UnsupportedAttestation),
    }
}

/// Decodes base64url without padding, up to a number of bytes.
fn decode(text: &str, max: usize) -> Result<Vec<u8>, WebAuthnError> {
    if text.len() > max.div_ceil(3) * 4 {
        return Err(WebAuthnError::TooLarge);
    }
    URL_SAFE_NO_PAD.decode(text).map_err(|_| WebAuthnError::Malformed)
}
