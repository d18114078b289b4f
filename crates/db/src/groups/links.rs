//! Reads rows of links, topics and files from the statements of [`super::known`].

use domain::assignment::Assignment;
use domain::details::SubmissionDetails;
use domain::file::{AssignmentAttachment, FileKey, GroupAttachment, StoredFile};
use domain::group_assignment::GroupAssignment;
use domain::id::GroupAssignmentId;

use crate::assignments::assignment;
use crate::attachments;
use crate::group_assignments::{link, submission};
use crate::sql::Columns;
use common::error::Result;

/// A link with its topic and its current submission.
pub(super) struct GroupLinkRow {
    pub(super) link: GroupAssignment,
    pub(super) assignment: Assignment,
    pub(super) submitted_count: i64,
    pub(super) current_submission: Option<SubmissionDetails>,
}

pub(super) fn link_row(row: &mut Columns<'_>) -> Result<GroupLinkRow> {
    let (link, assignment, submitted_count) = (link(row)?, assignment(row)?, row.take()?);
    let current_submission = match link.current_submission_id {
        Some(_) => Some(SubmissionDetails {
            submission: submission(row)?,
            documents: Vec::new(),
            grade: None,
            feedback: Vec::new(),
        }),
        None => None,
    };
    Ok(GroupLinkRow {
        link,
        assignment,
        submitted_count,
        current_submission,
    })
}

/// Reads a file of a topic and the id of a link that can view it.
pub(super) fn topic_file(row: &mut Columns<'_>) -> Result<(GroupAssignmentId, AssignmentAttachment)> {
    Ok((row.take()?, attachments::file(row)?))
}

pub(super) fn group_file(row: &mut Columns<'_>) -> Result<GroupAttachment> {
    Ok(GroupAttachment {
        id: row.take()?,
        organization_id: row.take()?,
        group_id: row.take()?,
        file: StoredFile {
            key: FileKey::new(row.take::<String>()?),
            file_name: row.take()?,
            mime_type: row.take()?,
            size: row.take()?,
            sha256: row.take()?,
        },
        uploaded_by_id: row.take()?,
        created_at: row.take()?,
    })
}
