//! Feedback: what teachers write about a group's work, for the group or among themselves.

use serde::Deserialize;

use crate::access::Viewer;
use crate::edit::{Changed, Edit, not_null};
use crate::id::{DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};
use crate::refusal::Refusal;
use crate::text::FeedbackText;
use crate::time::Timestamp;
use crate::user::Person;
use crate::word::words;

words! {
    /// Who may read a feedback.
    FeedbackVisibility {
        /// The group and the staff.
        Group = "GROUP",
        /// The staff only.
        Staff = "STAFF",
    }
}

/// A feedback on the work of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Its id.
    pub id: FeedbackId,
    /// The work it is about.
    pub group_assignment_id: GroupAssignmentId,
    /// The attempt it is about.
    pub submission_id: Option<SubmissionId>,
    /// The document it is about.
    pub document_id: Option<DocumentId>,
    /// Who wrote it.
    pub author: Person,
    /// What it says.
    pub text: FeedbackText,
    /// Who may read it.
    pub visibility: FeedbackVisibility,
    /// When it was published; none while the author still holds it back.
    pub published_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a feedback is about; a request names exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The work of a group on a topic.
    GroupAssignment(GroupAssignmentId),
    /// One attempt.
    Submission(SubmissionId),
    /// One document.
    Document(DocumentId),
}

impl About {
    /// Reads the three fields of a request, of which exactly one is set.
    pub fn one_of(
        link: Option<GroupAssignmentId>,
        submission: Option<SubmissionId>,
        document: Option<DocumentId>,
    ) -> Result<Self, Refusal> {
        match (link, submission, document) {
            (Some(link), None, None) => Ok(Self::GroupAssignment(link)),
            (None, Some(submission), None) => Ok(Self::Submission(submission)),
            (None, None, Some(document)) => Ok(Self::Document(document)),
            _ => Err(Refusal::Invalid {
                path: "groupAssignmentId",
                code: "exactly_one",
                message: "or submissionId or documentId must be given, and only one of them",
            }),
        }
    }
}

/// What a PATCH on a feedback may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackEdit {
    /// What it says.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub text: Edit<FeedbackText>,
    /// Who may read it.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub visibility: Edit<FeedbackVisibility>,
    /// True publishes what was held back, false holds it back again.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub publish: Edit<bool>,
}

impl Feedback {
    /// Its author and the admins change it; colleagues of the class read it.
    pub fn editable_by(&self, viewer: &Viewer) -> Result<(), Refusal> {
        if *viewer == Viewer::Admin || viewer.user_text() == self.author.id.as_str() {
            Ok(())
        } else {
            Err(Refusal::NotAuthor)
        }
    }

    /// Applies a PATCH and tells what changed.
    pub fn edit(&mut self, edit: FeedbackEdit, now: Timestamp) -> Result<Changed, Refusal> {
        let mut changed = Changed::new();
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

    /// Whether the students of the group may read it.
    pub const fn visible_to_students(&self) -> bool {
        matches!(self.visibility, FeedbackVisibility::Group) && self.published_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    #[test]
    fn students_read_what_is_published_for_the_group() {
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
    fn a_feedback_is_about_exactly_one_thing() {
        let link = || Some(GroupAssignmentId::new("ga"));
        let submission = || Some(SubmissionId::new("s"));
        assert!(About::one_of(link(), None, None).is_ok());
        assert!(About::one_of(None, submission(), None).is_ok());
        assert!(About::one_of(link(), submission(), None).is_err());
        assert!(About::one_of(None, None, None).is_err());
    }
}
