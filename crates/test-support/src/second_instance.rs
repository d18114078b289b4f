//! A second service on the same database: a further instance, or the same instance after a restart.

use api::{router, server};
use groupwork::bootstrap::build_app;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::TestApp;
use super::app::until_listening;

pub struct SecondInstance {
    pub base: String,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl SecondInstance {
    /// Starts a further instance with additional settings. It shares only the database with the first one.
    pub async fn start(first: &TestApp, flags: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let config = TestApp::config(&first.database, first.folder(), flags);
        let app = build_app(config, &base).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = router::router(app.clone());
        let serving = tokio::spawn(server::serve(listener, router, app.clone(), async {
            drop(stopped.await);
        }));
        until_listening(&app).await;
        Self { base, stop, serving }
    }

    pub async fn close(self) {
        drop(self.stop);
        self.serving.await.unwrap().unwrap();
    }
}
