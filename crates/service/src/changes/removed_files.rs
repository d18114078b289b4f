//! Finds the files that are deleted with a change. Their keys are inserted in the transaction of the change;
//! `removal.rs` deletes them after the commit.

use domain::change::{
    AssignmentChange as Assignment, Change, ClassChange as Class, CourseChange as Course, DocumentChange as Document,
    DocumentStep, GroupChange as Group, MessageChange as Message, OrganizationChange as Organization,
    SubmissionChange as Submission, UserChange as User,
};
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
        Change::Group(Group::AttachmentChanged {
            attachment,
            is_added: false,
            ..
        }) => std::slice::from_ref(&attachment.file.key),
        Change::Assignment(Assignment::AttachmentChanged {
            attachment,
            is_added: false,
            ..
        }) => std::slice::from_ref(&attachment.file.key),
        Change::Submission(Submission::GradeFileChanged {
            file, is_added: false, ..
        }) => std::slice::from_ref(&file.file.key),
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
            | Group::AttachmentChanged { is_added: true, .. },
        )
        | Change::Assignment(
            Assignment::Created { .. }
            | Assignment::Updated { .. }
            | Assignment::RubricChanged { .. }
            | Assignment::GroupsAttached { .. }
            | Assignment::LinkUpdated { .. }
            | Assignment::AttachmentChanged { is_added: true, .. }
            | Assignment::Finished { .. }
            | Assignment::Reopened { .. }
            | Assignment::Exported { .. },
        )
        | Change::Document(
            Document::Changed {
                step:
                    DocumentStep::Created
                    | DocumentStep::Updated(_)
                    | DocumentStep::Saved(_)
                    | DocumentStep::SavedLate(_)
                    | DocumentStep::SaveFailed
                    | DocumentStep::Frozen
                    | DocumentStep::PlayedBack { .. }
                    | DocumentStep::Replaced(_),
                ..
            },
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
            | Submission::GradeFileChanged { is_added: true, .. }
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
