//! Tests of submissions: the documents of each attempt, the precedence of errors, and lateness that is not recomputed.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::assignment::LatePolicy;
use crate::document::{DocumentState, OtherTopics};
use crate::group_assignment::GroupAssignmentStatus;
use crate::samples::{ada, assignment, at, ben, document, link};

fn attempt(number: i64, lateness: Lateness) -> Submission {
    let next = NextAttempt {
        attempt: number,
        documents: Vec::new(),
        lateness,
        submitted_at: at(900),
    };
    let (id, school) = (SubmissionId::new(number.to_string()), OrganizationId::new("school"));
    Submission {
        member_ids: vec![ben()],
        ..Submission::new(id, school, GroupAssignmentId::new("g on t"), &next, ben(), at(900))
    }
}

fn in_status(status: GroupAssignmentStatus) -> GroupAssignment {
    GroupAssignment {
        status,
        current_submission_id: Some(SubmissionId::new("1")),
        ..link("g", "t")
    }
}

fn handed_in(id: &str) -> Document {
    let mut document = document(id, "g");
    document
        .mark_submitted(&AssignmentId::new("t"), &ben(), at(900))
        .unwrap();
    document
}

#[test]
fn a_submission_names_its_topic() {
    assert_eq!(explicit(None), Err(DomainError::AssignmentIdRequired));
    assert_eq!(
        explicit(Some(AssignmentId::new(" "))),
        Err(DomainError::AssignmentIdRequired)
    );
    assert_eq!(explicit(Some(AssignmentId::new("t"))), Ok(AssignmentId::new("t")));
}

#[test]
fn each_attempt_holds_every_submitted_document() {
    let topic = assignment("t", None);
    let mut first = document("a", "g");
    let next = submit(&mut first, &topic, Some(&link("g", "t")), &[], 0, &ben(), at(900)).unwrap();
    assert_eq!((next.attempt, next.documents), (1, vec![DocumentId::new("a")]));
    assert_eq!(first.status, DocumentState::Submitted);

    let mut second = document("b", "g");
    let current = in_status(GroupAssignmentStatus::Submitted);
    let next = submit(
        &mut second,
        &topic,
        Some(&current),
        &[DocumentId::new("a")],
        1,
        &ben(),
        at(1060),
    )
    .unwrap();
    assert_eq!(
        (next.attempt, next.documents),
        (2, vec![DocumentId::new("a"), DocumentId::new("b")])
    );
    assert_eq!(
        next.lateness,
        Lateness {
            is_late: true,
            late_by_seconds: 60
        }
    );
}

#[test]
fn submission_is_rejected_with_the_strongest_reason() {
    let mut topic = assignment("t", None);
    let try_it = |document: &mut Document, topic: &Assignment, link: Option<&GroupAssignment>| {
        let before = document.clone();
        let domain_error = submit(document, topic, link, &[], 0, &ben(), at(2000)).unwrap_err();
        assert_eq!(*document, before, "a refused submission changes nothing");
        domain_error
    };
    let open = link("g", "t");
    let mut locked = handed_in("d");
    locked.lock(&topic.id, &OtherTopics::default(), at(950));
    assert_eq!(try_it(&mut locked, &topic, None), DomainError::DocumentLocked);
    assert_eq!(
        try_it(&mut document("d", "g"), &topic, None),
        DomainError::GroupNotOnAssignment
    );
    assert_eq!(
        try_it(&mut document("d", "other"), &topic, Some(&open)),
        DomainError::GroupNotOnAssignment
    );
    let elsewhere = link("g", "other");
    assert_eq!(
        try_it(&mut document("d", "g"), &topic, Some(&elsewhere)),
        DomainError::GroupNotOnAssignment
    );
    let graded = in_status(GroupAssignmentStatus::Graded);
    assert_eq!(
        try_it(&mut document("d", "g"), &topic, Some(&graded)),
        DomainError::GradePublished
    );
    assert_eq!(
        try_it(&mut handed_in("d"), &topic, Some(&graded)),
        DomainError::GradePublished
    );
    assert_eq!(
        try_it(&mut handed_in("d"), &topic, Some(&open)),
        DomainError::AlreadySubmitted
    );
    topic.late_policy = LatePolicy::Block;
    assert_eq!(
        try_it(&mut document("d", "g"), &topic, Some(&open)),
        DomainError::LateNotAllowed
    );
    topic.finish(&ada(), at(1500));
    assert_eq!(
        try_it(&mut document("d", "g"), &topic, Some(&open)),
        DomainError::AssignmentFinished
    );
}

#[test]
fn withdrawal_leaves_attempt_with_remaining_documents() {
    let late = Lateness {
        is_late: true,
        late_by_seconds: 7,
    };
    let current = in_status(GroupAssignmentStatus::Submitted);
    let all = [DocumentId::new("a"), DocumentId::new("b")];
    let mut first = handed_in("a");
    let next = unsubmit(&mut first, &current, &attempt(2, late), &all, 2, at(5000))
        .unwrap()
        .unwrap();
    assert_eq!((next.attempt, next.documents), (3, vec![DocumentId::new("b")]));
    assert_eq!(
        (next.lateness, next.submitted_at),
        (late, at(900)),
        "taking back hands nothing in"
    );
    assert_eq!(first.status, DocumentState::Draft);

    let mut last = handed_in("b");
    assert_eq!(
        unsubmit(&mut last, &current, &attempt(3, late), &all[1..], 3, at(5000)),
        Ok(None)
    );
    assert_eq!(last.status, DocumentState::Draft);
}

