//! Several instances as in a large deployment: processes that share one PostgreSQL database and one object store, each
//! with its own data folder, behind a proxy.

use std::process::ExitStatus;

use db::{Database, Store};

use super::fake_s3::FakeS3;
use super::proxy::Proxy;
use super::{DatabaseKind, ServerEnv, ServerProcess};

pub struct Instances {
    pub bucket: FakeS3,
    pub proxy: Proxy,
    pub envs: Vec<ServerEnv>,
    running: Vec<Option<ServerProcess>>,
}

impl Instances {
    /// Prepares this number of environments on a database with the newest schema, without starting them. Returns `None`
    /// if no PostgreSQL server is available.
    pub async fn prepare(number: usize, settings: &[(&str, &str)]) -> Option<Self> {
        Some(Self::at(ServerEnv::new(DatabaseKind::Postgres)?, number, settings).await)
    }

    /// Like `prepare`, with `first` as the environment of the first instance.
    pub async fn at(mut first: ServerEnv, number: usize, settings: &[(&str, &str)]) -> Self {
        let (bucket, proxy) = (FakeS3::open().await, Proxy::open().await);
        for (name, value) in bucket.settings() {
            first.set(&name, &value);
        }
        // Callbacks of the document server go through the proxy and reach any instance.
        first.set("API_INTERNAL_URL", &proxy.base);
        first.set("TRUST_PROXY", "127.0.0.1");
        first.set("METRICS_LISTEN", "127.0.0.1:0");
        for (name, value) in settings {
            first.set(name, value);
        }
        let mut envs = vec![first];
        while envs.len() < number {
            envs.push(envs[0].another_instance());
        }
        Self {
            bucket,
            proxy,
            running: envs.iter().map(|_| None).collect(),
            envs,
        }
    }

    /// Like `prepare`, with all instances started and ready.
    pub async fn start(number: usize, settings: &[(&str, &str)]) -> Option<Self> {
        let mut instances = Self::prepare(number, settings).await?;
        instances.start_all().await;
        Some(instances)
    }

    /// Starts all instances concurrently.
    pub async fn start_all(&mut self) {
        let envs = &mut self.envs;
        let started: Vec<ServerProcess> = tokio::task::block_in_place(|| {
            std::thread::scope(|scope| {
                let starting: Vec<_> = envs.iter_mut().map(|env| scope.spawn(|| env.start("serve"))).collect();
                starting.into_iter().map(|one| one.join().unwrap()).collect()
            })
        });
        for (at, mut one) in started.into_iter().enumerate() {
            one.ready().await;
            self.proxy.add(&one.base).await;
            self.running[at] = Some(one);
        }
    }

    /// Restarts an instance in its environment.
    pub async fn restart(&mut self, at: usize) {
        let mut started = tokio::task::block_in_place(|| self.envs[at].start("serve"));
        started.ready().await;
        self.running[at] = Some(started);
        self.proxy.until(at, true).await;
    }

    /// Returns a running instance.
    pub fn running(&self, at: usize) -> &ServerProcess {
        self.running[at].as_ref().unwrap()
    }

    /// Returns the base URL of an instance.
    pub fn base(&self, at: usize) -> &str {
        &self.running(at).base
    }

    /// Sends SIGKILL to an instance.
    pub fn kill(&mut self, at: usize) {
        self.running[at].take().unwrap().kill();
    }

    /// Sends SIGTERM to an instance and returns its exit status.
    pub async fn stop(&mut self, at: usize) -> ExitStatus {
        let started = self.running[at].take().unwrap();
        tokio::task::spawn_blocking(move || started.stop()).await.unwrap()
    }

    /// Returns the shared database.
    pub fn database(&self) -> &Database {
        &self.envs[0].database
    }

    /// Opens the shared database directly, without the instances.
    pub async fn store(&self) -> Store {
        self.envs[0].store().await
    }

    /// Stops all instances and drops the database.
    pub async fn close(mut self) {
        for at in 0..self.running.len() {
            if self.running[at].is_some() {
                assert!(self.stop(at).await.success());
            }
        }
        let database = self.database().clone();
        tokio::task::spawn_blocking(move || super::invariants::check(&database))
            .await
            .unwrap();
        self.envs.swap_remove(0).close();
    }
}
