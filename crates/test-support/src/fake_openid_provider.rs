//! An OpenID Connect provider that signs in whomever a test names, and that can lie: in its configuration, its keys, its
//! tokens and its responses. Browsers do not visit it; [`FakeOpenIdProvider::authorize`] does what its page would do.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::encoding::PublicKeyX509Der;
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use common::clock;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub const CLIENT_ID: &str = "groupwork-at-school";
pub const CLIENT_SECRET: &str = "client secret with ü, & and :";

/// How ID tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSignature {
    Es256,
    Rs256,
    Ps256,
    EdDsa,
    /// `alg: none` and no signature.
    Unsigned,
    /// HMAC with the public key as the secret (key confusion).
    PublicKeyAsSecret,
    /// HMAC with the client secret.
    ClientSecret,
    /// By a key that the provider does not publish, under the id of the one that it publishes.
    ForeignKey,
    /// By the key before the last rotation, which is not published any more.
    FormerKey,
    /// The RSA key, but the header claims ES256.
    WrongAlgorithm,
}

/// What the provider does wrong.
#[derive(Debug, Clone)]
pub struct Lies {
    pub signature: TokenSignature,
    /// Claims of the ID token that replace the right ones; null removes a claim.
    pub claims: Map<String, Value>,
    /// Fields of the configuration that replace the right ones; null removes a field.
    pub configuration: Map<String, Value>,
    /// The response of the user endpoint; `None` for the person.
    pub user_info: Option<Value>,
    /// Whether a code may be used more than once and without its verifier.
    pub accepts_any_code: bool,
    /// `iss` of authorization responses; `None` for none.
    pub response_issuer: Option<String>,
    /// Whether keys and tokens have no `kid`.
    pub omits_key_ids: bool,
    /// Whether connections are kept after a response but closed, without a response, when they are used again: what a
    /// client sees if its request arrives while the provider closes an unused connection.
    pub closes_used_connections: bool,
}

/// A provider on a loopback port. It stops when the value is dropped.
pub struct FakeOpenIdProvider {
    pub issuer: String,
    state: Arc<ProviderState>,
    serving: tokio::task::JoinHandle<()>,
}

struct ProviderState {
    issuer: String,
    lies: Mutex<Lies>,
    keys: Mutex<SigningKeys>,
    codes: Mutex<HashMap<String, IssuedCode>>,
    /// Paths that were requested.
    requests: Mutex<Vec<String>>,
}

struct SigningKeys {
    id: String,
    elliptic: EcdsaKeyPair,
    edwards: Ed25519KeyPair,
    rsa: Option<Arc<RsaKeyPair>>,
    /// The id and the key before the last rotation.
    former: Option<(String, EcdsaKeyPair)>,
}

#[derive(Clone)]
struct IssuedCode {
    nonce: String,
    challenge: String,
    redirect_uri: String,
    person: Map<String, Value>,
}

/// The response of the provider that the browser carries to the service.
#[derive(Debug, Clone)]
pub struct Authorized {
    /// The redirect address of the request.
    pub redirect_uri: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
}

impl Authorized {
    /// Returns the path and the query below `/api` of the service.
    pub fn path(&self) -> String {
        let path = self.redirect_uri.split("/api").nth(1).unwrap();
        format!("{path}?{}", self.form())
    }

    /// Returns the parameters as a form.
    pub fn form(&self) -> String {
        encode_form(&self.parameters)
    }

