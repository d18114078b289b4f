//! A request to `/auth` in the library's order: media type and JSON, origin, addresses to be sent to; then the handler
//! reads the body by name, asks for the session, and acts. Unknown keys are ignored here and nowhere else.

use std::net::IpAddr;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderName, Method, header};
use better_auth::cookie::RequestCookies;
use better_auth::error::AuthError;
use better_auth::origin::{self, OriginHeaders};
use better_auth::schema::FieldReader;
use better_auth::session::{Lifecycle, Remember};
use better_auth::set_cookie::SetCookies;
use better_auth::trusted_origin::TrustedOrigin;
use model::id::SessionId;
use model::time::Timestamp;
use serde_json::{Map, Value};

use super::super::context::App;
use super::super::pace::read_body;
use super::super::valid::parse;
use super::answer::Refused;
use super::wire;
use crate::actions::sessions;
use crate::auth::tenant::spelled;
use crate::auth::{Caller, Peer, RequestId};
use crate::changes;
use crate::clock;
use crate::error::Result;
use crate::store::platform::sessions::{Session, User};
use crate::store::platform::{PlatformProof, PlatformWork};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
/// The largest body; it is read before anybody is known, so it is smaller than elsewhere.
const BODY_LIMIT: u64 = 64 << 10;
/// How much of a browser's name is kept.
const LONGEST_USER_AGENT: usize = 400;

/// A request whose form was found right.
pub struct Asked {
    /// The service.
    pub app: App,
    /// The request's clock.
    pub now: Timestamp,
    /// The request's id.
    pub request_id: Option<String>,
    headers: HeaderMap,
    cookies: RequestCookies,
    trusted: TrustedOrigin,
    query: Value,
    body: Option<Value>,
    peer: Option<IpAddr>,
    caller: Option<Caller>,
}

/// Somebody with a session that is good at this moment.
pub struct Present {
    /// The session.
    pub session: Session,
    /// The person.
    pub user: User,
    /// Whether the cookies outlive the browser.
    pub remember: Remember,
    /// What was prolonged on the way.
    pub cookies: Vec<String>,
}

impl FromRequest<App> for Asked {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refused> {
        let (parts, body) = request.into_parts();
        // Routers answer HEAD like GET; the library does not know it.
        if parts.method == Method::HEAD {
            return Err(AuthError::not_found().into());
        }
        let bytes = if parts.method == Method::GET {
            bytes::Bytes::new()
        } else {
            read_body(body, BODY_LIMIT).await?
        };
        let body = parsed(&parts.headers, parts.uri.path(), &bytes)?;
        let query = query(parts.uri.query().unwrap_or_default());
        if holds_nul(&query) || body.as_ref().is_some_and(holds_nul) {
            return Err(AuthError::invalid_json().into());
        }
        let trusted = TrustedOrigin::of(app.frontend_origin()).expect("the settings were checked to have an origin");
        let asked = Self {
            app: app.clone(),
            now: clock::now(),
            request_id: parts.extensions.get::<RequestId>().map(|id| id.0.clone()),
            cookies: RequestCookies::parse(parts.headers.get_all(header::COOKIE)),
            headers: parts.headers,
            trusted,
            query,
            body,
            peer: parts.extensions.get::<Peer>().map(|peer| peer.0.ip()),
            caller: parts.extensions.get::<Caller>().cloned(),
        };
        origin::check_request(parts.method.as_str(), &asked.origin(), &asked.trusted)?;
        if parts.method != Method::GET {
            let callback = asked.query("callbackURL");
            origin::check_redirects(asked.body.as_ref(), callback, &asked.trusted)?;
        }
        Ok(asked)
    }
}

