//! Limits concurrent exports, imports and conversions of this instance. A tenant gets at most half of the permits;
//! waiting tenants are served round-robin.

use domain::id::OrganizationId;

use common::error::{Error, Result};
use common::fair_queue::{FairSemaphore, Permit};
use db::fair_queue::TenantKey;

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

/// The permits of this instance; clones share them.
#[derive(Clone)]
pub struct TenantSemaphore {
    exports: FairSemaphore<TenantKey>,
    imports: FairSemaphore<TenantKey>,
    conversions: FairSemaphore<TenantKey>,
}

impl Default for TenantSemaphore {
    fn default() -> Self {
        Self {
            exports: FairSemaphore::new(8, 4),
            imports: FairSemaphore::new(4, 2),
            conversions: FairSemaphore::new(4, 2),
        }
    }
}

impl TenantSemaphore {
    /// Waits for a permit in the FIFO queue of the tenant. Requests without an organization share one queue.
    pub async fn acquire(
        &self,
        kind: OperationKind,
        organization: Option<&OrganizationId>,
    ) -> Result<Permit<TenantKey>> {
        let semaphore = match kind {
            OperationKind::Export => &self.exports,
            OperationKind::Import => &self.imports,
            OperationKind::Conversion => &self.conversions,
        };
        let permit = semaphore.acquire(organization.cloned(), WAITING_MAX).await;
        permit.ok_or(Error::Overloaded)
    }
}
