//! Tests of group assignments: effective task text, status and lateness.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;
use crate::file::{FileKey, StoredFile};
use crate::id::{AttachmentId, UserId};
use crate::samples::{assignment, at, link};
use crate::text::FileName;

fn with_own_text(text: &str) -> GroupAssignment {
    GroupAssignment {
        description_override: Some(Description::stored(text)),
        ..link("g", "t")
    }
}

fn file(owner: Option<&str>) -> AssignmentAttachment {
    AssignmentAttachment {
        id: AttachmentId::new("file"),
        organization_id: OrganizationId::new("school"),
        assignment_id: AssignmentId::new("t"),
        group_assignment_id: owner.map(GroupAssignmentId::new),
        file: StoredFile {
            key: FileKey::new("key"),
            file_name: FileName::stored("map.pdf"),
            mime_type: "application/pdf".to_owned(),
            size: 1,
            sha256: String::new(),
        },
        staged_at: None,
        uploaded_by_id: UserId::new("ada"),
        created_at: at(0),
    }
}

#[test]
fn students_see_work_only_once_topic_is_published_for_their_group() {
    let mut topic = assignment("t", None);
    let mut own = link("g", "t");
    let student = Viewer::Student(UserId::new("ben"));
    assert!(own.visible_to(&student, true, &topic, at(1)));
    assert!(!own.visible_to(&student, false, &topic, at(1)));
    topic.publication.is_draft = true;
    assert!(!own.visible_to(&student, true, &topic, at(1)));
    assert!(own.visible_to(&Viewer::Admin, true, &topic, at(1)));
    assert_eq!(
        own.takes_submission(&topic, at(1)),
        Err(DomainError::AssignmentNotPublished)
    );
    own.publication.publish_at = Some(at(5));
    assert!(!own.visible_to(&student, true, &topic, at(4)));
    assert!(own.visible_to(&student, true, &topic, at(5)));
}

#[test]
fn topic_stays_published_for_group_that_has_started() {
    let topic = assignment("t", None);
    let hide = GroupAssignmentEdit {
        is_draft: FieldPatch::Value(true),
        ..GroupAssignmentEdit::default()
    };
    let mut started = link("g", "t");
    started.status = GroupAssignmentStatus::InProgress;
    assert_eq!(
        started.edit(hide.clone(), &topic, at(2)),
        Err(DomainError::AssignmentStarted)
    );
    let mut fresh = link("g", "t");
    assert_eq!(fresh.edit(hide, &topic, at(2)).unwrap().names(), ["isDraft"]);
    let late = GroupAssignmentEdit {
        publish_at: FieldPatch::Value(at(1001)),
        ..GroupAssignmentEdit::default()
    };
    assert!(matches!(
        fresh.edit(late, &topic, at(2)),
        Err(DomainError::Invalid { path: "publishAt", .. })
    ));
}

#[test]
fn a_group_reads_its_own_text_only_while_the_topic_is_not_shared() {
    let shared = assignment("t", None);
    let unique = Assignment {
        is_shared: false,
        ..assignment("t", None)
    };
    assert_eq!(
        effective_description(&shared, &with_own_text("own")).as_str(),
        "for all"
    );
    assert_eq!(effective_description(&unique, &with_own_text("own")).as_str(), "own");
    assert_eq!(effective_description(&unique, &with_own_text("")).as_str(), "for all");
    assert_eq!(effective_description(&unique, &link("g", "t")).as_str(), "for all");
}

#[test]
fn own_text_follows_shared_one_if_the_link_includes_it() {
    let shared = Assignment {
        description: Description::stored("for all\n"),
        ..assignment("t", None)
    };
    let unique = Assignment {
        is_shared: false,
        ..shared.clone()
    };
    let link = |text| GroupAssignment {
        includes_shared_text: true,
        ..with_own_text(text)
    };
    assert_eq!(effective_description(&unique, &link("own")).as_str(), "for all\n\nown");
    assert_eq!(effective_description(&unique, &link("")).as_str(), "for all\n");
    assert_eq!(effective_description(&shared, &link("own")).as_str(), "for all\n");
    let empty = Assignment {
        description: Description::stored(""),
        ..unique
    };
    assert_eq!(effective_description(&empty, &link("own")).as_str(), "own");
}

