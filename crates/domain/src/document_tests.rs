//! Tests of documents: a lock is only left by reopening, and finishing and reopening a topic restores the previous
//! status.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;
use crate::samples::{ada, at, ben, document};

fn topic(id: &str) -> AssignmentId {
    AssignmentId::new(id)
}

fn submitted(id: &str, topic_id: &str) -> Document {
    let mut document = document(id, "g");
    document.mark_submitted(&topic(topic_id), &ben(), at(10)).unwrap();
    document
}

#[test]
fn draft_is_submitted_and_withdrawn() {
    let mut document = submitted("d", "t");
    assert_eq!((document.status, document.generation), (DocumentState::Submitted, 2));
    assert_eq!(
        (document.assignment_id.as_ref(), document.submitted_at),
        (Some(&topic("t")), Some(at(10)))
    );
    assert_eq!(
        document.mark_submitted(&topic("t"), &ben(), at(11)),
        Err(DomainError::AlreadySubmitted)
    );
    document.mark_withdrawn(at(12)).unwrap();
    assert_eq!(
        (document.status, document.generation, document.submitted_at),
        (DocumentState::Draft, 3, None)
    );
    assert_eq!(document.assignment_id, Some(topic("t")), "the link stays");
    assert_eq!(document.mark_withdrawn(at(13)), Err(DomainError::NotSubmitted));
}

#[test]
fn locked_document_rejects_changes_of_every_role() {
    for mut document in [document("d", "g"), submitted("d", "t")] {
        assert!(document.lock(&topic("t"), &none(), at(20)));
        let before = document.clone();
        for viewer in [Viewer::Admin, Viewer::Teacher(ada()), Viewer::Student(ben())] {
            let renamed = FieldPatch::Value(DocumentTitle::stored("x"));
            assert_eq!(
                document.edit(renamed, FieldPatch::Unchanged, &viewer, at(21)),
                Err(DomainError::DocumentLocked)
            );
            assert_eq!(document.removable_by(&viewer, false), Err(DomainError::DocumentLocked));
        }
        assert_eq!(document.rewritable(), Err(DomainError::DocumentLocked));
        assert_eq!(
            document.mark_submitted(&topic("t"), &ben(), at(21)),
            Err(DomainError::DocumentLocked)
        );
        assert_eq!(document.mark_withdrawn(at(21)), Err(DomainError::DocumentLocked));
        assert_eq!(document, before);
    }
}

fn others(active: &[&str], finished: &[&str]) -> OtherTopics {
    let ids = |names: &[&str]| names.iter().map(|name| topic(name)).collect();
    OtherTopics {
        active: ids(active),
        finished: ids(finished),
    }
}

fn none() -> OtherTopics {
    OtherTopics::default()
}

fn linked(to: &str) -> Document {
    Document {
        assignment_id: Some(topic(to)),
        ..document("d", "g")
    }
}

#[test]
fn finish_locks_all_documents_except_those_of_other_active_topics() {
    assert!(linked("t").locks_with(&topic("t"), &others(&["u"], &[])));
    assert!(
        !linked("u").locks_with(&topic("t"), &others(&["u"], &[])),
        "a document of another active topic stays open"
    );
    assert!(document("d", "g").locks_with(&topic("t"), &none()));
    assert!(
        document("d", "g").locks_with(&topic("t"), &others(&["u"], &["v"])),
        "unlinked drafts included"
    );
    let mut locked = linked("t");
    locked.lock(&topic("t"), &none(), at(1));
    assert!(!locked.lock(&topic("t"), &none(), at(2)));
    assert_eq!(locked.locked_at, Some(at(1)));
}

#[test]
fn document_of_another_finished_topic_is_locked_with_its_own() {
    // The document was created after its topic was finished.
    let mut document = linked("u");
    assert!(document.lock(&topic("t"), &others(&[], &["u"]), at(1)));
    assert_eq!(document.locked_by_assignment_id, Some(topic("u")));
    assert!(!document.reopen(&topic("t"), &others(&[], &["u"]), at(2)));
    assert!(document.reopen(&topic("u"), &others(&["t"], &[]), at(3)));
    assert_eq!(document.status, DocumentState::Draft);
}

