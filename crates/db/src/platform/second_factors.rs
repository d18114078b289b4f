//! Authenticator apps of users, their recovery codes, sign-ins that wait for a second factor, and trusted browsers. Tokens of
//! browsers are stored as hashes in `verifications`, so they end with every other link of the user.

use domain::from_fields;
use domain::id::{OrganizationId, UserId};
use domain::second_factor::CodeHistory;
use domain::sign_on::SignOnSession;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::PlatformTx;
use super::sessions::Session;
use crate::{args, from_row, statements};
use common::clock;
use common::error::Result;

statements! {
    OF_USER = "SELECT id, secret, confirmed_at, last_step, failures, locked_until FROM second_factors
        WHERE user_id = $1";
    /// Inserts a second factor that is not confirmed yet, in place of an earlier one.
    UPSERT = "INSERT INTO second_factors (id, user_id, secret, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, secret = excluded.secret, confirmed_at = NULL,
            last_step = NULL, failures = 0, locked_until = NULL, created_at = excluded.created_at";
    /// Inserts a row without an app, which counts wrong recovery codes.
    INSERT_COUNT = "INSERT INTO second_factors (id, user_id, secret, created_at) VALUES ($1, $2, '', $3)
        ON CONFLICT DO NOTHING";
    CONFIRM = "UPDATE second_factors SET confirmed_at = $2 WHERE user_id = $1";
    UPDATE_HISTORY = "UPDATE second_factors SET last_step = $2, failures = $3, locked_until = $4 WHERE user_id = $1";
    DELETE = "DELETE FROM second_factors WHERE user_id = $1";
    /// The next encrypted secrets after an id.
    SECRETS = "SELECT id, secret FROM second_factors WHERE id > $1 AND secret <> '' ORDER BY id LIMIT $2";
    /// Replaces an encrypted secret, unless it changed meanwhile.
    RENEW_SECRET = "UPDATE second_factors SET secret = $3 WHERE id = $1 AND secret = $2";
    INSERT_CODE = "INSERT INTO recovery_codes (id, user_id, code_hash, created_at) VALUES ($1, $2, $3, $4)";
    DELETE_CODES = "DELETE FROM recovery_codes WHERE user_id = $1";
    /// Uses up a code. Of two concurrent requests only one deletes the row.
    DELETE_CODE = "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2";
    INSERT_PENDING = "INSERT INTO verifications (id, identifier, value, session, expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)";
    /// A waiting sign-in that has not expired.
    PENDING = "SELECT value, attempts, session FROM verifications WHERE identifier = $1 AND expires_at >= $2";
    COUNT_ATTEMPT = "UPDATE verifications SET attempts = attempts + 1 WHERE identifier = $1";
    DELETE_ONE = "DELETE FROM verifications WHERE identifier = $1";
    DELETE_KIND = "DELETE FROM verifications WHERE value = $1 AND identifier LIKE CAST($2 AS TEXT) || ':%'";
}

/// The second factor of a user.
#[derive(Debug, Clone)]
pub struct SecondFactor {
    pub id: String,
    /// The encrypted secret; `None` without an app.
    pub secret: Option<String>,
    /// When the first code was entered; `None` until then.
    pub confirmed_at: Option<Timestamp>,
    pub history: CodeHistory,
}

/// A sign-in that waits for its second factor.
#[derive(Debug, Clone)]
pub struct PendingSignIn {
    pub user: UserId,
    /// Number of wrong codes.
    pub attempts: i64,
    pub session: PendingSession,
}

/// What the first step of a sign-in determines of the session that the second step opens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSession {
    pub active_organization_id: Option<OrganizationId>,
    /// See [`Session::new_password_until`](super::sessions::Session).
    pub new_password_until: Option<Timestamp>,
    pub sign_on: Option<Box<SignOnSession>>,
}

impl PendingSession {
    /// Returns what the second step has to restore of a session.
    pub fn of(session: &Session) -> Self {
        from_fields!(&session => Self { active_organization_id, new_password_until, sign_on })
    }

    /// Completes the session of the second step.
    #[must_use]
    pub fn complete(self, session: Session) -> Session {
        Session {
            active_organization_id: self.active_organization_id,
            new_password_until: self.new_password_until,
            sign_on: self.sign_on,
            ..session
        }
    }
}

