//! The one thing clients say: that their user is writing in a document. Kept in memory for the lesson board, never
//! stored, never logged. Everything else is ignored and counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::id::{DocumentId, GroupId, UserId};
use serde::Deserialize;
use socketioxide::extract::{SocketRef, TryData};

use super::Live;
use super::connect::Said;
use super::seat::Seat;

/// A user may say so once in this time.
const PAUSE: Duration = Duration::from_secs(10);
/// Whoever said so this long ago is no longer writing.
const LATELY: Duration = Duration::from_secs(30);

/// What `document:activity` carries.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Writing {
    document_id: DocumentId,
}

/// Who is writing where.
#[derive(Default)]
pub struct Activity {
    said: Mutex<HashMap<UserId, Instant>>,
    writing: Mutex<HashMap<GroupId, HashMap<UserId, Instant>>>,
    ignored: AtomicU64,
}

impl Activity {
    /// Who wrote in a group lately.
    pub fn writing(&self, group: &GroupId) -> Vec<UserId> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let users = writing.get(group).into_iter().flatten();
        users
            .filter(|(_, since)| since.elapsed() < LATELY)
            .map(|(user, _)| user.clone())
            .collect()
    }

    /// How many messages were ignored.
    pub fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }

    /// Forgets what was said long ago.
    pub fn forget_past(&self) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.retain(|_, since| since.elapsed() < PAUSE);
        drop(said);
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        writing.retain(|_, users| {
            users.retain(|_, since| since.elapsed() < LATELY);
            !users.is_empty()
        });
    }

    fn ignore(&self) {
        self.ignored.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the user may say something now; if so, not again soon.
    fn takes_turn(&self, user: &UserId) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let early = said.get(user).is_some_and(|since| since.elapsed() < PAUSE);
        if !early {
            said.insert(user.clone(), Instant::now());
        }
        !early
    }

    fn note(&self, group: GroupId, user: UserId) {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        writing.entry(group).or_default().insert(user, Instant::now());
    }
}

/// Listens to what a socket may say.
pub fn listen(socket: &SocketRef, live: &Live) {
    let (hearing, ignoring) = (Arc::downgrade(&live.0), Arc::downgrade(&live.0));
    socket.on(
        "document:activity",
        move |socket: SocketRef, TryData(said): Said| async move {
            if let Some(parts) = hearing.upgrade() {
                hear(&Live(parts), &socket, said.ok()).await;
            }
        },
    );
    socket.on_fallback(move || async move {
        if let Some(parts) = ignoring.upgrade() {
            parts.activity.ignore();
        }
    });
}

async fn hear(live: &Live, socket: &SocketRef, said: Option<Writing>) {
    let activity = &live.0.activity;
    let (Some(seat), Some(Writing { document_id })) = (Seat::of(socket), said) else {
        return activity.ignore();
    };
    let Some(standpoint) = seat.standpoint() else {
        return activity.ignore();
    };
    if !activity.takes_turn(seat.user()) {
        return activity.ignore();
    }
    let group = live
        .0
        .store
        .read(standpoint, move |scope| scope.group_of_document(&document_id));
    match group.await {
        Ok(group) => activity.note(group, seat.user().clone()),
        // Unknown, foreign and hidden documents look alike here too.
        Err(_) => activity.ignore(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_speaks_once_in_ten_seconds() {
        let (activity, ben) = (Activity::default(), UserId::new("ben"));
        assert!(activity.takes_turn(&ben));
        assert!(!activity.takes_turn(&ben));
        assert!(activity.takes_turn(&UserId::new("cem")));
    }

    #[test]
    fn whoever_writes_is_named_in_that_group_alone() {
        let (activity, group) = (Activity::default(), GroupId::new("g"));
        activity.note(group.clone(), UserId::new("ben"));
        assert_eq!(activity.writing(&group), [UserId::new("ben")]);
        assert!(activity.writing(&GroupId::new("h")).is_empty());
        activity.forget_past();
        assert_eq!(activity.writing(&group).len(), 1);
    }
}
