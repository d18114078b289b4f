//! Registrations and assertions with keys of every algorithm, and what is rejected of them.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use webauthn::ceremony::{AttestationResponse, SignedAssertion};
use webauthn::public_key::CosePublicKey;
use webauthn::{AssertionResponse, RegistrationResponse, RelyingParty, WebAuthnError};

const CHALLENGE: &str = "q83vEjRWeJCrze8SNFZ4kA";

enum CredentialKey {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl CredentialKey {
    fn p256() -> Self {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new()).unwrap();
        Self::P256(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref()).unwrap())
    }

    fn all() -> Vec<Self> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        vec![
            Self::p256(),
            Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()),
            Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()),
        ]
    }

    fn algorithm(&self) -> i64 {
        match self {
            Self::P256(_) => -7,
            Self::Ed25519(_) => -8,
            Self::Rsa(_) => -257,
        }
    }

    fn entries(&self) -> Vec<(i64, Value)> {
        let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
        let algorithm = (3, Value::from(self.algorithm()));
        match self {
            Self::P256(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (bytes(&point[1..33]), bytes(&point[33..]));
                vec![(1, Value::from(2)), algorithm, (-1, Value::from(1)), (-2, x), (-3, y)]
            }
            Self::Ed25519(key) => {
                let x = bytes(key.public_key().as_ref());
                vec![(1, Value::from(1)), algorithm, (-1, Value::from(6)), (-2, x)]
            }
            Self::Rsa(key) => {
                let public = key.public_key();
                let modulus = public.modulus().big_endian_without_leading_zero().to_vec();
                let exponent = public.exponent().big_endian_without_leading_zero().to_vec();
                vec![
                    (1, Value::from(3)),
                    algorithm,
                    (-1, Value::Bytes(modulus)),
                    (-2, Value::Bytes(exponent)),
                ]
            }
        }
    }

    fn cose(&self) -> Vec<u8> {
        cose(&self.entries())
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::P256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(message).as_ref().to_vec(),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn cose(entries: &[(i64, Value)]) -> Vec<u8> {
    let entries = entries.iter().map(|(key, value)| (Value::from(*key), value.clone()));
    encoded(&Value::Map(entries.collect()))
}

fn relying_party() -> RelyingParty {
    RelyingParty {
        id: "school.example".to_owned(),
        origin: "https://school.example".to_owned(),
    }
}

fn client_data(kind: &str, more: serde_json::Value) -> Vec<u8> {
    let mut data = json!({"type": kind, "challenge": CHALLENGE, "origin": "https://school.example"});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    data.to_string().into_bytes()
}

fn authenticator_data(flags: u8, rest: &[u8]) -> Vec<u8> {
    [
        &Sha256::digest(b"school.example")[..],
        &[flags],
        &7_u32.to_be_bytes(),
        rest,
    ]
    .concat()
}

fn credential(public_key: &[u8]) -> Vec<u8> {
    [&[9; 16][..], &[0, 4], b"cred", public_key].concat()
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn registration(
    client_data: &[u8],
    format: &str,
    statement: Vec<(Value, Value)>,
    data: Vec<u8>,
) -> RegistrationResponse {
    let object = Value::Map(vec![
        (Value::from("fmt"), Value::from(format)),
        (Value::from("attStmt"), Value::Map(statement)),
        (Value::from("authData"), Value::Bytes(data)),
    ]);
    RegistrationResponse {
        id: text(b"cred"),
        raw_id: text(b"cred"),
        kind: "public-key".to_owned(),
        response: AttestationResponse {
            client_data: text(client_data),
            attestation_object: text(&encoded(&object)),
            transports: Vec::new(),
        },
    }
}

fn register(flags: u8, rest: &[u8]) -> Result<webauthn::RegisteredKey, WebAuthnError> {
    let data = authenticator_data(flags, rest);
    let response = registration(&client_data("webauthn.create", json!({})), "none", Vec::new(), data);
    relying_party().verify_registration(CHALLENGE, &response)
}

fn assertion(key: &CredentialKey, client_data: &[u8], data: &[u8]) -> AssertionResponse {
    let message = [data, &Sha256::digest(client_data)[..]].concat();
    AssertionResponse {
        id: text(b"cred"),
        raw_id: text(b"cred"),
        kind: "public-key".to_owned(),
        response: SignedAssertion {
            client_data: text(client_data),
            authenticator_data: text(data),
            signature: text(&key.sign(&message)),
            user_handle: None,
        },
    }
}

#[test]
fn keys_of_every_algorithm_register_and_sign() {
    let keys = CredentialKey::all();
    for (index, key) in keys.iter().enumerate() {
        let registered = register(0x5d, &credential(&key.cose())).unwrap();
        assert_eq!(
            (registered.credential_id.as_str(), registered.counter),
            (text(b"cred").as_str(), 7)
        );
        assert!(registered.is_user_verified && registered.is_backup_eligible && registered.is_backed_up);
        assert_eq!(registered.public_key, key.cose());
        let (client_data, data) = (client_data("webauthn.get", json!({})), authenticator_data(0x05, &[]));
        let response = assertion(key, &client_data, &data);
        let verified = relying_party().verify_assertion(CHALLENGE, &registered.public_key, &response);
        assert!(verified.unwrap().is_user_verified);
        let other = &keys[(index + 1) % keys.len()];
        let verified = relying_party().verify_assertion(CHALLENGE, &other.cose(), &response);
        assert_eq!(verified, Err(WebAuthnError::InvalidSignature), "another key");
        let mut changed = response.clone();
        changed.response.authenticator_data = text(&authenticator_data(0x01, &[]));
        let verified = relying_party().verify_assertion(CHALLENGE, &registered.public_key, &changed);
        assert_eq!(verified, Err(WebAuthnError::InvalidSignature), "other flags");
    }
}

#[test]
fn client_data_of_another_ceremony_challenge_or_page_is_rejected() {
    let key = CredentialKey::p256();
    let verify = |client_data: &[u8]| {
        let response = assertion(&key, client_data, &authenticator_data(0x05, &[]));
        relying_party().verify_assertion(CHALLENGE, &key.cose(), &response)
    };
    for (kind, more, expected) in [
        ("webauthn.create", json!({}), WebAuthnError::WrongType),
        (
            "webauthn.get",
            json!({"challenge": "AAAA"}),
            WebAuthnError::WrongChallenge,
        ),
        (
            "webauthn.get",
            json!({"origin": "https://school.example:444"}),
            WebAuthnError::WrongOrigin,
        ),
        (
            "webauthn.get",
            json!({"origin": "https://evil.example"}),
            WebAuthnError::WrongOrigin,
        ),
        ("webauthn.get", json!({"crossOrigin": true}), WebAuthnError::WrongOrigin),
        (
            "webauthn.get",
            json!({"topOrigin": "https://evil.example"}),
            WebAuthnError::WrongOrigin,
        ),
        ("webauthn.get", json!({"origin": 1}), WebAuthnError::Malformed),
    ] {
        assert_eq!(verify(&client_data(kind, more.clone())), Err(expected), "{more}");
    }
    let twice = br#"{"type":"webauthn.get","challenge":"AAAA","challenge":"q83vEjRWeJCrze8SNFZ4kA","origin":"https://school.example"}"#;
    assert_eq!(verify(twice), Err(WebAuthnError::Malformed));
    assert_eq!(verify(&vec![b' '; 5000]), Err(WebAuthnError::TooLarge));
}

#[test]
fn authenticator_data_that_contradicts_itself_is_rejected() {
    let key = CredentialKey::p256().cose();
    let (registered, extension) = (
        credential(&key),
        encoded(&Value::Map(vec![(Value::from("x"), Value::from(1))])),
    );
    assert!(register(0x45, &registered).is_ok());
    assert!(register(0xc5, &[registered.clone(), extension.clone()].concat()).is_ok());
    for (flags, rest, expected) in [
        (0x05, registered.clone(), WebAuthnError::Malformed),
        (0x05, Vec::new(), WebAuthnError::Malformed),
        (0x45, Vec::new(), WebAuthnError::Malformed),
        (
            0x45,
            [registered.clone(), extension.clone()].concat(),
            WebAuthnError::Malformed,
        ),
        (0xc5, registered.clone(), WebAuthnError::Malformed),
        (0xc5, [registered.clone(), vec![1]].concat(), WebAuthnError::Malformed),
        (0x55, registered.clone(), WebAuthnError::Malformed),
        (0x44, registered.clone(), WebAuthnError::UserNotPresent),
        (0x45, [&[9; 16][..], &[0, 0], &key].concat(), WebAuthnError::Malformed),
        (
            0x45,
            [&[9; 16][..], &[0, 5], b"other", &key].concat(),
            WebAuthnError::Malformed,
        ),
        (
            0x45,
            [registered.clone(), vec![0; 5000]].concat(),
            WebAuthnError::TooLarge,
        ),
    ] {
        assert_eq!(register(flags, &rest).err(), Some(expected), "{flags:x} {rest:?}");
    }
    let other = RelyingParty {
        id: "example".to_owned(),
        ..relying_party()
    };
    let response = registration(
        &client_data("webauthn.create", json!({})),
        "none",
        Vec::new(),
        authenticator_data(0x45, &registered),
    );
    assert_eq!(
        other.verify_registration(CHALLENGE, &response).err(),
        Some(WebAuthnError::WrongRelyingParty)
    );
}

#[test]
fn only_attestations_without_a_vendor_are_accepted() {
    let key = CredentialKey::p256();
    let data = authenticator_data(0x45, &credential(&key.cose()));
    let client_data = client_data("webauthn.create", json!({}));
    let message = [data.as_slice(), &Sha256::digest(&client_data)[..]].concat();
    let signed = |algorithm: i64, signature: Vec<u8>| {
        vec![
            (Value::from("alg"), Value::from(algorithm)),
            (Value::from("sig"), Value::Bytes(signature)),
        ]
    };
    let verify = |format: &str, statement: Vec<(Value, Value)>| {
        let response = registration(&client_data, format, statement, data.clone());
        relying_party().verify_registration(CHALLENGE, &response).err()
    };
    assert_eq!(verify("packed", signed(-7, key.sign(&message))), None);
    let wrong = Some(WebAuthnError::InvalidSignature);
    assert_eq!(verify("packed", signed(-7, key.sign(b"another message"))), wrong);
    let unsupported = Some(WebAuthnError::UnsupportedAttestation);
    assert_eq!(verify("packed", signed(-8, key.sign(&message))), unsupported);
    let mut certified = signed(-7, key.sign(&message));
    certified.push((Value::from("x5c"), Value::Array(Vec::new())));
    assert_eq!(verify("packed", certified), unsupported);
    assert_eq!(verify("none", signed(-7, Vec::new())), unsupported);
    assert_eq!(verify("tpm", Vec::new()), unsupported);
}

#[test]
fn weak_and_unknown_keys_are_rejected() {
    let keys = CredentialKey::all();
    let with = |key: &CredentialKey, number: i64, value: Value| {
        let mut entries = key.entries();
        entries.retain(|(known, _)| *known != number);
        entries.push((number, value));
        CosePublicKey::parse(&cose(&entries)).err()
    };
    let invalid = Some(WebAuthnError::InvalidKey);
    let unsupported = Some(WebAuthnError::UnsupportedAlgorithm);
    let [p256, ed25519, rsa] = keys.as_slice() else {
        panic!()
    };
    for algorithm in [0, -35, -36, -37, -65535, 5] {
        assert_eq!(with(p256, 3, Value::from(algorithm)), unsupported, "{algorithm}");
    }
    assert_eq!(
        with(p256, 3, Value::from(-257)),
        invalid,
        "algorithm of another type of key"
    );
    assert_eq!(with(p256, 3, Value::from("none")), invalid);
    assert_eq!(with(p256, -1, Value::from(2)), invalid, "another curve");
    assert_eq!(with(p256, -3, Value::Bytes(vec![1; 32])), invalid, "not on the curve");
    assert_eq!(with(p256, -2, Value::Bytes(vec![1; 31])), invalid);
    assert_eq!(with(ed25519, -2, Value::Bytes(vec![1; 33])), invalid);
    for exponent in [vec![3], vec![1, 0, 0], vec![1, 0, 1, 0, 1], Vec::new()] {
        assert_eq!(with(rsa, -2, Value::Bytes(exponent.clone())), invalid, "{exponent:?}");
    }
    for length in [128, 255, 513] {
        assert_eq!(with(rsa, -1, Value::Bytes(vec![0xff; length])), invalid, "{length}");
    }
    let mut twice = p256.entries();
    twice.push((3, Value::from(-7)));
    assert_eq!(
        CosePublicKey::parse(&cose(&twice)).err(),
        Some(WebAuthnError::Malformed)
    );
    let trailing = [p256.cose(), vec![0]].concat();
    assert_eq!(CosePublicKey::parse(&trailing).err(), Some(WebAuthnError::Malformed));
    assert_eq!(
        CosePublicKey::parse(&[0x9f; 4000]).err(),
        Some(WebAuthnError::Malformed),
        "nesting"
    );
}
