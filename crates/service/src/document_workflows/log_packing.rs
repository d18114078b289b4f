//! Packs old commits of the built-in editor, so that a lesson leaves a small log. Nothing is lost by it: every commit
//! can still be read, rebased over and recognized when it is sent again.

use domain::id::DocumentId;
use domain::time::Timestamp;

use super::{DocumentWorkflows, context as service_context};
use common::clock;
use common::error::Result;
use db::RequestContext;
use db::platform::CrossTenantReason;

/// The age of commits that are packed, in seconds. Pages that write together need the commits of the last seconds.
const PACKED_AFTER_SECONDS: i64 = 600;

impl DocumentWorkflows {
    /// Packs the commits that are old enough and contained in a revision. Instances may do the same work; the second one
    /// finds nothing to do.
    pub async fn pack_logs(&self) -> Result<()> {
        let before = clock::now().plus_seconds(-PACKED_AFTER_SECONDS);
        let due = self
            .transactor
            .platform_read(CrossTenantReason::Housekeeping, move |platform| {
                platform.unpacked_logs(before)
            });
        for (tenant, document, generation) in due.await? {
            let packed = self
                .pack_log(&service_context(tenant), &document, generation, before)
                .await;
            if let Err(error) = packed {
                tracing::warn!(error = format!("{error:?}"), document.id = %document, "packing old document commits failed");
            }
        }
        Ok(())
    }

    async fn pack_log(
        &self,
        context: &RequestContext,
        document: &DocumentId,
        generation: i64,
        before: Timestamp,
    ) -> Result<()> {
        loop {
            let document = document.clone();
            let pack = self.transactor.write(context.clone(), move |tx| {
                tx.pack_commits(&document, generation, before)
            });
            if !pack.await? {
                return Ok(());
            }
        }
    }
}
