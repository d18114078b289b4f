//! What happened, in the past tense. Actions record changes; log entries, events and file removals follow from them by
//! `match` alone, so a change carries everything they need and nobody reads the store again to tell it.
//!
//! One enum for each noun. Matches on them have no `_` arm: a new kind of news does not compile until its consequences
//! are decided.

pub mod administration;
pub mod assignment;
pub mod class;
pub mod course;
pub mod document;
pub mod feedback;
pub mod group;
pub mod help;
pub mod homeroom;
pub mod invitation;
pub mod mail_domain;
pub mod message;
pub mod organization;
pub mod removed;
pub mod session;
pub mod subject;
pub mod submission;
pub mod user;

use self::administration::AdministrationChange;
use self::assignment::AssignmentChange;
use self::class::ClassChange;
use self::course::CourseChange;
use self::document::DocumentChange;
use self::feedback::FeedbackChange;
use self::group::GroupChange;
use self::help::HelpChange;
use self::homeroom::HomeroomChange;
use self::invitation::InvitationChange;
use self::mail_domain::MailDomainChange;
use self::message::MessageChange;
use self::organization::OrganizationChange;
use self::session::SessionChange;
use self::subject::SubjectChange;
use self::submission::SubmissionChange;
use self::user::UserChange;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// To a class.
    Class(ClassChange),
    /// To a homeroom.
    Homeroom(HomeroomChange),
    /// To a subject.
    Subject(SubjectChange),
    /// To a course.
    Course(CourseChange),
    /// To a group.
    Group(GroupChange),
    /// To a help flag.
    Help(HelpChange),
    /// To a topic.
    Assignment(AssignmentChange),
    /// To a submission or its grade.
    Submission(SubmissionChange),
    /// To a feedback.
    Feedback(FeedbackChange),
    /// To a document.
    Document(DocumentChange),
    /// To messages.
    Message(MessageChange),
    /// To an account or a membership.
    User(UserChange),
    /// To an invitation.
    Invitation(InvitationChange),
    /// To an account, by those who run the platform.
    Administration(AdministrationChange),
    /// To an organization.
    Organization(OrganizationChange),
    /// To a mail domain of an organization.
    MailDomain(MailDomainChange),
    /// To a session.
    Session(SessionChange),
}

/// Lets an action record the change of its noun as it is.
macro_rules! changes {
    ($($variant:ident($change:ident))+) => {$(
        impl From<$change> for Change {
            fn from(change: $change) -> Self {
                Self::$variant(change)
            }
        }
    )+};
}

changes! {
    Class(ClassChange)
    Homeroom(HomeroomChange)
    Subject(SubjectChange)
    Course(CourseChange)
    Group(GroupChange)
    Help(HelpChange)
    Assignment(AssignmentChange)
    Submission(SubmissionChange)
    Feedback(FeedbackChange)
    Document(DocumentChange)
    Message(MessageChange)
    User(UserChange)
    Invitation(InvitationChange)
    Administration(AdministrationChange)
    Organization(OrganizationChange)
    MailDomain(MailDomainChange)
    Session(SessionChange)
}
