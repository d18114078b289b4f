//! Tests of the grade book: whose grade counts, what is missing, and the means.

use super::*;
use crate::id::GroupId;
use crate::samples::{at, ben};

fn zoe() -> UserId {
    UserId::new("zoe")
}

fn content(value: &str, points: Option<f64>) -> GradeContent {
    GradeContent {
        value: (!value.is_empty()).then(|| GradeValue::stored(value)),
        points: points.map(Points::stored),
    }
}

fn topic(id: &str, max_points: Option<f64>) -> GradeBookTopic {
    GradeBookTopic {
        id: AssignmentId::new(id),
        title: Title::stored(id),
        deadline: at(100),
        status: AssignmentStatus::Active,
        course_id: None,
        max_points: max_points.map(Points::stored),
        grade_scale: None,
    }
}

fn state(topic: &str, group: &str, status: GroupAssignmentStatus, work: Option<GradedWork>) -> GroupWorkState {
    GroupWorkState {
        link_id: GroupAssignmentId::new(format!("{topic}-{group}")),
        assignment_id: AssignmentId::new(topic),
        group: GroupLabel {
            id: GroupId::new(group),
            name: group.to_owned(),
            group_number: 1,
            display_name: None,
            course_id: None,
        },
        status,
        late_allowed_until: None,
        work,
    }
}

fn work(members: &[UserId], grade: Option<(GradeContent, GradeStatus)>) -> GradedWork {
    GradedWork {
        submission_id: SubmissionId::new("s"),
        is_late: false,
        member_ids: members.to_vec(),
        grade,
        member_grades: BTreeMap::new(),
    }
}

fn student(id: UserId, groups: &[&str]) -> (UserId, BTreeSet<GroupId>) {
    (id, groups.iter().map(|group| GroupId::new(*group)).collect())
}

#[test]
fn individual_grade_replaces_grade_of_group() {
    let mut graded = work(&[ben(), zoe()], Some((content("2", Some(8.0)), GradeStatus::Published)));
    graded.member_grades.insert(ben(), content("1", None));
    let own = graded.grade_of(&ben());
    let own = own.as_ref().map(|own| (&own.content, own.is_individual));
    assert_eq!(
        own,
        Some((&content("1", None), true)),
        "the points of the group do not count"
    );
    assert_eq!(
        graded
            .grade_of(&zoe())
            .map(|grade| (grade.content, grade.is_individual)),
        Some((content("2", Some(8.0)), false))
    );
    graded.member_grades.insert(ben(), content("", None));
    assert!(
        graded.grade_of(&ben()).is_some_and(|grade| !grade.is_individual),
        "a comment alone is no grade"
    );
}

#[test]
fn grade_counts_only_for_members_of_submission() {
    let graded = work(&[zoe()], Some((content("2", None), GradeStatus::Draft)));
    assert_eq!(graded.grade_of(&ben()), None);
    let ungraded = work(&[ben()], Some((content("", None), GradeStatus::Draft)));
    assert_eq!(ungraded.grade_of(&ben()), None, "a comment alone is no grade");
}

#[test]
fn moved_student_keeps_the_work_submitted_with_the_former_group() {
    let submitted = work(&[ben()], Some((content("3", None), GradeStatus::Published)));
    let works = [
        state("t", "former", GroupAssignmentStatus::Graded, Some(submitted)),
        state("t", "present", GroupAssignmentStatus::InProgress, None),
    ];
    let students = [student(ben(), &["present"]), student(zoe(), &["present"])];
    let book = GradeBook::new(vec![topic("t", None)], &works, &students, at(0));
    let group = |row: usize| book.rows[row].cells[0].group.name.as_str();
    assert_eq!((group(0), group(1)), ("former", "present"));
    assert!(book.rows[0].cells[0].grade.is_some() && book.rows[1].cells[0].grade.is_none());
}

#[test]
fn work_is_missing_after_the_extended_deadline_without_submission() {
    let open = |status| state("t", "g", status, None);
    let missing = |state: GroupWorkState, now: i64| {
        let book = GradeBook::new(vec![topic("t", None)], &[state], &[student(ben(), &["g"])], at(now));
        book.rows[0].cells[0].is_missing
    };
    for status in [GroupAssignmentStatus::NotStarted, GroupAssignmentStatus::InProgress] {
        assert_eq!(
            (missing(open(status), 100), missing(open(status), 101)),
            (false, true),
            "{status:?}"
        );
        let mut extended = open(status);
        extended.late_allowed_until = Some(at(200));
        assert!(!missing(extended, 150), "the group has more time");
    }
    for status in [
        GroupAssignmentStatus::Submitted,
        GroupAssignmentStatus::Returned,
        GroupAssignmentStatus::Graded,
    ] {
        assert!(!missing(open(status), 101), "{status:?}");
    }
}

#[test]
fn means_count_each_grade_equally_and_no_drafts_for_a_student() {
    let topics = vec![
        topic("a", Some(10.0)),
        topic("b", Some(50.0)),
        topic("c", None),
        topic("d", Some(10.0)),
    ];
    let graded = |topic: &str, content| {
        let status = if topic == "d" {
            GradeStatus::Draft
        } else {
            GradeStatus::Published
        };
        let work = work(&[ben()], Some((content, status)));
        state(topic, "g", GroupAssignmentStatus::Graded, Some(work))
    };
    let works = [
        graded("a", content("2+", Some(10.0))),
        graded("b", content("3", Some(25.0))),
        graded("c", content("passed", None)),
        graded("d", content("6", Some(1.0))),
    ];
    let book = GradeBook::new(topics, &works, &[student(ben(), &["g"]), student(zoe(), &[])], at(0));
    let mean = GradeMean {
        value: Some(2.5),
        percent: Some(75.0),
        graded: 3,
    };
    assert_eq!(book.rows[0].mean, mean);
    assert_eq!(book.topic_means[1].percent, Some(50.0));
    assert_eq!((book.topic_means[2].value, book.topic_means[2].graded), (None, 1));
    assert_eq!(book.topic_means[3].value, Some(6.0), "the draft counts for the topic");
    assert_eq!(
        (book.rows[1].cells.len(), book.rows[1].mean),
        (0, GradeMean::default()),
        "without a group there is no cell"
    );
}
