//! Schedules and stores the recount of each organization's storage usage.

use domain::id::OrganizationId;
use domain::storage::StorageUsage;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::storage::{StorageMark, details};
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// Organizations whose usage was not counted since a point in time, longest ago first.
    DUE = "SELECT o.id FROM organizations o
        LEFT JOIN storage_usages u ON u.organization_id = o.id
        WHERE o.deleted_at IS NULL AND COALESCE(u.counted_at, 0) < $1
        ORDER BY COALESCE(u.counted_at, 0), o.id LIMIT $2";
    /// Stores a count. No row is inserted for an organization that was deleted in the meantime.
    NOTE = "INSERT INTO storage_usages (organization_id, bytes, details, counted_at, removals_counted)
        SELECT o.id, CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT)
        FROM organizations o WHERE o.id = $1 AND o.deleted_at IS NULL
        ON CONFLICT (organization_id) DO UPDATE
        SET bytes = excluded.bytes, details = excluded.details, counted_at = excluded.counted_at,
            removals_counted = excluded.removals_counted";
}

impl PlatformTx<'_> {
    /// Lists organizations whose usage was last counted before this time, or never.
    pub fn uncounted_since(&mut self, before: Timestamp, limit: i64) -> Result<Vec<Tenant>> {
        let found = self.fetch_all(&DUE, args![before, limit], |row| row.get::<OrganizationId>("id"))?;
        Ok(found.into_iter().map(Tenant).collect())
    }

    /// Stores a count. Changes after `mark` were not counted and are added to it later.
    pub fn record_storage_usage(
        &mut self,
        organization: &OrganizationId,
        usage: &StorageUsage,
        mark: StorageMark,
    ) -> Result<()> {
        let details = details(usage)?;
        let bytes = usage.total_bytes - mark.added;
        let arguments = args![organization, bytes, details, usage.counted_at, mark.removals];
        self.execute(&NOTE, arguments)
    }
}
