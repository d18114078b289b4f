//! Tests which rooms receive which events of a change.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use domain::change::{
    AssignmentChange, CascadeDeletion, CourseChange, DeletedGroup, DocumentChange, DocumentStep, FeedbackChange,
    GroupChange, GroupDocument, HelpChange, StartDateChange, SubmissionChange,
};
use domain::details::{AssignmentDetails, GroupAssignmentDetails, GroupDetails};
use domain::document::DocumentState;
use domain::feedback::FeedbackVisibility;
use domain::grade::{GradeStatus, GradeWritten, Publication};
use domain::help::HelpRequestOutcome;
use domain::id::{CourseId, GroupId, SubjectId, UserId};
use domain::patch::FieldDiff;
use domain::realtime::{ConnectionTarget, Event, Room, Signal};
use serde_json::{Value, json};

use super::samples::{LATER, NOW, ada, assignment, class, document, feedback, group, person, school, submission};
use super::signals;

pub fn received(change: impl Into<domain::change::Change>) -> Vec<Signal> {
    signals(&change.into(), &ada(), &school(), NOW)
}

/// Returns event, rooms and payload of the emitted signals.
pub fn emitted(signals: &[Signal]) -> Vec<(Event, &[Room], &Value)> {
    let emitted = signals.iter().filter_map(|signal| match signal {
        Signal::Emit {
            rooms, event, payload, ..
        } => Some((*event, rooms.as_slice(), payload)),
        Signal::Resync { .. } | Signal::Kill { .. } => None,
    });
    emitted.collect()
}

/// Returns what is emitted to anyone except staff.
pub fn to_students(signals: &[Signal]) -> Vec<(Event, &[Room], &Value)> {
    let staff = [Room::Staff(class())];
    let mut emitted = emitted(signals);
    emitted.retain(|(_, rooms, _)| *rooms != staff);
    emitted
}

pub fn room(id: &str) -> Room {
    Room::Group(GroupId::new(id))
}

pub fn user(name: &str) -> Room {
    Room::User(UserId::new(name))
}

fn boxed(group: &GroupDetails) -> Box<GroupDetails> {
    Box::new(group.clone())
}

/// Returns every possible change of a group.
pub fn group_changes(group: &GroupDetails) -> Vec<domain::change::Change> {
    let topic = assignment(false, &[group]);
    let link = topic.links[0].clone();
    let group_context = group.group_context();
    let placed = || GroupDocument {
        group_context: group_context.clone(),
        document: document(group).document,
    };
    let ben = person("ben");
    let mut changes = vec![
        GroupChange::Created { group: boxed(group) }.into(),
        GroupChange::Updated {
            group: boxed(group),
            before: group_context.clone(),
            changed: FieldDiff::new(),
        }
        .into(),
        GroupChange::MembersAdded {
            group: boxed(group),
            users: vec![ben.clone()],
        }
        .into(),
        GroupChange::MemberRemoved {
            group: boxed(group),
            user: ben.clone(),
        }
        .into(),
        GroupChange::Deleted {
            group: Box::new(group.group.clone()),
            group_context: group_context.clone(),
            members: group.member_ids(),
            documents: 1,
            submissions: 0,
            files: Vec::new(),
        }
        .into(),
        HelpChange::Requested {
            group: boxed(group),
            by: ben,
            outcome: HelpRequestOutcome::First,
        }
        .into(),
        AssignmentChange::Created {
            assignment: Box::new(topic.clone()),
            copied_from: None,
        }
        .into(),
        AssignmentChange::LinkUpdated {
            link: Box::new(link.clone()),
            changed: written("lateAllowedUntil"),
            was_published: true,
        }
        .into(),
        AssignmentChange::BulkUpdated {
            assignment: Box::new(topic.clone()),
            changed: written("deadline"),
            moved: vec![StartDateChange {
                group: group.clone(),
                before: group_context.clone(),
            }],
            published_before: topic.group_ids(),
            files: Vec::new(),
        }
        .into(),
        AssignmentChange::Finished {
            assignment: Box::new(topic.clone()),
            already_finished: false,
            documents: vec![placed()],
            open: Vec::new(),
            unsaved: Vec::new(),
        }
        .into(),
        AssignmentChange::Deleted {
            assignment: Box::new(topic.assignment),
            published_groups: vec![group_context.group.id.clone()],
            group_contexts: vec![group_context.clone()],
            submissions: 0,
            released: vec![placed()],
            files: Vec::new(),
        }
        .into(),
    ];
    changes.extend(work_changes(group, link));
    changes
}

