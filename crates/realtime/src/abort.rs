//! Force-closes connections. socketioxide never drops a client that stops reading, because its writer waits forever, so
//! the underlying TCP stream is aborted. The HTTP server creates one [`AbortHandle`] per connection; [`WebSocketConnections`] holds those that
//! became WebSockets, by session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;

use domain::id::{SessionId, UserId};
use futures_util::task::AtomicWaker;

/// Aborts a connection. The HTTP server also calls [`Self::abort`] when the connection ends on its own, so a pulled
/// handle belongs to a past connection. Ten thousand idle connections have one each, so it is a flag and two wakers
/// instead of a task or a timer.
#[derive(Debug, Clone, Default)]
pub struct AbortHandle(Arc<AbortState>);

#[derive(Debug, Default)]
struct AbortState {
    is_aborted: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
}

impl AbortHandle {
    /// Aborts the connection: every read and write fails from now on.
    pub fn abort(&self) {
        self.0.is_aborted.store(true, Ordering::SeqCst);
        self.0.reader.wake();
        self.0.writer.wake();
    }

    /// Whether the connection has ended.
    pub fn is_aborted(&self) -> bool {
        self.0.is_aborted.load(Ordering::SeqCst)
    }

    /// Whether the connection has ended. Otherwise registers the waker of the reading task.
    pub fn register_reader(&self, context: &Context<'_>) -> bool {
        self.0.reader.register(context.waker());
        self.is_aborted()
    }

    /// Like [`Self::register_reader`], for the writing task. After an upgrade that is another task.
    pub fn register_writer(&self, context: &Context<'_>) -> bool {
        self.0.writer.register(context.waker());
        self.is_aborted()
    }
}

/// The WebSocket connections by session.
#[derive(Default)]
pub struct WebSocketConnections(Mutex<HashMap<SessionId, (UserId, Vec<AbortHandle>)>>);

impl WebSocketConnections {
    /// Adds the connection of a WebSocket request.
    pub fn insert(&self, session: &SessionId, user: &UserId, abort_handle: AbortHandle) {
        let mut websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, handles) = websockets
            .entry(session.clone())
            .or_insert_with(|| (user.clone(), Vec::new()));
        handles.retain(|abort_handle| !abort_handle.is_aborted());
        handles.push(abort_handle);
    }

    /// The sessions of a user that have WebSockets.
    pub fn sessions_of(&self, user: &UserId) -> Vec<SessionId> {
        let websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owned = websockets.iter().filter(|(_, (owner, _))| owner == user);
        owned.map(|(session, _)| session.clone()).collect()
    }

    /// Removes the connections of a session and returns them, to be aborted.
    pub fn remove(&self, session: &SessionId) -> Vec<AbortHandle> {
        let mut websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        websockets
            .remove(session)
            .map(|(_, websockets)| websockets)
            .unwrap_or_default()
    }

    /// Removes all connections and returns them, to be aborted.
    pub fn remove_all(&self) -> Vec<AbortHandle> {
        let mut websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        websockets.drain().flat_map(|(_, (_, websockets))| websockets).collect()
    }

    /// The number of open connections.
    pub fn count(&self) -> usize {
        let websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let handles = websockets.values().flat_map(|(_, handles)| handles);
        handles.filter(|abort_handle| !abort_handle.is_aborted()).count()
    }

    /// Removes connections that have ended.
    pub fn remove_closed(&self) {
        let mut websockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        websockets.retain(|_, (_, handles)| {
            handles.retain(|abort_handle| !abort_handle.is_aborted());
            !handles.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_session_are_aborted_once() {
        let (websockets, ben, session) = (WebSocketConnections::default(), UserId::new("ben"), SessionId::new("s"));
        let (first, second) = (AbortHandle::default(), AbortHandle::default());
        websockets.insert(&session, &ben, first.clone());
        first.abort();
        websockets.insert(&session, &ben, second.clone());
        assert_eq!(websockets.sessions_of(&ben), std::slice::from_ref(&session));
        assert_eq!(websockets.sessions_of(&UserId::new("cem")), []);
        assert_eq!(websockets.count(), 1);
        let taken = websockets.remove(&session);
        assert_eq!(taken.len(), 1);
        assert!(websockets.remove(&session).is_empty());
        websockets.insert(&session, &ben, first);
        websockets.remove_closed();
        assert_eq!(websockets.sessions_of(&ben), []);
    }

    #[test]
    fn abort_wakes_pending_reads_and_writes() {
        let (abort_handle, mut woken) = (AbortHandle::default(), Vec::new());
        for waits in [AbortHandle::register_reader, AbortHandle::register_writer] {
            let (waker, count) = counting();
            assert!(!waits(&abort_handle, &Context::from_waker(&waker)));
            woken.push(count);
        }
        abort_handle.abort();
        assert!(woken.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        let (waker, _) = counting();
        assert!(abort_handle.register_reader(&Context::from_waker(&waker)));
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
