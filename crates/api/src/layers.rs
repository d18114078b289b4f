//! The layers around every request, in the specified order: request id, request log, then the guard of the route
//! (authenticate, resolve organization, authorize), validation and the handler; and rendering of errors in responses.
//!
//! tower-http has layers for request ids, CORS, timeouts and tracing. Those here are our own where the contract differs:
//! a request id of a client is accepted only if it is harmless in logs; only the preflights of our own origin are
//! answered, every other OPTIONS request gets the error of its route; a timeout is an error body and depends on the route;
//! and the log contains neither query strings nor secrets in paths.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::audit::AuditedRequest;
use super::body_timeout::OwningBody;
use super::context::App;
use super::maintenance::MAINTENANCE;
use super::response::{ErrorBody, ErrorReply};
use auth::{Peer, RequestId};
use common::clock;
use common::error::Error;
use common::metrics::metrics;

/// The header of the request id in requests and responses.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of path and query in bytes.
const LONGEST_URI: usize = 8 * 1024;
/// Maximum size of all header fields in bytes. hyper accepts at most 100 fields.
const LARGEST_HEAD: usize = 16 * 1024;
/// The methods that routes use.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The name of all other methods in metrics and logs.
const OTHER_METHOD: &str = "OTHER";
/// Characters of a path that are logged.
const LONGEST_LOGGED: usize = 512;
/// What precedes a mailed secret in a path, at any position.
const SECRET_PATHS: [&str; 2] = ["/auth/reset-password/", "token="];
/// HSTS for one year: for the host alone, and with its subdomains.
const ONLY_TLS: &str = "max-age=31536000";
const ONLY_TLS_SUBDOMAINS: &str = "max-age=31536000; includeSubDomains";

/// Assigns the request id, logs the outcome, and renders the bodies of errors.
pub async fn request_context_layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = client_request_id(request.headers()).unwrap_or_else(clock::new_id);
    request.extensions_mut().insert(RequestId(id.clone()));
    let only_tls = only_tls(&app);
    let maintenance = app.maintenance().clone();
    let permit = behind_proxy(&app, &request)
        .map(|client| app.client_requests().acquire(client))
        .transpose();
    let method = known_method(request.method());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let path = logged_path(route.as_deref(), request.uri().path());
    let audited = AuditedRequest::new(&app, &request, route.as_deref());
    request.extensions_mut().insert(app);

    let response = match (check_head(&request), permit) {
        _ if method.is_none() => unknown_method(),
        (Ok(()), Ok(None)) => next.run(request).await,
        (Ok(()), Ok(Some(permit))) => next.run(request).await.map(|body| OwningBody::wrap(body, permit)),
        (Err(error), _) | (_, Err(error)) => error.into_response(),
    };
    let method = method.unwrap_or(OTHER_METHOD);
    let mut response = render_error(response, &id);

    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    set_security_headers(response.headers_mut(), only_tls);
    if maintenance.is_on() {
        response
            .headers_mut()
            .insert(MAINTENANCE, HeaderValue::from_static("on"));
    }
    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    metrics().record_request(method, route.as_deref().unwrap_or("-"), status, elapsed);
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    // A path may contain ids, but never names, secrets or query values.
    tracing::info!(
        request.id = id,
        http.method = method,
        http.route = route.as_deref().unwrap_or("-"),
        http.path = path,
        http.status = status,
        duration_ms = milliseconds,
        "request completed"
    );
    if let Some(audited) = audited {
        audited.record(response.status(), &id);
    }
    response
}

/// The path as logged: the route template if a parameter is a secret, and the part before a secret if a damaged link
/// matches no route.
fn logged_path(route: Option<&str>, path: &str) -> String {
    if let Some(route) = route.filter(|route| route.contains("{token}")) {
        return route.to_owned();
    }
    let shown = SECRET_PATHS
        .into_iter()
        .find_map(|before| path.find(before).map(|at| &path[..at + before.len()]));
    shown.unwrap_or(path).chars().take(LONGEST_LOGGED).collect()
}

/// The method as metrics and logs name it; `None` for a method that no route uses. A client may send any token of any
/// length.
fn known_method(method: &Method) -> Option<&'static str> {
    METHODS.into_iter().find(|known| *known == method.as_str())
}

/// Rejects a method that no route uses, before anything else is done with the request.
fn unknown_method() -> Response {
    let mut response = Error::MethodNotAllowed.into_response();
    let served = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    response.headers_mut().insert(header::ALLOW, served);
    response
}

/// The client of a request that came through a trusted proxy.
fn behind_proxy(app: &App, request: &Request) -> Option<IpAddr> {
    let host_resolver = app.authenticator().host_resolver();
    let peer = request.extensions().get::<Peer>()?.0.ip();
    let is_proxy = host_resolver.is_proxy(peer);
    host_resolver
        .client_address(request.headers(), Some(peer))
        .filter(|_| is_proxy)
}

