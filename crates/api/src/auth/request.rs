//! A request to `/auth`, checked in the library's order: media type and JSON, origin, redirect URLs. The handler then
//! reads the body field by field, looks up the session, and acts. Only these routes ignore unknown keys.

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
use domain::id::SessionId;
use domain::time::Timestamp;
use serde_json::{Map, Value};

use super::super::body_timeout::read_body;
use super::super::context::App;
use super::super::valid::parse;
use super::dto;
use super::response::{AuthRejection, AuthResult};
use auth::host_resolver::network_text;
use auth::{Caller, Peer, RequestId};
use common::clock;
use common::error::Result;
use db::platform::organizations::HostName;
use db::platform::sessions::{Session, SessionUser};
use db::platform::{CrossTenantReason, PlatformTx, PlatformWriteTx};
use service::actions::passkeys::PasskeyChallenge;
use service::actions::second_factor::SignInBrowser;
use service::actions::sessions;
use webauthn::RelyingParty;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
/// Size limit of a body in bytes. It is read before authentication, so it is smaller than elsewhere.
const BODY_LIMIT: u64 = 64 << 10;
/// Characters of the User-Agent that a session stores.
const LONGEST_USER_AGENT: usize = 400;

/// A request whose media type, JSON and origin were checked.
pub struct AuthRequest {
    pub app: App,
    /// The time of the request.
    pub now: Timestamp,
    pub request_id: Option<String>,
    headers: HeaderMap,
    cookies: RequestCookies,
    trusted: TrustedOrigin,
    query: Value,
    body: Option<Value>,
    peer: Option<IpAddr>,
    host: Option<HostName>,
    caller: Option<Caller>,
}

/// An authenticated caller.
pub struct CurrentSession {
    pub session: Session,
    pub user: SessionUser,
    /// Whether the cookies persist after the browser is closed.
    pub remember: Remember,
    /// `Set-Cookie` values of a session that was renewed by this request.
    pub cookies: Vec<String>,
}

impl CurrentSession {
    /// An error response with the cookies of the session.
    pub fn reject(&self, error: AuthError) -> AuthResult {
        Err(AuthRejection::from(error).with(self.cookies.clone()))
    }
}

impl FromRequest<App> for AuthRequest {
    type Rejection = AuthRejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, AuthRejection> {
        let (parts, body) = request.into_parts();
        // axum routes HEAD requests to GET handlers; the library rejects them.
        if parts.method == Method::HEAD {
            return Err(AuthError::not_found().into());
        }
        let bytes = if parts.method == Method::GET {
            bytes::Bytes::new()
        } else {
            read_body(body, BODY_LIMIT).await?
        };
        let body = parse_body(&parts.headers, parts.uri.path(), &bytes)?;
        let query = query(parts.uri.query().unwrap_or_default());
        if contains_nul(&query) || body.as_ref().is_some_and(contains_nul) {
            return Err(AuthError::invalid_json().into());
        }
        let trusted = TrustedOrigin::of(app.frontend_origin()).expect("the settings were checked to have an origin");
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
        let is_from_provider = is_from_provider(parts.uri.path());
        let request = Self {
            app: app.clone(),
            host: app
                .authenticator()
                .host_resolver()
                .resolve(&parts.uri, &parts.headers, peer),
            now: clock::now(),
            request_id: parts.extensions.get::<RequestId>().map(|id| id.0.clone()),
            cookies: RequestCookies::parse(parts.headers.get_all(header::COOKIE)),
            headers: parts.headers,
            trusted,
            query,
            body,
            peer,
            caller: parts.extensions.get::<Caller>().cloned(),
        };
        if is_from_provider {
            return Ok(request);
        }
        origin::check_request(parts.method.as_str(), &request.origin(), &request.trusted)?;
        if parts.method != Method::GET {
            let callback = request.query("callbackURL");
            origin::check_redirects(request.body.as_ref(), callback, &request.trusted)?;
        }
        Ok(request)
    }
}

