//! Accepts connections and serves them until told to stop; then lets requests in flight finish.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use super::context::App;

/// How long requests in flight may take once the service was told to stop (contract 9).
const GRACE: Duration = Duration::from_secs(25);

/// Serves until `stop` resolves, then drains.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let (stopping, mut stopped) = tokio::sync::watch::channel(false);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let graceful = async move {
        stop.await;
        tracing::info!("stopping: new connections are refused, requests in flight finish");
        app.live().close().await;
        let _ = stopping.send(true);
    };
    let serving = axum::serve(listener, service).with_graceful_shutdown(graceful);
    tokio::select! {
        outcome = serving.into_future() => outcome,
        () = async {
            let _ = stopped.wait_for(|stopped| *stopped).await;
            tokio::time::sleep(GRACE).await;
        } => Ok(()),
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
