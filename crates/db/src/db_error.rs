//! Maps database errors to errors of the API. Unique constraints decide races; the table below maps their violations to
//! error codes. PostgreSQL reports the name of the constraint, SQLite only the columns, so each key lists both.

use domain::error_code::ErrorCode;
use domain::from_fields;
use postgres::error::SqlState;

use super::server::{self, ConnectError};
use super::sql::Sql;
use common::error::Error;

/// A unique key that a request can violate.
struct UniqueKey {
    /// The name of the constraint (PostgreSQL).
    constraint: &'static str,
    /// The columns as SQLite lists them.
    columns: &'static str,
    code: ErrorCode,
    message: &'static str,
    path: &'static str,
}

/// `constraint, columns => code, path, message;`
macro_rules! unique_keys {
    ($($constraint:literal, $columns:literal => $code:ident, $path:literal, $message:literal;)+) => {
        const UNIQUE_KEYS: &[UniqueKey] = &[$(UniqueKey {
            constraint: $constraint,
            columns: $columns,
            code: ErrorCode::$code,
            message: $message,
            path: $path,
        }),+];
    };
}

unique_keys! {
    "courses_class_subject_name_key", "courses.class_id, courses.subject_id, courses.name"
        => DuplicateCourse, "name", "This class has a course of this name in this subject already.";
    "groups_class_number_key", "groups.class_id, groups.group_number"
        => DuplicateGroupNumber, "groupNumber", "This class has a group with this number already.";
    "group_assignments_assignment_group_key", "group_assignments.assignment_id, group_assignments.group_id"
        => DuplicateGroupAssignment, "groupId", "This group is on this topic already.";
    "users_email_key", "users.email"
        => DuplicateEmail, "email", "This address has an account already.";
    "users_home_user_name_key", "users.home_organization_id, users.user_name"
        => DuplicateUsername, "username", "Another person has this user name already.";
    "subjects_organization_name_key", "subjects.organization_id, subjects.name_key"
        => DuplicateSubject, "name", "A subject of this name exists already.";
    "classes_organization_external_id_key", "classes.organization_id, classes.external_id"
        => DuplicateExternalId, "externalId", "Another class has this id of the school's administration already.";
    "members_organization_external_id_key", "members.organization_id, members.external_id"
        => DuplicateExternalId, "externalId", "Another person has this id of the school's administration already.";
    "homerooms_organization_name_year_key", "homerooms.organization_id, homerooms.name, homerooms.academic_year"
        => DuplicateHomeroom, "name", "A homeroom of this name exists in this year already.";
    "homerooms_organization_name_without_year_key", "homerooms.organization_id, homerooms.name"
        => DuplicateHomeroom, "name", "A homeroom of this name without a year exists already.";
    "homerooms_organization_external_id_key", "homerooms.organization_id, homerooms.external_id"
        => DuplicateExternalId, "externalId", "Another homeroom has this id of the school's administration already.";
    "organizations_slug_key", "organizations.slug"
        => DuplicateSlug, "slug", "This short name is taken.";
    "organizations_custom_domain_key", "organizations.custom_domain"
        => DuplicateDomain, "customDomain", "This domain is taken.";
    "roster_runs_open_key", "roster_runs.source_id"
        => RosterRunOpen, "state", "The roster is being read already; wait until the run has ended.";
    "mail_domains_organization_domain_key", "mail_domains.organization_id, mail_domains.domain"
        => DuplicateMailDomain, "domain", "This domain was added already.";
    "mail_domains_dns_holder_key", "mail_domains.domain"
        => DomainHeld, "domain", "Another organization holds this domain. Ask those who run this installation to let both hold it.";
}

