//! Handles editing sessions whose callbacks have timed out: they have ended, or hold unsaved changes. Staff are
//! alerted if changes may not be saved.

use domain::time::Timestamp;

use super::{saves, session_notices};
use common::error::Result;
use db::saves::{EditingSession, SaveNote};
use db::{ReadTx, WriteTx};

/// Returns when a document was frozen; `None` for a draft.
pub fn frozen_at(tx: &mut ReadTx<'_>, session: &EditingSession) -> Result<Option<Timestamp>> {
    Ok(tx.document(&session.document_id)?.document().frozen_at())
}

/// Ends a session that is unknown to the document server. If a user edited and no save followed, the changes may be
/// lost and staff are alerted.
pub fn end_unknown(tx: &mut WriteTx<'_>, session: &EditingSession) -> Result<()> {
    // A callback may have arrived while the document server was asked.
    let still = tx.editing_session(&session.document_id, session.generation)?;
    if still.is_none_or(|still| still.last_callback_at > session.last_callback_at) {
        return Ok(());
    }
    let is_saved = session.editors.is_empty() || tx.saved_last(session)?;
    if !is_saved {
        record_lost_changes(tx, session)?;
    }
    session_notices::end(tx, &session.document_id, session.generation)
}

/// Alerts staff: no editor is open, but the document server holds unsaved changes, which it sends when the document
/// is opened again.
pub fn record_lost_changes(tx: &mut WriteTx<'_>, session: &EditingSession) -> Result<()> {
    let note = SaveNote {
        document_id: session.document_id.clone(),
        document_key: session.document_key.clone(),
        url_path_hash: String::new(),
    };
    saves::record_failure(tx, &note, session.generation, None)
}
