//! Inserts the rows of a school from an archive into a database that is in use, in one transaction. The archive is
//! untrusted: a row belongs to the imported school, refers to people of the archive only, and to files that are in the
//! archive. See docs/moving-a-school.md.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::collation::{search_key, sort_key};
use domain::comment::rename_mentions;
use domain::file::FileKey;
use domain::id::OrganizationId;
use domain::organization::{Metadata, OrganizationStatus};
use domain::text::{Name, Slug, WebAddress, name_key};
use domain::time::Timestamp;

use super::load::load_rows;
use super::school::{ORGANIZATION, ORGANIZATION_COLUMNS, PEOPLE, SchoolTable, carried, literal};
use super::school_people::NamedPeople;
use super::snapshot::each;
use super::{Cell, ColumnType, DumpTable, TableColumn, catalog, quoted};
use crate::activity::LogEntry;
use crate::archives::format::{ArchivedRow, RowHeader};
use crate::connection::Connection;
use crate::platform::PlatformTx;
use crate::sql::{Sql, Value as SqlValue};
use crate::{Database, RequestContext, WriteTx, args, statements};
use common::clock;
use common::error::{Error, Result};

statements! {
    IS_DELETED = "SELECT deleted_at IS NOT NULL AS is_deleted FROM organizations WHERE id = $1";
    SLUG_IN_USE = "SELECT slug FROM organizations WHERE slug = $1 UNION ALL SELECT slug FROM former_slugs WHERE slug = $1";
    REMOVAL = "SELECT id FROM file_removals WHERE file_key = $1";
}

/// The maximum number of rows that are in memory at a time, and the size of their texts at which no more are read.
pub(super) const BATCH_ROWS: usize = 500;
const BATCH_BYTES: usize = 4 << 20;
/// The files of the archive, in a temporary table.
pub(super) const FILES: &str = "imported_files";

/// The result of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportedSchool {
    pub organization: String,
    pub slug: String,
    pub name: String,
    /// The number of new accounts.
    pub accounts: u64,
    /// The number of active accounts without a password.
    pub without_password: u64,
    /// The addresses that were invited.
    pub invited: Vec<String>,
    /// The number of people who were erased in this installation and therefore erased again.
    pub erased: u64,
    /// The active owners with an account of the school.
    pub owners: Vec<(String, String)>,
    /// The number of rows by table.
    pub rows: BTreeMap<String, u64>,
}

/// The import of a school: a transaction that is rolled back unless it is committed.
pub struct SchoolImport {
    pub(super) connection: Connection,
    pub(super) tables: Vec<DumpTable>,
    pub(super) organization: String,
    pub(super) slug: String,
    pub(super) now: Timestamp,
    /// Users who were erased, by the journal of the data folder and by the database.
    pub(super) erased: BTreeSet<String>,
    pub(super) has_known_people: bool,
    pub(super) loaded: BTreeSet<String>,
    pub(super) result: ImportedSchool,
}

pub(super) fn refused(why: impl std::fmt::Display) -> Error {
    Error::Internal(anyhow::anyhow!("{why}"))
}

/// Reads a row as a map of its cells.
pub(super) fn named(columns: &[(String, ColumnType)], cells: Vec<Cell>) -> HashMap<String, Cell> {
    columns.iter().map(|(name, _)| name.clone()).zip(cells).collect()
}

pub(super) fn text_of(row: &HashMap<String, Cell>, column: &str) -> Option<String> {
    match row.get(column) {
        Some(Cell::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

pub(super) fn int_of(row: &HashMap<String, Cell>, column: &str) -> Option<i64> {
    match row.get(column) {
        Some(Cell::Int(number)) => Some(*number),
        _ => None,
    }
}

pub(super) fn exists(connection: &mut Connection, statement: &'static Sql, arguments: &[SqlValue<'_>]) -> Result<bool> {
    let found = connection.fetch_optional(statement, arguments, |row| row.only::<String>())?;
    Ok(found.is_some())
}

pub(super) fn optional(text: Option<String>) -> Cell {
    text.map_or(Cell::Null, Cell::Text)
}

pub(super) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':');
    (1..=200).contains(&text.len()) && text.bytes().all(is_plain)
}

