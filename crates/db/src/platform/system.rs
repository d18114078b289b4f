//! Statistics about the database for platform administrators: sizes and queue lengths.

use super::PlatformTx;
use crate::sql::SqlFragment;
use crate::{args, from_row, statements};
use common::error::{Error, Result};

/// Maximum number of rows counted per table, which bounds the cost for large tables.
pub const COUNTED_MAX: i64 = 1_000_000;

/// The tables whose rows are counted.
const COUNTED: &[&str] = &[
    "accounts",
    "activity_logs",
    "api_tokens",
    "assignment_attachments",
    "assignment_rubrics",
    "assignments",
    "class_enrollments",
    "class_subjects",
    "class_teachers",
    "classes",
    "comment_reads",
    "comment_threads",
    "converted_files",
    "courses",
    "deleted_documents",
    "deletion_archive_chunks",
    "deletion_archive_files",
    "deletion_archive_people",
    "deletion_archives",
    "direct_messages",
    "document_comments",
    "document_contributions",
    "document_images",
    "document_logs",
    "document_revisions",
    "document_saves",
    "document_snapshots",
    "document_steps",
    "documents",
    "editing_sessions",
    "event_outbox",
    "external_identities",
    "feedback",
    "file_removals",
    "former_slugs",
    "grade_files",
    "grade_history",
    "grades",
    "group_assignments",
    "group_attachments",
    "group_members",
    "groups",
    "homeroom_enrollments",
    "homerooms",
    "idempotency_keys",
    "invitations",
    "jobs",
    "late_commits",
    "late_texts",
    "letters",
    "mail_domains",
    "member_grades",
    "members",
    "message_attachments",
    "message_recipients",
    "organizations",
    "passkeys",
    "rate_windows",
    "recovery_codes",
    "roster_origins",
    "roster_run_entries",
    "roster_runs",
    "roster_sources",
    "rubrics",
    "second_factors",
    "sessions",
    "settings",
    "sign_in_failure_counts",
    "sign_in_failures",
    "sign_in_successes",
    "sign_on_attempts",
    "sign_on_logouts",
    "sign_on_providers",
    "storage_usages",
    "subjects",
    "submission_documents",
    "submissions",
    "text_snippets",
    "users",
    "verifications",
    "work_room_messages",
    "work_room_reads",
    "work_rooms",
];

static ROW_COUNTS: SqlFragment = SqlFragment::new(|| {
    let counts = COUNTED.iter().map(|table| {
        format!("SELECT CAST('{table}' AS TEXT) AS name, (SELECT COUNT(*) FROM (SELECT 1 FROM {table} LIMIT $1) x) AS row_count")
    });
    counts.collect::<Vec<_>>().join(" UNION ALL ")
});

statements! {
    /// The number of rows of each table. A test compares the names with the schema.
    TABLES = "{ROW_COUNTS}";
    SCHEMA = "SELECT CAST(MAX(version) AS BIGINT) AS version FROM refinery_schema_history";
    /// Queue lengths: jobs by status, file removals, open help requests.
    WAITING = "SELECT
        (SELECT COUNT(*) FROM jobs WHERE status = 'QUEUED') AS jobs_queued,
        (SELECT COUNT(*) FROM jobs WHERE status = 'RUNNING') AS jobs_running,
        (SELECT COUNT(*) FROM jobs WHERE status = 'FAILED') AS jobs_failed,
        (SELECT COUNT(*) FROM file_removals) AS file_removals,
        (SELECT COUNT(*) FROM groups WHERE needs_help) AS help_open";
}

/// Statistics about the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFacts {
    pub database: &'static str,
    /// Size of the database in bytes.
    pub bytes: i64,
    pub schema_version: i64,
    /// Tables with their number of rows, by name; at most [`COUNTED_MAX`] rows are counted.
    pub tables: Vec<(String, i64)>,
    pub waiting: QueueLengths,
}

/// Lengths of the queues of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueLengths {
    pub jobs_queued: i64,
    pub jobs_running: i64,
    pub jobs_failed: i64,
    pub file_removals: i64,
    /// Groups with an open help request.
    pub help_open: i64,
}

impl PlatformTx<'_> {
    /// Returns statistics about the database.
    pub fn system_facts(&mut self) -> Result<SystemFacts> {
        let mut tables: Vec<(String, i64)> =
            self.fetch_all(&TABLES, args![COUNTED_MAX], |row| row.pair("name", "row_count"))?;
        tables.sort_unstable();
        let schema_version = self.schema_version()?;
        let waiting = self.waiting()?;
        Ok(SystemFacts {
            database: self.connection.kind(),
            bytes: self.connection.bytes()?,
            schema_version,
            tables,
            waiting,
        })
    }

    /// Returns the newest applied migration.
    pub fn schema_version(&mut self) -> Result<i64> {
        let version = self.fetch_optional(&SCHEMA, args![], |row| row.get("version"))?;
        version.ok_or_else(|| Error::Internal(anyhow::anyhow!("the database answered no row")))
    }

    /// Returns the lengths of the queues.
    pub fn waiting(&mut self) -> Result<QueueLengths> {
        let counted = self.fetch_optional(
            &WAITING,
            args![],
            |row| from_row!(row => QueueLengths { jobs_queued, jobs_running, jobs_failed, file_removals, help_open }),
        )?;
        counted.ok_or_else(|| Error::Internal(anyhow::anyhow!("the database answered no row")))
    }
}
