//! Passkeys of accounts, and the challenges that were used up. A challenge that was not used is stored in the browser only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::id::{PasskeyId, SessionId, UserId};
use domain::passkey::{Passkey, SignatureCounter};
use domain::text::ShortName;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::sql::Columns;
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::{Error, Result};

fragments! {
    PASSKEY_COLUMNS = "p.id, p.user_id, p.name, p.credential_id, p.public_key, p.counter, p.transports,
            p.is_backup_eligible, p.is_backed_up, p.aaguid, p.limited_to_organization_id, p.created_at, p.last_used_at";
}

statements! {
    INSERT = "INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, transports,
            is_backup_eligible, is_backed_up, aaguid, limited_to_organization_id, created_at)
        VALUES (:id, :user_id, :name, :credential_id, :public_key, :counter, :transports, :is_backup_eligible,
            :is_backed_up, :aaguid, :limited_to_organization_id, :created_at) ON CONFLICT DO NOTHING";
    /// The passkeys of a user, oldest first.
    OF_USER = "SELECT {PASSKEY_COLUMNS} FROM passkeys p WHERE p.user_id = $1 ORDER BY p.created_at, p.id";
    COUNT = "SELECT COUNT(*) FROM passkeys WHERE user_id = $1";
    BY_CREDENTIAL = "SELECT {PASSKEY_COLUMNS} FROM passkeys p WHERE p.credential_id = $1";
    BY_ID = "SELECT {PASSKEY_COLUMNS} FROM passkeys p WHERE p.id = $1";
    RENAME = "UPDATE passkeys SET name = $2 WHERE id = $1";
    RECORD_USE = "UPDATE passkeys SET counter = $2, is_backed_up = $3, last_used_at = $4 WHERE id = $1";
    DELETE = "DELETE FROM passkeys WHERE id = $1 AND user_id = $2";
    DELETE_ALL = "DELETE FROM passkeys WHERE user_id = $1";
    /// Records whether a sign-in of the user requires a second factor.
    MARK_USER = "UPDATE users SET row_version = row_version + 1, has_second_factor =
            (EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = $1)
            OR EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = $1 AND f.confirmed_at IS NOT NULL))
        WHERE id = $1";
    /// Marks a challenge as used. It belongs to no user, so that it outlasts the links that a new password deletes.
    USE_CHALLENGE = "INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
        SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), '', CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($4 AS BIGINT)
        WHERE NOT EXISTS (SELECT 1 FROM verifications v WHERE v.identifier = $2)";
    CONFIRM_SESSION = "UPDATE sessions SET confirmed_at = $2 WHERE id = $1";
}

impl PlatformTx<'_> {
    /// Inserts a passkey; returns false if the credential belongs to an account already.
    pub fn insert_passkey(&mut self, passkey: &Passkey) -> Result<bool> {
        let public_key = STANDARD.encode(&passkey.public_key);
        self.connection.execute_conditional(
            &INSERT,
            named![passkey =>
                id, user_id, name, credential_id, transports, is_backup_eligible, is_backed_up, aaguid, created_at,
                public_key: public_key,
                counter: passkey.counter.0,
                limited_to_organization_id: passkey.limited_to,
            ],
        )
    }

    /// Lists the passkeys of a user, oldest first.
    pub fn passkeys(&mut self, user: &UserId) -> Result<Vec<Passkey>> {
        self.fetch_all(&OF_USER, args![user], passkey)
    }

    pub fn count_passkeys(&mut self, user: &UserId) -> Result<i64> {
        self.fetch_one(&COUNT, args![user], |row| row.only())
    }

    /// Returns the passkey with a credential id, whichever account it belongs to.
    pub fn passkey_of_credential(&mut self, credential_id: &str) -> Result<Option<Passkey>> {
        self.fetch_optional(&BY_CREDENTIAL, args![credential_id], passkey)
    }

    /// Returns a passkey, whichever account it belongs to.
    pub fn passkey(&mut self, id: &PasskeyId) -> Result<Option<Passkey>> {
        self.fetch_optional(&BY_ID, args![id], passkey)
    }

    pub fn rename_passkey(&mut self, id: &PasskeyId, name: &ShortName) -> Result<()> {
        self.execute(&RENAME, args![id, name])
    }

    /// Records an accepted assertion.
    pub fn record_passkey_use(
        &mut self,
        id: &PasskeyId,
        counter: SignatureCounter,
        is_backed_up: bool,
        now: Timestamp,
    ) -> Result<()> {
        let arguments = args![id, counter.0, is_backed_up, now];
        self.execute(&RECORD_USE, arguments)
    }

    /// Deletes a passkey of a user; returns whether it existed.
    pub fn delete_passkey(&mut self, id: &PasskeyId, user: &UserId) -> Result<bool> {
        Ok(self.execute_counted(&DELETE, args![id, user])? > 0)
    }

    /// Deletes all passkeys of a user and returns their number.
    pub fn delete_passkeys(&mut self, user: &UserId) -> Result<u64> {
        self.execute_counted(&DELETE_ALL, args![user])
    }

    /// Records whether the user has a second factor: a passkey or a confirmed authenticator app.
    pub fn mark_second_factor(&mut self, user: &UserId) -> Result<()> {
        self.execute(&MARK_USER, args![user])
    }

    /// Uses up a challenge; returns false if it was used before.
    pub fn use_challenge(&mut self, identifier: &str, expires_at: Timestamp, now: Timestamp) -> Result<bool> {
        self.forget_verifications(now)?;
        let id = clock::new_id();
        let arguments = args![id, identifier, expires_at, now];
        Ok(self.execute_counted(&USE_CHALLENGE, arguments)? > 0)
    }

    /// Records that the user of a session proved the password.
    pub fn confirm_session(&mut self, session: &SessionId, now: Timestamp) -> Result<()> {
        self.execute(&CONFIRM_SESSION, args![session, now])
    }
}

fn passkey(row: &Columns<'_>) -> Result<Passkey> {
    let public_key: String = row.get("public_key")?;
    let public_key = STANDARD
        .decode(public_key)
        .map_err(|error| Error::Internal(error.into()))?;
    from_row!(row => Passkey {
        id, user_id, name, credential_id, transports, is_backup_eligible, is_backed_up, aaguid,
        limited_to = "limited_to_organization_id", created_at, last_used_at,
        public_key: public_key,
        counter: SignatureCounter(row.get("counter")?),
    })
}
