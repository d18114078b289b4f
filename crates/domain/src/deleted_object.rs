//! Deleted objects that can be restored for some time: a class, a course, a group, a topic or a document, with
//! everything that was deleted with it. See docs/undo.md.

use api_macros::view;
use serde::Deserialize;

use crate::id::{ClassId, CourseId, DeletionId, GroupId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;
use crate::user::Person;

/// Days that deleted objects are kept unless the installation is configured otherwise.
pub const RETENTION_DAYS: i64 = 30;
/// The largest number of days that can be configured.
pub const RETENTION_DAYS_MAX: i64 = 365;
/// Seconds of a day.
const DAY: i64 = 86_400;

string_enum! {
    /// Kind of a deleted object.
    DeletedNoun {
        Class = "CLASS",
        Course = "COURSE",
        Group = "GROUP",
        /// A topic.
        Assignment = "ASSIGNMENT",
        Document = "DOCUMENT",
    }
}

/// How long deleted objects can be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletionRetention {
    days: i64,
}

impl DeletionRetention {
    /// Keeps deleted objects for this many days; 0 keeps none.
    pub const fn of_days(days: i64) -> Self {
        Self { days }
    }

    /// Returns until when an object deleted now can be restored; `None` if deletions are final.
    pub fn until(self, now: Timestamp) -> Option<Timestamp> {
        (self.days > 0).then(|| now.plus_seconds(self.days * DAY))
    }
}

/// Number of objects that were deleted together.
#[view(Copy, Default, PartialEq, Eq, Deserialize)]
pub struct DeletionCounts {
    pub courses: i64,
    pub groups: i64,
    /// Number of topics.
    pub assignments: i64,
    pub documents: i64,
    pub submissions: i64,
    /// Number of room messages.
    pub messages: i64,
}

/// A deleted object that can be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedObject {
    /// Id of the deletion.
    pub id: DeletionId,
    pub noun: DeletedNoun,
    /// Id of the object, which it keeps when it is restored.
    pub object_id: String,
    /// Name or title at the time of the deletion.
    pub name: String,
    /// The class of the object, or the class itself.
    pub class_id: ClassId,
    pub class_name: String,
    /// The course of a group or topic, or the course itself.
    pub course_id: Option<CourseId>,
    /// The group of a document, or the group itself.
    pub group_id: Option<GroupId>,
    pub group_name: Option<String>,
    pub counts: DeletionCounts,
    /// Size of its files, which count towards the storage quota.
    pub bytes: i64,
    /// The user who deleted it; `None` if the account is gone.
    pub deleted_by: Option<Person>,
    pub deleted_at: Timestamp,
    /// When it is deleted for good.
    pub expires_at: Timestamp,
    pub restored_at: Option<Timestamp>,
}

/// What a restore changed compared with the state before the deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreOutcome {
    /// The new name of a course whose name was taken.
    pub renamed_to: Option<String>,
    /// Number of groups with a new number.
    pub renumbered_groups: i64,
    /// Number of memberships and enrolments of people who left.
    pub left_out: i64,
    /// Number of rows that were dropped because something they belong to is gone, such as the work on a deleted topic.
    pub missing: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_of_zero_days_keeps_nothing() {
        let now = Timestamp::from_millis(1000);
        assert_eq!(DeletionRetention::of_days(0).until(now), None);
        assert_eq!(
            DeletionRetention::of_days(2).until(now),
            Some(Timestamp::from_millis(1000 + 2 * 86_400_000))
        );
    }
}
