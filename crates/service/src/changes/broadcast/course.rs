//! Events of courses, which only staff see, and of what is deleted with a course, which its groups see too.

use model::change::course::CourseChange;
use model::change::removed::Removed;
use model::id::{ClassId, CourseId};
use model::news::{Event, GroupDeletionReason};
use model::whole::WholeCourse;

use super::telling::{Telling, names};
use super::{assignment, document, group};
use api_types::event::{CourseDeleted, CourseEvent, EventCourse};

pub fn tell(change: &CourseChange, telling: &mut Telling<'_>) {
    match change {
        CourseChange::Created { course } => {
            let told = Telling::event(&course.course.class_id, Event::CourseCreated);
            telling.tell_staff(&told, shown(course, None));
        }
        CourseChange::Updated { course, changed } => {
            let told = Telling::event(&course.course.class_id, Event::CourseUpdated);
            telling.tell_staff(&told, shown(course, Some(&names(changed))));
        }
        CourseChange::Deleted { course, removed } => {
            went(&course.class_id, removed, GroupDeletionReason::CourseDeleted, telling);
            let told = Telling::event(&course.class_id, Event::CourseDeleted);
            telling.tell_staff(&told, deleted(&course.id, removed));
        }
    }
}

/// Notifies the users who could see what was deleted.
pub fn went(class: &ClassId, removed: &Removed, reason: GroupDeletionReason, telling: &mut Telling<'_>) {
    for gone in &removed.groups {
        group::removed(&gone.place, &gone.members, reason, telling);
    }
    for topic in &removed.assignments {
        assignment::went(class, &topic.id, topic.course_id.as_ref(), &topic.places, telling);
    }
    document::statuses(&removed.released, telling);
}

/// Returns the payload of `course:deleted`.
pub fn deleted(course: &CourseId, removed: &Removed) -> CourseDeleted {
    CourseDeleted {
        course_id: course.clone(),
        deleted_groups: removed.groups.iter().map(|gone| gone.place.group.id.clone()).collect(),
        deleted_assignments: removed.assignments.iter().map(|gone| gone.id.clone()).collect(),
    }
}

fn shown<'a>(course: &WholeCourse, changed: Option<&'a [&'a str]>) -> CourseEvent<'a> {
    CourseEvent {
        course: EventCourse::from(course),
        course_id: course.course.id.clone(),
        changed,
    }
}
