//! The HTTP server: accepts connections until shutdown begins, keeps accepting while it drains so that a proxy can
//! switch to other instances, and finally waits for requests in flight. It uses hyper directly for what axum does not
//! offer: limits for connections, request heads and client pauses, and streams that can be aborted. At shutdown a request
//! that has arrived but was not read yet is served, which the graceful shutdown of hyper-util does not offer.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use domain::network::{self, Network};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::body_timeout::{BodyWait, OwningBody, TimedBody};
use super::context::App;
use super::tcp_stream::{Accepted, ClientStream, Phase};
use auth::host_resolver::network as counted_address;
use common::fair_queue::{FairSemaphore, LimitReached, Permit};

/// Time in which requests in flight may finish at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(25);
/// Read buffer of a connection in bytes. Larger than the maximum head, so that an oversized head gets a proper error,
/// and small enough for twenty thousand slow clients.
const READ_BUFFER: usize = 64 * 1024;
/// Time in which a connection that was just accepted may send its request once the listener is closed.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_millis(500);
/// Pause after a failed accept, for example when no file descriptors are left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// The peer address of connections through a Unix socket: they come from this machine.
const UNIX_PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A socket that accepts connections.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Unix(listener)
    }
}

impl Listener {
    /// Returns the bound address; `None` for a Unix socket.
    pub fn local_addr(&self) -> std::io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Some),
            Self::Unix(_) => Ok(None),
        }
    }

    async fn accept(&self) -> std::io::Result<(Accepted, SocketAddr)> {
        match self {
            Self::Tcp(listener) => listener
                .accept()
                .await
                .map(|(stream, peer)| (Either::Left(stream), peer)),
            Self::Unix(listener) => listener
                .accept()
                .await
                .map(|(stream, _)| (Either::Right(stream), UNIX_PEER)),
        }
    }
}

/// Serves until `stop` resolves, keeps serving while draining, and then finishes requests in flight. A signal ends the
/// drain early.
pub async fn serve(
    listener: impl Into<Listener>,
    router: Router,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let listener = listener.into();
    let acceptor = Acceptor {
        router,
        limits: ConnectionLimits::new(&app),
        stopping: CancellationToken::new(),
        connections: TaskTracker::new(),
        app,
    };
    acceptor.accept_until(&listener, stop).await;
    let app = &acceptor.app;
    let drain = app.settings().drain;
    app.drain();
    if !drain.is_zero() {
        let second_signal = StopSignals::watch()?;
        let seconds = drain.as_secs();
        tracing::info!(seconds, "draining: readiness fails, requests are still served");
        let drain_end = async {
            tokio::select! {
                () = tokio::time::sleep(drain) => {}
                () = second_signal.received() => {}
            }
        };
        acceptor.accept_until(&listener, drain_end).await;
    }
    acceptor.accept_backlog(listener)?;
    acceptor.close().await;
    Ok(())
}

/// The accepted connections, and what serves them.
struct Acceptor {
    router: Router,
    app: App,
    limits: ConnectionLimits,
    stopping: CancellationToken,
    connections: TaskTracker,
}

