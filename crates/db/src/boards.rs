//! The lesson board of a topic: everything a teacher sees of its groups at once, read by the statements that show each of
//! them alone, so that board and single answers cannot differ.

use model::id::AssignmentId;

use super::Scope;
use super::assignments::SeenAssignment;
use super::documents::SeenDocument;
use super::groups::KnownGroup;
use common::error::{Error, Result};

/// A topic with its groups and what they work on.
#[derive(Debug, Clone)]
pub struct Board {
    /// The topic with the links of its groups, by group number.
    pub topic: SeenAssignment,
    /// Its groups with their members, by group number.
    pub groups: Vec<KnownGroup>,
    /// The documents of these groups for this topic, or for none, by group number.
    pub documents: Vec<SeenDocument>,
}

impl Scope<'_> {
    /// The board of a topic whose class the viewer manages; for everybody else there is none.
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
