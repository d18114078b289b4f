//! A person's own account: profile and password. Hashes leave this room only to be verified.

use model::access::PlatformRole;
use model::id::UserId;
use model::text::name_key;
use model::time::Timestamp;
use model::user::User;

use super::Platform;
use crate::error::{Error, Result};
use crate::store::sql::Columns;
use crate::{args, clock, statements};

statements! {
    /// A person's whole account.
    PROFILE = "SELECT id, name, first_name, last_name, email, email_verified, username, role, image, locale, timezone,
            is_active, must_change_password, last_login_at, home_organization_id, created_at, updated_at
        FROM users WHERE id = $1";
    /// Takes the row for this unit.
    HOLD = "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE";
    /// What people change about themselves.
    UPDATE_PROFILE = "UPDATE users SET name = $2, name_key = $3, image = $4, locale = $5, timezone = $6, updated_at = $7
        WHERE id = $1";
    /// The ways in which a person signs in.
    OF_USER = "SELECT id, account_id, provider_id, created_at, updated_at FROM accounts WHERE user_id = $1
        ORDER BY created_at, id";
    /// A person's password.
    PASSWORD = "SELECT id, password FROM accounts
        WHERE user_id = $1 AND provider_id = 'credential' AND password IS NOT NULL";
    /// Another hash of the same password.
    REHASH = "UPDATE accounts SET password = $2, updated_at = $3 WHERE id = $1";
    /// A new password; a person without one gets the account that holds it.
    UPSERT_PASSWORD = "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
        VALUES ($1, $2, 'credential', $2, $3, $4, $4)
        ON CONFLICT (provider_id, account_id) DO UPDATE
        SET password = excluded.password, updated_at = excluded.updated_at";
    /// A password that the person chose is not temporary.
    OWN_PASSWORD = "UPDATE users SET must_change_password = FALSE, temporary_password_expires_at = NULL WHERE id = $1";
    /// A link that was mailed.
    INSERT_VERIFICATION = "INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)";
    /// Uses up a mailed link.
    TAKE_VERIFICATION = "DELETE FROM verifications WHERE identifier = $1 RETURNING value, expires_at";
    /// Whether a mailed link still works.
    VERIFICATION = "SELECT value FROM verifications WHERE identifier = $1 AND expires_at >= $2";
    /// Links of the same kind to one person since a moment.
    RECENT_VERIFICATIONS = "SELECT COUNT(*) FROM verifications
        WHERE value = $1 AND created_at > $2 AND identifier LIKE CAST($3 AS TEXT) || ':%'";
    /// Links whose time is over, and which no limit counts any more.
    FORGET_VERIFICATIONS = "DELETE FROM verifications WHERE expires_at < $1";
    /// All links of one kind to one person: one that was used makes the others worthless.
    TAKE_BACK_VERIFICATIONS = "DELETE FROM verifications WHERE value = $1 AND identifier LIKE CAST($2 AS TEXT) || ':%'";
}

/// A way in which a person signs in.
#[derive(Debug, Clone)]
pub struct Account {
    /// The row's id.
    pub id: String,
    /// The person as the provider knows him.
    pub account_id: String,
    /// `credential`: the password.
    pub provider_id: String,
    /// Since when.
    pub created_at: Timestamp,
    /// When the password last changed.
    pub updated_at: Timestamp,
}

