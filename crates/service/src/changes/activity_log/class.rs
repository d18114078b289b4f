//! Log entries of classes, homerooms, subjects and courses.

use domain::activity::{Action, Category};
use domain::change::{CascadeDeletion, ClassChange, CourseChange, HomeroomChange, SubjectChange};
use domain::class::Class;
use domain::course::Course;
use domain::homeroom::Homeroom;
use domain::subject::Subject;
use serde_json::{Value, json};

use super::{LogEntry, difference, left_groups, people, person, removed_assignments, removed_groups};

pub(super) fn entry(change: &ClassChange) -> LogEntry {
    match change {
        ClassChange::Created { class, copied_from } => {
            let mut details = json!({"status": class.class.status, "teacher": person(&class.teacher)});
            if let Some(from) = copied_from {
                details["copiedFrom"] = json!({"id": from.id, "name": from.name});
            }
            about(Action::Create, &class.class).details(details)
        }
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

pub(super) fn homeroom(change: &HomeroomChange) -> LogEntry {
    let about = |action, homeroom: &Homeroom| {
        let (id, name) = (&homeroom.id, homeroom.name.as_str());
        LogEntry::new(Category::Homeroom, action, "homeroom", id, name)
    };
    match change {
        HomeroomChange::Created { homeroom } => about(Action::Create, homeroom),
        HomeroomChange::Updated { homeroom, changed, .. } => {
            about(Action::Update, homeroom).details(difference(changed))
        }
        HomeroomChange::Deleted {
            homeroom,
            students,
            classes,
        } => {
            about(Action::Delete, homeroom).details(json!({"counts": {"students": students.len(), "classes": classes}}))
        }
        HomeroomChange::StudentsAdded { homeroom, students } => {
            about(Action::MemberAdded, homeroom).details(json!({"students": people(students)}))
        }
        HomeroomChange::StudentRemoved { homeroom, student } => {
            about(Action::MemberRemoved, homeroom).details(json!({"student": person(student)}))
        }
    }
}

pub(super) fn subject(change: &SubjectChange) -> LogEntry {
    let about = |action, subject: &Subject| {
        LogEntry::new(Category::Subject, action, "subject", &subject.id, subject.name.as_str())
    };
    match change {
        SubjectChange::Created { subject } => about(Action::Create, subject),
        SubjectChange::Updated { subject, changed } => about(Action::Update, subject).details(difference(changed)),
        SubjectChange::Deleted { subject } => about(Action::Delete, subject),
    }
}

/// Returns the log entry of a course; the specification defines the action of a deletion.
pub(super) fn course(change: &CourseChange) -> LogEntry {
    let about = |action, course: &Course| {
        LogEntry::new(Category::Course, action, "course", &course.id, course.name.as_str())
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

fn about(action: Action, class: &Class) -> LogEntry {
    LogEntry::new(Category::Class, action, "class", &class.id, class.name.as_str()).class(&class.id)
}

fn removed_courses(removed: &CascadeDeletion) -> Vec<Value> {
    removed
        .courses
        .iter()
        .map(|course| json!({"id": course.id, "name": course.name}))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use domain::change::{Change, DeletedAssignment, DeletedGroup};
    use domain::class::ClassStatus;
    use domain::group::{GroupContext, GroupLabel};
    use domain::id::{AssignmentId, ClassId, CourseId, GroupId, OrganizationId, SubjectId};
    use domain::text::Name;
    use domain::time::Timestamp;

    use super::*;

    fn deleted(groups: usize) -> Change {
        let course = Course::new(
            CourseId::new("c"),
            OrganizationId::new("o"),
            ClassId::new("k"),
            SubjectId::new("s"),
            Name::stored("Cells"),
            Timestamp::from_millis(1),
        );
        let group = |number: usize| DeletedGroup {
            group_context: GroupContext {
                group: GroupLabel {
                    id: GroupId::new(format!("g{number}")),
                    name: format!("Group {number}"),
                    group_number: 1,
                    display_name: None,
                    course_id: Some(CourseId::new("c")),
                },
                class: ClassId::new("k"),
                class_status: ClassStatus::Active,
                start_date: None,
            },
            members: Vec::new(),
        };
        let topic = DeletedAssignment {
            id: AssignmentId::new("a"),
            title: "Leaves".to_owned(),
            course_id: Some(CourseId::new("c")),
            group_contexts: Vec::new(),
        };
        let removed = CascadeDeletion {
            groups: (0..groups).map(group).collect(),
            assignments: vec![topic],
            documents: 3,
            ..CascadeDeletion::default()
        };
        CourseChange::Deleted {
            course: Box::new(course),
            removed,
        }
        .into()
    }

    #[test]
    fn course_deletion_lists_deleted_groups_and_topics() {
        let entry = super::super::entry(&deleted(1)).unwrap();
        assert_eq!((entry.category, entry.action), (Category::Course, Action::CourseDelete));
        assert_eq!(domain::activity::event(entry.category, entry.action), "COURSE_DELETE");
        assert_eq!(entry.class_id, Some(ClassId::new("k")));
        let expected = json!({
            "courseName": "Cells",
            "deletedGroups": [{"id": "g0", "name": "Group 0"}],
            "deletedAssignments": [{"id": "a", "title": "Leaves"}],
            "counts": {"groups": 1, "assignments": 1, "documents": 3, "submissions": 0, "messages": 0},
        });
        assert_eq!(entry.details, expected);
    }

    #[test]
    fn deletion_of_huge_course_fits_the_log() {
        let entry = super::super::entry(&deleted(3000)).unwrap();
        assert!(entry.details.to_string().len() <= 16 * 1024);
        assert_eq!(entry.details["counts"]["groups"], 3000);
        assert_eq!(entry.details["truncated"], true);
    }
}
