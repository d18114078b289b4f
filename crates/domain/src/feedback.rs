//! Feedback: comments of teachers on the work of a group, for the group or for the staff only.

use crate::access::Viewer;
use crate::domain_error::DomainError;
use crate::id::{DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};
use crate::patch::{FieldDiff, FieldPatch, not_null};
use crate::string_enum::string_enum;
use crate::text::FeedbackText;
use crate::time::Timestamp;
use crate::user::Person;
use api_macros::patch;

string_enum! {
    /// Who may read a feedback.
    FeedbackVisibility {
        /// The group and the staff.
        Group = "GROUP",
        /// Only the staff.
        Staff = "STAFF",
    }
}

/// A feedback on the work of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    pub id: FeedbackId,
    pub group_assignment_id: GroupAssignmentId,
    /// The submission attempt the feedback is about.
    pub submission_id: Option<SubmissionId>,
    /// The document the feedback is about.
    pub document_id: Option<DocumentId>,
    pub author: Person,
    pub text: FeedbackText,
    pub visibility: FeedbackVisibility,
    /// When it was published; `None` while the author withholds it.
    pub published_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Subject of a feedback. A request specifies exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedbackTarget {
    /// The work of a group on a topic.
    GroupAssignment(GroupAssignmentId),
    /// One submission attempt.
    Submission(SubmissionId),
    Document(DocumentId),
}

impl FeedbackTarget {
    /// Parses the three fields of a request, of which exactly one must be set.
    pub fn one_of(
        link: Option<GroupAssignmentId>,
        submission: Option<SubmissionId>,
        document: Option<DocumentId>,
    ) -> Result<Self, DomainError> {
        match (link, submission, document) {
            (Some(link), None, None) => Ok(Self::GroupAssignment(link)),
            (None, Some(submission), None) => Ok(Self::Submission(submission)),
            (None, None, Some(document)) => Ok(Self::Document(document)),
            _ => Err(DomainError::Invalid {
                path: "groupAssignmentId",
                code: "exactly_one",
                message: "or submissionId or documentId must be given, and only one of them",
            }),
        }
    }
}

/// Fields of a feedback that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct FeedbackEdit {
    /// New text.
    #[garde(dive, custom(not_null))]
    pub text: FieldPatch<FeedbackText>,
    /// Who may read the feedback.
    #[garde(custom(not_null))]
    pub visibility: FieldPatch<FeedbackVisibility>,
    /// `true` publishes the feedback, `false` withdraws it.
    #[garde(custom(not_null))]
    pub publish: FieldPatch<bool>,
}

impl Feedback {
    /// Rejects viewers who may not edit the feedback. Only its author and admins may; other teachers of the class only
    /// read it.
    pub fn editable_by(&self, viewer: &Viewer) -> Result<(), DomainError> {
        if *viewer == Viewer::Admin || viewer.user_text() == self.author.id.as_str() {
            Ok(())
        } else {
            Err(DomainError::NotAuthor)
        }
    }

    /// Applies a PATCH and returns what changed.
    pub fn edit(&mut self, edit: FeedbackEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut changed = FieldDiff::new();
        changed.edit("text", &mut self.text, edit.text)?;
        changed.edit("visibility", &mut self.visibility, edit.visibility)?;
        if let Some(publish) = edit.publish.required("publish")? {
            let published_at = if publish { self.published_at.or(Some(now)) } else { None };
            changed.write("publishedAt", &mut self.published_at, published_at);
        }
        if !changed.is_empty() {
            self.updated_at = now;
        }
        Ok(changed)
    }

    /// Returns whether the students of the group may read it.
    pub fn visible_to_students(&self) -> bool {
        self.visibility == FeedbackVisibility::Group && self.published_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    #[test]
    fn students_read_published_group_feedback_only() {
        let mut feedback = Feedback {
            id: FeedbackId::new("f"),
            group_assignment_id: GroupAssignmentId::new("ga"),
            submission_id: None,
            document_id: None,
            author: Person {
                id: UserId::new("ada"),
                name: "Ada".to_owned(),
                image: None,
            },
            text: FeedbackText::stored("Good."),
            visibility: FeedbackVisibility::Group,
            published_at: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        };
        assert!(!feedback.visible_to_students());
        feedback.published_at = Some(Timestamp::from_millis(1));
        assert!(feedback.visible_to_students());
        feedback.visibility = FeedbackVisibility::Staff;
        assert!(!feedback.visible_to_students());
        assert!(feedback.editable_by(&Viewer::Admin).is_ok());
        assert!(feedback.editable_by(&Viewer::Teacher(UserId::new("ada"))).is_ok());
        assert!(feedback.editable_by(&Viewer::Teacher(UserId::new("tom"))).is_err());
    }

    #[test]
    fn feedback_has_exactly_one_subject() {
        let link = || Some(GroupAssignmentId::new("ga"));
        let submission = || Some(SubmissionId::new("s"));
        assert!(FeedbackTarget::one_of(link(), None, None).is_ok());
        assert!(FeedbackTarget::one_of(None, submission(), None).is_ok());
        assert!(FeedbackTarget::one_of(link(), submission(), None).is_err());
        assert!(FeedbackTarget::one_of(None, None, None).is_err());
    }
}
