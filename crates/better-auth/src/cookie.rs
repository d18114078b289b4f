//! Parses the `Cookie` header and signs cookie values. A request with two session cookies is anonymous: none of them is
//! chosen.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    session::Remember,
    signature::{equal_in_constant_time, hmac_sha256},
    uri_component,
};

/// Length of a signature: 32 bytes in base64, including one `=` of padding.
const SIGNATURE_LENGTH: usize = 44;

/// The secrets that signatures are verified with.
#[derive(Clone, Copy)]
pub struct VerifyingSecrets<'a> {
    /// The secret that signs.
    pub current: &'a str,
    /// The secret that signed before, while it is replaced.
    pub previous: Option<&'a str>,
}

impl<'a> From<&'a str> for VerifyingSecrets<'a> {
    fn from(current: &'a str) -> Self {
        Self {
            current,
            previous: None,
        }
    }
}

/// Cookie names of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookieNames {
    secure: bool,
    session_token: String,
    session_data: String,
    dont_remember: String,
    admin_session: String,
    two_factor: String,
    trust_device: String,
    passkey: String,
}

impl CookieNames {
    /// Returns the names for a service with this base URL. With https they start with `__Secure-`.
    pub fn for_base_url(base_url: &str) -> Self {
        let secure = base_url
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        let named = |name: &str| {
            let prefix = if secure { "__Secure-" } else { "" };
            format!("{prefix}better-auth.{name}")
        };
        Self {
            secure,
            session_token: named("session_token"),
            session_data: named("session_data"),
            dont_remember: named("dont_remember"),
            admin_session: named("admin_session"),
            two_factor: named("two_factor"),
            trust_device: named("trust_device"),
            passkey: named("better-auth-passkey"),
        }
    }

    /// Returns whether cookies have the `Secure` attribute.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Name of the cookie with the signed session token.
    pub fn session_token(&self) -> &str {
        &self.session_token
    }

    /// Name of the cookie with the cached session, possibly split into chunks.
    pub fn session_data(&self) -> &str {
        &self.session_data
    }

    /// Name of the cookie that marks a session as ending with the browser.
    pub fn dont_remember(&self) -> &str {
        &self.dont_remember
    }

    /// Name of the cookie with which an administrator returns from impersonation.
    pub fn admin_session(&self) -> &str {
        &self.admin_session
    }

    /// Name of the cookie of a sign-in that waits for its second factor.
    pub fn two_factor(&self) -> &str {
        &self.two_factor
    }

    /// Name of the cookie of a browser that needs no second factor for a while.
    pub fn trust_device(&self) -> &str {
        &self.trust_device
    }

    /// Name of the cookie with the challenge for a passkey.
    pub fn passkey(&self) -> &str {
        &self.passkey
    }
}

/// The session cookie of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionCookie {
    /// No cookie, or one with an invalid signature.
    Absent,
    /// More than one session cookie, or a header that no browser sends. The caller is anonymous and the request should
    /// be logged.
    Ambiguous,
    /// The token; its signature was verified.
    Token(String),
}

/// The cookies of a request, in header order.
#[derive(Debug, Clone, Default)]
pub struct RequestCookies {
    has_header: bool,
    pairs: Vec<(String, String)>,
}

impl RequestCookies {
    /// Parses the values of the `Cookie` headers; most requests have none or one.
    pub fn parse<Lines>(lines: Lines) -> Self
    where
        Lines: IntoIterator,
        Lines::Item: AsRef<[u8]>,
    {
        let mut cookies = Self::default();
        for line in lines {
            cookies.has_header = true;
            let line = String::from_utf8_lossy(line.as_ref());
            let pairs = line.split(';').filter_map(|piece| piece.split_once('='));
            cookies
                .pairs
                .extend(pairs.map(|(name, value)| (name.trim().to_owned(), unquote(value.trim()).to_owned())));
        }
        cookies
    }

    /// Returns whether there was a `Cookie` header, even an unrelated or empty one.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// Returns how often a cookie name occurs.
    pub fn count(&self, name: &str) -> usize {
        self.pairs.iter().filter(|(sent, _)| sent == name).count()
    }

