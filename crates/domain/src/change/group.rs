//! Changes of groups and their members.

use crate::details::GroupDetails;
use crate::file::{FileKey, GroupAttachment};
use crate::group::{Group, GroupContext};
use crate::id::UserId;
use crate::patch::FieldDiff;
use crate::user::Person;
use crate::version::VersionedObject;

/// A change of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupChange {
    /// The group was created together with its work room.
    Created {
        group: Box<GroupDetails>,
    },
    /// Fields of the group changed, by a PATCH, by a bulk edit, or because its course or topic moved.
    Updated {
        group: Box<GroupDetails>,
        /// The group before the change. Comparing it with `group` shows who gains or loses access to the group.
        before: GroupContext,
        changed: FieldDiff,
    },
    /// The group was deleted on its own, not with its course.
    Deleted {
        /// The group before its deletion.
        group: Box<Group>,
        group_context: GroupContext,
        members: Vec<UserId>,
        /// Number of deleted documents.
        documents: i64,
        /// Number of deleted submissions.
        submissions: i64,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
    MembersAdded {
        group: Box<GroupDetails>,
        users: Vec<Person>,
    },
    MemberRemoved {
        group: Box<GroupDetails>,
        user: Person,
    },
    /// A student moved from one group of the class to another.
    MemberMoved {
        /// The group the student left, after the change.
        from: Box<GroupDetails>,
        /// The group the student joined, after the change.
        to: Box<GroupDetails>,
        user: Person,
    },
    /// An attachment was added, or removed with its stored file.
    AttachmentChanged {
        group: Box<GroupDetails>,
        attachment: GroupAttachment,
        is_added: bool,
    },
}

impl GroupChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Deleted { files, .. } => files,
            Self::AttachmentChanged {
                attachment,
                is_added: false,
                ..
            } => std::slice::from_ref(&attachment.file.key),
            Self::Created { .. }
            | Self::Updated { .. }
            | Self::MembersAdded { .. }
            | Self::MemberRemoved { .. }
            | Self::MemberMoved { .. }
            | Self::AttachmentChanged { is_added: true, .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { group, .. }
            | Self::MembersAdded { group, .. }
            | Self::MemberRemoved { group, .. }
            | Self::AttachmentChanged { group, .. } => vec![(&group.group.id).into()],
            Self::MemberMoved { from, to, .. } => vec![(&from.group.id).into(), (&to.group.id).into()],
            Self::Created { .. } | Self::Deleted { .. } => Vec::new(),
        }
    }
}
