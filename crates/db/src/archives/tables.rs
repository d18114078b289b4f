//! The tables of an archive with their columns, in the order in which a restore inserts them: parents first. A test
//! compares the columns with the schema.

use std::fmt::Write as _;
use std::sync::{LazyLock, OnceLock};

use crate::dump::ColumnType::{self, Bool, Int, Real, Text};
use crate::sql::{NamedStatements, Sql};

/// Rows of one INSERT statement.
pub const INSERT_ROWS: usize = 25;

/// A table of an archive. The organization is not archived: rows are restored in the organization of the archive.
#[derive(Debug)]
pub struct ArchivedTable {
    /// The name in the archive. Names with a dot are states of rows that are not deleted, and open editors.
    pub name: &'static str,
    /// The table that is read.
    pub table: &'static str,
    /// The order of the rows.
    pub order: &'static str,
    pub columns: &'static [(&'static str, ColumnType)],
}

/// The values of columns that did not exist when older archives were written: table, column and value as JSON. A column
/// that a migration adds to an archived table is listed here, unless it is NULL in old rows.
const ADDED_COLUMNS: &[(&str, &str, &str)] = &[
    ("group_assignments", "includes_shared_text", "false"),
    ("classes", "follows_homeroom", "false"),
    ("class_enrollments", "from_homeroom", "false"),
];

/// The columns with ids of users, by table.
pub const USER_COLUMNS: &[(&str, &[&str])] = &[
    ("classes", &["teacher_id"]),
    ("class_teachers", &["user_id"]),
    ("class_enrollments", &["student_id"]),
    (
        "groups",
        &[
            "created_by_id",
            "help_claimed_by_id",
            "help_requested_by_id",
            "help_resolved_by_id",
        ],
    ),
    ("group_members", &["user_id"]),
    ("group_attachments", &["uploaded_by_id"]),
    ("assignments", &["created_by_id", "finished_by_id"]),
    ("assignment_attachments", &["uploaded_by_id"]),
    ("work_room_messages", &["deleted_by_id", "sender_id"]),
    ("message_attachments", &["uploaded_by_id"]),
    ("work_room_reads", &["user_id"]),
    ("documents", &["created_by_id", "last_edited_by", "submitted_by_id"]),
    ("document_revisions", &["saved_by_id"]),
    ("document_contributions", &["user_id"]),
    ("comment_threads", &["resolved_by_id"]),
    ("document_comments", &["author_id"]),
    ("late_commits", &["author_id"]),
    ("document_steps", &["author_id"]),
    ("document_images", &["uploaded_by_id"]),
    ("submissions", &["submitted_by_id", "withdrawn_by_id"]),
    ("grades", &["graded_by_id"]),
    ("member_grades", &["graded_by_id", "user_id"]),
    ("grade_history", &["changed_by_id"]),
    ("feedback", &["author_id"]),
    ("grade_files", &["uploaded_by_id"]),
];

/// The columns with ids of users in JSON, by table.
pub const USER_LISTS: &[(&str, &str)] = &[
    ("document_revisions", "editors"),
    ("submissions", "member_ids"),
    ("grade_history", "member_grades"),
];

/// The columns of deleted documents, and of documents that lose their topic.
const DOCUMENT_COLUMNS: &[(&str, ColumnType)] = &[
    ("id", Text),
    ("work_room_id", Text),
    ("title", Text),
    ("document_type", Text),
    ("file_extension", Text),
    ("status", Text),
    ("status_before_lock", Text),
    ("locked_at", Int),
    ("locked_by_assignment_id", Text),
    ("assignment_id", Text),
    ("generation", Int),
    ("current_revision_id", Text),
    ("version", Int),
    ("size", Int),
    ("created_by_id", Text),
    ("last_edited_by", Text),
    ("last_activity", Int),
    ("save_failed_at", Int),
    ("submitted_at", Int),
    ("submitted_by_id", Text),
    ("created_at", Int),
    ("updated_at", Int),
    ("handed_out_from", Text),
    ("cut_at", Int),
    ("freezing_until", Int),
    ("unsaved_generation", Int),
    ("row_version", Int),
];

