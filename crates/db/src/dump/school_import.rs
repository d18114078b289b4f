//! Inserts the rows of a school from an archive into a database that is in use, in one transaction. The archive is
//! untrusted: a row belongs to the imported school, refers to people of the archive only, and to files that are in the
//! archive. See docs/moving-a-school.md.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::access::MemberRole;
use domain::account_email::{AccountEmail, is_placeholder};
use domain::collation::{person_sort_key, search_key, sort_key};
use domain::file::FileKey;
use domain::id::UserId;
use domain::invitation::LIFETIME;
use domain::organization::{Metadata, OrganizationStatus};
use domain::text::{Name, ShortName, Slug, Username, WebAddress, name_key};
use domain::time::Timestamp;
use serde_json::Value;

use super::load::load_rows;
use super::school::{
    ORGANIZATION, ORGANIZATION_COLUMNS, PEOPLE, PEOPLE_COLUMNS, SchoolTable, carried, list_entries, literal,
};
use super::snapshot::each;
use super::{Cell, ColumnType, DumpTable, TableColumn, catalog, quoted};
use crate::Database;
use crate::archives::format::{ArchiveManifest, ArchivedRow, ChunkVerifier, ChunkWriter, RowHeader, read_chunk};
use crate::archives::tables::{ArchivedTable, USER_COLUMNS, USER_LISTS};
use crate::connection::Connection;
use crate::platform::PlatformTx;
use crate::platform::erasure::LogScan;
use common::clock;
use common::error::{Error, Result};

/// The maximum number of people, whose ids are in memory.
const PEOPLE_MAX: usize = 200_000;
/// The files of the archive, in a temporary table.
const FILES: &str = "imported_files";

/// A person of the archive.
#[derive(Debug, Clone)]
struct ArchivedPerson {
    id: String,
    name: String,
    first_name: Option<String>,
    last_name: Option<String>,
    /// The address, if the archive contains one.
    email: Option<String>,
    user_name: Option<String>,
    locale: String,
    timezone: Option<String>,
    is_active: bool,
    created_at: i64,
}

/// The fate of a person of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// A new account of the school.
    New,
    /// An account that the purge of the school left without address, home and membership belongs to it again.
    Returned,
    /// The address has an account. The work of the person belongs to a deactivated account without an address, and the
    /// address is invited.
    Invited,
    /// The account was erased here, and so is the work of the person.
    Erased,
}

/// An address that is invited, because it has an account.
#[derive(Debug, Clone)]
struct NewInvitation {
    email: String,
    name: String,
    /// The deactivated account with the work of the person.
    user: String,
    role: String,
    external_id: Option<String>,
}

/// The result of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportedSchool {
    pub organization: String,
    pub slug: String,
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
    connection: Connection,
    tables: Vec<DumpTable>,
    organization: String,
    slug: String,
    now: Timestamp,
    /// Users who were erased, by the journal of the data folder and by the database.
    erased: BTreeSet<String>,
    /// The ids of people in this database, by their ids in the archive.
    people: HashMap<String, String>,
    arrivals: HashMap<String, Arrival>,
    /// The addresses of erased people by their id here, to erase them from the log.
    addresses: HashMap<String, String>,
    /// Invited people by the id of their deactivated account: address and name.
    invited: HashMap<String, (String, String)>,
    invitations: Vec<NewInvitation>,
    has_known_people: bool,
    loaded: BTreeSet<String>,
    result: ImportedSchool,
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Internal(anyhow::anyhow!("{why}"))
}

/// Reads a row as a map of its cells.
fn named(columns: &[(String, ColumnType)], cells: Vec<Cell>) -> HashMap<String, Cell> {
    columns.iter().map(|(name, _)| name.clone()).zip(cells).collect()
}