impl Asked {
    /// Reads the body key by key.
    pub fn reader(&self) -> FieldReader<'_> {
        FieldReader::body(self.body.as_ref())
    }

    /// The keys of the body, for the routes that take any.
    pub fn keys(&self) -> Option<&Map<String, Value>> {
        self.body.as_ref().and_then(Value::as_object)
    }

    /// A text of the query; of several, the first.
    pub fn query(&self, key: &str) -> Option<&str> {
        match self.query.get(key)? {
            Value::String(text) => Some(text),
            Value::Array(texts) => texts.first().and_then(Value::as_str),
            _ => None,
        }
    }

    /// The whole query, for the one route whose query has a schema.
    pub fn query_object(&self) -> Value {
        self.query.clone()
    }

    /// All texts of the query under one name.
    pub fn queries(&self, key: &str) -> Vec<&str> {
        match self.query.get(key) {
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }

    /// The further rule of sign-in and sign-up: no form of a foreign page signs anybody in.
    pub fn check_form(&self) -> Result<(), AuthError> {
        origin::check_form(&self.origin(), &self.trusted)
    }

    /// Whether a browser may be sent there.
    pub fn check_callback(&self, url: &str) -> Result<(), AuthError> {
        origin::check_callback(url, &self.trusted)
    }

    /// The session token of the request, if its signature holds.
    pub fn token(&self) -> Option<String> {
        self.app.gate().token(&self.headers)
    }

    /// Where the request came from, as limits count it and sessions show it: the IPv4 address, or the IPv6 /64.
    pub fn address(&self) -> String {
        let address = self.app.gate().hosts().client_address(&self.headers, self.peer);
        address.map(spelled).unwrap_or_default()
    }

    /// A session that begins now for this browser.
    pub fn new_session(&self, user: model::id::UserId) -> Session {
        let agent = self
            .headers
            .get(header::USER_AGENT)
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        Session {
            id: SessionId::new(clock::new_id()),
            token: better_auth::token::session_token(),
            user_id: user,
            expires_at: wire::moment(Lifecycle::STANDARD.expires_at(wire::time(self.now))),
            created_at: self.now,
            updated_at: self.now,
            ip_address: Some(self.address()),
            user_agent: Some(agent.chars().take(LONGEST_USER_AGENT).collect()),
            active_organization_id: None,
            impersonated_by: None,
        }
    }

    /// Whether this browser keeps its cookies.
    pub fn remember(&self) -> Remember {
        self.cookies.remember(self.app.gate().names(), self.app.gate().secret())
    }

    /// The cached copy of the session in the request's cookies, whatever it is worth.
    pub fn cached_copy(&self) -> Option<String> {
        self.cookies.joined(self.app.gate().names().session_data())
    }

    /// The session that a super admin returns to when he stops acting as somebody, and whether its cookies are kept.
    pub fn way_back(&self) -> Option<(String, Remember)> {
        let gate = self.app.gate();
        self.cookies.admin_session(gate.names(), gate.secret())
    }

    /// Takes all cookies of a session back, the way back from an impersonation included.
    pub fn clear(&self) -> Vec<String> {
        let cookies = self.cookies();
        let mut lines = cookies.clear();
        if self.cookies.count(self.app.gate().names().admin_session()) > 0 {
            lines.push(cookies.clear_admin_session());
        }
        lines
    }

    /// Writes cookies in answer to those of the request.
    pub fn cookies(&self) -> SetCookies<'_> {
        SetCookies {
            names: self.app.gate().names(),
            secret: self.app.gate().secret(),
            lifecycle: &Lifecycle::STANDARD,
            received: &self.cookies,
        }
    }

    /// The cookies after a change of session or user.
    pub fn issue(&self, session: &Session, user: &User, remember: Remember) -> Vec<String> {
        let (session, user) = (wire::session(session), wire::user(user));
        self.cookies().issue(&session, &user, wire::time(self.now), remember)
    }

    /// Who asks, read from the store now; a session is prolonged when it is due. A cookie that is worth nothing any
    /// more is taken back with the refusal.
    pub async fn present(&self) -> Result<Present, Refused> {
        let Some(token) = self.token() else {
            return Err(AuthError::unauthorized().into());
        };
        let found = match &self.caller {
            Some(caller) => Some((caller.session.clone(), caller.user.clone())),
            None => self
                .app
                .gate()
                .facts(token, None, None)
                .await?
                .map(|facts| (facts.session, facts.user)),
        };
        let Some((session, user)) = found else {
            return Err(Refused::from(AuthError::unauthorized()).with(self.cookies().clear()));
        };
        let remember = self.remember();
        let mut present = Present {
            session,
            user,
            remember,
            cookies: Vec::new(),
        };
        if self.is_renewal_due(&present) {
            self.renew(&mut present).await?;
        }
        Ok(present)
    }

    /// Whether a session has to be prolonged: it ends neither with the browser nor with an impersonation.
    pub fn is_renewal_due(&self, present: &Present) -> bool {
        present.remember == Remember::Yes
            && present.session.impersonated_by.is_none()
            && Lifecycle::STANDARD.is_refresh_due(wire::time(present.session.expires_at), wire::time(self.now))
    }

    /// Prolongs a session and both its cookies.
    pub async fn renew(&self, present: &mut Present) -> Result<(), Refused> {
        let (id, now) = (present.session.id.clone(), self.now);
        let expires_at = wire::moment(Lifecycle::STANDARD.expires_at(wire::time(now)));
        self.act(move |work| sessions::renew(work, &id, expires_at, now))
            .await?;
        present.session.expires_at = expires_at;
        present.session.updated_at = now;
        present.cookies = self.issue(&present.session, &present.user, present.remember);
        Ok(())
    }

    /// Acts on accounts and sessions as one unit; the sockets follow what is recorded. Somebody whose session ended
    /// meanwhile is not present.
    pub async fn act<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut PlatformWork<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T, Refused> {
        let (store, bus) = (self.app.store(), self.app.bus());
        let acted = changes::perform_platform(store, bus, PlatformProof::session_look_up(), act).await;
        acted.map_err(|error| {
            let refused = Refused::from(error);
            if refused.is_unauthorized() {
                refused.with(self.cookies().clear())
            } else {
                refused
            }
        })
    }

    fn origin(&self) -> OriginHeaders<'_> {
        let text = |name: HeaderName| self.headers.get(name).map(|value| value.to_str().unwrap_or("not text"));
        OriginHeaders {
            has_cookie_header: self.cookies.has_header(),
            origin: text(header::ORIGIN),
            referer: text(header::REFERER),
            fetch_site: text(HeaderName::from_static("sec-fetch-site")),
            fetch_mode: text(HeaderName::from_static("sec-fetch-mode")),
            fetch_dest: text(HeaderName::from_static("sec-fetch-dest")),
        }
    }
}

