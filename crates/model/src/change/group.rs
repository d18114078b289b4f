//! What happens to groups and their members.

use crate::edit::Changed;
use crate::file::{FileKey, GroupAttachment};
use crate::group::{Group, Place};
use crate::id::UserId;
use crate::user::Person;
use crate::whole::WholeGroup;

/// What happened to a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupChange {
    /// It was made, with its work room.
    Created {
        /// The group.
        group: Box<WholeGroup>,
    },
    /// Its fields changed, by a PATCH, a bulk edit, or because its course or topic moved.
    Updated {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// Where it stood before: who loses or gains sight of it follows from both.
        before: Place,
        /// What changed.
        changed: Changed,
    },
    /// It was deleted by itself, not with its course.
    Deleted {
        /// The group as it was.
        group: Box<Group>,
        /// Where it stood.
        place: Place,
        /// Who was in it.
        members: Vec<UserId>,
        /// How many documents went.
        documents: i64,
        /// How many submissions went.
        submissions: i64,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
    /// Students came in.
    MembersAdded {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The students.
        users: Vec<Person>,
    },
    /// A student went.
    MemberRemoved {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The student.
        user: Person,
    },
    /// A student went from one group of the class to another.
    MemberMoved {
        /// The group left, as it is now.
        from: Box<WholeGroup>,
        /// The group joined, as it is now.
        to: Box<WholeGroup>,
        /// The student.
        user: Person,
    },
    /// A file was added.
    AttachmentAdded {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The file.
        attachment: GroupAttachment,
    },
    /// A file was removed.
    AttachmentRemoved {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The file; its bytes go too.
        attachment: GroupAttachment,
    },
}