/// Returns every possible change of the work of a group.
fn work_changes(group: &GroupDetails, link: GroupAssignmentDetails) -> Vec<domain::change::Change> {
    let (group_context, submission) = (group.group_context(), submission(&link, GradeStatus::Published));
    vec![
        DocumentChange::Changed {
            group_context: group_context.clone(),
            document: Box::new(document(group)),
            step: DocumentStep::Created,
        }
        .into(),
        SubmissionChange::Submitted {
            link: Box::new(link.clone()),
            document: Box::new(document(group)),
            submission: Box::new(submission.clone()),
            superseded: None,
        }
        .into(),
        SubmissionChange::Graded {
            link: Box::new(link.clone()),
            submission: Box::new(submission),
            written: graded_by(Publication::Published),
            members: group.member_ids(),
        }
        .into(),
        FeedbackChange::Created {
            feedback: Box::new(feedback(&link, FeedbackVisibility::Group)),
            link: Box::new(link),
        }
        .into(),
    ]
}

pub fn graded_by(publication: Publication) -> GradeWritten {
    GradeWritten {
        publication,
        is_group: true,
        members: vec![UserId::new("ben")],
    }
}

pub fn written(field: &'static str) -> FieldDiff {
    let mut changed = FieldDiff::new();
    changed.write(field, &mut 1, 2);
    changed
}

#[test]
fn events_of_hidden_group_reach_no_student() {
    for change in group_changes(&group("g", Some(LATER))) {
        let signals = received(change.clone());
        assert!(to_students(&signals).is_empty(), "{change:?}: {signals:?}");
        assert!(!emitted(&signals).is_empty(), "the staff receive the event: {change:?}");
    }
}

#[test]
fn events_of_open_group_except_help_reach_its_students() {
    for change in group_changes(&group("g", None)) {
        let signals = received(change.clone());
        assert!(!to_students(&signals).is_empty(), "{change:?}");
        for (event, rooms, _) in emitted(&signals) {
            assert!(
                !rooms.contains(&Room::Class(class())),
                "{event} would reveal the group to the class"
            );
            let is_call = matches!(event, Event::GroupHelp | Event::GroupHelpResolved);
            assert!(!is_call || rooms == [Room::Staff(class())], "{event} is for the staff");
        }
    }
}

#[test]
fn event_payloads_share_fields_and_hide_staff_data() {
    let (open, other) = (group("g", None), group("other", None));
    let both = assignment(false, &[&open, &other]);
    let mut changes = group_changes(&open);
    changes.push(
        AssignmentChange::Created {
            assignment: Box::new(both),
            copied_from: None,
        }
        .into(),
    );
    for change in changes {
        let signals = received(change);
        for (event, _, payload) in emitted(&signals) {
            let keys: Vec<_> = payload
                .as_object()
                .unwrap()
                .keys()
                .take(5)
                .map(String::as_str)
                .collect();
            assert_eq!(keys, ["eventId", "at", "organizationId", "classId", "actor"], "{event}");
            assert_eq!(payload["actor"], json!({"id": "ada", "name": "ADA"}));
        }
        for (event, rooms, payload) in to_students(&signals) {
            let text = payload.to_string();
            let staff_fields = [
                "@mail.example",
                "isHidden",
                "descriptionOverride",
                "helpClaimedById",
                "stats",
            ];
            for secret in staff_fields {
                assert!(!text.contains(secret), "{event} contains {secret} for students: {text}");
            }
            if rooms.contains(&room("g")) {
                assert!(
                    !text.contains("secret of other"),
                    "{event} contains another group: {text}"
                );
            }
        }
    }
}