impl Acceptor {
    async fn accept_until(&self, listener: &Listener, end: impl Future<Output = ()>) {
        tokio::pin!(end);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut end => return,
            };
            match accepted {
                Ok((stream, peer)) => self.accept(stream, peer),
                Err(error) => {
                    // The client disconnected before it was accepted, or no descriptors are left. Neither ends the
                    // service.
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    fn accept(&self, stream: Accepted, peer: SocketAddr) {
        if let Some(permit) = self.limits.acquire(peer.ip()) {
            let (router, app, stopping) = (self.router.clone(), self.app.clone(), self.stopping.clone());
            self.connections
                .spawn(serve_connection(stream, peer, router, app, stopping, permit));
        }
    }

    /// Accepts the connections in the backlog: the kernel has established them already, so closing the listener would
    /// reset them.
    fn accept_backlog(&self, listener: Listener) -> std::io::Result<()> {
        match listener {
            Listener::Tcp(listener) => {
                let listener = listener.into_std()?;
                while let Ok((stream, peer)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    self.accept(Either::Left(TcpStream::from_std(stream)?), peer);
                }
            }
            Listener::Unix(listener) => {
                let listener = listener.into_std()?;
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    self.accept(Either::Right(UnixStream::from_std(stream)?), UNIX_PEER);
                }
            }
        }
        Ok(())
    }

    /// Waits for requests in flight.
    async fn close(self) {
        tracing::info!("shutting down: listener closed, waiting for requests in flight");
        self.stopping.cancel();
        self.connections.close();
        let finished = tokio::time::timeout(SHUTDOWN_TIMEOUT, async {
            tokio::join!(
                self.app.realtime().close(),
                self.app.jobs().close(),
                self.connections.wait()
            );
        });
        if finished.await.is_err() {
            tracing::warn!(
                left = self.connections.len(),
                "shutdown timeout: requests in flight were dropped"
            );
        }
    }
}

async fn serve_connection(
    stream: Accepted,
    peer: SocketAddr,
    router: Router,
    app: App,
    stopping: CancellationToken,
    _permit: Permit<IpAddr>,
) {
    let phase = Phase::default();
    let (stream, abort_handle) = match ClientStream::new(stream, phase.clone()) {
        Ok(ready) => ready,
        Err(error) => return tracing::debug!(%error, "connection setup failed"),
    };
    let (begun, arriving) = (phase.clone(), phase.clone());
    let service = router
        .map_request(move |mut request: hyper::Request<hyper::body::Incoming>| -> Request {
            begun.begin();
            let body_wait = BodyWait::default();
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(abort_handle.clone());
            request.extensions_mut().insert(body_wait.clone());
            request.map(|body| Body::new(TimedBody::new(Body::new(body), body_wait)))
        })
        .map_response(move |mut response: Response| {
            // A WebSocket has limits of its own and no next request.
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                phase.upgrade();
                return response;
            }
            if app.is_draining() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            response.map(|body| OwningBody::wrap(body, phase.begin_response()))
        });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    tokio::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stopping.cancelled() => {
            // hyper closes a connection from which it has read nothing, although a request may have arrived. Such a
            // request is served first.
            let timeout = if arriving.is_awaiting_head() { FIRST_REQUEST_TIMEOUT } else { Duration::ZERO };
            if let Ok(outcome) = tokio::time::timeout(timeout, connection.as_mut()).await {
                outcome
            } else {
                connection.as_mut().graceful_shutdown();
                connection.as_mut().await
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection closed with error");
    }
}

/// Limits connections in total and per address.
#[derive(Clone)]
struct ConnectionLimits {
    connections: FairSemaphore<IpAddr>,
    connections_max: usize,
    proxies: Vec<Network>,
}

impl ConnectionLimits {
    fn new(app: &App) -> Self {
        let settings = app.settings();
        Self {
            connections: FairSemaphore::new(settings.connections_max, settings.connections_per_address),
            connections_max: settings.connections_max,
            proxies: settings.trusted_proxies.clone(),
        }
    }

    /// Counts a connection unless a limit is reached. The limit per address does not apply to trusted proxies.
    fn acquire(&self, peer: IpAddr) -> Option<Permit<IpAddr>> {
        let address = counted_address(peer);
        let permit = if network::contains(&self.proxies, peer) {
            self.connections.try_acquire_unlimited(address)
        } else {
            self.connections.try_acquire(address)
        };
        match permit {
            Ok(permit) => return Some(permit),
            Err(LimitReached::Total) => tracing::warn!(
                connections_max = self.connections_max,
                "connection rejected: too many connections"
            ),
            Err(LimitReached::Key) => {
                tracing::debug!(%address, "connection rejected: too many connections from this address");
            }
        }
        None
    }
}

/// The signals that stop the process: SIGTERM, SIGINT (Ctrl-C), and SIGHUP when the terminal is closed. Settings are
/// not reloaded, so SIGHUP has no other meaning.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` if the process was started with SIGHUP ignored (`nohup`).
    hang_up: Option<Signal>,
}

impl StopSignals {
    /// Installs the signal handlers. A signal that arrives from now on is kept until [`Self::received`] is awaited;
    /// before, it kills the process. So this must run before the service is announced as started.
    pub fn watch() -> std::io::Result<Self> {
        // Installing a handler would stop ignoring the signal.
        let hang_up = if is_hang_up_ignored() {
            None
        } else {
            Some(signal(SignalKind::hangup())?)
        };
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up,
        })
    }

    /// Resolves when a stop signal was received.
    pub async fn received(mut self) {
        let hung_up = async {
            match &mut self.hang_up {
                Some(hang_up) => drop(hang_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hung_up => {}
        }
    }
}

/// Whether SIGHUP was ignored when the process was started. Cached, because installing a handler changes it.
fn is_hang_up_ignored() -> bool {
    static IS_IGNORED: OnceLock<bool> = OnceLock::new();
    *IS_IGNORED.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|stream| stream.strip_prefix("SigIgn:"));
        // Signal 1 is the lowest bit.
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask & 1 == 1)
    })
}
