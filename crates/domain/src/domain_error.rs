//! Domain errors: why a rule rejects a request, with the message shown to users. Messages for
//! invalid input are defined with the input types ([`crate::text`]), messages for unknown ids in the server.

use crate::error_code::ErrorCode;
use crate::id::GroupId;

/// A rule rejected the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// Write access to a class the user does not teach.
    #[error("Only the teachers of this class and admins can do this; ask one of them to add you as a co-teacher.")]
    NotClassTeacher,
    /// A co-teacher tried to change the co-teachers.
    #[error("Only the owner of this class and admins choose its co-teachers.")]
    NotClassOwner,
    /// The user acts on, or assigns, a role that is not below their own.
    #[error("This can only be done by someone of a higher rank; ask an owner of the organization.")]
    ForbiddenRank,
    /// An admin changes an account that does not belong to this organization alone.
    #[error("This account is used outside your organization, so only the person or the platform can change it.")]
    SharedAccount,
    /// An invitation to an address to which no email can be delivered.
    #[error("No email reaches this address, so it cannot be invited; use the person's real address.")]
    NoMailbox,
    /// An account without an email address that needs one.
    #[error("Administrators and owners need an e-mail address, and everyone else an e-mail address or a user name.")]
    EmailRequired,
    /// Only the school may change the names of its students.
    #[error("Your school sets your name. Ask the administration of your school to change it.")]
    NameSetBySchool,
    /// The user changes something that another user created.
    #[error("Only the person who made this can change it.")]
    NotAuthor,
    /// A room message is edited too late.
    #[error("A message can only be changed during the first 15 minutes; write a new one instead.")]
    EditTimeOver,
    /// The course of groups and the course of an active topic would differ.
    #[error("The groups and the topic must be in the same course; finish or detach the other topic first.")]
    CourseMismatch {
        /// The groups that cause the conflict.
        groups: Vec<GroupId>,
    },
    /// Objects of different classes would be linked, or a group would have another subject than its course.
    #[error("Class, course, group, topic and subject do not belong together; choose ones of the same class.")]
    ClassMismatch,
    /// A submitted document is submitted, edited or deleted.
    #[error("The document is already submitted; take the submission back first.")]
    AlreadySubmitted,
    /// Work without documents is recorded for a group that has submitted.
    #[error("The group has already submitted work for this topic.")]
    AlreadyRecorded,
    /// A submission with documents is removed as if it had none.
    #[error("This submission has documents; take those back.")]
    HasDocuments,
    /// The rubric of a topic is replaced or removed although a grade uses it.
    #[error("A grade of this topic uses the rubric; clear its criteria in the grades first.")]
    RubricInUse,
    /// A grade is published whose rubric is filled in part.
    #[error("The rubric is filled in only in part; choose a level for every criterion, or clear all.")]
    RubricIncomplete,
    /// A document that is not submitted is withdrawn or graded.
    #[error("The document is not submitted; submit it first.")]
    NotSubmitted,
    /// A change of a finished topic.
    #[error("This topic is closed for work; a teacher can reopen it.")]
    AssignmentFinished,
    /// Work on a topic that students cannot see yet.
    #[error("The topic is not published for this group yet; publish it first.")]
    AssignmentNotPublished,
    /// A topic would be hidden from a group that has started on it.
    #[error("A group has already started on this topic, so it stays published.")]
    AssignmentStarted,
    /// A submission is changed after its grade was published.
    #[error("The grade is already published; ask a teacher to withdraw it or to return the work.")]
    GradePublished,
    /// A student requests the PDF before the topic is finished.
    #[error("The PDF is available once the topic is finished.")]
    AssignmentNotFinished,
    /// A submission for a topic that is not assigned to the group.
    #[error("The group does not work on this topic; attach it to the topic first.")]
    GroupNotOnAssignment,
    /// A user who is not enrolled in the class would become a member of a group.
    #[error("Only students of the class can be in a group; enrol them first.")]
    StudentNotEnrolled {
        /// The users who are not enrolled.
        users: Vec<crate::id::UserId>,
    },
    /// A subject that is in use would be deleted.
    #[error("The subject is in use; set it inactive instead of removing it.")]
    SubjectInUse,
    /// A class that is not empty would be deleted or become a draft.
    #[error("The class still has courses, groups or topics; remove them first.")]
    ClassNotEmpty,
    /// The organization would lose its last owner.
    #[error("An organization needs an owner; name another one first.")]
    LastOwner,
    /// A write to an archived class.
    #[error("The class is archived and can only be read; ask a teacher to activate it again.")]
    ClassArchived,
    /// A student of the homeroom is unenrolled from a class that follows it.
    #[error(
        "This class follows its homeroom; take the student out of the homeroom, or let the class stop following it."
    )]
    ClassFollowsHomeroom,
    /// A new group or topic in an archived course.
    #[error("The course is archived and takes no new groups or topics; activate it again first.")]
    CourseArchived,
    /// An operation reserved for owners and admins.
    #[error("Only admins can do this.")]
    AdminOnly,
    /// A student sends a direct message to a user other than their teachers and admins, or to several users.
    #[error(
        "Students can write to the teachers of their classes and to admins; use the room of your group for the others."
    )]
    StudentsWriteToStaff,
    /// A value that is valid by itself but conflicts with stored data or other fields.
    #[error("{path} {message}.")]
    Invalid {
        /// Path of the request field.
        path: &'static str,
        /// Stable error code.
        code: &'static str,
        /// What is wrong; a clause that follows the name of the field.
        message: &'static str,
    },
    /// An export without any document.
    #[error("There is no document to export yet.")]
    NothingToExport,
    /// A submission after the deadline of a topic that does not accept late work.
    #[error("The deadline has passed and this topic takes no late work; ask a teacher for more time.")]
    LateNotAllowed,
    /// A group with a submission would be detached.
    #[error("The group has already submitted work for this topic; detaching it would delete the submission.")]
    HasSubmission,
    /// A limit on the number of objects is exceeded.
    #[error("There can be at most {limit} {what}; remove some first.")]
    LimitReached {
        /// The limited objects, in the plural.
        what: &'static str,
        limit: usize,
    },
    /// A change of a locked document, by a user of any role.
    #[error("The document is locked because its topic is finished; a teacher can reopen the topic.")]
    DocumentLocked,
    /// The built-in editor does not open documents of this kind.
    #[error("This document does not open in the built-in editor; ask for its editor configuration.")]
    EditorNotAvailable,
    /// The organization has not enabled the playback of documents.
    #[error(
        "The playback of documents is disabled; an administrator can enable it in the settings of the organization."
    )]
    PlaybackDisabled,
    /// The TXT record that verifies a mail domain was not found.
    #[error("The TXT record was not found. Name servers can take an hour to show a new record; then check again.")]
    DomainNotProven,
    /// The name servers of a mail domain did not respond.
    #[error("The name servers of this domain did not answer. Check again in a moment.")]
    DomainUnanswered,
    /// A second organization verifies a mail domain.
    #[error("Another organization holds this domain. Ask those who run this installation to let both hold it.")]
    DomainHeld,
    /// A deleted object is restored a second time.
    #[error("This is restored already.")]
    AlreadyRestored,
    /// The archive of a deleted object does not match its checksum.
    #[error("The stored data of this deleted object is damaged, so it cannot be restored; nothing was changed.")]
    ArchiveDamaged,
    /// A deleted object whose class, course, group or subject is gone.
    #[error("{name} is deleted, too; restore it first or create it again.")]
    ParentMissing {
        /// Kind of the missing object: `class`, `course`, `group` or `subject`.
        noun: &'static str,
        id: String,
        name: String,
    },
    /// A submission without the id of its topic.
    #[error("Say which topic this is for: assignmentId is required.")]
    AssignmentIdRequired,
}

