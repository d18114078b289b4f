//! Tests of commits: what belongs to a document, and what is late.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::document::OtherTopics;
use crate::id::AssignmentId;
use crate::samples::{at, ben, document};

fn admit(document: &Document, generation: i64, seconds: i64) -> Result<CommitAdmission, DomainError> {
    document.admit_commit(generation, true, ClassStatus::Active, at(seconds))
}

#[test]
fn commit_of_present_generation_is_appended_to_draft_only() {
    let mut document = document("d", "g");
    assert_eq!(admit(&document, 1, 1), Ok(CommitAdmission::Append));
    document
        .mark_submitted(&AssignmentId::new("t"), &ben(), at(100))
        .unwrap();
    assert_eq!(admit(&document, 2, 101), Err(DomainError::AlreadySubmitted));
    document.lock(&AssignmentId::new("t"), &OtherTopics::default(), at(200));
    assert_eq!(admit(&document, 3, 201), Err(DomainError::DocumentLocked));
}

#[test]
fn commit_in_archived_class_is_rejected() {
    let admission = document("d", "g").admit_commit(1, true, ClassStatus::Archived, at(1));
    assert_eq!(admission, Err(DomainError::ClassArchived));
}

#[test]
fn commit_of_former_generation_belongs_to_document_until_flush_ends() {
    let mut document = document("d", "g");
    document
        .mark_submitted(&AssignmentId::new("t"), &ben(), at(100))
        .unwrap();
    assert_eq!(
        admit(&document, 1, 100),
        Ok(CommitAdmission::Late),
        "no editor was open"
    );
    document.begin_freeze(at(104), at(120));
    assert_eq!(admit(&document, 1, 103), Ok(CommitAdmission::Append));
    assert_eq!(admit(&document, 1, 104), Ok(CommitAdmission::Late));
    let of_older = document.admit_commit(1, false, ClassStatus::Active, at(103));
    assert_eq!(of_older, Ok(CommitAdmission::Late), "a later generation was edited");
    document.freezing_until = None;
    assert_eq!(admit(&document, 1, 103), Ok(CommitAdmission::Late));
}

#[test]
fn commit_after_replaced_content_is_late() {
    let mut document = document("d", "g");
    document.renew_key();
    assert_eq!(admit(&document, 1, 1), Ok(CommitAdmission::Late));
}

#[test]
fn references_are_short_and_plain() {
    assert!(is_reference("c0ffee-12_A"));
    for text in ["", "a b", "ä", "a\"b", &"a".repeat(REFERENCE_MAX + 1)] {
        assert!(!is_reference(text), "{text}");
    }
}
