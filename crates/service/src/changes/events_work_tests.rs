//! Tests of events about grades and feedback, and of the maximum size of every event.

use domain::change::{AssignmentChange, FeedbackChange, GroupDocument, SubmissionChange};
use domain::feedback::FeedbackVisibility;
use domain::grade::{GradeStatus, GradeWritten, Publication};
use domain::id::UserId;
use domain::realtime::{Event, Signal};
use domain::user::Person;
use serde_json::json;

use super::samples::{NOW, ada, assignment, document, feedback, group, school, submission};
use super::signals;
use super::tests::{emitted, graded_by, group_changes, received, room, to_students, user, written};

#[test]
fn every_event_fits_the_payload_limit() {
    let (id, wide) = ("0195b7a4-7a52-7c63-9d3e-0b8f6c1f2a4d", |length: usize| {
        "😀".repeat(length)
    });
    let mut large = group(id, None);
    large.group.name = domain::text::ShortName::stored(wide(80));
    large.group.display_name = Some(domain::text::ShortName::stored(wide(80)));
    let member = large.members[0].clone();
    large.members = (0..domain::group::MEMBERS_MAX)
        .map(|number| {
            let mut member = member.clone();
            member.user = Person {
                id: UserId::new(format!("{number:036}")),
                name: wide(120),
                image: None,
            };
            member
        })
        .collect();
    let actor = db::Actor {
        name: wide(120),
        ..ada()
    };
    let mut changes = group_changes(&large);
    let others: Vec<_> = (0..100).map(|number| group(&format!("{number:036}"), None)).collect();
    let mut topic = assignment(false, &others.iter().collect::<Vec<_>>());
    topic.assignment.title = domain::text::Title::stored(wide(200));
    changes.extend([
        AssignmentChange::Created {
            assignment: Box::new(topic.clone()),
            copied_from: None,
        }
        .into(),
        AssignmentChange::Updated {
            assignment: Box::new(topic.clone()),
            changed: written("title"),
            overridden: Vec::new(),
            excepted: Vec::new(),
            published_before: others.iter().map(|group| group.group.id.clone()).collect(),
        }
        .into(),
        AssignmentChange::Finished {
            documents: others
                .iter()
                .map(|group| GroupDocument {
                    group_context: group.group_context(),
                    document: document(group).document,
                })
                .collect(),
            assignment: Box::new(topic),
            already_finished: false,
            open: Vec::new(),
            unsaved: Vec::new(),
        }
        .into(),
    ]);
    for change in changes {
        for (event, _, payload) in emitted(&signals(&change, &actor, &school(), NOW)) {
            let size = payload.to_string().len();
            let limit = domain::realtime::PAYLOAD_MAX;
            assert!(event.has_free_text() || size <= limit, "{event} has {size} bytes");
            let is_named = ["groupId", "assignmentId", "documentId"]
                .iter()
                .any(|id| payload[id].is_string())
                || ["group", "document", "submission", "message"]
                    .iter()
                    .any(|noun| payload[noun]["id"].is_string());
            assert!(is_named, "{event} names what it is about: {payload}");
        }
    }
}

#[test]
fn a_grade_of_one_member_reaches_that_member_and_the_staff() {
    let open = group("g", None);
    let link = assignment(true, &[&open]).links.remove(0);
    let graded = |publication, status| {
        received(SubmissionChange::Graded {
            submission: Box::new(submission(&link, status)),
            link: Box::new(link.clone()),
            written: graded_by(publication),
            members: open.member_ids(),
        })
    };
    let signals = graded(Publication::Published, GradeStatus::Published);
    let students = to_students(&signals);
    assert_eq!(students[0].1, [room("g")]);
    assert!(!students[0].2.to_string().contains("Ben's grade"));
    assert_eq!(students[1].1, [user("ben")]);
    assert!(students[1].2.to_string().contains("Ben's grade"));
    assert_eq!(students.len(), 2);
    let spared = signals
        .iter()
        .any(|signal| matches!(signal, Signal::Emit { except, .. } if except.contains(&user("ben"))));
    assert!(spared, "Ben receives one grade, that of Ben");

    let drafted = graded(Publication::Kept, GradeStatus::Draft);
    assert!(to_students(&drafted).is_empty());
    let [(event, _, payload)] = emitted(&drafted)[..] else {
        unreachable!("{drafted:?}")
    };
    assert_eq!((event, &payload["groupId"]), (Event::GradeDrafted, &json!("g")));
    assert!(payload["grade"].is_null(), "a draft is fetched: {payload}");
    let withdrawn = graded(Publication::Withdrawn, GradeStatus::Draft);
    assert!(!to_students(&withdrawn).is_empty());
    for (event, _, payload) in to_students(&withdrawn) {
        assert_eq!(event, Event::GradeWithdrawn);
        assert!(payload["grade"].is_null(), "{payload}");
    }

    let of_ben = received(SubmissionChange::Graded {
        submission: Box::new(submission(&link, GradeStatus::Published)),
        link: Box::new(link.clone()),
        written: GradeWritten {
            is_group: false,
            ..graded_by(Publication::Published)
        },
        members: open.member_ids(),
    });
    let heard: Vec<_> = to_students(&of_ben)
        .iter()
        .map(|(_, rooms, _)| rooms.to_vec())
        .collect();
    assert_eq!(heard, [[user("ben")]], "the others see nothing new");
}

#[test]
fn staff_notes_reach_staff_only_and_withdrawal_is_emitted() {
    let open = group("g", None);
    let link = assignment(true, &[&open]).links.remove(0);
    let note = FeedbackChange::Created {
        feedback: Box::new(feedback(&link, FeedbackVisibility::Staff)),
        link: Box::new(link.clone()),
    };
    assert!(to_students(&received(note)).is_empty());
    let hidden = FeedbackChange::Updated {
        feedback: Box::new(feedback(&link, FeedbackVisibility::Staff)),
        link: Box::new(link),
        was_visible: true,
    };
    let signals = received(hidden);
    let students = to_students(&signals);
    assert_eq!(students.len(), 1);
    assert!(students[0].2["feedback"].is_null() && !students[0].2.to_string().contains("a word"));
}