/// The body, if there is one. Without a media type there is none, as the library sees it.
fn parsed(headers: &HeaderMap, path: &str, bytes: &[u8]) -> Result<Option<Value>, AuthError> {
    let takes_forms = path.ends_with("/sign-in/email") || path.ends_with("/sign-up/email");
    let allowed: &[&str] = if takes_forms { &[JSON, FORM] } else { &[JSON] };
    let Some(sent) = headers.get(header::CONTENT_TYPE) else {
        return Ok(None);
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    let sent = sent.to_str().unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !allowed.contains(&essence.as_str()) {
        return Err(AuthError::unsupported_media_type(sent, allowed));
    }
    if essence == FORM {
        return Ok(Some(query(&String::from_utf8_lossy(bytes))));
    }
    parse(bytes).map(Some).map_err(|_| AuthError::invalid_json())
}

/// `a=1&b=2&b=3` as an object of texts and lists of texts.
fn query(text: &str) -> Value {
    let mut object = Map::new();
    for (key, value) in form_urlencoded::parse(text.as_bytes()) {
        let value = Value::String(value.into_owned());
        match object.get_mut(key.as_ref()) {
            None => drop(object.insert(key.into_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Value::Object(object)
}

/// A NUL is a character to JSON, but no text that a database can hold.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(object) => object.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_names_of_a_query_are_a_list() {
        assert_eq!(query("a=1&b=%C3%A9&a=2&a=3"), json!({"a": ["1", "2", "3"], "b": "é"}));
        assert!(holds_nul(&json!({"a": [{"b": "x\u{0}"}]})) && !holds_nul(&json!({"a": "\\u0000"})));
    }
}
