//! Row counts of every table, and the list of tables: a table that is not counted fails the test.

use std::collections::{BTreeMap, BTreeSet};

use db::Database;
use db::connection::Connection;

macro_rules! counted {
    ($($name:ident: $table:literal,)+) => {
        db::statements! {
            $($name = concat!("SELECT '", $table, "' AS name, COUNT(*) AS row_count FROM ", $table);)+
        }
    };
}

counted! {
    ACCOUNTS: "accounts", ACTIVITY_LOGS: "activity_logs", API_TOKENS: "api_tokens", ASSIGNMENT_ATTACHMENTS: "assignment_attachments",
    ASSIGNMENT_RUBRICS: "assignment_rubrics",
    ASSIGNMENTS: "assignments", CLASS_ENROLLMENTS: "class_enrollments", CLASS_SUBJECTS: "class_subjects",
    CLASS_TEACHERS: "class_teachers", CLASSES: "classes", COMMENT_READS: "comment_reads", COMMENT_THREADS: "comment_threads",
    CONVERTED_FILES: "converted_files", COURSES: "courses", DOCUMENT_COMMENTS: "document_comments",
    DELETED_DOCUMENTS: "deleted_documents", DELETION_ARCHIVES: "deletion_archives",
    DELETION_ARCHIVE_CHUNKS: "deletion_archive_chunks", DELETION_ARCHIVE_FILES: "deletion_archive_files",
    DELETION_ARCHIVE_PEOPLE: "deletion_archive_people", DIRECT_MESSAGES: "direct_messages", DOCUMENT_CONTRIBUTIONS: "document_contributions", DOCUMENT_IMAGES: "document_images", DOCUMENT_LOGS: "document_logs", DOCUMENT_REVISIONS: "document_revisions", DOCUMENT_SAVES: "document_saves",
    DOCUMENT_SNAPSHOTS: "document_snapshots", DOCUMENT_STEPS: "document_steps",
    DOCUMENTS: "documents", EDITING_SESSIONS: "editing_sessions", EVENT_OUTBOX: "event_outbox", EXTERNAL_IDENTITIES: "external_identities", FEEDBACK: "feedback",
    FILE_REMOVALS: "file_removals", FORMER_SLUGS: "former_slugs", GRADE_FILES: "grade_files", GRADE_HISTORY: "grade_history", GRADES: "grades",
    GROUP_ASSIGNMENTS: "group_assignments", GROUP_ATTACHMENTS: "group_attachments", GROUP_MEMBERS: "group_members",
    GROUPS: "groups", HOMEROOM_ENROLLMENTS: "homeroom_enrollments", HOMEROOMS: "homerooms", JOBS: "jobs",
    IDEMPOTENCY_KEYS: "idempotency_keys", INVITATIONS: "invitations",
    LATE_COMMITS: "late_commits", LATE_TEXTS: "late_texts", LETTERS: "letters", MAIL_DOMAINS: "mail_domains", MEMBER_GRADES: "member_grades", MEMBERS: "members", MESSAGE_ATTACHMENTS: "message_attachments",
    MESSAGE_RECIPIENTS: "message_recipients", ORGANIZATIONS: "organizations", RATE_WINDOWS: "rate_windows",
    PASSKEYS: "passkeys", RECOVERY_CODES: "recovery_codes", RUBRICS: "rubrics", SECOND_FACTORS: "second_factors",
    SESSIONS: "sessions", SETTINGS: "settings", SIGN_IN_FAILURES: "sign_in_failures",
    SIGN_IN_FAILURE_COUNTS: "sign_in_failure_counts",
    ROSTER_ORIGINS: "roster_origins", ROSTER_RUN_ENTRIES: "roster_run_entries", ROSTER_RUNS: "roster_runs",
    ROSTER_SOURCES: "roster_sources", SIGN_ON_ATTEMPTS: "sign_on_attempts", SIGN_ON_LOGOUTS: "sign_on_logouts", SIGN_ON_PROVIDERS: "sign_on_providers",
    SIGN_IN_SUCCESSES: "sign_in_successes", STORAGE_USAGES: "storage_usages", SUBJECTS: "subjects",
    SUBMISSION_DOCUMENTS: "submission_documents", SUBMISSIONS: "submissions", TEXT_SNIPPETS: "text_snippets", USERS: "users",
    VERIFICATIONS: "verifications", WORK_ROOM_MESSAGES: "work_room_messages", WORK_ROOM_READS: "work_room_reads",
    WORK_ROOMS: "work_rooms",
}

mod catalogue {
    db::statements! {
        SQLITE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        POSTGRES = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'";
    }

    pub fn of(connection: &mut super::Connection) -> Vec<String> {
        assert_eq!(STATEMENTS.len(), 2);
        let statement = match connection {
            super::Connection::Sqlite(_) => &SQLITE,
            super::Connection::Postgres(_) => &POSTGRES,
        };
        connection.fetch_all(statement, &[], |row| row.only()).unwrap()
    }
}

/// Tables whose row counts do not depend on the change under test: the log, pending work, and the storage usage that a
/// periodic job counts.
const NOT_COMPARED: [&str; 6] = [
    "activity_logs",
    "event_outbox",
    "file_removals",
    "letters",
    "sessions",
    "storage_usages",
];

/// Returns the row count of every table in which a deletion could leave orphans.
pub fn counts(database: &Database) -> BTreeMap<String, i64> {
    let mut connection = match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    };
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (_, statement) in STATEMENTS {
        let count = connection
            .fetch_optional(statement, &[], |row| Ok((row.get("name")?, row.get("row_count")?)))
            .unwrap();
        counts.extend(count);
    }
    for table in catalogue::of(&mut connection) {
        let known = counts.contains_key(&table) || table == "refinery_schema_history";
        assert!(
            known,
            "row_counts.rs does not count {table}; does crates/db/src/cascade.rs contain it?"
        );
    }
    counts.retain(|table, _| !NOT_COMPARED.contains(&table.as_str()));
    counts
}

/// Returns the sorted names of all tables of the service.
pub fn tables(database: &Database) -> Vec<String> {
    let mut connection = match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    };
    let mut tables = catalogue::of(&mut connection);
    tables.retain(|table| table != "refinery_schema_history");
    tables.sort();
    tables
}

/// Returns every file that a row references.
pub fn files(database: &Database) -> BTreeSet<String> {
    let mut connection = match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    };
    named::files(&mut connection)
}

mod named {
    db::statements! {
        FILES = "SELECT file_key FROM document_revisions UNION SELECT file_key FROM submission_documents
            UNION SELECT file_key FROM converted_files UNION SELECT file_key FROM message_attachments
            UNION SELECT file_key FROM deletion_archive_files UNION SELECT file_key FROM late_texts UNION SELECT file_key FROM assignment_attachments UNION SELECT file_key FROM group_attachments UNION SELECT file_key FROM document_images
            UNION SELECT file_key FROM grade_files";
    }

    pub fn files(connection: &mut super::Connection) -> std::collections::BTreeSet<String> {
        assert_eq!(STATEMENTS.len(), 1);
        connection
            .fetch_all(&FILES, &[], |row| row.only())
            .unwrap()
            .into_iter()
            .collect()
    }
}
