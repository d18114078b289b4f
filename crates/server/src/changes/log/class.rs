//! Records of classes, homerooms, subjects and courses.

use model::activity::{Action, Category};
use model::change::class::ClassChange;
use model::change::course::CourseChange;
use model::change::homeroom::HomeroomChange;
use model::change::removed::Removed;
use model::change::subject::SubjectChange;
use model::class::Class;
use model::course::Course;
use model::homeroom::Homeroom;
use model::subject::Subject;
use serde_json::{Value, json};

use super::{Entry, difference, left_groups, people, person, removed_assignments, removed_groups};

/// The record of what happened to a class.
pub(super) fn entry(change: &ClassChange) -> Entry {
    match change {
        ClassChange::Created { class } => about(Action::Create, &class.class)
            .details(json!({"status": class.class.status, "teacher": person(&class.teacher)})),
        ClassChange::Updated {
            class,
            changed,
            students: _,
        } => about(Action::Update, &class.class).details(difference(changed)),
        ClassChange::Deleted {
            class,
            removed,
            students,
            teachers: _,
        } => about(Action::Delete, class).details(json!({
            "className": class.name,
            "deletedCourses": removed_courses(removed),
            "deletedGroups": removed_groups(&removed.groups),
            "deletedAssignments": removed_assignments(&removed.assignments),
            "counts": {
                "courses": removed.courses.len(),
                "groups": removed.groups.len(),
                "assignments": removed.assignments.len(),
                "documents": removed.documents,
                "submissions": removed.submissions,
                "messages": removed.messages,
                "students": students.len(),
            },
        })),
        ClassChange::TeachersChanged { class, added, removed } => {
            let action = match (added.is_empty(), removed.is_empty()) {
                (false, true) => Action::MemberAdded,
                (true, false) => Action::MemberRemoved,
                (true, true) | (false, false) => Action::Update,
            };
            about(action, &class.class)
                .details(json!({"coTeachersAdded": people(added), "coTeachersRemoved": people(removed)}))
        }
        ClassChange::Enrolled { class, students } => {
            about(Action::MemberAdded, class).details(json!({"students": people(students)}))
        }
        ClassChange::Unenrolled { class, student, left } => about(Action::MemberRemoved, class)
            .details(json!({"student": person(student), "removedFromGroups": left_groups(left)})),
        ClassChange::EnrollmentUpdated {
            class,
            student,
            completed_at,
        } => about(Action::Update, class).details(json!({"student": person(student), "completedAt": completed_at})),
    }
}

/// The record of what happened to a homeroom.
pub(super) fn homeroom(change: &HomeroomChange) -> Entry {
    let about = |action, homeroom: &Homeroom| {
        Entry::new(
            Category::Homeroom,
            action,
            "homeroom",
            &homeroom.id,
            homeroom.name.as_str(),
        )
    };
    match change {
        HomeroomChange::Created { homeroom } => about(Action::Create, homeroom),
        HomeroomChange::Updated { homeroom, changed } => about(Action::Update, homeroom).details(difference(changed)),
        HomeroomChange::Deleted { homeroom } => about(Action::Delete, homeroom),
        HomeroomChange::StudentsAdded { homeroom, students } => {
            about(Action::MemberAdded, homeroom).details(json!({"students": people(students)}))
        }
        HomeroomChange::StudentRemoved { homeroom, student } => {
            about(Action::MemberRemoved, homeroom).details(json!({"student": person(student)}))
        }
    }
}

/// The record of what happened to a subject.
pub(super) fn subject(change: &SubjectChange) -> Entry {
    let about = |action, subject: &Subject| {
        Entry::new(Category::Subject, action, "subject", &subject.id, subject.name.as_str())
    };
    match change {
        SubjectChange::Created { subject } => about(Action::Create, subject),
        SubjectChange::Updated { subject, changed } => about(Action::Update, subject).details(difference(changed)),
        SubjectChange::Deleted { subject } => about(Action::Delete, subject),
    }
}

/// The record of what happened to a course; the words of its deletion are the specification's.
pub(super) fn course(change: &CourseChange) -> Entry {
    let about = |action, course: &Course| {
        Entry::new(Category::Course, action, "course", &course.id, course.name.as_str())
            .class(&course.class_id)
            .course(Some(&course.id))
    };
    match change {
        CourseChange::Created { course } => about(Action::Create, &course.course)
            .details(json!({"subject": {"id": course.subject.id, "name": course.subject.name}})),
        CourseChange::Updated { course, changed } => about(Action::Update, &course.course).details(difference(changed)),
        CourseChange::Deleted { course, removed } => about(Action::CourseDelete, course).details(json!({
            "courseName": course.name,
            "deletedGroups": removed_groups(&removed.groups),
            "deletedAssignments": removed_assignments(&removed.assignments),
            "counts": {
                "groups": removed.groups.len(),
                "assignments": removed.assignments.len(),
                "documents": removed.documents,
                "submissions": removed.submissions,
                "messages": removed.messages,
            },
        })),
    }
}

fn about(action: Action, class: &Class) -> Entry {
    Entry::new(Category::Class, action, "class", &class.id, class.name.as_str()).class(&class.id)
}

fn removed_courses(removed: &Removed) -> Vec<Value> {
    removed
        .courses
        .iter()
        .map(|course| json!({"id": course.id, "name": course.name}))
        .collect()
}
