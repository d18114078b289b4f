//! Audience of a response or an event. Fields reserved for staff are absent, not null, for all other audiences. This is
//! decided only here and in the constructors of the views.

use api_macros::view;
use domain::access::Viewer;
use domain::id::UserId;
use serde::{Serialize, Serializer};

/// The recipients of a response or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Teachers of the class and admins.
    Staff,
    /// A single student of the group, who sees only their own individual grade.
    Student(UserId),
    /// All students of a group, as recipients of an event.
    Group,
}

impl Audience {
    /// Returns the audience of a response to this viewer, who must have full access to the object.
    pub fn of(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin | Viewer::Teacher(_) => Self::Staff,
            Viewer::Student(student) => Self::Student(student.clone()),
        }
    }

    pub fn is_staff(&self) -> bool {
        *self == Self::Staff
    }

    /// Returns a field that is only present for staff.
    pub fn staff_only<T>(&self, field: T) -> StaffOnly<T> {
        StaffOnly(self.is_staff().then_some(field))
    }
}

/// Value of `view` for an object with all details.
#[view(Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FullTag {
    Full,
}

/// Value of `view` for an object with its own fields, but without lists of related objects.
#[view(Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SummaryTag {
    Summary,
}

/// Value of `view` for the outline of an object.
#[view(Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OutlineTag {
    Outline,
}

/// A field that is present for staff only. `#[view]` skips it if it is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffOnly<T>(Option<T>);

impl<T> StaffOnly<T> {
    /// Returns a field that is absent for every audience.
    pub const fn absent() -> Self {
        Self(None)
    }

    pub const fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for StaffOnly<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