pub(super) fn columns_of(columns: &[(&str, ColumnType)]) -> Vec<TableColumn> {
    let column = |(name, kind): &(&str, ColumnType)| TableColumn {
        name: (*name).to_owned(),
        kind: *kind,
    };
    columns.iter().map(column).collect()
}

impl SchoolImport {
    /// Begins the transaction. On SQLite other writers wait until it ends.
    pub fn begin(database: &Database, organization: &str, slug: &str, erased: BTreeSet<String>) -> Result<Self> {
        let mut connection = match database {
            Database::Sqlite(path) => Connection::open_sqlite(path, false)?,
            Database::Postgres(url) => Connection::open_postgres(url)?,
        };
        let tables = catalog::tables(&mut connection)?;
        match &connection {
            // The people and the files of the archive are in temporary tables.
            Connection::Sqlite(_) => connection.execute_batch("PRAGMA temp_store = FILE; BEGIN IMMEDIATE")?,
            Connection::Postgres(_) => connection.execute_batch("BEGIN")?,
        }
        let import = Self {
            connection,
            tables,
            organization: organization.to_owned(),
            slug: slug.to_owned(),
            now: clock::now(),
            erased,
            has_known_people: false,
            loaded: BTreeSet::new(),
            result: ImportedSchool::default(),
        };
        Ok(import)
    }

    /// Fails if the school is here already, or if its short name is in use.
    pub fn check_absent(&mut self) -> Result<()> {
        if !is_id(&self.organization) {
            return Err(refused("the id of the school is invalid"));
        }
        if Slug::try_from(self.slug.as_str()).is_err() {
            return Err(refused(format!(
                "{} is no short name of a school; name another one with --slug",
                self.slug
            )));
        }
        let is_deleted = self
            .connection
            .fetch_optional(&IS_DELETED, args![self.organization], |row| row.only::<bool>())?;
        if let Some(is_deleted) = is_deleted {
            return Err(refused(if is_deleted {
                "this school was deleted here and is still being purged: try again later"
            } else {
                "this school is in this installation already: delete it first, and wait until its data is purged"
            }));
        }
        if exists(&mut self.connection, &SLUG_IN_USE, args![self.slug])? {
            return Err(refused(format!(
                "the short name {} is in use in this installation: name another one with --slug",
                self.slug
            )));
        }
        Ok(())
    }

    /// Returns the number of bytes that a school may store here.
    pub fn quota() -> i64 {
        domain::storage::QuotaBytes::OF_SCHOOL.get()
    }

    /// Inserts the rows of one table of the archive, in the order of the archive.
    pub fn load(&mut self, header: &RowHeader, mut next: impl FnMut() -> Result<Option<Vec<Cell>>>) -> Result<()> {
        let name = header.table.clone();
        if !self.loaded.insert(name.clone()) {
            return Err(refused(format!("the rows of {name} are in two places")));
        }
        let count = match name.as_str() {
            ORGANIZATION => self.load_organization(header, &mut next)?,
            PEOPLE => self.load_people(header, &mut next)?,
            _ => self.load_table(header, &mut next)?,
        };
        self.result.rows.insert(name, count);
        Ok(())
    }

    pub(super) fn check_columns(header: &RowHeader, known: &[TableColumn], may_lack: bool) -> Result<()> {
        let mut seen = BTreeSet::new();
        for (name, kind) in &header.columns {
            let is_known = known.iter().any(|column| column.name == *name && column.kind == *kind);
            if !is_known || !seen.insert(name) {
                return Err(refused(format!(
                    "{} has no column {name:?} of this type here",
                    header.table
                )));
            }
        }
        if !may_lack && seen.len() != known.len() {
            return Err(refused(format!("columns of {} are missing", header.table)));
        }
        Ok(())
    }