    /// Replaces a parameter.
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.parameters.retain(|(name, _)| name != key);
        self.parameters.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Removes a parameter.
    pub fn without(mut self, key: &str) -> Self {
        self.parameters.retain(|(name, _)| name != key);
        self
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Lies {
    fn default() -> Self {
        Self {
            signature: TokenSignature::Es256,
            claims: Map::new(),
            configuration: Map::new(),
            user_info: None,
            accepts_any_code: false,
            response_issuer: None,
            omits_key_ids: false,
            closes_used_connections: false,
        }
    }
}

impl SigningKeys {
    fn generate() -> Self {
        Self {
            id: clock::new_id(),
            elliptic: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            edwards: Ed25519KeyPair::generate().unwrap(),
            rsa: None,
            former: None,
        }
    }

    /// RSA keys are generated when a test needs one, because that takes long.
    fn rsa(&mut self) -> Arc<RsaKeyPair> {
        let generate = || Arc::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap());
        Arc::clone(self.rsa.get_or_insert_with(generate))
    }

    fn published(&mut self) -> Value {
        let point = self.elliptic.public_key().as_ref();
        let (x, y) = (
            URL_SAFE_NO_PAD.encode(&point[1..33]),
            URL_SAFE_NO_PAD.encode(&point[33..65]),
        );
        let edwards = URL_SAFE_NO_PAD.encode(self.edwards.public_key().as_ref());
        let mut keys = vec![
            json!({"kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig", "x": x, "y": y}),
            json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "alg": "EdDSA", "x": edwards}),
            json!({"kty": "unknown", "kid": self.id}),
        ];
        if let Some(rsa) = &self.rsa {
            let (modulus, exponent) = rsa_numbers(rsa);
            let (n, e) = (URL_SAFE_NO_PAD.encode(modulus), URL_SAFE_NO_PAD.encode(exponent));
            keys.push(json!({"kty": "RSA", "kid": self.id, "n": n, "e": e}));
        }
        json!({"keys": keys})
    }
}

/// Reads modulus and exponent from an RSAPublicKey in DER: a sequence of two integers.
fn rsa_numbers(key: &RsaKeyPair) -> (Vec<u8>, Vec<u8>) {
    let der = key.public_key().as_ref();
    let mut at = 0;
    let mut next = |is_sequence: bool| {
        let first = usize::from(der[at + 1]);
        let (length, head) = if first < 0x80 {
            (first, 2)
        } else {
            let count = first & 0x7f;
            let bytes = &der[at + 2..at + 2 + count];
            (
                bytes.iter().fold(0, |all, byte| all * 256 + usize::from(*byte)),
                2 + count,
            )
        };
        let value = der[at + head..at + head + length].to_vec();
        at += head + if is_sequence { 0 } else { length };
        value.into_iter().skip_while(|byte| *byte == 0).collect::<Vec<u8>>()
    };
    drop(next(true));
    (next(false), next(false))
}

impl FakeOpenIdProvider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(ProviderState {
            issuer: issuer.clone(),
            lies: Mutex::new(Lies::default()),
            keys: Mutex::new(SigningKeys::generate()),
            codes: Mutex::default(),
            requests: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move { drop(state.serve(stream).await) });
            }
        });
        Self { issuer, state, serving }
    }

    /// Returns the body that adds this provider, with these fields in addition.
    pub fn settings(&self, more: &Value) -> Value {
        let mut body = json!({
            "name": "School account", "preset": "KEYCLOAK", "issuer": self.issuer,
            "clientId": CLIENT_ID, "clientSecret": CLIENT_SECRET,
        });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    }

    /// Changes what the provider does wrong.
    pub fn lie(&self, change: impl FnOnce(&mut Lies)) {
        let mut lies = lock(&self.state.lies);
        *lies = Lies::default();
        change(&mut lies);
    }

    /// Replaces the keys; tokens are signed with the new ones.
    pub fn rotate_keys(&self) {
        let mut keys = lock(&self.state.keys);
        let former = std::mem::replace(&mut *keys, SigningKeys::generate());
        keys.former = Some((former.id, former.elliptic));
    }

    /// Generates and publishes an RSA key, too.
    pub fn publish_rsa_key(&self) {
        lock(&self.state.keys).rsa();
    }

    /// Counts the requests to a path.
    pub fn count(&self, path: &str) -> usize {
        lock(&self.state.requests).iter().filter(|asked| *asked == path).count()
    }

    /// Signs in a person with these claims, as the page of the provider would, and returns the response that the browser
    /// carries back.
    pub fn authorize(&self, url: &str, person: &Value) -> Authorized {
        let query = url.split_once('?').unwrap().1;
        let asked: HashMap<String, String> = parse_form(query).into_iter().collect();
        assert!(url.starts_with(&self.issuer), "{url}");
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], CLIENT_ID);
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"));
        let code = format!("code-{}", clock::new_id());
        let issued = IssuedCode {
            nonce: asked["nonce"].clone(),
            challenge: asked["code_challenge"].clone(),
            redirect_uri: asked["redirect_uri"].clone(),
            person: person.as_object().unwrap().clone(),
        };
        lock(&self.state.codes).insert(code.clone(), issued);
        let mut parameters = vec![("code".to_owned(), code), ("state".to_owned(), asked["state"].clone())];
        if let Some(issuer) = &lock(&self.state.lies).response_issuer {
            parameters.push(("iss".to_owned(), issuer.clone()));
        }
        Authorized {
            redirect_uri: asked["redirect_uri"].clone(),
            parameters,
        }
    }

    /// Signs a logout token with these claims in addition; null removes a claim.
    pub fn logout_token(&self, more: &Value) -> String {
        let mut claims = json!({
            "iss": self.issuer, "aud": CLIENT_ID, "iat": seconds(), "exp": seconds() + 120, "jti": clock::new_id(),
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        });
        change(claims.as_object_mut().unwrap(), more.as_object().unwrap());
        self.state.sign(&claims)
    }
}