    /// Returns the percent-decoded value of the first cookie with this name.
    pub fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.raw(name).map(uri_component::decode)
    }

    /// Returns the value of a signed cookie if the signature is valid.
    pub fn signed<'a>(&self, name: &str, secrets: impl Into<VerifyingSecrets<'a>>) -> Option<String> {
        let (value, secrets) = (self.raw(name)?, secrets.into());
        verify(secrets.current, value).or_else(|| verify(secrets.previous?, value))
    }

    /// Resolves the session cookie.
    pub fn session<'a>(&self, names: &CookieNames, secrets: impl Into<VerifyingSecrets<'a>>) -> SessionCookie {
        match self.count(names.session_token()) {
            0 => SessionCookie::Absent,
            1 if !self.has_attributes() => self
                .signed(names.session_token(), secrets)
                .map_or(SessionCookie::Absent, SessionCookie::Token),
            _ => SessionCookie::Ambiguous,
        }
    }

    /// Returns whether the session is remembered after the browser is closed.
    pub fn remember<'a>(&self, names: &CookieNames, secrets: impl Into<VerifyingSecrets<'a>>) -> Remember {
        match self.signed(names.dont_remember(), secrets).as_deref() {
            Some("true") => Remember::No,
            _ => Remember::Yes,
        }
    }

    /// Returns the token of the session to which an administrator returns, and whether it was remembered.
    pub fn admin_session<'a>(
        &self,
        names: &CookieNames,
        secrets: impl Into<VerifyingSecrets<'a>>,
    ) -> Option<(String, Remember)> {
        if self.count(names.admin_session()) != 1 {
            return None;
        }
        let value = self.signed(names.admin_session(), secrets)?;
        let (token, flag) = value.split_once(':')?;
        let remember = if flag.is_empty() { Remember::Yes } else { Remember::No };
        Some((token.to_owned(), remember))
    }

    /// Returns the value of a cookie that may be split into `name.0`, `name.1` and so on.
    pub fn joined(&self, name: &str) -> Option<String> {
        if let Some(whole) = self.value(name).filter(|value| !value.is_empty()) {
            return Some(whole.into_owned());
        }
        let mut chunks: Vec<(usize, Cow<'_, str>)> = self
            .stored_names(name)
            .into_iter()
            .filter_map(|chunk| Some((chunk_index(name, chunk)?, self.value(chunk)?)))
            .collect();
        chunks.sort_by_key(|(index, _)| *index);
        (!chunks.is_empty()).then(|| chunks.into_iter().map(|(_, value)| value).collect())
    }

    /// Returns the distinct names of this cookie and its chunks, in header order.
    pub fn stored_names(&self, name: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for (sent, _) in &self.pairs {
            let belongs = sent == name || chunk_index(name, sent).is_some();
            if belongs && !found.contains(&sent.as_str()) {
                found.push(sent);
            }
        }
        found
    }

    fn raw(&self, name: &str) -> Option<&str> {
        let (_, value) = self.pairs.iter().find(|(sent, _)| sent == name)?;
        Some(value)
    }

    /// `$Version`, `$Path` and similar attributes belong to an obsolete syntax that no browser sends. Parsers of it
    /// find different cookies in the same header, which would let a sibling domain inject a session.
    fn has_attributes(&self) -> bool {
        self.pairs.iter().any(|(name, _)| name.starts_with('$'))
    }
}

/// Returns the cookie value for this text, including its signature.
pub fn sign(secret: &str, value: &str) -> String {
    uri_component::encode(&format!("{value}.{}", signature(secret, value)))
}

/// Returns the text of a signed cookie value if the signature after its last dot is valid.
pub fn verify(secret: &str, cookie_value: &str) -> Option<String> {
    let cookie_value = uri_component::decode(cookie_value);
    let (value, sent) = cookie_value.rsplit_once('.')?;
    let well_formed = !value.is_empty() && sent.len() == SIGNATURE_LENGTH && sent.ends_with('=');
    let right = well_formed && equal_in_constant_time(signature(secret, value).as_bytes(), sent.as_bytes());
    right.then(|| value.to_owned())
}