impl AuthRequest {
    /// Reads the body field by field.
    pub fn reader(&self) -> FieldReader<'_> {
        FieldReader::body(self.body.as_ref())
    }

    /// The password, in a body with nothing else.
    pub fn password(&self) -> Result<&str, AuthError> {
        let mut reader = self.reader();
        let password = reader.string("password");
        reader.finish()?;
        Ok(password)
    }

    /// The object in the body, for routes that accept any key.
    pub fn keys(&self) -> Option<&Map<String, Value>> {
        self.body.as_ref().and_then(Value::as_object)
    }

    /// The first value of a query parameter.
    pub fn query(&self, key: &str) -> Option<&str> {
        match self.query.get(key)? {
            Value::String(text) => Some(text),
            Value::Array(texts) => texts.first().and_then(Value::as_str),
            _ => None,
        }
    }

    /// The whole query, for routes whose query has a schema.
    pub fn query_object(&self) -> Value {
        self.query.clone()
    }

    /// A field of the form in the body, or of the query. A repeated field counts as absent.
    pub fn field(&self, key: &str, is_form: bool) -> Option<&str> {
        let fields = if is_form { self.body.as_ref()? } else { &self.query };
        fields.get(key)?.as_str()
    }

    /// The organization's host that the request was sent to.
    pub fn host(&self) -> Option<&HostName> {
        self.host.as_ref()
    }

    /// Whether the service is reached with TLS.
    pub fn is_secure(&self) -> bool {
        self.app.authenticator().names().is_secure()
    }

    /// The value of a cookie that occurs once.
    pub fn only_cookie(&self, name: &str) -> Option<String> {
        if self.cookies.count(name) == 1 {
            self.cookies.value(name).map(std::borrow::Cow::into_owned)
        } else {
            None
        }
    }

    /// All values of a query parameter.
    pub fn queries(&self, key: &str) -> Vec<&str> {
        match self.query.get(key) {
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }

    /// The additional origin check of sign-in and sign-up, which prevents login CSRF with a form on a foreign page.
    pub fn check_form(&self) -> Result<(), AuthError> {
        origin::check_form(&self.origin(), &self.trusted)
    }

    /// Rejects a redirect URL that is not trusted.
    pub fn check_callback(&self, url: &str) -> Result<(), AuthError> {
        origin::check_callback(url, &self.trusted)
    }

    /// The session token of the request, if its signature is valid.
    pub fn token(&self) -> Option<String> {
        self.app.authenticator().token(&self.headers)
    }

    /// The client address as rate limits count it and sessions show it: an IPv4 address or an IPv6 /64 network.
    pub fn address(&self) -> String {
        let address = self
            .app
            .authenticator()
            .host_resolver()
            .client_address(&self.headers, self.peer);
        address.map(network_text).unwrap_or_default()
    }

    /// Creates a session for this browser that starts now.
    pub fn new_session(&self, user: domain::id::UserId) -> Session {
        let agent = self
            .headers
            .get(header::USER_AGENT)
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        Session {
            id: SessionId::new(clock::new_id()),
            token: better_auth::token::session_token(),
            user_id: user,
            expires_at: dto::to_timestamp(Lifecycle::STANDARD.expires_at(dto::time(self.now))),
            created_at: self.now,
            updated_at: self.now,
            ip_address: Some(self.address()),
            user_agent: Some(agent.chars().take(LONGEST_USER_AGENT).collect()),
            active_organization_id: None,
            impersonated_by: None,
            new_password_until: None,
            confirmed_at: None,
            sign_on: None,
        }
    }

    /// What this browser presents for a second factor, with new tokens.
    pub fn browser(&self) -> SignInBrowser {
        SignInBrowser::new(self.signed_cookie(self.app.authenticator().names().trust_device()))
    }

    /// The token of the sign-in that waits for its second factor in this browser.
    pub fn pending_sign_in(&self) -> Option<String> {
        self.signed_cookie(self.app.authenticator().names().two_factor())
    }

    /// The challenge for a passkey that was issued to this browser, unless it has expired.
    pub fn passkey_challenge(&self) -> Option<PasskeyChallenge> {
        let value = self.signed_cookie(self.app.authenticator().names().passkey())?;
        PasskeyChallenge::from_cookie(&value, self.now)
    }

    /// The service as passkeys know it: they are bound to the host of FRONTEND_URL.
    pub fn relying_party(&self) -> RelyingParty {
        let origin = self.trusted.as_str().to_owned();
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        let id = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        RelyingParty {
            id: id.to_owned(),
            origin,
        }
    }

    /// Whether the request has a cookie with this name, valid or not.
    pub fn has_cookie(&self, name: &str) -> bool {
        self.cookies.count(name) > 0
    }

    fn signed_cookie(&self, name: &str) -> Option<String> {
        // Of two cookies with one name, one may have been set by a sibling domain.
        let is_single = self.cookies.count(name) == 1;
        let secrets = self.app.authenticator().verifying_secrets();
        self.cookies.signed(name, secrets).filter(|_| is_single)
    }

    /// Whether this browser has persistent cookies.
    pub fn remember(&self) -> Remember {
        let authenticator = self.app.authenticator();
        self.cookies
            .remember(authenticator.names(), authenticator.verifying_secrets())
    }

    /// The session cookie cache of the request. It is not verified.
    pub fn cached_copy(&self) -> Option<String> {
        self.cookies.joined(self.app.authenticator().names().session_data())
    }

    /// The SUPER_ADMIN's own session during an impersonation, and whether its cookies persist.
    pub fn impersonator_session(&self) -> Option<(String, Remember)> {
        let authenticator = self.app.authenticator();
        self.cookies
            .admin_session(authenticator.names(), authenticator.verifying_secrets())
    }

    /// Clears all session cookies, including the SUPER_ADMIN's own session during an impersonation.
    pub fn clear(&self) -> Vec<String> {
        let cookies = self.cookies();
        let mut lines = cookies.clear();
        if self.cookies.count(self.app.authenticator().names().admin_session()) > 0 {
            lines.push(cookies.clear_admin_session());
        }
        lines
    }

    /// Writes cookies that replace those of the request.
    pub fn cookies(&self) -> SetCookies<'_> {
        SetCookies {
            names: self.app.authenticator().names(),
            secret: self.app.authenticator().secret(),
            lifecycle: &Lifecycle::STANDARD,
            received: &self.cookies,
        }
    }

    /// The cookies after a change of session or user.
    pub fn issue(&self, session: &Session, user: &SessionUser, remember: Remember) -> Vec<String> {
        let (session, user) = (dto::session(session), dto::user(user));
        self.cookies().issue(&session, &user, dto::time(self.now), remember)
    }

    /// The cookies of a session whose user changed.
    pub fn reissue(&self, current: &CurrentSession) -> Vec<String> {
        self.issue(&current.session, &current.user, current.remember)
    }

    /// Authenticates the caller from the database and renews the session when that is due. The error clears a cookie
    /// whose session is no longer valid.
    pub async fn current_session(&self) -> Result<CurrentSession, AuthRejection> {
        let Some(token) = self.token() else {
            return Err(AuthError::unauthorized().into());
        };
        let found = match &self.caller {
            Some(caller) => Some((caller.session.clone(), caller.user.clone())),
            None => self
                .app
                .authenticator()
                .find_session(token, None, None)
                .await?
                .map(|facts| (facts.session, facts.user)),
        };
        let Some((session, user)) = found else {
            return Err(AuthRejection::from(AuthError::unauthorized()).with(self.cookies().clear()));
        };
        let remember = self.remember();
        let mut current_session = CurrentSession {
            session,
            user,
            remember,
            cookies: Vec::new(),
        };
        if self.is_renewal_due(&current_session) {
            self.renew(&mut current_session).await?;
        }
        Ok(current_session)
    }

    /// Whether the session must be renewed. Sessions that end with the browser and impersonations are never renewed.
    pub fn is_renewal_due(&self, current_session: &CurrentSession) -> bool {
        current_session.remember == Remember::Yes
            && current_session.session.impersonated_by.is_none()
            && Lifecycle::STANDARD.is_refresh_due(dto::time(current_session.session.expires_at), dto::time(self.now))
    }

    /// Renews a session and both its cookies.
    pub async fn renew(&self, current_session: &mut CurrentSession) -> Result<(), AuthRejection> {
        let (id, now) = (current_session.session.id.clone(), self.now);
        let expires_at = dto::to_timestamp(Lifecycle::STANDARD.expires_at(dto::time(now)));
        self.act(move |tx| sessions::renew(tx, &id, expires_at, now)).await?;
        current_session.session.expires_at = expires_at;
        current_session.session.updated_at = now;
        current_session.cookies = self.issue(
            &current_session.session,
            &current_session.user,
            current_session.remember,
        );
        Ok(())
    }

    /// Reads accounts and sessions.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut PlatformTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.app.store();
        store.platform_read(CrossTenantReason::SessionLookup, query).await
    }

    /// Hashes a password.
    pub async fn hash(&self, password: &str) -> Result<String> {
        let password_hasher = self.app.authenticator().password_hasher();
        password_hasher.hash(password.to_owned()).await
    }

    /// Runs a transaction on accounts and sessions; the recorded changes are published to the sockets. Fails as
    /// unauthorized when the session has ended in the meantime.
    pub async fn act<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut PlatformWriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T, AuthRejection> {
        let transactor = self.app.transactor();
        let result = transactor.write_platform(CrossTenantReason::SessionLookup, act).await;
        result.map_err(|error| {
            let rejected = AuthRejection::from(error);
            if rejected.is_unauthorized() {
                rejected.with(self.cookies().clear())
            } else {
                rejected
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

/// Whether the requests of a path come from a sign-on provider or its pages. They have no trusted origin; the response to
/// a sign-in is bound to it by state and cookie, a logout token is signed.
fn is_from_provider(path: &str) -> bool {
    path.contains("/auth/sso/callback/") || path.contains("/auth/sso/backchannel-logout/")
}

/// Parses the body. Without a Content-Type there is no body, as in the library.
fn parse_body(headers: &HeaderMap, path: &str, bytes: &[u8]) -> Result<Option<Value>, AuthError> {
    let takes_forms = path.ends_with("/sign-in/email") || path.ends_with("/sign-up/email");
    let allowed: &[&str] = match takes_forms {
        true => &[JSON, FORM],
        false if is_from_provider(path) => &[FORM],
        false => &[JSON],
    };
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

/// Parses `a=1&b=2&b=3` into an object of strings and lists of strings.
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

/// JSON allows NUL, but the databases cannot store it in text.
fn contains_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(contains_nul),
        Value::Object(object) => object
            .iter()
            .any(|(key, value)| key.contains('\0') || contains_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_query_parameters_are_a_list() {
        assert_eq!(query("a=1&b=%C3%A9&a=2&a=3"), json!({"a": ["1", "2", "3"], "b": "é"}));
        assert!(contains_nul(&json!({"a": [{"b": "x\u{0}"}]})) && !contains_nul(&json!({"a": "\\u0000"})));
    }
}
