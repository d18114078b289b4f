//! Reads rows of links, topics and files from the statements of [`super::queries`].

use domain::assignment::Assignment;
use domain::details::SubmissionDetails;
use domain::file::{AssignmentAttachment, GroupAttachment};
use domain::group_assignment::GroupAssignment;
use domain::id::GroupAssignmentId;

use crate::assignments::assignment;
use crate::group_assignments::{current_submission, link};
use crate::labels::stored_file;
use crate::sql::Columns;
use crate::{attachments, from_row};
use common::error::Result;

/// A link with its topic and its current submission.
pub(super) struct GroupLinkRow {
    pub(super) link: GroupAssignment,
    pub(super) assignment: Assignment,
    pub(super) submitted_count: i64,
    pub(super) current_submission: Option<SubmissionDetails>,
}

pub(super) fn link_row(row: &Columns<'_>) -> Result<GroupLinkRow> {
    let (link, assignment, submitted_count) = (link(row)?, assignment(row)?, row.get("submitted_count")?);
    let current_submission = current_submission(&link, row)?;
    Ok(GroupLinkRow {
        link,
        assignment,
        submitted_count,
        current_submission,
    })
}

/// Reads a file of a topic and the id of a link that can view it.
pub(super) fn topic_file(row: &Columns<'_>) -> Result<(GroupAssignmentId, AssignmentAttachment)> {
    Ok((row.get("link_id")?, attachments::file(row)?))
}

pub(super) fn group_file(row: &Columns<'_>) -> Result<GroupAttachment> {
    from_row!(row => GroupAttachment {
        id, organization_id, group_id, uploaded_by_id, created_at,
        file: stored_file(row)?,
    })
}