/// Checks the head of a request: its size, exactly one Host and at most one Origin.
fn check_head(request: &Request) -> Result<(), Error> {
    let uri = request.uri().path_and_query().map_or(0, |uri| uri.as_str().len());
    let fields = request.headers().iter();
    let size: usize = fields.map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if uri > LONGEST_URI {
        Err(Error::UriTooLong)
    } else if size > LARGEST_HEAD {
        Err(Error::HeadTooLarge)
    } else if !has_one_host(request) {
        Err(Error::InvalidHost)
    } else if request.headers().get_all(header::ORIGIN).iter().nth(1).is_some() {
        Err(Error::InvalidOrigin)
    } else {
        Ok(())
    }
}

/// Whether a request names exactly one host (RFC 9112, section 3.2). HTTP/1.0 may omit it.
fn has_one_host(request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(is_host),
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    }
}

/// A name or an IP address, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !text.ends_with(']') => (name, port),
        _ => (text, ""),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_named = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.bytes().all(is_name),
    };
    let is_port = port.is_empty() || (port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok());
    is_named && is_port
}

fn client_request_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fits = (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    fits.then(|| text.to_owned())
}

fn render_error(mut response: Response, id: &str) -> Response {
    let Some(reply) = response.extensions_mut().remove::<ErrorReply>() else {
        return response;
    };
    let body = ErrorBody {
        code: reply.code.to_owned(),
        message: reply.message,
        details: reply.details,
        request_id: id.to_owned(),
        current: reply.current,
    };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let rendered = Json(body).into_response();
    parts.headers.extend(rendered.headers().clone());
    Response::from_parts(parts, rendered.into_body())
}

/// The value of `Strict-Transport-Security`; none for a service without TLS.
fn only_tls(app: &App) -> Option<&'static str> {
    let is_secure = app.frontend_origin().starts_with("https://");
    is_secure.then_some(if app.settings().hsts_subdomains {
        ONLY_TLS_SUBDOMAINS
    } else {
        ONLY_TLS
    })
}

/// Sets security headers: API responses are same-origin only and are never cached.
fn set_security_headers(headers: &mut HeaderMap, only_tls: Option<&'static str>) {
    let defaults = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in defaults {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(value) = only_tls.map(HeaderValue::from_static) {
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(value);
    }
}

/// CORS for the one allowed origin: responds to preflights, and adds the headers to other responses.
pub async fn cors(State(app): State<App>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let allowed = origin.filter(|origin| origin.as_bytes() == app.frontend_origin().as_bytes());
    let preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match (&allowed, preflight) {
        (Some(_), true) => {
            let mut response = StatusCode::NO_CONTENT.into_response();
            let headers = response.headers_mut();
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_METHODS,
                HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"),
            );
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("content-type, idempotency-key, if-match, x-organization-id, x-request-id"),
            );
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
            response
        }
        _ => next.run(request).await,
    };
    response
        .headers_mut()
        .append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed {
        response
            .headers_mut()
            .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.headers_mut().insert(
            header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
            HeaderValue::from_static("true"),
        );
        let exposed = HeaderValue::from_static(
            "x-request-id, retry-after, x-retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, \
             content-disposition, etag, event-position, idempotency-replayed, x-maintenance",
        );
        response
            .headers_mut()
            .insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

/// Renders a panic of a handler as an internal error. Only that request fails.
pub fn render_panic(_: Box<dyn std::any::Any + Send + 'static>) -> Response<Body> {
    Error::Internal(anyhow::anyhow!("a handler panicked")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_a_name_or_an_address_with_a_port() {
        for host in [
            "school.example",
            "SCHOOL.example.:443",
            "localhost:3000",
            "127.0.0.1",
            "[::1]:3000",
            "a_b:",
        ] {
            assert!(is_host(host), "{host}");
        }
        for host in [
            "", ":80", "a b", "a,b", "a:b", "a:80:80", "a:65536", "a/b", "a?b", "user@a", "[::1", "[a]", "*.a", "a%00",
            "::1",
        ] {
            assert!(!is_host(host), "{host}");
        }
    }

    #[test]
    fn logged_path_of_a_mailed_link_has_no_token() {
        let route = "/api/auth/reset-password/{token}";
        assert_eq!(logged_path(Some(route), "/api/auth/reset-password/s3cret"), route);
        for path in [
            "/api/auth/reset-password/s3cret/",
            "/auth/reset-password/s3cret",
            "/api/auth/verify-email%3F&token=s3cret",
        ] {
            assert!(!logged_path(None, path).contains("s3cret"), "{path}");
        }
        let path = "/api/users/u1/reset-password";
        assert_eq!(logged_path(Some("/api/users/{id}/reset-password"), path), path);
        assert_eq!(logged_path(None, &"x".repeat(1000)).len(), LONGEST_LOGGED);
    }
}
