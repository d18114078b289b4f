//! Tests of saves: no edits are lost, a lock is respected, and the latest edit wins in any order of arrival.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;
use crate::document::OtherTopics;
use crate::id::AssignmentId;
use crate::samples::{at, ben, document};

fn save(generation: i64, second: i64) -> Save {
    Save {
        generation,
        last_save: Some(at(second)),
        is_final: true,
        is_after_snapshot: false,
    }
}

fn stored_save(generation: i64, second: i64) -> StoredSave {
    StoredSave {
        generation,
        last_save: Some(at(second)),
        is_final: false,
    }
}

fn topic() -> AssignmentId {
    AssignmentId::new("t")
}

#[test]
fn draft_accepts_saves_of_its_session() {
    assert_eq!(
        document("d", "g").classify_save(save(1, 5), None),
        SaveDisposition::Current
    );
    assert_eq!(
        document("d", "g").classify_save(save(1, 9), Some(stored_save(1, 5))),
        SaveDisposition::Current
    );
}

#[test]
fn text_before_submission_completes_it_and_later_is_late() {
    let mut document = document("d", "g");
    document.mark_submitted(&topic(), &ben(), at(100)).unwrap();
    assert_eq!(
        document.classify_save(save(1, 100), Some(stored_save(1, 50))),
        SaveDisposition::Current
    );
    assert_eq!(
        document.classify_save(save(1, 101), Some(stored_save(1, 50))),
        SaveDisposition::Late
    );
    assert_eq!(
        document.classify_save(
            Save {
                last_save: None,
                ..save(1, 0)
            },
            None
        ),
        SaveDisposition::Late
    );
}

#[test]
fn lock_does_not_extend_the_submission() {
    let mut document = document("d", "g");
    document.mark_submitted(&topic(), &ben(), at(100)).unwrap();
    document.lock(&topic(), &OtherTopics::default(), at(200));
    assert_eq!(document.classify_save(save(1, 100), None), SaveDisposition::Current);
    assert_eq!(document.classify_save(save(1, 150), None), SaveDisposition::Late);
}

#[test]
fn locked_draft_accepts_text_written_before_the_lock() {
    let mut document = document("d", "g");
    document.lock(&topic(), &OtherTopics::default(), at(200));
    assert_eq!(document.classify_save(save(1, 200), None), SaveDisposition::Current);
    assert_eq!(document.classify_save(save(1, 201), None), SaveDisposition::Late);
    assert_eq!(
        document.status,
        DocumentState::Locked {
            before: UnlockedStatus::Draft
        }
    );
}

#[test]
fn an_upload_or_a_later_session_is_never_overwritten() {
    let mut document = document("d", "g");
    document.renew_key();
    let upload = StoredSave {
        generation: 2,
        last_save: None,
        is_final: false,
    };
    assert_eq!(
        document.classify_save(save(1, 999), Some(upload)),
        SaveDisposition::Late
    );
    assert_eq!(
        document.classify_save(save(2, 999), Some(upload)),
        SaveDisposition::Current
    );
}

#[test]
fn older_save_is_superseded() {
    let document = document("d", "g");
    assert_eq!(
        document.classify_save(save(1, 4), Some(stored_save(1, 5))),
        SaveDisposition::Superseded
    );
    let forced = Save {
        is_final: false,
        ..save(1, 5)
    };
    let after_the_end = StoredSave {
        is_final: true,
        ..stored_save(1, 5)
    };
    assert_eq!(
        document.classify_save(forced, Some(after_the_end)),
        SaveDisposition::Superseded
    );
    assert_eq!(
        document.classify_save(forced, Some(stored_save(1, 5))),
        SaveDisposition::Current,
        "the document server names whole seconds: a later forced save of the same second holds more"
    );
    assert_eq!(
        document.classify_save(save(1, 5), Some(stored_save(1, 5))),
        SaveDisposition::Current,
        "the final save wins"
    );
}

#[test]
fn cutoff_is_end_of_flush_in_whole_seconds() {
    let mut document = document("d", "g");
    document.mark_submitted(&topic(), &ben(), at(100)).unwrap();
    document.begin_freeze(at(104), at(115));
    assert!(document.is_freezing());
    assert_eq!(document.classify_save(save(1, 104), None), SaveDisposition::Current);
    document.cut_at = Some(Timestamp::from_millis(at(102).as_millis() + 300));
    let typed_at = |millis: i64| Save {
        last_save: Some(Timestamp::from_millis(at(102).as_millis() + millis)),
        ..save(1, 0)
    };
    assert_eq!(document.classify_save(typed_at(0), None), SaveDisposition::Current);
    assert_eq!(document.classify_save(typed_at(999), None), SaveDisposition::Current);
    assert_eq!(document.classify_save(typed_at(1_000), None), SaveDisposition::Late);
    let after = Save {
        is_after_snapshot: true,
        ..typed_at(0)
    };
    assert_eq!(
        document.classify_save(after, None),
        SaveDisposition::Late,
        "the snapshot is complete"
    );
    document.mark_withdrawn(at(200)).unwrap();
    assert_eq!((document.cut_at, document.freezing_until), (None, None));
}

