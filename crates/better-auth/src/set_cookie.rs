//! Builds `Set-Cookie` headers. They never have a `Domain` attribute: a cookie belongs to one host.

use crate::{
    cache,
    cookie::{CookieNames, RequestCookies, sign},
    object::{SessionObject, UserObject},
    session::{Lifecycle, Remember},
    timestamp::UnixMillis,
    uri_component,
};

/// Maximum length of a header value; Safari, the strictest browser, drops slightly longer cookies.
const MAX_HEADER_LENGTH: usize = 4050;

/// Maximum number of chunks; more are not worth sending with every request.
const MAX_CHUNKS: usize = 100;

/// Builds the cookies of a response, given the cookies of the request.
#[derive(Debug, Clone, Copy)]
pub struct SetCookies<'a> {
    /// The cookie names of this installation.
    pub names: &'a CookieNames,
    /// The secret that signs the values.
    pub secret: &'a str,
    /// The lifetimes of the cookies.
    pub lifecycle: &'a Lifecycle,
    /// The cookies of the request, some of which are cleared.
    pub received: &'a RequestCookies,
}

impl SetCookies<'_> {
    /// Returns all headers after a sign-in, a renewal or another change of the session: the token, then `dont_remember`
    /// if it is set or cleared, then the cached copy.
    pub fn issue(
        &self,
        session: &SessionObject,
        user: &UserObject,
        now: UnixMillis,
        remember: Remember,
    ) -> Vec<String> {
        let mut headers = vec![self.session_token(&session.token, remember)];
        match remember {
            Remember::No => headers.push(self.dont_remember()),
            Remember::Yes if self.received.count(self.names.dont_remember()) > 0 => {
                headers.push(self.expired(self.names.dont_remember()));
            }
            Remember::Yes => {}
        }
        headers.extend(self.session_data(session, user, now, remember));
        headers
    }

    /// Returns the header with the signed session token.
    pub fn session_token(&self, token: &str, remember: Remember) -> String {
        let max_age = max_age(remember, self.lifecycle.expires_in);
        self.header(self.names.session_token(), &sign(self.secret, token), max_age)
    }

    /// Returns the headers with the cached copy, and those that clear earlier chunks.
    pub fn session_data(
        &self,
        session: &SessionObject,
        user: &UserObject,
        now: UnixMillis,
        remember: Remember,
    ) -> Vec<String> {
        let cache_age = self.lifecycle.cache_age(remember);
        let value = cache::build(self.secret, session, user, now, cache_age);
        self.session_data_value(&value, remember)
    }

    /// Returns the headers for a cached copy that is already serialized. A long value is split into several cookies.
    /// Every earlier chunk is overwritten or cleared, so old and new chunks never mix.
    pub fn session_data_value(&self, value: &str, remember: Remember) -> Vec<String> {
        let max_age = max_age(remember, self.lifecycle.cache_max_age);
        let stored = self.received.stored_names(self.names.session_data());
        let mut headers: Vec<(String, String)> = stored
            .into_iter()
            .map(|name| (name.to_owned(), self.expired(name)))
            .collect();

        for (name, chunk) in self.chunks(value, max_age) {
            let line = self.header(&name, &chunk, max_age);
            match headers.iter_mut().find(|(stored, _)| *stored == name) {
                Some((_, written)) => *written = line,
                None => headers.push((name, line)),
            }
        }
        headers.into_iter().map(|(_, line)| line).collect()
    }

    /// Returns the header that makes the session end with the browser.
    pub fn dont_remember(&self) -> String {
        self.header(self.names.dont_remember(), &sign(self.secret, "true"), None)
    }

    /// Returns the header with which an administrator returns to this session.
    pub fn admin_session(&self, token: &str, remember: Remember) -> String {
        let flag = match remember {
            Remember::Yes => "",
            Remember::No => "true",
        };
        let value = sign(self.secret, &format!("{token}:{flag}"));
        self.header(self.names.admin_session(), &value, Some(self.lifecycle.expires_in))
    }

    /// Returns the headers of a sign-in that waits for its second factor: the session cookies are cleared, `dont_remember`
    /// is kept for the session that follows.
    pub fn two_factor(&self, token: &str, max_age: i64, remember: Remember) -> Vec<String> {
        let mut headers = vec![
            self.expired(self.names.session_token()),
            self.expired(self.names.session_data()),
        ];
        let stored = self.received.stored_names(self.names.session_data());
        let chunks = stored.into_iter().filter(|name| *name != self.names.session_data());
        headers.extend(chunks.map(|name| self.expired(name)));
        match remember {
            Remember::No => headers.push(self.dont_remember()),
            Remember::Yes if self.received.count(self.names.dont_remember()) > 0 => {
                headers.push(self.expired(self.names.dont_remember()));
            }
            Remember::Yes => {}
        }
        headers.push(self.header(self.names.two_factor(), &sign(self.secret, token), Some(max_age)));
        headers
    }

    /// Returns the header that ends the wait for a second factor.
    pub fn clear_two_factor(&self) -> String {
        self.expired(self.names.two_factor())
    }

    /// Returns the header with the challenge for a passkey.
    pub fn passkey(&self, challenge: &str, max_age: i64) -> String {
        self.header(self.names.passkey(), &sign(self.secret, challenge), Some(max_age))
    }

    /// Returns the header that removes the challenge for a passkey.
    pub fn clear_passkey(&self) -> String {
        self.expired(self.names.passkey())
    }

    /// Returns the header that makes this browser trusted.
    pub fn trust_device(&self, token: &str, max_age: i64) -> String {
        self.header(self.names.trust_device(), &sign(self.secret, token), Some(max_age))
    }

    /// Returns the header with which this browser is no longer trusted.
    pub fn clear_trust_device(&self) -> String {
        self.expired(self.names.trust_device())
    }

    /// Returns the headers of a sign-out: the token, the cached copy with every received chunk, and `dont_remember`.
    pub fn clear(&self) -> Vec<String> {
        let mut headers = vec![
            self.expired(self.names.session_token()),
            self.expired(self.names.session_data()),
        ];
        let stored = self.received.stored_names(self.names.session_data());
        headers.extend(stored.into_iter().map(|name| self.expired(name)));
        headers.push(self.expired(self.names.dont_remember()));
        headers
    }

    /// Returns the header that clears an outdated or forged cached copy.
    pub fn clear_session_data(&self) -> String {
        self.expired(self.names.session_data())
    }

    /// Returns the header that clears the administrator's session cookie.
    pub fn clear_admin_session(&self) -> String {
        self.expired(self.names.admin_session())
    }

    /// Returns the names and parts of a value; empty if it would need too many chunks.
    fn chunks(&self, value: &str, max_age: Option<i64>) -> Vec<(String, String)> {
        let name = self.names.session_data();
        let encoded = uri_component::encode(value);
        let longest_name = format!("{name}.{}", MAX_CHUNKS - 1);
        let size = MAX_HEADER_LENGTH - self.header(&longest_name, "", max_age).len();
        if encoded.len() <= size {
            return vec![(name.to_owned(), encoded)];
        }
        if encoded.len().div_ceil(size) > MAX_CHUNKS {
            return Vec::new();
        }
        let parts = encoded.as_bytes().chunks(size);
        parts
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .enumerate()
            .map(|(index, part)| (format!("{name}.{index}"), part))
            .collect()
    }

    fn expired(&self, name: &str) -> String {
        self.header(name, "", Some(0))
    }

    fn header(&self, name: &str, encoded_value: &str, max_age: Option<i64>) -> String {
        let max_age = max_age.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let secure = if self.names.is_secure() { "; Secure" } else { "" };
        format!("{name}={encoded_value}{max_age}; Path=/; HttpOnly{secure}; SameSite=Lax")
    }
}

/// Cookies that end with the browser have no Max-Age.
fn max_age(remember: Remember, seconds: i64) -> Option<i64> {
    (remember == Remember::Yes).then_some(seconds)
}