impl PlatformTx<'_> {
    /// Returns the second factor of a user, confirmed or not.
    pub fn second_factor(&mut self, user: &UserId) -> Result<Option<SecondFactor>> {
        self.fetch_optional(&OF_USER, args![user], |row| {
            let secret: String = row.get("secret")?;
            from_row!(row => SecondFactor {
                id, confirmed_at,
                secret: Some(secret).filter(|secret| !secret.is_empty()),
                history: from_row!(row => CodeHistory { last_step, failures, locked_until })?,
            })
        })
    }

    /// Inserts a second factor that is not confirmed yet, in place of an earlier one.
    pub fn insert_second_factor(&mut self, id: &str, user: &UserId, secret: &str, now: Timestamp) -> Result<()> {
        self.execute(&UPSERT, args![id, user, secret, now])
    }

    /// Confirms the second factor of a user: from now on every sign-in requires it.
    pub fn confirm_second_factor(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&CONFIRM, args![user, now])?;
        self.mark_second_factor(user)
    }

    /// Makes sure that wrong recovery codes can be counted for a user without an authenticator app.
    pub fn insert_code_count(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&INSERT_COUNT, args![clock::new_id(), user, now])
    }

    /// Lists the ids and encrypted secrets of all second factors after an id, a page at a time.
    pub fn second_factor_secrets(&mut self, after: &str, limit: i64) -> Result<Vec<(String, String)>> {
        self.fetch_all(&SECRETS, args![after, limit], |row| row.pair("id", "secret"))
    }

    /// Replaces an encrypted secret, unless it changed meanwhile.
    pub fn renew_second_factor_secret(&mut self, id: &str, former: &str, secret: &str) -> Result<()> {
        self.execute(&RENEW_SECRET, args![id, former, secret])
    }

    pub fn update_code_history(&mut self, user: &UserId, history: &CodeHistory) -> Result<()> {
        let arguments = args![user, history.last_step, history.failures, history.locked_until];
        self.execute(&UPDATE_HISTORY, arguments)
    }

    /// Deletes authenticator app and recovery codes of a user; returns whether there was an app, confirmed or not.
    pub fn delete_authenticator_app(&mut self, user: &UserId) -> Result<bool> {
        self.execute(&DELETE_CODES, args![user])?;
        let deleted = self.execute_counted(&DELETE, args![user])? > 0;
        if deleted {
            self.mark_second_factor(user)?;
        }
        Ok(deleted)
    }

    /// Deletes authenticator app, recovery codes and passkeys of a user; returns whether there was anything.
    pub fn delete_second_factor(&mut self, user: &UserId) -> Result<bool> {
        let had_passkeys = self.delete_passkeys(user)? > 0;
        let had_app = self.delete_authenticator_app(user)?;
        if had_passkeys && !had_app {
            self.mark_second_factor(user)?;
        }
        Ok(had_passkeys || had_app)
    }

    /// Replaces the recovery codes of a user.
    pub fn replace_recovery_codes(&mut self, user: &UserId, hashes: &[String], now: Timestamp) -> Result<()> {
        self.execute(&DELETE_CODES, args![user])?;
        for hash in hashes {
            let id = clock::new_id();
            self.execute(&INSERT_CODE, args![id, user, hash, now])?;
        }
        Ok(())
    }

    /// Uses up a recovery code; returns whether it was valid.
    pub fn use_recovery_code(&mut self, user: &UserId, hash: &str) -> Result<bool> {
        Ok(self.execute_counted(&DELETE_CODE, args![user, hash])? > 0)
    }

    /// Returns a sign-in that waits for its second factor, unless it has expired.
    pub fn pending_sign_in(&mut self, identifier: &str, now: Timestamp) -> Result<Option<PendingSignIn>> {
        self.fetch_optional(&PENDING, args![identifier, now], |row| {
            let session: Option<String> = row.get("session")?;
            // A row of an earlier release has none. What cannot be read must not open a session without its limits.
            let session = session.map(|text| serde_json::from_str(&text)).transpose()?;
            from_row!(row => PendingSignIn { user = "value", attempts, session: session.unwrap_or_default() })
        })
    }

    /// Inserts a sign-in that waits for its second factor.
    pub fn insert_pending_sign_in(
        &mut self,
        identifier: &str,
        user: &UserId,
        session: &PendingSession,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        self.forget_verifications(now)?;
        let (id, session) = (clock::new_id(), serde_json::to_string(session)?);
        self.execute(&INSERT_PENDING, args![id, identifier, user, session, expires_at, now])
    }

    /// Counts a wrong code of a waiting sign-in.
    pub fn count_attempt(&mut self, identifier: &str) -> Result<()> {
        self.execute(&COUNT_ATTEMPT, args![identifier])
    }

    /// Deletes one link, waiting sign-in or trusted browser; returns whether it existed.
    pub fn delete_verification(&mut self, identifier: &str) -> Result<bool> {
        Ok(self.execute_counted(&DELETE_ONE, args![identifier])? > 0)
    }

    /// Deletes everything of this kind that belongs to a user.
    pub fn delete_verifications_of_kind(&mut self, user: &UserId, kind: &str) -> Result<()> {
        self.execute(&DELETE_KIND, args![user, kind])
    }
}
