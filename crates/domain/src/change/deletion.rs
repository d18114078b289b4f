//! Objects deleted together with another object, with the data that log entries and events about them need.

use crate::document::Document;
use crate::file::FileKey;
use crate::group::GroupContext;
use crate::id::{AssignmentId, CourseId, UserId};

/// Everything deleted together with an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CascadeDeletion {
    /// The deleted courses (only when a class was deleted).
    pub courses: Vec<DeletedCourse>,
    /// The deleted groups with their work rooms.
    pub groups: Vec<DeletedGroup>,
    pub assignments: Vec<DeletedAssignment>,
    /// Number of deleted documents.
    pub documents: i64,
    /// Number of deleted submissions.
    pub submissions: i64,
    /// Number of deleted room messages.
    pub messages: i64,
    /// Documents that remain, but are no longer linked to or locked by a deleted topic.
    pub released: Vec<GroupDocument>,
    /// Files that are no longer referenced.
    pub files: Vec<FileKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedCourse {
    pub id: CourseId,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedGroup {
    /// The group before its deletion, including its id and name.
    pub group_context: GroupContext,
    pub members: Vec<UserId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedAssignment {
    pub id: AssignmentId,
    pub title: String,
    pub course_id: Option<CourseId>,
    /// The groups that worked on it and for which it was published.
    pub group_contexts: Vec<GroupContext>,
}

/// A document and the group that owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDocument {
    pub group_context: GroupContext,
    /// The document after the change.
    pub document: Document,
}
