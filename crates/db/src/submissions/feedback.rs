//! Feedback of teachers on the work of groups. Visible to viewers of the group; students see only feedback published
//! for the group.

use domain::feedback::Feedback;
use domain::id::{AssignmentId, DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};

use super::feedback;
use crate::submissions::FEEDBACK_COLUMNS;
use crate::visibility::CAN_VIEW_LINK;
use crate::{ReadTx, WriteTx, args, fragments, named, statements};
use common::error::Result;

fragments! {
    SELECT_FEEDBACK = "SELECT {FEEDBACK_COLUMNS} FROM feedback fb
            JOIN users u ON u.id = fb.author_id
            JOIN group_assignments ga ON ga.id = fb.group_assignment_id
            JOIN groups g ON g.id = ga.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN assignments a ON a.id = ga.assignment_id
            WHERE fb.organization_id = $1 AND {CAN_VIEW_LINK}
            AND ($2 <> 'STUDENT' OR (fb.visibility = 'GROUP' AND fb.published_at IS NOT NULL))";
}

statements! {
    BY_ID = "{SELECT_FEEDBACK} AND fb.id = $5 ORDER BY fb.created_at, fb.id";
    OF_LINK = "{SELECT_FEEDBACK} AND fb.group_assignment_id = $5 ORDER BY fb.created_at, fb.id";
    OF_SUBMISSION = "{SELECT_FEEDBACK} AND fb.submission_id = $5 ORDER BY fb.created_at, fb.id";
    OF_DOCUMENT = "{SELECT_FEEDBACK} AND fb.document_id = $5 ORDER BY fb.created_at, fb.id";
    OF_TOPIC = "{SELECT_FEEDBACK} AND ga.assignment_id = $5 ORDER BY fb.created_at, fb.id";
    INSERT = "INSERT INTO feedback (organization_id, id, group_assignment_id, submission_id, document_id, author_id,
            text, visibility, published_at, created_at, updated_at)
        VALUES ($1, :id, :group_assignment_id, :submission_id, :document_id, :author_id, :text, :visibility,
            :published_at, :created_at, :updated_at)";
    /// Updates every mutable field.
    UPDATE = "UPDATE feedback SET text = :text, visibility = :visibility, published_at = :published_at,
            updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
    DELETE = "DELETE FROM feedback WHERE organization_id = $1 AND id = $2";
}

/// The subject of the listed feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedbackOf {
    /// The work of a group on a topic.
    Link(GroupAssignmentId),
    Submission(SubmissionId),
    Document(DocumentId),
    /// The work of all groups on a topic.
    Topic(AssignmentId),
}

impl ReadTx<'_> {
    /// Returns a feedback, or `NotFound` if it is invisible to the viewer.
    pub fn feedback(&mut self, id: &FeedbackId) -> Result<Feedback> {
        self.fetch_one_visible(&BY_ID, args![id], feedback)
    }

    /// Lists the feedback on a subject that is visible to the viewer, oldest first.
    pub fn feedback_of(&mut self, of: &FeedbackOf) -> Result<Vec<Feedback>> {
        match of {
            FeedbackOf::Link(id) => self.fetch_all_visible(&OF_LINK, args![id], feedback),
            FeedbackOf::Submission(id) => self.fetch_all_visible(&OF_SUBMISSION, args![id], feedback),
            FeedbackOf::Document(id) => self.fetch_all_visible(&OF_DOCUMENT, args![id], feedback),
            FeedbackOf::Topic(id) => self.fetch_all_visible(&OF_TOPIC, args![id], feedback),
        }
    }
}

impl WriteTx<'_> {
    /// Inserts a feedback.
    pub fn insert_feedback(&mut self, new: &Feedback) -> Result<()> {
        self.execute_named(
            &INSERT,
            named![new =>
                id, group_assignment_id, submission_id, document_id, text, visibility, published_at, created_at,
                updated_at,
                author_id: new.author.id,
            ],
        )
    }

    /// Updates every mutable field of a feedback.
    pub fn update_feedback(&mut self, feedback: &Feedback) -> Result<()> {
        let visibility = feedback.visibility.as_str();
        self.execute_named(
            &UPDATE,
            named![feedback => id, text, published_at, updated_at, visibility: visibility],
        )
    }

    pub fn delete_feedback(&mut self, id: &FeedbackId) -> Result<()> {
        self.execute(&DELETE, args![id])
    }
}
