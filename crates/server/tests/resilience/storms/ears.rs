//! People whose sockets stay connected through everything: cut off they come back, and all they hear is kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use test_support::Person;
use test_support::raw::Socket;

/// How soon somebody whose connection ended knocks again.
const AGAIN: Duration = Duration::from_millis(200);
/// How long something may take that must be heard in the end.
const PATIENCE: Duration = test_support::PATIENCE;

#[derive(Default)]
struct Kept {
    frames: Vec<String>,
    is_connected: bool,
    refusals: usize,
}

/// One person at one instance.
pub struct Ear {
    name: String,
    kept: Arc<Mutex<Kept>>,
    listening: JoinHandle<()>,
}

impl Ear {
    /// Connects, for ever.
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

    /// Where the story is: what comes later is asked from here on.
    pub fn mark(&self) -> usize {
        self.kept().frames.len()
    }

    /// Whether something was heard since.
    pub fn heard(&self, words: &str, since: usize) -> bool {
        self.kept().frames[since..].iter().any(|frame| frame.contains(words))
    }

    /// Whether the person was told to fetch since, or came anew, which is the same.
    pub fn is_up_to_date(&self, since: usize) -> bool {
        self.heard("[\"sync:required\"", since) || self.heard("[\"ready\"", since)
    }

    /// Whether the person is out and stays out.
    pub fn is_out(&self) -> bool {
        let kept = self.kept();
        !kept.is_connected && kept.refusals > 0
    }

    /// Waits for something.
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
