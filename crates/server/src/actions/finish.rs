//! Finishing a topic locks the documents of all its groups, hidden ones too; reopening restores exactly what was. Both
//! are one unit, so an interruption leaves everything as before or everything done.

use std::collections::HashSet;

use model::change::assignment::AssignmentChange;
use model::change::removed::PlacedDocument;
use model::document::Status;
use model::id::{AssignmentId, GroupId};
use model::time::Timestamp;

use super::freeze::{self, Freeze, unasked};
use crate::document_server::DocumentServer;
use crate::error::{Error, Result};
use crate::store::Work;

/// What finishing did.
#[derive(Debug, Clone)]
pub struct Finished {
    /// When the topic was finished, first of all.
    pub at: Timestamp,
    /// How many documents were locked now.
    pub locked: i64,
    /// How many groups work on the topic.
    pub groups: i64,
    /// Whether it was finished before.
    pub already: bool,
    /// The editors that may still be open.
    pub freezes: Vec<Freeze>,
}

/// What reopening did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reopened {
    /// How many documents were unlocked.
    pub unlocked: i64,
    /// How many groups work on the topic.
    pub groups: i64,
}

/// Finishes a topic; repeated, it locks documents made since.
pub fn finish(work: &mut Work<'_>, id: &AssignmentId, server: &DocumentServer, until: Timestamp) -> Result<Finished> {
    let teacher = work.actor().user.clone().ok_or(Error::Unauthenticated)?;
    let mut topic = work.assignment_to_write(id)?.assignment;
    let now = work.now();
    let is_news = topic.finish(&teacher, now);
    if is_news {
        work.update_assignment(&topic)?;
    }
    let elsewhere = groups_elsewhere(work, id)?;
    let sessions = work.editing_sessions_of_topic(id)?;
    let (mut locked, mut freezes) = (Vec::new(), Vec::new());
    for seen in work.documents_of_topic_to_write(id)? {
        let mut document = seen.whole.document;
        let former = (document.status == Status::Draft).then(|| document.key());
        if document.lock(id, elsewhere.contains(&document.group_id), now) {
            freezes.extend(freeze::begin(work, &mut document, former, &sessions, server, until)?);
            work.update_document(&document)?;
            locked.push(PlacedDocument {
                place: seen.place,
                document,
            });
        } else if document.locked_by_assignment_id.as_ref() == Some(id) {
            // An interrupted finish: editors that it did not reach any more.
            freezes.extend(unasked(&document, &sessions, server));
        }
    }
    let whole = work.assignment(id)?.whole;
    let finished = Finished {
        at: topic.finished.as_ref().map_or(now, |finish| finish.at),
        locked: count(&locked),
        groups: count(&whole.links),
        already: !is_news,
        freezes,
    };
    if is_news || !locked.is_empty() {
        work.record(AssignmentChange::Finished {
            assignment: Box::new(whole),
            already_finished: !is_news,
            documents: locked,
            // Nobody was asked yet: the lock does not wait for the document server.
            unsaved: Vec::new(),
        });
    }
    Ok(finished)
}

/// Reopens a topic: what it locked is as it was before.
pub fn reopen(work: &mut Work<'_>, id: &AssignmentId) -> Result<Reopened> {
    let whole = work.assignment_to_write(id)?;
    let mut topic = whole.assignment;
    let now = work.now();
    let is_news = topic.reopen(whole.links.iter().map(|link| &link.place.group), now)?;
    if is_news {
        work.update_assignment(&topic)?;
    }
    let elsewhere = groups_elsewhere(work, id)?;
    let mut unlocked = Vec::new();
    for seen in work.documents_of_topic_to_write(id)? {
        let mut document = seen.whole.document;
        if is_news && document.unlock(id, elsewhere.contains(&document.group_id), now) {
            work.update_document(&document)?;
            unlocked.push(PlacedDocument {
                place: seen.place,
                document,
            });
        }
    }
    let reopened = Reopened {
        unlocked: count(&unlocked),
        groups: count(&whole.links),
    };
    if is_news {
        let whole = work.assignment(id)?.whole;
        work.record(AssignmentChange::Reopened {
            assignment: Box::new(whole),
            documents: unlocked,
        });
    }
    Ok(reopened)
}

/// The groups of the topic that work on another active topic: their loose documents belong to that work as well.
fn groups_elsewhere(work: &mut Work<'_>, id: &AssignmentId) -> Result<HashSet<GroupId>> {
    Ok(work.groups_with_other_active_topics(id)?.into_iter().collect())
}

fn count<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}
