//! Writes the `Set-Cookie` lines. It must never set a Domain: a cookie belongs to one host.

use crate::{
    cache,
    cookie::{CookieNames, RequestCookies, sign},
    object::{SessionObject, UserObject},
    session::{Lifecycle, Remember},
    timestamp::Timestamp,
    uri_component,
};

/// Characters in the longest line; Safari, the strictest browser, drops cookies soon after this.
const LONGEST_LINE: usize = 4050;

/// More chunks than this are not worth sending on every request.
const MOST_CHUNKS: usize = 100;

/// Writes the cookies of one answer, knowing what the request brought.
#[derive(Debug, Clone, Copy)]
pub struct SetCookies<'a> {
    /// The names of this installation.
    pub names: &'a CookieNames,
    /// What signs the values.
    pub secret: &'a str,
    /// How long the cookies last.
    pub lifecycle: &'a Lifecycle,
    /// The cookies of the request, some of which have to go.
    pub received: &'a RequestCookies,
}

impl SetCookies<'_> {
    /// All lines after a sign-in, a renewal or another change of the session: token, then
    /// `dont_remember` where it has to be set or taken back, then the cached copy.
    pub fn issue(&self, session: &SessionObject, user: &UserObject, now: Timestamp, remember: Remember) -> Vec<String> {
        let mut lines = vec![self.session_token(&session.token, remember)];
        match remember {
            Remember::No => lines.push(self.dont_remember()),
            Remember::Yes if self.received.count(self.names.dont_remember()) > 0 => {
                lines.push(self.expired(self.names.dont_remember()));
            }
            Remember::Yes => {}
        }
        lines.extend(self.session_data(session, user, now, remember));
        lines
    }

    /// The line with the signed session token.
    pub fn session_token(&self, token: &str, remember: Remember) -> String {
        let max_age = max_age(remember, self.lifecycle.expires_in);
        self.line(self.names.session_token(), &sign(self.secret, token), max_age)
    }

    /// The lines with the cached copy, and those that end earlier chunks no longer used.
    pub fn session_data(
        &self,
        session: &SessionObject,
        user: &UserObject,
        now: Timestamp,
        remember: Remember,
    ) -> Vec<String> {
        let cache_age = self.lifecycle.cache_age(remember);
        let value = cache::build(self.secret, session, user, now, cache_age);
        self.session_data_value(&value, remember)
    }

    /// The lines for a cached copy already built. A long value goes into several cookies; every
    /// earlier chunk is either overwritten or expired, so that old and new ones never mix.
    pub fn session_data_value(&self, value: &str, remember: Remember) -> Vec<String> {
        let max_age = max_age(remember, self.lifecycle.cache_max_age);
        let stored = self.received.stored_names(self.names.session_data());
        let mut lines: Vec<(String, String)> = stored
            .into_iter()
            .map(|name| (name.to_owned(), self.expired(name)))
            .collect();

        for (name, chunk) in self.chunks(value, max_age) {
            let line = self.line(&name, &chunk, max_age);
            match lines.iter_mut().find(|(stored, _)| *stored == name) {
                Some((_, written)) => *written = line,
                None => lines.push((name, line)),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// The line that says the session ends with the browser.
    pub fn dont_remember(&self) -> String {
        self.line(self.names.dont_remember(), &sign(self.secret, "true"), None)
    }

    /// The line that leads an administrator back to this session.
    pub fn admin_session(&self, token: &str, remember: Remember) -> String {
        let flag = match remember {
            Remember::Yes => "",
            Remember::No => "true",
        };
        let value = sign(self.secret, &format!("{token}:{flag}"));
        self.line(self.names.admin_session(), &value, Some(self.lifecycle.expires_in))
    }

    /// The lines that sign somebody out: token, cached copy with every chunk the request brought,
    /// `dont_remember`.
    pub fn clear(&self) -> Vec<String> {
        let mut lines = vec![
            self.expired(self.names.session_token()),
            self.expired(self.names.session_data()),
        ];
        let stored = self.received.stored_names(self.names.session_data());
        lines.extend(stored.into_iter().map(|name| self.expired(name)));
        lines.push(self.expired(self.names.dont_remember()));
        lines
    }

    /// The line that takes back a cached copy that is out of date or forged.
    pub fn clear_session_data(&self) -> String {
        self.expired(self.names.session_data())
    }

    /// The line that ends the way back of an administrator.
    pub fn clear_admin_session(&self) -> String {
        self.expired(self.names.admin_session())
    }

    /// The names and parts of a value; none at all when it would take too many.
    fn chunks(&self, value: &str, max_age: Option<i64>) -> Vec<(String, String)> {
        let name = self.names.session_data();
        let encoded = uri_component::encode(value);
        let longest_name = format!("{name}.{}", MOST_CHUNKS - 1);
        let size = LONGEST_LINE - self.line(&longest_name, "", max_age).len();
        if encoded.len() <= size {
            return vec![(name.to_owned(), encoded)];
        }
        if encoded.len().div_ceil(size) > MOST_CHUNKS {
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
        self.line(name, "", Some(0))
    }

    fn line(&self, name: &str, encoded_value: &str, max_age: Option<i64>) -> String {
        let max_age = max_age.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let secure = if self.names.secure() { "; Secure" } else { "" };
        format!("{name}={encoded_value}{max_age}; Path=/; HttpOnly{secure}; SameSite=Lax")
    }
}

/// Cookies that end with the browser have no Max-Age.
fn max_age(remember: Remember, seconds: i64) -> Option<i64> {
    (remember == Remember::Yes).then_some(seconds)
}