#[test]
fn draft_keeps_key_with_pending_changes() {
    let mut document = document("d", "g");
    document.mark_submitted(&topic(), &ben(), at(100)).unwrap();
    document.unsaved_generation = Some(1);
    assert_eq!(document.key().generation, 2, "who reads gets the stored content");
    document.mark_withdrawn(at(200)).unwrap();
    assert_eq!(document.key().generation, 1);
    document.note_arrival(1, false);
    assert_eq!(document.key().generation, 1, "a forced save ends no session");
    document.note_arrival(1, true);
    assert_eq!(document.key().generation, 3, "a key that no session had before");
}

#[test]
fn session_is_complete_if_callbacks_are_consecutive() {
    let [ben, cem, eli] = ["ben", "cem", "eli"].map(UserId::new);
    let ids = |list: &[&UserId]| list.iter().map(|id| (*id).clone()).collect::<Vec<_>>();
    let gap = |before: &[&UserId], users: &[&UserId], joined: &[&UserId], left: &[&UserId]| {
        shows_gap(&ids(before), &ids(users), &ids(joined), &ids(left))
    };
    assert!(!gap(&[], &[&ben], &[&ben], &[]));
    assert!(!gap(&[&ben], &[&ben, &cem], &[&cem], &[]));
    assert!(!gap(&[&ben, &cem], &[&cem], &[], &[&ben]));
    assert!(!gap(&[&ben], &[&ben], &[], &[&ben]), "one of two tabs");
    assert!(!gap(&[&ben], &[&ben], &[], &[]), "news that is repeated");
    assert!(gap(&[&ben], &[&ben], &[&ben], &[]), "joined again without having left");
    assert!(gap(&[&ben, &cem], &[&eli], &[&eli], &[]), "the others vanished");
    assert!(gap(&[&ben], &[], &[], &[]), "no editor is present, and none left");
    assert!(gap(&[], &[&ben, &cem], &[&cem], &[]), "one more than joined");
}

#[test]
fn pending_save_during_finish_and_reopen_is_applied() {
    let mut document = document("d", "g");
    document.lock(&topic(), &OtherTopics::default(), at(100));
    document.reopen(&topic(), &OtherTopics::default(), at(200));
    assert_eq!(
        document.classify_save(save(1, 90), Some(stored_save(1, 50))),
        SaveDisposition::Current
    );
}

#[test]
fn document_keys_roundtrip_and_foreign_keys_are_rejected() {
    let key = DocumentKey {
        document: DocumentId::new("0190a1b2-0000-7000-8000-000000000001"),
        generation: 12,
    };
    assert_eq!(key.to_string(), "0190a1b2-0000-7000-8000-000000000001-12");
    assert_eq!(DocumentKey::parse(&key.to_string(), None), Some(key.clone()));
    assert_eq!(
        DocumentKey::parse(&key.text(Some("north")), Some("north")),
        Some(key.clone())
    );
    assert_eq!(DocumentKey::parse(&key.text(Some("north")), Some("south")), None);
    for bad in [
        "",
        "-",
        "-1",
        "x",
        "x-",
        "x-0",
        "x--1",
        "x-+1",
        "x-1a",
        "x-99999999999999999999",
    ] {
        assert_eq!(
            DocumentKey::parse(bad, None).filter(|key| key.document.as_str() == "x"),
            None,
            "{bad}"
        );
    }
}

#[test]
fn document_key_contains_document_and_session() {
    let mut document = document("d", "g");
    assert_eq!(document.key().to_string(), "d-1");
    document.renew_key();
    assert_eq!(document.key().to_string(), "d-2");
}

proptest! {
    #[test]
    fn newest_text_of_session_wins_in_any_order(
        saves in Just([3_i64, 5, 8, 13, 21]).prop_shuffle(), finals in prop::collection::vec(any::<bool>(), 5)
    ) {
        let document = document("d", "g");
        let mut content: Option<StoredSave> = None;
        for (second, is_final) in saves.into_iter().zip(finals) {
            let save = Save { is_final, ..save(1, second) };
            match document.classify_save(save, content) {
                SaveDisposition::Current => content = Some(stored_save(1, second)),
                SaveDisposition::Superseded => {}
                SaveDisposition::Late => prop_assert!(false, "nothing is late in a draft"),
            }
        }
        prop_assert_eq!(content, Some(stored_save(1, 21)));
    }

    #[test]
    fn later_text_never_becomes_content_after_freeze(
        locked_first: bool, frozen in 1_i64..50, second in 0_i64..100, generation in 1_i64..4, is_final: bool
    ) {
        let mut document = document("d", "g");
        if locked_first {
            document.lock(&topic(), &OtherTopics::default(), at(frozen));
        } else {
            document.mark_submitted(&topic(), &ben(), at(frozen)).unwrap();
            document.lock(&topic(), &OtherTopics::default(), at(frozen + 30));
        }
        prop_assert_eq!(document.frozen_at(), Some(at(frozen)));
        let save = Save { generation, last_save: Some(at(second)), is_final, is_after_snapshot: false };
        let expected = if second <= frozen { SaveDisposition::Current } else { SaveDisposition::Late };
        prop_assert_eq!(document.classify_save(save, None), expected);
    }

    #[test]
    fn every_document_key_roundtrips(id in "[0-9a-f-]{1,36}", generation in 1_i64.., deployment in prop::option::of("[a-z0-9-]{1,20}")) {
        let key = DocumentKey { document: DocumentId::new(id), generation };
        let deployment = deployment.as_deref();
        prop_assert_eq!(DocumentKey::parse(&key.text(deployment), deployment), Some(key));
    }
}