#[test]
fn new_members_join_the_room_before_the_event() {
    let signals = received(GroupChange::Created {
        group: boxed(&group("g", None)),
    });
    let Signal::Resync { parties, leave } = &signals[0] else {
        unreachable!("{signals:?}")
    };
    assert_eq!(
        *parties,
        [
            ConnectionTarget::User(UserId::new("ben")),
            ConnectionTarget::User(UserId::new("cem"))
        ]
    );
    assert!(leave.is_empty());
    assert_eq!(emitted(&signals).len(), 2);
    let ids: Vec<_> = emitted(&signals)
        .iter()
        .map(|(_, _, payload)| payload["eventId"].clone())
        .collect();
    assert_eq!(ids[0], ids[1], "one event, two versions");
}

#[test]
fn students_leave_room_of_group_that_becomes_hidden() {
    let (hidden, before) = (group("g", Some(LATER)), group("g", None).group_context());
    let signals = received(GroupChange::Updated {
        group: boxed(&hidden),
        before,
        changed: written("startDate"),
    });
    assert!(matches!(&signals[0], Signal::Resync { leave, .. } if *leave == [room("g")]));
    let lost = to_students(&signals);
    assert_eq!(lost.len(), 2);
    for ((event, rooms, payload), name) in lost.into_iter().zip(["ben", "cem"]) {
        assert_eq!((event, rooms), (Event::GroupRemoved, [user(name)].as_slice()));
        assert_eq!(payload.as_object().unwrap().len(), 6, "{payload}");
    }
    let again = received(GroupChange::Updated {
        group: boxed(&hidden),
        before: hidden.group_context(),
        changed: written("name"),
    });
    assert!(to_students(&again).is_empty(), "it was hidden before");
}

#[test]
fn own_texts_are_emitted_to_their_group_while_effective() {
    let (one, two) = (group("one", None), group("two", None));
    let edited = |is_shared| {
        received(AssignmentChange::Updated {
            assignment: Box::new(assignment(is_shared, &[&one, &two])),
            changed: FieldDiff::new(),
            overridden: vec![GroupId::new("one")],
            excepted: Vec::new(),
            published_before: vec![GroupId::new("one"), GroupId::new("two")],
        })
    };
    let signals = edited(false);
    let students = to_students(&signals);
    assert_eq!(students.len(), 1);
    assert_eq!(students[0].1, [room("one")]);
    assert_eq!(students[0].2["changed"], json!(["effectiveDescription"]));
    assert_eq!(students[0].2["groupAssignment"]["groupId"], "one");
    assert!(!students[0].2.to_string().contains("secret"), "the text is fetched");
    assert!(to_students(&edited(true)).is_empty(), "a shared topic ignores it");
    assert_eq!(emitted(&edited(true))[0].2["affectedGroupIds"], json!(["one"]));
}

#[test]
fn unpublished_topic_is_emitted_to_staff_only() {
    let one = group("one", None);
    let mut draft = assignment(true, &[&one]);
    draft.assignment.publication.is_draft = true;
    draft.links[0].assignment.publication.is_draft = true;
    let changes: [AssignmentChange; 5] = [
        AssignmentChange::Created {
            assignment: Box::new(draft.clone()),
            copied_from: None,
        },
        AssignmentChange::GroupsAttached {
            assignment: Box::new(draft.clone()),
            attached: vec![GroupId::new("one")],
        },
        AssignmentChange::Updated {
            assignment: Box::new(draft.clone()),
            changed: written("title"),
            overridden: Vec::new(),
            excepted: Vec::new(),
            published_before: Vec::new(),
        },
        AssignmentChange::GroupDetached {
            assignment: Box::new(draft.clone()),
            group_context: one.group_context(),
            was_published: false,
            submissions: 0,
            released: Vec::new(),
            files: Vec::new(),
        },
        AssignmentChange::Deleted {
            assignment: Box::new(draft.assignment.clone()),
            group_contexts: vec![one.group_context()],
            published_groups: Vec::new(),
            submissions: 0,
            released: Vec::new(),
            files: Vec::new(),
        },
    ];
    for change in changes {
        let signals = received(change);
        assert!(to_students(&signals).is_empty(), "{signals:?}");
        assert_eq!(emitted(&signals).len(), 1, "staff are notified");
    }
}

