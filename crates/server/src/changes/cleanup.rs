//! The files that go with a change: their keys are noted in the same unit and removed after its commit.

use model::change::Change;
use model::change::assignment::AssignmentChange;
use model::change::class::ClassChange;
use model::change::course::CourseChange;
use model::change::document::DocumentChange;
use model::change::group::GroupChange;
use model::change::message::MessageChange;
use model::change::user::UserChange;
use model::file::FileKey;

/// Files nobody names any more.
pub fn removed_files(change: &Change) -> Vec<&FileKey> {
    match change {
        Change::Class(change) => of_class(change),
        Change::Course(change) => of_course(change),
        Change::Group(change) => of_group(change),
        Change::Assignment(change) => of_assignment(change),
        Change::Document(change) => of_document(change),
        Change::Message(change) => of_message(change),
        Change::User(change) => of_user(change),
        // None of these owns files: copies of submissions go with their group, their topic or their course.
        Change::Homeroom(_)
        | Change::Subject(_)
        | Change::Help(_)
        | Change::Submission(_)
        | Change::Feedback(_)
        | Change::Organization(_)
        | Change::Session(_) => Vec::new(),
    }
}

fn of_class(change: &ClassChange) -> Vec<&FileKey> {
    match change {
        ClassChange::Deleted { removed, .. } => removed.files.iter().collect(),
        ClassChange::Created { .. }
        | ClassChange::Updated { .. }
        | ClassChange::TeachersChanged { .. }
        | ClassChange::Enrolled { .. }
        | ClassChange::Unenrolled { .. }
        | ClassChange::EnrollmentUpdated { .. } => Vec::new(),
    }
}

fn of_course(change: &CourseChange) -> Vec<&FileKey> {
    match change {
        CourseChange::Deleted { removed, .. } => removed.files.iter().collect(),
        CourseChange::Created { .. } | CourseChange::Updated { .. } => Vec::new(),
    }
}

fn of_group(change: &GroupChange) -> Vec<&FileKey> {
    match change {
        GroupChange::Deleted { files, .. } => files.iter().collect(),
        GroupChange::AttachmentRemoved { attachment, .. } => vec![&attachment.file.key],
        GroupChange::Created { .. }
        | GroupChange::Updated { .. }
        | GroupChange::MembersAdded { .. }
        | GroupChange::MemberRemoved { .. }
        | GroupChange::MemberMoved { .. }
        | GroupChange::AttachmentAdded { .. } => Vec::new(),
    }
}

fn of_assignment(change: &AssignmentChange) -> Vec<&FileKey> {
    match change {
        AssignmentChange::BulkUpdated { files, .. }
        | AssignmentChange::GroupDetached { files, .. }
        | AssignmentChange::Deleted { files, .. } => files.iter().collect(),
        AssignmentChange::AttachmentRemoved { attachment, .. } => vec![&attachment.file.key],
        AssignmentChange::Created { .. }
        | AssignmentChange::Updated { .. }
        | AssignmentChange::GroupsAttached { .. }
        | AssignmentChange::LinkUpdated { .. }
        | AssignmentChange::AttachmentAdded { .. }
        | AssignmentChange::Finished { .. }
        | AssignmentChange::Reopened { .. }
        | AssignmentChange::Exported { .. } => Vec::new(),
    }
}

fn of_document(change: &DocumentChange) -> Vec<&FileKey> {
    match change {
        DocumentChange::RevisionsPruned { files } | DocumentChange::Deleted { files, .. } => files.iter().collect(),
        DocumentChange::Created { .. }
        | DocumentChange::Updated { .. }
        | DocumentChange::Saved { .. }
        | DocumentChange::SavedLate { .. }
        | DocumentChange::SaveFailed { .. }
        | DocumentChange::Replaced { .. } => Vec::new(),
    }
}

fn of_message(change: &MessageChange) -> Vec<&FileKey> {
    match change {
        MessageChange::Pruned { files } => files.iter().collect(),
        MessageChange::Sent { .. }
        | MessageChange::Edited { .. }
        | MessageChange::Deleted { .. }
        | MessageChange::Read { .. }
        | MessageChange::DirectSent { .. } => Vec::new(),
    }
}

fn of_user(change: &UserChange) -> Vec<&FileKey> {
    match change {
        UserChange::Erased { files, .. } => files.iter().collect(),
        UserChange::Created { .. }
        | UserChange::Updated { .. }
        | UserChange::RoleChanged { .. }
        | UserChange::PasswordReset { .. }
        | UserChange::MembershipEnded { .. }
        | UserChange::Imported { .. }
        | UserChange::Exported { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::UserId;

    #[test]
    fn the_files_of_a_change_are_named_once_each() {
        let files = vec![FileKey::new("a"), FileKey::new("b")];
        let pruned = DocumentChange::RevisionsPruned { files: files.clone() }.into();
        assert_eq!(removed_files(&pruned), files.iter().collect::<Vec<_>>());
        let erased = UserChange::Erased {
            user: UserId::new("ben"),
            files: files.clone(),
        };
        assert_eq!(removed_files(&erased.into()).len(), 2);
    }
}
