//! Sign-in data: credentials by email address, recent failures, and known IP addresses. An "address" is an IP address
//! here.

use domain::account_email::AccountEmail;
use domain::id::{OrganizationId, UserId};
use domain::sign_in_limit::{
    ACCOUNT, ADDRESS, FAILURE_RETENTION, FailureHistory, FailureLimit, GUESSING, LONGEST_WINDOW, PAIR,
    PAIR_WHILE_GUESSING, UNKNOWN_ACCOUNTS,
};
use domain::text::{Slug, Username};
use domain::time::Timestamp;
use domain::user_name::full_name;

use super::PlatformTx;
use super::sessions::{HOME_SLUG, user_name};
use crate::page::Position;
use crate::{args, from_row, statements};
use common::clock;
use common::error::Result;

statements! {
    /// The credential of an email address.
    CREDENTIAL = "SELECT u.id AS user_id, a.id AS account_id, a.password, u.is_active, u.banned, u.ban_expires,
        u.temporary_password_expires_at, u.must_change_password
        FROM users u
        LEFT JOIN accounts a ON a.user_id = u.id AND a.provider_id = 'credential' AND a.account_id = u.id
        WHERE u.email = $1 AND u.erased_at IS NULL";
    /// An organization by its short name, present or former.
    SCHOOL_OF_SLUG = "SELECT o.id, o.slug FROM organizations o
        WHERE o.deleted_at IS NULL AND o.id = COALESCE((SELECT c.id FROM organizations c WHERE c.slug = $1),
            (SELECT f.organization_id FROM former_slugs f WHERE f.slug = $1))";
    /// The account key of a user name.
    KEY_OF_USER_NAME = "SELECT email FROM users
        WHERE home_organization_id = $1 AND user_name = $2 AND erased_at IS NULL";
    /// The account key of a user, and the user name.
    IDENTIFIERS = "SELECT u.email, u.user_name, {HOME_SLUG} AS home_slug FROM users u WHERE u.id = $1";
    /// Locks the row of the user, so that concurrent attempts on one account are counted serially.
    HOLD = "SELECT id FROM users WHERE email = $1 FOR NO KEY UPDATE";
    /// Whether a password is still hashed as by Better Auth.
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
    /// Consecutive failures of an account from unknown addresses.
    FAILURE_COUNT = "SELECT failures, last_failure_at FROM sign_in_failure_counts
        WHERE account_key = $1 AND last_failure_at > $2";
    /// Counts a failure from an unknown address; an old count restarts at one.
    COUNT_FAILURE = "INSERT INTO sign_in_failure_counts (account_key, failures, last_failure_at) VALUES ($1, 1, $2)
        ON CONFLICT (account_key) DO UPDATE SET last_failure_at = excluded.last_failure_at,
            failures = CASE WHEN sign_in_failure_counts.last_failure_at > $3 THEN sign_in_failure_counts.failures + 1
                ELSE 1 END";
    DELETE_COUNT = "DELETE FROM sign_in_failure_counts WHERE account_key = $1";
    /// Marks an address as known.
    UPSERT_SUCCESS = "INSERT INTO sign_in_successes (account_key, address, last_success_at) VALUES ($1, $2, $3)
        ON CONFLICT (account_key, address) DO UPDATE SET last_success_at = excluded.last_success_at, failures = 0";
    CLEAR_FAILURES = "DELETE FROM sign_in_failures WHERE account_key = $1";
    /// Resets the counts of the account's known addresses.
    CLEAR_KNOWN_ADDRESSES = "UPDATE sign_in_successes SET failures = 0 WHERE account_key = $1 AND failures > 0";
    /// Deletes the known addresses stored under an email address.
    DELETE_KNOWN_ADDRESSES = "DELETE FROM sign_in_successes WHERE account_key = $1";
    /// Moves known addresses to the new email address of a user.
    MOVE_KNOWN_ADDRESSES = "UPDATE sign_in_successes SET account_key = $2 WHERE account_key = $1";
    /// Moves failures to the new email address of a user.
    MOVE_FAILURES = "UPDATE sign_in_failures SET account_key = $2 WHERE account_key = $1";
    /// Moves the count of consecutive failures to the new email address of a user.
    MOVE_COUNT = "UPDATE sign_in_failure_counts SET account_key = $2 WHERE account_key = $1";
    /// Whether there is expired data.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM sign_in_failures WHERE created_at <= $1)
            OR EXISTS (SELECT 1 FROM sign_in_successes WHERE last_success_at <= $2)
            OR EXISTS (SELECT 1 FROM sign_in_failure_counts WHERE last_failure_at <= $2)
            OR (SELECT COUNT(*) FROM sign_in_failure_counts) > $3";
    /// Deletes addresses that are no longer known.
    EXPIRE_SUCCESSES = "DELETE FROM sign_in_successes WHERE last_success_at <= $1";
    EXPIRE_COUNTS = "DELETE FROM sign_in_failure_counts WHERE last_failure_at <= $1";
    /// Deletes the oldest counts of nonexistent accounts beyond the limit.
    LIMIT_COUNTS = "DELETE FROM sign_in_failure_counts WHERE account_key IN (
        SELECT c.account_key FROM sign_in_failure_counts c
        WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.email = c.account_key)
        ORDER BY c.last_failure_at DESC, c.account_key LIMIT 1000000000 OFFSET $1)";
    /// One page of an export of failures, oldest first.
    EXPORTED_FAILURES = "SELECT f.id, COALESCE((SELECT u.user_name || '@' || {HOME_SLUG} FROM users u
            WHERE u.email = f.account_key AND u.email LIKE '%@no-email.invalid'), f.account_key) AS account_key,
            f.address, f.created_at
        FROM sign_in_failures f
        WHERE (f.created_at, f.id) > ($1, $2) AND f.created_at < $3 ORDER BY f.created_at, f.id LIMIT $4";
    UPDATE_LAST_LOGIN = "UPDATE users SET last_login_at = $2 WHERE id = $1";
}

