//! What sign-in remembers: the credential behind an address, failures of the last minutes, addresses known to be good.

use model::id::UserId;
use model::time::Timestamp;

use super::Platform;
use crate::error::Result;
use crate::{args, clock, statements};

statements! {
    /// The credential behind an e-mail address.
    CREDENTIAL = "SELECT u.id, a.id, a.password, u.is_active, u.banned, u.ban_expires, u.temporary_password_expires_at
        FROM users u
        LEFT JOIN accounts a ON a.user_id = u.id AND a.provider_id = 'credential' AND a.account_id = u.id
        WHERE u.email = $1 AND u.erased_at IS NULL";
    /// Takes the person's row, so that two attempts on one account are counted one after the other.
    HOLD = "SELECT id FROM users WHERE email = $1 FOR NO KEY UPDATE";
    /// Whether any password is still hashed the way better-auth did it.
    IMPORTED = "SELECT EXISTS (SELECT 1 FROM accounts WHERE password NOT LIKE '$argon2id$%')";
    /// The n-th newest failure of an account from one address.
    FAILURE_OF_PAIR = "SELECT created_at FROM sign_in_failures
        WHERE account_key = $1 AND address = $2 AND created_at > $3 ORDER BY created_at DESC LIMIT 1 OFFSET $4";
    /// The n-th newest failure of an account from anywhere.
    FAILURE_OF_ACCOUNT = "SELECT created_at FROM sign_in_failures
        WHERE account_key = $1 AND created_at > $2 ORDER BY created_at DESC LIMIT 1 OFFSET $3";
    /// The n-th newest failure from an address, whatever the account.
    FAILURE_OF_ADDRESS = "SELECT created_at FROM sign_in_failures
        WHERE address = $1 AND created_at > $2 ORDER BY created_at DESC LIMIT 1 OFFSET $3";
    /// Remembers a failure.
    INSERT_FAILURE = "INSERT INTO sign_in_failures (id, account_key, address, created_at) VALUES ($1, $2, $3, $4)";
    /// Forgets failures that no limit counts any more.
    FORGET_FAILURES = "DELETE FROM sign_in_failures WHERE created_at <= $1";
    /// Whether an account signed in from an address lately.
    KNOWN_GOOD = "SELECT EXISTS (SELECT 1 FROM sign_in_successes
        WHERE account_key = $1 AND address = $2 AND last_success_at > $3)";
    /// Remembers an address as good.
    UPSERT_SUCCESS = "INSERT INTO sign_in_successes (account_key, address, last_success_at) VALUES ($1, $2, $3)
        ON CONFLICT (account_key, address) DO UPDATE SET last_success_at = excluded.last_success_at";
    /// Forgets good addresses of an account that it left long ago.
    FORGET_SUCCESSES = "DELETE FROM sign_in_successes WHERE account_key = $1 AND last_success_at <= $2";
    /// When a person last signed in.
    UPDATE_LAST_LOGIN = "UPDATE users SET last_login_at = $2 WHERE id = $1";
}

/// Whom a sign-in is for and where it comes from, spelled as the limits count them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The e-mail address in lower case, whether or not anybody has it.
    pub account_key: String,
    /// The IPv4 address or the IPv6 /64.
    pub address: String,
}

/// The account that a sign-in names.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The person.
    pub user: UserId,
    /// The row that holds the password, and the hash; people without one cannot sign in.
    pub password: Option<(String, String)>,
    /// Whether the person may sign in at all.
    pub is_active: bool,
    /// Whether the platform keeps the person out at the moment.
    pub is_banned: bool,
    /// Whether the password was a temporary one whose time is over.
    pub is_outdated: bool,
}

impl Platform<'_> {
    /// The credential behind an e-mail address (lower case).
    pub fn credential(&mut self, email: &str, now: Timestamp) -> Result<Option<Credential>> {
        self.connection.maybe(&CREDENTIAL, args![email], |row| {
            let user = row.take()?;
            let (account, hash): (Option<String>, Option<String>) = (row.take()?, row.take()?);
            let is_active = row.take()?;
            let (banned, until): (bool, Option<Timestamp>) = (row.take()?, row.take()?);
            let temporary_until: Option<Timestamp> = row.take()?;
            Ok(Credential {
                user,
                password: account.zip(hash),
                is_active,
                is_banned: banned && until.is_none_or(|until| until >= now),
                is_outdated: temporary_until.is_some_and(|until| until < now),
            })
        })
    }

    /// Holds the account of an e-mail address until this unit ends; nothing to hold where there is none.
    pub fn hold_account(&mut self, email: &str) -> Result<()> {
        self.connection
            .maybe(&HOLD, args![email], |row| row.take::<UserId>())
            .map(drop)
    }

    /// Whether any password is still hashed the way better-auth did it.
    pub fn has_imported_hashes(&mut self) -> Result<bool> {
        let found = self.connection.maybe(&IMPORTED, args![], |row| row.take())?;
        Ok(found.unwrap_or(false))
    }

    /// The `nth` newest failure of the account from this address, not older than `since`.
    pub fn failure_of_pair(&mut self, attempt: &Attempt, since: Timestamp, nth: i64) -> Result<Option<Timestamp>> {
        self.connection.maybe(
            &FAILURE_OF_PAIR,
            args![attempt.account_key, attempt.address, since, nth - 1],
            |row| row.take(),
        )
    }

    /// The `nth` newest failure of the account from anywhere, not older than `since`.
    pub fn failure_of_account(&mut self, attempt: &Attempt, since: Timestamp, nth: i64) -> Result<Option<Timestamp>> {
        self.connection
            .maybe(&FAILURE_OF_ACCOUNT, args![attempt.account_key, since, nth - 1], |row| {
                row.take()
            })
    }

    /// The `nth` newest failure from this address, not older than `since`.
    pub fn failure_of_address(&mut self, attempt: &Attempt, since: Timestamp, nth: i64) -> Result<Option<Timestamp>> {
        self.connection
            .maybe(&FAILURE_OF_ADDRESS, args![attempt.address, since, nth - 1], |row| {
                row.take()
            })
    }

    /// Whether the account signed in from this address after `since`.
    pub fn is_known_good(&mut self, attempt: &Attempt, since: Timestamp) -> Result<bool> {
        let arguments = args![attempt.account_key, attempt.address, since];
        let found = self.connection.maybe(&KNOWN_GOOD, arguments, |row| row.take())?;
        Ok(found.unwrap_or(false))
    }

    /// Remembers a failure and forgets those up to `outdated`.
    pub fn insert_failure(&mut self, attempt: &Attempt, now: Timestamp, outdated: Timestamp) -> Result<()> {
        self.connection.run(&FORGET_FAILURES, args![outdated])?;
        let id = clock::new_id();
        self.connection
            .run(&INSERT_FAILURE, args![id, attempt.account_key, attempt.address, now])
            .map(drop)
    }

    /// Remembers a success and forgets those of the account up to `outdated`.
    pub fn insert_success(
        &mut self,
        user: &UserId,
        attempt: &Attempt,
        now: Timestamp,
        outdated: Timestamp,
    ) -> Result<()> {
        self.connection
            .run(&FORGET_SUCCESSES, args![attempt.account_key, outdated])?;
        self.connection
            .run(&UPSERT_SUCCESS, args![attempt.account_key, attempt.address, now])?;
        self.connection.run(&UPDATE_LAST_LOGIN, args![user, now]).map(drop)
    }
}