    fn load_organization(
        &mut self,
        header: &RowHeader,
        next: &mut dyn FnMut() -> Result<Option<Vec<Cell>>>,
    ) -> Result<u64> {
        Self::check_columns(header, &columns_of(ORGANIZATION_COLUMNS), false)?;
        let row = next()?.ok_or_else(|| refused("the archive has no school"))?;
        if next()?.is_some() {
            return Err(refused("the archive has more than one school"));
        }
        let row = named(&header.columns, row);
        if text_of(&row, "id").as_deref() != Some(self.organization.as_str()) {
            return Err(refused("the archive contradicts itself about the school"));
        }
        let invalid = |what: &str| refused(format!("{what} of the school is invalid"));
        let name = text_of(&row, "name").unwrap_or_default();
        let name = Name::try_from(name.as_str()).map_err(|_| invalid("the name"))?;
        name.as_str().clone_into(&mut self.result.name);
        let logo = text_of(&row, "logo");
        if let Some(logo) = &logo {
            WebAddress::try_from(logo.as_str()).map_err(|_| invalid("the logo"))?;
        }
        let status = text_of(&row, "status").unwrap_or_default();
        OrganizationStatus::parse(&status).ok_or_else(|| invalid("the status"))?;
        let metadata = text_of(&row, "metadata");
        if let Some(metadata) = &metadata {
            serde_json::from_str::<Metadata>(metadata).map_err(|_| invalid("a setting"))?;
        }
        let created_at = int_of(&row, "created_at").ok_or_else(|| invalid("the time"))?;
        let mut columns = columns_of(ORGANIZATION_COLUMNS);
        columns.extend(columns_of(&[
            ("updated_at", ColumnType::Int),
            ("name_key", ColumnType::Text),
            ("search_key", ColumnType::Text),
            ("sort_key", ColumnType::Text),
        ]));
        let text = |text: &str| Cell::Text(text.to_owned());
        let cells = vec![
            text(&self.organization),
            text(name.as_str()),
            text(&self.slug),
            optional(logo),
            text(&status),
            optional(metadata),
            Cell::Int(created_at),
            Cell::Int(self.now.as_millis()),
            Cell::Text(name_key(name.as_str())),
            Cell::Text(search_key(name.as_str())),
            Cell::Text(sort_key(name.as_str())),
        ];
        self.insert(ORGANIZATION, columns, vec![cells])?;
        Ok(1)
    }

    fn load_table(&mut self, header: &RowHeader, next: &mut dyn FnMut() -> Result<Option<Vec<Cell>>>) -> Result<u64> {
        let found = SchoolTable::find(&header.table);
        let here = self
            .tables
            .iter()
            .find(|table| table.name == header.table)
            .and_then(carried);
        let (Some(rules), Some(here)) = (found, here) else {
            return Err(refused(format!("{} is no table of a school", header.table)));
        };
        if !self.loaded.contains(ORGANIZATION) || !self.loaded.contains(PEOPLE) {
            return Err(refused("the school and its people must come first"));
        }
        Self::check_columns(header, &here.columns, true)?;
        let mut columns = vec![TableColumn {
            name: "organization_id".to_owned(),
            kind: ColumnType::Text,
        }];
        columns.extend(header.columns.iter().map(|(name, kind)| TableColumn {
            name: name.clone(),
            kind: *kind,
        }));
        let table = DumpTable {
            name: header.table.clone(),
            columns,
        };
        let mut count = 0;
        loop {
            let rows = next_batch(next)?;
            if rows.is_empty() {
                return Ok(count);
            }
            count += self.load_batch(header, &table, rules, rows)?;
        }
    }

    /// Inserts some rows of a table, with the ids that their people have here.
    fn load_batch(
        &mut self,
        header: &RowHeader,
        table: &DumpTable,
        rules: &SchoolTable,
        rows: Vec<Vec<Cell>>,
    ) -> Result<u64> {
        let rows = rows.into_iter().map(|cells| ArchivedRow { header, cells });
        let mut rows: Vec<ArchivedRow<'_>> = rows.collect();
        let mut named = NamedPeople::default();
        for row in &mut rows {
            check_texts(row)?;
            named.add(row, rules.users, rules.user_lists, rules.mentions)?;
        }
        let people = self.people(&named)?;
        self.refuse_foreign_people(named.unknown(&people))?;
        if people.iter().any(|(archived, here)| archived != here) {
            for row in &mut rows {
                rename_people(row, rules.users, rules.user_lists, &people)?;
                rename_mentioned(row, rules.mentions, &people);
            }
        }
        if header.table == "members" {
            self.adapt_memberships(&mut rows)?;
        }
        let organization = self.organization.clone();
        let mut rows = rows.into_iter().map(|mut row| {
            let mut cells = vec![Cell::Text(organization.clone())];
            cells.append(&mut row.cells);
            cells
        });
        load_rows(&mut self.connection, table, || Ok(rows.next()))
    }

