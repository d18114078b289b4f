//! Accounts as visible to platform administrators (`/auth/admin`). Erased accounts are excluded.

use domain::collation::{person_sort_key, search_key};
use domain::from_fields;
use domain::id::UserId;
use domain::text::name_key;
use domain::time::Timestamp;
use domain::user::Person;

use super::PlatformTx;
use super::sessions::{HOME_SLUG, SessionUser, user_name};
use crate::labels::SHOWN_EMAIL;
use crate::sql::{Columns, Value};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

/// Maximum page size.
const LONGEST_PAGE: i64 = 200;
/// Replaces the name of a removed user.
const REMOVED_NAME: &str = "Deleted person";
/// Separates the values of a list argument; no stored text contains it.
const SEPARATOR: char = '\n';
/// Added to timestamps so that their texts have the same length and compare correctly.
const TIME_BASE: i64 = 1_000_000_000_000_000;

fragments! {
    ACCOUNT_COLUMNS = "u.id, u.name, u.email, u.email_verified, u.image, u.role, u.has_second_factor, u.created_at, u.updated_at,
        u.is_active, u.banned,
            u.ban_reason, u.ban_expires, u.user_name, {HOME_SLUG} AS home_slug";
    /// The fields that are searched, filtered and sorted by the same text; `$1` is the current time.
    OTHER_FIELDS = "WHEN 'role' THEN u.role
            WHEN 'emailVerified' THEN CASE WHEN u.email_verified THEN 'true' ELSE 'false' END
            WHEN 'banned' THEN CASE WHEN u.banned AND (u.ban_expires IS NULL OR u.ban_expires >= $1)
                THEN 'true' ELSE 'false' END
            WHEN 'banExpires' THEN CAST(1000000000000000 + u.ban_expires AS TEXT)
            WHEN 'createdAt' THEN CAST(1000000000000000 + u.created_at AS TEXT)
            WHEN 'updatedAt' THEN CAST(1000000000000000 + u.updated_at AS TEXT)
            ELSE u.id";
    /// The value of the field named by an argument, as a text.
    SEARCHED_FIELD = "CASE CAST($2 AS TEXT) WHEN 'email' THEN {SHOWN_EMAIL} WHEN 'name' THEN u.search_key {OTHER_FIELDS} END";
    FILTERED_FIELD = "CASE CAST($4 AS TEXT) WHEN 'email' THEN {SHOWN_EMAIL} WHEN 'name' THEN u.search_key {OTHER_FIELDS} END";
    /// The same with the sort order of the field.
    SORTED_FIELD = "CASE CAST($7 AS TEXT) WHEN 'email' THEN COALESCE({SHOWN_EMAIL}, '')
            WHEN 'name' THEN u.sort_key {OTHER_FIELDS} END";
    ASKED_FOR = "u.erased_at IS NULL AND CAST($1 AS BIGINT) IS NOT NULL
            AND (CAST($2 AS TEXT) IS NULL OR {SEARCHED_FIELD} LIKE $3 ESCAPE '\\')
            AND (CAST($4 AS TEXT) IS NULL OR CASE CAST($5 AS TEXT)
                WHEN 'in' THEN REPLACE(CAST($6 AS TEXT), '\n' || {FILTERED_FIELD} || '\n', '') <> CAST($6 AS TEXT)
                WHEN 'not_in' THEN REPLACE(CAST($6 AS TEXT), '\n' || {FILTERED_FIELD} || '\n', '') = CAST($6 AS TEXT)
                WHEN 'lt' THEN {FILTERED_FIELD} < CAST($6 AS TEXT)
                WHEN 'lte' THEN {FILTERED_FIELD} <= CAST($6 AS TEXT)
                WHEN 'gt' THEN {FILTERED_FIELD} > CAST($6 AS TEXT)
                WHEN 'gte' THEN {FILTERED_FIELD} >= CAST($6 AS TEXT)
                ELSE {FILTERED_FIELD} LIKE CAST($6 AS TEXT) ESCAPE '\\' END)";
}

