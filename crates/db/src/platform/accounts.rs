//! The account of a user: profile and password. Password hashes leave this module only to be verified.

use domain::account_email::AccountEmail;
use domain::collation::search_key;
use domain::id::UserId;
use domain::organization::Metadata;
use domain::text::name_key;
use domain::time::Timestamp;
use domain::user::{PasswordReset, Person, User};
use domain::version::Version;

use super::PlatformTx;
use crate::sql::Columns;
use crate::{args, from_row, named, statements};
use common::clock;
use common::error::{Error, Result};

statements! {
    PROFILE = "SELECT id, name, first_name, last_name, email, email_verified, user_name AS username, role, image, locale, timezone,
            is_active, must_change_password, has_second_factor, last_login_at, home_organization_id, created_at, updated_at
        FROM users WHERE id = $1";
    /// Locks the row until the end of the transaction.
    HOLD = "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE";
    ROW_VERSION = "SELECT row_version FROM users WHERE id = $1";
    /// Updates the fields that users change themselves.
    UPDATE_PROFILE = "UPDATE users SET name = :name, name_key = :name_key, image = :image, locale = :locale,
            timezone = :timezone, updated_at = :updated_at, search_key = :search_key, sort_key = :sort_key,
            row_version = row_version + 1
        WHERE id = :id";
    /// The sign-in methods of a user.
    OF_USER = "SELECT id, account_id, provider_id, created_at, updated_at FROM accounts WHERE user_id = $1
        ORDER BY created_at, id";
    PASSWORD = "SELECT id, password FROM accounts
        WHERE user_id = $1 AND provider_id = 'credential' AND password IS NOT NULL";
    /// Replaces the hash of an unchanged password.
    REHASH = "UPDATE accounts SET password = $2, updated_at = $3 WHERE id = $1";
    /// Sets the password; inserts the credential account of a user who has none.
    UPSERT_PASSWORD = "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
        VALUES ($1, $2, 'credential', $2, $3, $4, $4)
        ON CONFLICT (provider_id, account_id) DO UPDATE
        SET password = excluded.password, updated_at = excluded.updated_at";
    /// A password chosen by the user is not temporary.
    OWN_PASSWORD = "UPDATE users SET must_change_password = FALSE, temporary_password_expires_at = NULL WHERE id = $1";
    EMAIL = "SELECT email FROM users WHERE id = $1";
    /// Records that the platform replaced a password.
    NOTE_PASSWORD_RESET = "UPDATE users SET password_reset_at = $2, password_reset_by_id = NULL WHERE id = $1";
    /// Who replaced a password.
    PASSWORD_RESET = "SELECT u.password_reset_at, b.id AS user_id, b.name AS user_name, b.image AS user_image
        FROM users u
        LEFT JOIN users b ON b.id = u.password_reset_by_id
        WHERE u.id = $1 AND u.password_reset_at IS NOT NULL";
    /// Names and email address of a user, which make weak passwords.
    KNOWN_WORDS = "SELECT name, first_name, last_name, email, user_name AS username FROM users WHERE id = $1";
    /// The settings of the school of a user.
    SETTINGS_OF_SCHOOL = "SELECT o.metadata FROM members m
        JOIN organizations o ON o.id = m.organization_id
        JOIN users u ON u.id = m.user_id
        WHERE m.user_id = $1
        ORDER BY CASE WHEN o.id = u.home_organization_id THEN 0 ELSE 1 END, m.created_at, o.id LIMIT 1";
    /// The settings of the organizations in which a user is a student.
    SETTINGS_OF_STUDENT = "SELECT o.metadata FROM members m JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1 AND m.role = 'student'";
    /// The organizations of a user.
    SCHOOLS_OF = "SELECT o.name, o.slug FROM members m JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1";
    /// Inserts an emailed link.
    INSERT_VERIFICATION = "INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)";
    /// Consumes an emailed link.
    TAKE_VERIFICATION = "DELETE FROM verifications WHERE identifier = $1 RETURNING value, expires_at";
    /// The user of an emailed link that is valid.
    VERIFICATION = "SELECT value FROM verifications WHERE identifier = $1 AND expires_at >= $2";
    /// The number of links of a kind that were sent to a user since a point in time.
    RECENT_VERIFICATIONS = "SELECT COUNT(*) FROM verifications
        WHERE value = $1 AND created_at > $2 AND identifier LIKE CAST($3 AS TEXT) || ':%'";
    /// Deletes expired links, which no rate limit counts any more.
    FORGET_VERIFICATIONS = "DELETE FROM verifications WHERE expires_at < $1";
}