#[test]
fn published_topic_is_created_and_hidden_topic_deleted_for_students() {
    let one = group("one", None);
    let published = assignment(true, &[&one]);
    let mut hidden = published.clone();
    hidden.links[0].link.publication.publish_at = Some(LATER);
    let updated = |details: &AssignmentDetails, before: &[&str], field: &'static str| {
        received(AssignmentChange::Updated {
            assignment: Box::new(details.clone()),
            changed: written(field),
            overridden: Vec::new(),
            excepted: Vec::new(),
            published_before: before.iter().map(|id| GroupId::new(*id)).collect(),
        })
    };
    let signals = updated(&published, &[], "isDraft");
    let students = to_students(&signals);
    assert_eq!(students.len(), 1);
    assert_eq!(students[0].0, Event::AssignmentCreated);
    assert_eq!(students[0].2["groupAssignment"]["groupId"], "one");
    let signals = updated(&hidden, &["one"], "publishAt");
    let students = to_students(&signals);
    assert_eq!((students.len(), students[0].0), (1, Event::AssignmentDeleted));
    let signals = updated(&published, &["one"], "publishAt");
    assert!(to_students(&signals).is_empty(), "students see no publication");
}

#[test]
fn finished_topic_event_lists_documents_of_own_group_only() {
    let (one, two) = (group("one", None), group("two", None));
    let placed = |group: &GroupDetails| {
        let mut document = document(group).document;
        document.status = DocumentState::Draft.lock();
        document.locked_at = Some(NOW);
        GroupDocument {
            group_context: group.group_context(),
            document,
        }
    };
    let finish = |groups: &[&GroupDetails], already_finished, documents| {
        received(AssignmentChange::Finished {
            assignment: Box::new(assignment(true, groups)),
            already_finished,
            documents,
            open: Vec::new(),
            unsaved: Vec::new(),
        })
    };
    let signals = finish(&[&one, &two], false, vec![placed(&one), placed(&two)]);
    let finished: Vec<_> = emitted(&signals)
        .into_iter()
        .filter(|(event, ..)| *event == Event::AssignmentFinished)
        .collect();
    assert_eq!(finished.len(), 3);
    assert_eq!(finished[0].2["documents"].as_array().unwrap().len(), 2);
    assert_eq!(
        finished[1].2["documents"],
        json!([{"id": "document of one", "status": "LOCKED", "statusBeforeLock": "DRAFT"}])
    );
    let statuses = emitted(&signals)
        .iter()
        .filter(|(event, ..)| *event == Event::DocumentStatus)
        .count();
    assert_eq!(statuses, 2);
    let repeated = finish(&[&one], true, Vec::new());
    assert!(repeated.is_empty(), "nothing happened the second time");
}

#[test]
fn deleted_course_is_emitted_before_its_rooms_close() {
    let (open, hidden) = (group("open", None), group("hidden", Some(LATER)));
    let removed = |group: &GroupDetails| DeletedGroup {
        group_context: group.group_context(),
        members: group.member_ids(),
    };
    let (id, subject, name) = (
        CourseId::new("course"),
        SubjectId::new("biology"),
        domain::text::Name::stored("Cells"),
    );
    let course = domain::course::Course::new(id, school(), class(), subject, name, NOW);
    let signals = received(CourseChange::Deleted {
        course: Box::new(course),
        removed: CascadeDeletion {
            groups: vec![removed(&open), removed(&hidden)],
            ..CascadeDeletion::default()
        },
    });
    let students = to_students(&signals);
    assert_eq!(students.len(), 1);
    assert_eq!(students[0].0, Event::GroupDeleted);
    assert_eq!(
        students[0].1,
        [Room::Staff(class()), room("open")],
        "one event for both audiences"
    );
    assert_eq!(students[0].2["reason"], "COURSE_DELETED");
    let at = |wanted: &dyn Fn(&Signal) -> bool| signals.iter().position(wanted).unwrap();
    let deleted = at(&|signal| {
        matches!(
            signal,
            Signal::Emit {
                event: Event::GroupDeleted,
                ..
            }
        )
    });
    let dissolved = at(&|signal| matches!(signal, Signal::Resync { leave, .. } if *leave == [room("open")]));
    assert!(deleted < dissolved);
    let course = emitted(&signals).pop().unwrap();
    assert_eq!(course.0, Event::CourseDeleted);
    assert_eq!(course.2["deletedGroups"], json!(["open", "hidden"]));
}
