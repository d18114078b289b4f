//! Adapter between HTTP and the Engine.IO service. The engine keeps the head of the request that opened a socket for
//! the lifetime of the socket, and that head references its read buffer: eight kilobytes per idle socket. It therefore
//! receives a minimal copy. Upgrades are responded to here for the same reason: the engine gets only the upgraded
//! stream, and nothing of the HTTP connection is kept.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::TokioIo;
use socketioxide::service::SocketIoService;
use socketioxide::socket::Sid;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower::Service;
use tungstenite::handshake::derive_accept_key;

use super::connect::PATH;
use super::connection::Handshake;

/// The Socket.IO service, which serves polls and sockets.
#[derive(Clone)]
pub struct Engine {
    service: SocketIoService<NoInnerService>,
    starting: StartingUpgrades,
}

impl Engine {
    pub fn new(service: SocketIoService<NoInnerService>) -> Self {
        Self {
            service,
            starting: StartingUpgrades::default(),
        }
    }
}

/// The sessions whose upgrade was passed to the engine and has not begun there.
///
/// A poll of the engine first checks whether an upgrade has begun, then takes the lock of the packets. If an upgrade
/// takes it in between, the engine responds with 400 as to two concurrent polls, and ends the session. A poll therefore
/// does both while no upgrade can start, and a poll during the start gets the response of a session that is upgraded.
#[derive(Clone, Default)]
struct StartingUpgrades(Arc<RwLock<HashSet<Sid>>>);

impl StartingUpgrades {
    fn start(&self, session: Sid) -> StartingUpgrade {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(session);
        StartingUpgrade {
            starting: self.clone(),
            session,
        }
    }

    /// The response of a poll; `None` if an upgrade of its session starts.
    async fn respond_to_poll<R>(&self, session: Sid, response: impl Future<Output = R>) -> Option<R> {
        let mut response = pin!(response);
        let mut is_first = true;
        poll_fn(|context| {
            if !std::mem::take(&mut is_first) {
                return response.as_mut().poll(context).map(Some);
            }
            let starting = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if starting.contains(&session) {
                Poll::Ready(None)
            } else {
                response.as_mut().poll(context).map(Some)
            }
        })
        .await
    }
}

/// Removes the session from [`StartingUpgrades`] when it is dropped.
struct StartingUpgrade {
    starting: StartingUpgrades,
    session: Sid,
}

impl Drop for StartingUpgrade {
    fn drop(&mut self) {
        let sessions = self.starting.0.write();
        sessions.unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}

/// An upgraded stream. The engine reads it only after the upgrade has begun.
struct UpgradedStream<S> {
    stream: S,
    starting: Option<StartingUpgrade>,
}

impl<S: AsyncRead + Unpin> AsyncRead for UpgradedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.starting = None;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for UpgradedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

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

/// The packet with which the engine responds to a poll of a session that is upgraded.
const NOOP: &str = "6";
/// The query parameters that the engine reads.
const ENGINE_PARAMETERS: [&str; 3] = ["EIO=", "transport=", "sid="];

/// Serves an authenticated request.
pub async fn handle(mut engine: Engine, mut request: Request, handshake: Arc<Handshake>) -> Response {
    let head = head(&request, handshake);
    let session = parameter(&request, "sid=").and_then(|sid| sid.parse().ok());
    if let Some(accept) = websocket_accept(&request) {
        let upgraded = hyper::upgrade::on(&mut request);
        tokio::spawn(serve_upgraded(engine, upgraded, head, session));
        let headers = [
            (header::CONNECTION, "Upgrade"),
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_ACCEPT, accept.as_str()),
        ];
        return (StatusCode::SWITCHING_PROTOCOLS, headers).into_response();
    }
    let polled_session = session.filter(|_| request.method() == Method::GET);
    let response = engine.service.call(head.map(|()| request.into_body()));
    let result: Result<_, Infallible> = match polled_session {
        None => response.await,
        Some(session) => match engine.starting.respond_to_poll(session, response).await {
            Some(result) => result,
            None => return ([(header::CONTENT_TYPE, "text/plain; charset=UTF-8")], NOOP).into_response(),
        },
    };
    match result {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// Passes the upgraded stream to the engine once the response was sent.
async fn serve_upgraded(
    mut engine: Engine,
    upgraded: hyper::upgrade::OnUpgrade,
    head: axum::http::Request<()>,
    session: Option<Sid>,
) {
    match upgraded.await {
        Ok(upgraded) => {
            let stream = UpgradedStream {
                stream: TokioIo::new(upgraded),
                starting: session.map(|session| engine.starting.start(session)),
            };
            if let Err(error) = engine.service.call((stream, head)).await {
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

/// The value of a query parameter, whose name ends with `=`.
fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let mut parts = request.uri().query().unwrap_or_default().split('&');
    parts.find_map(|part| part.strip_prefix(name))
}

/// The `Sec-WebSocket-Accept` value of a WebSocket request; `None` for any other request, which the engine handles.
fn websocket_accept(request: &Request) -> Option<String> {
    let is_for_engine = parameter(request, "EIO=") == Some("4")
        && parameter(request, "transport=") == Some("websocket")
        && parameter(request, "sid=").is_none_or(|sid| sid.parse::<Sid>().is_ok());
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

    #[tokio::test]
    async fn poll_during_start_of_upgrade_does_not_reach_the_engine() {
        let (starting, session) = (StartingUpgrades::default(), Sid::ZERO);
        let poll = || starting.respond_to_poll(session, async { "packets" });
        assert_eq!(poll().await, Some("packets"));
        let (stream, mut client) = tokio::io::duplex(8);
        let mut upgraded = UpgradedStream {
            stream,
            starting: Some(starting.start(session)),
        };
        assert_eq!(poll().await, None);
        let other = "AAAAAAAAAAAAAAAB".parse().unwrap();
        assert_eq!(
            starting.respond_to_poll(other, async { "packets" }).await,
            Some("packets")
        );
        // The engine has begun the upgrade when it reads, or has rejected it when it drops the stream.
        client.write_all(b"x").await.unwrap();
        upgraded.read_u8().await.unwrap();
        assert_eq!(poll().await, Some("packets"));
        let rejected = starting.start(session);
        assert_eq!(poll().await, None);
        drop(rejected);
        assert_eq!(poll().await, Some("packets"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn upgrade_starts_after_the_first_step_of_a_poll() {
        let (starting, session) = (StartingUpgrades::default(), Sid::ZERO);
        let mut upgrade = None;
        let mut step = 0;
        let response = poll_fn(|context| {
            step += 1;
            if step == 1 {
                let starting = starting.clone();
                upgrade = Some(std::thread::spawn(move || drop(starting.start(session))));
                // An upgrade that did not wait would have time to start.
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(!upgrade.as_ref().unwrap().is_finished());
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            upgrade.take().unwrap().join().unwrap();
            Poll::Ready(step)
        });
        assert_eq!(starting.respond_to_poll(session, response).await, Some(2));
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
