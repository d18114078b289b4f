//! Why a rule says no, in the words that users read. It knows kinds, never HTTP.
//! Words for wrong input live with the input ([`crate::text`]), words for unknown ids with the server.

use crate::id::GroupId;

/// A rule said no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Somebody writes to a class without teaching it.
    #[error("Only the teachers of this class and admins can do this; ask one of them to add you as a co-teacher.")]
    NotClassTeacher,
    /// A co-teacher chooses co-teachers.
    #[error("Only the owner of this class and admins choose its co-teachers.")]
    NotClassOwner,
    /// Someone acts on, or names, a rank that is not below the own.
    #[error("This can only be done by someone of a higher rank; ask an owner of the organization.")]
    ForbiddenRank,
    /// An admin changes an account that does not belong to this organization alone.
    #[error("This account is used outside your organization, so only the person or the platform can change it.")]
    SharedAccount,
    /// An invitation for an address that no email reaches.
    #[error("No email reaches this address, so it cannot be invited; use the person's real address.")]
    NoMailbox,
    /// The school alone changes names of its students.
    #[error("Your school sets your name. Ask the administration of your school to change it.")]
    NameSetBySchool,
    /// Someone changes what another person wrote or made.
    #[error("Only the person who made this can change it.")]
    NotAuthor,
    /// A chat message is edited too late.
    #[error("A message can only be changed during the first 15 minutes; write a new one instead.")]
    EditTimeOver,
    /// The course of groups and the course of an active topic would differ.
    #[error("The groups and the topic must be in the same course; finish or detach the other topic first.")]
    CourseMismatch {
        /// The groups that stand in the way.
        groups: Vec<GroupId>,
    },
    /// Things of different classes, or a group's subject other than its course's, would be tied together.
    #[error("Class, course, group, topic and subject do not belong together; choose ones of the same class.")]
    ClassMismatch,
    /// A submitted document is submitted, edited or deleted.
    #[error("The document is already submitted; take the submission back first.")]
    AlreadySubmitted,
    /// A document that is not submitted is taken back or graded.
    #[error("The document is not submitted; submit it first.")]
    NotSubmitted,
    /// Work on a finished topic.
    #[error("This topic is closed for work; a teacher can reopen it.")]
    AssignmentFinished,
    /// A submission changes after its grade is out.
    #[error("The grade is already published; ask a teacher to withdraw it or to return the work.")]
    GradePublished,
    /// A student asks for the PDF too early.
    #[error("The PDF is available once the topic is finished.")]
    AssignmentNotFinished,
    /// Work for a topic that the group does not have.
    #[error("The group does not work on this topic; attach it to the topic first.")]
    GroupNotOnAssignment,
    /// Someone who is not enrolled in the class would become a member of a group.
    #[error("Only students of the class can be in a group; enrol them first.")]
    StudentNotEnrolled {
        /// The users who are not enrolled.
        users: Vec<crate::id::UserId>,
    },
    /// A subject that is in use would vanish.
    #[error("The subject is in use; set it inactive instead of removing it.")]
    SubjectInUse,
    /// A class that still holds work would vanish or become a draft.
    #[error("The class still has courses, groups or topics; remove them first.")]
    ClassNotEmpty,
    /// The organization would lose its last owner.
    #[error("An organization needs an owner; name another one first.")]
    LastOwner,
    /// A write to an archived class.
    #[error("The class is archived and can only be read; ask a teacher to activate it again.")]
    ClassArchived,
    /// New work in an archived course.
    #[error("The course is archived and takes no new groups or topics; activate it again first.")]
    CourseArchived,
    /// Something that only owners and admins may change.
    #[error("Only admins can do this.")]
    AdminOnly,
    /// A student writes to somebody who is not there for him to write to, or to many at once.
    #[error(
        "Students can write to the teachers of their classes and to admins; use the room of your group for the others."
    )]
    StudentsWriteToStaff,
    /// Values that are wrong only together with what is stored.
    #[error("{path} {message}.")]
    Invalid {
        /// The field of the request.
        path: &'static str,
        /// A stable word.
        code: &'static str,
        /// What is wrong, to be read after the name of the field.
        message: &'static str,
    },
    /// An export without any document.
    #[error("There is no document to export yet.")]
    NothingToExport,
    /// The topic takes nothing after its deadline.
    #[error("The deadline has passed and this topic takes no late work; ask a teacher for more time.")]
    LateNotAllowed,
    /// A group with a hand-in would be detached.
    #[error("The group has already submitted work for this topic; detaching it would delete the submission.")]
    HasSubmission,
    /// Too many of something.
    #[error("There can be at most {limit} {what}; remove some first.")]
    LimitReached {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Any change of a locked document, for every role.
    #[error("The document is locked because its topic is finished; a teacher can reopen the topic.")]
    DocumentLocked,
    /// A mail domain without the TXT record that proves it.
    #[error("The TXT record was not found. Name servers can take an hour to show a new record; then check again.")]
    DomainNotProven,
    /// The name servers of a mail domain did not answer.
    #[error("The name servers of this domain did not answer. Check again in a moment.")]
    DomainUnanswered,
    /// A second organization proves a mail domain.
    #[error("Another organization holds this domain. Ask those who run this installation to let both hold it.")]
    DomainHeld,
    /// A submission that does not name its topic.
    #[error("Say which topic this is for: assignmentId is required.")]
    AssignmentIdRequired,
}

