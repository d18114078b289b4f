//! Versions of objects, sent in `ETag` and `If-Match` to prevent lost updates.

use std::fmt;

use crate::id::{
    AssignmentId, ClassId, CourseId, DocumentId, FeedbackId, GroupId, HomeroomId, SubjectId, SubmissionId, UserId,
};

/// Number of changes of the content of an object, beginning with 1. Help requests, chats, presence and read markers do
/// not count as content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(i64);

impl Version {
    /// Version of a newly created object.
    pub const FIRST: Self = Self(1);

    /// Wraps a version from the database.
    pub const fn stored(number: i64) -> Self {
        Self(number)
    }
}

impl fmt::Display for Version {
    /// Formats the entity tag: the number in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// An object that has a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionedObject {
    /// The organization of the request.
    Organization,
    /// A user together with the membership in the organization of the request.
    User(UserId),
    Subject(SubjectId),
    Homeroom(HomeroomId),
    Class(ClassId),
    Course(CourseId),
    /// A group with its members and attachments.
    Group(GroupId),
    /// A topic with its attachments and group links.
    Assignment(AssignmentId),
    /// A document; edits of its content do not change the version.
    Document(DocumentId),
    /// A submission with its grade.
    Submission(SubmissionId),
    Feedback(FeedbackId),
}

macro_rules! objects {
    ($($variant:ident($id:ident))+) => {$(
        impl From<&$id> for VersionedObject {
            fn from(id: &$id) -> Self {
                Self::$variant(id.clone())
            }
        }
    )+};
}

objects! {
    User(UserId)
    Subject(SubjectId)
    Homeroom(HomeroomId)
    Class(ClassId)
    Course(CourseId)
    Group(GroupId)
    Assignment(AssignmentId)
    Document(DocumentId)
    Submission(SubmissionId)
    Feedback(FeedbackId)
}

/// The `If-Match` precondition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version of an existing object.
    Any,
    /// Entity tags in quotes; one of them has to be the current one.
    OneOf(Vec<String>),
}

impl IfMatch {
    /// Parses the value of the header (RFC 9110, section 13.1.1). `W/` before a tag is ignored, because compressing
    /// proxies add it.
    pub fn parse(text: &str) -> Option<Self> {
        if text.trim() == "*" {
            return Some(Self::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text.trim();
        loop {
            let quoted = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
            let (tag, after) = quoted.split_once('"')?;
            tags.push(format!("\"{tag}\""));
            let after = after.trim_start();
            if after.is_empty() {
                return Some(Self::OneOf(tags));
            }
            rest = after.strip_prefix(',')?.trim_start();
        }
    }

    /// Returns whether an object of this version satisfies the precondition.
    pub fn is_met_by(&self, version: Version) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(tags) => tags.contains(&version.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_accepts_current_tag_weak_tag_list_and_star() {
        let seven = Version::stored(7);
        for text in [
            "\"7\"",
            "W/\"7\"",
            " \"7\" ",
            "\"6\", W/\"7\"",
            "\"7\",\"8\"",
            "*",
            " * ",
        ] {
            let condition = IfMatch::parse(text);
            assert!(condition.is_some_and(|condition| condition.is_met_by(seven)), "{text}");
        }
        for text in ["\"6\"", "\"77\"", "\"\"", "W/\"8\", \"9\"", "\"a,b\""] {
            let condition = IfMatch::parse(text);
            assert!(condition.is_some_and(|condition| !condition.is_met_by(seven)), "{text}");
        }
    }

    #[test]
    fn if_match_without_quotes_is_no_entity_tag() {
        for text in ["", "7", "\"7", "7\"", "\"7\" \"8\"", "\"7\",", "*, \"7\"", "w/\"7\""] {
            assert_eq!(IfMatch::parse(text), None, "{text}");
        }
    }

    #[test]
    fn first_version_is_one() {
        assert_eq!(Version::FIRST.to_string(), "\"1\"");
    }
}
