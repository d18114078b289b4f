//! What those who run the platform see of its database: how much there is, and what waits.

use super::Platform;
use crate::{args, statements};
use common::error::{Error, Result};

/// Rows of a table are counted up to here: looking must not cost what a full count of a large table does.
pub const COUNTED_MAX: i64 = 1_000_000;

macro_rules! tables {
    ($first:literal $(, $table:literal)* $(,)?) => {
        concat!(
            "SELECT CAST('", $first, "' AS TEXT), (SELECT COUNT(*) FROM (SELECT 1 FROM ", $first, " LIMIT $1) x)",
            $(" UNION ALL SELECT '", $table, "', (SELECT COUNT(*) FROM (SELECT 1 FROM ", $table, " LIMIT $1) x)"),*
        )
    };
}

statements! {
    /// How many rows every table has; a test compares the names with those of the schema.
    TABLES = tables!(
        "accounts", "activity_logs", "assignment_attachments", "assignments", "class_enrollments", "class_subjects",
        "class_teachers", "classes", "converted_files", "courses", "deleted_documents", "direct_messages", "document_contributions",
        "document_revisions", "document_saves", "documents", "editing_sessions", "event_outbox", "feedback",
        "file_removals", "grade_history", "grades", "group_assignments", "group_attachments", "group_members",
        "groups", "homeroom_enrollments", "homerooms", "idempotency_keys", "invitations", "jobs", "late_texts", "letters", "mail_domains",
        "member_grades", "members", "message_attachments", "message_recipients", "organizations", "rate_windows",
        "sessions", "settings", "sign_in_failure_counts", "sign_in_failures", "sign_in_successes", "storage_usages",
        "subjects", "submission_documents", "submissions", "users", "verifications", "work_room_messages",
        "work_room_reads", "work_rooms",
    );
    /// The version of the schema.
    SCHEMA = "SELECT CAST(MAX(version) AS BIGINT) FROM refinery_schema_history";
    /// What waits: jobs by status, files whose rows are gone, groups that call for help.
    WAITING = "SELECT
        (SELECT COUNT(*) FROM jobs WHERE status = 'QUEUED'),
        (SELECT COUNT(*) FROM jobs WHERE status = 'RUNNING'),
        (SELECT COUNT(*) FROM jobs WHERE status = 'FAILED'),
        (SELECT COUNT(*) FROM file_removals),
        (SELECT COUNT(*) FROM groups WHERE needs_help)";
}

/// What is in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFacts {
    /// Which database it is.
    pub database: &'static str,
    /// How many bytes it takes.
    pub bytes: i64,
    /// The version of its schema.
    pub schema_version: i64,
    /// Tables with their rows, by name; at most [`COUNTED_MAX`] are counted.
    pub tables: Vec<(String, i64)>,
    /// What waits.
    pub waiting: Waiting,
}

/// Work beside requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Jobs that wait.
    pub jobs_queued: i64,
    /// Jobs at work.
    pub jobs_running: i64,
    /// Jobs that were given up.
    pub jobs_failed: i64,
    /// Files to be removed.
    pub file_removals: i64,
    /// Groups that call for help.
    pub help_open: i64,
}

impl Platform<'_> {
    /// What is in the database.
    pub fn system_facts(&mut self) -> Result<SystemFacts> {
        let missing = || Error::Internal(anyhow::anyhow!("the database answered no row"));
        let mut tables = self.connection.many(&TABLES, args![COUNTED_MAX], |row| {
            Ok((row.take::<String>()?, row.take()?))
        })?;
        tables.sort_unstable();
        let schema_version = self.connection.maybe(&SCHEMA, args![], |row| row.take())?;
        let waiting = self.waiting()?;
        Ok(SystemFacts {
            database: self.connection.kind(),
            bytes: self.connection.bytes()?,
            schema_version: schema_version.ok_or_else(missing)?,
            tables,
            waiting,
        })
    }

    /// What waits for the jobs of the service.
    pub fn waiting(&mut self) -> Result<Waiting> {
        let counted = self.connection.maybe(&WAITING, args![], |row| {
            Ok(Waiting {
                jobs_queued: row.take()?,
                jobs_running: row.take()?,
                jobs_failed: row.take()?,
                file_removals: row.take()?,
                help_open: row.take()?,
            })
        })?;
        counted.ok_or_else(|| Error::Internal(anyhow::anyhow!("the database answered no row")))
    }
}
