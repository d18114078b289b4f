//! The people of the archive of a school: what becomes of each of them here, and their ids in the other rows. They are in a
//! temporary table, so memory does not grow with their number.

use std::collections::{BTreeSet, HashMap, HashSet};

use domain::access::MemberRole;
use domain::account_email::{AccountEmail, is_placeholder};
use domain::collation::{person_sort_key, search_key};
use domain::comment::mentions;
use domain::id::UserId;
use domain::text::{Name, ShortName, Username, name_key};

use super::school::{PEOPLE, PEOPLE_COLUMNS, literal};
use super::school_import::{
    BATCH_ROWS, SchoolImport, columns_of, exists, int_of, is_id, named, optional, refused, text_of,
};
use super::snapshot::each;
use super::{Cell, ColumnType};
use crate::archives::format::{ArchivedRow, RowHeader};
use crate::platform::PlatformTx;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
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
}

/// The maximum number of people of an archive.
const PEOPLE_MAX: usize = 200_000;
/// The people by their ids in the archive (`archived`), with their ids here.
const ARRIVED: &str = "imported_people";
const ARRIVED_COLUMNS: &[(&str, ColumnType)] = &[
    ("archived", ColumnType::Text),
    ("id", ColumnType::Text),
    ("arrival", ColumnType::Text),
    ("email", ColumnType::Text),
    ("name", ColumnType::Text),
];
/// The active memberships of people who are invited.
const INVITED: &str = "imported_invitations";
const INVITED_COLUMNS: &[(&str, ColumnType)] = &[
    ("id", ColumnType::Text),
    ("role", ColumnType::Text),
    ("external_id", ColumnType::Text),
];

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

impl Arrival {
    fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Returned => "returned",
            Self::Invited => "invited",
            Self::Erased => "erased",
        }
    }
}

/// The people whom some rows name, by their ids in the archive.
#[derive(Debug, Default)]
pub(super) struct NamedPeople {
    ids: BTreeSet<String>,
    /// People whom texts mention. An id of anyone else is harmless there: comments show no name for it.
    mentioned: BTreeSet<String>,
}

impl NamedPeople {
    /// Adds the people of a row.
    pub(super) fn add(
        &mut self,
        row: &mut ArchivedRow<'_>,
        columns: &[&str],
        lists: &[&str],
        texts: &[&str],
    ) -> Result<()> {
        let ids = &mut self.ids;
        row.visit_people(columns, lists, &mut |id| {
            ids.insert(id.to_owned());
            None
        })
        .map_err(refused)?;
        for text in texts.iter().filter_map(|column| row.text(column)) {
            self.mentioned
                .extend(mentions(text).into_iter().map(|id| id.to_string()));
        }
        Ok(())
    }

    /// Returns the people who are not in the archive.
    pub(super) fn unknown<'p>(&'p self, people: &'p HashMap<String, String>) -> impl Iterator<Item = &'p String> {
        self.ids.iter().filter(|id| !people.contains_key(*id))
    }
}

/// What this installation knows about some people before they arrive.
#[derive(Debug, Default)]
struct KnownPeople {
    /// Ids of accounts, and whether they were erased.
    accounts: HashMap<String, bool>,
    /// Addresses of accounts.
    addresses: HashSet<String>,
}

fn list_of<'i>(texts: impl Iterator<Item = &'i String>) -> String {
    let quoted: Vec<String> = texts.map(|text| literal(text)).collect();
    quoted.join(", ")
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn optional_text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    }
}

