//! The `dryRun` query parameter. Routes that delete, finish, move, copy or import can preview their effects; every other
//! route rejects the parameter, so that an intended preview never acts. See docs/api-contract.md#dry-runs.

use api_macros::query;
use axum::http::{Method, Uri};
use serde::{Deserialize, Deserializer};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use common::error::{Error, Result};

const NAME: &str = "dryRun";

/// Whether a request is a dry run. An empty value, no value, `1` and `true` mean yes; `0` and `false` mean no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DryRun(bool);

domain::valid_when_parsed!(DryRun);

impl DryRun {
    /// Whether nothing may be written.
    pub const fn is_on(self) -> bool {
        self.0
    }

    /// Combines the switch with that of a body, which some routes have as well.
    #[must_use]
    pub const fn or(self, is_on: bool) -> Self {
        Self(self.0 || is_on)
    }

    fn parse(value: &str) -> Option<Self> {
        match value {
            "" | "1" | "true" => Some(Self(true)),
            "0" | "false" => Some(Self(false)),
            _ => None,
        }
    }

    /// The dry run of a query. Invalid values are rejected where the query is validated.
    pub fn of(uri: &Uri) -> Self {
        let mut values = pairs(uri).filter(|(key, _)| key == NAME);
        let value = values.next().and_then(|(_, value)| Self::parse(&value));
        value.unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for DryRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = String::deserialize(deserializer)?;
        Self::parse(&value).ok_or_else(|| serde::de::Error::custom("must be 1 or 0"))
    }
}

impl PartialSchema for DryRun {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(["1", "0", "true", "false", ""]))
            .description(Some("1, true and an empty value are yes, 0 and false are no."))
            .into()
    }
}

impl ToSchema for DryRun {}

/// The query of a route whose only parameter is `dryRun`.
#[query(Debug, Clone, Copy)]
pub struct DryRunQuery {
    /// Preview the effects. The response is that of the action; nothing is changed, logged or emitted.
    pub dry_run: DryRun,
}

/// The methods of a path that document `dryRun`.
#[derive(Debug, Clone, Copy, Default)]
pub struct DryRunMethods([Option<&'static str>; 5]);

impl DryRunMethods {
    /// Adds a method if its operation documents the parameter.
    pub fn add(&mut self, method: &'static str, operation: &Operation) {
        let is_dry_run = |parameter: &RefOr<utoipa::openapi::path::Parameter>| {
            matches!(parameter, RefOr::T(parameter)
                if parameter.name == NAME && parameter.parameter_in == ParameterIn::Query)
        };
        if operation.parameters.iter().flatten().any(is_dry_run)
            && let Some(free) = self.0.iter_mut().find(|slot| slot.is_none())
        {
            *free = Some(method);
        }
    }

    /// Rejects `dryRun` on a route that does not support it, and misspellings of the name.
    pub fn check(&self, method: &Method, uri: &Uri) -> Result<()> {
        let has_dry_run = self.0.contains(&Some(method.as_str()));
        for (key, _) in pairs(uri).filter(|(key, _)| is_like_dry_run(key)) {
            if key != NAME {
                return Err(Error::invalid(&*key, "unknown", "is written dryRun"));
            }
            if !has_dry_run {
                return Err(Error::invalid(NAME, "unknown", "this route has no dry run"));
            }
        }
        Ok(())
    }
}

fn pairs(uri: &Uri) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

fn is_like_dry_run(key: &str) -> bool {
    let characters = key.chars().filter(|character| !matches!(character, '-' | '_'));
    characters
        .map(|character| character.to_ascii_lowercase())
        .eq("dryrun".chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> bool {
        let uri = Uri::builder().path_and_query(format!("/x?{query}")).build();
        DryRun::of(&uri.unwrap_or_default()).is_on()
    }

    #[test]
    fn dry_run_without_value_is_on() {
        for query in ["dryRun", "dryRun=", "dryRun=1", "a=b&dryRun=true", "dry%52un=1"] {
            assert!(of(query), "{query}");
        }
        for query in ["", "dryRun=0", "dryRun=false", "a=dryRun"] {
            assert!(!of(query), "{query}");
        }
    }

    #[test]
    fn dry_run_in_another_spelling_is_recognized() {
        for key in ["dryRun", "dryrun", "dry_run", "dry-run", "DRYRUN"] {
            assert!(is_like_dry_run(key), "{key}");
        }
        assert!(!is_like_dry_run("dry"));
    }
}
