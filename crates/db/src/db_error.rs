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

const UNIQUE_KEYS: &[UniqueKey] = &[
    UniqueKey {
        constraint: "courses_class_subject_name_key",
        columns: "courses.class_id, courses.subject_id, courses.name",
        code: ErrorCode::DuplicateCourse,
        message: "This class has a course of this name in this subject already.",
        path: "name",
    },
    UniqueKey {
        constraint: "groups_class_number_key",
        columns: "groups.class_id, groups.group_number",
        code: ErrorCode::DuplicateGroupNumber,
        message: "This class has a group with this number already.",
        path: "groupNumber",
    },
    UniqueKey {
        constraint: "group_assignments_assignment_group_key",
        columns: "group_assignments.assignment_id, group_assignments.group_id",
        code: ErrorCode::DuplicateGroupAssignment,
        message: "This group is on this topic already.",
        path: "groupId",
    },
    UniqueKey {
        constraint: "users_email_key",
        columns: "users.email",
        code: ErrorCode::DuplicateEmail,
        message: "This address has an account already.",
        path: "email",
    },
    UniqueKey {
        constraint: "users_home_user_name_key",
        columns: "users.home_organization_id, users.user_name",
        code: ErrorCode::DuplicateUsername,
        message: "Another person has this user name already.",
        path: "username",
    },
    UniqueKey {
        constraint: "subjects_organization_name_key",
        columns: "subjects.organization_id, subjects.name_key",
        code: ErrorCode::DuplicateSubject,
        message: "A subject of this name exists already.",
        path: "name",
    },
    UniqueKey {
        constraint: "classes_organization_external_id_key",
        columns: "classes.organization_id, classes.external_id",
        code: ErrorCode::DuplicateExternalId,
        message: "Another class has this id of the school's administration already.",
        path: "externalId",
    },
    UniqueKey {
        constraint: "members_organization_external_id_key",
        columns: "members.organization_id, members.external_id",
        code: ErrorCode::DuplicateExternalId,
        message: "Another person has this id of the school's administration already.",
        path: "externalId",
    },
    UniqueKey {
        constraint: "homerooms_organization_name_year_key",
        columns: "homerooms.organization_id, homerooms.name, homerooms.academic_year",
        code: ErrorCode::DuplicateHomeroom,
        message: "A homeroom of this name exists in this year already.",
        path: "name",
    },
    UniqueKey {
        constraint: "homerooms_organization_name_without_year_key",
        columns: "homerooms.organization_id, homerooms.name",
        code: ErrorCode::DuplicateHomeroom,
        message: "A homeroom of this name without a year exists already.",
        path: "name",
    },
    UniqueKey {
        constraint: "homerooms_organization_external_id_key",
        columns: "homerooms.organization_id, homerooms.external_id",
        code: ErrorCode::DuplicateExternalId,
        message: "Another homeroom has this id of the school's administration already.",
        path: "externalId",
    },
    UniqueKey {
        constraint: "organizations_slug_key",
        columns: "organizations.slug",
        code: ErrorCode::DuplicateSlug,
        message: "This short name is taken.",
        path: "slug",
    },
    UniqueKey {
        constraint: "organizations_custom_domain_key",
        columns: "organizations.custom_domain",
        code: ErrorCode::DuplicateDomain,
        message: "This domain is taken.",
        path: "customDomain",
    },
    UniqueKey {
        constraint: "roster_runs_open_key",
        columns: "roster_runs.source_id",
        code: ErrorCode::RosterRunOpen,
        message: "The roster is being read already; wait until the run has ended.",
        path: "state",
    },
    UniqueKey {
        constraint: "mail_domains_organization_domain_key",
        columns: "mail_domains.organization_id, mail_domains.domain",
        code: ErrorCode::DuplicateMailDomain,
        message: "This domain was added already.",
        path: "domain",
    },
    UniqueKey {
        constraint: "mail_domains_dns_holder_key",
        columns: "mail_domains.domain",
        code: ErrorCode::DomainHeld,
        message: "Another organization holds this domain. Ask those who run this installation to let both hold it.",
        path: "domain",
    },
];

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
