//! The simulator: its state, start and stop. The protocol is implemented by the other modules.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::Router;
use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    convert::ConversionJobs,
    faults::{FaultInjector, Faults},
    listener::FaultyListener,
    request_log::{ReceivedRequest, RequestLog, SentCallback},
    results::ResultFiles,
    routes,
    session::SharedSession,
    settings::SimulatorSettings,
    token::RequestSigner,
};

/// A save that was not accepted, kept under its key.
#[derive(Clone)]
pub(crate) struct ForgottenFile {
    pub(crate) bytes: Bytes,
    pub(crate) file_type: &'static str,
    pub(crate) path: String,
}

/// Sessions and forgotten files.
#[derive(Default)]
pub(crate) struct SimulatorState {
    pub(crate) sessions: HashMap<String, SharedSession>,
    /// Key by connection id.
    pub(crate) keys: HashMap<String, String>,
    pub(crate) forgotten: BTreeMap<String, ForgottenFile>,
    /// A lock per key: the first open request downloads the document, later ones wait.
    pub(crate) opening: HashMap<String, Arc<tokio::sync::Mutex<()>>>,
}

impl SimulatorState {
    /// Returns the session of a connection.
    pub(crate) fn session_of(&mut self, connection: &str) -> Option<&mut SharedSession> {
        self.sessions.get_mut(self.keys.get(connection)?)
    }

    /// Returns the number of connected editors in all sessions.
    pub(crate) fn editors(&self) -> usize {
        self.sessions.values().map(|session| session.editors().count()).sum()
    }
}

struct SimulatorInner {
    settings: SimulatorSettings,
    tokens: RequestSigner,
    http: reqwest::Client,
    faults: FaultInjector,
    state: Mutex<SimulatorState>,
    results: ResultFiles,
    conversions: ConversionJobs,
    request_log: RequestLog,
    crash: Mutex<CancellationToken>,
}

/// A document server simulator. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Simulator(Arc<SimulatorInner>);

impl Simulator {
    /// Creates a simulator that does not listen yet.
    pub fn new(settings: SimulatorSettings) -> Self {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // The service closes unused connections after 10 seconds or more; a request that arrives then is lost.
            .pool_idle_timeout(Duration::from_secs(2))
            .build()
            .expect("a client without special settings can be built");
        Self(Arc::new(SimulatorInner {
            tokens: RequestSigner::new(&settings.secret),
            settings,
            http,
            faults: FaultInjector::new(),
            state: Mutex::default(),
            results: ResultFiles::default(),
            conversions: ConversionJobs::default(),
            request_log: RequestLog::default(),
            crash: Mutex::default(),
        }))
    }

    /// Binds the address of the settings and serves until stopped.
    pub async fn start(settings: SimulatorSettings) -> std::io::Result<RunningSimulator> {
        let simulator = Self::new(settings);
        let stop = CancellationToken::new();
        let down = simulator.faults().down();
        let listener = FaultyListener::bind(simulator.settings().listen, down, stop.clone()).await?;
        let address = listener.address();
        let router = simulator.router();
        let serving = tokio::spawn(async move {
            // The listener never fails; it waits during an outage.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(RunningSimulator {
            simulator,
            address,
            stop,
            serving,
        })
    }

    /// Returns all routes, to be mounted in another server.
    pub fn router(&self) -> Router {
        routes::router(self.clone())
    }

    pub fn faults(&self) -> &FaultInjector {
        &self.0.faults
    }

    /// Replaces all faults; shorthand for `faults().set(..)`.
    pub fn set_faults(&self, faults: Faults) {
        self.0.faults.set(faults);
    }

    /// Returns every callback sent so far, in the order of the responses.
    pub fn callbacks(&self) -> Vec<SentCallback> {
        self.0.request_log.callbacks()
    }

    /// Returns every command, conversion and result download received so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.0.request_log.requests()
    }

    /// Returns the number of commands received so far, including unanswered ones.
    pub fn command_count(&self) -> usize {
        self.0.request_log.commands().0
    }

    /// Returns the maximum number of commands that were processed concurrently.
    pub fn max_concurrent_commands(&self) -> usize {
        self.0.request_log.commands().1
    }

    /// Clears the recorded callbacks and requests.
    pub fn clear_log(&self) {
        self.0.request_log.clear();
    }

    /// Returns the first recorded callback that matches, waiting for it until the timeout elapses.
    pub async fn wait_for_callback(
        &self,
        matches: impl Fn(&SentCallback) -> bool,
        timeout: Duration,
    ) -> Option<SentCallback> {
        self.0.request_log.wait_for(matches, timeout).await
    }

    /// Simulates a crash and restart: all connections and pending callbacks are lost, but changes are kept and saved
    /// when the same key is opened and closed again.
    pub fn crash(&self) {
        self.abort_tasks();
        self.reset_after_crash(&mut self.state());
    }

    /// Simulates a restart with an empty disk: sessions, changes and forgotten saves are lost.
    pub fn erase_all(&self) {
        self.abort_tasks();
        *self.state() = SimulatorState::default();
    }

    /// Cancels all background tasks.
    fn abort_tasks(&self) {
        let crash_token = std::mem::take(&mut *self.0.crash.lock().unwrap_or_else(PoisonError::into_inner));
        crash_token.cancel();
    }

    /// Returns the keys of saves that were not accepted.
    pub fn forgotten_keys(&self) -> Vec<String> {
        self.state().forgotten.keys().cloned().collect()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, SimulatorState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings(&self) -> &SimulatorSettings {
        &self.0.settings
    }

    pub(crate) fn tokens(&self) -> &RequestSigner {
        &self.0.tokens
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.0.http
    }

    pub(crate) fn results(&self) -> &ResultFiles {
        &self.0.results
    }

    pub(crate) fn conversions(&self) -> &ConversionJobs {
        &self.0.conversions
    }

    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.0.request_log
    }

    /// Spawns a task that is cancelled by the next crash.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let crash = self.0.crash.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tokio::spawn(async move {
            crash.run_until_cancelled(work).await;
        });
    }
}

/// A listening simulator. Dropping it stops it.
pub struct RunningSimulator {
    simulator: Simulator,
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl RunningSimulator {
    /// Returns the base URL, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Stops it. On return the port is free and open connections are reset.
    pub async fn stop(mut self) {
        self.end();
        let _aborted = (&mut self.serving).await;
    }

    fn end(&self) {
        self.stop.cancel();
        self.serving.abort();
        self.simulator.abort_tasks();
        *self.simulator.state() = SimulatorState::default();
    }
}

impl Drop for RunningSimulator {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::ops::Deref for RunningSimulator {
    type Target = Simulator;

    fn deref(&self) -> &Simulator {
        &self.simulator
    }
}
