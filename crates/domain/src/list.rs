//! Lists in request bodies: at most 500 entries without duplicates. Deserialization accepts any list;
//! [`garde::Validate`] rejects invalid ones.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

/// A list of distinct values, mostly ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct List<T>(pub Vec<T>);

/// Maximum number of entries of a list in a request body.
pub const MAX: usize = 500;

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// For `#[garde(dive, custom(domain::list::not_empty))]` on lists that must have an entry.
pub fn not_empty<T>(list: &List<T>, (): &()) -> garde::Result {
    if list.is_empty() {
        Err(garde::Error::new("must not be empty"))
    } else {
        Ok(())
    }
}

impl<T> std::ops::Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: Eq + Hash> garde::Validate for List<T> {
    type Context = ();

    fn validate_into(&self, (): &(), parent: &mut dyn FnMut() -> garde::Path, report: &mut garde::Report) {
        if self.0.len() > MAX {
            report.append(parent(), garde::Error::new(format!("must have at most {MAX} entries")));
        } else if self.0.iter().collect::<HashSet<_>>().len() < self.0.len() {
            report.append(parent(), garde::Error::new("must not name the same entry twice"));
        }
    }
}

impl<T: utoipa::__dev::ComposeSchema> utoipa::__dev::ComposeSchema for List<T> {
    fn compose(generics: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        let items = generics.into_iter().next().unwrap_or_else(|| T::compose(Vec::new()));
        ArrayBuilder::new()
            .schema_type(SchemaType::Type(Type::Array))
            .items(items)
            .max_items(Some(MAX))
            .unique_items(true)
            .into()
    }
}

impl<T: utoipa::ToSchema + utoipa::__dev::ComposeSchema> utoipa::ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("List")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use garde::Validate;
    use utoipa::PartialSchema;

    use super::*;
    use crate::id::UserId;

    #[test]
    fn long_lists_and_repeated_entries_are_refused() {
        let users = |count: usize| List((0..count).map(|n| UserId::new(n.to_string())).collect());
        assert!(users(500).validate().is_ok());
        assert!(users(501).validate().is_err());
        assert!(List(vec![1, 2, 1]).validate().is_err());
    }

    #[test]
    fn schema_contains_the_limit() {
        let schema = serde_json::json!(List::<UserId>::schema());
        assert_eq!(schema["maxItems"], 500);
        assert_eq!(schema["uniqueItems"], true);
        assert_eq!(schema["items"]["type"], "string");
    }
}