/// Maps a failed commit. A full disk becomes `NotReady`.
pub(super) fn from_commit(error: Error) -> Error {
    let Error::Internal(cause) = &error else { return error };
    let is_full = cause
        .chain()
        .any(|cause| match cause.downcast_ref::<rusqlite::Error>() {
            Some(failure) => failure.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            None => false,
        });
    tracing::error!(error = format!("{cause:?}"), "database commit failed");
    if is_full { Error::NotReady } else { error }
}

/// Maps a SQLite error.
pub(super) fn from_sqlite(error: rusqlite::Error, sql: &'static Sql) -> Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
        tracing::error!(%error, "database disk full");
        return Error::NotReady;
    }
    if let rusqlite::Error::SqliteFailure(failure, Some(text)) = &error
        && matches!(
            failure.extended_code,
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        )
    {
        let found = UNIQUE_KEYS
            .iter()
            .find(|key| text.ends_with(key.columns) || text.contains(key.constraint));
        if let Some(key) = found {
            return key.to_error();
        }
    }
    Error::Internal(anyhow::Error::new(error).context(sql.text()))
}

/// Maps a PostgreSQL error.
pub(super) fn from_postgres(error: postgres::Error) -> Error {
    if let Some(database) = error.as_db_error()
        && *database.code() == SqlState::UNIQUE_VIOLATION
        && let Some(key) = UNIQUE_KEYS
            .iter()
            .find(|key| Some(key.constraint) == database.constraint())
    {
        return key.to_error();
    }
    Error::Internal(anyhow::Error::new(error))
}

/// The connection broke, or the server went away.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the database is lost")]
pub(super) struct ConnectionLost;

/// Returns whether the transaction can be retried: it was aborted by a serialization failure or a deadlock, or the
/// connection broke before the commit was sent.
pub(super) fn is_retryable(error: &Error) -> bool {
    is_serialization_failure(error) || is_connection_lost(error)
}

/// Returns whether the connection is unusable.
pub(super) fn is_connection_lost(error: &Error) -> bool {
    let Error::Internal(internal) = error else { return false };
    let is_client_failure = |error: &postgres::Error| {
        let is_io_error = |cause: &(dyn std::error::Error + 'static)| cause.is::<std::io::Error>();
        error.is_closed() || std::error::Error::source(error).is_some_and(is_io_error)
    };
    internal
        .chain()
        .any(|cause| cause.is::<ConnectionLost>() || cause.is::<ConnectError>())
        || postgres_errors(internal)
            .any(|error| is_client_failure(error) || error.code().is_some_and(server::is_unavailable))
}

/// Maps temporary failures of the database (connection, capacity, lock or statement timeouts) to errors that ask the
/// caller to retry later.
pub(super) fn into_public(error: Error) -> Error {
    let Error::Internal(internal) = &error else {
        return error;
    };
    let is_full = postgres_errors(internal).any(|error| error.code().is_some_and(server::is_full));
    let is_timed_out = postgres_errors(internal).any(|error| {
        error
            .code()
            .is_some_and(|code| [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED].contains(code))
    });
    if is_connection_lost(&error) || is_full {
        tracing::warn!(error = describe(&error), "database unavailable");
        Error::NotReady
    } else if is_timed_out || is_serialization_failure(&error) {
        tracing::warn!(
            error = describe(&error),
            "database lock timeout, statement timeout or serialization failure"
        );
        Error::Overloaded
    } else {
        error
    }
}

/// Formats an error with its causes, for the log.
pub(super) fn describe(error: &Error) -> String {
    match error {
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    }
}

fn is_serialization_failure(error: &Error) -> bool {
    let Error::Internal(error) = error else { return false };
    postgres_errors(error).any(|error| {
        error
            .code()
            .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
    })
}

fn postgres_errors(error: &anyhow::Error) -> impl Iterator<Item = &postgres::Error> {
    error.chain().filter_map(|cause| cause.downcast_ref())
}

impl UniqueKey {
    fn to_error(&self) -> Error {
        from_fields!(self => Error::Conflict { code, message, path, existing_id: None })
    }
}
