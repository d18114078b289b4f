//! Finds the files that are deleted with a change. Their keys are inserted in the transaction of the change;
//! `removal.rs` deletes them after the commit.

use domain::change::Change;
use domain::change::assignment::AssignmentChange as Assignment;
use domain::change::class::ClassChange as Class;
use domain::change::course::CourseChange as Course;
use domain::change::document::DocumentChange as Document;
use domain::change::group::GroupChange as Group;
use domain::change::message::MessageChange as Message;
use domain::change::organization::OrganizationChange as Organization;
use domain::change::submission::SubmissionChange as Submission;
use domain::change::user::UserChange as User;
use domain::file::FileKey;

/// Returns the files that no row refers to any more. Copies of submissions and revisions of documents are only
/// deleted with their parents.
#[expect(clippy::too_many_lines, reason = "a flat list of match arms")]
pub fn removed_files(change: &Change) -> &[FileKey] {
    match change {
        Change::Class(Class::Deleted { removed, .. }) | Change::Course(Course::Deleted { removed, .. }) => {
            &removed.files
        }
        Change::Group(Group::Deleted { files, .. })
        | Change::Assignment(
            Assignment::BulkUpdated { files, .. }
            | Assignment::GroupDetached { files, .. }
            | Assignment::Deleted { files, .. },
        )
        | Change::Document(
            Document::RevisionsPruned { files }
            | Document::Deleted { files, .. }
            | Document::LateTextKept { files, .. },
        )
        | Change::Message(Message::Pruned { files })
        | Change::User(User::Erased { files, .. })
        | Change::Organization(Organization::Purged { files }) => files,
        Change::Group(Group::AttachmentRemoved { attachment, .. }) => std::slice::from_ref(&attachment.file.key),
        Change::Assignment(Assignment::AttachmentRemoved { attachment, .. }) => {
            std::slice::from_ref(&attachment.file.key)
        }
        Change::Submission(Submission::GradeFileRemoved { file, .. }) => std::slice::from_ref(&file.file.key),
        Change::Class(
            Class::Created { .. }
            | Class::Updated { .. }
            | Class::TeachersChanged { .. }
            | Class::Enrolled { .. }
            | Class::Unenrolled { .. }
            | Class::EnrollmentUpdated { .. },
        )
        | Change::Course(Course::Created { .. } | Course::Updated { .. })
        | Change::Group(
            Group::Created { .. }
            | Group::Updated { .. }
            | Group::MembersAdded { .. }
            | Group::MemberRemoved { .. }
            | Group::MemberMoved { .. }
            | Group::AttachmentAdded { .. },
        )
        | Change::Assignment(
            Assignment::Created { .. }
            | Assignment::Updated { .. }
            | Assignment::RubricChanged { .. }
            | Assignment::GroupsAttached { .. }
            | Assignment::LinkUpdated { .. }
            | Assignment::AttachmentAdded { .. }
            | Assignment::Finished { .. }
            | Assignment::Reopened { .. }
            | Assignment::Exported { .. },
        )
        | Change::Document(
            Document::Created { .. }
            | Document::Updated { .. }
            | Document::Saved { .. }
            | Document::SavedLate { .. }
            | Document::SaveFailed { .. }
            | Document::Frozen { .. }
            | Document::PlayedBack { .. }
            | Document::Replaced { .. },
        )
        | Change::Message(
            Message::Sent { .. }
            | Message::Edited { .. }
            | Message::Deleted { .. }
            | Message::Read { .. }
            | Message::DirectSent { .. },
        )
        | Change::User(
            User::Created { .. }
            | User::Updated { .. }
            | User::MembershipSwitched { .. }
            | User::RoleChanged { .. }
            | User::TakenOver { .. }
            | User::PasswordReset { .. }
            | User::SecondFactorReset { .. }
            | User::MembershipEnded { .. }
            | User::Imported { .. }
            | User::ImportProgressed { .. }
            | User::ProfileEdited { .. }
            | User::Exported { .. },
        )
        | Change::Comment(_)
        | Change::Invitation(_)
        | Change::Homeroom(_)
        | Change::Subject(_)
        | Change::Help(_)
        | Change::Submission(
            Submission::Submitted { .. }
            | Submission::Recorded { .. }
            | Submission::RecordRemoved { .. }
            | Submission::Frozen { .. }
            | Submission::Completed { .. }
            | Submission::Unsubmitted { .. }
            | Submission::Returned { .. }
            | Submission::GradeFileAdded { .. }
            | Submission::Graded { .. },
        )
        | Change::Feedback(_)
        | Change::Administration(_)
        | Change::Organization(
            Organization::Created { .. }
            | Organization::Imported { .. }
            | Organization::Updated { .. }
            | Organization::Suspended { .. }
            | Organization::Activated { .. }
            | Organization::Deleted { .. },
        )
        | Change::MailDomain(_)
        | Change::ApiToken(_)
        | Change::SignOn(_)
        | Change::Roster(_)
        | Change::Snippet(_)
        | Change::Rubric(_)
        // The archive schedules its files itself.
        | Change::Deletion(_)
        | Change::Session(_) => &[],
    }
}

/// Returns whether the change deletes documents.
pub fn deletes_documents(change: &Change) -> bool {
    matches!(
        change,
        Change::Class(Class::Deleted { .. })
            | Change::Course(Course::Deleted { .. })
            | Change::Group(Group::Deleted { .. })
            | Change::Document(Document::Deleted { .. })
    )
}
