//! Editing as the platform sees it: sessions that have been silent for long, in whatever school, and whose turn it is to
//! look after them.

use model::id::DocumentId;
use model::time::Timestamp;

use super::Platform;
use crate::Tenant;
use crate::saves::EditingSession;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Sessions that were silent, and those whose document was frozen since.
    SILENT_SESSIONS = "SELECT e.organization_id, e.document_id, e.generation, e.document_key, e.editors, e.last_callback_at,
            e.saved_nonce, e.flushed, e.has_gap,
            e.generation < d.generation AND NOT (d.status = 'DRAFT' AND e.generation = COALESCE(d.unsaved_generation, 0))
        FROM editing_sessions e JOIN documents d ON d.id = e.document_id
        WHERE d.freezing_until IS NULL AND (e.last_callback_at < $1
            OR (e.generation < d.generation AND e.last_callback_at < $2
                AND NOT (d.status = 'DRAFT' AND e.generation = COALESCE(d.unsaved_generation, 0))))
        ORDER BY e.last_callback_at, e.id";
    /// Documents whose freeze is under way, or was interrupted.
    FREEZING = "SELECT organization_id, id, freezing_until FROM documents WHERE freezing_until IS NOT NULL
        ORDER BY freezing_until, id";
    /// Takes or prolongs the turn, unless another instance has it.
    TAKE_TURN = "INSERT INTO settings (name, value, updated_at) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
        WHERE settings.value = excluded.value OR settings.updated_at < $4";
}

/// A session to be looked after.
#[derive(Debug, Clone)]
pub struct SilentSession {
    /// The school of the document.
    pub tenant: Tenant,
    /// The session.
    pub session: EditingSession,
    /// Whether the document was frozen, or its key made new, since it began.
    pub is_former: bool,
}

impl Platform<'_> {
    /// Sessions that last spoke before `silent_since`, and those of former keys that last spoke before `former_since`.
    pub fn silent_sessions(&mut self, silent_since: Timestamp, former_since: Timestamp) -> Result<Vec<SilentSession>> {
        self.connection
            .many(&SILENT_SESSIONS, args![silent_since, former_since], |row| {
                Ok(SilentSession {
                    tenant: Tenant(row.take()?),
                    session: EditingSession {
                        document_id: row.take::<DocumentId>()?,
                        generation: row.take()?,
                        document_key: row.take()?,
                        editors: row.json()?,
                        last_callback_at: row.take()?,
                        saved_nonce: row.take()?,
                        flushed: row.json()?,
                        has_gap: row.take()?,
                    },
                    is_former: row.take()?,
                })
            })
    }

    /// Documents whose freeze is not complete, with the moment at which it ends at the latest.
    pub fn freezing_documents(&mut self) -> Result<Vec<(Tenant, DocumentId, Timestamp)>> {
        self.connection.many(&FREEZING, &[], |row| {
            Ok((Tenant(row.take()?), row.take()?, row.take()?))
        })
    }

    /// Takes the turn at some work until a moment; false when another instance has it. `holder` names this instance.
    pub fn take_turn(&mut self, name: &str, holder: &str, until: Timestamp, now: Timestamp) -> Result<bool> {
        let taken = self.connection.run(&TAKE_TURN, args![name, holder, until, now])?;
        Ok(taken == 1)
    }
}
