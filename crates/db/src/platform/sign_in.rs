//! What sign-in remembers: the credential behind an address, failures of the last minutes, addresses known to be good.

use model::id::UserId;
use model::sign_in_limit::{
    ACCOUNT, ADDRESS, FailureHistory, FailureLimit, GUESSING, LONGEST_WINDOW, MEMORY, PAIR, PAIR_WHILE_GUESSING,
    UNKNOWN_ACCOUNTS,
};
use model::time::Timestamp;

use super::Platform;
use crate::{args, statements};
use common::clock;
use common::error::Result;

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
    /// The n-th newest failure of an account from addresses that are not known addresses of it.
    FAILURE_OF_ACCOUNT = "SELECT created_at FROM sign_in_failures
        WHERE account_key = $1 AND created_at > $2 AND NOT from_known_address
        ORDER BY created_at DESC LIMIT 1 OFFSET $3";
    /// The newest failure of the n-th account that failed from an address, newest account first.
    FAILING_ACCOUNT_OF_ADDRESS = "SELECT MAX(created_at) AS newest FROM sign_in_failures
        WHERE address = $1 AND created_at > $2 GROUP BY account_key ORDER BY newest DESC LIMIT 1 OFFSET $3";
    /// Inserts a failure.
    INSERT_FAILURE = "INSERT INTO sign_in_failures (id, account_key, address, from_known_address, created_at)
        VALUES ($1, $2, $3, $4, $5)";
    /// Deletes failures that no limit counts any more.
    FORGET_FAILURES = "DELETE FROM sign_in_failures WHERE created_at <= $1";
    /// The last success of an account from an address, and the consecutive failures since.
    KNOWN_ADDRESS = "SELECT last_success_at, failures FROM sign_in_successes
        WHERE account_key = $1 AND address = $2 AND last_success_at > $3";
    /// Counts a failure from a known address.
    COUNT_AT_KNOWN_ADDRESS = "UPDATE sign_in_successes SET failures = failures + 1
        WHERE account_key = $1 AND address = $2 AND last_success_at > $3";
    /// Consecutive failures of an account from addresses that are not known.
    FAILURE_COUNT = "SELECT failures, last_failure_at FROM sign_in_failure_counts
        WHERE account_key = $1 AND last_failure_at > $2";
    /// Counts a failure from an address that is not known; an old count starts again.
    COUNT_FAILURE = "INSERT INTO sign_in_failure_counts (account_key, failures, last_failure_at) VALUES ($1, 1, $2)
        ON CONFLICT (account_key) DO UPDATE SET last_failure_at = excluded.last_failure_at,
            failures = CASE WHEN sign_in_failure_counts.last_failure_at > $3 THEN sign_in_failure_counts.failures + 1
                ELSE 1 END";
    /// Deletes the count of an account.
    DELETE_COUNT = "DELETE FROM sign_in_failure_counts WHERE account_key = $1";
    /// Marks an address as known.
    UPSERT_SUCCESS = "INSERT INTO sign_in_successes (account_key, address, last_success_at) VALUES ($1, $2, $3)
        ON CONFLICT (account_key, address) DO UPDATE SET last_success_at = excluded.last_success_at, failures = 0";
    /// Deletes the failures of an account.
    CLEAR_FAILURES = "DELETE FROM sign_in_failures WHERE account_key = $1";
    /// Resets the counts of its known addresses.
    CLEAR_KNOWN_ADDRESSES = "UPDATE sign_in_successes SET failures = 0 WHERE account_key = $1 AND failures > 0";
    /// Deletes known addresses that are stored under an e-mail address that a person gets.
    DELETE_KNOWN_ADDRESSES = "DELETE FROM sign_in_successes WHERE account_key = $1";
    /// Moves known addresses to another e-mail address of the person.
    MOVE_KNOWN_ADDRESSES = "UPDATE sign_in_successes SET account_key = $2 WHERE account_key = $1";
    /// Moves failures to another e-mail address of the person.
    MOVE_FAILURES = "UPDATE sign_in_failures SET account_key = $2 WHERE account_key = $1";
    /// Moves the count of consecutive failures to another e-mail address of the person.
    MOVE_COUNT = "UPDATE sign_in_failure_counts SET account_key = $2 WHERE account_key = $1";
    /// Whether the sweep has anything to delete.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM sign_in_failures WHERE created_at <= $1)
            OR EXISTS (SELECT 1 FROM sign_in_successes WHERE last_success_at <= $2)
            OR EXISTS (SELECT 1 FROM sign_in_failure_counts WHERE last_failure_at <= $2)
            OR (SELECT COUNT(*) FROM sign_in_failure_counts) > $3";
    /// Deletes addresses that are not known any more.
    EXPIRE_SUCCESSES = "DELETE FROM sign_in_successes WHERE last_success_at <= $1";
    /// Deletes old counts.
    EXPIRE_COUNTS = "DELETE FROM sign_in_failure_counts WHERE last_failure_at <= $1";
    /// Deletes the oldest counts of accounts that do not exist, as far as they are more than allowed.
    LIMIT_COUNTS = "DELETE FROM sign_in_failure_counts WHERE account_key IN (
        SELECT c.account_key FROM sign_in_failure_counts c
        WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.email = c.account_key)
        ORDER BY c.last_failure_at DESC, c.account_key LIMIT 1000000000 OFFSET $1)";
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

    /// What the limits of failed sign-ins compare an attempt with.
    pub fn failure_history(&mut self, attempt: &Attempt, now: Timestamp) -> Result<FailureHistory> {
        let (account, address) = (attempt.account_key.as_str(), attempt.address.as_str());
        let memory = now.plus_seconds(-MEMORY);
        let known: Option<(Timestamp, i64)> =
            self.connection
                .maybe(&KNOWN_ADDRESS, args![account, address, memory], |row| {
                    Ok((row.take()?, row.take()?))
                })?;
        let mut history = FailureHistory {
            pair: self.failure_of_pair(attempt, PAIR, now)?,
            guessing: self.failing_account(attempt, GUESSING, now)?,
            ..FailureHistory::default()
        };
        if history.guessing.is_some() {
            history.pair_while_guessing = self.failure_of_pair(attempt, PAIR_WHILE_GUESSING, now)?;
        }
        if let Some((last_success, failures)) = known {
            history.known_since = Some(last_success);
            history.consecutive = failures;
            return Ok(history);
        }
        let (since, skipped) = (ACCOUNT.since(now), ACCOUNT.failures - 1);
        history.account = self
            .connection
            .maybe(&FAILURE_OF_ACCOUNT, args![account, since, skipped], |row| row.take())?;
        history.address = self.failing_account(attempt, ADDRESS, now)?;
        let count: Option<(i64, Timestamp)> = self.connection.maybe(&FAILURE_COUNT, args![account, memory], |row| {
            Ok((row.take()?, row.take()?))
        })?;
        if let Some((failures, last_failure)) = count {
            history.consecutive = failures;
            history.last_failure = Some(last_failure);
        }
        Ok(history)
    }

    fn failure_of_pair(&mut self, attempt: &Attempt, limit: FailureLimit, now: Timestamp) -> Result<Option<Timestamp>> {
        let (since, skipped) = (limit.since(now), limit.failures - 1);
        let arguments = args![attempt.account_key, attempt.address, since, skipped];
        self.connection.maybe(&FAILURE_OF_PAIR, arguments, |row| row.take())
    }

    fn failing_account(&mut self, attempt: &Attempt, limit: FailureLimit, now: Timestamp) -> Result<Option<Timestamp>> {
        let (since, skipped) = (limit.since(now), limit.failures - 1);
        let arguments = args![attempt.address, since, skipped];
        self.connection
            .maybe(&FAILING_ACCOUNT_OF_ADDRESS, arguments, |row| row.take())
    }

    /// Inserts a failure and deletes those that no limit counts any more.
    pub fn insert_failure(&mut self, attempt: &Attempt, now: Timestamp) -> Result<()> {
        let (account, address, memory) = (&attempt.account_key, &attempt.address, now.plus_seconds(-MEMORY));
        self.connection
            .run(&FORGET_FAILURES, args![now.plus_seconds(-LONGEST_WINDOW)])?;
        let is_known = self
            .connection
            .run(&COUNT_AT_KNOWN_ADDRESS, args![account, address, memory])?
            > 0;
        if !is_known {
            self.connection.run(&COUNT_FAILURE, args![account, now, memory])?;
        }
        let id = clock::new_id();
        let arguments = args![id, account, address, is_known, now];
        self.connection.run(&INSERT_FAILURE, arguments).map(drop)
    }

    /// Marks the address as known. The first success from there ends the consecutive failures from other addresses.
    pub fn insert_success(&mut self, user: &UserId, attempt: &Attempt, now: Timestamp) -> Result<()> {
        let (account, address, memory) = (&attempt.account_key, &attempt.address, now.plus_seconds(-MEMORY));
        let known: Option<Timestamp> =
            self.connection
                .maybe(&KNOWN_ADDRESS, args![account, address, memory], |row| row.take())?;
        if known.is_none() {
            self.connection.run(&DELETE_COUNT, args![account])?;
        }
        self.connection.run(&UPSERT_SUCCESS, args![account, address, now])?;
        self.connection.run(&UPDATE_LAST_LOGIN, args![user, now]).map(drop)
    }

    /// Clears the failures of an account: its password was replaced, so what was guessed before does not count.
    pub fn clear_failures(&mut self, account_key: &str) -> Result<()> {
        for statement in [&CLEAR_FAILURES, &DELETE_COUNT, &CLEAR_KNOWN_ADDRESSES] {
            self.connection.run(statement, args![account_key])?;
        }
        Ok(())
    }

    /// Moves what is stored under an e-mail address to the person's new address, so that no rows stay under a former one.
    pub fn move_sign_in_history(&mut self, from: &str, to: &str) -> Result<()> {
        self.connection.run(&DELETE_KNOWN_ADDRESSES, args![to])?;
        self.connection.run(&DELETE_COUNT, args![to])?;
        for statement in [&MOVE_KNOWN_ADDRESSES, &MOVE_FAILURES, &MOVE_COUNT] {
            self.connection.run(statement, args![from, to])?;
        }
        Ok(())
    }

    /// Deletes what is stored about sign-ins with an e-mail address.
    pub fn delete_sign_in_history(&mut self, account_key: &str) -> Result<()> {
        for statement in [&CLEAR_FAILURES, &DELETE_COUNT, &DELETE_KNOWN_ADDRESSES] {
            self.connection.run(statement, args![account_key])?;
        }
        Ok(())
    }

    /// Whether [`Self::expire_sign_ins`] would delete anything.
    pub fn has_expired_sign_ins(&mut self, now: Timestamp) -> Result<bool> {
        let (window, memory) = (now.plus_seconds(-LONGEST_WINDOW), now.plus_seconds(-MEMORY));
        let arguments = args![window, memory, UNKNOWN_ACCOUNTS];
        let found = self.connection.maybe(&ANY_EXPIRED, arguments, |row| row.take())?;
        Ok(found.unwrap_or(false))
    }

    /// Deletes failures, known addresses and counts that are too old, and counts of unknown accounts beyond the bound.
    pub fn expire_sign_ins(&mut self, now: Timestamp) -> Result<()> {
        let memory = now.plus_seconds(-MEMORY);
        self.connection
            .run(&FORGET_FAILURES, args![now.plus_seconds(-LONGEST_WINDOW)])?;
        self.connection.run(&EXPIRE_SUCCESSES, args![memory])?;
        self.connection.run(&EXPIRE_COUNTS, args![memory])?;
        self.connection.run(&LIMIT_COUNTS, args![UNKNOWN_ACCOUNTS]).map(drop)
    }
}
