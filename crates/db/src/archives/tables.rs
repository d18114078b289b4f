//! The tables of an archive, in the order in which a restore inserts them: parents first. Their columns are those of the
//! schema that the migrations of this release create.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, OnceLock};

use anyhow::Context as _;

use crate::dump::{Cell, ColumnType};
use crate::migrate::migrated_in_memory;
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
    /// The columns that are archived; `None` for all.
    selected: Option<&'static [&'static str]>,
}

/// A column of an archived table.
#[derive(Debug, Clone)]
pub struct ArchivedColumn {
    pub name: String,
    pub kind: ColumnType,
    /// The default value of the schema, which rows have that are older than the column.
    pub default: Cell,
}

/// All tables of an archive.
pub static TABLES: &[ArchivedTable] = &[
    ArchivedTable::whole("classes", "id"),
    ArchivedTable::whole("class_subjects", "subject_id"),
    ArchivedTable::whole("class_teachers", "user_id"),
    ArchivedTable::whole("class_enrollments", "id"),
    ArchivedTable::whole("courses", "id"),
    ArchivedTable::whole("groups", "group_number, id"),
    ArchivedTable::whole("group_members", "joined_at, id"),
    ArchivedTable::whole("group_attachments", "id"),
    ArchivedTable::whole("assignments", "id"),
    ArchivedTable::whole("group_assignments", "id"),
    ArchivedTable::whole("assignment_rubrics", "assignment_id"),
    ArchivedTable::whole("assignment_attachments", "id"),
    ArchivedTable::whole("work_rooms", "id"),
    ArchivedTable::whole("work_room_messages", "seq, id"),
    ArchivedTable::whole("message_attachments", "id"),
    ArchivedTable::whole("work_room_reads", "work_room_id, user_id"),
    ArchivedTable::some(
        "documents.open",
        "editing_sessions",
        "document_id, generation",
        &["document_id", "generation"],
    ),
    ArchivedTable::whole("documents", "id"),
    ArchivedTable::whole("document_revisions", "id"),
    ArchivedTable::whole("document_saves", "id"),
    ArchivedTable::whole("document_contributions", "document_id, user_id"),
    ArchivedTable::whole("comment_threads", "id"),
    ArchivedTable::whole("document_comments", "id"),
    ArchivedTable::whole("comment_reads", "document_id, user_id"),
    ArchivedTable::whole("late_commits", "id"),
    ArchivedTable::whole("document_logs", "document_id, generation"),
    ArchivedTable::whole("document_steps", "document_id, generation, version"),
    ArchivedTable::whole("document_snapshots", "document_id, generation, version"),
    ArchivedTable::whole("document_images", "id"),
    ArchivedTable::whole("submissions", "id"),
    ArchivedTable::whole("submission_documents", "id"),
    ArchivedTable::whole("grades", "id"),
    ArchivedTable::whole("grade_files", "id"),
    ArchivedTable::whole("member_grades", "id"),
    ArchivedTable::whole("grade_history", "id"),
    ArchivedTable::whole("feedback", "id"),
    ArchivedTable::whole("converted_files", "id"),
    ArchivedTable {
        name: "documents.released",
        ..ArchivedTable::whole("documents", "id")
    },
    ArchivedTable::some("feedback.unlinked", "feedback", "id", &["id", "document_id"]),
    ArchivedTable::some("direct_messages.freed", "direct_messages", "created_at, id", &["id"]),
];

/// The files of an archive, without the organization.
pub static FILES: RowTable = RowTable {
    table: ArchivedTable::some(
        "deletion_archive_files",
        "deletion_archive_files",
        "file_key",
        &["archive_id", "file_key", "size", "sha256"],
    ),
    inserts: OnceLock::new(),
};

/// The people of an archive, without the organization.
pub static PEOPLE: RowTable = RowTable {
    table: ArchivedTable::some(
        "deletion_archive_people",
        "deletion_archive_people",
        "user_id",
        &["archive_id", "user_id", "mentions"],
    ),
    inserts: OnceLock::new(),
};

/// The columns of every table of the schema except the organization.
const SCHEMA_COLUMNS: &str =
    "SELECT m.name AS table_name, c.name AS name, c.type AS type, c.dflt_value AS default_value
    FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'refinery_schema_history'
        AND c.name <> 'organization_id' ORDER BY m.name, c.cid";

/// The columns of each archived table, by its name in the archive.
static COLUMNS: LazyLock<BTreeMap<&'static str, Vec<ArchivedColumn>>> = LazyLock::new(|| {
    let schema = schema_columns().expect("tests create the schema and read all its columns");
    let columns_of = |table: &'static ArchivedTable| {
        let columns = schema.iter().filter(|(of, _)| of == table.table);
        match table.selected {
            None => columns.map(|(_, column)| column.clone()).collect(),
            Some(names) => {
                let find = |name: &&str| columns.clone().find(|(_, column)| column.name == **name);
                names
                    .iter()
                    .filter_map(find)
                    .map(|(_, column)| column.clone())
                    .collect()
            }
        }
    };
    let tables = TABLES.iter().chain([&FILES.table, &PEOPLE.table]);
    tables.map(|table| (table.name, columns_of(table))).collect()
});

