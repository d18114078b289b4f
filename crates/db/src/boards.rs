//! The lesson board of a topic: the state of all its groups for the teacher. It uses the statements of the single
//! endpoints, so the board and these endpoints return the same data.

use model::id::AssignmentId;

use super::ReadTx;
use super::assignments::SeenAssignment;
use super::documents::SeenDocument;
use super::groups::KnownGroup;
use common::error::{Error, Result};

/// A topic with its groups and their documents.
#[derive(Debug, Clone)]
pub struct Board {
    /// The topic with the links to its groups, ordered by group number.
    pub topic: SeenAssignment,
    /// The groups with their members, ordered by group number.
    pub groups: Vec<KnownGroup>,
    /// The documents of these groups that are linked to this topic or to none, ordered by group number.
    pub documents: Vec<SeenDocument>,
}

impl ReadTx<'_> {
    /// Returns the board of a topic; `NotFound` unless the viewer manages its class.
    pub fn board(&mut self, id: &AssignmentId) -> Result<Board> {
        let topic = self.assignment(id)?;
        if !topic.is_managed {
            return Err(Error::NotFound);
        }
        let groups = self.groups_on_topic(&topic.whole.assignment.class_id, id)?;
        let mut documents = self.documents_of_topic(id)?;
        documents.retain(|seen| seen.document().assignment_id.as_ref().is_none_or(|topic| topic == id));
        Ok(Board {
            topic,
            groups,
            documents,
        })
    }
}
