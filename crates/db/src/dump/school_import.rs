//! Inserts the rows of a school from an archive into a database that is in use, in one transaction. The archive is
//! untrusted: a row belongs to the imported school, refers to people of the archive only, and to files that are in the
//! archive. See docs/moving-a-school.md.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::access::MemberRole;
use domain::account_email::{AccountEmail, is_placeholder};
use domain::collation::{person_sort_key, search_key, sort_key};
use domain::comment::rename_mentions;
use domain::file::FileKey;
use domain::id::{OrganizationId, UserId};
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
use crate::activity::LogEntry;
use crate::archives::format::{ArchivedRow, RowHeader};
use crate::connection::Connection;
use crate::document_log::packs;
use crate::platform::PlatformTx;
use crate::sql::{Sql, Value as SqlValue};
use crate::{Database, RequestContext, WriteTx, args, statements};
use common::clock;
use common::error::{Error, Result};

statements! {
    IS_DELETED = "SELECT deleted_at IS NOT NULL AS is_deleted FROM organizations WHERE id = $1";
    SLUG_IN_USE = "SELECT slug FROM organizations WHERE slug = $1 UNION ALL SELECT slug FROM former_slugs WHERE slug = $1";
    IS_ERASED = "SELECT erased_at IS NOT NULL AS is_erased FROM users WHERE id = $1";
    USER = "SELECT id FROM users WHERE id = $1";
    ADDRESS_IN_USE = "SELECT id FROM users WHERE email = $1";
    /// An account without address, home and membership, which a purge left: it cannot sign in.
    IS_LEFT_OVER = "SELECT u.id FROM users u WHERE u.id = $1 AND u.home_organization_id IS NULL AND u.role <> 'SUPER_ADMIN'
        AND u.email = u.id || '@no-email.invalid' AND NOT EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id)";
    DELETE_ACCOUNTS = "DELETE FROM accounts WHERE user_id = $1";
    DELETE_SESSIONS = "DELETE FROM sessions WHERE user_id = $1";
    DELETE_SECOND_FACTORS = "DELETE FROM second_factors WHERE user_id = $1";
    DELETE_RECOVERY_CODES = "DELETE FROM recovery_codes WHERE user_id = $1";
    DELETE_PASSKEYS = "DELETE FROM passkeys WHERE user_id = $1";
    TAKE_BACK = "UPDATE users SET home_organization_id = $2, user_name = $3, username = $3, is_active = $4, name = $5,
            first_name = $6, last_name = $7, name_key = $8, search_key = $9, sort_key = $10, has_second_factor = FALSE,
            must_change_password = FALSE, temporary_password_expires_at = NULL, password_organization_id = NULL,
            email_verified = FALSE, updated_at = $11
        WHERE id = $1";
    REMOVAL = "SELECT id FROM file_removals WHERE file_key = $1";
}

/// The maximum number of people, whose ids are in memory.
const PEOPLE_MAX: usize = 200_000;
/// The files of the archive, in a temporary table.
pub(super) const FILES: &str = "imported_files";

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
pub(super) enum Arrival {
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
pub(super) struct NewInvitation {
    pub(super) email: String,
    pub(super) name: String,
    /// The deactivated account with the work of the person.
    pub(super) user: String,
    pub(super) role: String,
    pub(super) external_id: Option<String>,
}

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
    /// The ids of people in this database, by their ids in the archive.
    pub(super) people: HashMap<String, String>,
    pub(super) arrivals: HashMap<String, Arrival>,
    /// The addresses of erased people by their id here, to erase them from the log.
    pub(super) addresses: HashMap<String, String>,
    /// Invited people by the id of their deactivated account: address and name.
    pub(super) invited: HashMap<String, (String, String)>,
    pub(super) invitations: Vec<NewInvitation>,
    pub(super) has_known_people: bool,
    pub(super) loaded: BTreeSet<String>,
    pub(super) result: ImportedSchool,
}

pub(super) fn refused(why: impl std::fmt::Display) -> Error {
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

fn exists(connection: &mut Connection, statement: &'static Sql, arguments: &[SqlValue<'_>]) -> Result<bool> {
    let found = connection.fetch_optional(statement, arguments, |row| row.only::<String>())?;
    Ok(found.is_some())
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
        let known_erased = self
            .connection
            .fetch_optional(&IS_ERASED, args![person.id], |row| row.only::<bool>())?;
        let (is_known, is_erased) = (known_erased.is_some(), known_erased == Some(true));
        let has_account = match &person.email {
            Some(email) => exists(&mut self.connection, &ADDRESS_IN_USE, args![email])?,
            None => false,
        };
        self.has_known_people |= is_known;
        let (target, arrival) = if is_erased {
            (person.id.clone(), Arrival::Erased)
        } else if is_known
            && person.email.is_none()
            && person.user_name.is_some()
            && exists(&mut self.connection, &IS_LEFT_OVER, args![person.id])?
        {
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

    /// Gives an account that a purge left back to the school, without its former credentials.
    fn take_back(&mut self, person: &ArchivedPerson) -> Result<()> {
        for statement in [
            &DELETE_ACCOUNTS,
            &DELETE_SESSIONS,
            &DELETE_SECOND_FACTORS,
            &DELETE_RECOVERY_CODES,
            &DELETE_PASSKEYS,
        ] {
            self.connection.execute(statement, args![person.id])?;
        }
        PlatformTx::on(&mut self.connection).delete_verifications(&UserId::new(person.id.as_str()))?;
        let keys = (
            name_key(&person.name),
            search_key(&person.name),
            person_sort_key(&person.name, person.last_name.as_deref()),
        );
        let arguments = args![
            person.id,
            self.organization,
            person.user_name,
            person.is_active,
            person.name,
            person.first_name,
            person.last_name,
            keys.0,
            keys.1,
            keys.2,
            self.now,
        ];
        self.connection.execute(&TAKE_BACK, arguments).map(drop)
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
            rename_mentioned(&mut row, rules.mentions, people);
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
    pub(super) fn refuse_foreign_people(&mut self, unknown: &BTreeSet<String>) -> Result<()> {
        for id in unknown {
            if exists(&mut self.connection, &USER, args![id])? {
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

    fn insert(&mut self, table: &str, columns: Vec<TableColumn>, rows: Vec<Vec<Cell>>) -> Result<()> {
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

/// Replaces the ids of people by their ids in this database. Collects ids that are not in the archive.
pub(super) fn rename_people(
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
    // Packed commits name their authors in the pack.
    if row.header.table == "document_steps"
        && row.int("packed_from").is_some()
        && let Some(text) = row.text("steps")
    {
        let other = packs::rename_authors(text, &mut renamed).map_err(|_| refused("packed commits are damaged"))?;
        if let Some(other) = other {
            row.set_text("steps", &other);
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