fn signature(secret: &str, value: &str) -> String {
    STANDARD.encode(hmac_sha256(secret, value))
}

fn unquote(value: &str) -> &str {
    value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value)
}

/// Parses the index of `name.7`; other spellings of a number are rejected.
fn chunk_index(name: &str, sent: &str) -> Option<usize> {
    let digits = sent.strip_prefix(name)?.strip_prefix('.')?;
    let index: usize = digits.parse().ok()?;
    (index.to_string() == digits).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a secret of the tests, long enough";

    fn names() -> CookieNames {
        CookieNames::for_base_url("http://localhost:4100")
    }

    fn session_of(header: &str) -> SessionCookie {
        RequestCookies::parse([header]).session(&names(), SECRET)
    }

    #[test]
    fn https_prefixes_all_cookie_names() {
        let plain = names();
        assert!(!plain.is_secure());
        assert_eq!(plain.session_token(), "better-auth.session_token");
        assert_eq!(plain.admin_session(), "better-auth.admin_session");

        let secure = CookieNames::for_base_url("https://school.test");
        assert!(secure.is_secure());
        assert_eq!(secure.session_token(), "__Secure-better-auth.session_token");
        assert_eq!(secure.session_data(), "__Secure-better-auth.session_data");
        assert_eq!(secure.dont_remember(), "__Secure-better-auth.dont_remember");
        assert_eq!(CookieNames::for_base_url("HTTPS://school.test"), secure);
        assert_eq!(CookieNames::for_base_url("https"), plain);
    }

    #[test]
    fn cookie_names_of_other_scheme_are_ignored() {
        let header = format!("__Secure-better-auth.session_token={}", sign(SECRET, "t"));
        assert_eq!(session_of(&header), SessionCookie::Absent);
        let secure = CookieNames::for_base_url("https://school.test");
        let cookies = RequestCookies::parse([header]);
        assert_eq!(cookies.session(&secure, SECRET), SessionCookie::Token("t".into()));
    }

    #[test]
    fn first_cookie_of_a_name_is_used() {
        let cookies = RequestCookies::parse(["a=1; b=\"two\";a=3;  c = %C3%A9=x ", "d=4"]);
        assert_eq!(cookies.value("a").as_deref(), Some("1"));
        assert_eq!(cookies.value("b").as_deref(), Some("two"));
        assert_eq!(cookies.value("c").as_deref(), Some("é=x"));
        assert_eq!(cookies.value("d").as_deref(), Some("4"));
        assert_eq!(cookies.value("e"), None);
        assert_eq!(cookies.count("a"), 2);
    }

    #[test]
    fn empty_or_non_text_header_is_detected() {
        assert!(!RequestCookies::parse(Vec::<&[u8]>::new()).has_header());
        assert!(RequestCookies::parse([""]).has_header());
        let header = [
            b"x=\xff; better-auth.session_token=".as_slice(),
            sign(SECRET, "t").as_bytes(),
        ]
        .concat();
        let cookies = RequestCookies::parse([header]);
        assert_eq!(cookies.session(&names(), SECRET), SessionCookie::Token("t".into()));
    }

    #[test]
    fn two_session_cookies_are_ambiguous() {
        let name = names().session_token().to_owned();
        let (mine, theirs) = (sign(SECRET, "mine"), sign(SECRET, "theirs"));
        for header in [
            format!("{name}={mine}; {name}={theirs}"),
            format!("{name}={theirs}; {name}={mine}"),
            format!("{name}={mine}; {name}={mine}"),
            format!("{name}={mine}; {name}=forged"),
            format!("{name}=; {name}={mine}"),
            format!("{name}=\"{theirs}\"; {name}={mine}"),
            format!("{name}={mine};{name} =\"{theirs}\""),
            format!("$Version=1; {name}={mine}; $Path=/; {name}={theirs}; $Path=/api"),
            format!("$Version=\"1\"; x=\"a; {name}={theirs}; b\""),
            format!("{name}={theirs}; $Path=/api"),
            format!("x=\"a; {name}={theirs}; b\"; {name}={mine}"),
            format!("={name}={theirs}; {name}={mine}; {name}={theirs}"),
        ] {
            assert_eq!(session_of(&header), SessionCookie::Ambiguous, "{header}");
        }
        let lines = RequestCookies::parse([format!("{name}={mine}"), format!("{name}={theirs}")]);
        assert_eq!(lines.session(&names(), SECRET), SessionCookie::Ambiguous);
    }

    #[test]
    fn single_session_cookie_is_found_quoted_and_among_others() {
        let name = names().session_token().to_owned();
        let mine = sign(SECRET, "mine");
        for header in [
            format!("{name}={mine}"),
            format!("a=b; {name}=\"{mine}\"; {name}.0=x"),
            format!("Better-Auth.session_token=x;{name}={mine}"),
        ] {
            assert_eq!(session_of(&header), SessionCookie::Token("mine".into()), "{header}");
        }
    }

    #[test]
    fn unsigned_and_foreign_tokens_are_ignored() {
        let name = names().session_token().to_owned();
        for value in ["mine", "", ".", &sign("another secret", "mine"), &sign(SECRET, "")] {
            assert_eq!(session_of(&format!("{name}={value}")), SessionCookie::Absent, "{value}");
        }
        assert_eq!(session_of("a=b"), SessionCookie::Absent);
    }

    #[test]
    fn token_of_previous_secret_is_accepted_while_it_is_replaced() {
        let name = names().session_token().to_owned();
        let cookies = RequestCookies::parse([format!("{name}={}", sign(SECRET, "mine"))]);
        let secrets = |current, previous| VerifyingSecrets { current, previous };
        let mine = SessionCookie::Token("mine".into());
        assert_eq!(cookies.session(&names(), secrets("a new secret", Some(SECRET))), mine);
        assert_eq!(cookies.session(&names(), secrets(SECRET, Some("an older one"))), mine);
        let others = secrets("a new secret", Some("an older one"));
        assert_eq!(cookies.session(&names(), others), SessionCookie::Absent);
    }

    #[test]
    fn dont_remember_requires_signed_true() {
        let remember = |value: &str| {
            RequestCookies::parse([format!("better-auth.dont_remember={value}")]).remember(&names(), SECRET)
        };
        assert_eq!(remember(&sign(SECRET, "true")), Remember::No);
        assert_eq!(remember("true"), Remember::Yes);
        assert_eq!(remember(&sign(SECRET, "false")), Remember::Yes);
    }

    #[test]
    fn admin_session_cookie_is_signed() {
        let read = |value: &str| {
            RequestCookies::parse([format!("better-auth.admin_session={value}")]).admin_session(&names(), SECRET)
        };
        assert_eq!(read(&sign(SECRET, "tok:")), Some(("tok".into(), Remember::Yes)));
        assert_eq!(read(&sign(SECRET, "tok:true")), Some(("tok".into(), Remember::No)));
        assert_eq!(read("tok:"), None);
        assert_eq!(read(&sign(SECRET, "tok")), None);
        let twice = format!("{0}; better-auth.admin_session={0}", sign(SECRET, "tok:"));
        assert_eq!(read(&twice), None);
    }

    #[test]
    fn chunks_are_joined_by_index_and_whole_cookie_takes_precedence() {
        let joined = |header: &str| RequestCookies::parse([header]).joined("d");
        assert_eq!(joined("d.10=k; d.2=c; d.0=a; d.1=b").as_deref(), Some("abck"));
        assert_eq!(joined("d.0=a; d=whole").as_deref(), Some("whole"));
        assert_eq!(joined("d=; d.0=a; d.0=z").as_deref(), Some("a"));
        assert_eq!(joined("d.01=a; d.x=b; d.-1=c; d.+1=c; dd.0=e"), None);
    }
}
