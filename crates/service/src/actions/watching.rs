//! What becomes of an editing session that fell silent: it is over, or its changes wait where nobody looks. The staff see
//! what may not be saved.

use model::time::Timestamp;

use super::{saves, session_notices};
use common::error::Result;
use db::saves::{EditingSession, SaveNote};
use db::{Scope, Work};

/// Since when a document is frozen; nothing for a draft.
pub fn frozen_at(scope: &mut Scope<'_>, session: &EditingSession) -> Result<Option<Timestamp>> {
    Ok(scope.document(&session.document_id)?.document().frozen_at())
}

/// The document server knows nothing of a session any more. Where somebody wrote and no save came since, his words may be
/// gone: the staff are told.
pub fn end_unknown(work: &mut Work<'_>, session: &EditingSession) -> Result<()> {
    // It may have spoken while it was asked after.
    let still = work.editing_session(&session.document_id, session.generation)?;
    if still.is_none_or(|still| still.last_callback_at > session.last_callback_at) {
        return Ok(());
    }
    let is_saved = session.editors.is_empty() || work.saved_last(session)?;
    if !is_saved {
        tell_staff(work, session)?;
    }
    session_notices::end(work, &session.document_id, session.generation)
}

/// Nobody has it open, but the document server holds changes that were not saved; they come with the next opening.
pub fn tell_staff(work: &mut Work<'_>, session: &EditingSession) -> Result<()> {
    let note = SaveNote {
        document_id: session.document_id.clone(),
        document_key: session.document_key.clone(),
        url_path_hash: String::new(),
    };
    saves::note_failure(work, &note, session.generation, None)
}