/// All tables of an archive.
pub static TABLES: &[ArchivedTable] = &[
    ArchivedTable {
        name: "classes",
        table: "classes",
        order: "id",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("name_key", Text),
            ("academic_year", Text),
            ("semester", Text),
            ("start_date", Int),
            ("end_date", Int),
            ("status", Text),
            ("teacher_id", Text),
            ("homeroom_id", Text),
            ("follows_homeroom", Bool),
            ("schedule", Text),
            ("external_id", Text),
            ("created_at", Int),
            ("updated_at", Int),
            ("row_version", Int),
            ("search_key", Text),
            ("sort_key", Text),
        ],
    },
    ArchivedTable {
        name: "class_subjects",
        table: "class_subjects",
        order: "subject_id",
        columns: &[("class_id", Text), ("subject_id", Text)],
    },
    ArchivedTable {
        name: "class_teachers",
        table: "class_teachers",
        order: "user_id",
        columns: &[("class_id", Text), ("user_id", Text), ("created_at", Int)],
    },
    ArchivedTable {
        name: "class_enrollments",
        table: "class_enrollments",
        order: "id",
        columns: &[
            ("id", Text),
            ("class_id", Text),
            ("student_id", Text),
            ("enrolled_at", Int),
            ("completed_at", Int),
            ("enrolled_by", Text),
            ("from_homeroom", Bool),
        ],
    },
    ArchivedTable {
        name: "courses",
        table: "courses",
        order: "id",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("name_key", Text),
            ("description", Text),
            ("class_id", Text),
            ("subject_id", Text),
            ("status", Text),
            ("created_at", Int),
            ("updated_at", Int),
            ("row_version", Int),
            ("search_key", Text),
            ("sort_key", Text),
        ],
    },
    ArchivedTable {
        name: "groups",
        table: "groups",
        order: "group_number, id",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("name_key", Text),
            ("group_number", Int),
            ("display_name", Text),
            ("start_date", Int),
            ("required_documents", Int),
            ("class_id", Text),
            ("subject_id", Text),
            ("course_id", Text),
            ("needs_help", Bool),
            ("help_requested_at", Int),
            ("help_message", Text),
            ("help_requested_by_id", Text),
            ("help_claimed_by_id", Text),
            ("help_resolved_at", Int),
            ("help_resolved_by_id", Text),
            ("created_by_id", Text),
            ("created_at", Int),
            ("updated_at", Int),
            ("row_version", Int),
            ("search_key", Text),
            ("meeting_place", Text),
            ("help_withdrawn_at", Int),
        ],
    },
    ArchivedTable {
        name: "group_members",
        table: "group_members",
        order: "joined_at, id",
        columns: &[
            ("id", Text),
            ("class_id", Text),
            ("group_id", Text),
            ("user_id", Text),
            ("role", Text),
            ("joined_at", Int),
        ],
    },
    ArchivedTable {
        name: "group_attachments",
        table: "group_attachments",
        order: "id",
        columns: &[
            ("id", Text),
            ("group_id", Text),
            ("file_name", Text),
            ("mime_type", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("uploaded_by_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "assignments",
        table: "assignments",
        order: "id",
        columns: &[
            ("id", Text),
            ("title", Text),
            ("title_key", Text),
            ("description", Text),
            ("deadline", Int),
            ("required_submissions", Int),
            ("class_id", Text),
            ("course_id", Text),
            ("is_shared", Bool),
            ("status", Text),
            ("finished_at", Int),
            ("finished_by_id", Text),
            ("max_points", Real),
            ("grade_scale", Text),
            ("late_policy", Text),
            ("created_by_id", Text),
            ("created_at", Int),
            ("updated_at", Int),
            ("row_version", Int),
            ("search_key", Text),
            ("is_draft", Bool),
            ("publish_at", Int),
        ],
    },
    ArchivedTable {
        name: "group_assignments",
        table: "group_assignments",
        order: "id",
        columns: &[
            ("id", Text),
            ("class_id", Text),
            ("assignment_id", Text),
            ("group_id", Text),
            ("status", Text),
            ("current_submission_id", Text),
            ("description_override", Text),
            ("late_allowed_until", Int),
            ("created_at", Int),
            ("updated_at", Int),
            ("is_draft", Bool),
            ("publish_at", Int),
            ("includes_shared_text", Bool),
        ],
    },
    ArchivedTable {
        name: "assignment_rubrics",
        table: "assignment_rubrics",
        order: "assignment_id",
        columns: &[
            ("assignment_id", Text),
            ("rubric_id", Text),
            ("title", Text),
            ("criteria", Text),
            ("is_shown", Bool),
            ("created_at", Int),
            ("updated_at", Int),
        ],
    },
    ArchivedTable {
        name: "assignment_attachments",
        table: "assignment_attachments",
        order: "id",
        columns: &[
            ("id", Text),
            ("assignment_id", Text),
            ("group_assignment_id", Text),
            ("file_name", Text),
            ("mime_type", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("staged_at", Int),
            ("uploaded_by_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "work_rooms",
        table: "work_rooms",
        order: "id",
        columns: &[
            ("id", Text),
            ("group_id", Text),
            ("last_message_seq", Int),
            ("created_at", Int),
            ("updated_at", Int),
        ],
    },
    ArchivedTable {
        name: "work_room_messages",
        table: "work_room_messages",
        order: "seq, id",
        columns: &[
            ("id", Text),
            ("work_room_id", Text),
            ("seq", Int),
            ("sender_id", Text),
            ("type", Text),
            ("content", Text),
            ("reply_to_id", Text),
            ("client_message_id", Text),
            ("created_at", Int),
            ("edited_at", Int),
            ("deleted_at", Int),
            ("deleted_by_id", Text),
        ],
    },
    ArchivedTable {
        name: "message_attachments",
        table: "message_attachments",
        order: "id",
        columns: &[
            ("id", Text),
            ("work_room_id", Text),
            ("message_id", Text),
            ("file_name", Text),
            ("mime_type", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("uploaded_by_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "work_room_reads",
        table: "work_room_reads",
        order: "work_room_id, user_id",
        columns: &[
            ("work_room_id", Text),
            ("user_id", Text),
            ("last_read_seq", Int),
            ("last_read_at", Int),
            ("own_after", Int),
        ],
    },
    ArchivedTable {
        name: "documents.open",
        table: "editing_sessions",
        order: "document_id, generation",
        columns: &[("document_id", Text), ("generation", Int)],
    },
    ArchivedTable {
        name: "documents",
        table: "documents",
        order: "id",
        columns: DOCUMENT_COLUMNS,
    },
    ArchivedTable {
        name: "document_revisions",
        table: "document_revisions",
        order: "id",
        columns: &[
            ("id", Text),
            ("document_id", Text),
            ("version", Int),
            ("file_key", Text),
            ("size", Int),
            ("sha256", Text),
            ("saved_by_id", Text),
            ("editors", Text),
            ("origin", Text),
            ("last_save", Int),
            ("generation", Int),
            ("created_at", Int),
            ("history", Text),
            ("is_for_group", Bool),
        ],
    },
    ArchivedTable {
        name: "document_saves",
        table: "document_saves",
        order: "id",
        columns: &[
            ("id", Text),
            ("document_id", Text),
            ("document_key", Text),
            ("url_path_hash", Text),
            ("sha256", Text),
            ("last_save", Int),
            ("outcome", Text),
            ("revision_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "document_contributions",
        table: "document_contributions",
        order: "document_id, user_id",
        columns: &[
            ("document_id", Text),
            ("user_id", Text),
            ("editing_millis", Int),
            ("saves", Int),
            ("first_at", Int),
            ("last_at", Int),
            ("counted_until", Int),
            ("characters", Int),
            ("text_characters", Int),
        ],
    },
    ArchivedTable {
        name: "comment_threads",
        table: "comment_threads",
        order: "id",
        columns: &[
            ("id", Text),
            ("document_id", Text),
            ("generation", Int),
            ("version", Int),
            ("from_position", Int),
            ("to_position", Int),
            ("quote", Text),
            ("created_at", Int),
            ("resolved_at", Int),
            ("resolved_by_id", Text),
        ],
    },
    ArchivedTable {
        name: "document_comments",
        table: "document_comments",
        order: "id",
        columns: &[
            ("id", Text),
            ("thread_id", Text),
            ("author_id", Text),
            ("text", Text),
            ("created_at", Int),
            ("edited_at", Int),
        ],
    },
    ArchivedTable {
        name: "late_commits",
        table: "late_commits",
        order: "id",
        columns: &[
            ("id", Text),
            ("document_id", Text),
            ("generation", Int),
            ("author_id", Text),
            ("client_id", Text),
            ("ref", Text),
            ("version", Int),
            ("steps", Text),
            ("created_at", Int),
            ("is_saved", Bool),
        ],
    },
    ArchivedTable {
        name: "document_logs",
        table: "document_logs",
        order: "document_id, generation",
        columns: &[
            ("document_id", Text),
            ("generation", Int),
            ("version", Int),
            ("snapshot_version", Int),
            ("base_revision_id", Text),
            ("saved_version", Int),
            ("unsaved_since", Int),
            ("last_commit_at", Int),
            ("is_closed", Bool),
            ("read_only_reasons", Text),
            ("styles", Text),
            ("created_at", Int),
            ("images", Text),
            ("packed_version", Int),
        ],
    },
    ArchivedTable {
        name: "document_steps",
        table: "document_steps",
        order: "document_id, generation, version",
        columns: &[
            ("document_id", Text),
            ("generation", Int),
            ("version", Int),
            ("author_id", Text),
            ("client_id", Text),
            ("ref", Text),
            ("steps", Text),
            ("created_at", Int),
            ("packed_from", Int),
        ],
    },
    ArchivedTable {
        name: "document_snapshots",
        table: "document_snapshots",
        order: "document_id, generation, version",
        columns: &[
            ("document_id", Text),
            ("generation", Int),
            ("version", Int),
            ("content", Text),
            ("created_at", Int),
            ("authorship", Text),
        ],
    },
    ArchivedTable {
        name: "document_images",
        table: "document_images",
        order: "id",
        columns: &[
            ("id", Text),
            ("document_id", Text),
            ("mime_type", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("width", Int),
            ("height", Int),
            ("uploaded_by_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "submissions",
        table: "submissions",
        order: "id",
        columns: &[
            ("id", Text),
            ("group_assignment_id", Text),
            ("attempt", Int),
            ("status", Text),
            ("submitted_by_id", Text),
            ("submitted_at", Int),
            ("on_behalf", Bool),
            ("is_late", Bool),
            ("late_by_seconds", Int),
            ("member_ids", Text),
            ("note", Text),
            ("withdrawn_at", Int),
            ("withdrawn_by_id", Text),
            ("created_at", Int),
            ("row_version", Int),
        ],
    },
    ArchivedTable {
        name: "submission_documents",
        table: "submission_documents",
        order: "id",
        columns: &[
            ("id", Text),
            ("submission_id", Text),
            ("document_id", Text),
            ("document_version", Int),
            ("title", Text),
            ("file_extension", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("created_at", Int),
            ("authorship", Text),
        ],
    },
    ArchivedTable {
        name: "grades",
        table: "grades",
        order: "id",
        columns: &[
            ("id", Text),
            ("submission_id", Text),
            ("value", Text),
            ("points", Real),
            ("feedback", Text),
            ("status", Text),
            ("version", Int),
            ("graded_by_id", Text),
            ("graded_at", Int),
            ("published_at", Int),
            ("created_at", Int),
            ("updated_at", Int),
            ("rubric", Text),
        ],
    },
    ArchivedTable {
        name: "grade_files",
        table: "grade_files",
        order: "id",
        columns: &[
            ("id", Text),
            ("submission_id", Text),
            ("file_name", Text),
            ("mime_type", Text),
            ("size", Int),
            ("sha256", Text),
            ("file_key", Text),
            ("uploaded_by_id", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "member_grades",
        table: "member_grades",
        order: "id",
        columns: &[
            ("id", Text),
            ("grade_id", Text),
            ("user_id", Text),
            ("value", Text),
            ("points", Real),
            ("feedback", Text),
            ("graded_at", Int),
            ("graded_by_id", Text),
        ],
    },
    ArchivedTable {
        name: "grade_history",
        table: "grade_history",
        order: "id",
        columns: &[
            ("id", Text),
            ("grade_id", Text),
            ("version", Int),
            ("value", Text),
            ("points", Real),
            ("feedback", Text),
            ("status", Text),
            ("member_grades", Text),
            ("changed_by_id", Text),
            ("created_at", Int),
            ("rubric", Text),
        ],
    },
    ArchivedTable {
        name: "feedback",
        table: "feedback",
        order: "id",
        columns: &[
            ("id", Text),
            ("group_assignment_id", Text),
            ("submission_id", Text),
            ("document_id", Text),
            ("author_id", Text),
            ("text", Text),
            ("visibility", Text),
            ("published_at", Int),
            ("created_at", Int),
            ("updated_at", Int),
            ("row_version", Int),
        ],
    },
    ArchivedTable {
        name: "converted_files",
        table: "converted_files",
        order: "id",
        columns: &[
            ("id", Text),
            ("revision_id", Text),
            ("submission_document_id", Text),
            ("format", Text),
            ("file_key", Text),
            ("size", Int),
            ("sha256", Text),
            ("created_at", Int),
        ],
    },
    ArchivedTable {
        name: "documents.released",
        table: "documents",
        order: "id",
        columns: DOCUMENT_COLUMNS,
    },
    ArchivedTable {
        name: "feedback.unlinked",
        table: "feedback",
        order: "id",
        columns: &[("id", Text), ("document_id", Text)],
    },
    ArchivedTable {
        name: "direct_messages.freed",
        table: "direct_messages",
        order: "created_at, id",
        columns: &[("id", Text)],
    },
];

/// The files of an archive, without the organization.
pub static FILES: RowTable = RowTable {
    table: ArchivedTable {
        name: "deletion_archive_files",
        table: "deletion_archive_files",
        order: "file_key",
        columns: &[
            ("archive_id", Text),
            ("file_key", Text),
            ("size", Int),
            ("sha256", Text),
        ],
    },
    inserts: OnceLock::new(),
};

/// The people of an archive, without the organization.
pub static PEOPLE: RowTable = RowTable {
    table: ArchivedTable {
        name: "deletion_archive_people",
        table: "deletion_archive_people",
        order: "user_id",
        columns: &[("archive_id", Text), ("user_id", Text), ("mentions", Int)],
    },
    inserts: OnceLock::new(),
};

/// A table that gets many rows at once.
#[derive(Debug)]
pub struct RowTable {
    table: ArchivedTable,
    inserts: OnceLock<(Sql, Sql)>,
}

impl RowTable {
    /// Returns the statement that inserts one row, or [`INSERT_ROWS`] rows.
    pub fn insert_statement(&'static self, many: bool) -> &'static Sql {
        let (one, several) = self
            .inserts
            .get_or_init(|| (self.table.insert(1), self.table.insert(INSERT_ROWS)));
        if many { several } else { one }
    }
}

/// The INSERT statements of the tables, in the order of [`TABLES`].
static INSERTS: LazyLock<Vec<(Sql, Sql)>> = LazyLock::new(|| {
    TABLES
        .iter()
        .map(|table| (table.insert(1), table.insert(INSERT_ROWS)))
        .collect()
});

impl ArchivedTable {
    /// Returns the table with a name, and its position.
    pub fn find(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Returns whether rows of the table are inserted by a restore.
    pub fn is_inserted(&self) -> bool {
        self.name == self.table
    }

    /// The query of the rows that a condition selects.
    pub fn select(&self, condition: &str) -> Sql {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        Sql::text_of(format!(
            "SELECT {} FROM {} WHERE organization_id = $1 AND {condition} ORDER BY {}",
            columns.join(", "),
            self.table,
            self.order
        ))
    }

    /// Returns the statement that inserts one row, or [`INSERT_ROWS`] rows.
    pub fn insert_statement(&self, many: bool) -> &'static Sql {
        let index = TABLES
            .iter()
            .position(|table| table.name == self.name)
            .unwrap_or_default();
        let (one, several) = &INSERTS[index];
        if many { several } else { one }
    }

    /// Returns the value of a column that an older archive does not have, as JSON.
    pub fn added_value(&self, column: &str) -> &'static str {
        let added = ADDED_COLUMNS
            .iter()
            .find(|(table, name, _)| *table == self.name && *name == column);
        added.map_or("null", |(_, _, value)| value)
    }

    fn insert(&self, rows: usize) -> Sql {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let mut text = format!(
            "INSERT INTO {} (organization_id, {}) VALUES ",
            self.table,
            names.join(", ")
        );
        let mut number = 1;
        for row in 0..rows {
            text.push_str(if row == 0 { "($1" } else { ", ($1" });
            for (_, kind) in self.columns {
                number += 1;
                // With several rows PostgreSQL does not take the types of the parameters from the columns.
                let cast = match kind {
                    Text => "TEXT",
                    Int => "BIGINT",
                    Bool => "BOOLEAN",
                    Real => "DOUBLE PRECISION",
                };
                write!(text, ", CAST(${number} AS {cast})").ok();
            }
            text.push(')');
        }
        Sql::text_of(text)
    }
}

/// The INSERT statements by table, for the tests of all SQL.
pub fn statements() -> NamedStatements {
    let inserted = TABLES.iter().filter(|table| table.is_inserted());
    let mut all: NamedStatements = inserted
        .flat_map(|table| [false, true].map(|many| (table.name, table.insert_statement(many))))
        .collect();
    for rows in [&FILES, &PEOPLE] {
        all.extend([false, true].map(|many| (rows.table.name, rows.insert_statement(many))));
    }
    all
}