/// Reads the columns, which takes as long as all migrations of an empty database. Otherwise the first deletion would,
/// inside its transaction.
pub fn prepare() {
    LazyLock::force(&COLUMNS);
}

/// Reads the schema of an empty database, whose statements are not counted with those of a request.
fn schema_columns() -> anyhow::Result<Vec<(String, ArchivedColumn)>> {
    let sqlite = migrated_in_memory()?;
    let mut statement = sqlite.prepare(SCHEMA_COLUMNS)?;
    let mut rows = statement.query([])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let (table, name): (String, String) = (row.get("table_name")?, row.get("name")?);
        let kind = ColumnType::of_type(&row.get::<_, String>("type")?);
        let kind = kind.with_context(|| format!("type of {table}.{name}"))?;
        let default = match row.get::<_, Option<String>>("default_value")? {
            None => Cell::Null,
            Some(literal) => {
                cell_of_literal(&literal, kind).with_context(|| format!("default value of {table}.{name}"))?
            }
        };
        columns.push((table, ArchivedColumn { name, kind, default }));
    }
    Ok(columns)
}

/// Reads an SQL literal; `None` if it is not of the type of the column.
fn cell_of_literal(literal: &str, kind: ColumnType) -> Option<Cell> {
    match kind {
        ColumnType::Int => literal.parse().ok().map(Cell::Int),
        ColumnType::Real => literal.parse().ok().map(Cell::Real),
        ColumnType::Bool => literal.to_ascii_lowercase().parse().ok().map(Cell::Bool),
        ColumnType::Text => {
            let text = literal.strip_prefix('\'')?.strip_suffix('\'')?;
            Some(Cell::Text(text.replace("''", "'")))
        }
    }
}

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
    /// A table with all its columns.
    const fn whole(table: &'static str, order: &'static str) -> Self {
        Self {
            name: table,
            table,
            order,
            selected: None,
        }
    }

    /// Some columns of a table.
    const fn some(
        name: &'static str,
        table: &'static str,
        order: &'static str,
        selected: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            table,
            order,
            selected: Some(selected),
        }
    }

    /// Returns the archived columns.
    pub fn columns(&self) -> &'static [ArchivedColumn] {
        COLUMNS.get(self.name).map_or(&[], Vec::as_slice)
    }

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
        Sql::text_of(format!(
            "SELECT {} FROM {} WHERE organization_id = $1 AND {condition} ORDER BY {}",
            self.column_list(),
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

    fn column_list(&self) -> String {
        let names: Vec<&str> = self.columns().iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    fn insert(&self, rows: usize) -> Sql {
        let mut text = format!(
            "INSERT INTO {} (organization_id, {}) VALUES ",
            self.table,
            self.column_list()
        );
        let mut number = 1;
        for row in 0..rows {
            text.push_str(if row == 0 { "($1" } else { ", ($1" });
            for column in self.columns() {
                number += 1;
                // With several rows PostgreSQL does not take the types of the parameters from the columns.
                let cast = match column.kind {
                    ColumnType::Text => "TEXT",
                    ColumnType::Int => "BIGINT",
                    ColumnType::Bool => "BOOLEAN",
                    ColumnType::Real => "DOUBLE PRECISION",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::school::SchoolTable;

    #[test]
    fn selected_columns_exist() {
        for table in TABLES.iter().chain([&FILES.table, &PEOPLE.table]) {
            let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
            assert!(!names.is_empty(), "{}", table.name);
            assert!(
                table.selected.is_none_or(|selected| selected == names),
                "{}",
                table.name
            );
        }
    }

    /// `SCHOOL_TABLES` names the columns with ids of users.
    #[test]
    fn archived_tables_are_those_of_a_school() {
        for table in TABLES.iter().filter(|table| table.table != "editing_sessions") {
            assert!(SchoolTable::find(table.table).is_some(), "{}", table.name);
        }
    }

    #[test]
    fn columns_have_types_and_defaults_of_the_schema() {
        let column = |table: &str, name: &str| {
            let found = ArchivedTable::find(table)
                .map_or(&[][..], ArchivedTable::columns)
                .iter();
            let found = found.filter(|column| column.name == name);
            found.map(|column| (column.kind, column.default.clone())).next()
        };
        assert_eq!(column("groups", "organization_id"), None);
        assert_eq!(column("groups", "display_name"), Some((ColumnType::Text, Cell::Null)));
        assert_eq!(column("groups", "row_version"), Some((ColumnType::Int, Cell::Int(1))));
        assert_eq!(
            column("classes", "follows_homeroom"),
            Some((ColumnType::Bool, Cell::Bool(false)))
        );
        let enrolled_by = Cell::Text("teacher".to_owned());
        assert_eq!(
            column("class_enrollments", "enrolled_by"),
            Some((ColumnType::Text, enrolled_by))
        );
    }
}
