//! The three states of a field in a PATCH request: absent keeps the value, null clears it, and a value sets it. The
//! attributes of `api_macros` give each field its own `#[serde(default)]` (one for the whole struct would appear as
//! `"default": null` in the OpenAPI document). This module does not depend on the meaning of the fields.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::text::Text;

/// A field of a PATCH request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldPatch<T> {
    /// The field was absent: keep the value.
    #[default]
    Unchanged,
    /// The field was null: clear the value if the field is nullable.
    Null,
    Value(T),
}

/// Null was sent for a field that is not nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must not be null")]
pub struct NullNotAllowed {
    /// Name of the JSON field.
    pub field: &'static str,
}

impl<T> FieldPatch<T> {
    pub const fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged)
    }

    /// Writes a nullable field and returns whether its value changed.
    pub fn apply(self, target: &mut Option<T>) -> bool
    where
        T: PartialEq,
    {
        let wanted = match self {
            Self::Unchanged => return false,
            Self::Null => None,
            Self::Value(value) => Some(value),
        };
        let changed = *target != wanted;
        *target = wanted;
        changed
    }

    /// Writes a field that is not nullable and returns whether its value changed. Rejects null.
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

    /// Returns the new value of a field that is not nullable, or `None` if the field was absent. Rejects null.
    pub fn required(self, field: &'static str) -> Result<Option<T>, NullNotAllowed> {
        match self {
            Self::Unchanged => Ok(None),
            Self::Null => Err(NullNotAllowed { field }),
            Self::Value(value) => Ok(Some(value)),
        }
    }

    /// Returns the value of the field after the edit.
    pub fn resolve(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Unchanged => current,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unchanged | Self::Null => None,
        }
    }

    /// Converts the value, if there is one.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> FieldPatch<U> {
        match self {
            Self::Unchanged => FieldPatch::Unchanged,
            Self::Null => FieldPatch::Null,
            Self::Value(value) => FieldPatch::Value(convert(value)),
        }
    }
}

/// The fields that an edit changed, with their old and new values. Events list the names; the activity log keeps both
/// values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldDiff(Vec<FieldChange>);

/// One field whose value changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Name of the JSON field.
    pub field: &'static str,
    pub from: Value,
    pub to: Value,
}

impl FieldDiff {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Writes a value and records the change if it differs.
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

    /// Records the change of a field whose values are too large to keep by what summarizes them.
    pub fn summarize<T: Serialize>(&mut self, field: &'static str, from: T, to: T) {
        self.0.push(FieldChange {
            field,
            from: json(&from),
            to: json(&to),
        });
    }

    /// Applies an edit to a field that is not nullable. Rejects null.
    pub fn edit<T: PartialEq + Serialize>(
        &mut self,
        field: &'static str,
        target: &mut T,
        edit: FieldPatch<T>,
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
        edit: FieldPatch<T>,
    ) {
        match edit {
            FieldPatch::Unchanged => {}
            FieldPatch::Null => self.write(field, target, None),
            FieldPatch::Value(value) => self.write(field, target, Some(value)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|change| change.field == field)
    }

    /// Iterates over the changes in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = &FieldChange> {
        self.0.iter()
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|change| change.field).collect()
    }

    /// Returns the old values as a JSON object.
    pub fn before(&self) -> Value {
        self.0
            .iter()
            .map(|change| (change.field.to_owned(), change.from.clone()))
            .collect()
    }

    /// Returns the new values as a JSON object.
    pub fn after(&self) -> Value {
        self.0
            .iter()
            .map(|change| (change.field.to_owned(), change.to.clone()))
            .collect()
    }

    /// Appends changes recorded elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("fields are strings, numbers, times and lists of them, which always serialize")
}

impl<T: Text> FieldPatch<T> {
    /// Turns a text that is empty after trimming into [`FieldPatch::Null`].
    #[must_use]
    pub fn null_if_empty(self) -> Self {
        match self {
            Self::Value(text) if text.as_str().is_empty() => Self::Null,
            other => other,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FieldPatch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

impl<T: Serialize> Serialize for FieldPatch<T> {
    /// Serializes an edit as it is read. Requires `skip_serializing_if = "FieldPatch::is_unchanged"`, because an absent field
    /// cannot be expressed here.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// For `#[serde(default, deserialize_with = "domain::patch::optional_text")]`: both null and an empty text clear the
/// field.
pub fn optional_text<'de, D, T>(deserializer: D) -> Result<FieldPatch<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    FieldPatch::<T>::deserialize(deserializer).map(FieldPatch::null_if_empty)
}

/// Like [`optional_text`], for a label that may also be sent as a number.
pub fn optional_label<'de, D, T>(deserializer: D) -> Result<FieldPatch<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    Ok(crate::text::optional_label(deserializer)?.map_or(FieldPatch::Null, FieldPatch::Value))
}

/// For `#[garde(dive, custom(domain::patch::not_null))]` on fields that are not nullable.
pub fn not_null<T>(edit: &FieldPatch<T>, (): &()) -> garde::Result {
    match edit {
        FieldPatch::Null => Err(garde::Error::new("must not be null")),
        FieldPatch::Unchanged | FieldPatch::Value(_) => Ok(()),
    }
}

impl<T: garde::Validate> garde::Validate for FieldPatch<T> {
    type Context = T::Context;

    fn validate_into(
        &self,
        context: &Self::Context,
        parent: &mut dyn FnMut() -> garde::Path,
        report: &mut garde::Report,
    ) {
        if let Self::Value(value) = self {
            value.validate_into(context, parent, report);
        }
    }
}

// The OpenAPI document shows an edit like an optional field. utoipa has no public trait for the schema of a generic type:
// its macro implements this one.
impl<T: utoipa::__dev::ComposeSchema> utoipa::__dev::ComposeSchema for FieldPatch<T> {
    fn compose(generics: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        <Option<T> as utoipa::__dev::ComposeSchema>::compose(generics)
    }
}

impl<T: utoipa::ToSchema + utoipa::__dev::ComposeSchema> utoipa::ToSchema for FieldPatch<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Edit")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
