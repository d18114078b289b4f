//! The lesson board of a topic: the state of all its groups for the teacher. It uses the statements of the single
//! endpoints, so the board and these endpoints return the same data.

use std::collections::HashMap;

use domain::comment::UnreadComments;
use domain::id::{AssignmentId, DocumentId};

use super::ReadTx;
use super::assignments::VisibleAssignment;
use super::documents::VisibleDocument;
use super::groups::VisibleGroup;
use common::error::{Error, Result};

/// A topic with its groups and their documents.
#[derive(Debug, Clone)]
pub struct Board {
    /// The topic with the links to its groups, ordered by group number.
    pub topic: VisibleAssignment,
    /// The groups with their members, ordered by group number.
    pub groups: Vec<VisibleGroup>,
    /// The documents of these groups that are linked to this topic or to none, ordered by group number.
    pub documents: Vec<VisibleDocument>,
    /// The comments that the viewer has not read, by document. Documents without any are missing.
    pub unread_comments: HashMap<DocumentId, UnreadComments>,
}

impl ReadTx<'_> {
    /// Returns the board of a topic; `NotFound` unless the viewer manages its class.
    pub fn board(&mut self, id: &AssignmentId) -> Result<Board> {
        let topic = self.assignment(id)?;
        if !topic.is_managed {
            return Err(Error::NotFound);
        }
        let groups = self.groups_on_topic(&topic.details.assignment.class_id, id)?;
        let mut documents = self.documents_of_topic(id)?;
        documents.retain(|seen| seen.document().assignment_id.as_ref().is_none_or(|topic| topic == id));
        Ok(Board {
            topic,
            groups,
            documents,
            unread_comments: self.unread_comments_of_topic(id)?,
        })
    }
}