#[test]
fn withdrawal_is_rejected_with_the_strongest_reason() {
    let fresh = Lateness::default();
    let try_it = |document: &mut Document, status| {
        let before = document.clone();
        let domain_error = unsubmit(document, &in_status(status), &attempt(1, fresh), &[], 1, at(950)).unwrap_err();
        assert_eq!(*document, before);
        domain_error
    };
    let mut locked = handed_in("d");
    locked.lock(&AssignmentId::new("t"), &OtherTopics::default(), at(940));
    assert_eq!(
        try_it(&mut locked, GroupAssignmentStatus::Graded),
        DomainError::DocumentLocked
    );
    assert_eq!(
        try_it(&mut handed_in("d"), GroupAssignmentStatus::Graded),
        DomainError::GradePublished
    );
    assert_eq!(
        try_it(&mut document("d", "g"), GroupAssignmentStatus::Graded),
        DomainError::GradePublished
    );
    assert_eq!(
        try_it(&mut document("d", "g"), GroupAssignmentStatus::Submitted),
        DomainError::NotSubmitted
    );
}

#[test]
fn returned_work_becomes_drafts_again_unless_the_topic_is_finished() {
    let mut topic = assignment("t", None);
    let mut current = in_status(GroupAssignmentStatus::Graded);
    let mut unlinked = document("u", "g");
    let mut documents = [handed_in("a"), handed_in("b")];
    return_submission(
        documents.iter_mut().chain([&mut unlinked]),
        &topic,
        &mut current,
        at(950),
    )
    .unwrap();
    assert!(documents.iter().all(|document| document.status == DocumentState::Draft));
    assert_eq!(
        (current.status, current.current_submission_id.clone()),
        (GroupAssignmentStatus::Returned, None)
    );
    assert_eq!(unlinked, document("u", "g"));

    topic.finish(&ada(), at(960));
    let mut current = in_status(GroupAssignmentStatus::Submitted);
    assert_eq!(
        return_submission(&mut [], &topic, &mut current, at(970)),
        Err(DomainError::DocumentLocked)
    );
    assert_eq!(current.status, GroupAssignmentStatus::Submitted);
}

#[test]
fn lateness_is_kept_until_teacher_recalculates_it() {
    let mut topic = assignment("t", None);
    let mut submission = attempt(
        1,
        Lateness {
            is_late: true,
            late_by_seconds: 60,
        },
    );
    topic.deadline = at(5000);
    assert_eq!(
        submission.lateness,
        Lateness {
            is_late: true,
            late_by_seconds: 60
        }
    );
    assert!(submission.update_lateness(&link("g", "t"), &topic));
    assert_eq!(submission.lateness, Lateness::default());
    assert!(!submission.update_lateness(&link("g", "t"), &topic));
}

#[test]
fn only_active_attempt_can_end() {
    let mut submission = attempt(1, Lateness::default());
    submission.supersede();
    submission.withdraw(&ben(), at(1));
    submission.return_submission();
    assert_eq!(
        (submission.status, submission.withdrawn_at),
        (SubmissionStatus::Superseded, None)
    );
    let mut submission = attempt(2, Lateness::default());
    submission.withdraw(&ben(), at(1));
    assert_eq!(
        (submission.status, submission.withdrawn_by_id),
        (SubmissionStatus::Withdrawn, Some(ben()))
    );
}

#[test]
fn recorded_work_has_no_documents_and_is_never_late() {
    use GroupAssignmentStatus::{Graded, NotStarted, Returned, Submitted};
    let mut topic = assignment("t", None);
    topic.finish(&ada(), at(950));
    let overdue = topic.deadline.plus_seconds(3600);
    for status in [NotStarted, Returned] {
        let next = record(&topic, &in_status(status), 2, overdue).unwrap();
        assert_eq!(
            (next.attempt, next.documents, next.lateness),
            (3, vec![], Lateness::default())
        );
    }
    for (status, error) in [
        (Submitted, DomainError::AlreadyRecorded),
        (Graded, DomainError::GradePublished),
    ] {
        assert_eq!(record(&topic, &in_status(status), 1, at(1)), Err(error));
    }
}

#[test]
fn only_an_attempt_without_documents_is_removed() {
    let (mut own, mut current) = (
        in_status(GroupAssignmentStatus::Submitted),
        attempt(1, Lateness::default()),
    );
    let refused = remove_record(&mut own, &mut current, 1, true, &ada(), at(2));
    assert_eq!(refused, Err(DomainError::HasDocuments));
    assert_eq!(
        (own.status, current.status),
        (GroupAssignmentStatus::Submitted, SubmissionStatus::Active)
    );
    remove_record(&mut own, &mut current, 0, false, &ada(), at(2)).unwrap();
    assert_eq!(
        (own.status, own.current_submission_id),
        (GroupAssignmentStatus::NotStarted, None)
    );
    assert_eq!(
        (current.status, current.withdrawn_by_id),
        (SubmissionStatus::Withdrawn, Some(ada()))
    );
}