/// Detail of an error: the field or object it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorDetail {
    /// Path of the request field.
    pub path: &'static str,
    /// Stable error code.
    pub code: &'static str,
    /// Human-readable message.
    pub message: String,
    /// Id of the object that causes the error, if there is one.
    pub id: Option<String>,
}

impl DomainError {
    /// Rejects more objects than the limit.
    pub fn check_limit(what: &'static str, count: impl TryInto<usize>, limit: usize) -> Result<(), Self> {
        if count.try_into().is_ok_and(|count| count > limit) {
            return Err(Self::LimitReached { what, limit });
        }
        Ok(())
    }

    /// Returns the stable error code of the API.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotClassTeacher | Self::NotClassOwner => ErrorCode::NotClassTeacher,
            Self::ForbiddenRank => ErrorCode::ForbiddenRank,
            Self::SharedAccount => ErrorCode::SharedAccount,
            Self::NoMailbox => ErrorCode::NoMailbox,
            Self::EmailRequired => ErrorCode::EmailRequired,
            Self::NameSetBySchool => ErrorCode::NameSetBySchool,
            Self::NotAuthor => ErrorCode::NotAuthor,
            Self::EditTimeOver => ErrorCode::EditTimeOver,
            Self::CourseMismatch { .. } => ErrorCode::CourseMismatch,
            Self::ClassMismatch => ErrorCode::ClassMismatch,
            Self::AlreadySubmitted | Self::AlreadyRecorded | Self::HasDocuments => ErrorCode::AlreadySubmitted,
            Self::NotSubmitted => ErrorCode::NotSubmitted,
            Self::RubricInUse => ErrorCode::RubricInUse,
            Self::RubricIncomplete => ErrorCode::RubricIncomplete,
            Self::AssignmentFinished => ErrorCode::AssignmentFinished,
            Self::AssignmentNotPublished => ErrorCode::AssignmentNotPublished,
            Self::AssignmentStarted => ErrorCode::AssignmentStarted,
            Self::GradePublished => ErrorCode::GradePublished,
            Self::AssignmentNotFinished => ErrorCode::AssignmentNotFinished,
            Self::GroupNotOnAssignment => ErrorCode::GroupNotOnAssignment,
            Self::StudentNotEnrolled { .. } => ErrorCode::StudentNotEnrolled,
            Self::SubjectInUse => ErrorCode::SubjectInUse,
            Self::ClassNotEmpty => ErrorCode::ClassNotEmpty,
            Self::LastOwner => ErrorCode::LastOwner,
            Self::ClassArchived => ErrorCode::ClassArchived,
            Self::ClassFollowsHomeroom => ErrorCode::ClassFollowsHomeroom,
            Self::CourseArchived => ErrorCode::CourseArchived,
            Self::AdminOnly | Self::StudentsWriteToStaff => ErrorCode::ForbiddenRole,
            Self::Invalid { .. } => ErrorCode::ValidationError,
            Self::NothingToExport => ErrorCode::NothingToExport,
            Self::LateNotAllowed => ErrorCode::LateNotAllowed,
            Self::HasSubmission => ErrorCode::HasSubmission,
            Self::LimitReached { .. } => ErrorCode::LimitReached,
            Self::DocumentLocked => ErrorCode::DocumentLocked,
            Self::EditorNotAvailable => ErrorCode::EditorNotAvailable,
            Self::PlaybackDisabled => ErrorCode::PlaybackDisabled,
            Self::DomainNotProven => ErrorCode::DomainNotProven,
            Self::DomainUnanswered => ErrorCode::DomainUnanswered,
            Self::DomainHeld => ErrorCode::DomainHeld,
            Self::AlreadyRestored => ErrorCode::AlreadyRestored,
            Self::ArchiveDamaged => ErrorCode::ArchiveDamaged,
            Self::ParentMissing { .. } => ErrorCode::ParentMissing,
            Self::AssignmentIdRequired => ErrorCode::AssignmentIdRequired,
        }
    }

    /// Returns the details that name fields or objects; empty for most errors.
    pub fn details(&self) -> Vec<ErrorDetail> {
        match self {
            Self::CourseMismatch { groups } => groups
                .iter()
                .map(|group| ErrorDetail {
                    path: "groupIds",
                    code: "course_mismatch",
                    message: format!("Group {group} is in another course."),
                    id: Some(group.to_string()),
                })
                .collect(),
            Self::StudentNotEnrolled { users } => users
                .iter()
                .map(|user| ErrorDetail {
                    path: "studentIds",
                    code: "not_enrolled",
                    message: format!("User {user} is not enrolled in the class."),
                    id: Some(user.to_string()),
                })
                .collect(),
            Self::ParentMissing { noun, id, name } => vec![ErrorDetail {
                path: "id",
                code: noun,
                message: name.clone(),
                id: Some(id.clone()),
            }],
            Self::AssignmentIdRequired => vec![ErrorDetail {
                path: "assignmentId",
                code: "required",
                message: "is required".to_owned(),
                id: None,
            }],
            Self::Invalid { path, code, message } => {
                vec![ErrorDetail {
                    path,
                    code,
                    message: (*message).to_owned(),
                    id: None,
                }]
            }
            _ => Vec::new(),
        }
    }
}

impl From<crate::patch::NullNotAllowed> for DomainError {
    fn from(refused: crate::patch::NullNotAllowed) -> Self {
        Self::Invalid {
            path: refused.field,
            code: "null",
            message: "must not be null",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_mismatch_names_the_groups() {
        let domain_error = DomainError::CourseMismatch {
            groups: vec![GroupId::new("g1"), GroupId::new("g2")],
        };
        let ids: Vec<_> = domain_error
            .details()
            .into_iter()
            .filter_map(|detail| detail.id)
            .collect();
        assert_eq!(ids, ["g1", "g2"]);
    }

    #[test]
    fn a_missing_topic_names_its_field() {
        let details = DomainError::AssignmentIdRequired.details();
        assert_eq!((details[0].path, details[0].code), ("assignmentId", "required"));
    }
}