    /// Registers the files of the archive: rows may refer to these only.
    pub fn files(&mut self, next: impl FnMut() -> Result<Option<Vec<Cell>>>) -> Result<()> {
        self.connection.execute_batch(&format!(
            "CREATE TEMPORARY TABLE {FILES} (file_key TEXT NOT NULL PRIMARY KEY, size BIGINT, sha256 TEXT)"
        ))?;
        let table = DumpTable {
            name: FILES.to_owned(),
            columns: columns_of(&[
                ("file_key", ColumnType::Text),
                ("size", ColumnType::Int),
                ("sha256", ColumnType::Text),
            ]),
        };
        load_rows(&mut self.connection, &table, next).map(drop)
    }

    /// Checks and completes the rows once all tables are loaded.
    pub fn complete(&mut self) -> Result<ImportedSchool> {
        for needed in [ORGANIZATION, PEOPLE, "members"] {
            if !self.loaded.contains(needed) {
                return Err(refused(format!("the archive has no rows of {needed}")));
            }
        }
        self.analyze_tables()?;
        self.check_files()?;
        self.check_references()?;
        self.check_archives()?;
        self.derive()?;
        self.invite()?;
        self.erase()?;
        self.summarize()?;
        Ok(self.result.clone())
    }

    /// Renews the statistics of the tables on PostgreSQL. Autovacuum counts no row of an open transaction: a table that it
    /// visits during the import would be planned as an empty one, and joins would read it once per person. The lock of
    /// ANALYZE keeps autovacuum away until the transaction ends.
    fn analyze_tables(&mut self) -> Result<()> {
        if matches!(self.connection, Connection::Sqlite(_)) {
            return Ok(());
        }
        let analyze = |table: &String| format!("ANALYZE {};", quoted(table));
        let statements: String = self.loaded.iter().map(analyze).collect();
        self.connection.execute_batch(&statements)
    }

    /// Every file of a row is in the archive, and every file of the archive is that of a row.
    fn check_files(&mut self) -> Result<()> {
        let organization = literal(&self.organization);
        let mut parts = Vec::new();
        let tables: Vec<DumpTable> = self.tables.iter().filter_map(carried).collect();
        for table in &tables {
            let has = |name: &str| table.columns.iter().any(|column| column.name == name);
            if !has("file_key") {
                continue;
            }
            let name = quoted(&table.name);
            parts.push(format!(
                "SELECT file_key FROM {name} WHERE organization_id = {organization}"
            ));
            let foreign = format!(
                "SELECT r.file_key FROM {name} r WHERE r.organization_id = {organization} AND r.file_key IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM {FILES} f WHERE f.file_key = r.file_key AND f.size = r.size
                        AND f.sha256 = r.sha256) LIMIT 1"
            );
            if let Some(key) = self.first(&foreign)? {
                return Err(refused(format!(
                    "a row of {} refers to the file {key}, which is not in the archive",
                    table.name
                )));
            }
        }
        let unused = format!(
            "SELECT f.file_key FROM {FILES} f WHERE f.file_key NOT IN (SELECT x.file_key FROM ({}) x
                WHERE x.file_key IS NOT NULL) LIMIT 1",
            parts.join(" UNION ALL ")
        );
        match self.first(&unused)? {
            Some(key) => Err(refused(format!("no row refers to the file {key}"))),
            None => Ok(()),
        }
    }

    /// Inserts a record into the activity log of the school. `actor` is the name of the command.
    pub fn insert_log(&mut self, entry: &LogEntry, actor: &str) -> Result<()> {
        let organization = OrganizationId::new(self.organization.as_str());
        let tenant = PlatformTx::on(&mut self.connection).tenant(&organization)?;
        let context = RequestContext::for_service(tenant, actor, self.now);
        WriteTx::on(&mut self.connection, context).insert_log(entry)
    }

    /// Commits: the school is visible from now on.
    pub fn commit(mut self) -> Result<()> {
        self.connection.execute_batch("COMMIT")
    }

    /// Returns whether a row of any organization refers to a file.
    pub fn is_file_referenced(&mut self, key: &str) -> Result<bool> {
        PlatformTx::on(&mut self.connection).is_file_referenced(&FileKey::new(key))
    }

    /// Returns whether a file is queued for removal.
    pub fn is_removal_pending(&mut self, key: &str) -> Result<bool> {
        exists(&mut self.connection, &REMOVAL, args![key])
    }

    /// Ends the transaction without an effect.
    pub fn roll_back(mut self) -> Result<()> {
        self.connection.execute_batch("ROLLBACK")
    }

    pub(super) fn insert(&mut self, table: &str, columns: Vec<TableColumn>, rows: Vec<Vec<Cell>>) -> Result<()> {
        let table = DumpTable {
            name: table.to_owned(),
            columns,
        };
        let mut rows = rows.into_iter();
        load_rows(&mut self.connection, &table, || Ok(rows.next())).map(drop)
    }

    /// Returns the first text that a query selects.
    pub(super) fn first(&mut self, text: &str) -> Result<Option<String>> {
        let mut found = None;
        each(&mut self.connection, text, &[ColumnType::Text], |row| {
            if let [Cell::Text(text)] = row {
                found.get_or_insert_with(|| text.clone());
            }
            Ok(())
        })?;
        Ok(found)
    }
}