/// What sort of no it is; the server turns it into a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Seen, but not allowed.
    Forbidden,
    /// Not possible in the present state.
    Conflict,
    /// The document is locked.
    Locked,
    /// The request lacks something.
    Invalid,
}

/// One line of detail: which field or which object is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The field of the request that the line is about.
    pub path: &'static str,
    /// A stable word.
    pub code: &'static str,
    /// One sentence for people.
    pub message: String,
    /// The id of the object that stands in the way, if it is one.
    pub id: Option<String>,
}

impl Refusal {
    /// The stable code on the wire.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotClassTeacher | Self::NotClassOwner => "NOT_CLASS_TEACHER",
            Self::ForbiddenRank => "FORBIDDEN_RANK",
            Self::SharedAccount => "SHARED_ACCOUNT",
            Self::NoMailbox => "NO_MAILBOX",
            Self::NameSetBySchool => "NAME_SET_BY_SCHOOL",
            Self::NotAuthor => "NOT_AUTHOR",
            Self::EditTimeOver => "EDIT_TIME_OVER",
            Self::CourseMismatch { .. } => "COURSE_MISMATCH",
            Self::ClassMismatch => "CLASS_MISMATCH",
            Self::AlreadySubmitted => "ALREADY_SUBMITTED",
            Self::NotSubmitted => "NOT_SUBMITTED",
            Self::AssignmentFinished => "ASSIGNMENT_FINISHED",
            Self::GradePublished => "GRADE_PUBLISHED",
            Self::AssignmentNotFinished => "ASSIGNMENT_NOT_FINISHED",
            Self::GroupNotOnAssignment => "GROUP_NOT_ON_ASSIGNMENT",
            Self::StudentNotEnrolled { .. } => "STUDENT_NOT_ENROLLED",
            Self::SubjectInUse => "SUBJECT_IN_USE",
            Self::ClassNotEmpty => "CLASS_NOT_EMPTY",
            Self::LastOwner => "LAST_OWNER",
            Self::ClassArchived => "CLASS_ARCHIVED",
            Self::CourseArchived => "COURSE_ARCHIVED",
            Self::AdminOnly | Self::StudentsWriteToStaff => "FORBIDDEN_ROLE",
            Self::Invalid { .. } => "VALIDATION_ERROR",
            Self::NothingToExport => "NOTHING_TO_EXPORT",
            Self::LateNotAllowed => "LATE_NOT_ALLOWED",
            Self::HasSubmission => "HAS_SUBMISSION",
            Self::LimitReached { .. } => "LIMIT_REACHED",
            Self::DocumentLocked => "DOCUMENT_LOCKED",
            Self::DomainNotProven => "DOMAIN_NOT_PROVEN",
            Self::DomainUnanswered => "DOMAIN_UNANSWERED",
            Self::DomainHeld => "DOMAIN_HELD",
            Self::AssignmentIdRequired => "ASSIGNMENT_ID_REQUIRED",
        }
    }

    /// What sort of no it is.
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Self::NotClassTeacher
            | Self::NotClassOwner
            | Self::ForbiddenRank
            | Self::SharedAccount
            | Self::NameSetBySchool
            | Self::NotAuthor
            | Self::AdminOnly
            | Self::StudentsWriteToStaff
            | Self::EditTimeOver => RefusalKind::Forbidden,
            Self::DocumentLocked => RefusalKind::Locked,
            Self::AssignmentIdRequired | Self::Invalid { .. } => RefusalKind::Invalid,
            Self::NoMailbox
            | Self::CourseMismatch { .. }
            | Self::ClassMismatch
            | Self::AlreadySubmitted
            | Self::NotSubmitted
            | Self::AssignmentFinished
            | Self::GradePublished
            | Self::AssignmentNotFinished
            | Self::GroupNotOnAssignment
            | Self::StudentNotEnrolled { .. }
            | Self::SubjectInUse
            | Self::ClassNotEmpty
            | Self::LastOwner
            | Self::ClassArchived
            | Self::CourseArchived
            | Self::NothingToExport
            | Self::LateNotAllowed
            | Self::HasSubmission
            | Self::DomainNotProven
            | Self::DomainUnanswered
            | Self::DomainHeld
            | Self::LimitReached { .. } => RefusalKind::Conflict,
        }
    }

    /// The lines that name fields or objects; empty for most refusals.
    pub fn details(&self) -> Vec<Detail> {
        match self {
            Self::CourseMismatch { groups } => groups
                .iter()
                .map(|group| Detail {
                    path: "groupIds",
                    code: "course_mismatch",
                    message: format!("Group {group} is in another course."),
                    id: Some(group.to_string()),
                })
                .collect(),
            Self::StudentNotEnrolled { users } => users
                .iter()
                .map(|user| Detail {
                    path: "studentIds",
                    code: "not_enrolled",
                    message: format!("User {user} is not enrolled in the class."),
                    id: Some(user.to_string()),
                })
                .collect(),
            Self::AssignmentIdRequired => vec![Detail {
                path: "assignmentId",
                code: "required",
                message: "is required".to_owned(),
                id: None,
            }],
            Self::Invalid { path, code, message } => {
                vec![Detail {
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

impl From<crate::edit::NullNotAllowed> for Refusal {
    fn from(refused: crate::edit::NullNotAllowed) -> Self {
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
    fn a_locked_document_is_its_own_kind() {
        assert_eq!(Refusal::DocumentLocked.kind(), RefusalKind::Locked);
        assert_eq!(Refusal::DocumentLocked.code(), "DOCUMENT_LOCKED");
        assert_eq!(Refusal::AssignmentIdRequired.kind(), RefusalKind::Invalid);
        assert_eq!(Refusal::NotClassTeacher.kind(), RefusalKind::Forbidden);
        assert_eq!(Refusal::HasSubmission.kind(), RefusalKind::Conflict);
    }

    #[test]
    fn a_course_mismatch_names_the_groups() {
        let refusal = Refusal::CourseMismatch {
            groups: vec![GroupId::new("g1"), GroupId::new("g2")],
        };
        let ids: Vec<_> = refusal.details().into_iter().filter_map(|detail| detail.id).collect();
        assert_eq!(ids, ["g1", "g2"]);
    }

    #[test]
    fn a_missing_topic_names_its_field() {
        let details = Refusal::AssignmentIdRequired.details();
        assert_eq!((details[0].path, details[0].code), ("assignmentId", "required"));
    }
}
