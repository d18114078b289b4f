//! The HTTP server: accepts connections until shutdown begins, keeps accepting while it drains so that a proxy can
//! switch to other instances, and finally waits for requests in flight. It uses hyper directly for what axum does not
//! offer: limits for connections, request heads and client pauses, and streams that can be aborted.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::body_timeout::{BodyWait, OwningBody, TimedBody};
use super::context::App;
use super::tcp_stream::{ClientStream, Phase};
use auth::host_resolver::network as counted_address;

/// Time in which requests in flight may finish at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(25);
/// Read buffer of a connection in bytes. Larger than the maximum head, so that an oversized head gets a proper error,
/// and small enough for twenty thousand slow clients.
const READ_BUFFER: usize = 64 * 1024;
/// Time in which a connection that was just accepted may send its request once the listener is closed.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_millis(500);
/// Pause after a failed accept, for example when no file descriptors are left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Serves until `stop` resolves, keeps serving while draining, and then finishes requests in flight. A signal ends the
/// drain early.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
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
    async fn accept_until(&self, listener: &TcpListener, end: impl Future<Output = ()>) {
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

    fn accept(&self, stream: TcpStream, peer: SocketAddr) {
        if let Some(permit) = self.limits.acquire(peer.ip()) {
            let (router, app, stopping) = (self.router.clone(), self.app.clone(), self.stopping.clone());
            self.connections
                .spawn(serve_connection(stream, peer, router, app, stopping, permit));
        }
    }

    /// Accepts the connections in the backlog: the kernel has established them already, so closing the listener would
    /// reset them.
    fn accept_backlog(&self, listener: TcpListener) -> std::io::Result<()> {
        let listener = listener.into_std()?;
        while let Ok((stream, peer)) = listener.accept() {
            stream.set_nonblocking(true)?;
            self.accept(TcpStream::from_std(stream)?, peer);
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
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    app: App,
    stopping: CancellationToken,
    _permit: ConnectionPermit,
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

/// Counts connections in total and per address.
#[derive(Clone)]
struct ConnectionLimits(Arc<ConnectionCounts>);

struct ConnectionCounts {
    connections_max: usize,
    connections_per_address: usize,
    proxies: Vec<Network>,
    open: Mutex<(usize, HashMap<IpAddr, usize>)>,
}

/// A counted connection; released on drop.
struct ConnectionPermit {
    limits: ConnectionLimits,
    address: IpAddr,
}

impl ConnectionLimits {
    fn new(app: &App) -> Self {
        let config = app.settings();
        Self(Arc::new(ConnectionCounts {
            connections_max: config.connections_max,
            connections_per_address: config.connections_per_address,
            proxies: config.trusted_proxies.clone(),
            open: Mutex::default(),
        }))
    }

    /// Counts a connection unless a limit is reached. The limit per address does not apply to trusted proxies.
    fn acquire(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        let address = counted_address(peer);
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.0 >= self.0.connections_max {
            tracing::warn!(
                connections_max = self.0.connections_max,
                "connection rejected: too many connections"
            );
            return None;
        }
        let from_address = open.1.get(&address).copied().unwrap_or_default();
        if from_address >= self.0.connections_per_address && !network::contains(&self.0.proxies, peer) {
            tracing::debug!(%address, "connection rejected: too many connections from this address");
            return None;
        }
        open.0 += 1;
        open.1.insert(address, from_address + 1);
        Some(ConnectionPermit {
            limits: self.clone(),
            address,
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.limits.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.0 -= 1;
        let left = open.1.get_mut(&self.address).map(|from_address| {
            *from_address -= 1;
            *from_address
        });
        if left == Some(0) {
            open.1.remove(&self.address);
        }
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