impl Platform<'_> {
    /// A person's whole account.
    pub fn profile(&mut self, id: &UserId) -> Result<User> {
        self.connection
            .maybe(&PROFILE, args![id], profile)?
            .ok_or(Error::NotFound)
    }

    /// A person's whole account, held until this unit ends.
    pub fn profile_to_change(&mut self, id: &UserId) -> Result<User> {
        self.connection.maybe(&HOLD, args![id], |row| row.take::<UserId>())?;
        self.profile(id)
    }

    /// Writes what people change about themselves.
    pub fn update_profile(&mut self, user: &User) -> Result<()> {
        let key = name_key(user.name.as_str());
        let arguments = args![
            user.id,
            user.name,
            key,
            user.image,
            user.locale,
            user.timezone,
            user.updated_at
        ];
        self.connection.run(&UPDATE_PROFILE, arguments).map(drop)
    }

    /// The ways in which a person signs in.
    pub fn accounts(&mut self, user: &UserId) -> Result<Vec<Account>> {
        self.connection.many(&OF_USER, args![user], |row| {
            Ok(Account {
                id: row.take()?,
                account_id: row.take()?,
                provider_id: row.take()?,
                created_at: row.take()?,
                updated_at: row.take()?,
            })
        })
    }

    /// The hash of a person's password, if there is one.
    pub fn password_hash(&mut self, user: &UserId) -> Result<Option<String>> {
        let found = self.connection.maybe(&PASSWORD, args![user], |row| {
            let _: String = row.take()?;
            row.take()
        })?;
        Ok(found)
    }

    /// Stores another hash of the same password.
    pub fn rehash_password(&mut self, account: &str, hash: &str, now: Timestamp) -> Result<()> {
        self.connection.run(&REHASH, args![account, hash, now]).map(drop)
    }

    /// Stores the password that the person chose.
    pub fn choose_password(&mut self, user: &UserId, hash: &str, now: Timestamp) -> Result<()> {
        self.connection
            .run(&UPSERT_PASSWORD, args![clock::new_id(), user, hash, now])?;
        self.connection.run(&OWN_PASSWORD, args![user]).map(drop)
    }

    /// How many links of this kind the person was sent after `since`.
    pub fn recent_verifications(&mut self, kind: &str, user: &UserId, since: Timestamp) -> Result<i64> {
        let found = self
            .connection
            .maybe(&RECENT_VERIFICATIONS, args![user, since, kind], |row| row.take())?;
        Ok(found.unwrap_or(0))
    }

    /// Remembers a link that is going to be mailed: `kind:token`, for this person.
    pub fn insert_verification(
        &mut self,
        identifier: &str,
        user: &UserId,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        self.connection.run(&FORGET_VERIFICATIONS, args![now])?;
        let id = clock::new_id();
        self.connection
            .run(&INSERT_VERIFICATION, args![id, identifier, user, expires_at, now])
            .map(drop)
    }

    /// Whether a mailed link still works.
    pub fn is_verification(&mut self, identifier: &str, now: Timestamp) -> Result<bool> {
        Ok(self.owner_of_verification(identifier, now)?.is_some())
    }

    /// For whom a mailed link is, if it still works.
    pub fn owner_of_verification(&mut self, identifier: &str, now: Timestamp) -> Result<Option<UserId>> {
        self.connection
            .maybe(&VERIFICATION, args![identifier, now], |row| row.take())
    }

    /// Uses up a mailed link and says for whom it was, if its time is not over.
    pub fn take_verification(&mut self, identifier: &str, now: Timestamp) -> Result<Option<UserId>> {
        let found = self.connection.maybe(&TAKE_VERIFICATION, args![identifier], |row| {
            Ok((row.take::<UserId>()?, row.take::<Timestamp>()?))
        })?;
        Ok(found.filter(|(_, expires_at)| *expires_at >= now).map(|(user, _)| user))
    }

    /// Makes all links of this kind to the person worthless.
    pub fn take_back_verifications(&mut self, kind: &str, user: &UserId) -> Result<()> {
        self.connection
            .run(&TAKE_BACK_VERIFICATIONS, args![user, kind])
            .map(drop)
    }
}

pub(in crate::store) fn profile(row: &mut Columns<'_>) -> Result<User> {
    Ok(User {
        id: row.take()?,
        name: row.take()?,
        first_name: row.take()?,
        last_name: row.take()?,
        email: row.take()?,
        email_verified: row.take()?,
        username: row.take()?,
        role: row.parse(PlatformRole::parse)?,
        image: row.take()?,
        locale: row.take()?,
        timezone: row.take()?,
        is_active: row.take()?,
        must_change_password: row.take()?,
        last_login_at: row.take()?,
        home_organization_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