pub(super) fn check_texts(row: &ArchivedRow<'_>) -> Result<()> {
    let has_nul = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
    if row.cells.iter().any(has_nul) {
        return Err(refused(format!("a text of {} contains a NUL", row.header.table)));
    }
    let id = row.text("id");
    if id.is_some_and(|id| !is_id(id)) {
        return Err(refused(format!("an id of {} is invalid", row.header.table)));
    }
    Ok(())
}

/// Replaces the ids of people by their ids in this database. Ids of others stay.
pub(super) fn rename_people(
    row: &mut ArchivedRow<'_>,
    columns: &[&str],
    lists: &[&str],
    people: &HashMap<String, String>,
) -> Result<()> {
    row.visit_people(columns, lists, &mut |id| {
        people.get(id).filter(|other| *other != id).cloned()
    })
    .map_err(refused)
}

/// Replaces the ids of people whom texts mention. An id of anyone else stays: comments show no name for it.
pub(super) fn rename_mentioned(row: &mut ArchivedRow<'_>, columns: &[&str], people: &HashMap<String, String>) {
    for column in columns {
        let renamed = row
            .text(column)
            .map(|text| rename_mentions(text, |id| people.get(id).cloned()));
        if let Some(renamed) = renamed.filter(|renamed| !row.is(column, renamed)) {
            row.set_text(column, &renamed);
        }
    }
}

/// Reads the next rows of a table: few enough to keep them in memory.
fn next_batch(next: &mut dyn FnMut() -> Result<Option<Vec<Cell>>>) -> Result<Vec<Vec<Cell>>> {
    let (mut rows, mut size) = (Vec::new(), 0);
    while rows.len() < BATCH_ROWS && size < BATCH_BYTES {
        let Some(row) = next()? else { break };
        size += row.iter().map(size_of_text).sum::<usize>();
        rows.push(row);
    }
    Ok(rows)
}

fn size_of_text(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mention_people_by_their_new_ids() {
        let header = RowHeader {
            table: "document_comments".to_owned(),
            columns: vec![
                ("author_id".to_owned(), ColumnType::Text),
                ("text".to_owned(), ColumnType::Text),
            ],
        };
        let people = HashMap::from([
            ("ben".to_owned(), "ben-2".to_owned()),
            ("ada".to_owned(), "ada".to_owned()),
        ]);
        let rules = SchoolTable::find("document_comments").expect("comments are carried");
        for (text, expected) in [
            ("@[ben], ask @[ada] or @[tom]", "@[ben-2], ask @[ada] or @[tom]"),
            ("ben", "ben"),
        ] {
            let cells = vec![Cell::Text("ben".to_owned()), Cell::Text(text.to_owned())];
            let mut row = ArchivedRow { header: &header, cells };
            rename_mentioned(&mut row, rules.mentions, &people);
            assert_eq!((row.text("author_id"), row.text("text")), (Some("ben"), Some(expected)));
        }
    }
}
