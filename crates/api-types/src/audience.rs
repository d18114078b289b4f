//! For whom an answer or an event is made. Fields for the staff are absent, never null, for everybody else; that decision
//! is taken here and in the constructors of the views, nowhere further up.

use model::access::Viewer;
use model::id::UserId;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// Who reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Teachers of the class and admins.
    Staff,
    /// One student of the group; of the grades of single members only the own is shown.
    Student(UserId),
    /// All students of a group at once, as an event reaches them.
    Group,
}

impl Audience {
    /// The audience of an answer to this viewer, who may see the inside of the object.
    pub fn of(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin | Viewer::Teacher(_) => Self::Staff,
            Viewer::Student(student) => Self::Student(student.clone()),
        }
    }

    /// Whether staff fields are shown.
    pub fn is_staff(&self) -> bool {
        *self == Self::Staff
    }

    /// A field that only the staff see.
    pub fn staff_only<T>(&self, field: T) -> StaffOnly<T> {
        StaffOnly(self.is_staff().then_some(field))
    }
}

/// The tag of an object that the caller sees in full.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FullTag {
    /// The whole object.
    Full,
}

/// The tag of an object of which the caller sees the fields of its own, without lists.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SummaryTag {
    /// The fields of the object.
    Summary,
}

/// The tag of an object of which the caller sees an outline.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OutlineTag {
    /// A few fields.
    Outline,
}

/// A field that only the staff see; mark it `#[serde(skip_serializing_if = "StaffOnly::is_absent")]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffOnly<T>(Option<T>);

impl<T> StaffOnly<T> {
    /// Absent for everybody.
    pub const fn absent() -> Self {
        Self(None)
    }

    /// Whether the reader is not to see it.
    pub const fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for StaffOnly<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
