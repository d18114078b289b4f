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
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use model::network::{self, Network};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::context::App;
use super::line::{Line, Phase};
use super::pace::{Holding, Paced, Waiting};
use auth::host_resolver::network as counted_address;

/// Time in which requests in flight may finish at shutdown.
const GRACE: Duration = Duration::from_secs(25);
/// Read buffer of a connection in bytes. Larger than the maximum head, so that an oversized head gets a proper error,
/// and small enough for twenty thousand slow clients.
const READ_AHEAD: usize = 64 * 1024;
/// Time in which a connection that was just accepted may send its request once the listener is closed.
const ARRIVING: Duration = Duration::from_millis(500);
/// Pause after a failed accept, for example when no file descriptors are left.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// Serves until `stop` resolves, keeps serving while draining, and then finishes requests in flight. A signal ends the
/// drain early.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let door = Door {
        router,
        crowd: Crowd::new(&app),
        stopping: CancellationToken::new(),
        connections: TaskTracker::new(),
        app,
    };
    door.accept_until(&listener, stop).await;
    let app = &door.app;
    let drain = app.settings().drain;
    app.drain();
    if !drain.is_zero() {
        let again = StopSignals::watch()?;
        let seconds = drain.as_secs();
        tracing::info!(seconds, "draining: readiness fails, requests are still served");
        let impatience = async {
            tokio::select! {
                () = tokio::time::sleep(drain) => {}
                () = again.received() => {}
            }
        };
        door.accept_until(&listener, impatience).await;
    }
    door.let_in_who_waits(listener)?;
    door.close().await;
    Ok(())
}

/// The accepted connections, and what serves them.
struct Door {
    router: Router,
    app: App,
    crowd: Crowd,
    stopping: CancellationToken,
    connections: TaskTracker,
}

impl Door {
    async fn accept_until(&self, listener: &TcpListener, end: impl Future<Output = ()>) {
        tokio::pin!(end);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut end => return,
            };
            match accepted {
                Ok((stream, peer)) => self.let_in(stream, peer),
                Err(error) => {
                    // The client disconnected before it was accepted, or no descriptors are left. Neither ends the
                    // service.
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
    }

    fn let_in(&self, stream: TcpStream, peer: SocketAddr) {
        if let Some(place) = self.crowd.admit(peer.ip()) {
            let (router, app, stopping) = (self.router.clone(), self.app.clone(), self.stopping.clone());
            self.connections
                .spawn(serve_connection(stream, peer, router, app, stopping, place));
        }
    }

    /// Accepts the connections in the backlog: the kernel has established them already, so closing the listener would
    /// reset them.
    fn let_in_who_waits(&self, listener: TcpListener) -> std::io::Result<()> {
        let listener = listener.into_std()?;
        while let Ok((stream, peer)) = listener.accept() {
            stream.set_nonblocking(true)?;
            self.let_in(TcpStream::from_std(stream)?, peer);
        }
        Ok(())
    }

    /// Waits for requests in flight.
    async fn close(self) {
        tracing::info!("shutting down: listener closed, waiting for requests in flight");
        self.stopping.cancel();
        self.connections.close();
        let finished = tokio::time::timeout(GRACE, async {
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
    _place: Place,
) {
    let phase = Phase::default();
    let (line, abort_handle) = match Line::new(stream, phase.clone()) {
        Ok(ready) => ready,
        Err(error) => return tracing::debug!(%error, "connection setup failed"),
    };
    let (begun, arriving) = (phase.clone(), phase.clone());
    let service = router
        .map_request(move |mut request: hyper::Request<hyper::body::Incoming>| -> Request {
            begun.begin();
            let waiting = Waiting::default();
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(abort_handle.clone());
            request.extensions_mut().insert(waiting.clone());
            request.map(|body| Body::new(Paced::new(Body::new(body), waiting)))
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
            response.map(|body| Holding::keep(body, phase.answering()))
        });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(READ_AHEAD)
        .serve_connection(TokioIo::new(line), TowerToHyperService::new(service))
        .with_upgrades();
    tokio::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stopping.cancelled() => {
            // hyper closes a connection from which it has read nothing, although a request may have arrived. Such a
            // request is served first.
            let patience = if arriving.awaits_head() { ARRIVING } else { Duration::ZERO };
            if let Ok(outcome) = tokio::time::timeout(patience, connection.as_mut()).await {
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
struct Crowd(Arc<Places>);

struct Places {
    most: usize,
    most_of_one: usize,
    proxies: Vec<Network>,
    taken: Mutex<(usize, HashMap<IpAddr, usize>)>,
}

/// A counted connection; released on drop.
struct Place {
    crowd: Crowd,
    address: IpAddr,
}

impl Crowd {
    fn new(app: &App) -> Self {
        let config = app.settings();
        Self(Arc::new(Places {
            most: config.connections_max,
            most_of_one: config.connections_per_address,
            proxies: config.trusted_proxies.clone(),
            taken: Mutex::default(),
        }))
    }

    /// Counts a connection unless a limit is reached. The limit per address does not apply to trusted proxies.
    fn admit(&self, peer: IpAddr) -> Option<Place> {
        let address = counted_address(peer);
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.0 >= self.0.most {
            tracing::warn!(most = self.0.most, "connection rejected: too many connections");
            return None;
        }
        let of_one = taken.1.get(&address).copied().unwrap_or_default();
        if of_one >= self.0.most_of_one && !network::contains(&self.0.proxies, peer) {
            tracing::debug!(%address, "connection rejected: too many connections from this address");
            return None;
        }
        taken.0 += 1;
        taken.1.insert(address, of_one + 1);
        Some(Place {
            crowd: self.clone(),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.crowd.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.0 -= 1;
        let left = taken.1.get_mut(&self.address).map(|of_one| {
            *of_one -= 1;
            *of_one
        });
        if left == Some(0) {
            taken.1.remove(&self.address);
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
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        // Signal 1 is the lowest bit.
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask & 1 == 1)
    })
}
