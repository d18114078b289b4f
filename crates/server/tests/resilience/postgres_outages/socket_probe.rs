//! Socket clients that reconnect after every disconnect and record all frames.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use test_support::TestUser;
use test_support::raw_socket::Socket;

/// The delay before a client reconnects.
const RECONNECT_DELAY: Duration = Duration::from_millis(200);
/// The maximum time until an expected frame arrives.
const WAIT_TIMEOUT: Duration = test_support::WAIT_TIMEOUT;

#[derive(Default)]
struct Recorded {
    frames: Vec<String>,
    is_connected: bool,
    refusals: usize,
}

/// The socket client of one user at one instance.
pub struct SocketProbe {
    name: String,
    recorded: Arc<Mutex<Recorded>>,
    listening: JoinHandle<()>,
}

impl SocketProbe {
    /// Connects, and reconnects until the value is dropped.
    pub async fn of(base: &str, person: &TestUser) -> Self {
        let recorded = Arc::<Mutex<Recorded>>::default();
        let (base, cookie, own) = (base.to_owned(), person.cookie.clone(), Arc::clone(&recorded));
        let listening = tokio::spawn(async move {
            let note = |change: &dyn Fn(&mut Recorded)| change(&mut own.lock().unwrap_or_else(PoisonError::into_inner));
            loop {
                match Socket::try_open_at(&base, &cookie).await {
                    Some(mut socket) => {
                        note(&|recorded| recorded.is_connected = true);
                        while let Some(frame) = socket.next().await {
                            note(&|recorded| recorded.frames.push(frame.clone()));
                        }
                        note(&|recorded| recorded.is_connected = false);
                    }
                    None => note(&|recorded| recorded.refusals += 1),
                }
                tokio::time::sleep(RECONNECT_DELAY).await;
            }
        });
        let probe = Self {
            name: person.name.clone(),
            recorded,
            listening,
        };
        probe
            .until("is connected", |probe| probe.received("[\"ready\"", 0))
            .await;
        probe
    }

    /// Returns the current position in the recorded frames, for later calls with `since`.
    pub fn position(&self) -> usize {
        self.recorded().frames.len()
    }

    /// Returns whether a frame that contains `words` was received since a mark.
    pub fn received(&self, words: &str, since: usize) -> bool {
        self.recorded().frames[since..]
            .iter()
            .any(|frame| frame.contains(words))
    }

    /// Returns whether the client received `sync:required` or reconnected since a mark. Both make it fetch all data.
    pub fn is_up_to_date(&self, since: usize) -> bool {
        self.received("[\"sync:required\"", since) || self.received("[\"ready\"", since)
    }

    /// Returns whether the client is disconnected and its reconnects are rejected.
    pub fn is_rejected(&self) -> bool {
        let recorded = self.recorded();
        !recorded.is_connected && recorded.refusals > 0
    }

    /// Waits until a condition is true.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        while !is_so(self) {
            let frames = self.recorded().frames.clone();
            assert!(
                since.elapsed() < WAIT_TIMEOUT,
                "{}: not so: {what}; heard {frames:#?}",
                self.name
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn recorded(&self) -> std::sync::MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SocketProbe {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