#[test]
fn only_the_topic_that_locked_a_document_unlocks_it() {
    let mut document = document("d", "g");
    document.lock(&topic("t"), &none(), at(1));
    assert!(!document.reopen(&topic("u"), &none(), at(2)));
    assert!(document.reopen(&topic("t"), &others(&["u"], &[]), at(3)));
    assert_eq!(
        (document.status, document.locked_at, document.locked_by_assignment_id),
        (DocumentState::Draft, None, None)
    );
}

#[test]
fn unlinked_document_stays_locked_while_another_topic_of_its_group_is_finished() {
    let mut document = document("d", "g");
    document.lock(&topic("t"), &others(&["u", "v"], &[]), at(1));
    let before = document.clone();
    assert!(document.reopen(&topic("t"), &others(&[], &["u", "v"]), at(5)));
    let expected = Document {
        locked_by_assignment_id: Some(topic("u")),
        updated_at: at(5),
        ..before
    };
    assert_eq!(document, expected, "only the holder of the lock changes");
    assert!(document.reopen(&topic("u"), &others(&["t"], &["v"]), at(6)));
    assert_eq!(document.locked_by_assignment_id, Some(topic("v")));
    assert!(document.reopen(&topic("v"), &others(&["t", "u"], &[]), at(7)));
    assert_eq!((document.status, document.locked_at), (DocumentState::Draft, None));

    let mut own = linked("t");
    own.lock(&topic("t"), &none(), at(1));
    assert_eq!(own.reopening(&topic("t"), &others(&[], &["u"])), Reopening::Unlocks);
}

#[test]
fn lock_without_a_known_topic_is_lifted_by_the_rule_of_finishing() {
    let old = Document {
        status: DocumentState::Locked {
            before: UnlockedStatus::Submitted,
        },
        ..submitted("d", "t")
    };
    assert_eq!(old.reopening(&topic("t"), &none()), Reopening::Unlocks);
    assert_eq!(old.reopening(&topic("u"), &none()), Reopening::Untouched);
    let unlinked = Document {
        assignment_id: None,
        status: DocumentState::Locked {
            before: UnlockedStatus::Draft,
        },
        ..old
    };
    assert_eq!(
        unlinked.reopening(&topic("u"), &others(&["t"], &[])),
        Reopening::Unlocks
    );
    let passes = Reopening::TransfersTo(&topic("t"));
    assert_eq!(unlinked.reopening(&topic("u"), &others(&[], &["t"])), passes);
}

#[test]
fn deleted_topic_removes_its_locks() {
    let mut locked = submitted("d", "t");
    locked.lock(&topic("t"), &none(), at(20));
    assert!(locked.release(&topic("t"), at(30)));
    assert_eq!(
        (locked.status, locked.assignment_id.clone()),
        (DocumentState::Draft, None),
        "its submission went too"
    );
    assert_eq!(
        (locked.locked_at, locked.locked_by_assignment_id, locked.submitted_at),
        (None, None, None)
    );

    let mut handed_in = submitted("d", "t");
    assert!(handed_in.release(&topic("t"), at(30)));
    assert_eq!(handed_in.status, DocumentState::Draft);

    let mut other = submitted("d", "u");
    other.lock(&topic("u"), &none(), at(20));
    let before = other.clone();
    assert!(!other.release(&topic("t"), at(30)));
    assert_eq!(other, before);

    let mut unlinked = document("d", "g");
    unlinked.lock(&topic("t"), &none(), at(20));
    assert!(unlinked.release(&topic("t"), at(30)));
    assert_eq!(unlinked.status, DocumentState::Draft);
}

#[test]
fn submitted_document_may_only_be_renamed_by_teachers() {
    let renamed = || FieldPatch::Value(DocumentTitle::stored("x"));
    let student = Viewer::Student(ben());
    assert_eq!(
        submitted("d", "t").edit(renamed(), FieldPatch::Unchanged, &student, at(1)),
        Err(DomainError::AlreadySubmitted)
    );
    let mut document = submitted("d", "t");
    assert_eq!(
        document
            .edit(renamed(), FieldPatch::Unchanged, &Viewer::Admin, at(1))
            .unwrap()
            .names(),
        ["title"]
    );
    let unlinked = document.edit(FieldPatch::Unchanged, FieldPatch::Null, &Viewer::Admin, at(1));
    assert_eq!(
        unlinked,
        Err(DomainError::AlreadySubmitted),
        "a hand-in always belongs to a topic"
    );
}