statements! {
    BY_ID = "SELECT {ACCOUNT_COLUMNS} FROM users u WHERE u.id = $1 AND u.erased_at IS NULL";
    /// Locks the row until the end of the transaction.
    HOLD = "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE";
    /// A page of the matching accounts in the requested order.
    LIST = "SELECT {ACCOUNT_COLUMNS} FROM users u WHERE {ASKED_FOR}
        ORDER BY CASE WHEN $8 THEN NULL ELSE {SORTED_FIELD} END,
            CASE WHEN $8 THEN {SORTED_FIELD} ELSE NULL END DESC, u.id
        LIMIT $9 OFFSET $10";
    /// The number of matching accounts.
    COUNT = "SELECT COUNT(*) FROM users u WHERE {ASKED_FOR}";
    /// Updates the fields that platform administrators change.
    UPDATE = "UPDATE users SET name = :name, name_key = :name_key, email = :email, email_verified = :email_verified,
            image = :image, role = :role, banned = :banned, ban_reason = :ban_reason, ban_expires = :ban_expires,
            updated_at = :updated_at, search_key = :search_key, sort_key = :sort_key, row_version = row_version + 1
        WHERE id = :id";
    /// The last name, part of the sort key.
    LAST_NAME = "SELECT last_name FROM users WHERE id = $1";
    /// Removes an expired ban.
    LIFT_BAN = "UPDATE users SET banned = FALSE, ban_reason = NULL, ban_expires = NULL
        WHERE id = $1 AND banned AND ban_expires < $2";
    /// Deletes all sign-in methods.
    DELETE_ACCOUNTS = "DELETE FROM accounts WHERE user_id = $1";
    /// Deletes all emailed links.
    DELETE_VERIFICATIONS = "DELETE FROM verifications WHERE value = $1";
    /// Clears an account. The row is kept because other rows reference it.
    EMPTY = "UPDATE users SET name = $2, name_key = $3, first_name = NULL, last_name = NULL, email = $4,
            email_verified = FALSE, username = NULL, user_name = NULL, role = 'STUDENT', image = NULL, locale = 'en', timezone = NULL,
            is_active = FALSE, last_login_at = NULL, must_change_password = FALSE,
            temporary_password_expires_at = NULL, password_reset_at = NULL, password_reset_by_id = NULL,
            banned = FALSE, ban_reason = NULL, ban_expires = NULL, has_second_factor = FALSE,
            home_organization_id = NULL, erased_at = $5,
            updated_at = $5,
            search_key = $6, sort_key = $7
        WHERE id = $1";
}

/// A ban of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    pub reason: Option<String>,
    /// `None` for a permanent ban.
    pub until: Option<Timestamp>,
}

/// An account as visible to platform administrators.
#[derive(Debug, Clone)]
pub struct AdministeredAccount {
    pub user: SessionUser,
    /// Whether the account is active.
    pub is_active: bool,
    /// The ban, possibly expired.
    pub ban: Option<Ban>,
}

impl AdministeredAccount {
    /// The user as visible to others.
    pub fn person(&self) -> Person {
        from_fields!(&self.user => Person { id, name, image })
    }

    /// Returns the ban if it is in force.
    pub fn ban_at(&self, now: Timestamp) -> Option<&Ban> {
        self.ban
            .as_ref()
            .filter(|ban| ban.until.is_none_or(|until| until >= now))
    }
}

/// The comparison of a field with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Before(String),
    UpTo(String),
    After(String),
    From(String),
    Contains(String),
    StartsWith(String),
    EndsWith(String),
}

/// A query of accounts. Field names are those of [`AccountSearch::FIELDS`].
#[derive(Debug, Clone, Default)]
pub struct AccountSearch {
    /// A field and the text it contains, begins or ends with.
    pub search: Option<(String, Comparison)>,
    /// A field and its comparison.
    pub filter: Option<(String, Comparison)>,
    /// The sort field, and whether the order is descending.
    pub sort: Option<(String, bool)>,
    /// Maximum number of accounts; the maximum page size if `None`.
    pub limit: Option<i64>,
    /// Number of accounts that are skipped.
    pub offset: i64,
}

