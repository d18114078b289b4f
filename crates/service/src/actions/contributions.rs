//! Who worked on a document, and how long. The document server says who is in the editor whenever somebody comes or goes;
//! what lies between two such notices was spent there by those who were in it.

use std::collections::BTreeSet;

use model::id::{DocumentId, UserId};

use common::error::Result;
use db::Work;

/// The longest time between two notices that counts, in seconds: nobody writes for longer without coming, going or saving,
/// but a notice may be lost.
const QUIET_MAX: i64 = 4 * 3_600;

/// Counts the time since the last notice of a session for everybody who was in it. Call it before the session changes.
pub fn present(work: &mut Work<'_>, document: &DocumentId, generation: i64) -> Result<()> {
    let Some(session) = work.editing_session(document, generation)? else {
        return Ok(());
    };
    let (since, now) = (session.last_callback_at, work.now());
    if session.editors.is_empty() || since >= now {
        return Ok(());
    }
    let room = work.document(document)?.document().work_room_id.clone();
    let counted = work.counted_in_room(&room)?;
    let from = since.max(now.plus_seconds(-QUIET_MAX));
    // In one order, so that two units never wait for each other.
    let editors: BTreeSet<&UserId> = session.editors.iter().collect();
    for editor in editors {
        // Whoever has two documents open is in both, but his time passes once.
        let from = counted.get(editor).map_or(from, |until| from.max(*until));
        if from < now {
            work.add_presence(document, editor, since, (from, now))?;
        }
    }
    Ok(())
}

/// Counts a save for everybody who wrote in it.
pub fn saved(work: &mut Work<'_>, document: &DocumentId, editors: &[UserId]) -> Result<()> {
    let editors: BTreeSet<&UserId> = editors.iter().collect();
    for editor in editors {
        work.add_save(document, editor)?;
    }
    Ok(())
}