#[test]
fn a_draft_is_deleted_by_its_creator_or_by_staff() {
    let draft = document("d", "g");
    assert_eq!(draft.removable_by(&Viewer::Student(ben()), false), Ok(()));
    assert_eq!(
        draft.removable_by(&Viewer::Student(UserId::new("zoe")), false),
        Err(DomainError::NotAuthor)
    );
    assert_eq!(draft.removable_by(&Viewer::Teacher(ada()), false), Ok(()));
    assert_eq!(
        draft.removable_by(&Viewer::Teacher(ada()), true),
        Err(DomainError::AlreadySubmitted)
    );
    assert_eq!(
        submitted("d", "t").removable_by(&Viewer::Admin, true),
        Err(DomainError::AlreadySubmitted)
    );
}

#[test]
fn editor_writes_only_in_drafts_of_active_classes() {
    let active = ClassStatus::Active;
    assert_eq!(document("d", "g").mode(true, active), EditorMode::Edit);
    assert_eq!(document("d", "g").mode(false, active), EditorMode::View);
    assert_eq!(document("d", "g").mode(true, ClassStatus::Archived), EditorMode::View);
    assert_eq!(submitted("d", "t").mode(true, active), EditorMode::View);
    let mut locked = document("d", "g");
    locked.lock(&topic("t"), &none(), at(1));
    assert_eq!(locked.mode(true, active), EditorMode::View);
    let pdf = Document {
        document_type: DocumentType::Pdf,
        ..document("d", "g")
    };
    assert_eq!(pdf.mode(true, active), EditorMode::View);
}

#[test]
fn document_status_columns_roundtrip() {
    for status in [
        DocumentState::Draft,
        DocumentState::Submitted,
        DocumentState::Draft.lock(),
        DocumentState::Submitted.lock(),
    ] {
        assert_eq!(
            DocumentState::stored(status.document_status(), status.before_lock()),
            status
        );
    }
    for locked in [DocumentState::Draft.lock(), DocumentState::Submitted.lock()] {
        assert_eq!(locked.lock(), locked, "a second lock does not forget what was before");
    }
    assert_eq!(
        DocumentState::stored(DocumentStatus::Locked, None).unlock(),
        DocumentState::Draft
    );
}

#[derive(Clone, Copy, Debug)]
enum RandomStep {
    HandIn(usize, usize),
    TakeBack(usize),
    Rename(usize),
    Finish(usize),
    Reopen(usize),
}

/// A room with documents for two topics.
#[derive(Clone, Debug)]
struct Desk {
    documents: Vec<Document>,
    finished: [bool; 2],
}

const TOPICS: [&str; 2] = ["t", "u"];

impl Desk {
    fn others(&self, index: usize) -> OtherTopics {
        let other = 1 - index;
        if self.finished[other] {
            others(&[], &[TOPICS[other]])
        } else {
            others(&[TOPICS[other]], &[])
        }
    }

    fn finish(&mut self, index: usize) {
        let others = self.others(index);
        self.finished[index] = true;
        for document in &mut self.documents {
            document.lock(&topic(TOPICS[index]), &others, at(1));
        }
    }

    fn reopen(&mut self, index: usize) {
        let others = self.others(index);
        self.finished[index] = false;
        for document in &mut self.documents {
            document.reopen(&topic(TOPICS[index]), &others, at(1));
        }
    }

    fn act(&mut self, act: RandomStep) {
        match act {
            RandomStep::HandIn(document, index) if !self.finished[index] => {
                drop(self.documents[document].mark_submitted(&topic(TOPICS[index]), &ben(), at(1)));
            }
            RandomStep::HandIn(..) => {}
            RandomStep::TakeBack(document) => drop(self.documents[document].mark_withdrawn(at(1))),
            RandomStep::Rename(document) => {
                let title = FieldPatch::Value(DocumentTitle::stored("renamed"));
                drop(self.documents[document].edit(title, FieldPatch::Unchanged, &Viewer::Admin, at(1)));
            }
            RandomStep::Finish(index) => self.finish(index),
            RandomStep::Reopen(index) => self.reopen(index),
        }
    }

