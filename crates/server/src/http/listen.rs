//! Accepts connections and serves them until told to stop; then lets requests in flight finish. It stands below axum for
//! what axum does not offer: a limit for the head of a request, and wires that can be cut.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::context::App;
use super::line::Line;

/// How long requests in flight may take once the service was told to stop (contract 9).
const GRACE: Duration = Duration::from_secs(25);
/// How long a client may take to send the head of a request.
const HEADER: Duration = Duration::from_secs(10);
/// How long to wait when the system has no more descriptors.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// Serves until `stop` resolves, then drains.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let stopping = CancellationToken::new();
    let connections = TaskTracker::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                connections.spawn(serve_connection(stream, peer, router.clone(), stopping.clone()));
            }
            Err(error) => {
                // A client that went before it was accepted, or no descriptors left; neither ends the service.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    tracing::info!("stopping: new connections are refused, requests in flight finish");
    stopping.cancel();
    connections.close();
    let drained = tokio::time::timeout(GRACE, async {
        tokio::join!(app.live().close(), app.jobs().close(), connections.wait());
    });
    if drained.await.is_err() {
        tracing::warn!(left = connections.len(), "some requests did not finish in time");
    }
    Ok(())
}

async fn serve_connection(stream: TcpStream, peer: SocketAddr, router: Router, stopping: CancellationToken) {
    let (line, cut) = match Line::new(stream) {
        Ok(ready) => ready,
        Err(error) => return tracing::debug!(%error, "a connection went at once"),
    };
    let service = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| -> Request {
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(cut.clone());
        request.map(Body::new)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER)
        .serve_connection(TokioIo::new(line), TowerToHyperService::new(service))
        .with_upgrades();
    tokio::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Resolves when the process is asked to stop (SIGTERM, or Ctrl-C at a terminal).
pub async fn stop_signal() {
    let mut terminate = match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(signal) => signal,
        Err(error) => {
            tracing::error!(%error, "SIGTERM cannot be watched");
            return std::future::pending().await;
        }
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
