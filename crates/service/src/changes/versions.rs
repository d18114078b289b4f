//! Determines the object versions (ETags) that a change raises: those of the objects whose own content it changed.
//! Help requests, chat messages and edits of a document do not raise the version of the group around them, so they
//! cause no conflict with a change of its settings.

use std::collections::BTreeSet;

use domain::change::{
    AssignmentChange as Assignment, Change, ClassChange as Class, CourseChange as Course, DeletionChange as Deletion,
    DocumentChange as Document, DocumentStep, FeedbackChange as Feedback, GroupChange as Group, GroupDocument,
    HomeroomChange as Homeroom, OrganizationChange as Organization, SubjectChange as Subject,
    SubmissionChange as Submission, UserChange as User,
};
use domain::details::{GroupDetails, SubmissionDetails};
use domain::version::VersionedObject;

use common::error::Result;
use db::WriteTx;

/// Raises the version of every object that changed in this transaction, once per object and in a fixed order. Objects
/// that were created in it keep their first version.
pub fn increment(tx: &mut WriteTx<'_>) -> Result<()> {
    let changed: BTreeSet<VersionedObject> = tx.changes().iter().flat_map(changed).collect();
    let created: BTreeSet<VersionedObject> = tx.changes().iter().filter_map(created).collect();
    for object in changed.difference(&created) {
        tx.raise_version(object)?;
    }
    Ok(())
}

fn created(change: &Change) -> Option<VersionedObject> {
    Some(match change {
        Change::Class(Class::Created { class, .. }) => (&class.class.id).into(),
        Change::Homeroom(Homeroom::Created { homeroom }) => (&homeroom.id).into(),
        Change::Subject(Subject::Created { subject }) => (&subject.id).into(),
        Change::Course(Course::Created { course }) => (&course.course.id).into(),
        Change::Group(Group::Created { group }) => (&group.group.id).into(),
        Change::Assignment(Assignment::Created { assignment, .. }) => (&assignment.assignment.id).into(),
        Change::Document(Document::Changed {
            document,
            step: DocumentStep::Created,
            ..
        }) => (&document.document.id).into(),
        Change::Submission(Submission::Submitted { submission, .. } | Submission::Recorded { submission, .. }) => {
            (&submission.submission.id).into()
        }
        Change::Feedback(Feedback::Created { feedback, .. }) => (&feedback.id).into(),
        Change::User(User::Created { user, .. }) => (&user.id).into(),
        Change::Organization(Organization::Created { .. }) => VersionedObject::Organization,
        _ => return None,
    })
}

fn changed(change: &Change) -> Vec<VersionedObject> {
    match change {
        Change::Class(change) => of_class(change),
        Change::Homeroom(Homeroom::Updated { homeroom, .. }) => vec![(&homeroom.id).into()],
        Change::Subject(Subject::Updated { subject, .. }) => vec![(&subject.id).into()],
        Change::Course(change) => of_course(change),
        Change::Group(change) => of_group(change),
        Change::Assignment(change) => of_assignment(change),
        Change::Submission(change) => of_submission(change),
        Change::Feedback(Feedback::Updated { feedback, .. }) => vec![(&feedback.id).into()],
        // A save, and its recovery after a failure, is no change of the document's own fields.
        Change::Document(Document::Changed {
            step: DocumentStep::Updated(changed),
            ..
        }) if changed.has("saveFailedAt") => Vec::new(),
        Change::Document(Document::Changed {
            document,
            step: DocumentStep::Updated(_) | DocumentStep::Replaced(_),
            ..
        }) => vec![(&document.document.id).into()],
        Change::User(change) => of_user(change),
        Change::Deletion(Deletion::Restored { restored, .. }) => documents(&restored.relinked),
        Change::Organization(
            Organization::Updated { .. } | Organization::Suspended { .. } | Organization::Activated { .. },
        ) => vec![VersionedObject::Organization],
        Change::Homeroom(
            Homeroom::Created { .. }
            | Homeroom::Deleted { .. }
            | Homeroom::StudentsAdded { .. }
            | Homeroom::StudentRemoved { .. },
        )
        | Change::Subject(Subject::Created { .. } | Subject::Deleted { .. })
        | Change::Feedback(Feedback::Created { .. } | Feedback::Deleted { .. })
        | Change::Document(
            Document::Changed {
                step:
                    DocumentStep::Created
                    | DocumentStep::Saved(_)
                    | DocumentStep::SavedLate(_)
                    | DocumentStep::Frozen
                    | DocumentStep::SaveFailed
                    | DocumentStep::PlayedBack { .. },
                ..
            }
            | Document::RevisionsPruned { .. }
            | Document::LateTextKept { .. }
            | Document::Deleted { .. },
        )
        | Change::Organization(
            Organization::Created { .. }
            | Organization::Imported { .. }
            | Organization::Deleted { .. }
            | Organization::Purged { .. },
        )
        | Change::Help(_)
        | Change::Comment(_)
        | Change::Message(_)
        | Change::Invitation(_)
        // The statements on accounts raise the version themselves.
        | Change::Administration(_)
        | Change::MailDomain(_)
        | Change::ApiToken(_)
        | Change::SignOn(_)
        | Change::Roster(_)
        | Change::Snippet(_)
        | Change::Rubric(_)
        | Change::Deletion(Deletion::Discarded { .. })
        | Change::Session(_) => Vec::new(),
    }
}

