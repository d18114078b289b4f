//! Finishing a topic locks the documents of all its groups, including hidden groups; reopening it restores their
//! previous state. Each is one transaction, so an interruption leaves no partial state.

use api_macros::body;
use std::collections::HashMap;

use domain::change::{AssignmentChange, GroupDocument};
use domain::document::{DocumentState, OtherTopics};
use domain::domain_error::DomainError;
use domain::id::{AssignmentId, DocumentId, GroupId};
use domain::patch::FieldPatch;
use domain::time::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::acting_user::acting_user;
use super::documents::{self, DocumentEdit};
use super::freeze::{self, Freeze, pending_freezes};
use adapters::onlyoffice::DocumentServer;
use common::error::Result;
use db::WriteTx;
use db::documents::VisibleDocument;
use db::group_assignments::OtherTopic;

/// The maximum number of links in one request.
const LINKS_MAX: usize = 1_000;

/// What to do before the topic is finished.
#[body(Default)]
pub struct FinishOptions {
    /// Documents to link to a topic of their group first. Each document may appear once.
    #[serde(default)]
    #[garde(length(max = LINKS_MAX), custom(check_unique))]
    pub links: Vec<DocumentLink>,
}

/// A document and the topic to link it to.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentLink {
    /// A document of a group that works on the finished topic.
    pub document_id: DocumentId,
    /// The topic to finish, or another active topic of the group.
    pub assignment_id: AssignmentId,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "garde passes its context by reference")]
fn check_unique(links: &[DocumentLink], _: &()) -> garde::Result {
    let mut documents: Vec<_> = links.iter().map(|link| &link.document_id).collect();
    documents.sort();
    let count = documents.len();
    documents.dedup();
    if documents.len() == count {
        Ok(())
    } else {
        Err(garde::Error::new("names a document twice"))
    }
}

/// The result of finishing a topic.
#[derive(Debug, Clone)]
pub struct FinishSummary {
    /// When the topic was first finished.
    pub at: Timestamp,
    /// The number of documents that were locked now.
    pub locked: i64,
    /// The number of groups on the topic.
    pub groups: i64,
    /// Whether the topic was finished before.
    pub already: bool,
    /// Drafts that were locked without a link to a topic, although their group works on another active topic.
    pub unlinked: Vec<UnlinkedDraft>,
    /// Documents that stay unlocked, because they are linked to another active topic.
    pub open: Vec<OpenDocument>,
    /// Editing sessions that may still be open.
    pub freezes: Vec<Freeze>,
}

/// A draft without a link, and the other topics that it may belong to.
#[derive(Debug, Clone)]
pub struct UnlinkedDraft {
    /// The document with its group.
    pub placed: GroupDocument,
    /// The other active topics of its group.
    pub topics: Vec<OtherTopic>,
}

/// A document that stays unlocked when the topic is finished.
#[derive(Debug, Clone)]
pub struct OpenDocument {
    /// The document with its group.
    pub placed: GroupDocument,
    /// The active topic that it is linked to.
    pub topic: OtherTopic,
}

/// The result of reopening a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopened {
    /// The number of documents that were unlocked.
    pub unlocked: i64,
    /// Documents that stay locked, because another topic of their group is finished.
    pub still_locked: Vec<DocumentId>,
    /// The number of groups on the topic.
    pub groups: i64,
}

/// Finishes a topic. Repeating it locks documents that were created since.
pub fn finish(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    options: &FinishOptions,
    server: &DocumentServer,
    until: Timestamp,
) -> Result<FinishSummary> {
    let teacher = acting_user(tx)?;
    let details = tx.lock_writable_assignment(id)?;
    let now = tx.now();
    details.published(now)?;
    let mut topic = details.assignment;
    let other_topics = other_topics(tx, id)?;
    let mut documents = tx.lock_documents_of_topic(id)?;
    if !options.links.is_empty() {
        link(tx, id, &options.links, &documents, &other_topics)?;
        documents = tx.documents_of_topic(id)?;
    }
    let is_changed = topic.finish(&teacher, now);
    if is_changed {
        tx.update_assignment(&topic)?;
    }
    let sessions = tx.editing_sessions_of_topic(id)?;
    let (mut locked, mut freezes) = (Vec::new(), Vec::new());
    let (mut unlinked, mut open) = (Vec::new(), Vec::new());
    let none = GroupTopics::default();
    for seen in documents {
        let mut document = seen.details.document;
        let others = other_topics.get(&document.group_id).unwrap_or(&none);
        let former = (document.status == DocumentState::Draft).then(|| document.key());
        if document.lock(id, &others.ids, now) {
            let is_unlinked_draft = former.is_some() && document.assignment_id.is_none();
            freezes.extend(freeze::begin(tx, &mut document, former, &sessions, server, until)?);
            tx.update_document(&document)?;
            let placed = GroupDocument {
                group_context: seen.group_context,
                document,
            };
            if is_unlinked_draft && !others.ids.active.is_empty() {
                unlinked.push(UnlinkedDraft {
                    placed: placed.clone(),
                    topics: others.active().cloned().collect(),
                });
            }
            locked.push(placed);
        } else if document.status.is_locked() {
            if document.locked_by_assignment_id.as_ref() == document.lock_owner(id, &others.ids) {
                // Editors that an interrupted request to finish did not reach.
                freezes.extend(pending_freezes(&document, &sessions, server));
            }
        } else {
            let own = document.assignment_id.as_ref();
            if let Some(topic) = others.active().find(|topic| Some(&topic.assignment_id) == own) {
                let topic = topic.clone();
                let placed = GroupDocument {
                    group_context: seen.group_context,
                    document,
                };
                open.push(OpenDocument { placed, topic });
            }
        }
    }
    let details = tx.assignment(id)?.details;
    let finished = FinishSummary {
        at: topic.finished.as_ref().map_or(now, |finish| finish.at),
        locked: count(&locked),
        groups: count(&details.links),
        already: !is_changed,
        unlinked,
        open,
        freezes,
    };
    if is_changed || !locked.is_empty() {
        tx.record(AssignmentChange::Finished {
            assignment: Box::new(details),
            already_finished: !is_changed,
            documents: locked,
            open: finished
                .open
                .iter()
                .map(|open| open.placed.document.id.clone())
                .collect(),
            // The document server has not been asked yet: locking does not wait for it.
            unsaved: Vec::new(),
        });
    }
    Ok(finished)
}

