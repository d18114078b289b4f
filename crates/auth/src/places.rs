//! Limits concurrent exports and imports of this instance. A tenant gets at most half of the permits; waiting tenants
//! are served round-robin.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::id::OrganizationId;
use tokio::sync::oneshot;

use common::error::{Error, Result};
use db::fair_queue::{FairQueue, TenantKey};

/// Requests of one tenant that may wait for a permit. Further ones are rejected with 503.
const WAITING: usize = 64;

/// The kind of a long-running operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// Archives, tables and PDFs.
    Export,
    /// People or grades from a file.
    Import,
    /// Conversion of an uploaded file by the document server.
    Conversion,
}

impl Long {
    /// Permits per instance.
    const fn places(self) -> usize {
        match self {
            Self::Export => 8,
            Self::Import | Self::Conversion => 4,
        }
    }

    /// Permits that one tenant may hold.
    const fn share(self) -> usize {
        self.places() / 2
    }
}

/// The permits of this instance; clones share them.
#[derive(Clone, Default)]
pub struct Places {
    exports: Queue,
    imports: Queue,
    conversions: Queue,
}

/// Waiting requests by tenant. Each is notified through its channel when a permit is free.
type Queue = Arc<Mutex<FairQueue<oneshot::Sender<Place>>>>;

/// A permit for a long-running operation, released on drop.
pub struct Place {
    queue: Queue,
    long: Long,
    party: TenantKey,
}

impl Places {
    /// Waits for a permit in the FIFO queue of the tenant. Requests without an organization share one queue.
    pub async fn take(&self, long: Long, organization: Option<&OrganizationId>) -> Result<Place> {
        let queue = match long {
            Long::Export => &self.exports,
            Long::Import => &self.imports,
            Long::Conversion => &self.conversions,
        };
        let party = organization.cloned();
        let (call, called) = oneshot::channel();
        {
            let mut lines = lock(queue);
            if lines.is_full_for(&party, WAITING) {
                return Err(Error::Overloaded);
            }
            lines.push(party, call);
        }
        call_next(queue, long);
        called.await.map_err(|_| Error::Overloaded)
    }
}

/// Grants permits to waiting requests while any are free.
fn call_next(queue: &Queue, long: Long) {
    loop {
        let (party, call) = {
            let mut lines = lock(queue);
            if lines.running() >= long.places() {
                return;
            }
            let Some((party, call)) = lines.take(|_| long.share()) else {
                return;
            };
            if call.is_closed() {
                // The waiting request was cancelled.
                lines.release(&party);
                continue;
            }
            (party, call)
        };
        let queue = Arc::clone(queue);
        drop(call.send(Place { queue, long, party }));
    }
}

fn lock(queue: &Queue) -> MutexGuard<'_, FairQueue<oneshot::Sender<Place>>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.queue).release(&self.party);
        call_next(&self.queue, self.long);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use std::time::Duration;

    use super::*;

    async fn waits(places: &Places, school: &OrganizationId) -> bool {
        let taken = tokio::time::timeout(Duration::from_millis(20), places.take(Long::Import, Some(school)));
        taken.await.is_err()
    }

    #[tokio::test]
    async fn a_school_has_half_of_the_places_and_they_take_turns() {
        let places = Places::default();
        let [north, south, west] = ["north", "south", "west"].map(OrganizationId::new);
        let mut held = Vec::new();
        for _ in 0..Long::Import.share() {
            held.push(places.take(Long::Import, Some(&north)).await.unwrap());
        }
        assert!(waits(&places, &north).await, "that was half");
        assert!(
            places.take(Long::Export, Some(&north)).await.is_ok(),
            "exports have places of their own"
        );
        for _ in 0..Long::Import.share() {
            held.push(places.take(Long::Import, Some(&south)).await.unwrap());
        }
        assert!(waits(&places, &west).await, "none is left");
        drop(held.pop());
        drop(places.take(Long::Import, Some(&west)).await.unwrap());
        // A cancelled request holds no permit.
        drop(held);
        let all = lock(&places.imports);
        assert_eq!((all.running(), all.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn those_who_wait_are_called_school_by_school() {
        let places = Places::default();
        let [north, south] = ["north", "south"].map(OrganizationId::new);
        let mut held = Vec::new();
        for school in [&north, &north, &south, &south] {
            held.push(places.take(Long::Import, Some(school)).await.unwrap());
        }
        let (told, mut called) = tokio::sync::mpsc::unbounded_channel();
        for school in [&north, &north, &north, &south] {
            let (places, school, told) = (places.clone(), school.clone(), told.clone());
            tokio::spawn(async move {
                let place = places.take(Long::Import, Some(&school)).await.unwrap();
                told.send(school).unwrap();
                drop(place);
            });
            tokio::task::yield_now().await;
        }
        drop(told);
        drop(held);
        let mut order = Vec::new();
        while let Some(school) = called.recv().await {
            order.push(school);
        }
        assert_eq!(order.len(), 4);
        assert!(
            order[..3].contains(&south),
            "it waits for one of each, not for all: {order:?}"
        );
    }
}
