//! Events of courses, which only staff see, and of what is deleted with a course, which its groups see too.

use domain::change::{CascadeDeletion, CourseChange};
use domain::details::CourseDetails;
use domain::id::{ClassId, CourseId};
use domain::realtime::{Event, GroupDeletionReason};

use super::event_builder::{EventBuilder, names};
use super::{assignment, document, group};
use api_types::event::{CourseDeleted, CourseEvent, EventCourse};

pub fn emit(change: &CourseChange, builder: &mut EventBuilder<'_>) {
    match change {
        CourseChange::Created { course } => emit_created(course, builder),
        CourseChange::Updated { course, changed } => {
            let header = EventBuilder::event(&course.course.class_id, Event::CourseUpdated);
            builder.emit_to_staff(&header, course_payload(course, Some(&names(changed))));
        }
        CourseChange::Deleted { course, removed } => {
            emit_deleted_objects(&course.class_id, removed, GroupDeletionReason::CourseDeleted, builder);
            let header = EventBuilder::event(&course.class_id, Event::CourseDeleted);
            builder.emit_to_staff(&header, deleted_payload(&course.id, removed));
        }
    }
}

/// A course exists.
pub fn emit_created(course: &CourseDetails, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&course.course.class_id, Event::CourseCreated);
    builder.emit_to_staff(&header, course_payload(course, None));
}

/// Notifies the users who could see what was deleted.
pub fn emit_deleted_objects(
    class: &ClassId,
    removed: &CascadeDeletion,
    reason: GroupDeletionReason,
    builder: &mut EventBuilder<'_>,
) {
    for removed_object in &removed.groups {
        group::emit_removed(&removed_object.group_context, &removed_object.members, reason, builder);
    }
    for topic in &removed.assignments {
        assignment::emit_deleted_objects(
            class,
            &topic.id,
            topic.course_id.as_ref(),
            &topic.group_contexts,
            builder,
        );
    }
    document::emit_statuses(&removed.released, builder);
}

/// Returns the payload of `course:deleted`.
pub fn deleted_payload(course: &CourseId, removed: &CascadeDeletion) -> CourseDeleted {
    CourseDeleted {
        course_id: course.clone(),
        deleted_groups: removed
            .groups
            .iter()
            .map(|removed_object| removed_object.group_context.group.id.clone())
            .collect(),
        deleted_assignments: removed
            .assignments
            .iter()
            .map(|removed_object| removed_object.id.clone())
            .collect(),
    }
}

fn course_payload<'a>(course: &CourseDetails, changed: Option<&'a [&'a str]>) -> CourseEvent<'a> {
    CourseEvent {
        course: EventCourse::from(course),
        course_id: course.course.id.clone(),
        changed,
    }
}
