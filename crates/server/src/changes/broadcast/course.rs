//! Courses, which only the staff see, and what a deleted one takes with it, which its groups hear of.

use model::change::course::CourseChange;
use model::change::removed::{Removed, RemovedAssignment};
use model::id::ClassId;
use model::news::Event;
use model::whole::WholeCourse;
use serde_json::{Value, json};

use super::telling::{Telling, names};
use super::{document, group};
use crate::views::course::CourseView;

pub fn tell(change: &CourseChange, telling: &mut Telling<'_>) {
    match change {
        CourseChange::Created { course } => {
            let told = Telling::event(&course.course.class_id, Event::CourseCreated);
            telling.tell_staff(&told, shown(course));
        }
        CourseChange::Updated { course, changed } => {
            let told = Telling::event(&course.course.class_id, Event::CourseUpdated);
            let mut rest = shown(course);
            rest["changed"] = json!(names(changed));
            telling.tell_staff(&told, rest);
        }
        CourseChange::Deleted { course, removed } => {
            went(&course.class_id, removed, "COURSE_DELETED", telling);
            let told = Telling::event(&course.class_id, Event::CourseDeleted);
            telling.tell_staff(&told, deleted(&json!(course.id), removed));
        }
    }
}

/// What a deletion took with it, told to those who saw it.
pub fn went(class: &ClassId, removed: &Removed, reason: &str, telling: &mut Telling<'_>) {
    for gone in &removed.groups {
        group::removed(&gone.place, &gone.members, reason, telling);
    }
    for topic in &removed.assignments {
        topic_went(class, topic, telling);
    }
    document::statuses(&removed.released, telling);
}

/// What `course:deleted` says besides.
pub fn deleted(course: &Value, removed: &Removed) -> Value {
    let groups: Vec<_> = removed.groups.iter().map(|gone| &gone.place.group.id).collect();
    let assignments: Vec<_> = removed.assignments.iter().map(|gone| &gone.id).collect();
    json!({"courseId": course, "deletedGroups": groups, "deletedAssignments": assignments})
}

fn topic_went(class: &ClassId, topic: &RemovedAssignment, telling: &mut Telling<'_>) {
    let told = Telling::event(class, Event::AssignmentDeleted);
    telling.tell_staff(&told, json!({"assignmentId": topic.id, "courseId": topic.course_id}));
    for place in &topic.places {
        let rest = json!({"assignmentId": topic.id, "courseId": topic.course_id, "groupId": place.group.id});
        telling.tell_members(&told, place, rest);
    }
}

fn shown(course: &WholeCourse) -> Value {
    json!({"course": CourseView::from(course.clone()), "courseId": course.course.id})
}
