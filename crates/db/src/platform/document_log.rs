//! Documents of all organizations whose log has to be written to a file or can be packed.

use domain::id::DocumentId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::document_log::PACK_MAX;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// Logs with unsaved commits that have been quiet since `$1`, or unsaved since `$2`.
    UNSAVED = "SELECT organization_id, document_id FROM document_logs
        WHERE unsaved_since IS NOT NULL AND (last_commit_at < $1 OR unsaved_since < $2)
        ORDER BY unsaved_since, document_id LIMIT $3";
    /// Logs with commits before `$1` that can be packed: a whole pack, or the last ones of a quiet document.
    UNPACKED = "SELECT l.organization_id, l.document_id, l.generation FROM document_logs l
        WHERE l.packed_version < l.saved_version AND (l.last_commit_at < $1 OR EXISTS (
            SELECT 1 FROM document_steps s WHERE s.document_id = l.document_id AND s.generation = l.generation
                AND s.version = l.packed_version + $2 AND s.version <= l.saved_version AND s.created_at < $1))
        ORDER BY l.document_id, l.generation LIMIT $3";
    LATE = "SELECT organization_id, document_id FROM late_commits WHERE NOT is_saved AND created_at < $1
        GROUP BY organization_id, document_id ORDER BY MIN(created_at), document_id LIMIT $2";
}

/// Documents per round; the rest waits for the next one.
const LIMIT: i64 = 100;

impl PlatformTx<'_> {
    /// Lists documents with commits that no revision contains, if the last one is older than `quiet` or the first one
    /// older than `oldest`.
    pub fn unsaved_logs(&mut self, quiet: Timestamp, oldest: Timestamp) -> Result<Vec<(Tenant, DocumentId)>> {
        self.fetch_all(&UNSAVED, args![quiet, oldest, LIMIT], |row| {
            Ok((Tenant(row.get("organization_id")?), row.get("document_id")?))
        })
    }

    /// Lists generations with commits from before `before` that can be packed.
    pub fn unpacked_logs(&mut self, before: Timestamp) -> Result<Vec<(Tenant, DocumentId, i64)>> {
        self.fetch_all(&UNPACKED, args![before, PACK_MAX, LIMIT], |row| {
            Ok((
                Tenant(row.get("organization_id")?),
                row.get("document_id")?,
                row.get("generation")?,
            ))
        })
    }

    /// Lists documents with late commits from before `before` that no revision contains.
    pub fn unsaved_late_commits(&mut self, before: Timestamp) -> Result<Vec<(Tenant, DocumentId)>> {
        self.fetch_all(&LATE, args![before, LIMIT], |row| {
            Ok((Tenant(row.get("organization_id")?), row.get("document_id")?))
        })
    }
}