/// The account and the origin of a sign-in, normalized for the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInAttempt {
    /// The email address in lower case, whether or not an account has it. For a user name it is the address or the
    /// placeholder of its account, so that guesses by both identifiers are counted together, or `name@slug` without an
    /// account.
    pub account_key: String,
    /// The IPv4 address or the IPv6 /64 prefix.
    pub address: String,
}

/// A failed sign-in, while limits count it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInFailure {
    pub id: String,
    pub attempt: SignInAttempt,
    pub created_at: Timestamp,
}

/// What identifies an account at sign-in.
#[derive(Debug, Clone)]
pub struct AccountIdentifiers {
    /// The email address, or a placeholder: the key of the limits.
    pub email: AccountEmail,
    /// The user name, and the short name of the organization it belongs to.
    pub user_name: Option<(Username, Slug)>,
}

impl AccountIdentifiers {
    /// Returns the user name on the platform, `name@slug`.
    pub fn full_user_name(&self) -> Option<String> {
        self.user_name.as_ref().map(|(name, slug)| full_name(name, slug))
    }
}

/// The credential of an account.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Credential {
    pub user: UserId,
    /// The id of the row with the password, and the hash. Users without one cannot sign in.
    pub password: Option<(String, String)>,
    /// Whether the account is active.
    pub is_active: bool,
    /// Whether a ban is in force.
    pub is_banned: bool,
    /// Whether the password is a temporary one that has expired.
    pub is_outdated: bool,
    /// Whether the user has to choose another password.
    pub is_provisional: bool,
}

