//! What a deletion took with it, named so that the log can tell it and the rooms that heard of it can be told.

use crate::document::Document;
use crate::file::FileKey;
use crate::group::Place;
use crate::id::{AssignmentId, CourseId, UserId};

/// Everything that went with something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Courses (only with a class).
    pub courses: Vec<RemovedCourse>,
    /// Groups with their rooms.
    pub groups: Vec<RemovedGroup>,
    /// Topics.
    pub assignments: Vec<RemovedAssignment>,
    /// How many documents.
    pub documents: i64,
    /// How many submissions.
    pub submissions: i64,
    /// How many chat messages.
    pub messages: i64,
    /// Documents that stay, but are no longer linked to or locked by a topic that went.
    pub released: Vec<PlacedDocument>,
    /// Files that nobody needs any more.
    pub files: Vec<FileKey>,
}

/// A course that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedCourse {
    /// Its id.
    pub id: CourseId,
    /// Its name.
    pub name: String,
}

/// A group that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedGroup {
    /// Where it stood, its id and name included.
    pub place: Place,
    /// Who was in it.
    pub members: Vec<UserId>,
}

/// A topic that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedAssignment {
    /// Its id.
    pub id: AssignmentId,
    /// Its title.
    pub title: String,
    /// Its course.
    pub course_id: Option<CourseId>,
    /// The groups that worked on it.
    pub places: Vec<Place>,
}

/// A document and the group in whose room it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedDocument {
    /// The group.
    pub place: Place,
    /// The document as it is now.
    pub document: Document,
}