    fn statuses(&self) -> Vec<DocumentState> {
        let mut statuses: Vec<_> = self.documents.iter().map(|document| document.status).collect();
        statuses.sort();
        statuses
    }
}

fn act() -> impl Strategy<Value = RandomStep> {
    prop_oneof![
        3 => (0_usize..4, 0_usize..2).prop_map(|(document, index)| RandomStep::HandIn(document, index)),
        2 => (0_usize..4).prop_map(RandomStep::TakeBack),
        1 => (0_usize..4).prop_map(RandomStep::Rename),
        2 => (0_usize..2).prop_map(RandomStep::Finish),
        2 => (0_usize..2).prop_map(RandomStep::Reopen),
    ]
}

fn desk(acts: Vec<RandomStep>) -> Desk {
    let documents = ["a", "b", "c", "d"].map(|id| document(id, "g")).to_vec();
    let mut desk = Desk {
        documents,
        finished: [false; 2],
    };
    for act in acts {
        desk.act(act);
    }
    desk
}

proptest! {
    #[test]
    fn lock_is_removed_only_by_reopening(acts in prop::collection::vec(act(), 1..60)) {
        let mut desk = desk(Vec::new());
        for act in acts {
            let before = desk.documents.clone();
            desk.act(act);
            for (old, new) in before.iter().zip(&desk.documents) {
                if old.status.is_locked() && !new.status.is_locked() {
                    let RandomStep::Reopen(index) = act else { panic!("{act:?} unlocked a document") };
                    prop_assert_eq!(old.locked_by_assignment_id.as_ref(), Some(&topic(TOPICS[index])));
                    prop_assert_eq!(Some(UnlockedStatus::from(new.status)), old.status.before_lock());
                } else if old.status.is_locked() {
                    let mut expected = old.clone();
                    if let RandomStep::Reopen(index) = act
                        && old.locked_by_assignment_id == Some(topic(TOPICS[index]))
                    {
                        // The lock passes to the other topic, which is finished.
                        prop_assert!(old.assignment_id.is_none() && desk.finished[1 - index]);
                        expected.locked_by_assignment_id = Some(topic(TOPICS[1 - index]));
                        expected.updated_at = new.updated_at;
                    }
                    prop_assert_eq!(&expected, new, "{:?} changed a locked document", act);
                }
                // The topic that holds a lock is finished.
                if let Some(holder) = &new.locked_by_assignment_id {
                    prop_assert!((0..2).any(|index| desk.finished[index] && *holder == topic(TOPICS[index])));
                }
                // The columns of the lock agree with the status, and a status change increments the generation.
                prop_assert_eq!(new.status.is_locked(), new.locked_at.is_some());
                prop_assert_eq!(new.status.is_locked(), new.locked_by_assignment_id.is_some());
                prop_assert_eq!(new.status.open() == UnlockedStatus::Submitted, new.submitted_at.is_some());
                prop_assert_eq!(old.status == new.status, old.generation == new.generation);
            }
        }
    }

    #[test]
    fn reopen_restores_every_document_status(acts in prop::collection::vec(act(), 0..40), index in 0_usize..2) {
        let before = desk(acts);
        prop_assume!(!before.finished[index]);
        let mut after = before.clone();
        after.finish(index);
        after.finish(index);
        after.reopen(index);
        after.reopen(index);
        prop_assert_eq!(after.statuses(), before.statuses());
    }

    #[test]
    fn reopening_two_topics_in_any_order_restores_documents(
        hand_ins in prop::collection::vec((0_usize..4, 0_usize..2), 0..4),
        turns in prop::collection::vec((any::<bool>(), 0_usize..2), 0..20)
    ) {
        let before = desk(hand_ins.into_iter().map(|(document, index)| RandomStep::HandIn(document, index)).collect());
        let mut after = before.clone();
        for (finish, index) in turns {
            after.act(if finish { RandomStep::Finish(index) } else { RandomStep::Reopen(index) });
        }
        after.reopen(0);
        after.reopen(1);
        prop_assert_eq!(after.statuses(), before.statuses());
    }
}

impl From<DocumentState> for UnlockedStatus {
    fn from(status: DocumentState) -> Self {
        status.writable().unwrap()
    }
}
