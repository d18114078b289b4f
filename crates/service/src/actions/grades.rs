//! Grading. A grade is stored with the submission that it is for, so it can be given after the topic is finished.
//! Publishing a grade moves the group's work to GRADED; withdrawing it moves the work back.

use api_macros::body;
use std::collections::HashMap;

use domain::assignment::Assignment;
use domain::change::SubmissionChange;
use domain::class::ClassStatus;
use domain::details::{AssignmentDetails, GroupAssignmentDetails, SubmissionDetails};
use domain::domain_error::DomainError;
use domain::grade::{Grade, GradeEdit, GradeRules, GradeStatus, GradeWritten, Publication};
use domain::group_assignment::{GroupAssignment, StatusTransition};
use domain::id::{AssignmentId, DocumentId, GroupId, SubmissionId, UserId};
use domain::list::List;
use domain::rubric::TopicRubric;

use super::acting_user::acting_user;
use super::submissions::whole_link;
use common::error::Result;
use db::WriteTx;
use db::documents::VisibleDocument;
use db::submissions::grades::GroupWork;

/// The grades to publish.
#[body(Default)]
pub struct GradesToPublish {
    /// The groups whose grades are published. Defaults to all groups of the topic.
    pub group_ids: Option<List<GroupId>>,
}

/// Grades a submission. Returns it with its grade.
pub fn grade_submission(tx: &mut WriteTx<'_>, id: &SubmissionId, edit: &GradeEdit) -> Result<SubmissionDetails> {
    let at = lock_group_work(tx, id)?;
    writable(at.class_status)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    let submission = tx.submission(id)?;
    grade(tx, &link, submission, edit.clone())?;
    tx.submission(id)
}

/// Grades the submission that a document is currently part of. The document must not be locked, because its grade is
/// visible with the document.
pub fn grade_document(tx: &mut WriteTx<'_>, id: &DocumentId, edit: &GradeEdit) -> Result<VisibleDocument> {
    let class = tx.document(id)?.group_context.class;
    tx.lock_class(&class)?;
    let seen = tx.lock_writable_document(id)?;
    seen.writable()?;
    let submission = tx.submission_of_document(id)?.ok_or(DomainError::NotSubmitted)?;
    let topic = seen
        .document()
        .assignment_id
        .as_ref()
        .ok_or(DomainError::NotSubmitted)?;
    let link = whole_link(tx, topic, &seen.group_context.group.id)?;
    grade(tx, &link, submission, edit.clone())?;
    tx.document(id)
}

/// How many grades of a topic were published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicationCounts {
    pub published: i64,
    /// Drafts that stay, because their rubric is filled in only in part.
    pub incomplete: i64,
}

/// Publishes all draft grades of a topic that are not empty. Drafts with a rubric that is filled in part are left out.
pub fn publish(tx: &mut WriteTx<'_>, id: &AssignmentId, asked: &GradesToPublish) -> Result<PublicationCounts> {
    let details = tx.lock_writable_assignment(id)?;
    let named = asked.group_ids.as_ref();
    check_groups_of_topic(tx, &details, named.map_or(&[][..], |groups| &**groups))?;
    let publishing = GradeEdit {
        publish: Some(true),
        ..GradeEdit::default()
    };
    let rubric = tx.topic_rubric(id)?;
    let (mut written, mut incomplete) = (Vec::new(), 0);
    for link in &details.links {
        let is_meant = named.is_none_or(|groups| groups.contains(&link.link.group_id));
        let Some(current) = link.current_submission.as_ref().filter(|_| is_meant) else {
            continue;
        };
        let draft = current
            .grade
            .as_ref()
            .filter(|grade| grade.status == GradeStatus::Draft);
        let Some(draft) = draft.filter(|grade| !grade.is_empty()).cloned() else {
            continue;
        };
        if draft.is_rubric_incomplete(rubric.as_ref()) {
            incomplete += 1;
            continue;
        }
        written.extend(write(tx, link, current, draft, (publishing.clone(), rubric.as_ref()))?);
    }
    record(tx, id, &written)?;
    Ok(PublicationCounts {
        published: i64::try_from(written.len()).unwrap_or(i64::MAX),
        incomplete,
    })
}

/// A grade that was written, with its group.
pub(super) struct WrittenGrade {
    group: GroupId,
    grade: GradeWritten,
}

/// Rejects groups that do not work on the topic; [`common::error::Error::NotFound`] for a group that the caller cannot see.
pub(super) fn check_groups_of_topic(
    tx: &mut WriteTx<'_>,
    details: &AssignmentDetails,
    groups: &[GroupId],
) -> Result<()> {
    let on_topic = details.group_ids();
    let strays: Vec<_> = groups.iter().filter(|group| !on_topic.contains(group)).collect();
    for stray in &strays {
        tx.group(stray)?;
    }
    if strays.is_empty() {
        Ok(())
    } else {
        Err(DomainError::GroupNotOnAssignment.into())
    }
}

