//! The knife for a connection. A client that stops reading is never dropped by the Socket.IO library (its writer waits
//! for ever), so whoever must end a connection at once cuts the wire below it. The listener makes one [`Cut`] for each
//! connection; [`Cuts`] remembers those that became WebSockets, by session.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::id::{SessionId, UserId};
use tokio_util::sync::CancellationToken;

/// Ends one connection. The listener also pulls it when the connection ends by itself, so a pulled one is a past one.
#[derive(Debug, Clone, Default)]
pub struct Cut(CancellationToken);

impl Cut {
    /// Ends the connection: every read and write fails from now on.
    pub fn pull(&self) {
        self.0.cancel();
    }

    /// Whether the connection is over.
    pub fn is_pulled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Resolves when the connection is to end.
    pub fn pulled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.clone().cancelled_owned()
    }
}

/// The connections that became WebSockets, by session.
#[derive(Default)]
pub struct Cuts(Mutex<HashMap<SessionId, (UserId, Vec<Cut>)>>);

impl Cuts {
    /// Remembers the connection of a WebSocket request.
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

    /// The connections of a session, taken out to be cut.
    pub fn take(&self, session: &SessionId) -> Vec<Cut> {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.remove(session).map(|(_, cuts)| cuts).unwrap_or_default()
    }

    /// All connections, taken out to be cut.
    pub fn take_all(&self) -> Vec<Cut> {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.drain().flat_map(|(_, (_, cuts))| cuts).collect()
    }

    /// Forgets connections that ended.
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
        let taken = cuts.take(&session);
        assert_eq!(taken.len(), 1);
        assert!(cuts.take(&session).is_empty());
        cuts.keep(&session, &ben, first);
        cuts.forget_past();
        assert_eq!(cuts.sessions_of(&ben), []);
    }
}