#[test]
fn a_group_sees_shared_files_and_its_own_but_never_those_of_others() {
    let own = link("g", "t");
    let shared = assignment("t", None);
    let unique = Assignment {
        is_shared: false,
        ..assignment("t", None)
    };
    for topic in [&shared, &unique] {
        assert!(can_view_file(topic, &own, &file(None)));
        assert!(!can_view_file(topic, &own, &file(Some("h on t"))));
        let staged = AssignmentAttachment {
            staged_at: Some(at(1)),
            ..file(None)
        };
        assert!(!can_view_file(topic, &own, &staged));
        let foreign = AssignmentAttachment {
            assignment_id: AssignmentId::new("u"),
            ..file(None)
        };
        assert!(!can_view_file(topic, &own, &foreign));
    }
    assert!(can_view_file(&unique, &own, &file(Some("g on t"))));
    assert!(
        !can_view_file(&shared, &own, &file(Some("g on t"))),
        "ignored while the topic is shared"
    );
    assert!(!is_effective(&shared, &file(Some("g on t"))) && is_effective(&unique, &file(Some("g on t"))));
}

#[test]
fn empty_own_text_counts_as_none() {
    let mut own = with_own_text("own");
    let edit: GroupAssignmentEdit = serde_json::from_str(r#"{"descriptionOverride": "  "}"#).unwrap();
    let topic = assignment("t", None);
    assert_eq!(own.edit(edit, &topic, at(1)).unwrap().names(), ["descriptionOverride"]);
    assert_eq!(own.description_override, None);
    let mut finished = topic;
    finished.finish(&UserId::new("ada"), at(2));
    let edit = GroupAssignmentEdit {
        late_allowed_until: FieldPatch::Value(at(9)),
        ..GroupAssignmentEdit::default()
    };
    assert_eq!(own.edit(edit, &finished, at(3)), Err(DomainError::AssignmentFinished));
}

#[test]
fn link_status_follows_the_transition_table() {
    use GroupAssignmentStatus::{Graded, InProgress, NotStarted, Returned, Submitted};
    let remain = |others_remain| StatusTransition::Unsubmitted { others_remain };
    let removed = |has_document| StatusTransition::RecordRemoved { has_document };
    let not_submitted = Err(DomainError::NotSubmitted);
    let graded = Err(DomainError::GradePublished);
    for (from, step, expected) in [
        (NotStarted, StatusTransition::Worked, Ok(InProgress)),
        (Returned, StatusTransition::Worked, Ok(Returned)),
        (Submitted, StatusTransition::Worked, Ok(Submitted)),
        (NotStarted, StatusTransition::Submitted, Ok(Submitted)),
        (InProgress, StatusTransition::Submitted, Ok(Submitted)),
        (Returned, StatusTransition::Submitted, Ok(Submitted)),
        (Submitted, StatusTransition::Submitted, Ok(Submitted)),
        (Graded, StatusTransition::Submitted, graded.clone()),
        (Submitted, remain(true), Ok(Submitted)),
        (Submitted, remain(false), Ok(InProgress)),
        (Graded, remain(true), graded),
        (InProgress, remain(false), not_submitted.clone()),
        (Submitted, removed(true), Ok(InProgress)),
        (Submitted, removed(false), Ok(NotStarted)),
        (Graded, removed(false), Err(DomainError::GradePublished)),
        (InProgress, removed(true), not_submitted.clone()),
        (Submitted, StatusTransition::GradePublished, Ok(Graded)),
        (Graded, StatusTransition::GradePublished, Ok(Graded)),
        (InProgress, StatusTransition::GradePublished, not_submitted.clone()),
        (Graded, StatusTransition::GradeWithdrawn, Ok(Submitted)),
        (Submitted, StatusTransition::Returned, Ok(Returned)),
        (Graded, StatusTransition::Returned, Ok(Returned)),
        (Returned, StatusTransition::Returned, not_submitted),
    ] {
        assert_eq!(from.after(step), expected, "{from} {step:?}");
    }
    assert_eq!(GroupAssignmentStatus::at_attachment(true), InProgress);
    assert_eq!(GroupAssignmentStatus::at_attachment(false), NotStarted);
}

#[test]
fn work_is_late_after_the_deadline_and_the_groups_own_grace() {
    let topic = assignment("t", None);
    let own = link("g", "t");
    let late = |link: &GroupAssignment, second| link.lateness(&topic, at(second));
    assert_eq!(
        late(&own, 1000),
        Lateness {
            is_late: false,
            late_by_seconds: 0
        }
    );
    assert_eq!(
        late(&own, 1060),
        Lateness {
            is_late: true,
            late_by_seconds: 60
        }
    );
    let just = own.lateness(&topic, Timestamp::from_millis(1_000_001));
    assert_eq!(
        just,
        Lateness {
            is_late: true,
            late_by_seconds: 1
        },
        "late by a moment is late"
    );
    let grace = GroupAssignment {
        late_allowed_until: Some(at(1100)),
        ..link("g", "t")
    };
    assert!(!late(&grace, 1100).is_late);
    assert_eq!(late(&grace, 1130).late_by_seconds, 30);
    let useless = GroupAssignment {
        late_allowed_until: Some(at(500)),
        ..link("g", "t")
    };
    assert!(
        !late(&useless, 1000).is_late,
        "a grace before the deadline takes nothing away"
    );
}

#[test]
fn late_work_is_refused_only_where_the_topic_blocks_it() {
    let own = link("g", "t");
    let blocked = Assignment {
        late_policy: LatePolicy::Block,
        ..assignment("t", None)
    };
    assert!(own.takes_submission(&assignment("t", None), at(1001)).unwrap().is_late);
    assert_eq!(
        own.takes_submission(&blocked, at(1001)),
        Err(DomainError::LateNotAllowed)
    );
    assert!(own.takes_submission(&blocked, at(1000)).is_ok());
    let grace = GroupAssignment {
        late_allowed_until: Some(at(1100)),
        ..link("g", "t")
    };
    assert!(grace.takes_submission(&blocked, at(1100)).is_ok());
}

#[test]
fn group_with_submission_is_detached_only_by_force() {
    let own = link("g", "t");
    assert_eq!(own.detachable(true, false), Err(DomainError::HasSubmission));
    assert_eq!(own.detachable(true, true), Ok(()));
    assert_eq!(own.detachable(false, false), Ok(()));
}

fn step() -> impl Strategy<Value = StatusTransition> {
    prop_oneof![
        Just(StatusTransition::Worked),
        Just(StatusTransition::Submitted),
        any::<bool>().prop_map(|others_remain| StatusTransition::Unsubmitted { others_remain }),
        Just(StatusTransition::GradePublished),
        Just(StatusTransition::GradeWithdrawn),
        Just(StatusTransition::Returned),
    ]
}

proptest! {
    #[test]
    fn switching_between_shared_and_unique_touches_nothing_of_the_group(
        text in prop::option::of("[a-z]{0,8}"), flips in 0_usize..6
    ) {
        let mut topic = assignment("t", None);
        let own = GroupAssignment { description_override: text.map(Description::stored), ..link("g", "t") };
        let before = own.clone();
        let read = effective_description(&topic, &own).into_owned();
        for _ in 0..flips {
            for is_shared in [false, true] {
                let edit = crate::assignment::AssignmentEdit { is_shared: FieldPatch::Value(is_shared), ..Default::default() };
                topic.edit(edit, at(1)).unwrap();
                // The function is total: the text is always the group's own or that of the topic.
                let now = effective_description(&topic, &own);
                prop_assert!(*now == topic.description || Some(&*now) == own.description_override.as_ref());
                prop_assert_eq!(is_shared && *now != topic.description, false);
            }
        }
        prop_assert_eq!(&own, &before);
        prop_assert_eq!(&*effective_description(&topic, &own), &read);
    }

    #[test]
    fn submission_is_current_exactly_while_status_is_submitted(steps in prop::collection::vec(step(), 0..40)) {
        let mut own = link("g", "t");
        for (number, step) in steps.into_iter().enumerate() {
            let before = own.clone();
            let new = Some(SubmissionId::new(number.to_string()));
            let result = own.apply_transition_with(step, new, at(1));
            if result.is_err() {
                prop_assert_eq!(&own, &before);
            }
            prop_assert_eq!(own.status.has_submission(), own.current_submission_id.is_some());
        }
    }

    #[test]
    fn status_counts_sum_to_number_of_groups(
        rows in prop::collection::vec((prop::sample::select(GroupAssignmentStatus::ALL), any::<bool>()), 0..30)
    ) {
        let mut received = Statistics::default();
        for (status, is_late) in &rows {
            received.count(*status, *is_late);
        }
        prop_assert_eq!(usize::try_from(received.groups).unwrap(), rows.len());
        let sum = received.not_started + received.in_progress + received.submitted + received.returned + received.graded;
        prop_assert_eq!(sum, received.groups);
        prop_assert!(received.late <= received.submitted + received.graded);
        prop_assert_eq!(received.ungraded, received.submitted);
    }

    #[test]
    fn more_time_never_makes_work_later(
        deadline in 0_i64..100, grace in prop::option::of(0_i64..200), more in 0_i64..100, submitted in 0_i64..300
    ) {
        let topic = Assignment { deadline: at(deadline), ..assignment("t", None) };
        let own = GroupAssignment { late_allowed_until: grace.map(at), ..link("g", "t") };
        let longer = Assignment { deadline: at(deadline + more), ..topic.clone() };
        let (first, second) = (own.lateness(&topic, at(submitted)), own.lateness(&longer, at(submitted)));
        prop_assert!(second.late_by_seconds <= first.late_by_seconds);
        prop_assert_eq!(first.is_late, first.late_by_seconds > 0);
    }
}
