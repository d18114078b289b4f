//! Submissions with their document copies, grade and feedback in responses and events. Unpublished grades, individual
//! grades of other members and staff notes are never sent to students.

use api_macros::view;
use domain::details::SubmissionDetails;
use domain::document_kind::FileExtension;
use domain::feedback::{Feedback, FeedbackVisibility};
use domain::file::GradeFile;
use domain::from_fields;
use domain::grade::{Grade, GradeState, GradeStatus, MemberGrade};
use domain::id::{AttachmentId, DocumentId, FeedbackId, GroupAssignmentId, SubmissionDocumentId, SubmissionId, UserId};
use domain::number::Points;
use domain::rubric::RubricMark;
use domain::submission::{SubmissionDocument, SubmissionStatus};
use domain::text::{FeedbackText, FileName, GradeValue, Note};
use domain::time::Timestamp;

use super::audience::{Audience, StaffOnly};

/// A submission attempt of a group.
#[view]
pub struct SubmissionView {
    id: SubmissionId,
    group_assignment_id: GroupAssignmentId,
    attempt: i64,
    status: SubmissionStatus,
    submitted_by_id: UserId,
    submitted_at: Timestamp,
    on_behalf: bool,
    is_late: bool,
    late_by_seconds: i64,
    /// The members of the group at submission time.
    member_ids: Vec<UserId>,
    note: Option<Note>,
    withdrawn_at: Option<Timestamp>,
    withdrawn_by_id: Option<UserId>,
    documents: Vec<SubmissionDocumentView>,
    /// Students see the grade once it is published.
    grade: Option<GradeView>,
    feedback: Vec<FeedbackView>,
    created_at: Timestamp,
}

impl SubmissionView {
    /// Returns the attempt as visible to the audience.
    pub fn new(details: &SubmissionDetails, audience: &Audience) -> Self {
        let submission = &details.submission;
        let shown = |feedback: &&Feedback| audience.is_staff() || feedback.visible_to_students();
        from_fields!(&submission => Self {
            id, group_assignment_id, attempt, status, submitted_by_id, submitted_at, on_behalf, member_ids, note,
            withdrawn_at, withdrawn_by_id, created_at,
            is_late: submission.lateness.is_late,
            late_by_seconds: submission.lateness.late_by_seconds,
            documents: details.documents.iter().map(SubmissionDocumentView::from).collect(),
            grade: details.grade.as_ref().and_then(|grade| GradeView::new(grade, audience)),
            feedback: details.feedback.iter().filter(shown).map(FeedbackView::from).collect(),
        })
    }
}

/// The copy of a document as it was submitted.
#[view]
pub struct SubmissionDocumentView {
    id: SubmissionDocumentId,
    submission_id: SubmissionId,
    /// Null once the document is deleted; the copy is kept.
    document_id: Option<DocumentId>,
    title: String,
    file_extension: FileExtension,
    size: i64,
    sha256: String,
    download_url: String,
    pdf_url: String,
}

impl From<&SubmissionDocument> for SubmissionDocumentView {
    fn from(copy: &SubmissionDocument) -> Self {
        let path = format!("/api/feedback/submissions/{}/documents/{}", copy.submission_id, copy.id);
        from_fields!(&copy => Self {
            id, submission_id, document_id, title, file_extension, size, sha256,
            download_url: format!("{path}/download"),
            pdf_url: format!("{path}/pdf"),
        })
    }
}

/// The grade of a submission.
#[view]
pub struct GradeView {
    value: Option<GradeValue>,
    points: Option<Points>,
    feedback: Option<FeedbackText>,
    /// The filled criteria of the topic's rubric, in its order.
    rubric: Vec<RubricMark>,
    /// Files for the group, oldest first.
    files: Vec<GradeFileView>,
    status: GradeStatus,
    graded_by_id: UserId,
    graded_at: Timestamp,
    published_at: Option<Timestamp>,
    /// For staff, all individual grades; for a student, only their own.
    member_grades: Vec<MemberGrade>,
    /// Staff only: number of states in the history of the grade.
    history: StaffOnly<i64>,
}

impl GradeView {
    /// Returns the grade as visible to the audience; `None` if it is not.
    pub fn new(grade: &Grade, audience: &Audience) -> Option<Self> {
        let grade = shown_grade(grade, audience)?;
        Some(from_fields!(grade => Self {
            value, points, feedback, rubric, status, graded_by_id, graded_at, published_at, member_grades,
            history: audience.staff_only(grade.version),
            files: grade.files.iter().map(GradeFileView::from).collect(),
        }))
    }
}

/// A file that staff added to a grade.
#[view]
pub struct GradeFileView {
    id: AttachmentId,
    file_name: FileName,
    mime_type: String,
    size: i64,
    uploaded_by_id: UserId,
    created_at: Timestamp,
    url: String,
}

impl GradeFileView {
    /// Returns the download URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

view_from!(file: &GradeFile => GradeFileView {
    id, uploaded_by_id, created_at,
    file_name: file.file.file_name.clone(),
    mime_type: file.file.mime_type.clone(),
    size: file.file.size,
    url: format!(
        "/api/feedback/submissions/{}/files/{}/download",
        file.submission_id, file.id
    ),
});

/// Returns the grade as visible to the audience.
pub(super) fn shown_grade(grade: &Grade, audience: &Audience) -> Option<Grade> {
    match audience {
        Audience::Staff => Some(grade.for_staff()),
        Audience::Student(student) => grade.for_student(student),
        Audience::Group => grade.for_group(),
    }
}

/// A present or former state of a grade, for staff.
#[view]
pub struct GradeStateView {
    /// Number of the state, from 1.
    version: i64,
    value: Option<GradeValue>,
    points: Option<Points>,
    feedback: Option<FeedbackText>,
    /// The filled criteria of the topic's rubric, in its order.
    rubric: Vec<RubricMark>,
    status: GradeStatus,
    member_grades: Vec<MemberGrade>,
    changed_by: NamedView,
    changed_at: Timestamp,
}

view_from!(state: GradeState => GradeStateView {
    version, value, points, feedback, rubric, status, member_grades, changed_at,
    changed_by: NamedView {
        id: state.changed_by_id,
        name: state.changed_by_name,
    },
});

/// A comment of a teacher on the work of a group.
#[view]
pub struct FeedbackView {
    id: FeedbackId,
    group_assignment_id: GroupAssignmentId,
    submission_id: Option<SubmissionId>,
    document_id: Option<DocumentId>,
    author_id: UserId,
    author: NamedView,
    text: FeedbackText,
    visibility: FeedbackVisibility,
    published_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A user by name.
#[view]
#[schema(as = NamedPerson)]
pub struct NamedView {
    id: UserId,
    name: String,
}

view_from!(feedback: &Feedback => FeedbackView {
    id, group_assignment_id, submission_id, document_id, text, visibility, published_at, created_at, updated_at,
    author_id: feedback.author.id.clone(),
    author: NamedView {
        id: feedback.author.id.clone(),
        name: feedback.author.name.clone(),
    },
});
