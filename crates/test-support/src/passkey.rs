//! An authenticator in software. Its fields can be changed between registration and sign-in, to make responses that the
//! service must reject.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::accounts::signed_in;
use super::app::FRONTEND;
use super::{Answer, Browser, TestApp, TestUser};

/// The user was present.
pub const PRESENT: u8 = 0x01;
/// The user was verified.
pub const VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

/// An authenticator with one credential.
pub struct SoftAuthenticator {
    key: EcdsaKeyPair,
    pub credential_id: Vec<u8>,
    /// The user handle in the registration options.
    pub user_handle: String,
    pub origin: &'static str,
    pub relying_party_id: &'static str,
    pub flags: u8,
    /// The counter of the next response.
    pub counter: u32,
    /// The COSE number of the algorithm in the public key.
    pub algorithm: i64,
    /// The format of the attestation.
    pub format: &'static str,
    /// Bytes after the public key.
    pub trailing: Vec<u8>,
}

impl SoftAuthenticator {
    /// Generates a credential for the service.
    pub fn new() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref()).unwrap();
        let credential_id = Sha256::digest(key.public_key().as_ref()).to_vec();
        let host = FRONTEND.split_once("://").unwrap().1;
        Self {
            key,
            credential_id,
            user_handle: String::new(),
            origin: FRONTEND,
            relying_party_id: host.split(':').next().unwrap(),
            flags: PRESENT | VERIFIED,
            counter: 0,
            algorithm: -7,
            format: "none",
            trailing: Vec::new(),
        }
    }

    /// Returns the response to options for `navigator.credentials.create`.
    pub fn create(&mut self, options: &Value) -> Value {
        options["user"]["id"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.user_handle);
        let client_data = self.client_data("webauthn.create", options);
        let mut data = self.authenticator_data(HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.credential_id.len()).unwrap().to_be_bytes());
        data.extend(&self.credential_id);
        data.extend(self.public_key());
        data.extend(&self.trailing);
        let object = Cbor::Map(vec![
            (Cbor::from("fmt"), Cbor::from(self.format)),
            (Cbor::from("attStmt"), Cbor::Map(Vec::new())),
            (Cbor::from("authData"), Cbor::Bytes(data)),
        ]);
        let mut response = self.named();
        response["response"] = json!({
            "clientDataJSON": encode(client_data.as_bytes()),
            "attestationObject": encode(&bytes_of(&object)),
            "transports": ["internal"],
        });
        response
    }

    /// Returns the response to options for `navigator.credentials.get`.
    pub fn get(&self, options: &Value) -> Value {
        let client_data = self.client_data("webauthn.get", options);
        let data = self.authenticator_data(0);
        let message = [data.as_slice(), &Sha256::digest(client_data.as_bytes())[..]].concat();
        let signature = self.key.sign(&SystemRandom::new(), &message).unwrap();
        let mut response = self.named();
        response["response"] = json!({
            "clientDataJSON": encode(client_data.as_bytes()),
            "authenticatorData": encode(&data),
            "signature": encode(signature.as_ref()),
            "userHandle": self.user_handle,
        });
        response
    }

    fn named(&self) -> Value {
        let id = encode(&self.credential_id);
        json!({"id": id, "rawId": id, "type": "public-key", "authenticatorAttachment": "platform"})
    }

    fn client_data(&self, kind: &str, options: &Value) -> String {
        let challenge = &options["challenge"];
        json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false}).to_string()
    }

    fn authenticator_data(&self, more: u8) -> Vec<u8> {
        let mut data = Sha256::digest(self.relying_party_id.as_bytes()).to_vec();
        data.push(self.flags | more);
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// The public key in COSE form.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.public_key().as_ref();
        let entries = [
            (1, Cbor::from(2)),
            (3, Cbor::from(self.algorithm)),
            (-1, Cbor::from(1)),
            (-2, Cbor::Bytes(point[1..33].to_vec())),
            (-3, Cbor::Bytes(point[33..].to_vec())),
        ];
        let entries = entries.map(|(key, value)| (Cbor::from(key), value));
        bytes_of(&Cbor::Map(entries.into()))
    }
}

impl Default for SoftAuthenticator {
    fn default() -> Self {
        Self::new()
    }
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn bytes_of(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// Asks for the options of a registration.
pub async fn register_options(browser: &Browser) -> Value {
    browser.get("/auth/passkey/generate-register-options").await.expect(200)
}

/// Sends the response of a registration.
pub async fn register(browser: &Browser, response: Value, name: &str) -> Answer {
    let body = json!({"response": response, "name": name});
    browser.post("/auth/passkey/verify-registration", body).await
}

/// Adds the credential of an authenticator to the account that is signed in in this browser.
pub async fn add_in(browser: &Browser, authenticator: &mut SoftAuthenticator) -> Value {
    let options = register_options(browser).await;
    register(browser, authenticator.create(&options), "Laptop")
        .await
        .expect(200)
}

/// Signs a user in with the password and adds a passkey.
pub async fn add(app: &TestApp, person: &TestUser) -> (Browser, SoftAuthenticator) {
    let browser = signed_in(app, person).await;
    let mut authenticator = SoftAuthenticator::new();
    add_in(&browser, &mut authenticator).await;
    (browser, authenticator)
}

/// Asks for the options of a sign-in.
pub async fn sign_in_options(browser: &Browser) -> Value {
    browser
        .get("/auth/passkey/generate-authenticate-options")
        .await
        .expect(200)
}

/// Sends an assertion.
pub async fn verify(browser: &Browser, response: Value) -> Answer {
    let body = json!({"response": response});
    browser.post("/auth/passkey/verify-authentication", body).await
}

/// Signs in with a passkey, alone or as the second step of the sign-in that waits in this browser.
pub async fn sign_in_with(browser: &Browser, authenticator: &SoftAuthenticator) -> Answer {
    let options = sign_in_options(browser).await;
    verify(browser, authenticator.get(&options)).await
}
