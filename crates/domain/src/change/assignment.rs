//! Changes of assignments (topics) and of their group links.

use super::deletion::GroupDocument;
use super::documents;
use crate::assignment::{Assignment, AssignmentLabel};
use crate::details::{AssignmentDetails, GroupAssignmentDetails, GroupDetails};
use crate::file::{AssignmentAttachment, FileKey};
use crate::group::GroupContext;
use crate::id::{DocumentId, GroupId};
use crate::patch::FieldDiff;
use crate::rubric::TopicRubric;
use crate::version::VersionedObject;

/// A change of a topic.
#[derive(Clone, Debug, PartialEq)]
pub enum AssignmentChange {
    /// The topic was created, with or without groups.
    Created {
        assignment: Box<AssignmentDetails>,
        /// The topic it is a copy of.
        copied_from: Option<AssignmentLabel>,
    },
    /// Fields of the topic or task texts of single groups changed. Groups that moved with the topic are recorded as
    /// changes of their own.
    Updated {
        assignment: Box<AssignmentDetails>,
        changed: FieldDiff,
        /// The groups whose own task text changed.
        overridden: Vec<GroupId>,
        /// The groups whose exception from the publication changed.
        excepted: Vec<GroupId>,
        /// The groups for which the topic was published before.
        published_before: Vec<GroupId>,
    },
    /// A bulk edit changed fields shared by all groups.
    BulkUpdated {
        /// The topic after the change; all its groups are affected.
        assignment: Box<AssignmentDetails>,
        /// The changed fields: fields of the topic, `startDate` of the groups, `attachments`.
        changed: FieldDiff,
        /// The groups whose start date changed.
        moved: Vec<StartDateChange>,
        /// The groups for which the topic was published before.
        published_before: Vec<GroupId>,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
    /// The rubric of the topic was set, replaced or removed.
    RubricChanged {
        assignment: Box<AssignmentDetails>,
        /// The rubric after the change.
        rubric: Option<Box<TopicRubric>>,
        /// Whether students could see the criteria before or can see them now.
        is_shown: bool,
    },
    GroupsAttached {
        assignment: Box<AssignmentDetails>,
        /// The newly attached groups.
        attached: Vec<GroupId>,
    },
    GroupDetached {
        assignment: Box<AssignmentDetails>,
        group_context: GroupContext,
        /// Whether the topic was published for the group.
        was_published: bool,
        /// Number of deleted submissions.
        submissions: i64,
        /// Documents of the group that are no longer linked to or locked by the topic.
        released: Vec<GroupDocument>,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
    /// The task text, the extended deadline or the publication of one group changed.
    LinkUpdated {
        link: Box<GroupAssignmentDetails>,
        changed: FieldDiff,
        /// Whether the topic was published for the group before.
        was_published: bool,
    },
    /// An attachment was added, for all groups or for one, or removed with its stored file.
    AttachmentChanged {
        assignment: Box<AssignmentDetails>,
        /// The attachment; no event is emitted for a staged one.
        attachment: AssignmentAttachment,
        is_added: bool,
    },
    /// The topic was finished, or finished again to lock documents created since.
    Finished {
        assignment: Box<AssignmentDetails>,
        already_finished: bool,
        /// The documents that were locked.
        documents: Vec<GroupDocument>,
        /// Documents that stay open because they are linked to another topic that is active.
        open: Vec<DocumentId>,
        /// Documents whose latest edits could not be requested from the document server.
        unsaved: Vec<DocumentId>,
    },
    Reopened {
        assignment: Box<AssignmentDetails>,
        /// The documents that were unlocked, and those that stay locked because the lock passed to another topic.
        documents: Vec<GroupDocument>,
    },
    /// The topic was deleted on its own, not with its course.
    Deleted {
        /// The topic before its deletion.
        assignment: Box<Assignment>,
        /// The groups that worked on it.
        group_contexts: Vec<GroupContext>,
        /// Those for which it was published.
        published_groups: Vec<GroupId>,
        /// Number of deleted submissions.
        submissions: i64,
        /// Documents that are no longer linked to or locked by it.
        released: Vec<GroupDocument>,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
    /// The groups that have not submitted were reminded, by a message in their work rooms.
    Reminded {
        assignment: Box<Assignment>,
        groups: Vec<GroupId>,
    },
    /// Its documents or grades were exported.
    Exported {
        assignment: Box<Assignment>,
        /// Format of the export: `zip` or `csv`.
        format: &'static str,
    },
}

impl AssignmentChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::BulkUpdated { files, .. } | Self::GroupDetached { files, .. } | Self::Deleted { files, .. } => files,
            Self::AttachmentChanged {
                attachment,
                is_added: false,
                ..
            } => std::slice::from_ref(&attachment.file.key),
            Self::Created { .. }
            | Self::Updated { .. }
            | Self::RubricChanged { .. }
            | Self::GroupsAttached { .. }
            | Self::LinkUpdated { .. }
            | Self::AttachmentChanged { is_added: true, .. }
            | Self::Finished { .. }
            | Self::Reopened { .. }
            | Self::Reminded { .. }
            | Self::Exported { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        let (topic, mut others) = match self {
            Self::Updated { assignment, .. }
            | Self::RubricChanged { assignment, .. }
            | Self::AttachmentChanged { assignment, .. } => (&assignment.assignment, Vec::new()),
            Self::BulkUpdated { assignment, moved, .. } => (
                &assignment.assignment,
                moved.iter().map(|start| (&start.group.group.id).into()).collect(),
            ),
            // A group without a course moves to the course of the topic.
            Self::GroupsAttached { assignment, attached } => (
                &assignment.assignment,
                attached.iter().map(VersionedObject::from).collect(),
            ),
            Self::GroupDetached {
                assignment, released, ..
            } => (&assignment.assignment, documents(released)),
            Self::LinkUpdated { link, .. } => (&link.assignment, Vec::new()),
            Self::Finished {
                assignment,
                documents: closed,
                ..
            } => (&assignment.assignment, documents(closed)),
            Self::Reopened {
                assignment,
                documents: opened,
            } => (&assignment.assignment, documents(opened)),
            Self::Deleted { released, .. } => return documents(released),
            Self::Created { .. } | Self::Reminded { .. } | Self::Exported { .. } => return Vec::new(),
        };
        others.push((&topic.id).into());
        others
    }
}

/// A group whose start date was changed by a bulk edit.
#[derive(Clone, Debug, PartialEq)]
pub struct StartDateChange {
    /// The group after the change.
    pub group: GroupDetails,
    /// The group before the change.
    pub before: GroupContext,
}
