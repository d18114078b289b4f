//! Records who worked on a document, and for how long. The document server sends a callback with the users in the
//! editor whenever one joins or leaves; the time between two callbacks counts for the users who were in the editor.

use std::collections::BTreeSet;

use domain::id::{DocumentId, UserId};

use common::error::Result;
use db::WriteTx;

/// The maximum time between two callbacks that counts, in seconds. Users who write for that long join, leave or save
/// in between, but a callback may be lost.
const IDLE_SECONDS_MAX: i64 = 4 * 3_600;

/// Counts the time since the last callback of a session for every user in it. Call this before the session changes.
pub fn record_presence(tx: &mut WriteTx<'_>, document: &DocumentId, generation: i64) -> Result<()> {
    let Some(session) = tx.editing_session(document, generation)? else {
        return Ok(());
    };
    let (since, now) = (session.last_callback_at, tx.now());
    if session.editors.is_empty() || since >= now {
        return Ok(());
    }
    let room = tx.document(document)?.document().work_room_id.clone();
    let counted = tx.counted_in_room(&room)?;
    let from = since.max(now.plus_seconds(-IDLE_SECONDS_MAX));
    // Sorted, so that two transactions lock rows in the same order.
    let editors: BTreeSet<&UserId> = session.editors.iter().collect();
    for editor in editors {
        // Time in two documents at once counts once per user.
        let from = counted.get(editor).map_or(from, |until| from.max(*until));
        if from < now {
            tx.add_presence(document, editor, since, (from, now))?;
        }
    }
    Ok(())
}

/// Counts a save for every user who contributed to it.
pub fn record_save(tx: &mut WriteTx<'_>, document: &DocumentId, editors: &[UserId]) -> Result<()> {
    let editors: BTreeSet<&UserId> = editors.iter().collect();
    for editor in editors {
        tx.add_save(document, editor)?;
    }
    Ok(())
}
