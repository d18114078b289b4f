//! Fixtures for the tests of this crate: Ada teaches class 7b, Ben is a student in it.

use crate::assignment::{Assignment, LatePolicy};
use crate::course::{Course, CourseStatus};
use crate::document::{Document, DocumentState};
use crate::document_kind::{DocumentType, FileExtension};
use crate::group::Group;
use crate::group_assignment::{GroupAssignment, GroupAssignmentStatus};
use crate::help::HelpFlag;
use crate::id::{
    AssignmentId, ClassId, CourseId, DocumentId, GroupAssignmentId, GroupId, OrganizationId, SubjectId, UserId,
    WorkRoomId,
};
use crate::number::{GroupNumber, RequiredDocuments, RequiredSubmissions};
use crate::publication::TopicPublication;
use crate::text::{Description, DocumentTitle, Name, ShortName, Title};
use crate::time::Timestamp;

/// Returns a timestamp, in seconds since 1970.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

pub fn ada() -> UserId {
    UserId::new("ada")
}

pub fn ben() -> UserId {
    UserId::new("ben")
}

fn school() -> OrganizationId {
    OrganizationId::new("school")
}

/// A course of 7b with a subject named after it.
pub fn course(id: &str) -> Course {
    Course {
        id: CourseId::new(id),
        organization_id: school(),
        class_id: ClassId::new("7b"),
        subject_id: SubjectId::new(format!("subject of {id}")),
        name: Name::stored(id),
        description: None,
        status: CourseStatus::Active,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// A group of 7b without a course.
pub fn group(id: &str) -> Group {
    Group {
        id: GroupId::new(id),
        organization_id: school(),
        class_id: ClassId::new("7b"),
        work_room_id: WorkRoomId::new(format!("room of {id}")),
        name: ShortName::stored(id),
        group_number: GroupNumber::stored(1),
        display_name: None,
        start_date: None,
        meeting_place: None,
        required_documents: RequiredDocuments::stored(1),
        subject_id: None,
        course_id: None,
        help: HelpFlag::default(),
        created_by_id: ada(),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// A shared topic of 7b, due at second 1000.
pub fn assignment(id: &str, course: Option<&str>) -> Assignment {
    Assignment {
        id: AssignmentId::new(id),
        organization_id: school(),
        class_id: ClassId::new("7b"),
        course_id: course.map(CourseId::new),
        title: Title::stored(id),
        description: Description::stored("for all"),
        deadline: at(1000),
        required_submissions: RequiredSubmissions::stored(1),
        is_shared: true,
        finished: None,
        max_points: None,
        grade_scale: None,
        late_policy: LatePolicy::Allow,
        publication: TopicPublication::default(),
        created_by_id: ada(),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// The link of a group to a topic, before any work.
pub fn link(group: &str, assignment: &str) -> GroupAssignment {
    GroupAssignment {
        id: GroupAssignmentId::new(format!("{group} on {assignment}")),
        organization_id: school(),
        assignment_id: AssignmentId::new(assignment),
        group_id: GroupId::new(group),
        status: GroupAssignmentStatus::NotStarted,
        current_submission_id: None,
        description_override: None,
        includes_shared_text: false,
        late_allowed_until: None,
        publication: TopicPublication::default(),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// A draft that Ben created in the room of a group.
pub fn document(id: &str, group: &str) -> Document {
    Document {
        id: DocumentId::new(id),
        organization_id: school(),
        work_room_id: WorkRoomId::new(format!("room of {group}")),
        group_id: GroupId::new(group),
        title: DocumentTitle::stored(id),
        document_type: DocumentType::Word,
        file_extension: FileExtension::Docx,
        status: DocumentState::Draft,
        locked_at: None,
        locked_by_assignment_id: None,
        assignment_id: None,
        generation: 1,
        current_revision_id: None,
        version: 0,
        size: 0,
        created_by_id: ben(),
        last_edited_by: None,
        last_activity: at(0),
        save_failed_at: None,
        cut_at: None,
        freezing_until: None,
        unsaved_generation: None,
        submitted_at: None,
        submitted_by_id: None,
        created_at: at(0),
        updated_at: at(0),
    }
}