impl Drop for FakeOpenIdProvider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl ProviderState {
    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (head, body) = read_request(&mut stream).await?;
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        lock(&self.requests).push(path.to_owned());
        let (status, answer) = match (method, path) {
            ("GET", "/.well-known/openid-configuration") => (200, self.configuration()),
            ("GET", "/keys") => (200, self.published_keys()),
            ("POST", "/token") => self.token(&head, &body),
            ("GET", "/userinfo") => (200, self.user_info(&head)),
            _ => (404, json!({})),
        };
        let answer = answer.to_string();
        let is_kept = lock(&self.lies).closes_used_connections;
        let connection = if is_kept { "keep-alive" } else { "close" };
        let response = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: {connection}\r\n\r\n{answer}",
            answer.len()
        );
        stream.write_all(response.as_bytes()).await?;
        if is_kept {
            read_request(&mut stream).await?;
        }
        Ok(())
    }

    fn published_keys(&self) -> Value {
        let mut published = lock(&self.keys).published();
        if lock(&self.lies).omits_key_ids {
            for key in published["keys"].as_array_mut().unwrap() {
                key.as_object_mut().unwrap().remove("kid");
            }
        }
        published
    }

    fn configuration(&self) -> Value {
        let issuer = &self.issuer;
        let mut configuration = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "end_session_endpoint": format!("{issuer}/logout"),
            "response_types_supported": ["code"],
        });
        change(configuration.as_object_mut().unwrap(), &lock(&self.lies).configuration);
        configuration
    }

    fn token(&self, head: &str, body: &str) -> (u16, Value) {
        let lies = lock(&self.lies).clone();
        let form: HashMap<String, String> = parse_form(body).into_iter().collect();
        let text = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
        let encoded: Vec<String> = [CLIENT_ID, CLIENT_SECRET].map(encode).into();
        let basic = format!("authorization: Basic {}", STANDARD.encode(encoded.join(":")));
        let has_basic = head.lines().any(|line| line.eq_ignore_ascii_case(&basic));
        let has_post = text("client_id") == CLIENT_ID && text("client_secret") == CLIENT_SECRET;
        if !has_basic && !has_post {
            return (401, json!({"error": "invalid_client"}));
        }
        let mut codes = lock(&self.codes);
        let issued = if lies.accepts_any_code {
            codes
                .get(text("code"))
                .cloned()
                .or_else(|| codes.values().next().cloned())
        } else {
            codes.remove(text("code"))
        };
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, text("code_verifier").as_bytes()));
        let fits = |issued: &IssuedCode| {
            lies.accepts_any_code || (issued.challenge == challenge && issued.redirect_uri == text("redirect_uri"))
        };
        let Some(issued) = issued.filter(fits) else {
            return (400, json!({"error": "invalid_grant"}));
        };
        let mut claims = json!({
            "iss": self.issuer, "aud": CLIENT_ID, "nonce": issued.nonce, "iat": seconds(), "exp": seconds() + 300,
        });
        for (key, value) in &issued.person {
            claims[key] = value.clone();
        }
        change(claims.as_object_mut().unwrap(), &lies.claims);
        let access_token = URL_SAFE_NO_PAD.encode(Value::Object(issued.person).to_string());
        (
            200,
            json!({"token_type": "Bearer", "access_token": access_token, "id_token": self.sign(&claims)}),
        )
    }

    fn user_info(&self, head: &str) -> Value {
        if let Some(lie) = &lock(&self.lies).user_info {
            return lie.clone();
        }
        let token = head
            .lines()
            .find_map(|line| line.strip_prefix("authorization: Bearer "))
            .unwrap_or_default();
        let person = URL_SAFE_NO_PAD.decode(token.trim()).unwrap_or_default();
        serde_json::from_slice(&person).unwrap_or_default()
    }

    /// Signs claims as the lies say.
    fn sign(&self, claims: &Value) -> String {
        let (signature, omits_key_ids) = {
            let lies = lock(&self.lies);
            (lies.signature, lies.omits_key_ids)
        };
        let mut keys = lock(&self.keys);
        let algorithm = match signature {
            TokenSignature::Es256
            | TokenSignature::ForeignKey
            | TokenSignature::FormerKey
            | TokenSignature::WrongAlgorithm => "ES256",
            TokenSignature::Rs256 => "RS256",
            TokenSignature::Ps256 => "PS256",
            TokenSignature::EdDsa => "EdDSA",
            TokenSignature::Unsigned => "none",
            TokenSignature::PublicKeyAsSecret | TokenSignature::ClientSecret => "HS256",
        };
        let key_id = match (signature, &keys.former) {
            (TokenSignature::FormerKey, Some((id, _))) => id,
            _ => &keys.id,
        };
        let mut header = json!({"alg": algorithm, "typ": "JWT", "kid": key_id});
        if omits_key_ids {
            header.as_object_mut().unwrap().remove("kid");
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(claims));
        let bytes = message.as_bytes();
        let random = SystemRandom::new();
        let signed = match signature {
            TokenSignature::Es256 => keys.elliptic.sign(&random, bytes).unwrap().as_ref().to_vec(),
            TokenSignature::ForeignKey => {
                let foreign = SigningKeys::generate();
                foreign.elliptic.sign(&random, bytes).unwrap().as_ref().to_vec()
            }
            TokenSignature::FormerKey => {
                let (_, former) = keys.former.as_ref().unwrap();
                former.sign(&random, bytes).unwrap().as_ref().to_vec()
            }
            TokenSignature::EdDsa => keys.edwards.sign(bytes).as_ref().to_vec(),
            TokenSignature::Rs256 | TokenSignature::WrongAlgorithm => rsa_signature(&keys.rsa(), false, bytes),
            TokenSignature::Ps256 => rsa_signature(&keys.rsa(), true, bytes),
            TokenSignature::Unsigned => Vec::new(),
            TokenSignature::PublicKeyAsSecret => {
                let public: PublicKeyX509Der<'_> = keys.rsa().public_key().as_der().unwrap();
                hmac_signature(public.as_ref(), bytes)
            }
            TokenSignature::ClientSecret => hmac_signature(CLIENT_SECRET.as_bytes(), bytes),
        };
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signed))
    }
}

