//! Limits concurrent exports and imports of this instance. A tenant gets at most half of the permits; waiting tenants
//! are served round-robin.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::OrganizationId;
use tokio::sync::oneshot;

use common::error::{Error, Result};
use db::fair_queue::{FairQueue, TenantKey};

/// Requests of one tenant that may wait for a permit. Further ones are rejected with 503.
const WAITING_MAX: usize = 64;

/// The kind of a long-running operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// Archives, tables and PDFs.
    Export,
    /// People or grades from a file.
    Import,
    /// Conversion of an uploaded file by the document server.
    Conversion,
}

impl OperationKind {
    /// Permits per instance.
    const fn permits(self) -> usize {
        match self {
            Self::Export => 8,
            Self::Import | Self::Conversion => 4,
        }
    }

    /// Permits that one tenant may hold.
    const fn permits_per_tenant(self) -> usize {
        self.permits() / 2
    }
}

/// The permits of this instance; clones share them.
#[derive(Clone, Default)]
pub struct TenantSemaphore {
    exports: Queue,
    imports: Queue,
    conversions: Queue,
}

/// Waiting requests by tenant. Each is notified through its channel when a permit is free.
type Queue = Arc<Mutex<FairQueue<oneshot::Sender<OperationPermit>>>>;

/// A permit for a long-running operation, released on drop.
pub struct OperationPermit {
    queue: Queue,
    kind: OperationKind,
    tenant: TenantKey,
}

impl TenantSemaphore {
    /// Waits for a permit in the FIFO queue of the tenant. Requests without an organization share one queue.
    pub async fn acquire(&self, kind: OperationKind, organization: Option<&OrganizationId>) -> Result<OperationPermit> {
        let queue = match kind {
            OperationKind::Export => &self.exports,
            OperationKind::Import => &self.imports,
            OperationKind::Conversion => &self.conversions,
        };
        let tenant = organization.cloned();
        let (sender, granted) = oneshot::channel();
        {
            let mut lines = lock(queue);
            if lines.is_full_for(&tenant, WAITING_MAX) {
                return Err(Error::Overloaded);
            }
            lines.push(tenant, sender);
        }
        grant_next(queue, kind);
        granted.await.map_err(|_| Error::Overloaded)
    }
}

/// Grants permits to waiting requests while any are free.
fn grant_next(queue: &Queue, kind: OperationKind) {
    loop {
        let (tenant, sender) = {
            let mut lines = lock(queue);
            if lines.running() >= kind.permits() {
                return;
            }
            let Some((tenant, sender)) = lines.take(|_| kind.permits_per_tenant()) else {
                return;
            };
            if sender.is_closed() {
                // The waiting request was cancelled.
                lines.release(&tenant);
                continue;
            }
            (tenant, sender)
        };
        let queue = Arc::clone(queue);
        drop(sender.send(OperationPermit { queue, kind, tenant }));
    }
}

fn lock(queue: &Queue) -> MutexGuard<'_, FairQueue<oneshot::Sender<OperationPermit>>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for OperationPermit {
    fn drop(&mut self) {
        lock(&self.queue).release(&self.tenant);
        grant_next(&self.queue, self.kind);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use std::time::Duration;

    use super::*;

    async fn waits(semaphore: &TenantSemaphore, school: &OrganizationId) -> bool {
        let taken = tokio::time::timeout(
            Duration::from_millis(20),
            semaphore.acquire(OperationKind::Import, Some(school)),
        );
        taken.await.is_err()
    }

    #[tokio::test]
    async fn tenant_gets_at_most_half_of_the_permits() {
        let semaphore = TenantSemaphore::default();
        let [north, south, west] = ["north", "south", "west"].map(OrganizationId::new);
        let mut held = Vec::new();
        for _ in 0..OperationKind::Import.permits_per_tenant() {
            held.push(semaphore.acquire(OperationKind::Import, Some(&north)).await.unwrap());
        }
        assert!(waits(&semaphore, &north).await, "that was half");
        assert!(
            semaphore.acquire(OperationKind::Export, Some(&north)).await.is_ok(),
            "exports have places of their own"
        );
        for _ in 0..OperationKind::Import.permits_per_tenant() {
            held.push(semaphore.acquire(OperationKind::Import, Some(&south)).await.unwrap());
        }
        assert!(waits(&semaphore, &west).await, "none is left");
        drop(held.pop());
        drop(semaphore.acquire(OperationKind::Import, Some(&west)).await.unwrap());
        // A cancelled request holds no permit.
        drop(held);
        let all = lock(&semaphore.imports);
        assert_eq!((all.running(), all.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn waiting_requests_get_permits_round_robin_by_tenant() {
        let semaphore = TenantSemaphore::default();
        let [north, south] = ["north", "south"].map(OrganizationId::new);
        let mut held = Vec::new();
        for school in [&north, &north, &south, &south] {
            held.push(semaphore.acquire(OperationKind::Import, Some(school)).await.unwrap());
        }
        let (told, mut granted) = tokio::sync::mpsc::unbounded_channel();
        for school in [&north, &north, &north, &south] {
            let (semaphore, school, told) = (semaphore.clone(), school.clone(), told.clone());
            tokio::spawn(async move {
                let place = semaphore.acquire(OperationKind::Import, Some(&school)).await.unwrap();
                told.send(school).unwrap();
                drop(place);
            });
            tokio::task::yield_now().await;
        }
        drop(told);
        drop(held);
        let mut order = Vec::new();
        while let Some(school) = granted.recv().await {
            order.push(school);
        }
        assert_eq!(order.len(), 4);
        assert!(
            order[..3].contains(&south),
            "it waits for one of each, not for all: {order:?}"
        );
    }
}