impl AccountSearch {
    /// The fields available for filters and sorting.
    pub const FIELDS: [&'static str; 9] = [
        "id",
        "email",
        "name",
        "role",
        "emailVerified",
        "banned",
        "banExpires",
        "createdAt",
        "updatedAt",
    ];

    /// Returns the page size.
    pub fn page(&self) -> i64 {
        self.limit.unwrap_or(LONGEST_PAGE).clamp(1, LONGEST_PAGE)
    }
}

impl Comparison {
    fn word(&self) -> &'static str {
        match self {
            Self::OneOf(_) => "in",
            Self::NoneOf(_) => "not_in",
            Self::Before(_) => "lt",
            Self::UpTo(_) => "lte",
            Self::After(_) => "gt",
            Self::From(_) => "gte",
            Self::Contains(_) | Self::StartsWith(_) | Self::EndsWith(_) => "like",
        }
    }

    /// Returns the argument of the statement.
    fn argument(&self, field: &str) -> String {
        let spelled = |text: &str| spelling(field, text);
        match self {
            Self::OneOf(texts) | Self::NoneOf(texts) => {
                let known = texts.iter().filter(|text| !text.contains(SEPARATOR));
                known.fold(SEPARATOR.to_string(), |list, text| list + &spelled(text) + "\n")
            }
            Self::Before(text) | Self::UpTo(text) | Self::After(text) | Self::From(text) => spelled(text),
            Self::Contains(text) => format!("%{}%", pattern(field, text)),
            Self::StartsWith(text) => format!("{}%", pattern(field, text)),
            Self::EndsWith(text) => format!("%{}", pattern(field, text)),
        }
    }
}

/// Converts a text to the form of the field: email addresses in lower case, names as search keys, times as texts of
/// equal length.
fn spelling(field: &str, text: &str) -> String {
    match field {
        "email" => text.to_lowercase(),
        "name" => search_key(text),
        "createdAt" | "updatedAt" | "banExpires" => {
            let millis = Timestamp::parse(text)
                .map(Timestamp::as_millis)
                .ok()
                .or_else(|| text.parse().ok());
            millis.map_or_else(String::new, |millis| {
                TIME_BASE.saturating_add(millis.clamp(0, TIME_BASE)).to_string()
            })
        }
        _ => text.to_owned(),
    }
}

/// Converts a text to the form of the field as part of a `LIKE` pattern, with wildcards escaped.
fn pattern(field: &str, text: &str) -> String {
    spelling(field, text)
        .chars()
        .fold(String::new(), |mut pattern, character| {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
            pattern
        })
}

