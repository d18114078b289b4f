//! Domain changes: what an action did, in the past tense. Actions record changes; log entries, events and file removals
//! are derived from them by `match` alone. A change therefore contains everything these need, and no further query is
//! necessary.
//!
//! There is one enum per entity. Matches on these enums have no `_` arm, so that a new variant does not compile until
//! its consequences are decided.

pub mod administration;
pub mod api_token;
pub mod assignment;
pub mod class;
pub mod comment;
pub mod course;
pub mod deletion;
pub mod document;
pub mod feedback;
pub mod group;
pub mod help;
pub mod homeroom;
pub mod invitation;
pub mod mail_domain;
pub mod message;
pub mod organization;
pub mod restoration;
pub mod roster;
pub mod rubric;
pub mod session;
pub mod sign_on;
pub mod snippet;
pub mod subject;
pub mod submission;
pub mod user;

use self::administration::AdministrationChange;
use self::api_token::ApiTokenChange;
use self::assignment::AssignmentChange;
use self::class::ClassChange;
use self::comment::CommentChange;
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
use self::restoration::DeletionChange;
use self::roster::RosterChange;
use self::rubric::RubricChange;
use self::session::SessionChange;
use self::sign_on::SignOnChange;
use self::snippet::SnippetChange;
use self::subject::SubjectChange;
use self::submission::SubmissionChange;
use self::user::UserChange;

/// A change to any entity.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Class(ClassChange),
    Homeroom(HomeroomChange),
    Subject(SubjectChange),
    Course(CourseChange),
    Group(GroupChange),
    /// A change of the help flag of a group.
    Help(HelpChange),
    Assignment(AssignmentChange),
    /// A change of a submission or its grade.
    Submission(SubmissionChange),
    Feedback(FeedbackChange),
    Document(DocumentChange),
    /// A change of the comments on a document.
    Comment(CommentChange),
    Message(MessageChange),
    /// A change of an account or a membership.
    User(UserChange),
    Invitation(InvitationChange),
    /// A change of an account by a platform administrator.
    Administration(AdministrationChange),
    Organization(OrganizationChange),
    MailDomain(MailDomainChange),
    ApiToken(ApiTokenChange),
    Session(SessionChange),
    SignOn(SignOnChange),
    /// A change of a roster source or one of its runs.
    Roster(RosterChange),
    Snippet(SnippetChange),
    Rubric(RubricChange),
    /// A change of a deleted object.
    Deletion(DeletionChange),
}

/// Implements `From` for each enum, so that an action can record the change of an entity directly.
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
    Comment(CommentChange)
    Message(MessageChange)
    User(UserChange)
    Invitation(InvitationChange)
    Administration(AdministrationChange)
    Organization(OrganizationChange)
    MailDomain(MailDomainChange)
    ApiToken(ApiTokenChange)
    Session(SessionChange)
    SignOn(SignOnChange)
    Roster(RosterChange)
    Snippet(SnippetChange)
    Rubric(RubricChange)
    Deletion(DeletionChange)
}
