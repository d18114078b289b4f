//! The three values of a field in a PATCH: absent keeps, null clears, a value sets.
//! Fields are declared as `#[serde(default)] field: Edit<T>`, each with its own `default` (one for the whole struct would show
//! up as `"default": null` in the document); this module never knows what the field means.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::text::Text;

/// What a PATCH says about one field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edit<T> {
    /// The field was absent: leave it as it is.
    #[default]
    Keep,
    /// The field was null: make it empty, if it may be empty.
    Clear,
    /// The field had a value.
    Set(T),
}

/// Null was sent for a field that always has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must not be null")]
pub struct NullNotAllowed {
    /// The name of the field on the wire.
    pub field: &'static str,
}

impl<T> Edit<T> {
    /// Whether the field was absent.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Writes a nullable field and tells whether its value changed.
    pub fn apply(self, target: &mut Option<T>) -> bool
    where
        T: PartialEq,
    {
        let wanted = match self {
            Self::Keep => return false,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        };
        let changed = *target != wanted;
        *target = wanted;
        changed
    }

    /// Writes a field that always has a value and tells whether it changed; null is refused.
    pub fn apply_required(self, field: &'static str, target: &mut T) -> Result<bool, NullNotAllowed>
    where
        T: PartialEq,
    {
        let Some(wanted) = self.required(field)? else {
            return Ok(false);
        };
        let changed = *target != wanted;
        *target = wanted;
        Ok(changed)
    }

    /// The new value of a field that always has one, or nothing when it stays; null is refused.
    pub fn required(self, field: &'static str) -> Result<Option<T>, NullNotAllowed> {
        match self {
            Self::Keep => Ok(None),
            Self::Clear => Err(NullNotAllowed { field }),
            Self::Set(value) => Ok(Some(value)),
        }
    }

    /// The value the field will have, given the one it has.
    pub fn resolve(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The value that was sent, if any.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }

    /// The same edit of another type.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Edit<U> {
        match self {
            Self::Keep => Edit::Keep,
            Self::Clear => Edit::Clear,
            Self::Set(value) => Edit::Set(convert(value)),
        }
    }
}

/// What an edit really changed, field by field: events name the fields, the log keeps both values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed(Vec<FieldChange>);

/// One field that got another value.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The name of the field on the wire.
    pub field: &'static str,
    /// The value it had.
    pub from: Value,
    /// The value it has now.
    pub to: Value,
}

impl Changed {
    /// Nothing changed so far.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Writes a value and remembers the difference, if there is one.
    pub fn write<T: PartialEq + Serialize>(&mut self, field: &'static str, target: &mut T, value: T) {
        if *target != value {
            let from = std::mem::replace(target, value);
            self.0.push(FieldChange {
                field,
                from: json(&from),
                to: json(&*target),
            });
        }
    }

    /// Applies an edit to a field that always has a value; null is refused.
    pub fn edit<T: PartialEq + Serialize>(
        &mut self,
        field: &'static str,
        target: &mut T,
        edit: Edit<T>,
    ) -> Result<(), NullNotAllowed> {
        if let Some(value) = edit.required(field)? {
            self.write(field, target, value);
        }
        Ok(())
    }

    /// Applies an edit to a nullable field.
    pub fn edit_nullable<T: PartialEq + Serialize>(
        &mut self,
        field: &'static str,
        target: &mut Option<T>,
        edit: Edit<T>,
    ) {
        match edit {
            Edit::Keep => {}
            Edit::Clear => self.write(field, target, None),
            Edit::Set(value) => self.write(field, target, Some(value)),
        }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this field changed.
    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|change| change.field == field)
    }

    /// The differences, in the order of writing.
    pub fn iter(&self) -> impl Iterator<Item = &FieldChange> {
        self.0.iter()
    }

    /// The names of the changed fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|change| change.field).collect()
    }

    /// The old values as one object.
    pub fn before(&self) -> Value {
        self.0
            .iter()
            .map(|change| (change.field.to_owned(), change.from.clone()))
            .collect()
    }

    /// The new values as one object.
    pub fn after(&self) -> Value {
        self.0
            .iter()
            .map(|change| (change.field.to_owned(), change.to.clone()))
            .collect()
    }

    /// Adds what changed elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value)
        .expect("fields of nouns are texts, numbers, times and lists of them, which JSON can always say")
}

impl<T: Text> Edit<T> {
    /// An optional text that is empty after trimming clears the field.
    #[must_use]
    pub fn clear_if_empty(self) -> Self {
        match self {
            Self::Set(text) if text.as_str().is_empty() => Self::Clear,
            other => other,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Edit<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: Serialize> Serialize for Edit<T> {
    /// Writes an edit as it is read; add `skip_serializing_if = "Edit::is_keep"`, for an absent field cannot be written here.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// For `#[serde(default, deserialize_with = "model::edit::optional_text")]`: null and empty both clear.
pub fn optional_text<'de, D, T>(deserializer: D) -> Result<Edit<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    Edit::<T>::deserialize(deserializer).map(Edit::clear_if_empty)
}

/// The same for a label that may be written as a number.
pub fn optional_label<'de, D, T>(deserializer: D) -> Result<Edit<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    Ok(crate::text::optional_label(deserializer)?.map_or(Edit::Clear, Edit::Set))
}

/// For `#[garde(dive, custom(model::edit::not_null))]` on fields that always have a value.
pub fn not_null<T>(edit: &Edit<T>, (): &()) -> garde::Result {
    match edit {
        Edit::Clear => Err(garde::Error::new("must not be null")),
        Edit::Keep | Edit::Set(_) => Ok(()),
    }
}

impl<T: garde::Validate> garde::Validate for Edit<T> {
    type Context = T::Context;

    fn validate_into(
        &self,
        context: &Self::Context,
        parent: &mut dyn FnMut() -> garde::Path,
        report: &mut garde::Report,
    ) {
        if let Self::Set(value) = self {
            value.validate_into(context, parent, report);
        }
    }
}

// The document shows an edit exactly as it shows an optional field; utoipa composes generic schemas through this trait.
impl<T: utoipa::__dev::ComposeSchema> utoipa::__dev::ComposeSchema for Edit<T> {
    fn compose(generics: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        <Option<T> as utoipa::__dev::ComposeSchema>::compose(generics)
    }
}

impl<T: utoipa::ToSchema + utoipa::__dev::ComposeSchema> utoipa::ToSchema for Edit<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Edit")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
