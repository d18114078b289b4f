//! Socket clients that reconnect after every disconnect and record all frames.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use test_support::Person;
use test_support::raw::Socket;

/// The delay before a client reconnects.
const AGAIN: Duration = Duration::from_millis(200);
/// The maximum time until an expected frame arrives.
const PATIENCE: Duration = test_support::PATIENCE;

#[derive(Default)]
struct Kept {
    frames: Vec<String>,
    is_connected: bool,
    refusals: usize,
}

/// The socket client of one user at one instance.
pub struct Ear {
    name: String,
    kept: Arc<Mutex<Kept>>,
    listening: JoinHandle<()>,
}

impl Ear {
    /// Connects, and reconnects until the value is dropped.
    pub async fn of(base: &str, person: &Person) -> Self {
        let kept = Arc::<Mutex<Kept>>::default();
        let (base, cookie, own) = (base.to_owned(), person.cookie.clone(), Arc::clone(&kept));
        let listening = tokio::spawn(async move {
            let note = |change: &dyn Fn(&mut Kept)| change(&mut own.lock().unwrap_or_else(PoisonError::into_inner));
            loop {
                match Socket::try_open_at(&base, &cookie).await {
                    Some(mut socket) => {
                        note(&|kept| kept.is_connected = true);
                        while let Some(frame) = socket.next().await {
                            note(&|kept| kept.frames.push(frame.clone()));
                        }
                        note(&|kept| kept.is_connected = false);
                    }
                    None => note(&|kept| kept.refusals += 1),
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
        let ear = Self {
            name: person.name.clone(),
            kept,
            listening,
        };
        ear.until("is connected", |ear| ear.heard("[\"ready\"", 0)).await;
        ear
    }

    /// Returns the current position in the recorded frames, for later calls with `since`.
    pub fn mark(&self) -> usize {
        self.kept().frames.len()
    }

    /// Returns whether a frame that contains `words` was received since a mark.
    pub fn heard(&self, words: &str, since: usize) -> bool {
        self.kept().frames[since..].iter().any(|frame| frame.contains(words))
    }

    /// Returns whether the client received `sync:required` or reconnected since a mark. Both make it fetch all data.
    pub fn is_up_to_date(&self, since: usize) -> bool {
        self.heard("[\"sync:required\"", since) || self.heard("[\"ready\"", since)
    }

    /// Returns whether the client is disconnected and its reconnects are rejected.
    pub fn is_out(&self) -> bool {
        let kept = self.kept();
        !kept.is_connected && kept.refusals > 0
    }

    /// Waits until a condition is true.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        while !is_so(self) {
            let frames = self.kept().frames.clone();
            assert!(
                since.elapsed() < PATIENCE,
                "{}: not so: {what}; heard {frames:#?}",
                self.name
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