/// Locks the class of a submission, so that changes about the work of a group are serialized. Staff who can view a
/// group manage its class.
pub(super) fn lock_group_work(tx: &mut WriteTx<'_>, id: &SubmissionId) -> Result<GroupWork> {
    let class = tx.work_of_submission(id)?.class_id;
    tx.lock_class(&class)?;
    tx.work_of_submission(id)
}

/// Rejects grades and feedback in an archived class.
pub(super) fn writable(class: ClassStatus) -> Result<()> {
    Ok(class.writable()?)
}

/// Writes the grade of one submission and records the change.
fn grade(
    tx: &mut WriteTx<'_>,
    link: &GroupAssignmentDetails,
    submission: SubmissionDetails,
    edit: GradeEdit,
) -> Result<()> {
    let id = submission.submission.id.clone();
    let grade = match submission.grade.clone() {
        Some(grade) => grade,
        None => Grade::blank(id.clone(), acting_user(tx)?, tx.now()),
    };
    let is_current = link.link.current_submission_id.as_ref() == Some(&id);
    // Earlier submissions cannot be graded any more, but a grade that was published by mistake can still be
    // withdrawn.
    let takes_back = edit.publish == Some(false) && grade.status == GradeStatus::Published;
    if !is_current && !takes_back {
        return Err(DomainError::NotSubmitted.into());
    }
    // Read only where the rules need it.
    let rubric = if edit.rubric.is_some() || edit.publish == Some(true) {
        tx.topic_rubric(&link.link.assignment_id)?
    } else {
        None
    };
    let Some(written) = write(tx, link, &submission, grade, (edit, rubric.as_ref()))? else {
        return Ok(());
    };
    let (topic, group) = (&link.link.assignment_id, &link.link.group_id);
    let link = Box::new(whole_link(tx, topic, group)?);
    let submission = Box::new(tx.submission(&id)?);
    let members = tx.member_ids_of(group)?;
    tx.record(SubmissionChange::Graded {
        link,
        submission,
        written: written.grade,
        members,
    });
    Ok(())
}

/// Writes a grade and, for the current submission, the state of the group's work. Returns `None` if nothing changes. The
/// rubric of the topic is needed if the edit fills criteria or publishes the grade.
pub(super) fn write(
    tx: &mut WriteTx<'_>,
    link: &GroupAssignmentDetails,
    submission: &SubmissionDetails,
    mut grade: Grade,
    (edit, rubric): (GradeEdit, Option<&TopicRubric>),
) -> Result<Option<WrittenGrade>> {
    let (teacher, now) = (acting_user(tx)?, tx.now());
    let rules = GradeRules {
        rubric,
        ..rules(&link.assignment, submission)
    };
    let Some(written) = grade.write(edit, &rules, &teacher, now)? else {
        return Ok(None);
    };
    tx.write_grade(&grade, &teacher)?;
    let step = match written.publication {
        Publication::Published => Some(StatusTransition::GradePublished),
        Publication::Withdrawn => Some(StatusTransition::GradeWithdrawn),
        Publication::Kept => None,
    };
    let mut row: GroupAssignment = link.link.clone();
    let is_current = row.current_submission_id.as_ref() == Some(&submission.submission.id);
    if let Some(step) = step.filter(|_| is_current)
        && row.apply_transition(step, now)?
    {
        tx.update_link(&row)?;
    }
    Ok(Some(WrittenGrade {
        group: row.group_id,
        grade: written,
    }))
}

/// Records the changed grades of current submissions on one topic. Topic and members are read once for all grades.
pub(super) fn record(tx: &mut WriteTx<'_>, id: &AssignmentId, written: &[WrittenGrade]) -> Result<()> {
    if written.is_empty() {
        return Ok(());
    }
    let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
    for (group, user) in tx.members_of_topic(id)? {
        members.entry(group).or_default().push(user);
    }
    let links = tx.assignment(id)?.details.links;
    for WrittenGrade { group, grade } in written {
        let link = links.iter().find(|link| link.link.group_id == *group);
        let Some((link, submission)) = link.and_then(|link| Some((link, link.current_submission.clone()?))) else {
            continue;
        };
        tx.record(SubmissionChange::Graded {
            link: Box::new(link.clone()),
            submission: Box::new(submission),
            written: grade.clone(),
            members: members.remove(group).unwrap_or_default(),
        });
    }
    Ok(())
}

/// Returns the rules for grades of this submission, without a rubric.
pub(super) fn rules<'a>(assignment: &'a Assignment, submission: &'a SubmissionDetails) -> GradeRules<'a> {
    GradeRules::of(assignment, &submission.submission.member_ids, None)
}
