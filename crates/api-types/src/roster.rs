//! Roster sources and their runs in responses.

use domain::from_fields;
use domain::id::{RosterRunId, RosterSourceId};
use domain::roster::RosterProtocol;
use domain::roster_source::{
    RosterCounts, RosterEffect, RosterEntry, RosterObject, RosterRoles, RosterRun, RosterRunKind, RosterRunState,
    RosterSource,
};
use domain::text::Name;
use domain::time::Timestamp;
use domain::user::Person;
use serde::Serialize;
use utoipa::ToSchema;

/// A roster source, without its client secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RosterSource)]
pub struct RosterSourceView {
    id: RosterSourceId,
    name: Name,
    protocol: RosterProtocol,
    url: String,
    token_url: String,
    client_id: String,
    /// Empty for the scopes of the protocol.
    scope: String,
    /// The id of the school at the server; empty if the server has one school only.
    school_id: String,
    roles: RosterRoles,
    ends_absent: bool,
    leave_percent: i64,
    is_nightly: bool,
    nightly_hour: i64,
    /// When the next nightly run starts.
    #[schema(required)]
    next_run_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<RosterSource> for RosterSourceView {
    fn from(source: RosterSource) -> Self {
        from_fields!(source => Self {
            id, name, protocol, url, token_url, client_id, scope, school_id, roles, ends_absent, leave_percent,
            is_nightly, nightly_hour, next_run_at, created_at, updated_at,
        })
    }
}

/// What a roster server delivers, read from it now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RosterTest)]
pub struct RosterTestView {
    /// Active students and teachers.
    pub people: i64,
    /// Active classes and homerooms.
    pub classes: i64,
    pub enrollments: i64,
    /// Records that cannot be used.
    pub omitted: i64,
}

/// A run of a roster source.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RosterRun)]
pub struct RosterRunView {
    id: RosterRunId,
    kind: RosterRunKind,
    state: RosterRunState,
    /// The difference; once the run is done, what it has done.
    counts: RosterCounts,
    /// Why the run failed: a stable code.
    #[schema(required)]
    error_code: Option<String>,
    /// Why the run failed: a sentence.
    #[schema(required)]
    error: Option<String>,
    /// Identifies the difference, for its confirmation. Null if the roster was not compared.
    #[schema(required)]
    difference: Option<String>,
    /// The administrator who started the run; null for nightly runs.
    #[schema(required)]
    started_by: Option<Person>,
    #[schema(required)]
    confirmed_by: Option<Person>,
    created_at: Timestamp,
    #[schema(required)]
    started_at: Option<Timestamp>,
    #[schema(required)]
    finished_at: Option<Timestamp>,
}

impl From<RosterRun> for RosterRunView {
    fn from(run: RosterRun) -> Self {
        from_fields!(run => Self {
            id, kind, state, counts, error_code, difference, started_by, confirmed_by, created_at, started_at,
            finished_at,
            error: run.error_text,
        })
    }
}

/// A person or class of the difference of a run.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RosterRunEntry)]
pub struct RosterRunEntryView {
    effect: RosterEffect,
    object: RosterObject,
    /// The id in the roster; empty for a row without one.
    external_id: String,
    name: String,
    /// Why the row was rejected.
    #[schema(required)]
    problem: Option<String>,
}

impl From<RosterEntry> for RosterRunEntryView {
    fn from(entry: RosterEntry) -> Self {
        from_fields!(entry => Self { effect, object, external_id, name, problem })
    }
}
