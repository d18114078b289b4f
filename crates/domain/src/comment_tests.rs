//! Tests of comments: who may write them, and how many.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;
use crate::id::AssignmentId;
use crate::samples::{ada, at, ben, document};

fn person(id: &UserId) -> Person {
    Person {
        id: id.clone(),
        name: id.to_string(),
        image: None,
    }
}

fn comment(author: &UserId) -> DocumentComment {
    DocumentComment {
        id: CommentId::new("c"),
        author: person(author),
        text: CommentText::stored("Why?"),
        created_at: at(1),
        edited_at: None,
    }
}

fn thread(comments: usize) -> CommentThread {
    CommentThread {
        id: CommentThreadId::new("t"),
        document_id: DocumentId::new("d"),
        anchor: None,
        quote: None,
        resolution: None,
        comments: vec![comment(&ben()); comments],
        created_at: at(1),
    }
}

fn student() -> Viewer {
    Viewer::Student(ben())
}

#[test]
fn students_comment_on_drafts_and_staff_on_every_document() {
    let draft = document("d", "g");
    let mut submitted = draft.clone();
    submitted
        .mark_submitted(&AssignmentId::new("t"), &ben(), at(10))
        .unwrap();
    let mut locked = draft.clone();
    assert!(locked.lock(
        &AssignmentId::new("t"),
        &crate::document::OtherTopics::default(),
        at(10)
    ));
    let by = Document::commentable_by;
    for viewer in [Viewer::Admin, Viewer::Teacher(ada())] {
        for document in [&draft, &submitted, &locked] {
            assert_eq!(by(document, &viewer, ClassStatus::Active), Ok(()));
            assert_eq!(
                by(document, &viewer, ClassStatus::Archived),
                Err(DomainError::ClassArchived)
            );
        }
    }
    assert_eq!(by(&draft, &student(), ClassStatus::Active), Ok(()));
    assert_eq!(
        by(&draft, &student(), ClassStatus::Archived),
        Err(DomainError::ClassArchived)
    );
    assert_eq!(
        by(&submitted, &student(), ClassStatus::Active),
        Err(DomainError::AlreadySubmitted)
    );
    assert_eq!(
        by(&locked, &student(), ClassStatus::Active),
        Err(DomainError::DocumentLocked)
    );
}

#[test]
fn authors_edit_their_comments_and_staff_delete_all() {
    let mut comment = comment(&ben());
    assert_eq!(comment.editable_by(&ben()), Ok(()));
    assert_eq!(comment.editable_by(&ada()), Err(DomainError::NotAuthor));
    assert_eq!(comment.removable_by(&Viewer::Teacher(ada()), &ada()), Ok(()));
    assert_eq!(comment.removable_by(&student(), &ben()), Ok(()));
    let cem = UserId::new("cem");
    assert_eq!(
        comment.removable_by(&Viewer::Student(cem.clone()), &cem),
        Err(DomainError::NotAuthor)
    );
    assert!(!comment.rewrite(&CommentText::stored("Why?"), at(2)));
    assert_eq!(comment.edited_at, None);
    assert!(comment.rewrite(&CommentText::stored("How?"), at(2)));
    assert_eq!(comment.edited_at, Some(at(2)));
}

#[test]
fn thread_is_resolved_once_and_can_be_reopened() {
    let mut thread = thread(1);
    assert!(!thread.set_resolved(false, person(&ben()), at(2)));
    assert!(thread.set_resolved(true, person(&ada()), at(2)));
    assert!(!thread.set_resolved(true, person(&ben()), at(3)));
    assert_eq!(thread.resolution.as_ref().unwrap().resolved_by.id, ada());
    assert!(thread.set_resolved(false, person(&ben()), at(4)));
    assert_eq!(thread.resolution, None);
}

#[test]
fn times_of_comments_increase_and_bound_what_was_read() {
    let counts = |latest| CommentCounts {
        latest,
        ..CommentCounts::default()
    };
    let after = |latest: Timestamp| Timestamp::from_millis(latest.as_millis() + 1);
    assert_eq!(counts(None).next_time(at(5)), at(5));
    assert_eq!(counts(Some(at(4))).next_time(at(5)), at(5));
    // A transaction that waited for the lock began before the comment that it waited for.
    assert_eq!(counts(Some(at(5))).next_time(at(5)), after(at(5)));
    assert_eq!(counts(Some(at(7))).next_time(at(5)), after(at(7)));
    assert_eq!(counts(None).read_until(Some(at(5))), None);
    assert_eq!(counts(Some(at(7))).read_until(None), Some(at(7)));
    assert_eq!(counts(Some(at(7))).read_until(Some(at(5))), Some(at(5)));
    assert_eq!(
        counts(Some(at(7))).read_until(Some(at(9))),
        Some(at(7)),
        "never the future"
    );
}

proptest! {
    #[test]
    fn counts_never_exceed_their_limits(threads in 0..400_i64, comments in 0..2000_i64, in_thread in 0..100_usize) {
        let counts = CommentCounts { threads, comments, latest: None };
        let has_room = comments < 1000;
        prop_assert_eq!(counts.admit_thread().is_ok(), threads < 200 && has_room);
        prop_assert_eq!(counts.admit_reply(&thread(in_thread)).is_ok(), in_thread < 50 && has_room);
    }

    #[test]
    fn quote_is_the_beginning_of_the_text(text in "\\PC{0,1200}") {
        let quote = quote(&text);
        prop_assert!(text.starts_with(&quote));
        prop_assert_eq!(quote.chars().count(), text.chars().count().min(QUOTE_MAX));
    }
}

#[test]
fn mentions_are_ids_in_brackets_each_once() {
    let ids = |text: &str| mentions(text).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(ids("@[a-1] and @[b_2], again @[a-1]"), ["a-1", "b_2"]);
    assert_eq!(ids("@[@[c]"), ["c"]);
    assert_eq!(ids("ü@[c]ü@[d.1:2]"), ["c", "d.1:2"]);
    for text in ["", "@", "@[", "@[]", "@[a", "@[a b]", "@ [a]", "[a]", "@[ä]", "@[a/b]"] {
        assert_eq!(ids(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(ids(&format!("@[{}]", "a".repeat(200))).len(), 1);
    assert!(ids(&format!("@[{}]", "a".repeat(201))).is_empty());
}

#[test]
fn renamed_mentions_keep_the_text_around_them() {
    let new_id = |id: &str| (id == "a").then(|| "new".to_owned());
    assert_eq!(rename_mentions("ä @[a], @[b] @[a]!", new_id), "ä @[new], @[b] @[new]!");
    assert_eq!(rename_mentions("@[@[a] a", new_id), "@[@[new] a");
}

proptest! {
    #[test]
    fn renaming_replaces_every_mention_and_nothing_else(text in "[ab@\\[\\]ü ]{0,40}") {
        let unchanged = rename_mentions(&text, |_| None);
        prop_assert_eq!(&unchanged, &text);
        let upper = rename_mentions(&text, |id| Some(id.to_uppercase()));
        prop_assert_eq!(upper.to_lowercase(), text.clone());
        let expected: Vec<String> = mentions(&text).iter().map(|id| id.as_str().to_uppercase()).collect();
        let found: Vec<String> = mentions(&upper).iter().map(|id| id.as_str().to_owned()).collect();
        prop_assert_eq!(found, expected);
    }
}
