//! Activity log records in responses and exports.

use api_macros::view;
use domain::activity::{Action, ActivityRecord, Category, event};
use domain::from_fields;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, LogId, OrganizationId, UserId};
use domain::time::Timestamp;
use serde_json::value::RawValue;

use super::csv;

/// A record of the activity log: who did what, and when.
#[view]
pub struct ActivityLogView {
    id: LogId,
    organization_id: OrganizationId,
    /// The user who performed the action; null if the service did.
    user_id: Option<UserId>,
    user_name: String,
    user_role: String,
    category: Category,
    action: String,
    /// Event name, a combination of category and action.
    event: String,
    entity_type: String,
    entity_id: String,
    entity_name: Option<String>,
    class_id: Option<ClassId>,
    course_id: Option<CourseId>,
    group_id: Option<GroupId>,
    assignment_id: Option<AssignmentId>,
    #[schema(value_type = Object)]
    details: Box<RawValue>,
    request_id: Option<String>,
    created_at: Timestamp,
}

impl From<ActivityRecord> for ActivityLogView {
    fn from(record: ActivityRecord) -> Self {
        // An action of another release is shown unchanged, prefixed with its category.
        let event = Action::parse(&record.action).map_or_else(
            || format!("{}_{}", record.category, record.action),
            |action| event(record.category, action),
        );
        // Details are valid JSON when they are stored; invalid ones are shown as null.
        let details = RawValue::from_string(record.details).unwrap_or_default();
        from_fields!(record => Self {
            id, organization_id, user_id, user_name, user_role, category, action, entity_type, entity_id, entity_name,
            class_id, course_id, group_id, assignment_id, request_id, created_at,
            event: event,
            details: details,
        })
    }
}

impl ActivityLogView {
    /// Returns the header row of an export.
    pub fn csv_header() -> String {
        csv::format_row([
            "id",
            "createdAt",
            "userId",
            "userName",
            "userRole",
            "event",
            "category",
            "action",
            "entityType",
            "entityId",
            "entityName",
            "classId",
            "courseId",
            "groupId",
            "assignmentId",
            "requestId",
            "details",
        ])
    }

    /// Returns the record as a row of an export.
    pub fn csv_row(&self) -> String {
        fn text<T: ToString>(value: Option<&T>) -> String {
            value.map(ToString::to_string).unwrap_or_default()
        }
        csv::format_row([
            self.id.to_string(),
            self.created_at.to_string(),
            text(self.user_id.as_ref()),
            self.user_name.clone(),
            self.user_role.clone(),
            self.event.clone(),
            self.category.to_string(),
            self.action.clone(),
            self.entity_type.clone(),
            self.entity_id.clone(),
            text(self.entity_name.as_ref()),
            text(self.class_id.as_ref()),
            text(self.course_id.as_ref()),
            text(self.group_id.as_ref()),
            text(self.assignment_id.as_ref()),
            text(self.request_id.as_ref()),
            self.details.get().to_owned(),
        ])
    }
}
