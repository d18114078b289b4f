//! Domain changes: what an action did, in the past tense. Actions record changes; log entries, events, removed files and
//! raised versions are derived from them by `match` alone. A change therefore contains everything these need, and no
//! further query is necessary.
//!
//! There is one enum per entity. Its methods return the removed files and the changed objects of each variant. Matches on
//! these enums have no `_` arm, so that a new variant does not compile until its consequences are decided.

mod administration;
mod api_token;
mod assignment;
mod class;
mod comment;
mod course;
mod deletion;
mod document;
mod feedback;
mod group;
mod help;
mod homeroom;
mod invitation;
mod mail_domain;
mod message;
mod organization;
mod restoration;
mod roster;
mod rubric;
mod session;
mod sign_on;
mod snippet;
mod subject;
mod submission;
mod user;

pub use self::administration::AdministrationChange;
pub use self::api_token::ApiTokenChange;
pub use self::assignment::{AssignmentChange, StartDateChange};
pub use self::class::ClassChange;
pub use self::comment::{CommentChange, CommentContext};
pub use self::course::CourseChange;
pub use self::deletion::{CascadeDeletion, DeletedAssignment, DeletedCourse, DeletedGroup, GroupDocument};
pub use self::document::{DocumentChange, DocumentStep};
pub use self::feedback::FeedbackChange;
pub use self::group::GroupChange;
pub use self::help::HelpChange;
pub use self::homeroom::HomeroomChange;
pub use self::invitation::{AcceptedBy, InvitationChange};
pub use self::mail_domain::MailDomainChange;
pub use self::message::MessageChange;
pub use self::organization::{ArchiveOrigin, OrganizationChange};
pub use self::restoration::{DeletionChange, RestoredObjects};
pub use self::roster::{RosterChange, RosterRunStep};
pub use self::rubric::RubricChange;
pub use self::session::{PasskeyEvent, SecondFactorEvent, SessionChange, SignInKind};
pub use self::sign_on::SignOnChange;
pub use self::snippet::SnippetChange;
pub use self::subject::SubjectChange;
pub use self::submission::SubmissionChange;
pub use self::user::UserChange;

use crate::details::GroupDetails;
use crate::file::FileKey;
use crate::version::VersionedObject;

/// Defines the enum of all changes, and `From` for the enum of each entity, so that an action can record its change
/// directly.
macro_rules! changes {
    ($($(#[doc = $doc:expr])? $variant:ident($change:ident))+) => {
        /// A change to any entity.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Change {
            $($(#[doc = $doc])? $variant($change),)+
        }
        $(impl From<$change> for Change {
            fn from(change: $change) -> Self {
                Self::$variant(change)
            }
        })+
    };
}

changes! {
    Class(ClassChange)
    Homeroom(HomeroomChange)
    Subject(SubjectChange)
    Course(CourseChange)
    Group(GroupChange)
    /// A change of the help flag of a group.
    Help(HelpChange)
    Assignment(AssignmentChange)
    /// A change of a submission or its grade.
    Submission(SubmissionChange)
    Feedback(FeedbackChange)
    Document(DocumentChange)
    /// A change of the comments on a document.
    Comment(CommentChange)
    Message(MessageChange)
    /// A change of an account or a membership.
    User(UserChange)
    Invitation(InvitationChange)
    /// A change of an account by a platform administrator.
    Administration(AdministrationChange)
    Organization(OrganizationChange)
    MailDomain(MailDomainChange)
    ApiToken(ApiTokenChange)
    Session(SessionChange)
    SignOn(SignOnChange)
    /// A change of a roster source or one of its runs.
    Roster(RosterChange)
    Snippet(SnippetChange)
    Rubric(RubricChange)
    /// A change of a deleted object.
    Deletion(DeletionChange)
}

impl Change {
    /// Returns the files that no row refers to any more. Copies of submissions and revisions of documents are only
    /// deleted with their parents.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Class(change) => change.removed_files(),
            Self::Course(change) => change.removed_files(),
            Self::Group(change) => change.removed_files(),
            Self::Assignment(change) => change.removed_files(),
            Self::Submission(change) => change.removed_files(),
            Self::Document(change) => change.removed_files(),
            Self::Message(change) => change.removed_files(),
            Self::User(change) => change.removed_files(),
            Self::Organization(change) => change.removed_files(),
            Self::Homeroom(_)
            | Self::Subject(_)
            | Self::Help(_)
            | Self::Feedback(_)
            | Self::Comment(_)
            | Self::Invitation(_)
            | Self::Administration(_)
            | Self::MailDomain(_)
            | Self::ApiToken(_)
            | Self::Session(_)
            | Self::SignOn(_)
            | Self::Roster(_)
            | Self::Snippet(_)
            | Self::Rubric(_)
            // The archive schedules its files itself.
            | Self::Deletion(_) => &[],
        }
    }

    /// Returns whether the change deletes documents.
    pub fn deletes_documents(&self) -> bool {
        matches!(
            self,
            Self::Class(ClassChange::Deleted { .. })
                | Self::Course(CourseChange::Deleted { .. })
                | Self::Group(GroupChange::Deleted { .. })
                | Self::Document(DocumentChange::Deleted { .. })
        )
    }

    /// Returns the objects whose own content changed; their versions are raised. Help requests, chat messages and edits
    /// of a document do not change the group around them, so they cause no conflict with a change of its settings.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Class(change) => change.changed_objects(),
            Self::Homeroom(change) => change.changed_objects(),
            Self::Subject(change) => change.changed_objects(),
            Self::Course(change) => change.changed_objects(),
            Self::Group(change) => change.changed_objects(),
            Self::Assignment(change) => change.changed_objects(),
            Self::Submission(change) => change.changed_objects(),
            Self::Feedback(change) => change.changed_objects(),
            Self::Document(change) => change.changed_objects(),
            Self::User(change) => change.changed_objects(),
            Self::Organization(change) => change.changed_objects(),
            Self::Deletion(change) => change.changed_objects(),
            Self::Help(_)
            | Self::Comment(_)
            | Self::Message(_)
            | Self::Invitation(_)
            // The statements on accounts raise the version themselves.
            | Self::Administration(_)
            | Self::MailDomain(_)
            | Self::ApiToken(_)
            | Self::Session(_)
            | Self::SignOn(_)
            | Self::Roster(_)
            | Self::Snippet(_)
            | Self::Rubric(_) => Vec::new(),
        }
    }
}

fn groups(left: &[GroupDetails]) -> Vec<VersionedObject> {
    left.iter().map(|details| (&details.group.id).into()).collect()
}

fn documents(placed: &[GroupDocument]) -> Vec<VersionedObject> {
    placed.iter().map(|placed| (&placed.document.id).into()).collect()
}
