//! Raises the versions (ETags) of the objects that a transaction changed.

use std::collections::BTreeSet;

use domain::change::{
    AssignmentChange as Assignment, Change, ClassChange as Class, CourseChange as Course, DocumentChange as Document,
    DocumentStep, FeedbackChange as Feedback, GroupChange as Group, HomeroomChange as Homeroom,
    OrganizationChange as Organization, SubjectChange as Subject, SubmissionChange as Submission, UserChange as User,
};
use domain::version::VersionedObject;

use common::error::Result;
use db::WriteTx;

/// Raises the version of every object that changed in this transaction, once per object and in a fixed order. Objects
/// that were created in it keep their first version.
pub fn increment(tx: &mut WriteTx<'_>) -> Result<()> {
    let changed: BTreeSet<VersionedObject> = tx.changes().iter().flat_map(Change::changed_objects).collect();
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