/// Links documents to topics before a topic is finished. Existing links are no change, so the request can be
/// repeated.
fn link(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    links: &[DocumentLink],
    documents: &[VisibleDocument],
    other_topics: &HashMap<GroupId, GroupTopics>,
) -> Result<()> {
    for link in links {
        let topic = &link.assignment_id;
        let found = documents.iter().find(|seen| seen.document().id == link.document_id);
        let Some(found) = found else {
            tx.document(&link.document_id)?;
            return Err(DomainError::GroupNotOnAssignment.into());
        };
        if found.document().assignment_id.as_ref() == Some(topic) {
            continue;
        }
        let others = other_topics.get(&found.document().group_id);
        if others.is_some_and(|others| others.ids.finished.contains(topic)) {
            return Err(DomainError::AssignmentFinished.into());
        }
        if topic != id && !others.is_some_and(|others| others.ids.active.contains(topic)) {
            tx.assignment(topic)?;
            return Err(DomainError::GroupNotOnAssignment.into());
        }
        let edit = DocumentEdit {
            assignment_id: FieldPatch::Value(topic.clone()),
            ..DocumentEdit::default()
        };
        documents::edit(tx, &link.document_id, &edit)?;
    }
    Ok(())
}

/// Reopens a topic. Documents that it locked return to their previous state, unless another finished topic of the
/// group still locks them.
pub fn reopen(tx: &mut WriteTx<'_>, id: &AssignmentId) -> Result<Reopened> {
    let details = tx.lock_writable_assignment(id)?;
    let mut topic = details.assignment;
    let now = tx.now();
    let is_changed = topic.reopen(details.links.iter().map(|link| &link.group_context.group), now)?;
    if is_changed {
        tx.update_assignment(&topic)?;
    }
    let other_topics = other_topics(tx, id)?;
    let none = GroupTopics::default();
    let mut changed = Vec::new();
    for seen in tx.lock_documents_of_topic(id)? {
        let mut document = seen.details.document;
        let others = other_topics.get(&document.group_id).unwrap_or(&none);
        if is_changed && document.reopen(id, &others.ids, now) {
            tx.update_document(&document)?;
            changed.push(GroupDocument {
                group_context: seen.group_context,
                document,
            });
        }
    }
    let still_locked = changed.iter().filter(|placed| placed.document.status.is_locked());
    let still_locked: Vec<_> = still_locked.map(|placed| placed.document.id.clone()).collect();
    let reopened = Reopened {
        unlocked: count(&changed) - count(&still_locked),
        still_locked,
        groups: count(&details.links),
    };
    if is_changed {
        let details = tx.assignment(id)?.details;
        tx.record(AssignmentChange::Reopened {
            assignment: Box::new(details),
            documents: changed,
        });
    }
    Ok(reopened)
}

#[derive(Debug, Clone, Default)]
struct GroupTopics {
    /// The ids, as the model's rules need them.
    ids: OtherTopics,
    all: Vec<OtherTopic>,
}

impl GroupTopics {
    fn active(&self) -> impl Iterator<Item = &OtherTopic> {
        self.all.iter().filter(|topic| topic.finished_at.is_none())
    }
}

/// Returns the other topics of each group that works on this one.
fn other_topics(tx: &mut WriteTx<'_>, id: &AssignmentId) -> Result<HashMap<GroupId, GroupTopics>> {
    let mut groups: HashMap<GroupId, GroupTopics> = HashMap::new();
    for (group, topic) in tx.other_topics(id)? {
        let of_group = groups.entry(group).or_default();
        let ids = if topic.finished_at.is_some() {
            &mut of_group.ids.finished
        } else {
            &mut of_group.ids.active
        };
        ids.push(topic.assignment_id.clone());
        of_group.all.push(topic);
    }
    Ok(groups)
}

fn count<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}
