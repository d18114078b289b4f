//! Rows of links, topics, submissions and files as the statements of [`super::known`] name their columns.

use model::assignment::{Assignment, Finish, LatePolicy};
use model::file::{AssignmentAttachment, FileKey, GroupAttachment, StoredFile};
use model::group_assignment::{GroupAssignment, GroupAssignmentStatus, Lateness};
use model::id::GroupAssignmentId;
use model::number::{Points, RequiredSubmissions};
use model::submission::{Submission, SubmissionStatus};
use model::whole::WholeSubmission;

use crate::error::Result;
use crate::store::sql::Columns;

macro_rules! link_columns {
    () => {
        "ga.id, ga.organization_id, ga.assignment_id, ga.group_id, ga.status, ga.current_submission_id,
            ga.description_override, ga.late_allowed_until, ga.created_at, ga.updated_at"
    };
}
macro_rules! topic_columns {
    () => {
        "a.id, a.organization_id, a.class_id, a.course_id, a.title, a.description, a.deadline, a.required_submissions,
            a.is_shared, a.finished_at, a.finished_by_id, a.max_points, a.grade_scale, a.late_policy, a.created_by_id,
            a.created_at, a.updated_at"
    };
}
macro_rules! submission_columns {
    () => {
        "s.id, s.organization_id, s.group_assignment_id, s.attempt, s.status, s.submitted_by_id, s.submitted_at,
            s.on_behalf, s.is_late, s.late_by_seconds, s.member_ids, s.note, s.withdrawn_at, s.withdrawn_by_id, s.created_at"
    };
}
pub(in crate::store) use {link_columns, submission_columns, topic_columns};

/// A link with its topic and its current submission.
pub(super) struct LinkRow {
    pub(super) link: GroupAssignment,
    pub(super) assignment: Assignment,
    pub(super) submitted_count: i64,
    pub(super) current_submission: Option<WholeSubmission>,
}

pub(super) fn link_row(row: &mut Columns<'_>) -> Result<LinkRow> {
    let (link, assignment, submitted_count) = (link(row)?, assignment(row)?, row.take()?);
    let current_submission = match link.current_submission_id {
        Some(_) => Some(WholeSubmission {
            submission: submission(row)?,
            documents: Vec::new(),
            grade: None,
            feedback: Vec::new(),
        }),
        None => None,
    };
    Ok(LinkRow {
        link,
        assignment,
        submitted_count,
        current_submission,
    })
}

fn link(row: &mut Columns<'_>) -> Result<GroupAssignment> {
    Ok(GroupAssignment {
        id: row.take()?,
        organization_id: row.take()?,
        assignment_id: row.take()?,
        group_id: row.take()?,
        status: row.parse(GroupAssignmentStatus::parse)?,
        current_submission_id: row.take()?,
        description_override: row.take()?,
        late_allowed_until: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

/// Reads [`topic_columns`].
pub(super) fn assignment(row: &mut Columns<'_>) -> Result<Assignment> {
    Ok(Assignment {
        id: row.take()?,
        organization_id: row.take()?,
        class_id: row.take()?,
        course_id: row.take()?,
        title: row.take()?,
        description: row.take()?,
        deadline: row.take()?,
        required_submissions: RequiredSubmissions::stored(row.take()?),
        is_shared: row.take()?,
        finished: {
            let (at, by) = (row.take::<Option<_>>()?, row.take()?);
            at.map(|at| Finish { at, by })
        },
        max_points: row.take::<Option<f64>>()?.map(Points::stored),
        grade_scale: row.take()?,
        late_policy: row.parse(LatePolicy::parse)?,
        created_by_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

fn submission(row: &mut Columns<'_>) -> Result<Submission> {
    Ok(Submission {
        id: row.take()?,
        organization_id: row.take()?,
        group_assignment_id: row.take()?,
        attempt: row.take()?,
        status: row.parse(SubmissionStatus::parse)?,
        submitted_by_id: row.take()?,
        submitted_at: row.take()?,
        on_behalf: row.take()?,
        lateness: Lateness {
            is_late: row.take()?,
            late_by_seconds: row.take()?,
        },
        member_ids: row.json()?,
        note: row.take()?,
        withdrawn_at: row.take()?,
        withdrawn_by_id: row.take()?,
        created_at: row.take()?,
    })
}

/// A file of a topic, and a link that it comes with.
pub(super) fn topic_file(row: &mut Columns<'_>) -> Result<(GroupAssignmentId, AssignmentAttachment)> {
    let link = row.take()?;
    let file = AssignmentAttachment {
        id: row.take()?,
        organization_id: row.take()?,
        assignment_id: row.take()?,
        group_assignment_id: row.take()?,
        file: stored_file(row)?,
        staged_at: row.take()?,
        uploaded_by_id: row.take()?,
        created_at: row.take()?,
    };
    Ok((link, file))
}

/// A file of a group.
pub(super) fn group_file(row: &mut Columns<'_>) -> Result<GroupAttachment> {
    Ok(GroupAttachment {
        id: row.take()?,
        organization_id: row.take()?,
        group_id: row.take()?,
        file: stored_file(row)?,
        uploaded_by_id: row.take()?,
        created_at: row.take()?,
    })
}

fn stored_file(row: &mut Columns<'_>) -> Result<StoredFile> {
    Ok(StoredFile {
        key: FileKey::new(row.take::<String>()?),
        file_name: row.take()?,
        mime_type: row.take()?,
        size: row.take()?,
        sha256: row.take()?,
    })
}
