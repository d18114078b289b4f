//! Roster sources and their runs in responses.

use api_macros::view;
use domain::id::{RosterRunId, RosterSourceId};
use domain::roster::RosterProtocol;
use domain::roster_source::{
    RosterCounts, RosterEffect, RosterEntry, RosterObject, RosterRoles, RosterRun, RosterRunKind, RosterRunState,
    RosterSource,
};
use domain::text::Name;
use domain::time::Timestamp;
use domain::user::Person;

/// A roster source, without its client secret.
#[view]
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
    next_run_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

view_from!(source: RosterSource => RosterSourceView {
    id, name, protocol, url, token_url, client_id, scope, school_id, roles, ends_absent, leave_percent,
    is_nightly, nightly_hour, next_run_at, created_at, updated_at,
});

/// What a roster server delivers, read from it now.
#[view]
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
#[view]
pub struct RosterRunView {
    id: RosterRunId,
    kind: RosterRunKind,
    state: RosterRunState,
    /// The difference; once the run is done, what it has done.
    counts: RosterCounts,
    /// Why the run failed: a stable code.
    error_code: Option<String>,
    /// Why the run failed: a sentence.
    error: Option<String>,
    /// Identifies the difference, for its confirmation. Null if the roster was not compared.
    difference: Option<String>,
    /// The administrator who started the run; null for nightly runs.
    started_by: Option<Person>,
    confirmed_by: Option<Person>,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
}

view_from!(run: RosterRun => RosterRunView {
    id, kind, state, counts, error_code, difference, started_by, confirmed_by, created_at, started_at,
    finished_at,
    error: run.error_text,
});

/// A person or class of the difference of a run.
#[view]
pub struct RosterRunEntryView {
    effect: RosterEffect,
    object: RosterObject,
    /// The id in the roster; empty for a row without one.
    external_id: String,
    name: String,
    /// Why the row was rejected.
    problem: Option<String>,
}

view_from!(entry: RosterEntry => RosterRunEntryView { effect, object, external_id, name, problem });