/// A sign-in method of a user.
#[derive(Debug, Clone)]
pub struct SignInMethod {
    pub id: String,
    /// The id of the user at the provider.
    pub account_id: String,
    /// `credential` for a password.
    pub provider_id: String,
    pub created_at: Timestamp,
    /// The last change of the password.
    pub updated_at: Timestamp,
}

impl PlatformTx<'_> {
    /// Returns the account of a user.
    pub fn profile(&mut self, id: &UserId) -> Result<User> {
        self.fetch_one(&PROFILE, args![id], profile)
    }

    /// Returns the version of an account, for `If-Match`.
    pub fn version_of_account(&mut self, id: &UserId) -> Result<Version> {
        let found = self.fetch_optional(&ROW_VERSION, args![id], |row| row.get("row_version"))?;
        found.map(Version::stored).ok_or(Error::NotFound)
    }

    /// Returns the account of a user, locked until the end of the transaction.
    pub fn lock_profile(&mut self, id: &UserId) -> Result<User> {
        self.fetch_optional(&HOLD, args![id], |row| row.get::<UserId>("id"))?;
        self.profile(id)
    }

    /// Updates the fields that users change themselves.
    pub fn update_profile(&mut self, user: &User) -> Result<()> {
        let key = name_key(user.name.as_str());
        let (search_key, sort_key) = (search_key(user.name.as_str()), user.sort_key());
        self.execute_named(
            &UPDATE_PROFILE,
            named![user =>
                id, name, image, locale, timezone, updated_at,
                name_key: key,
                search_key: search_key,
                sort_key: sort_key,
            ],
        )
    }

    /// Lists the sign-in methods of a user.
    pub fn accounts(&mut self, user: &UserId) -> Result<Vec<SignInMethod>> {
        self.fetch_all(
            &OF_USER,
            args![user],
            |row| from_row!(row => SignInMethod { id, account_id, provider_id, created_at, updated_at }),
        )
    }

    /// Returns the password hash of a user, if there is one.
    pub fn password_hash(&mut self, user: &UserId) -> Result<Option<String>> {
        let found = self.fetch_optional(&PASSWORD, args![user], |row| {
            let _: String = row.get("id")?;
            row.get("password")
        })?;
        Ok(found)
    }

    /// Replaces the hash of an unchanged password.
    pub fn rehash_password(&mut self, account: &str, hash: &str, now: Timestamp) -> Result<()> {
        self.execute(&REHASH, args![account, hash, now])
    }

    /// Stores a new password. Invalidates all emailed links of the user and resets the count of failed sign-ins.
    pub fn choose_password(&mut self, user: &UserId, hash: &str, now: Timestamp) -> Result<()> {
        self.execute(&UPSERT_PASSWORD, args![clock::new_id(), user, hash, now])?;
        self.execute(&OWN_PASSWORD, args![user])?;
        self.forget_former_password(user)
    }

    /// Invalidates all emailed links of a user and resets the count of failed sign-ins, because the password was
    /// replaced.
    pub fn forget_former_password(&mut self, user: &UserId) -> Result<()> {
        self.delete_verifications(user)?;
        let email: Option<String> = self.fetch_optional(&EMAIL, args![user], |row| row.get("email"))?;
        email.map_or(Ok(()), |email| self.clear_failures(&email))
    }

    /// Records that the platform replaced a password; shown to the user after the next sign-in.
    pub fn record_password_reset(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&NOTE_PASSWORD_RESET, args![user, now])
    }

    /// Returns who last replaced the password of a user, and when. Without a user it was the platform.
    pub fn password_reset(&mut self, user: &UserId) -> Result<Option<PasswordReset>> {
        self.fetch_optional(&PASSWORD_RESET, args![user], |row| {
            let at = row.get("password_reset_at")?;
            let by: Option<UserId> = row.get("user_id")?;
            let (name, image): (Option<String>, Option<String>) = (row.get("user_name")?, row.get("user_image")?);
            let by = by.zip(name).map(|(id, name)| Person { id, name, image });
            Ok(PasswordReset { at, by })
        })
    }

    /// Returns the settings of the organizations in which a user is a student.
    pub fn settings_of_student(&mut self, user: &UserId) -> Result<Vec<Option<Metadata>>> {
        self.fetch_all(&SETTINGS_OF_STUDENT, args![user], |row| row.json_option("metadata"))
    }

    /// Returns the settings of the school of a user: the home organization, else the first one that the user joined.
    pub fn settings_of_school(&mut self, user: &UserId) -> Result<Option<Metadata>> {
        let found: Option<Option<Metadata>> =
            self.fetch_optional(&SETTINGS_OF_SCHOOL, args![user], |row| row.json_option("metadata"))?;
        Ok(found.flatten())
    }

    /// Returns strings that make a weak password for a user: names, email address, and the names of their
    /// organizations.
    pub fn known_words(&mut self, user: &UserId) -> Result<Vec<String>> {
        let of_person: Option<Vec<Option<String>>> = self.fetch_optional(&KNOWN_WORDS, args![user], |row| {
            Ok(vec![
                row.get("name")?,
                row.get("first_name")?,
                row.get("last_name")?,
                row.get::<AccountEmail>("email")?.shown(),
                row.get("username")?,
            ])
        })?;
        let of_schools: Vec<(String, String)> =
            self.fetch_all(&SCHOOLS_OF, args![user], |row| row.pair("name", "slug"))?;
        let schools = of_schools.into_iter().flat_map(|(name, slug)| [name, slug]);
        Ok(of_person.into_iter().flatten().flatten().chain(schools).collect())
    }

    /// Counts the links of this kind that were sent to the user after `since`.
    pub fn recent_verifications(&mut self, kind: &str, user: &UserId, since: Timestamp) -> Result<i64> {
        self.fetch_one(&RECENT_VERIFICATIONS, args![user, since, kind], |row| row.only())
    }

    /// Deletes expired links.
    pub(super) fn forget_verifications(&mut self, now: Timestamp) -> Result<()> {
        self.execute(&FORGET_VERIFICATIONS, args![now])
    }

    /// Inserts a link that is emailed to this user. The identifier has the form `kind:token`.
    pub fn insert_verification(
        &mut self,
        identifier: &str,
        user: &UserId,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        self.forget_verifications(now)?;
        let id = clock::new_id();
        self.execute(&INSERT_VERIFICATION, args![id, identifier, user, expires_at, now])
    }

    /// Returns whether an emailed link is valid.
    pub fn is_verification(&mut self, identifier: &str, now: Timestamp) -> Result<bool> {
        Ok(self.owner_of_verification(identifier, now)?.is_some())
    }

    /// Returns the user of an emailed link, if it is valid.
    pub fn owner_of_verification(&mut self, identifier: &str, now: Timestamp) -> Result<Option<UserId>> {
        self.fetch_optional(&VERIFICATION, args![identifier, now], |row| row.get("value"))
    }

    /// Consumes an emailed link; returns its user unless it has expired.
    pub fn take_verification(&mut self, identifier: &str, now: Timestamp) -> Result<Option<UserId>> {
        let found = self.fetch_optional(&TAKE_VERIFICATION, args![identifier], |row| {
            row.pair::<_, Timestamp>("value", "expires_at")
        })?;
        Ok(found.filter(|(_, expires_at)| *expires_at >= now).map(|(user, _)| user))
    }
}

pub(crate) fn profile(row: &Columns<'_>) -> Result<User> {
    from_row!(row => User {
        id, name, first_name, last_name, email, email_verified, username, role, image, locale, timezone, is_active,
        must_change_password, has_second_factor, last_login_at, home_organization_id, created_at, updated_at,
    })
}
