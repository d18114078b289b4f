//! Typed ids: one newtype per entity, so that a course id cannot be used as a group id. Ids are generated elsewhere
//! (the model has no clock and no randomness) and are not validated: a malformed id matches no object. Clones share the
//! same string, because an id is copied from row to entity to response to event.

use std::sync::Arc;

/// Defines typed ids: string newtypes that are serialized as plain strings.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
        #[schema(value_type = String)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Accepts any text. An id that was never issued leads to "not found", not to a validation error.
            pub fn new(text: impl AsRef<str>) -> Self {
                let text = text.as_ref();
                // NUL is valid in JSON and in URLs, but PostgreSQL rejects it in text parameters.
                Self(if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() })
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0.as_ref().to_owned()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::new)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        crate::valid_when_parsed!($name);
        crate::stored::stored!($name as Text: |id| id.as_str(), |text| Some(Self::new(text)), Self::new(""));
    )+};
}

ids! {
    /// Id of a user account.
    UserId
    /// Id of an organization, the tenant.
    OrganizationId
    /// Id of a membership of a user in an organization.
    MemberId
    /// Id of an invitation of an email address to an organization.
    InvitationId
    /// Id of a sign-in session.
    SessionId
    /// Id of a picture that was added to a document.
    ImageId
    /// Id of a thread of comments on a document.
    CommentThreadId
    /// Id of a comment in a thread.
    CommentId
    /// Id of a homeroom.
    HomeroomId
    /// Id of a subject.
    SubjectId
    /// Id of a class.
    ClassId
    /// Id of an enrolment of a student in a class or a homeroom.
    EnrollmentId
    /// Id of a course.
    CourseId
    /// Id of a group.
    GroupId
    /// Id of a membership of a student in a group.
    GroupMemberId
    /// Id of an assignment (topic).
    AssignmentId
    /// Id of the link of one group to one assignment.
    GroupAssignmentId
    /// Id of a submission (one attempt).
    SubmissionId
    /// Id of the frozen copy of a document in a submission.
    SubmissionDocumentId
    /// Id of a feedback.
    FeedbackId
    /// Id of a file attached to an assignment, a group or a message.
    AttachmentId
    /// Id of a work room.
    WorkRoomId
    /// Id of a mail domain of an organization.
    MailDomainId
    /// Id of an API token of an organization.
    ApiTokenId
    /// Id of a passkey of an account.
    PasskeyId
    /// Id of a sign-on provider of an organization.
    SignOnProviderId
    /// Id of a roster source of an organization.
    RosterSourceId
    /// Id of a run of a roster source.
    RosterRunId
    /// Id of an identity at a sign-on provider.
    ExternalIdentityId
    /// Id of a room message, a direct message or an announcement.
    MessageId
    /// Id of a document in a work room.
    DocumentId
    /// Id of one immutable revision of a document.
    RevisionId
    /// Id of a text that was saved after its document was deleted.
    LateTextId
    DeletionId
    /// Id of an uploaded file while it is converted.
    ConversionSourceId
    /// Id of a text snippet of a user.
    SnippetId
    /// Id of a rubric.
    RubricId
    /// Id of a criterion of a rubric.
    RubricCriterionId
    /// Id of a level of a criterion.
    RubricLevelId
    /// Id of a record of the activity log.
    LogId
    /// Id of a real-time event.
    EventId
    /// Id of a background job.
    JobId
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn ids_are_written_as_plain_text() {
        let id = CourseId::new("0190a1b2-0000-7000-8000-000000000001");
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, "\"0190a1b2-0000-7000-8000-000000000001\"");
        assert_eq!(serde_json::from_str::<CourseId>(&json).unwrap(), id);
    }

    #[test]
    fn id_with_nul_is_never_a_valid_id() {
        let id: GroupId = serde_json::from_str(r#""a\u0000b""#).unwrap();
        assert_eq!(id.as_str(), "a\u{fffd}b");
    }

    #[test]
    fn malformed_id_is_accepted_and_unknown() {
        assert_eq!(GroupId::new("no such thing").as_str(), "no such thing");
    }
}
