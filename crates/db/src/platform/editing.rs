//! Stale editing sessions of all organizations, and the lease of the instance that recovers them.

use domain::id::DocumentId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::saves::EditingSession;
use crate::{Tenant, args, from_row, statements};
use common::error::Result;

statements! {
    /// Sessions without recent callbacks, and sessions of superseded document keys.
    SILENT_SESSIONS = "SELECT e.organization_id, e.document_id, e.generation, e.document_key, e.editors,
        e.last_callback_at,
            e.saved_nonce, e.flushed, e.has_gap,
            e.generation < d.generation AND NOT (d.status = 'DRAFT' AND e.generation = COALESCE(d.unsaved_generation,
            0)) AS is_superseded
        FROM editing_sessions e JOIN documents d ON d.id = e.document_id
        WHERE d.freezing_until IS NULL AND (e.last_callback_at < $1
            OR (e.generation < d.generation AND e.last_callback_at < $2
                AND NOT (d.status = 'DRAFT' AND e.generation = COALESCE(d.unsaved_generation, 0))))
        ORDER BY e.last_callback_at, e.id";
    /// Documents with a freeze that is in progress or was interrupted.
    FREEZING = "SELECT organization_id, id, freezing_until FROM documents WHERE freezing_until IS NOT NULL
        ORDER BY freezing_until, id";
    /// Acquires or renews a lease unless another instance holds it.
    TAKE_TURN = "INSERT INTO settings (name, value, updated_at) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
        WHERE settings.value = excluded.value OR settings.updated_at < $4";
}

/// A stale editing session.
#[derive(Debug, Clone)]
pub struct StaleSession {
    /// The organization of the document.
    pub tenant: Tenant,
    pub session: EditingSession,
    /// Whether the document was frozen or its key replaced after the session began.
    pub is_former: bool,
}

impl PlatformTx<'_> {
    /// Lists sessions whose last callback was before `silent_since`, and sessions of superseded keys whose last
    /// callback was before `former_since`.
    pub fn stale_sessions(&mut self, silent_since: Timestamp, former_since: Timestamp) -> Result<Vec<StaleSession>> {
        self.fetch_all(&SILENT_SESSIONS, args![silent_since, former_since], |row| {
            Ok(StaleSession {
                tenant: Tenant(row.get("organization_id")?),
                session: from_row!(row => EditingSession {
                    document_id, generation, document_key, last_callback_at, saved_nonce, has_gap,
                    editors: row.json("editors")?,
                    flushed: row.json("flushed")?,
                })?,
                is_former: row.get("is_superseded")?,
            })
        })
    }

    /// Lists documents with an incomplete freeze and its deadline.
    pub fn documents_being_locked(&mut self) -> Result<Vec<(Tenant, DocumentId, Timestamp)>> {
        self.fetch_all(&FREEZING, &[], |row| {
            Ok((
                Tenant(row.get("organization_id")?),
                row.get("id")?,
                row.get("freezing_until")?,
            ))
        })
    }

    /// Acquires the lease `name` until a point in time; returns false if another instance holds it. `holder` identifies
    /// this instance.
    pub fn acquire_lease(&mut self, name: &str, holder: &str, until: Timestamp, now: Timestamp) -> Result<bool> {
        let taken = self.execute_counted(&TAKE_TURN, args![name, holder, until, now])?;
        Ok(taken == 1)
    }
}
