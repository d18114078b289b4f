//! Test data for the broadcast tests: group `g` of class 7b with Ben and Cem, on one topic, with one document.

use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::assignment::{Assignment, LatePolicy};
use domain::class::{ClassLabel, ClassStatus};
use domain::details::{AssignmentDetails, DocumentDetails, GroupAssignmentDetails, GroupDetails, SubmissionDetails};
use domain::document::{Document, DocumentState};
use domain::document_kind::{DocumentType, FileExtension};
use domain::feedback::{Feedback, FeedbackVisibility};
use domain::grade::{Grade, GradeStatus, MemberGrade};
use domain::group::{Group, GroupMember, GroupRole};
use domain::group_assignment::Lateness;
use domain::group_assignment::{GroupAssignment, GroupAssignmentStatus};
use domain::help::HelpFlag;
use domain::id::{
    AssignmentId, ClassId, DocumentId, FeedbackId, GroupAssignmentId, GroupId, GroupMemberId, OrganizationId,
    SubmissionId, UserId, WorkRoomId,
};
use domain::number::{GroupNumber, RequiredDocuments, RequiredSubmissions};
use domain::publication::TopicPublication;
use domain::submission::{Submission, SubmissionStatus};
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
    GroupDetails {
        group: Group {
            id: GroupId::new(id),
            organization_id: school(),
            class_id: class(),
            work_room_id: WorkRoomId::new(format!("room of {id}")),
            name: ShortName::stored(id),
            group_number: GroupNumber::stored(1),
            display_name: None,
            start_date: start,
            meeting_place: None,
            required_documents: RequiredDocuments::stored(1),
            subject_id: None,
            course_id: None,
            help: HelpFlag::default(),
            created_by_id: UserId::new("ada"),
            created_at: NOW,
            updated_at: NOW,
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
    let assignment = Assignment {
        id: AssignmentId::new("topic"),
        organization_id: school(),
        class_id: class(),
        course_id: None,
        title: Title::stored("The river"),
        description: Description::stored("for all"),
        deadline: LATER,
        required_submissions: RequiredSubmissions::stored(1),
        is_shared,
        finished: None,
        max_points: None,
        grade_scale: None,
        late_policy: LatePolicy::Allow,
        publication: TopicPublication::default(),
        created_by_id: UserId::new("ada"),
        created_at: NOW,
        updated_at: NOW,
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
    let id = &group.group.id;
    GroupAssignmentDetails {
        link: GroupAssignment {
            id: GroupAssignmentId::new(format!("link of {id}")),
            organization_id: school(),
            assignment_id: assignment.id.clone(),
            group_id: id.clone(),
            status: GroupAssignmentStatus::NotStarted,
            current_submission_id: None,
            description_override: Some(Description::stored(format!("secret of {id}"))),
            includes_shared_text: false,
            late_allowed_until: None,
            publication: TopicPublication::default(),
            created_at: NOW,
            updated_at: NOW,
        },
        assignment: assignment.clone(),
        group_context: group.group_context(),
        attachments: Vec::new(),
        submitted_count: 0,
        current_submission: None,
    }
}

pub fn document(group: &GroupDetails) -> DocumentDetails {
    DocumentDetails {
        document: Document {
            id: DocumentId::new(format!("document of {}", group.group.id)),
            organization_id: school(),
            work_room_id: group.group.work_room_id.clone(),
            group_id: group.group.id.clone(),
            title: DocumentTitle::stored("Notes"),
            document_type: DocumentType::Word,
            file_extension: FileExtension::Docx,
            status: DocumentState::Draft,
            locked_at: None,
            locked_by_assignment_id: None,
            assignment_id: None,
            generation: 1,
            current_revision_id: None,
            version: 3,
            size: 10,
            created_by_id: UserId::new("ben"),
            last_edited_by: None,
            last_activity: NOW,
            save_failed_at: None,
            cut_at: None,
            freezing_until: None,
            unsaved_generation: None,
            submitted_at: None,
            submitted_by_id: None,
            created_at: NOW,
            updated_at: NOW,
        },
        last_editor: None,
        grade: None,
    }
}

pub fn submission(link: &GroupAssignmentDetails, status: GradeStatus) -> SubmissionDetails {
    let id = SubmissionId::new("attempt");
    SubmissionDetails {
        submission: Submission {
            id: id.clone(),
            organization_id: school(),
            group_assignment_id: link.link.id.clone(),
            attempt: 1,
            status: SubmissionStatus::Active,
            submitted_by_id: UserId::new("ben"),
            submitted_at: NOW,
            on_behalf: false,
            lateness: Lateness {
                is_late: false,
                late_by_seconds: 0,
            },
            member_ids: vec![UserId::new("ben"), UserId::new("cem")],
            note: None,
            withdrawn_at: None,
            withdrawn_by_id: None,
            created_at: NOW,
        },
        documents: Vec::new(),
        grade: Some(Grade {
            submission_id: id,
            value: Some(GradeValue::stored("group's grade")),
            points: None,
            feedback: None,
            rubric: Vec::new(),
            files: Vec::new(),
            status,
            version: 1,
            graded_by_id: UserId::new("ada"),
            graded_at: NOW,
            published_at: None,
            member_grades: vec![MemberGrade {
                user_id: UserId::new("ben"),
                value: Some(GradeValue::stored("Ben's grade")),
                points: None,
                feedback: None,
            }],
            member_marks: std::collections::BTreeMap::new(),
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