impl SchoolImport {
    /// Inserts the people of the archive.
    pub(super) fn load_people(
        &mut self,
        header: &RowHeader,
        next: &mut dyn FnMut() -> Result<Option<Vec<Cell>>>,
    ) -> Result<u64> {
        Self::check_columns(header, &columns_of(PEOPLE_COLUMNS), false)?;
        self.connection.execute_batch(&format!(
            "CREATE TEMPORARY TABLE {ARRIVED} (archived TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE,
                arrival TEXT NOT NULL, email TEXT UNIQUE, name TEXT NOT NULL);
            CREATE TEMPORARY TABLE {INVITED} (id TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, external_id TEXT)"
        ))?;
        let mut count = 0;
        loop {
            let mut people = Vec::with_capacity(BATCH_ROWS);
            while people.len() < BATCH_ROWS
                && let Some(cells) = next()?
            {
                people.push(Self::person(&named(&header.columns, cells))?);
            }
            if people.is_empty() {
                return Ok(count as u64);
            }
            count += people.len();
            if count > PEOPLE_MAX {
                return Err(refused("the archive has too many people"));
            }
            self.load_some_people(people)?;
        }
    }

    fn load_some_people(&mut self, people: Vec<ArchivedPerson>) -> Result<()> {
        self.refuse_repeated(&people)?;
        let known = self.known_people(&people)?;
        let (mut accounts, mut arrived) = (Vec::new(), Vec::new());
        for person in people {
            let (target, arrival) = self.arrival(&person, &known)?;
            arrived.push(vec![
                text(&person.id),
                text(&target),
                text(arrival.as_str()),
                optional(person.email.clone()),
                text(&person.name),
            ]);
            accounts.extend(self.arrive(person, target, arrival, &known)?);
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
        self.insert(PEOPLE, columns, accounts)?;
        self.insert(ARRIVED, columns_of(ARRIVED_COLUMNS), arrived)
    }

    /// Fails if a person or an address is in the archive twice. An account that this import has inserted is not one that
    /// existed before.
    fn refuse_repeated(&mut self, people: &[ArchivedPerson]) -> Result<()> {
        let (mut ids, mut addresses) = (HashSet::new(), HashSet::new());
        for person in people {
            let is_new_address = person.email.as_ref().is_none_or(|email| addresses.insert(email));
            if !ids.insert(&person.id) || !is_new_address {
                return Err(refused(format!("the person {} is in two places", person.id)));
            }
        }
        let ids = list_of(ids.into_iter());
        let mut repeated = self.first(&format!(
            "SELECT archived FROM {ARRIVED} WHERE archived IN ({ids}) LIMIT 1"
        ))?;
        if repeated.is_none() && !addresses.is_empty() {
            let addresses = list_of(addresses.into_iter());
            repeated = self.first(&format!(
                "SELECT archived FROM {ARRIVED} WHERE email IN ({addresses}) LIMIT 1"
            ))?;
        }
        match repeated {
            Some(id) => Err(refused(format!("the person {id} is in two places"))),
            None => Ok(()),
        }
    }

    fn known_people(&mut self, people: &[ArchivedPerson]) -> Result<KnownPeople> {
        let mut known = KnownPeople::default();
        let query = format!(
            "SELECT id, erased_at IS NOT NULL FROM users WHERE id IN ({})",
            list_of(people.iter().map(|person| &person.id))
        );
        let kinds = [ColumnType::Text, ColumnType::Bool];
        each(&mut self.connection, &query, &kinds, |row| {
            if let [Cell::Text(id), Cell::Bool(is_erased)] = row {
                known.accounts.insert(id.clone(), *is_erased);
            }
            Ok(())
        })?;
        let addresses = list_of(people.iter().filter_map(|person| person.email.as_ref()));
        if !addresses.is_empty() {
            let query = format!("SELECT email FROM users WHERE email IN ({addresses})");
            known.addresses = self.all(&query)?.into_iter().collect();
        }
        Ok(known)
    }

    /// Returns the texts that a query of a bounded number of rows selects.
    fn all(&mut self, query: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        each(&mut self.connection, query, &[ColumnType::Text], |row| {
            found.extend(row.first().and_then(optional_text));
            Ok(())
        })?;
        Ok(found)
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

    /// Decides how a person arrives, and with which id.
    fn arrival(&mut self, person: &ArchivedPerson, known: &KnownPeople) -> Result<(String, Arrival)> {
        let account = known.accounts.get(&person.id);
        self.has_known_people |= account.is_some();
        if account == Some(&true) {
            return Ok((person.id.clone(), Arrival::Erased));
        }
        if account.is_some()
            && person.email.is_none()
            && person.user_name.is_some()
            && exists(&mut self.connection, &IS_LEFT_OVER, args![person.id])?
        {
            return Ok((person.id.clone(), Arrival::Returned));
        }
        let has_account = |email: &String| known.addresses.contains(email);
        let arrival = if self.erased.contains(&person.id) {
            Arrival::Erased
        } else if person.email.as_ref().is_some_and(has_account) {
            Arrival::Invited
        } else {
            Arrival::New
        };
        let target = if account.is_some() {
            clock::new_id()
        } else {
            person.id.clone()
        };
        Ok((target, arrival))
    }

    /// Returns the row of a new account.
    fn arrive(
        &mut self,
        person: ArchivedPerson,
        target: String,
        arrival: Arrival,
        known: &KnownPeople,
    ) -> Result<Option<Vec<Cell>>> {
        if arrival == Arrival::Returned {
            self.take_back(&person)?;
        }
        if known.accounts.get(&person.id) == Some(&true) || arrival == Arrival::Returned {
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

    /// Returns the ids here of people whom rows name, by their ids in the archive.
    pub(super) fn people(&mut self, named: &NamedPeople) -> Result<HashMap<String, String>> {
        let ids: Vec<&String> = named.ids.union(&named.mentioned).collect();
        let mut people = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(BATCH_ROWS) {
            let list = list_of(ids.iter().copied());
            let query = format!("SELECT archived, id FROM {ARRIVED} WHERE archived IN ({list})");
            each(&mut self.connection, &query, &[ColumnType::Text; 2], |row| {
                if let [Cell::Text(archived), Cell::Text(id)] = row {
                    people.insert(archived.clone(), id.clone());
                }
                Ok(())
            })?;
        }
        Ok(people)
    }

    /// Returns whether a person has another id here.
    pub(super) fn has_renamed_people(&mut self) -> Result<bool> {
        let found = self.first(&format!("SELECT id FROM {ARRIVED} WHERE archived <> id LIMIT 1"))?;
        Ok(found.is_some())
    }

    /// Fails if one of these people, who are not in the archive, is in this installation.
    pub(super) fn refuse_foreign_people<'p>(&mut self, unknown: impl Iterator<Item = &'p String>) -> Result<()> {
        let unknown: Vec<&String> = unknown.collect();
        for ids in unknown.chunks(BATCH_ROWS) {
            let list = list_of(ids.iter().copied());
            if let Some(id) = self.first(&format!("SELECT id FROM users WHERE id IN ({list}) LIMIT 1"))? {
                return Err(refused(format!(
                    "a row refers to the person {id}, who is not in the archive"
                )));
            }
        }
        Ok(())
    }

    /// Adapts memberships: those of invited people are inactive, and their external ids are those of the invitations.
    pub(super) fn adapt_memberships(&mut self, rows: &mut [ArchivedRow<'_>]) -> Result<()> {
        let users: BTreeSet<String> = rows
            .iter()
            .filter_map(|row| row.text("user_id").map(str::to_owned))
            .collect();
        let mut invited = HashSet::new();
        if !users.is_empty() {
            let list = list_of(users.iter());
            let query = format!("SELECT id FROM {ARRIVED} WHERE arrival = 'invited' AND id IN ({list})");
            invited = self.all(&query)?.into_iter().collect();
        }
        let mut invitations = Vec::new();
        for row in rows {
            invitations.extend(adapt_membership(row, &invited)?);
        }
        self.insert(INVITED, columns_of(INVITED_COLUMNS), invitations)
    }

    /// Returns the next people to invite, in the order of their ids.
    pub(super) fn next_invitations(&mut self, after: &str) -> Result<Vec<NewInvitation>> {
        let query = format!(
            "SELECT i.id, i.role, i.external_id, p.email, p.name FROM {INVITED} i JOIN {ARRIVED} p ON p.id = i.id
                WHERE i.id > {} AND p.email IS NOT NULL ORDER BY i.id LIMIT {BATCH_ROWS}",
            literal(after)
        );
        let mut found = Vec::new();
        each(&mut self.connection, &query, &[ColumnType::Text; 5], |row| {
            if let [
                Cell::Text(user),
                Cell::Text(role),
                external_id,
                Cell::Text(email),
                Cell::Text(name),
            ] = row
            {
                found.push(NewInvitation {
                    email: email.clone(),
                    name: name.clone(),
                    user: user.clone(),
                    role: role.clone(),
                    external_id: optional_text(external_id),
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the next people to erase and their addresses, in the order of their ids.
    pub(super) fn next_erased(&mut self, after: &str) -> Result<Vec<(UserId, Option<String>)>> {
        let query = format!(
            "SELECT id, email FROM {ARRIVED} WHERE arrival = 'erased' AND id > {} ORDER BY id LIMIT {BATCH_ROWS}",
            literal(after)
        );
        let mut found = Vec::new();
        each(&mut self.connection, &query, &[ColumnType::Text; 2], |row| {
            if let [Cell::Text(id), email] = row {
                found.push((UserId::new(id.as_str()), optional_text(email)));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Adapts the membership of an invited person; returns the row of the invitation, if the membership was active.
fn adapt_membership(row: &mut ArchivedRow<'_>, invited: &HashSet<String>) -> Result<Option<Vec<Cell>>> {
    let role = row.text("role").unwrap_or_default().to_owned();
    if MemberRole::parse(&role).is_none() {
        return Err(refused(format!("there is no role {role:?}")));
    }
    let user = row.text("user_id").unwrap_or_default().to_owned();
    if !invited.contains(&user) {
        return Ok(None);
    }
    let active = row.header.columns.iter().position(|(name, _)| name == "is_active");
    let was_active = active.is_none_or(|index| row.cells[index] == Cell::Bool(true));
    let external_id = row.text("external_id").map(str::to_owned);
    row.clear(&["external_id"]);
    row.set("is_active", Cell::Bool(false));
    Ok(was_active.then(|| vec![Cell::Text(user), Cell::Text(role), optional(external_id)]))
}
