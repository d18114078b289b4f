//! Tests of grades: visibility, publishing and withdrawing, and limits of points.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use garde::Validate;

use super::*;
use crate::samples::{ada, at, ben};

fn zoe() -> UserId {
    UserId::new("zoe")
}

fn own(user: UserId, points: f64) -> MemberGrade {
    MemberGrade {
        user_id: user,
        value: None,
        points: Some(Points::stored(points)),
        feedback: None,
    }
}

fn blank() -> Grade {
    Grade::blank(SubmissionId::new("s"), ada(), at(0))
}

fn write(grade: &mut Grade, edit: GradeEdit) -> Result<Option<Publication>, DomainError> {
    let scale = GradeScale::stored("A to F");
    let rules = GradeRules {
        max_points: Some(Points::stored(10.0)),
        scale: Some(&scale),
        members: &[ben(), zoe()],
        rubric: None,
    };
    let written = grade.write(edit, &rules, &ada(), at(5))?;
    Ok(written.map(|written| written.publication))
}

#[test]
fn grade_of_one_member_keeps_the_time_of_the_others() {
    let (scale, tom) = (GradeScale::stored("A to F"), UserId::new("tom"));
    let rules = GradeRules {
        max_points: None,
        scale: Some(&scale),
        members: &[ben(), zoe()],
        rubric: None,
    };
    let mut grade = blank();
    let group = GradeEdit {
        value: FieldPatch::Value(GradeValue::stored("B")),
        publish: Some(true),
        ..GradeEdit::default()
    };
    let written = grade.write(group, &rules, &ada(), at(5)).unwrap().unwrap();
    assert!(written.is_group && written.members.is_empty());
    let of_ben = GradeEdit {
        member_grades: Some(vec![own(ben(), 7.0)]),
        ..GradeEdit::default()
    };
    let written = grade.write(of_ben, &rules, &tom, at(9)).unwrap().unwrap();
    assert_eq!((written.is_group, written.members), (false, vec![ben()]));
    let seen = |grade: Option<Grade>| grade.map(|grade| (grade.graded_at, grade.graded_by_id));
    assert_eq!(seen(grade.for_student(&ben())), Some((at(9), tom.clone())));
    assert_eq!(seen(grade.for_student(&zoe())), Some((at(5), ada())));
    assert_eq!(seen(grade.for_group()), Some((at(5), ada())));
    assert_eq!(seen(Some(grade.for_staff())), Some((at(9), tom.clone())));
    let none = GradeEdit {
        member_grades: Some(Vec::new()),
        ..GradeEdit::default()
    };
    let written = grade.write(none, &rules, &tom, at(11)).unwrap().unwrap();
    assert_eq!(
        (written.is_group, written.members),
        (false, vec![ben()]),
        "Ben's grade is gone"
    );
    assert_eq!(seen(grade.for_student(&ben())), Some((at(5), ada())));
}

#[test]
fn students_see_published_grade_and_own_member_grade_only() {
    let mut grade = blank();
    let edit = GradeEdit {
        value: FieldPatch::Value(GradeValue::stored("B")),
        member_grades: Some(vec![own(ben(), 7.0), own(zoe(), 9.0)]),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, edit), Ok(Some(Publication::Kept)));
    assert_eq!((grade.for_student(&ben()), grade.for_group()), (None, None));
    let publish = |publish| GradeEdit {
        publish: Some(publish),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, publish(true)), Ok(Some(Publication::Published)));
    assert_eq!(grade.for_student(&ben()).unwrap().member_grades, [own(ben(), 7.0)]);
    assert!(grade.for_group().unwrap().member_grades.is_empty());
    assert_eq!(grade.value, Some(GradeValue::stored("B")), "what is absent stays");
    assert_eq!(write(&mut grade, publish(false)), Ok(Some(Publication::Withdrawn)));
    assert_eq!(
        (grade.for_student(&ben()), grade.published_at, grade.version),
        (None, None, 3)
    );
}

#[test]
fn change_of_published_grade_is_reported() {
    let mut grade = blank();
    write(
        &mut grade,
        GradeEdit {
            publish: Some(true),
            ..GradeEdit::default()
        },
    )
    .unwrap();
    let points = GradeEdit {
        points: FieldPatch::Value(Points::stored(3.0)),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, points), Ok(Some(Publication::Published)));
    assert_eq!(grade.published_at, Some(at(5)));
}

#[test]
fn rejected_grade_changes_nothing() {
    let mut grade = blank();
    let too_many = GradeEdit {
        points: FieldPatch::Value(Points::stored(10.5)),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, too_many).unwrap_err().details()[0].path, "points");
    let member = GradeEdit {
        member_grades: Some(vec![own(ben(), 11.0)]),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, member).unwrap_err().details()[0].path, "memberGrades");
    let twice = GradeEdit {
        member_grades: Some(vec![own(ben(), 1.0), own(ben(), 2.0)]),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, twice).unwrap_err().details()[0].code, "duplicate");
    let value = GradeEdit {
        value: FieldPatch::Value(GradeValue::stored("2+")),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, value).unwrap_err().details()[0].path, "value");
    let stranger = GradeEdit {
        member_grades: Some(vec![own(UserId::new("eve"), 1.0)]),
        ..GradeEdit::default()
    };
    assert_eq!(
        write(&mut grade, stranger).unwrap_err().details()[0].path,
        "memberGrades"
    );
    assert_eq!(grade, blank());
}

