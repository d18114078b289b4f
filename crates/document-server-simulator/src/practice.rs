//! The practice document server as a whole: its state, its start and its stop.
//! What it does lives in the other modules; nothing here knows the protocol.

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
    convert::Conversions,
    faults::{Faults, Switches},
    listener::PracticeListener,
    record::{Heard, Record, Sent},
    results::Results,
    routes,
    session::Session,
    settings::Settings,
    token::Tokens,
};

/// A save that nobody took, kept under its key.
#[derive(Clone)]
pub(crate) struct Forgotten {
    pub(crate) bytes: Bytes,
    pub(crate) file_type: &'static str,
    pub(crate) path: String,
}

/// Sessions and what is left of them.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) sessions: HashMap<String, Session>,
    /// Which key a connection belongs to.
    pub(crate) keys: HashMap<String, String>,
    pub(crate) forgotten: BTreeMap<String, Forgotten>,
    /// One opening at a time for each key, because the first one fetches the document.
    pub(crate) opening: HashMap<String, Arc<tokio::sync::Mutex<()>>>,
}

impl Desk {
    /// The session a connection belongs to.
    pub(crate) fn session_of(&mut self, connection: &str) -> Option<&mut Session> {
        self.sessions.get_mut(self.keys.get(connection)?)
    }

    /// How many editors are open in all sessions.
    pub(crate) fn editors(&self) -> usize {
        self.sessions.values().map(|session| session.editors().count()).sum()
    }
}

struct Shared {
    settings: Settings,
    tokens: Tokens,
    http: reqwest::Client,
    switches: Switches,
    desk: Mutex<Desk>,
    results: Results,
    conversions: Conversions,
    record: Record,
    crash: Mutex<CancellationToken>,
}

/// A practice document server; copies are the same one.
#[derive(Clone)]
pub struct Practice(Arc<Shared>);

impl Practice {
    /// A server that is not listening anywhere yet.
    pub fn new(settings: Settings) -> Self {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client without special settings can be built");
        Self(Arc::new(Shared {
            tokens: Tokens::new(&settings.secret),
            settings,
            http,
            switches: Switches::new(),
            desk: Mutex::default(),
            results: Results::default(),
            conversions: Conversions::default(),
            record: Record::default(),
            crash: Mutex::default(),
        }))
    }

    /// Listens as the settings say and serves until stopped.
    pub async fn start(settings: Settings) -> std::io::Result<Running> {
        let practice = Self::new(settings);
        let stop = CancellationToken::new();
        let down = practice.faults().down();
        let listener = PracticeListener::bind(practice.settings().listen, down, stop.clone()).await?;
        let address = listener.address();
        let router = practice.router();
        let serving = tokio::spawn(async move {
            // The listener never fails; it waits while the server is "down".
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Running {
            practice,
            address,
            stop,
            serving,
        })
    }

    /// All routes of this server, to be mounted elsewhere.
    pub fn router(&self) -> Router {
        routes::router(self.clone())
    }

    /// The switches for what shall go wrong.
    pub fn faults(&self) -> &Switches {
        &self.0.switches
    }

    /// Replaces all switches; short for `faults().set(..)`.
    pub fn set_faults(&self, faults: Faults) {
        self.0.switches.set(faults);
    }

    /// Every callback so far, in the order of their answers.
    pub fn callbacks(&self) -> Vec<Sent> {
        self.0.record.sent()
    }

    /// Every command, conversion and download of a result so far.
    pub fn requests(&self) -> Vec<Heard> {
        self.0.record.heard()
    }

    /// How many commands came so far, answered or not.
    pub fn commands_begun(&self) -> usize {
        self.0.record.commands().0
    }

    /// How many commands were being answered at once at most.
    pub fn most_commands(&self) -> usize {
        self.0.record.commands().1
    }

    /// Empties both lists.
    pub fn clear_record(&self) {
        self.0.record.clear();
    }

    /// The first recorded callback that fits; waits for it up to the given time.
    pub async fn wait_for_callback(&self, fits: impl Fn(&Sent) -> bool, patience: Duration) -> Option<Sent> {
        self.0.record.wait_for(fits, patience).await
    }

    /// Dies and comes back: all connections and everything on its way are gone without a callback,
    /// but changes that were typed stay and are saved by the next open and close of the same key.
    pub fn crash(&self) {
        self.halt();
        self.after_crash(&mut self.desk());
    }

    /// Loses its disk and comes back: no session, no change and no forgotten save is known any more.
    pub fn lose_everything(&self) {
        self.halt();
        *self.desk() = Desk::default();
    }

    /// Ends all work that is under way.
    fn halt(&self) {
        let died = std::mem::take(&mut *self.0.crash.lock().unwrap_or_else(PoisonError::into_inner));
        died.cancel();
    }

    /// Keys of saves that nobody took.
    pub fn forgotten_keys(&self) -> Vec<String> {
        self.desk().forgotten.keys().cloned().collect()
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.0.http
    }

    pub(crate) fn results(&self) -> &Results {
        &self.0.results
    }

    pub(crate) fn conversions(&self) -> &Conversions {
        &self.0.conversions
    }

    pub(crate) fn record(&self) -> &Record {
        &self.0.record
    }

    /// Starts work that ends with the next crash.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let crash = self.0.crash.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tokio::spawn(async move {
            crash.run_until_cancelled(work).await;
        });
    }
}

/// A practice document server that listens.
pub struct Running {
    practice: Practice,
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Running {
    /// Its base address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server itself.
    pub fn practice(&self) -> &Practice {
        &self.practice
    }

    /// Ends it: the port is free and open connections are reset when this returns.
    pub async fn stop(mut self) {
        self.end();
        let _aborted = (&mut self.serving).await;
    }

    fn end(&self) {
        self.stop.cancel();
        self.serving.abort();
        self.practice.halt();
        *self.practice.desk() = Desk::default();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::ops::Deref for Running {
    type Target = Practice;

    fn deref(&self) -> &Practice {
        &self.practice
    }
}
