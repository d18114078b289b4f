//! Adapter between HTTP and the Engine.IO service. The engine keeps the head of the request that opened a socket for
//! the lifetime of the socket, and that head references its read buffer: eight kilobytes per idle socket. It therefore
//! receives a minimal copy. Upgrades are responded to here for the same reason: the engine gets only the upgraded
//! stream, and nothing of the HTTP connection is kept.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::TokioIo;
use socketioxide::service::SocketIoService;
use socketioxide::socket::Sid;
use tower::Service;
use tungstenite::handshake::derive_accept_key;

use super::connect::PATH;
use super::connection::Handshake;

/// The Socket.IO service, which serves polls and sockets.
pub type Engine = SocketIoService<NoInnerService>;

/// The inner service of the engine. It is never called, because the engine receives requests for its own path only.
#[derive(Clone)]
pub struct NoInnerService;

impl Service<axum::http::Request<Body>> for NoInnerService {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: axum::http::Request<Body>) -> Self::Future {
        ready(Ok(StatusCode::NOT_FOUND.into_response()))
    }
}

/// The query parameters that the engine reads.
const ENGINE_PARAMETERS: [&str; 3] = ["EIO=", "transport=", "sid="];

/// Serves an authenticated request.
pub async fn handle(mut engine: Engine, mut request: Request, handshake: Arc<Handshake>) -> Response {
    let head = head(&request, handshake);
    if let Some(accept) = websocket_accept(&request) {
        let upgraded = hyper::upgrade::on(&mut request);
        tokio::spawn(serve_upgraded(engine, upgraded, head));
        let headers = [
            (header::CONNECTION, "Upgrade"),
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_ACCEPT, accept.as_str()),
        ];
        return (StatusCode::SWITCHING_PROTOCOLS, headers).into_response();
    }
    let request = head.map(|()| request.into_body());
    let result: Result<_, Infallible> = engine.call(request).await;
    match result {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// Passes the upgraded stream to the engine once the response was sent.
async fn serve_upgraded(mut engine: Engine, upgraded: hyper::upgrade::OnUpgrade, head: axum::http::Request<()>) {
    match upgraded.await {
        Ok(upgraded) => {
            if let Err(error) = engine.call((TokioIo::new(upgraded), head)).await {
                tracing::debug!(%error, "websocket upgrade failed");
            }
        }
        Err(error) => tracing::debug!(%error, "client disconnected during websocket upgrade"),
    }
}

/// Copies the parts of the request head that the engine needs, without references to the original buffer.
fn head(request: &Request, handshake: Arc<Handshake>) -> axum::http::Request<()> {
    let parameters = request.uri().query().unwrap_or_default().split('&');
    let parameters: Vec<&str> = parameters
        .filter(|part| ENGINE_PARAMETERS.iter().any(|name| part.starts_with(name)))
        .collect();
    let mut head = axum::http::Request::new(());
    *head.method_mut() = request.method().clone();
    // Parts of a valid query form a valid query.
    *head.uri_mut() = Uri::try_from(format!("{PATH}/?{}", parameters.join("&"))).unwrap_or(Uri::from_static(PATH));
    if let Some(kind) = request.headers().get(header::CONTENT_TYPE)
        && let Ok(kind) = header::HeaderValue::from_bytes(kind.as_bytes())
    {
        head.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    head.extensions_mut().insert(handshake);
    head
}

/// The `Sec-WebSocket-Accept` value of a WebSocket request; `None` for any other request, which the engine handles.
fn websocket_accept(request: &Request) -> Option<String> {
    let part = |name: &str| {
        let mut parts = request.uri().query().unwrap_or_default().split('&');
        parts.find_map(|part| part.strip_prefix(name))
    };
    let is_for_engine = part("EIO=") == Some("4")
        && part("transport=") == Some("websocket")
        && part("sid=").is_none_or(|sid| sid.parse::<Sid>().is_ok());
    let headers = request.headers();
    let is_upgrade = request.method() == Method::GET
        && has_token(headers, &header::CONNECTION, "upgrade")
        && has_token(headers, &header::UPGRADE, "websocket");
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    key.filter(|_| is_for_engine && is_upgrade)
        .map(|key| derive_accept_key(key.as_bytes()))
}

/// Whether the list in a header contains this token.
fn has_token(headers: &HeaderMap, name: &header::HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use domain::id::{SessionId, UserId};

    use super::*;

    fn request(query: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = axum::http::Request::get(format!("/api/socket.io/?{query}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    const ASKS: [(&str, &str); 3] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    #[test]
    fn upgrade_response_contains_accept_key() {
        let accepted = websocket_accept(&request("EIO=4&transport=websocket", &ASKS));
        assert_eq!(accepted.unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn request_without_upgrade_is_passed_to_the_engine() {
        for query in [
            "EIO=3&transport=websocket",
            "EIO=4&transport=polling",
            "EIO=4&transport=websocket&sid=x",
        ] {
            assert_eq!(websocket_accept(&request(query, &ASKS)), None, "{query}");
        }
        for missing in 0..ASKS.len() {
            let mut headers = ASKS.to_vec();
            headers.remove(missing);
            assert_eq!(
                websocket_accept(&request("EIO=4&transport=websocket", &headers)),
                None,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn engine_gets_only_headers_and_query_it_reads() {
        let handshake = Arc::new(Handshake {
            user: UserId::new("ben"),
            session: SessionId::new("s"),
            token: "t".to_owned(),
            host: None,
            abort_handle: None,
        });
        let came = request(
            "EIO=4&t=P1&transport=polling&sid=abc&x=y",
            &[("cookie", "c"), ("content-type", "text/plain")],
        );
        let head = head(&came, handshake);
        assert_eq!(head.uri(), "/api/socket.io/?EIO=4&transport=polling&sid=abc");
        assert_eq!(head.headers().len(), 1);
        assert_eq!(head.headers()["content-type"], "text/plain");
    }
}
