//! The real service on port 0, its files in a temporary folder, its database fresh.

use std::sync::atomic::{AtomicBool, Ordering};

use api::app::App;
use api::{listen, router};
use clap::Parser;
use db::Database;
use db::connection::Connection;
use groupwork::bootstrap::build_app;
use groupwork::config::{Config, ServeArgs, StorageArgs};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{Client, Kind, Person, World, database, overdue};

pub const AUTH_SECRET: &str = "auth-secret-for-tests-0123456789abcdef";
pub const DOCSERVER_SECRET: &str = "docserver-secret-for-tests-0123456789ab";
pub const FRONTEND: &str = "http://school.test";

#[derive(Parser)]
#[command(args_override_self = true)]
struct Settings {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub struct TestApp {
    pub app: App,
    pub base: String,
    pub database: Database,
    pub world: World,
    folder: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    closed: AtomicBool,
}

impl TestApp {
    /// Starts the service with the people of two schools; nothing when there is no PostgreSQL server to start on.
    pub async fn start(kind: Kind) -> Option<Self> {
        Self::start_with(kind, &[]).await
    }

    /// The same with further settings (`--flag=value`).
    pub async fn start_with(kind: Kind, flags: &[&str]) -> Option<Self> {
        overdue::watch();
        let folder = tempfile::tempdir().unwrap();
        let database = match kind {
            Kind::Sqlite => Database::Sqlite(folder.path().join("groupwork.db")),
            Kind::Postgres => database::postgres()?,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let config = Self::config(&database, folder.path(), flags);
        let app = build_app(config, &base).await.unwrap();
        let world = World::create(app.store(), &database).await;
        let (stop, stopped) = oneshot::channel::<()>();
        let router = router::router(app.clone());
        let serving = tokio::spawn(listen::serve(listener, router, app.clone(), async {
            drop(stopped.await);
        }));
        let (stop, serving, closed) = (Some(stop), Some(serving), AtomicBool::new(false));
        Some(Self {
            app,
            base,
            database,
            world,
            folder,
            stop,
            serving,
            closed,
        })
    }

    /// The settings every test starts with.
    pub fn config(database: &Database, folder: &std::path::Path, flags: &[&str]) -> Config {
        let mut arguments = vec![
            "groupwork".to_owned(),
            format!("--data-dir={}", folder.display()),
            format!("--frontend-url={FRONTEND}"),
            format!("--auth-secret={AUTH_SECRET}"),
            format!("--docserver-jwt-secret={DOCSERVER_SECRET}"),
            "--rate-limit-factor=0".to_owned(),
            // Editors without a page report nothing; tests with a page wait as long as the service does.
            "--docserver-flush-milliseconds=50".to_owned(),
            // What the machine has left is no business of a test.
            "--upload-free-disk-mb=0".to_owned(),
            "--base-domain=schools.test".to_owned(),
            format!("--dns-server={}", super::name_server::address()),
        ];
        if let Database::Postgres(url) = database {
            arguments.extend([format!("--database-url={url}"), "--database-connections=3,3".to_owned()]);
        }
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let settings = Settings::parse_from(arguments);
        Config::check(settings.serve, settings.storage).unwrap()
    }

    /// A client with this person's session in his school.
    pub fn as_(&self, person: &Person) -> Client {
        Client::new(&self.base, Some(person.cookie.clone()))
    }

    /// A client without a session.
    pub fn stranger(&self) -> Client {
        Client::new(&self.base, None)
    }

    /// Where the service keeps its files.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Does something with a connection of its own, past the service.
    pub async fn raw<T: Send + 'static>(&self, act: impl FnOnce(&mut Connection) -> T + Send + 'static) -> T {
        let database = self.database.clone();
        tokio::task::spawn_blocking(move || {
            let mut connection = match &database {
                Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
                Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
            };
            act(&mut connection)
        })
        .await
        .unwrap()
    }

    /// Stops the service and drops its database.
    pub async fn close(mut self) {
        self.closed.store(true, Ordering::Relaxed);
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap().unwrap();
        }
        let database = self.database.clone();
        tokio::task::spawn_blocking(move || super::invariants::check(&database))
            .await
            .unwrap();
        database::drop_postgres(&self.database);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let closed = self.closed.load(Ordering::Relaxed);
        assert!(
            closed || std::thread::panicking(),
            "close the TestApp: its invariants were not checked"
        );
    }
}
