//! Between HTTP and the engine. The engine keeps the head of the request that opened a socket for as long as the socket
//! lives, and what a head is made of points into the buffer it was read into: eight kilobytes for each idle socket. So it
//! gets a head of its own, with nothing but what it reads. An upgrade is answered here for the same reason: the engine
//! takes the wire alone, and nothing of HTTP stays behind it.

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
use super::seat::Ticket;

/// The Socket.IO library, which answers polls and keeps sockets.
pub type Engine = SocketIoService<Nothing>;

/// What is behind the engine: it is asked for its own path alone, so nothing ever comes here.
#[derive(Clone)]
pub struct Nothing;

impl Service<axum::http::Request<Body>> for Nothing {
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

/// What the engine reads of a query.
const READ: [&str; 3] = ["EIO=", "transport=", "sid="];

/// Answers a request of somebody who was let in.
pub async fn answer(mut engine: Engine, mut request: Request, ticket: Arc<Ticket>) -> Response {
    let head = head(&request, ticket);
    if let Some(accept) = accepts(&request) {
        let wire = hyper::upgrade::on(&mut request);
        tokio::spawn(take_over(engine, wire, head));
        let said = [
            (header::CONNECTION, "Upgrade"),
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_ACCEPT, accept.as_str()),
        ];
        return (StatusCode::SWITCHING_PROTOCOLS, said).into_response();
    }
    let request = head.map(|()| request.into_body());
    let answered: Result<_, Infallible> = engine.call(request).await;
    match answered {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// Gives the engine the wire once the answer is on it.
async fn take_over(mut engine: Engine, wire: hyper::upgrade::OnUpgrade, head: axum::http::Request<()>) {
    match wire.await {
        Ok(wire) => {
            if let Err(error) = engine.call((TokioIo::new(wire), head)).await {
                tracing::debug!(%error, "a socket was not taken over");
            }
        }
        Err(error) => tracing::debug!(%error, "a client went before its socket was open"),
    }
}

/// The head of a request as the engine needs it; nothing of it points into the one that came.
fn head(request: &Request, ticket: Arc<Ticket>) -> axum::http::Request<()> {
    let read = request.uri().query().unwrap_or_default().split('&');
    let read: Vec<&str> = read
        .filter(|part| READ.iter().any(|name| part.starts_with(name)))
        .collect();
    let mut head = axum::http::Request::new(());
    *head.method_mut() = request.method().clone();
    // Parts of a query that was read before can be read again.
    *head.uri_mut() = Uri::try_from(format!("{PATH}/?{}", read.join("&"))).unwrap_or(Uri::from_static(PATH));
    if let Some(kind) = request.headers().get(header::CONTENT_TYPE)
        && let Ok(kind) = header::HeaderValue::from_bytes(kind.as_bytes())
    {
        head.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    head.extensions_mut().insert(ticket);
    head
}

/// What a request for a WebSocket is answered with; nothing for any other, with which the engine knows what to do.
fn accepts(request: &Request) -> Option<String> {
    let part = |name: &str| {
        let mut parts = request.uri().query().unwrap_or_default().split('&');
        parts.find_map(|part| part.strip_prefix(name))
    };
    let is_for_engine = part("EIO=") == Some("4")
        && part("transport=") == Some("websocket")
        && part("sid=").is_none_or(|sid| sid.parse::<Sid>().is_ok());
    let headers = request.headers();
    let asks = request.method() == Method::GET
        && says(headers, &header::CONNECTION, "upgrade")
        && says(headers, &header::UPGRADE, "websocket");
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    key.filter(|_| is_for_engine && asks)
        .map(|key| derive_accept_key(key.as_bytes()))
}

/// Whether a header has this word in its list.
fn says(headers: &HeaderMap, name: &header::HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|said| said.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use model::id::{SessionId, UserId};

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
    fn an_upgrade_is_accepted_with_the_answer_to_its_key() {
        let accepted = accepts(&request("EIO=4&transport=websocket", &ASKS));
        assert_eq!(accepted.unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn what_is_no_upgrade_is_left_to_the_engine() {
        for query in [
            "EIO=3&transport=websocket",
            "EIO=4&transport=polling",
            "EIO=4&transport=websocket&sid=x",
        ] {
            assert_eq!(accepts(&request(query, &ASKS)), None, "{query}");
        }
        for missing in 0..ASKS.len() {
            let mut headers = ASKS.to_vec();
            headers.remove(missing);
            assert_eq!(
                accepts(&request("EIO=4&transport=websocket", &headers)),
                None,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn the_engine_keeps_no_header_and_no_part_of_the_query_it_does_not_read() {
        let ticket = Arc::new(Ticket {
            user: UserId::new("ben"),
            session: SessionId::new("s"),
            token: "t".to_owned(),
            host: None,
            cut: None,
        });
        let came = request(
            "EIO=4&t=P1&transport=polling&sid=abc&x=y",
            &[("cookie", "c"), ("content-type", "text/plain")],
        );
        let head = head(&came, ticket);
        assert_eq!(head.uri(), "/api/socket.io/?EIO=4&transport=polling&sid=abc");
        assert_eq!(head.headers().len(), 1);
        assert_eq!(head.headers()["content-type"], "text/plain");
    }
}
