//! Versions of objects: what `ETag` and `If-Match` carry, so that a change made elsewhere is not overwritten.

use std::fmt;

use crate::id::{
    AssignmentId, ClassId, CourseId, DocumentId, FeedbackId, GroupId, HomeroomId, SubjectId, SubmissionId, UserId,
};

/// How often the content of an object was changed, beginning with 1. Calls for help, chats, presence and read markers are
/// no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(i64);

impl Version {
    /// The version of an object that was created and not changed since.
    pub const FIRST: Self = Self(1);

    /// A version as it is stored.
    pub const fn stored(number: i64) -> Self {
        Self(number)
    }
}

impl fmt::Display for Version {
    /// Writes the entity tag: the number in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// An object that has a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// The organization of the request.
    Organization,
    /// A person with the membership in the organization of the request.
    User(UserId),
    /// A subject.
    Subject(SubjectId),
    /// A homeroom.
    Homeroom(HomeroomId),
    /// A class.
    Class(ClassId),
    /// A course.
    Course(CourseId),
    /// A group with its members and its files.
    Group(GroupId),
    /// A topic with its files and the groups on it.
    Assignment(AssignmentId),
    /// A document; its version does not count what is typed in it.
    Document(DocumentId),
    /// A submission with its grade.
    Submission(SubmissionId),
    /// A feedback.
    Feedback(FeedbackId),
}

macro_rules! objects {
    ($($variant:ident($id:ident))+) => {$(
        impl From<&$id> for Object {
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

/// The precondition `If-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version of an object that exists.
    Any,
    /// Entity tags in quotes; one of them has to be the current one.
    OneOf(Vec<String>),
}

impl IfMatch {
    /// Parses the value of the header (RFC 9110, 13.1.1). `W/` before a tag is ignored: proxies that compress add it.
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

    /// Whether an object of this version may be changed.
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