impl PlatformTx<'_> {
    /// Returns the credential of an email address (lower case).
    pub fn credential(&mut self, email: &str, now: Timestamp) -> Result<Option<Credential>> {
        self.fetch_optional(&CREDENTIAL, args![email], |row| {
            let user = row.get("user_id")?;
            let (account, hash): (Option<String>, Option<String>) = (row.get("account_id")?, row.get("password")?);
            let is_active = row.get("is_active")?;
            let (banned, until): (bool, Option<Timestamp>) = (row.get("banned")?, row.get("ban_expires")?);
            let temporary_until: Option<Timestamp> = row.get("temporary_password_expires_at")?;
            Ok(Credential {
                user,
                password: account.zip(hash),
                is_active,
                is_banned: banned && until.is_none_or(|until| until >= now),
                is_outdated: temporary_until.is_some_and(|until| until < now),
                is_provisional: row.get("must_change_password")?,
            })
        })
    }

    /// Returns the organization with a short name, present or former, and its present short name.
    pub fn school_of_slug(&mut self, slug: &Slug) -> Result<Option<(OrganizationId, Slug)>> {
        self.fetch_optional(&SCHOOL_OF_SLUG, args![slug], |row| row.pair("id", "slug"))
    }

    /// Returns the key of the account with a user name, for [`SignInAttempt`].
    pub fn key_of_user_name(&mut self, school: &OrganizationId, name: &Username) -> Result<Option<String>> {
        self.fetch_optional(&KEY_OF_USER_NAME, args![school, name], |row| row.get("email"))
    }

    /// Returns what identifies the account of a user at sign-in.
    pub fn identifiers_of(&mut self, user: &UserId) -> Result<Option<AccountIdentifiers>> {
        self.fetch_optional(&IDENTIFIERS, args![user], |row| {
            Ok(AccountIdentifiers {
                email: row.get("email")?,
                user_name: user_name(row)?,
            })
        })
    }

    /// Locks the account of an email address until the end of the transaction, if there is one.
    pub fn lock_account_of_address(&mut self, email: &str) -> Result<()> {
        self.fetch_optional(&HOLD, args![email], |row| row.get::<UserId>("id"))
            .map(drop)
    }

    /// Returns whether a password is still hashed as by Better Auth.
    pub fn has_imported_hashes(&mut self) -> Result<bool> {
        self.fetch_one(&IMPORTED, args![], |row| row.only())
    }

    /// Returns the data that the limits of failed sign-ins are checked against.
    pub fn failure_history(&mut self, attempt: &SignInAttempt, now: Timestamp) -> Result<FailureHistory> {
        let (account, address) = (attempt.account_key.as_str(), attempt.address.as_str());
        let memory = now.plus_seconds(-FAILURE_RETENTION);
        let known: Option<(Timestamp, i64)> =
            self.fetch_optional(&KNOWN_ADDRESS, args![account, address, memory], |row| {
                row.pair("last_success_at", "failures")
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
        history.account = self.fetch_optional(&FAILURE_OF_ACCOUNT, args![account, since, skipped], |row| {
            row.get("created_at")
        })?;
        history.address = self.failing_account(attempt, ADDRESS, now)?;
        let count: Option<(i64, Timestamp)> = self.fetch_optional(&FAILURE_COUNT, args![account, memory], |row| {
            row.pair("failures", "last_failure_at")
        })?;
        if let Some((failures, last_failure)) = count {
            history.consecutive = failures;
            history.last_failure = Some(last_failure);
        }
        Ok(history)
    }

    fn failure_of_pair(
        &mut self,
        attempt: &SignInAttempt,
        limit: FailureLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let (since, skipped) = (limit.since(now), limit.failures - 1);
        let arguments = args![attempt.account_key, attempt.address, since, skipped];
        self.fetch_optional(&FAILURE_OF_PAIR, arguments, |row| row.get("created_at"))
    }

    fn failing_account(
        &mut self,
        attempt: &SignInAttempt,
        limit: FailureLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let (since, skipped) = (limit.since(now), limit.failures - 1);
        let arguments = args![attempt.address, since, skipped];
        self.fetch_optional(&FAILING_ACCOUNT_OF_ADDRESS, arguments, |row| row.get("newest"))
    }

    /// Inserts a failure and deletes those that no limit counts any more.
    pub fn insert_failure(&mut self, attempt: &SignInAttempt, now: Timestamp) -> Result<()> {
        let (account, address, memory) = (
            &attempt.account_key,
            &attempt.address,
            now.plus_seconds(-FAILURE_RETENTION),
        );
        self.execute(&FORGET_FAILURES, args![now.plus_seconds(-LONGEST_WINDOW)])?;
        let is_known = self.execute_counted(&COUNT_AT_KNOWN_ADDRESS, args![account, address, memory])? > 0;
        if !is_known {
            self.execute(&COUNT_FAILURE, args![account, now, memory])?;
        }
        let id = clock::new_id();
        let arguments = args![id, account, address, is_known, now];
        self.execute(&INSERT_FAILURE, arguments)
    }

    /// Returns the next failures of an export, oldest first: those after `after` that happened before `to`.
    pub fn exported_failures(
        &mut self,
        after: &Position<i64>,
        to: Option<Timestamp>,
        limit: i64,
    ) -> Result<Vec<SignInFailure>> {
        let to = to.map_or(i64::MAX, Timestamp::as_millis);
        let arguments = args![after.key, after.id, to, limit];
        self.fetch_all(&EXPORTED_FAILURES, arguments, |row| {
            from_row!(row => SignInFailure {
                id, created_at,
                attempt: from_row!(row => SignInAttempt { account_key, address })?,
            })
        })
    }

    /// Marks the address as known. The first success from an address resets the consecutive failures from unknown
    /// addresses.
    pub fn insert_success(&mut self, user: &UserId, attempt: &SignInAttempt, now: Timestamp) -> Result<()> {
        let (account, address, memory) = (
            &attempt.account_key,
            &attempt.address,
            now.plus_seconds(-FAILURE_RETENTION),
        );
        let known: Option<Timestamp> = self.fetch_optional(&KNOWN_ADDRESS, args![account, address, memory], |row| {
            row.get("last_success_at")
        })?;
        if known.is_none() {
            self.execute(&DELETE_COUNT, args![account])?;
        }
        self.execute(&UPSERT_SUCCESS, args![account, address, now])?;
        self.execute(&UPDATE_LAST_LOGIN, args![user, now])
    }

    /// Resets the failures of an account after its password was replaced: earlier guesses are irrelevant.
    pub fn clear_failures(&mut self, account_key: &str) -> Result<()> {
        for statement in [&CLEAR_FAILURES, &DELETE_COUNT, &CLEAR_KNOWN_ADDRESSES] {
            self.execute(statement, args![account_key])?;
        }
        Ok(())
    }

    /// Moves the sign-in history to the user's new email address, so that no rows remain under the former one.
    pub fn move_sign_in_history(&mut self, from: &str, to: &str) -> Result<()> {
        self.execute(&DELETE_KNOWN_ADDRESSES, args![to])?;
        self.execute(&DELETE_COUNT, args![to])?;
        for statement in [&MOVE_KNOWN_ADDRESSES, &MOVE_FAILURES, &MOVE_COUNT] {
            self.execute(statement, args![from, to])?;
        }
        Ok(())
    }

    /// Deletes the sign-in history of an email address.
    pub fn delete_sign_in_history(&mut self, account_key: &str) -> Result<()> {
        for statement in [&CLEAR_FAILURES, &DELETE_COUNT, &DELETE_KNOWN_ADDRESSES] {
            self.execute(statement, args![account_key])?;
        }
        Ok(())
    }

    /// Returns whether [`Self::expire_sign_ins`] would delete anything.
    pub fn has_expired_sign_ins(&mut self, now: Timestamp) -> Result<bool> {
        let (window, memory) = (now.plus_seconds(-LONGEST_WINDOW), now.plus_seconds(-FAILURE_RETENTION));
        let arguments = args![window, memory, UNKNOWN_ACCOUNTS];
        self.fetch_one(&ANY_EXPIRED, arguments, |row| row.only())
    }

    /// Deletes expired failures, known addresses and counts, and counts of nonexistent accounts beyond the limit.
    pub fn expire_sign_ins(&mut self, now: Timestamp) -> Result<()> {
        let memory = now.plus_seconds(-FAILURE_RETENTION);
        self.execute(&FORGET_FAILURES, args![now.plus_seconds(-LONGEST_WINDOW)])?;
        self.execute(&EXPIRE_SUCCESSES, args![memory])?;
        self.execute(&EXPIRE_COUNTS, args![memory])?;
        self.execute(&LIMIT_COUNTS, args![UNKNOWN_ACCOUNTS])
    }
}