#[test]
fn unchanged_grade_edit_is_no_change() {
    let mut grade = blank();
    assert_eq!(write(&mut grade, GradeEdit::default()), Ok(None));
    let edit = GradeEdit {
        member_grades: Some(vec![own(zoe(), 9.0), own(ben(), 7.0)]),
        publish: Some(true),
        ..GradeEdit::default()
    };
    write(&mut grade, edit.clone()).unwrap();
    let written = grade.clone();
    assert_eq!((write(&mut grade, edit), grade.version), (Ok(None), 1));
    let other_order = GradeEdit {
        member_grades: Some(vec![own(ben(), 7.0), own(zoe(), 9.0)]),
        ..GradeEdit::default()
    };
    assert_eq!(write(&mut grade, other_order), Ok(None));
    assert_eq!(grade, written);
}

#[test]
fn grade_request_is_validated() {
    let edit: GradeEdit = serde_json::from_str(
        r#"{"value": "123456789012345678901", "points": -1, "memberGrades": [{"userId": "ben", "points": -2}]}"#,
    )
    .unwrap();
    let report = edit.validate().unwrap_err();
    let mut paths: Vec<_> = report.iter().map(|(path, _)| path.to_string()).collect();
    paths.sort();
    assert_eq!(
        paths,
        ["memberGrades[0].points", "points", "value"].map(|path| path.replace("memberG", "member_g"))
    );
    assert!(
        serde_json::from_str::<GradeEdit>(r#"{"grade": "A"}"#).is_ok(),
        "the former name of value"
    );
    assert!(serde_json::from_str::<GradeEdit>(r#"{"mark": "A"}"#).is_err());
}

#[test]
fn filled_rubric_is_a_draft_until_complete_and_is_seen_once_published() {
    use crate::id::{AssignmentId, RubricCriterionId, RubricLevelId};
    use crate::rubric::{RubricCriterion, RubricLevel};
    use crate::text::{CriterionTitle, LevelLabel, RubricTitle};

    let criterion = |id: &str| RubricCriterion {
        id: RubricCriterionId::new(id),
        title: CriterionTitle::stored(id),
        description: None,
        levels: vec![RubricLevel {
            id: RubricLevelId::new("good"),
            label: LevelLabel::stored("Good"),
            description: None,
            min_points: Some(Points::stored(3.0)),
            max_points: Some(Points::stored(3.0)),
        }],
    };
    let rubric = TopicRubric {
        assignment_id: AssignmentId::new("a"),
        rubric_id: None,
        title: RubricTitle::stored("Poster"),
        criteria: vec![criterion("Sources"), criterion("Language")],
        is_shown: true,
    };
    let rules = GradeRules {
        max_points: None,
        scale: None,
        members: &[ben()],
        rubric: Some(&rubric),
    };
    let fill = |criteria: &[&str], publish| GradeEdit {
        rubric: Some(
            criteria
                .iter()
                .map(|criterion| NewRubricMark {
                    criterion_id: RubricCriterionId::new(criterion),
                    level_id: Some(RubricLevelId::new("good")),
                    points: None,
                    comment: None,
                })
                .collect(),
        ),
        publish,
        ..GradeEdit::default()
    };
    let mut grade = blank();
    let written = grade
        .write(fill(&["Sources"], None), &rules, &ada(), at(1))
        .unwrap()
        .unwrap();
    assert!(written.is_group && !grade.is_empty());
    assert!(grade.is_rubric_incomplete(Some(&rubric)));
    assert_eq!(grade.for_student(&ben()), None);
    let publish = GradeEdit {
        publish: Some(true),
        ..GradeEdit::default()
    };
    let refused = grade.write(publish.clone(), &rules, &ada(), at(2));
    assert_eq!(refused, Err(DomainError::RubricIncomplete));
    grade
        .write(fill(&["Sources", "Language"], Some(true)), &rules, &ada(), at(3))
        .unwrap();
    let seen = grade.for_student(&ben()).unwrap();
    assert_eq!(crate::rubric::points_of(&seen.rubric), Some(Points::stored(6.0)));
    let refused = grade.write(fill(&["Language"], None), &rules, &ada(), at(4));
    assert_eq!(refused, Err(DomainError::RubricIncomplete), "it stays published");
    let none = GradeRules { rubric: None, ..rules };
    assert!(matches!(
        grade.write(fill(&["Language"], None), &none, &ada(), at(5)),
        Err(DomainError::Invalid { code: "no_rubric", .. })
    ));
    assert!(grade.write(fill(&[], None), &none, &ada(), at(6)).unwrap().is_some());
}
