//! The real service on a free port, with its files in a temporary folder and a fresh database.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use api::app::App;
use api::{router, server};
use clap::Parser;
use db::Database;
use db::connection::Connection;
use groupwork::bootstrap::build_app;
use groupwork::config::{Config, ServeArgs, StorageArgs};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{Client, DatabaseKind, TestUser, World, database, hang_watchdog, invariants, scratch};

pub const AUTH_SECRET: &str = "auth-secret-for-tests-0123456789abcdef";
pub const DOCSERVER_SECRET: &str = "docserver-secret-for-tests-0123456789ab";
pub const FRONTEND: &str = "http://school.test";

#[derive(Parser)]
#[command(args_override_self = true)]
struct TestSettings {
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
    folder: PathBuf,
    /// Stopped and removed together with this value; `None` if tests share the service.
    own: Option<Service>,
    is_closed: AtomicBool,
}

/// A running service and its data folder.
struct Service {
    app: App,
    base: String,
    database: Database,
    folder: PathBuf,
    /// Removes the folder on drop; `None` if the service is shared.
    _scratch: Option<tempfile::TempDir>,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Service {
    async fn start(database: Database, folder: PathBuf, scratch: Option<tempfile::TempDir>, flags: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let config = TestApp::config(&database, &folder, flags);
        let app = build_app(config, &base).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = router::router(app.clone());
        let serving = tokio::spawn(server::serve(listener, router, app.clone(), async {
            drop(stopped.await);
        }));
        until_listening(&app).await;
        Self {
            app,
            base,
            database,
            folder,
            _scratch: scratch,
            stop,
            serving,
        }
    }

    /// Returns the service that all tests of this process share on a database. It runs in a separate runtime and stops
    /// when the process exits.
    fn shared(kind: DatabaseKind) -> Option<&'static Self> {
        static SERVICES: [OnceLock<Option<Service>>; 2] = [const { OnceLock::new() }; 2];
        let start = move || {
            let folder = scratch::shared_folder().join(format!("{kind:?}").to_lowercase());
            std::fs::create_dir_all(&folder).unwrap();
            let database = match kind {
                DatabaseKind::Sqlite => Database::Sqlite(folder.join("groupwork.db")),
                DatabaseKind::Postgres => database::postgres()?,
            };
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            // Leaked because dropping a runtime cancels its tasks.
            let runtime: &'static tokio::runtime::Runtime = Box::leak(Box::new(runtime));
            let flags = ["--database-connections=6,6"];
            let flags = if kind == DatabaseKind::Postgres {
                &flags[..]
            } else {
                &[]
            };
            Some(runtime.block_on(Self::start(database, folder, None, flags)))
        };
        SERVICES[kind as usize]
            .get_or_init(|| std::thread::spawn(start).join().unwrap())
            .as_ref()
    }
}

impl TestApp {
    /// Starts a separate service for one test, with the users of two schools. Returns `None` if no PostgreSQL server is
    /// available.
    pub async fn start(kind: DatabaseKind) -> Option<Self> {
        Self::start_with(kind, &[]).await
    }

    /// Like `start`, with additional settings (`--flag=value`).
    pub async fn start_with(kind: DatabaseKind, flags: &[&str]) -> Option<Self> {
        hang_watchdog::watch();
        let scratch = scratch::folder();
        let folder = scratch.path().to_owned();
        let (database, world) = database::with_world(kind, &folder)?;
        let service = Service::start(database, folder, Some(scratch), flags).await;
        Some(Self {
            app: service.app.clone(),
            base: service.base.clone(),
            database: service.database.clone(),
            world,
            folder: service.folder.clone(),
            own: Some(service),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Creates two schools and their users in the service that the tests of this process share. Returns `None` if no
    /// PostgreSQL server is available.
    pub async fn shared(kind: DatabaseKind) -> Option<Self> {
        hang_watchdog::watch();
        let service = tokio::task::spawn_blocking(move || Service::shared(kind))
            .await
            .unwrap()?;
        let world = World::create_in_shared(service.app.store(), &service.database).await;
        Some(Self {
            app: service.app.clone(),
            base: service.base.clone(),
            database: service.database.clone(),
            world,
            folder: service.folder.clone(),
            own: None,
            is_closed: AtomicBool::new(false),
        })
    }

    /// Returns the default settings of every test.
    pub fn config(database: &Database, folder: &std::path::Path, flags: &[&str]) -> Config {
        let mut arguments = vec![
            "groupwork".to_owned(),
            format!("--data-dir={}", folder.display()),
            format!("--frontend-url={FRONTEND}"),
            format!("--auth-secret={AUTH_SECRET}"),
            format!("--docserver-jwt-secret={DOCSERVER_SECRET}"),
            "--rate-limit-factor=0".to_owned(),
            // The SUPER_ADMIN of most tests has no second factor.
            "--second-factor-for-platform-administrators=optional".to_owned(),
            // Editors without a page report nothing, so the flush timeout is short. Tests with a page use the default
            // of the service.
            "--docserver-flush-milliseconds=50".to_owned(),
            // The free disk space of the machine must not affect a test.
            "--upload-free-disk-mb=0".to_owned(),
            // Deletions are final unless a test is about their undo.
            "--deleted-retention-days=0".to_owned(),
            "--base-domain=schools.test".to_owned(),
            // The fake provider listens on a loopback address.
            "--sign-on-networks=127.0.0.0/8".to_owned(),
            format!("--dns-server={}", super::name_server::address()),
        ];
        if let Database::Postgres(url) = database {
            arguments.extend([format!("--database-url={url}"), "--database-connections=3,3".to_owned()]);
        }
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let settings = TestSettings::parse_from(arguments);
        Config::check(settings.serve, settings.storage).unwrap()
    }

    /// Returns a client with the session of this user, active in the user's school.
    pub fn as_(&self, person: &TestUser) -> Client {
        Client::new(&self.base, Some(person.cookie.clone()))
    }

    /// Returns a client without a session.
    pub fn stranger(&self) -> Client {
        Client::new(&self.base, None)
    }

    /// Returns the data folder of the service.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Runs a closure with a separate database connection, bypassing the service.
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

    /// Checks the invariants of this test's rows, then stops the service and drops its database unless they are shared.
    pub async fn close(mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let organizations = [self.world.north.clone(), self.world.south.clone()];
        let database = self.database.clone();
        let Some(service) = self.own.take() else {
            return run_check(move || invariants::check_of(&database, &organizations)).await;
        };
        drop(service.stop);
        service.serving.await.unwrap().unwrap();
        run_check(move || invariants::check(&database)).await;
        database::drop_postgres(&self.database);
    }
}

/// Waits until a service receives events: earlier ones are replaced by `sync:required`, which tests of events do not expect.
pub(super) async fn until_listening(app: &App) {
    super::until("the service receives events", async || app.realtime().is_listening()).await;
}

async fn run_check(check: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(check).await.unwrap();
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        assert!(
            is_closed || std::thread::panicking(),
            "close the TestApp: its invariants were not checked"
        );
    }
}
