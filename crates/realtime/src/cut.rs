//! Force-closes connections. socketioxide never drops a client that stops reading, because its writer waits forever, so
//! the underlying TCP stream is aborted. The HTTP server creates one [`Cut`] per connection; [`Cuts`] holds those that
//! became WebSockets, by session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;

use futures_util::task::AtomicWaker;
use model::id::{SessionId, UserId};

/// Aborts a connection. The HTTP server also calls [`Self::pull`] when the connection ends on its own, so a pulled
/// handle belongs to a past connection. Ten thousand idle connections have one each, so it is a flag and two wakers
/// instead of a task or a timer.
#[derive(Debug, Clone, Default)]
pub struct Cut(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_pulled: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
}

impl Cut {
    /// Aborts the connection: every read and write fails from now on.
    pub fn pull(&self) {
        self.0.is_pulled.store(true, Ordering::SeqCst);
        self.0.reader.wake();
        self.0.writer.wake();
    }

    /// Whether the connection has ended.
    pub fn is_pulled(&self) -> bool {
        self.0.is_pulled.load(Ordering::SeqCst)
    }

    /// Whether the connection has ended. Otherwise registers the waker of the reading task.
    pub fn ends_reading(&self, context: &Context<'_>) -> bool {
        self.0.reader.register(context.waker());
        self.is_pulled()
    }

    /// Like [`Self::ends_reading`], for the writing task. After an upgrade that is another task.
    pub fn ends_writing(&self, context: &Context<'_>) -> bool {
        self.0.writer.register(context.waker());
        self.is_pulled()
    }
}

/// The WebSocket connections by session.
#[derive(Default)]
pub struct Cuts(Mutex<HashMap<SessionId, (UserId, Vec<Cut>)>>);

impl Cuts {
    /// Adds the connection of a WebSocket request.
    pub fn keep(&self, session: &SessionId, user: &UserId, cut: Cut) {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, kept) = cuts
            .entry(session.clone())
            .or_insert_with(|| (user.clone(), Vec::new()));
        kept.retain(|cut| !cut.is_pulled());
        kept.push(cut);
    }

    /// The sessions of a user that have WebSockets.
    pub fn sessions_of(&self, user: &UserId) -> Vec<SessionId> {
        let cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = cuts.iter().filter(|(_, (owner, _))| owner == user);
        theirs.map(|(session, _)| session.clone()).collect()
    }

    /// Removes the connections of a session and returns them, to be aborted.
    pub fn take(&self, session: &SessionId) -> Vec<Cut> {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.remove(session).map(|(_, cuts)| cuts).unwrap_or_default()
    }

    /// Removes all connections and returns them, to be aborted.
    pub fn take_all(&self) -> Vec<Cut> {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.drain().flat_map(|(_, (_, cuts))| cuts).collect()
    }

    /// The number of open connections.
    pub fn count(&self) -> usize {
        let cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = cuts.values().flat_map(|(_, kept)| kept);
        kept.filter(|cut| !cut.is_pulled()).count()
    }

    /// Removes connections that have ended.
    pub fn forget_past(&self) {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.retain(|_, (_, kept)| {
            kept.retain(|cut| !cut.is_pulled());
            !kept.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gives_up_its_connections_once_and_past_ones_are_forgotten() {
        let (cuts, ben, session) = (Cuts::default(), UserId::new("ben"), SessionId::new("s"));
        let (first, second) = (Cut::default(), Cut::default());
        cuts.keep(&session, &ben, first.clone());
        first.pull();
        cuts.keep(&session, &ben, second.clone());
        assert_eq!(cuts.sessions_of(&ben), std::slice::from_ref(&session));
        assert_eq!(cuts.sessions_of(&UserId::new("cem")), []);
        assert_eq!(cuts.count(), 1);
        let taken = cuts.take(&session);
        assert_eq!(taken.len(), 1);
        assert!(cuts.take(&session).is_empty());
        cuts.keep(&session, &ben, first);
        cuts.forget_past();
        assert_eq!(cuts.sessions_of(&ben), []);
    }

    #[test]
    fn whoever_waits_to_read_or_to_write_is_woken() {
        let (cut, mut woken) = (Cut::default(), Vec::new());
        for waits in [Cut::ends_reading, Cut::ends_writing] {
            let (waker, count) = counting();
            assert!(!waits(&cut, &Context::from_waker(&waker)));
            woken.push(count);
        }
        cut.pull();
        assert!(woken.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        let (waker, _) = counting();
        assert!(cut.ends_reading(&Context::from_waker(&waker)));
    }

    /// A waker that counts its wake-ups.
    fn counting() -> (std::task::Waker, Arc<std::sync::atomic::AtomicUsize>) {
        struct Counting(Arc<std::sync::atomic::AtomicUsize>);
        impl std::task::Wake for Counting {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let count = Arc::default();
        (Arc::new(Counting(Arc::clone(&count))).into(), count)
    }
}
