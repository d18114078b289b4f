//! Test data for the broadcast tests: group `g` of class 7b with Ben and Cem, on one topic, with one document.

use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::assignment::Assignment;
use domain::class::{ClassLabel, ClassStatus};
use domain::details::{AssignmentDetails, DocumentDetails, GroupAssignmentDetails, GroupDetails, SubmissionDetails};
use domain::document::Document;
use domain::feedback::{Feedback, FeedbackVisibility};
use domain::grade::{Grade, GradeStatus, MemberGrade};
use domain::group::{Group, GroupMember, GroupRole};
use domain::group_assignment::{GroupAssignment, Lateness};
use domain::id::{
    AssignmentId, ClassId, DocumentId, FeedbackId, GroupAssignmentId, GroupId, GroupMemberId, OrganizationId,
    SubmissionId, UserId, WorkRoomId,
};
use domain::number::GroupNumber;
use domain::submission::{NextAttempt, Submission};
use domain::text::{Description, DocumentTitle, FeedbackText, GradeValue, ShortName, Title};
use domain::time::Timestamp;
use domain::user::Person;

use db::Actor;

pub const NOW: Timestamp = Timestamp::from_millis(1_000_000);
pub const LATER: Timestamp = Timestamp::from_millis(2_000_000);

pub fn school() -> OrganizationId {
    OrganizationId::new("school")
}

pub fn class() -> ClassId {
    ClassId::new("7b")
}

pub fn person(name: &str) -> Person {
    Person {
        id: UserId::new(name),
        name: name.to_uppercase(),
        image: None,
    }
}

pub fn ada() -> Actor {
    Actor {
        user: Some(UserId::new("ada")),
        name: "ADA".to_owned(),
        role: MemberRole::Teacher.as_str(),
        impersonated_by: None,
        api_token: None,
        request_id: None,
    }
}

pub fn group(id: &str, start: Option<Timestamp>) -> GroupDetails {
    let member = |name: &str| GroupMember {
        id: GroupMemberId::new(format!("{name} in {id}")),
        group_id: GroupId::new(id),
        user: person(name),
        email: AccountEmail::stored(format!("{name}@mail.example")),
        role: GroupRole::Member,
        joined_at: NOW,
    };
    let (group, room) = (GroupId::new(id), WorkRoomId::new(format!("room of {id}")));
    GroupDetails {
        group: Group {
            name: ShortName::stored(id),
            start_date: start,
            ..Group::new(
                group,
                school(),
                class(),
                room,
                GroupNumber::stored(1),
                UserId::new("ada"),
                NOW,
            )
        },
        class: label(),
        course: None,
        subject: None,
        members: vec![member("ben"), member("cem")],
        links: Vec::new(),
        attachments: Vec::new(),
    }
}

fn label() -> ClassLabel {
    ClassLabel {
        id: class(),
        name: "7b".to_owned(),
        academic_year: "2026/2027".to_owned(),
        status: ClassStatus::Active,
    }
}

pub fn assignment(is_shared: bool, groups: &[&GroupDetails]) -> AssignmentDetails {
    let (id, title, ada) = (
        AssignmentId::new("topic"),
        Title::stored("The river"),
        UserId::new("ada"),
    );
    let assignment = Assignment {
        description: Description::stored("for all"),
        is_shared,
        ..Assignment::new(id, school(), class(), title, LATER, ada, NOW)
    };
    let links = groups.iter().map(|group| link(group, &assignment)).collect();
    AssignmentDetails {
        assignment,
        class: label(),
        schedule: None,
        has_rubric: false,
        course: None,
        attachments: Vec::new(),
        links,
    }
}

pub fn link(group: &GroupDetails, assignment: &Assignment) -> GroupAssignmentDetails {
    let group_id = &group.group.id;
    let id = GroupAssignmentId::new(format!("link of {group_id}"));
    GroupAssignmentDetails {
        link: GroupAssignment {
            description_override: Some(Description::stored(format!("secret of {group_id}"))),
            ..GroupAssignment::new(id, school(), assignment.id.clone(), group_id.clone(), NOW)
        },
        assignment: assignment.clone(),
        group_context: group.group_context(),
        attachments: Vec::new(),
        submitted_count: 0,
        current_submission: None,
    }
}

pub fn document(group: &GroupDetails) -> DocumentDetails {
    let Group { id, work_room_id, .. } = group.group.clone();
    let document = DocumentId::new(format!("document of {id}"));
    let title = DocumentTitle::stored("Notes");
    DocumentDetails {
        document: Document {
            version: 3,
            size: 10,
            ..Document::new(document, school(), work_room_id, id, title, UserId::new("ben"), NOW)
        },
        last_editor: None,
        grade: None,
    }
}

pub fn submission(link: &GroupAssignmentDetails, status: GradeStatus) -> SubmissionDetails {
    let id = SubmissionId::new("attempt");
    let next = NextAttempt {
        attempt: 1,
        documents: Vec::new(),
        lateness: Lateness {
            is_late: false,
            late_by_seconds: 0,
        },
        submitted_at: NOW,
    };
    let (ben, link) = (UserId::new("ben"), link.link.id.clone());
    SubmissionDetails {
        submission: Submission {
            member_ids: vec![ben.clone(), UserId::new("cem")],
            ..Submission::new(id.clone(), school(), link, &next, ben, NOW)
        },
        documents: Vec::new(),
        grade: Some(Grade {
            value: Some(GradeValue::stored("group's grade")),
            status,
            version: 1,
            member_grades: vec![MemberGrade {
                user_id: UserId::new("ben"),
                value: Some(GradeValue::stored("Ben's grade")),
                points: None,
                feedback: None,
            }],
            ..Grade::blank(id, UserId::new("ada"), NOW)
        }),
        feedback: Vec::new(),
    }
}

pub fn feedback(link: &GroupAssignmentDetails, visibility: FeedbackVisibility) -> Feedback {
    Feedback {
        id: FeedbackId::new("feedback"),
        group_assignment_id: link.link.id.clone(),
        submission_id: None,
        document_id: None,
        author: person("ada"),
        text: FeedbackText::stored("a word"),
        visibility,
        published_at: Some(NOW),
        created_at: NOW,
        updated_at: NOW,
    }
}
