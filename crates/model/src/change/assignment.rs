//! What happens to assignments (topics) and to the links of their groups.

use super::removed::PlacedDocument;
use crate::assignment::{Assignment, AssignmentLabel};
use crate::edit::Changed;
use crate::file::{AssignmentAttachment, FileKey};
use crate::group::Place;
use crate::id::{DocumentId, GroupId};
use crate::whole::{WholeAssignment, WholeGroup, WholeGroupAssignment};

/// What happened to a topic.
#[derive(Clone, Debug, PartialEq)]
pub enum AssignmentChange {
    /// It was made, perhaps with groups.
    Created {
        /// The topic.
        assignment: Box<WholeAssignment>,
        /// The topic it is a copy of.
        copied_from: Option<AssignmentLabel>,
    },
    /// Its fields or the own texts of groups changed; groups that moved with it are changes of their own.
    Updated {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// What changed in the topic.
        changed: Changed,
        /// The groups whose own text changed.
        overridden: Vec<GroupId>,
    },
    /// What all groups share changed in one go.
    BulkUpdated {
        /// The topic as it is now; all its groups are affected.
        assignment: Box<WholeAssignment>,
        /// What changed: fields of the topic, `startDate` of the groups, `attachments`.
        changed: Changed,
        /// The groups whose start date changed.
        moved: Vec<MovedStart>,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
    /// Groups were attached.
    GroupsAttached {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// The groups that are new.
        attached: Vec<GroupId>,
    },
    /// A group was detached.
    GroupDetached {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// The group.
        place: Place,
        /// How many submissions went.
        submissions: i64,
        /// Documents of the group that are no longer linked to or locked by the topic.
        released: Vec<PlacedDocument>,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
    /// The own text or the time of one group changed.
    LinkUpdated {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// What changed.
        changed: Changed,
    },
    /// A file was added, for all groups or for one.
    AttachmentAdded {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// The file; a staged one is told to nobody.
        attachment: AssignmentAttachment,
    },
    /// A file was removed.
    AttachmentRemoved {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// The file; its bytes go too.
        attachment: AssignmentAttachment,
    },
    /// It was finished, or finished again to lock documents made since.
    Finished {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// Whether it was finished before.
        already_finished: bool,
        /// The documents that were locked.
        documents: Vec<PlacedDocument>,
        /// The documents that stay open, because they are linked to another topic that is active.
        open: Vec<DocumentId>,
        /// Documents whose last writing the document server could not be asked for.
        unsaved: Vec<DocumentId>,
    },
    /// It was reopened.
    Reopened {
        /// The topic as it is now.
        assignment: Box<WholeAssignment>,
        /// The documents that were unlocked, and those that stay locked because the lock passed on to another topic.
        documents: Vec<PlacedDocument>,
    },
    /// It was deleted by itself, not with its course.
    Deleted {
        /// The topic as it was.
        assignment: Box<Assignment>,
        /// The groups that worked on it.
        places: Vec<Place>,
        /// How many submissions went.
        submissions: i64,
        /// Documents that are no longer linked to or locked by it.
        released: Vec<PlacedDocument>,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
    /// Its documents or grades were exported.
    Exported {
        /// The topic.
        assignment: Box<Assignment>,
        /// What was made: `zip`, `csv`.
        format: &'static str,
    },
}

/// A group whose start date was moved by a bulk edit.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedStart {
    /// The group as it is now.
    pub group: WholeGroup,
    /// Where it stood before.
    pub before: Place,
}