impl PlatformTx<'_> {
    pub fn account(&mut self, id: &UserId) -> Result<AdministeredAccount> {
        self.fetch_one(&BY_ID, args![id], account)
    }

    /// Returns an account, locked until the end of the transaction.
    pub fn lock_account(&mut self, id: &UserId) -> Result<AdministeredAccount> {
        self.fetch_optional(&HOLD, args![id], |row| row.get::<UserId>("id"))?;
        self.account(id)
    }

    /// Returns a page of the matching accounts and their total number.
    pub fn search_accounts(
        &mut self,
        asked: &AccountSearch,
        now: Timestamp,
    ) -> Result<(Vec<AdministeredAccount>, i64)> {
        let split = |part: &Option<(String, Comparison)>| {
            part.as_ref()
                .map(|(field, comparison)| (field.clone(), comparison.word(), comparison.argument(field)))
        };
        let (search, filter) = (split(&asked.search), split(&asked.filter));
        let [search_field, search_text] = match &search {
            Some((field, _, text)) => [Value::Text(field), Value::Text(text)],
            None => [Value::Null, Value::Null],
        };
        let [filter_field, operator, filter_text] = match &filter {
            Some((field, word, text)) => [Value::Text(field), Value::Text(word), Value::Text(text)],
            None => [Value::Null, Value::Null, Value::Null],
        };
        let which = [
            Value::Int(now.as_millis()),
            search_field,
            search_text,
            filter_field,
            operator,
            filter_text,
        ];
        let (sort, downwards) = asked
            .sort
            .as_ref()
            .map_or(("id", false), |(field, down)| (field, *down));
        let (limit, offset) = (asked.page(), asked.offset.max(0));
        let mut page = which.to_vec();
        page.extend_from_slice(args![sort, downwards, limit, offset]);
        let found = self.fetch_all(&LIST, &page, account)?;
        let total = self.fetch_optional(&COUNT, &which, |row| row.only())?;
        Ok((found, total.unwrap_or(0)))
    }

    /// Updates the fields that platform administrators change; an email address that is in use is `DUPLICATE_EMAIL`.
    pub fn update_account(&mut self, account: &AdministeredAccount) -> Result<()> {
        let user = &account.user;
        let last_name: Option<Option<String>> =
            self.fetch_optional(&LAST_NAME, args![user.id], |row| row.get("last_name"))?;
        let sort_key = person_sort_key(&user.name, last_name.flatten().as_deref());
        let search_key = search_key(&user.name);
        let (key, role, is_banned) = (name_key(&user.name), user.role.as_str(), account.ban.is_some());
        let ban = account.ban.as_ref();
        let (reason, until) = (ban.and_then(|ban| ban.reason.as_deref()), ban.and_then(|ban| ban.until));
        self.execute_named(
            &UPDATE,
            named![user =>
                id, name, email, email_verified, image, updated_at,
                name_key: key,
                role: role,
                banned: is_banned,
                ban_reason: reason,
                ban_expires: until,
                search_key: search_key,
                sort_key: sort_key,
            ],
        )
    }

    /// Removes an expired ban.
    pub fn lift_ban(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&LIFT_BAN, args![user, now])
    }

    /// Deletes all sign-in methods of an account; an emailed link can set a password again.
    pub fn delete_sign_ins(&mut self, user: &UserId) -> Result<()> {
        self.execute(&DELETE_ACCOUNTS, args![user])
    }

    /// Deletes all emailed links to a user.
    pub fn delete_verifications(&mut self, user: &UserId) -> Result<()> {
        self.execute(&DELETE_VERIFICATIONS, args![user])
    }

    /// Clears and deactivates an account and deletes all its credentials.
    pub fn clear_account(&mut self, account: &AdministeredAccount, now: Timestamp) -> Result<()> {
        let id = &account.user.id;
        // A reserved domain that receives no mail (RFC 2606). The old address becomes available.
        let address = format!("erased-{id}@erased.invalid");
        self.execute(&DELETE_ACCOUNTS, args![id])?;
        self.delete_second_factor(id)?;
        self.delete_verifications(id)?;
        self.delete_sign_in_history(account.user.email.stored_form())?;
        self.execute(
            &EMPTY,
            args![
                id,
                REMOVED_NAME,
                name_key(REMOVED_NAME),
                address,
                now,
                search_key(REMOVED_NAME),
                person_sort_key(REMOVED_NAME, None),
            ],
        )
    }
}

fn account(row: &Columns<'_>) -> Result<AdministeredAccount> {
    let user = from_row!(row => SessionUser {
        id, name, email, email_verified, image, role, has_second_factor, created_at, updated_at,
        user_name: user_name(row)?,
    })?;
    let is_active = row.get("is_active")?;
    let (banned, reason, until): (bool, Option<String>, Option<Timestamp>) =
        (row.get("banned")?, row.get("ban_reason")?, row.get("ban_expires")?);
    Ok(AdministeredAccount {
        user,
        is_active,
        ban: banned.then_some(Ban { reason, until }),
    })
}