fn rsa_signature(key: &RsaKeyPair, is_pss: bool, message: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; key.public_modulus_len()];
    let padding: &'static dyn aws_lc_rs::signature::RsaEncoding =
        if is_pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
    key.sign(padding, &SystemRandom::new(), message, &mut signature)
        .unwrap();
    signature
}

fn hmac_signature(secret: &[u8], message: &[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    hmac::sign(&key, message).as_ref().to_vec()
}

/// Replaces entries; null removes one.
fn change(object: &mut Map<String, Value>, with: &Map<String, Value>) {
    for (key, value) in with {
        if value.is_null() {
            object.remove(key);
        } else {
            object.insert(key.clone(), value.clone());
        }
    }
}

fn seconds() -> i64 {
    clock::now().as_millis() / 1000
}

pub async fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, String)> {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await?;
        received.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&received).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return Ok((head.to_owned(), body.to_owned()));
            }
        }
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Encodes a text as in a form.
pub fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => write!(encoded, "%{byte:02X}").unwrap(),
        }
    }
    encoded
}

/// Encodes parameters as a form.
pub fn encode_form(parameters: &[(String, String)]) -> String {
    let pairs = parameters
        .iter()
        .map(|(key, value)| format!("{}={}", encode(key), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Decodes a form or a query.
pub fn parse_form(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (decode(key), decode(value))).collect()
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let escape = text
            .get(at + 1..at + 3)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], escape) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