fn text_of(row: &HashMap<String, Cell>, column: &str) -> Option<String> {
    match row.get(column) {
        Some(Cell::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

fn int_of(row: &HashMap<String, Cell>, column: &str) -> Option<i64> {
    match row.get(column) {
        Some(Cell::Int(number)) => Some(*number),
        _ => None,
    }
}

fn optional(text: Option<String>) -> Cell {
    text.map_or(Cell::Null, Cell::Text)
}

fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':');
    (1..=200).contains(&text.len()) && text.bytes().all(is_plain)
}

fn columns_of(columns: &[(&str, ColumnType)]) -> Vec<TableColumn> {
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
            Connection::Sqlite(_) => connection.execute_batch("BEGIN IMMEDIATE")?,
            Connection::Postgres(_) => connection.execute_batch("BEGIN")?,
        }
        let import = Self {
            connection,
            tables,
            organization: organization.to_owned(),
            slug: slug.to_owned(),
            now: clock::now(),
            erased,
            people: HashMap::new(),
            arrivals: HashMap::new(),
            addresses: HashMap::new(),
            invited: HashMap::new(),
            invitations: Vec::new(),
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
        let (id, slug) = (literal(&self.organization), literal(&self.slug));
        if self.exists(&format!(
            "SELECT id FROM organizations WHERE id = {id} AND deleted_at IS NULL"
        ))? {
            return Err(refused(
                "this school is in this installation already: delete it first, and wait until its data is purged",
            ));
        }
        if self.exists(&format!("SELECT id FROM organizations WHERE id = {id}"))? {
            return Err(refused(
                "this school was deleted here and is still being purged: try again later",
            ));
        }
        let taken = format!(
            "SELECT slug FROM organizations WHERE slug = {slug} UNION ALL SELECT slug FROM former_slugs WHERE slug = {slug}"
        );
        if self.exists(&taken)? {
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

    fn check_columns(header: &RowHeader, known: &[TableColumn], may_lack: bool) -> Result<()> {
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

    fn load_people(&mut self, header: &RowHeader, next: &mut dyn FnMut() -> Result<Option<Vec<Cell>>>) -> Result<u64> {
        Self::check_columns(header, &columns_of(PEOPLE_COLUMNS), false)?;
        let mut rows = Vec::new();
        let mut count = 0;
        while let Some(cells) = next()? {
            let person = Self::person(&named(&header.columns, cells))?;
            count += 1;
            if self.people.len() >= PEOPLE_MAX {
                return Err(refused("the archive has too many people"));
            }
            if self.people.contains_key(&person.id) {
                return Err(refused(format!("the person {} is in two places", person.id)));
            }
            rows.extend(self.arrive(person)?);
        }
        let mut columns = columns_of(PEOPLE_COLUMNS);
        columns.extend(columns_of(&[
            ("updated_at", ColumnType::Int),
            ("name_key", ColumnType::Text),
            ("search_key", ColumnType::Text),
            ("sort_key", ColumnType::Text),
            ("username", ColumnType::Text),
            ("home_organization_id", ColumnType::Text),
            ("email_verified", ColumnType::Bool),
            ("role", ColumnType::Text),
        ]));
        self.insert(PEOPLE, columns, rows)?;
        Ok(count)
    }

    fn person(row: &HashMap<String, Cell>) -> Result<ArchivedPerson> {
        let id = text_of(row, "id")
            .filter(|id| is_id(id))
            .ok_or_else(|| refused("the id of a person is invalid"))?;
        let invalid = |what: &str| refused(format!("{what} of the person {id} is invalid"));
        let name = text_of(row, "name").unwrap_or_default();
        Name::try_from(name.as_str()).map_err(|_| invalid("the name"))?;
        for part in ["first_name", "last_name"] {
            if let Some(text) = text_of(row, part) {
                ShortName::try_from(text.as_str()).map_err(|_| invalid("the name"))?;
            }
        }
        let email = text_of(row, "email");
        if let Some(email) = &email {
            let is_address = email.len() <= 254
                && email.split('@').count() == 2
                && !email.starts_with('@')
                && !email.ends_with('@')
                && *email == email.to_lowercase()
                && email
                    .chars()
                    .all(|letter| !letter.is_whitespace() && !letter.is_control());
            if !is_address || is_placeholder(email) {
                return Err(invalid("the address"));
            }
        }
        let user_name = text_of(row, "user_name");
        if let Some(user_name) = &user_name {
            Username::try_from(user_name.as_str()).map_err(|_| invalid("the user name"))?;
        }
        let short = |column: &str| text_of(row, column).filter(|text| text.len() <= 64);
        Ok(ArchivedPerson {
            name,
            first_name: text_of(row, "first_name"),
            last_name: text_of(row, "last_name"),
            email,
            user_name,
            locale: short("locale").unwrap_or_else(|| "en".to_owned()),
            timezone: short("timezone"),
            is_active: matches!(row.get("is_active"), Some(Cell::Bool(true))),
            created_at: int_of(row, "created_at").ok_or_else(|| invalid("the time"))?,
            id,
        })
    }

    /// Decides how a person arrives. Returns the row of a new account.
    fn arrive(&mut self, person: ArchivedPerson) -> Result<Option<Vec<Cell>>> {
        let id = literal(&person.id);
        let is_known = self.exists(&format!("SELECT id FROM users WHERE id = {id}"))?;
        let has_account = match &person.email {
            Some(email) => self.exists(&format!("SELECT id FROM users WHERE email = {}", literal(email)))?,
            None => false,
        };
        let is_erased = is_known
            && self.exists(&format!(
                "SELECT id FROM users WHERE id = {id} AND erased_at IS NOT NULL"
            ))?;
        self.has_known_people |= is_known;
        let (target, arrival) = if is_erased {
            (person.id.clone(), Arrival::Erased)
        } else if is_known && person.email.is_none() && person.user_name.is_some() && self.is_left_over(&id)? {
            (person.id.clone(), Arrival::Returned)
        } else {
            let arrival = if self.erased.contains(&person.id) {
                Arrival::Erased
            } else if has_account {
                Arrival::Invited
            } else {
                Arrival::New
            };
            (if is_known { clock::new_id() } else { person.id.clone() }, arrival)
        };
        self.people.insert(person.id.clone(), target.clone());
        self.arrivals.insert(target.clone(), arrival);
        match (arrival, person.email.clone()) {
            (Arrival::Invited, Some(email)) => {
                self.invited.insert(target.clone(), (email, person.name.clone()));
            }
            (Arrival::Erased, Some(email)) => {
                self.addresses.insert(target.clone(), email);
            }
            _ => {}
        }
        if arrival == Arrival::Returned {
            self.take_back(&person)?;
        }
        if is_erased || arrival == Arrival::Returned {
            return Ok(None);
        }
        self.result.accounts += u64::from(arrival == Arrival::New);
        let is_new = arrival == Arrival::New;
        let email = person.email.clone().filter(|_| is_new);
        let is_member = person.email.is_some() || person.user_name.is_some();
        let email = email.unwrap_or_else(|| {
            AccountEmail::none(&UserId::new(target.as_str()))
                .stored_form()
                .to_owned()
        });
        Ok(Some(vec![
            Cell::Text(target),
            Cell::Text(person.name.clone()),
            optional(person.first_name),
            optional(person.last_name.clone()),
            Cell::Text(email),
            optional(person.user_name.clone()),
            Cell::Text(person.locale),
            optional(person.timezone),
            Cell::Bool(person.is_active && is_member && is_new),
            Cell::Int(person.created_at),
            Cell::Int(self.now.as_millis()),
            Cell::Text(name_key(&person.name)),
            Cell::Text(search_key(&person.name)),
            Cell::Text(person_sort_key(&person.name, person.last_name.as_deref())),
            optional(person.user_name),
            optional(is_member.then(|| self.organization.clone())),
            Cell::Bool(false),
            Cell::Text("STUDENT".to_owned()),
        ]))
    }

    /// Whether an account has no address, no home and no membership: a purge left it, and nobody can sign in with it.
    fn is_left_over(&mut self, id: &str) -> Result<bool> {
        self.exists(&format!(
            "SELECT u.id FROM users u WHERE u.id = {id} AND u.home_organization_id IS NULL AND u.role <> 'SUPER_ADMIN'
                AND u.email = u.id || '@no-email.invalid'
                AND NOT EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id)"
        ))
    }

    /// Gives an account that a purge left back to the school, without its former credentials.
    fn take_back(&mut self, person: &ArchivedPerson) -> Result<()> {
        let id = literal(&person.id);
        for table in ["accounts", "sessions", "second_factors", "recovery_codes", "passkeys"] {
            self.connection
                .execute_batch(&format!("DELETE FROM {table} WHERE user_id = {id}"))?;
        }
        PlatformTx::on(&mut self.connection).delete_verifications(&UserId::new(person.id.as_str()))?;
        let user_name = person.user_name.as_deref().map_or_else(|| "NULL".to_owned(), literal);
        let part = |text: &Option<String>| text.as_deref().map_or_else(|| "NULL".to_owned(), literal);
        self.connection.execute_batch(&format!(
            "UPDATE users SET home_organization_id = {}, user_name = {user_name}, username = {user_name}, is_active = {},
                name = {}, first_name = {}, last_name = {}, name_key = {}, search_key = {}, sort_key = {},
                has_second_factor = FALSE, must_change_password = FALSE, temporary_password_expires_at = NULL,
                password_organization_id = NULL, email_verified = FALSE, updated_at = {}
            WHERE id = {id}",
            literal(&self.organization),
            if person.is_active { "TRUE" } else { "FALSE" },
            literal(&person.name),
            part(&person.first_name),
            part(&person.last_name),
            literal(&name_key(&person.name)),
            literal(&search_key(&person.name)),
            literal(&person_sort_key(&person.name, person.last_name.as_deref())),
            self.now.as_millis()
        ))
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
        // The rows are adapted with this value while its connection inserts them.
        let mut unknown = BTreeSet::new();
        let (people, invited) = (&self.people, &self.invited);
        let (organization, invitations) = (&self.organization, &mut self.invitations);
        let is_members = header.table == "members";
        let count = load_rows(&mut self.connection, &table, || {
            let Some(cells) = next()? else { return Ok(None) };
            let mut row = ArchivedRow { header, cells };
            check_texts(&row)?;
            rename_people(&mut row, rules.users, rules.user_lists, people, &mut unknown)?;
            if is_members {
                adapt_membership(&mut row, invited, invitations)?;
            }
            let mut cells = vec![Cell::Text(organization.clone())];
            cells.append(&mut row.cells);
            Ok(Some(cells))
        })?;
        self.refuse_foreign_people(&unknown)?;
        Ok(count)
    }

    /// Fails if a row refers to a person of this installation who is not in the archive.
    fn refuse_foreign_people(&mut self, unknown: &BTreeSet<String>) -> Result<()> {
        for id in unknown {
            if self.exists(&format!("SELECT id FROM users WHERE id = {}", literal(id)))? {
                return Err(refused(format!(
                    "a row refers to the person {id}, who is not in the archive"
                )));
            }
        }
        Ok(())
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
        self.check_files()?;
        self.check_references()?;
        self.check_archives()?;
        self.derive()?;
        self.invite()?;
        self.erase()?;
        self.summarize()?;
        Ok(self.result.clone())
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

    /// References that are no foreign keys do not lead to rows of other schools.
    fn check_references(&mut self) -> Result<()> {
        let organization = literal(&self.organization);
        let checks = [
            format!(
                "SELECT d.id FROM documents d WHERE d.organization_id = {organization} AND d.current_revision_id IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM document_revisions r
                        WHERE r.id = d.current_revision_id AND r.document_id = d.id)"
            ),
            format!(
                "SELECT l.id FROM group_assignments l WHERE l.organization_id = {organization}
                    AND l.current_submission_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submissions s
                        WHERE s.id = l.current_submission_id AND s.group_assignment_id = l.id)"
            ),
            foreign_reference("document_saves", "revision_id", "document_revisions", &organization),
            foreign_reference("document_logs", "base_revision_id", "document_revisions", &organization),
            foreign_reference("assignment_rubrics", "rubric_id", "rubrics", &organization),
            foreign_reference("documents", "handed_out_from", "assignment_attachments", &organization),
            foreign_reference("deletion_archives", "class_id", "classes", &organization),
            foreign_reference("activity_logs", "class_id", "classes", &organization),
        ];
        for check in checks {
            if let Some(id) = self.first(&check)? {
                return Err(refused(format!(
                    "a row refers to a row that is not in the archive: {id}"
                )));
            }
        }
        Ok(())
    }

    /// Verifies the archives of deleted objects: they are restored later without these checks.
    fn check_archives(&mut self) -> Result<()> {
        let organization = literal(&self.organization);
        let mut archives = Vec::new();
        let list = format!(
            "SELECT id, manifest, seal FROM deletion_archives WHERE organization_id = {organization} AND manifest <> ''
                ORDER BY id"
        );
        each(&mut self.connection, &list, &[ColumnType::Text; 3], |row| {
            if let [Cell::Text(id), Cell::Text(manifest), Cell::Text(seal)] = row {
                archives.push((id.clone(), manifest.clone(), seal.clone()));
            }
            Ok(())
        })?;
        for (id, manifest, seal) in archives {
            let damaged = |_| refused(format!("the archive of the deleted object {id} is damaged"));
            let manifest = ArchiveManifest::open(&manifest, &seal).map_err(damaged)?;
            if manifest.organization != self.organization {
                return Err(refused(format!("the deleted object {id} is one of another school")));
            }
            self.check_archive(&id, manifest)?;
        }
        Ok(())
    }

    fn check_archive(&mut self, id: &str, mut manifest: ArchiveManifest) -> Result<()> {
        let archive = literal(id);
        let mut files = HashMap::new();
        let list = format!("SELECT file_key, size, sha256 FROM deletion_archive_files WHERE archive_id = {archive}");
        each(
            &mut self.connection,
            &list,
            &[ColumnType::Text, ColumnType::Int, ColumnType::Text],
            |row| {
                if let [Cell::Text(key), Cell::Int(size), Cell::Text(sha256)] = row {
                    files.insert(key.clone(), (*size, sha256.clone()));
                }
                Ok(())
            },
        )?;
        let is_renamed = self.people.iter().any(|(from, to)| from != to);
        let (mut verifier, mut writer) = (ChunkVerifier::default(), ChunkWriter::default());
        let mut unknown = BTreeSet::new();
        for number in 1..=manifest.chunks {
            let wanted = format!(
                "SELECT content FROM deletion_archive_chunks WHERE archive_id = {archive} AND number = {number}"
            );
            let chunk = self
                .first(&wanted)?
                .ok_or_else(|| refused(format!("the archive of the deleted object {id} is damaged")))?;
            verifier.add(&chunk)?;
            let people = &self.people;
            read_chunk(&chunk, |mut row| {
                check_archived_row(&mut row, &files, people, &mut unknown)?;
                writer.push(&row).map(drop)
            })?;
            let (_, content) = writer.take_chunk()?;
            if is_renamed {
                self.connection.execute_batch(&format!(
                    "UPDATE deletion_archive_chunks SET content = {} WHERE archive_id = {archive} AND number = {number}",
                    literal(&content)
                ))?;
            }
        }
        verifier.verify(&manifest)?;
        self.refuse_foreign_people(&unknown)?;
        if is_renamed {
            manifest.sha256 = writer.sha256();
            let (text, seal) = manifest.sealed()?;
            self.connection.execute_batch(&format!(
                "UPDATE deletion_archives SET manifest = {}, seal = {} WHERE id = {archive}",
                literal(&text),
                literal(&seal)
            ))?;
        }
        Ok(())
    }

    /// Writes what is derived from the rows: roles of accounts, keys of documents, and the used storage.
    fn derive(&mut self) -> Result<()> {
        let organization = literal(&self.organization);
        let role = |role: MemberRole| {
            format!(
                "UPDATE users SET role = '{}' WHERE role <> 'SUPER_ADMIN' AND home_organization_id = {organization}
                    AND id IN (SELECT m.user_id FROM members m WHERE m.organization_id = {organization} AND m.role = '{}')",
                role.platform_role().as_str(),
                role.as_str()
            )
        };
        for one in [
            MemberRole::Owner,
            MemberRole::Admin,
            MemberRole::Teacher,
            MemberRole::Student,
        ] {
            self.connection.execute_batch(&role(one))?;
        }
        if self.has_known_people {
            // The school was here before: a document server may know its documents.
            let seconds = self.now.as_millis() / 1000;
            self.connection.execute_batch(&format!(
                "UPDATE documents SET generation = {seconds} WHERE organization_id = {organization}
                    AND generation < {seconds} AND NOT EXISTS (SELECT 1 FROM document_logs l
                        WHERE l.document_id = documents.id AND l.generation = documents.generation)"
            ))?;
        }
        self.connection.execute_batch(&format!(
            "INSERT INTO storage_usages (organization_id, bytes, counted_at, added)
                SELECT {organization}, 0, 0, CAST(COALESCE(SUM(f.size), 0) AS BIGINT) FROM {FILES} f"
        ))
    }

    /// Invites the addresses that have an account. No email is sent.
    fn invite(&mut self) -> Result<()> {
        let expires = self.now.plus_seconds(LIFETIME).as_millis();
        let now = self.now.as_millis();
        for new in std::mem::take(&mut self.invitations) {
            let organization = literal(&self.organization);
            let places = |connection: &mut Connection, text: &str| {
                let mut ids = Vec::new();
                each(connection, text, &[ColumnType::Text], |row| {
                    if let [Cell::Text(id)] = row {
                        ids.push(id.clone());
                    }
                    Ok(())
                })?;
                Ok::<_, Error>(serde_json::to_string(&ids)?)
            };
            let user = literal(&new.user);
            let classes = places(
                &mut self.connection,
                &format!(
                    "SELECT class_id FROM class_enrollments WHERE organization_id = {organization} AND student_id = {user}
                        UNION SELECT class_id FROM class_teachers WHERE organization_id = {organization} AND user_id = {user}
                        ORDER BY 1"
                ),
            )?;
            let homerooms = places(
                &mut self.connection,
                &format!(
                    "SELECT homeroom_id FROM homeroom_enrollments WHERE organization_id = {organization}
                        AND student_id = {user} ORDER BY 1"
                ),
            )?;
            let (email, external_id) = (literal(&new.email), new.external_id.as_deref());
            self.connection.execute_batch(&format!(
                "INSERT INTO invitations (organization_id, id, email, name, role, external_id, class_ids, homeroom_ids, status,
                    expires_at, created_at, updated_at)
                SELECT {organization}, {}, {email}, {}, {}, {}, {}, {}, 'pending', {expires}, {now}, {now}
                WHERE NOT EXISTS (SELECT 1 FROM invitations i WHERE i.organization_id = {organization}
                    AND i.email = {email} AND i.status = 'pending')",
                literal(&clock::new_id()),
                literal(&new.name),
                literal(&new.role),
                external_id.map_or_else(|| "NULL".to_owned(), literal),
                literal(&classes),
                literal(&homerooms),
            ))?;
            self.result.invited.push(new.email);
        }
        Ok(())
    }

    /// Erases the people who were erased in this installation.
    fn erase(&mut self) -> Result<()> {
        let erased = self.arrivals.iter().filter(|(_, arrival)| **arrival == Arrival::Erased);
        let erased: Vec<UserId> = erased.map(|(id, _)| UserId::new(id.as_str())).collect();
        for user in &erased {
            let mut platform = PlatformTx::on(&mut self.connection);
            let none = AccountEmail::none(user);
            let address = self.addresses.get(user.as_str());
            let address = address.map_or(none.stored_form(), String::as_str);
            platform.erase_from_log(user, address, &LogScan::default())?;
            let (_, files) = platform.erase_person(user, self.now)?;
            for key in files {
                self.remove_later(&key)?;
            }
        }
        self.result.erased = erased.len() as u64;
        Ok(())
    }

    fn remove_later(&mut self, key: &FileKey) -> Result<()> {
        let now = self.now.as_millis();
        self.connection.execute_batch(&format!(
            "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
                VALUES ({}, {}, {}, {now}, {now})",
            literal(&self.organization),
            literal(&clock::new_id()),
            literal(key.as_str())
        ))
    }

    fn summarize(&mut self) -> Result<()> {
        let organization = literal(&self.organization);
        let mut owners = Vec::new();
        let list = format!(
            "SELECT u.id, u.email FROM members m JOIN users u ON u.id = m.user_id
                WHERE m.organization_id = {organization} AND m.role = 'owner' AND m.is_active AND u.is_active ORDER BY u.email"
        );
        each(&mut self.connection, &list, &[ColumnType::Text; 2], |row| {
            if let [Cell::Text(id), Cell::Text(email)] = row {
                owners.push((id.clone(), email.clone()));
            }
            Ok(())
        })?;
        let mut without_password = 0;
        let list = format!(
            "SELECT u.id FROM members m JOIN users u ON u.id = m.user_id
                WHERE m.organization_id = {organization} AND m.is_active AND u.is_active
                    AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = u.id)"
        );
        each(&mut self.connection, &list, &[ColumnType::Text], |_| {
            without_password += 1;
            Ok(())
        })?;
        self.result.owners = owners;
        self.result.without_password = without_password;
        self.result.organization.clone_from(&self.organization);
        self.result.slug.clone_from(&self.slug);
        Ok(())
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
        self.exists(&format!(
            "SELECT id FROM file_removals WHERE file_key = {}",
            literal(key)
        ))
    }

    /// Ends the transaction without an effect.
    pub fn roll_back(mut self) -> Result<()> {
        self.connection.execute_batch("ROLLBACK")
    }

    fn insert(&mut self, table: &str, columns: Vec<TableColumn>, rows: Vec<Vec<Cell>>) -> Result<()> {
        let table = DumpTable {
            name: table.to_owned(),
            columns,
        };
        let mut rows = rows.into_iter();
        load_rows(&mut self.connection, &table, || Ok(rows.next())).map(drop)
    }

    fn exists(&mut self, text: &str) -> Result<bool> {
        Ok(self.first(text)?.is_some())
    }

    /// Returns the first text that a query selects.
    fn first(&mut self, text: &str) -> Result<Option<String>> {
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

/// The query of a reference that leads to a row of another school. One that leads nowhere is harmless: the row may have
/// been deleted.
fn foreign_reference(table: &str, column: &str, to: &str, organization: &str) -> String {
    format!(
        "SELECT x.{column} FROM {table} x JOIN {to} y ON y.id = x.{column}
            WHERE x.organization_id = {organization} AND y.organization_id <> {organization} LIMIT 1"
    )
}

fn check_texts(row: &ArchivedRow<'_>) -> Result<()> {
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

/// Replaces the ids of people by their ids in this database. Collects ids that are not in the archive.
fn rename_people(
    row: &mut ArchivedRow<'_>,
    columns: &[&str],
    lists: &[&str],
    people: &HashMap<String, String>,
    unknown: &mut BTreeSet<String>,
) -> Result<()> {
    let mut renamed = |id: &str| {
        let other = people.get(id);
        if other.is_none() {
            unknown.insert(id.to_owned());
        }
        other.filter(|other| *other != id).cloned()
    };
    for column in columns {
        let other = row.text(column).and_then(&mut renamed);
        if let Some(other) = other {
            row.set_text(column, &other);
        }
    }
    for column in lists {
        let Some(text) = row.text(column) else { continue };
        let mut list: Value =
            serde_json::from_str(text).map_err(|_| refused(format!("{column} of {} is invalid", row.header.table)))?;
        let mut is_changed = false;
        for id in list_entries(&mut list) {
            if let Some(other) = renamed(id) {
                *id = other;
                is_changed = true;
            }
        }
        if is_changed {
            row.set_text(column, &list.to_string());
        }
    }
    Ok(())
}

/// The membership of an invited person is inactive, and its external id is that of the invitation.
fn adapt_membership(
    row: &mut ArchivedRow<'_>,
    invited: &HashMap<String, (String, String)>,
    invitations: &mut Vec<NewInvitation>,
) -> Result<()> {
    let role = row.text("role").unwrap_or_default().to_owned();
    if MemberRole::parse(&role).is_none() {
        return Err(refused(format!("there is no role {role:?}")));
    }
    let user = row.text("user_id").unwrap_or_default().to_owned();
    let Some((email, name)) = invited.get(&user) else {
        return Ok(());
    };
    let active = row.header.columns.iter().position(|(name, _)| name == "is_active");
    let was_active = active.is_none_or(|index| row.cells[index] == Cell::Bool(true));
    let external_id = row.text("external_id").map(str::to_owned);
    row.clear(&["external_id"]);
    row.set("is_active", Cell::Bool(false));
    if was_active {
        invitations.push(NewInvitation {
            email: email.clone(),
            name: name.clone(),
            user,
            role,
            external_id,
        });
    }
    Ok(())
}

/// Checks a row of an archive of a deleted object.
fn check_archived_row(
    row: &mut ArchivedRow<'_>,
    files: &HashMap<String, (i64, String)>,
    people: &HashMap<String, String>,
    unknown: &mut BTreeSet<String>,
) -> Result<()> {
    let table = row.header.table.as_str();
    if ArchivedTable::find(table).is_none() {
        return Err(refused(format!("a deleted object has rows of {table:?}")));
    }
    check_texts(row)?;
    if let Some(key) = row.text("file_key") {
        let is_listed = files
            .get(key)
            .is_some_and(|(size, sha256)| row.int("size") == Some(*size) && row.is("sha256", sha256));
        if !is_listed {
            return Err(refused(format!(
                "a deleted object refers to the file {key}, which is not in the archive"
            )));
        }
    }
    let columns = USER_COLUMNS.iter().filter(|(name, _)| *name == table);
    let columns: Vec<&str> = columns.flat_map(|(_, columns)| columns.iter().copied()).collect();
    let lists = USER_LISTS.iter().filter(|(name, _)| *name == table);
    let mut lists: Vec<&str> = lists.map(|(_, column)| *column).collect();
    match table {
        "document_revisions" => lists.push("history"),
        "document_snapshots" | "submission_documents" => lists.push("authorship"),
        _ => {}
    }
    rename_people(row, &columns, &lists, people, unknown)
}
