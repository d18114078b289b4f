//! Tests of topics: finishing, editing and moving them, and the fields a bulk edit cannot change.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use garde::Validate;

use super::*;
use crate::samples::{ada, assignment, at, course, group};

#[test]
fn a_topic_is_finished_once_and_keeps_the_first_moment() {
    let mut topic = assignment("t", None);
    assert!(topic.finish(&ada(), at(5)));
    assert!(!topic.finish(&UserId::new("cem"), at(6)));
    assert_eq!(
        topic.finished,
        Some(AssignmentCompletion {
            at: at(5),
            by: Some(ada())
        })
    );
    assert_eq!(topic.status(), AssignmentStatus::Finished);
}

#[test]
fn topic_with_groups_of_other_courses_is_not_reopened() {
    let mut topic = assignment("t", Some("poems"));
    topic.finish(&ada(), at(5));
    let stayed = Group {
        course_id: Some(CourseId::new("poems")),
        ..group("stayed")
    };
    let moved = Group {
        course_id: Some(CourseId::new("prose")),
        ..group("moved")
    };
    let domain_error = DomainError::CourseMismatch {
        groups: vec![GroupId::new("moved")],
    };
    assert_eq!(
        topic.reopen([&stayed.label(), &moved.label()], at(6)),
        Err(domain_error)
    );
    assert!(!topic.is_active());
    assert_eq!(topic.reopen([&stayed.label()], at(6)), Ok(true));
    assert_eq!(
        topic.reopen([&moved.label()], at(7)),
        Ok(false),
        "a topic at work is not reopened again"
    );
}

#[test]
fn finished_topic_rejects_real_changes_only() {
    let mut topic = assignment("t", None);
    topic.finish(&ada(), at(5));
    let titled = |title| AssignmentEdit {
        title: FieldPatch::Value(Title::stored(title)),
        ..AssignmentEdit::default()
    };
    assert_eq!(topic.edit(titled("other"), at(6)), Err(DomainError::AssignmentFinished));
    assert!(topic.edit(titled("t"), at(6)).unwrap().is_empty());
    assert_eq!(
        topic.edit_shared(&BulkAssignmentEdit::default(), at(6)),
        Err(DomainError::AssignmentFinished)
    );
    assert_eq!(topic.title.as_str(), "t");
}

#[test]
fn edit_returns_changed_fields() {
    let mut topic = assignment("t", None);
    let edit: AssignmentEdit = serde_json::from_str(
        r#"{"title": " t ", "deadline": "2026-12-01T08:00:00+01:00", "isShared": false, "maxPoints": 12.5}"#,
    )
    .unwrap();
    edit.validate().unwrap();
    let changed = topic.edit(edit, at(6)).unwrap();
    assert_eq!(changed.names(), ["deadline", "maxPoints", "isShared"]);
    assert_eq!(changed.after()["deadline"], "2026-12-01T07:00:00.000Z");
    assert_eq!(topic.updated_at, at(6));
}

#[test]
fn bulk_edit_accepts_shared_fields_only() {
    for foreign in [
        "descriptionOverride",
        "groups",
        "memberIds",
        "isShared",
        "courseId",
        "groupAssignmentId",
    ] {
        let body = format!(r#"{{"title": "x", "{foreign}": null}}"#);
        assert!(serde_json::from_str::<BulkAssignmentEdit>(&body).is_err(), "{foreign}");
    }
    let edit: BulkAssignmentEdit = serde_json::from_str(
        r#"{"title": "x", "description": "", "deadline": "2026-12-01T08:00:00Z", "startDate": null,
            "addAttachmentIds": ["a"], "removeAttachmentIds": []}"#,
    )
    .unwrap();
    assert!(edit.validate().is_ok());
    assert_eq!(edit.start_date, FieldPatch::Null);
}

#[test]
fn a_bulk_edit_leaves_course_and_sharing_as_they_are() {
    let mut topic = Assignment {
        is_shared: false,
        ..assignment("t", Some("poems"))
    };
    let before = topic.clone();
    let edit = BulkAssignmentEdit {
        title: FieldPatch::Value(Title::stored("new")),
        description: FieldPatch::Value(Description::stored("new text")),
        deadline: FieldPatch::Value(at(2000)),
        start_date: FieldPatch::Value(at(50).into()),
        ..BulkAssignmentEdit::default()
    };
    assert_eq!(
        topic.edit_shared(&edit, at(9)).unwrap().names(),
        ["title", "description", "deadline"]
    );
    let untouched = Assignment {
        title: topic.title.clone(),
        description: topic.description.clone(),
        deadline: at(2000),
        updated_at: at(9),
        ..before
    };
    assert_eq!(topic, untouched);
    // The start date is stored in the groups.
    let mut group = group("g");
    assert_eq!(
        group.start_on(edit.start_date.map(DateOrTime::moment), at(9)).names(),
        ["startDate"]
    );
    assert_eq!(group.start_date, Some(at(50)));
}

#[test]
fn topic_moves_with_all_its_groups_or_not() {
    let in_poems = |id: &str| Group {
        course_id: Some(CourseId::new("poems")),
        ..group(id)
    };
    let own = || ActiveTopic {
        assignment_id: AssignmentId::new("t"),
        course_id: Some(CourseId::new("poems")),
    };
    let other = ActiveTopic {
        assignment_id: AssignmentId::new("u"),
        course_id: Some(CourseId::new("poems")),
    };
    let mut topic = assignment("t", Some("poems"));
    let mut groups = [(in_poems("free"), vec![own()]), (in_poems("held"), vec![own(), other])];
    let before = groups.clone();
    let domain_error = DomainError::CourseMismatch {
        groups: vec![GroupId::new("held")],
    };
    assert_eq!(
        topic.move_to(Some(&course("prose")), &mut groups, at(3)),
        Err(domain_error)
    );
    assert_eq!(
        (groups.clone(), topic.course_id.clone()),
        (before, Some(CourseId::new("poems")))
    );
    let moved = topic.move_to(Some(&course("prose")), &mut groups[..1], at(3)).unwrap();
    assert_eq!(moved, [GroupId::new("free")]);
    assert_eq!(groups[0].0.course_id, topic.course_id);
    assert_eq!(topic.course_id, Some(CourseId::new("prose")));
}

#[test]
fn topic_moves_only_to_active_course_of_its_class() {
    let foreign = Course {
        class_id: ClassId::new("8b"),
        ..course("foreign")
    };
    let archived = Course {
        status: crate::course::CourseStatus::Archived,
        ..course("old")
    };
    let mut topic = assignment("t", None);
    assert_eq!(
        topic.move_to(Some(&foreign), &mut [], at(3)),
        Err(DomainError::ClassMismatch)
    );
    assert_eq!(
        topic.move_to(Some(&archived), &mut [], at(3)),
        Err(DomainError::CourseArchived)
    );
    assert_eq!(topic.move_to(Some(&course("poems")), &mut [], at(3)), Ok(Vec::new()));
}
