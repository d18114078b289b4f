//! Deleted objects in responses, and how a deletion can be undone.

use api_macros::view;
use domain::deleted_object::{DeletedNoun, DeletedObject, DeletionCounts, RestoreOutcome};
use domain::from_fields;
use domain::id::{ClassId, CourseId, DeletionId, GroupId};
use domain::time::Timestamp;
use domain::user::Person;

/// How a deletion can be undone, in the response to it. Empty if deletions are final.
#[view(Default)]
pub struct UndoView {
    /// Id of the deletion, for `POST /deletions/{id}/restore`. Absent in a dry run, and if deletions are final.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    deletion_id: Option<DeletionId>,
    /// Until when the deletion can be undone. Absent if deletions are final.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    restorable_until: Option<Timestamp>,
}

impl UndoView {
    /// `kept` is the id of the deletion and its expiry.
    pub fn new(kept: Option<(DeletionId, Timestamp)>, is_dry_run: bool) -> Self {
        let (deletion_id, restorable_until) = kept.unzip();
        Self {
            deletion_id: deletion_id.filter(|_| !is_dry_run),
            restorable_until,
        }
    }
}

/// A deleted object that can be restored.
#[view]
pub struct DeletionView {
    id: DeletionId,
    noun: DeletedNoun,
    /// Id of the object, which it keeps when it is restored.
    object_id: String,
    /// Name or title at the time of the deletion.
    name: String,
    /// The class of the object, or the class itself. It may be deleted as well.
    class_id: ClassId,
    class_name: String,
    /// The course of a group or topic, or the course itself.
    course_id: Option<CourseId>,
    /// The group of a document, or the group itself.
    group_id: Option<GroupId>,
    group_name: Option<String>,
    counts: DeletionCounts,
    /// Size of its files in bytes. They count towards the storage quota.
    bytes: i64,
    /// The user who deleted it; null for the service and its programs.
    deleted_by: Option<Person>,
    deleted_at: Timestamp,
    /// When it is deleted for good.
    restorable_until: Timestamp,
}

view_from!(deletion: DeletedObject => DeletionView {
    id, noun, object_id, name, class_id, class_name, course_id, group_id, group_name, counts, bytes, deleted_by,
    deleted_at,
    restorable_until: deletion.expires_at,
});

/// The result of restoring a deleted object.
#[view]
pub struct RestoredView {
    noun: DeletedNoun,
    object_id: String,
    class_id: ClassId,
    /// The new name of a course whose name was taken.
    renamed_to: Option<String>,
    /// Number of groups whose number was taken and that have a new one.
    renumbered_groups: i64,
    /// Number of memberships and enrolments of people who left in the meantime.
    left_out: i64,
    /// Number of rows that could not be restored because what they belong to is gone.
    missing: i64,
}

impl RestoredView {
    pub fn new(deletion: DeletedObject, outcome: RestoreOutcome) -> Self {
        from_fields!(outcome => Self {
            renamed_to, renumbered_groups, left_out, missing,
            noun: deletion.noun,
            object_id: deletion.object_id,
            class_id: deletion.class_id,
        })
    }
}