fn of_class(change: &Class) -> Vec<VersionedObject> {
    match change {
        Class::Updated { class, .. } | Class::TeachersChanged { class, .. } => vec![(&class.class.id).into()],
        Class::Unenrolled { left, .. } => groups(left),
        Class::Deleted { removed, .. } => documents(&removed.released),
        Class::Created { .. } | Class::Enrolled { .. } | Class::EnrollmentUpdated { .. } => Vec::new(),
    }
}

fn of_course(change: &Course) -> Vec<VersionedObject> {
    match change {
        Course::Updated { course, .. } => vec![(&course.course.id).into()],
        Course::Deleted { removed, .. } => documents(&removed.released),
        Course::Created { .. } => Vec::new(),
    }
}

fn of_group(change: &Group) -> Vec<VersionedObject> {
    match change {
        Group::Updated { group, .. }
        | Group::MembersAdded { group, .. }
        | Group::MemberRemoved { group, .. }
        | Group::AttachmentChanged { group, .. } => vec![(&group.group.id).into()],
        Group::MemberMoved { from, to, .. } => vec![(&from.group.id).into(), (&to.group.id).into()],
        Group::Created { .. } | Group::Deleted { .. } => Vec::new(),
    }
}

fn of_assignment(change: &Assignment) -> Vec<VersionedObject> {
    let (topic, mut others) = match change {
        Assignment::Updated { assignment, .. }
        | Assignment::RubricChanged { assignment, .. }
        | Assignment::AttachmentChanged { assignment, .. } => (&assignment.assignment, Vec::new()),
        Assignment::BulkUpdated { assignment, moved, .. } => (
            &assignment.assignment,
            moved.iter().map(|start| (&start.group.group.id).into()).collect(),
        ),
        // A group without a course moves to the course of the topic.
        Assignment::GroupsAttached { assignment, attached } => (
            &assignment.assignment,
            attached.iter().map(VersionedObject::from).collect(),
        ),
        Assignment::GroupDetached {
            assignment, released, ..
        } => (&assignment.assignment, documents(released)),
        Assignment::LinkUpdated { link, .. } => (&link.assignment, Vec::new()),
        Assignment::Finished {
            assignment,
            documents: closed,
            ..
        } => (&assignment.assignment, documents(closed)),
        Assignment::Reopened {
            assignment,
            documents: opened,
        } => (&assignment.assignment, documents(opened)),
        Assignment::Deleted { released, .. } => return documents(released),
        Assignment::Created { .. } | Assignment::Exported { .. } => return Vec::new(),
    };
    others.push((&topic.id).into());
    others
}

fn of_submission(change: &Submission) -> Vec<VersionedObject> {
    match change {
        Submission::Submitted {
            document, superseded, ..
        } => {
            let mut objects = vec![VersionedObject::from(&document.document.id)];
            objects.extend(superseded.iter().map(VersionedObject::from));
            objects
        }
        // A new attempt has its first version.
        Submission::Recorded { .. } => Vec::new(),
        Submission::RecordRemoved { former, .. } => vec![(&former.id).into()],
        Submission::Frozen { submission, .. } | Submission::Completed { submission, .. } => {
            vec![(&submission.submission.id).into()]
        }
        Submission::Unsubmitted {
            document, former, next, ..
        } => {
            let mut objects = vec![VersionedObject::from(&document.document.id), (&former.id).into()];
            objects.extend(next.iter().map(|next| VersionedObject::from(&next.submission.id)));
            objects
        }
        Submission::Returned {
            submission, documents, ..
        } => {
            let mut objects = vec![VersionedObject::from(&submission.submission.id)];
            objects.extend(
                documents
                    .iter()
                    .map(|details| VersionedObject::from(&details.document.id)),
            );
            objects
        }
        Submission::Graded { submission, .. } | Submission::GradeFileChanged { submission, .. } => graded(submission),
    }
}

/// Returns the submission and its documents, which show its grade.
fn graded(details: &SubmissionDetails) -> Vec<VersionedObject> {
    let mut objects = vec![VersionedObject::from(&details.submission.id)];
    let documents = details.documents.iter().filter_map(|copy| copy.document_id.as_ref());
    objects.extend(documents.map(VersionedObject::from));
    objects
}

fn of_user(change: &User) -> Vec<VersionedObject> {
    match change {
        User::Updated { user, .. } => vec![(&user.id).into()],
        User::MembershipSwitched { user, .. }
        | User::RoleChanged { user, .. }
        | User::TakenOver { user, .. }
        | User::PasswordReset { user }
        | User::SecondFactorReset { user } => vec![(&user.id).into()],
        User::MembershipEnded { classes, left, .. } => {
            let mut objects = groups(left);
            objects.extend(classes.iter().map(|class| VersionedObject::from(&class.id)));
            objects
        }
        User::Erased { user, left, .. } => {
            let mut objects = groups(left);
            objects.push((&user.id).into());
            objects
        }
        // The statement that updates a profile raises its version itself.
        User::ProfileEdited { .. }
        | User::Created { .. }
        | User::Imported { .. }
        | User::ImportProgressed { .. }
        | User::Exported { .. } => Vec::new(),
    }
}

fn groups(left: &[GroupDetails]) -> Vec<VersionedObject> {
    left.iter().map(|details| (&details.group.id).into()).collect()
}

fn documents(placed: &[GroupDocument]) -> Vec<VersionedObject> {
    placed.iter().map(|placed| (&placed.document.id).into()).collect()
}
