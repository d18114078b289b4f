//! Sign-on before anyone is signed in: providers by id, school or mail domain, sign-ins that wait for a provider, and
//! the owners of identities.

use domain::id::{ExternalIdentityId, OrganizationId, SessionId, SignOnProviderId, UserId};
use domain::mail_domain::MailDomainName;
use domain::organization::Metadata;
use domain::sign_on::{IdentityOwner, SignOnProvider};
use domain::time::Timestamp;

use super::PlatformTx;
use super::organizations::HostName;
use crate::sign_on::{PROVIDER_COLUMNS, provider};
use crate::{Tenant, args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    /// The enabled providers of active organizations.
    FROM_ENABLED = "FROM sign_on_providers p JOIN organizations o ON o.id = p.organization_id
        WHERE p.is_enabled AND o.deleted_at IS NULL AND o.status = 'ACTIVE'";
}

statements! {
    ENABLED_BY_ID = "SELECT {PROVIDER_COLUMNS} {FROM_ENABLED} AND p.id = $1";
    /// The providers of a school, by name.
    OF_SLUG = "SELECT {PROVIDER_COLUMNS} {FROM_ENABLED} AND o.slug = $1 ORDER BY p.name, p.id";
    /// The providers of the school of a `Host` header, by name. An exact custom domain takes precedence over a slug.
    OF_HOST = "SELECT {PROVIDER_COLUMNS} {FROM_ENABLED} AND o.id = (SELECT h.id FROM organizations h
            WHERE h.deleted_at IS NULL AND (h.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND h.slug = $2))
            ORDER BY CASE WHEN h.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1)
        ORDER BY p.name, p.id";
    /// The providers of the schools that hold a mail domain, the oldest first.
    OF_DOMAIN = "SELECT {PROVIDER_COLUMNS} {FROM_ENABLED} AND p.organization_id IN (SELECT d.organization_id
            FROM mail_domains d WHERE d.domain = $1 AND d.status = 'VERIFIED' AND d.failing_since IS NULL)
        ORDER BY p.created_at, p.id";
    /// The client secrets of all providers.
    SECRETS = "SELECT id, client_secret FROM sign_on_providers ORDER BY id";
    /// Replaces a client secret that was encrypted again, unless it was changed in the meantime.
    REPLACE_SECRET = "UPDATE sign_on_providers SET client_secret = $3 WHERE id = $1 AND client_secret = $2";
    /// The number of waiting sign-ins of an organization.
    COUNT_ATTEMPTS = "SELECT COUNT(*) FROM (SELECT 1 FROM sign_on_attempts WHERE organization_id = $1 LIMIT $2) x";
    EXPIRE_ATTEMPTS = "DELETE FROM sign_on_attempts WHERE expires_at < $1";
    EXPIRE_LOGOUTS = "DELETE FROM sign_on_logouts WHERE expires_at < $1";
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM sign_on_attempts WHERE expires_at < $1)
            OR EXISTS (SELECT 1 FROM sign_on_logouts WHERE expires_at < $1)";
    INSERT_ATTEMPT = "INSERT INTO sign_on_attempts (organization_id, state_digest, browser_digest, provider_id, nonce,
            code_verifier, callback_url, error_url, new_user_url, expires_at)
        VALUES (:organization_id, :state_digest, :browser_digest, :provider_id, :nonce, :code_verifier, :callback_url,
            :error_url, :new_user_url, :expires_at)";
    /// Consumes a sign-in of this browser.
    TAKE_ATTEMPT = "DELETE FROM sign_on_attempts WHERE state_digest = $1 AND browser_digest = $2
        RETURNING organization_id, state_digest, browser_digest, provider_id, nonce, code_verifier, callback_url,
            error_url, new_user_url, expires_at";
    /// The owner of an identity.
    OWNER = "SELECT x.id, x.user_id, u.role AS platform_role, u.is_active, u.banned, u.ban_expires,
            m.role AS member_role, x.linked_by
        FROM external_identities x JOIN users u ON u.id = x.user_id
        LEFT JOIN members m ON m.organization_id = x.organization_id AND m.user_id = x.user_id AND m.is_active
        WHERE x.provider_id = $1 AND x.issuer = $2 AND x.subject = $3 AND u.erased_at IS NULL";
    /// The settings of the home organization of a user who is not one of its owners, if it has an enabled provider.
    SETTINGS_FOR_PASSWORDS = "SELECT o.metadata FROM users u JOIN organizations o ON o.id = u.home_organization_id
        WHERE u.id = $1 AND u.role <> 'SUPER_ADMIN' AND o.deleted_at IS NULL
            AND EXISTS (SELECT 1 FROM sign_on_providers p WHERE p.organization_id = o.id AND p.is_enabled)
            AND NOT EXISTS (SELECT 1 FROM members m
                WHERE m.organization_id = o.id AND m.user_id = u.id AND m.role = 'owner')";
    RECORD_SIGN_IN = "UPDATE external_identities SET last_sign_in_at = $2 WHERE id = $1";
    RECORD_LOGIN = "UPDATE users SET last_login_at = $2 WHERE id = $1";
    /// Ends the sessions of a subject, or of one session at the provider.
    END_SESSIONS = "DELETE FROM sessions WHERE sign_on_provider_id = $1
            AND (CAST($2 AS TEXT) IS NULL OR sign_on_subject = $2)
            AND (CAST($3 AS TEXT) IS NULL OR sign_on_session = $3)
            AND (CAST($2 AS TEXT) IS NOT NULL OR CAST($3 AS TEXT) IS NOT NULL)
        RETURNING user_id, id";
    /// Records a logout token; a token that was processed before inserts nothing.
    INSERT_LOGOUT = "INSERT INTO sign_on_logouts (organization_id, provider_id, token_id, expires_at)
        VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
}

/// A sign-in that waits for the provider.
#[derive(Debug, Clone)]
pub struct SignOnAttempt {
    pub organization_id: OrganizationId,
    /// The digest of `state`.
    pub state_digest: String,
    /// The digest of the cookie that binds the attempt to a browser.
    pub browser_digest: String,
    pub provider_id: SignOnProviderId,
    pub nonce: String,
    /// The verifier of the code challenge (PKCE).
    pub code_verifier: String,
    /// The page after the sign-in. It was checked to be on the origin of the service.
    pub callback_url: String,
    pub error_url: String,
    pub new_user_url: String,
    pub expires_at: Timestamp,
}

/// An identity with its owner.
#[derive(Debug, Clone)]
pub struct OwnedIdentity {
    pub id: ExternalIdentityId,
    pub owner: IdentityOwner,
}

impl PlatformTx<'_> {
    /// Returns an enabled provider.
    pub fn enabled_sign_on_provider(&mut self, id: &SignOnProviderId) -> Result<Option<(Tenant, SignOnProvider)>> {
        let found = self.fetch_optional(&ENABLED_BY_ID, args![id], provider)?;
        Ok(found.map(|provider| (Tenant(provider.organization_id.clone()), provider)))
    }

    /// Lists the enabled providers of the school with this slug.
    pub fn sign_on_providers_of_slug(&mut self, slug: &str) -> Result<Vec<SignOnProvider>> {
        self.fetch_all(&OF_SLUG, args![slug], provider)
    }

    /// Lists the enabled providers of the school of a `Host` header.
    pub fn sign_on_providers_of_host(&mut self, host: &HostName) -> Result<Vec<SignOnProvider>> {
        self.fetch_all(&OF_HOST, args![host.host, host.slug], provider)
    }

    /// Lists the enabled providers that addresses of a mail domain select. Only domains that a school holds count, so
    /// that no school can direct the users of another one to its provider.
    pub fn sign_on_providers_of_domain(&mut self, domain: &MailDomainName) -> Result<Vec<SignOnProvider>> {
        let mut found = self.fetch_all(&OF_DOMAIN, args![domain.as_str()], provider)?;
        found.retain(|provider| provider.serves_domain(domain.as_str()));
        Ok(found)
    }

    /// Lists the encrypted client secrets of all providers.
    pub fn sign_on_secrets(&mut self) -> Result<Vec<(SignOnProviderId, String)>> {
        self.fetch_all(&SECRETS, args![], |row| row.pair("id", "client_secret"))
    }

    /// Replaces an encrypted client secret, unless it was changed in the meantime.
    pub fn replace_sign_on_secret(&mut self, id: &SignOnProviderId, from: &str, to: &str) -> Result<()> {
        self.execute(&REPLACE_SECRET, args![id, from, to])
    }

    /// Counts the waiting sign-ins of an organization, up to a limit. Expired ones are deleted first.
    pub fn count_sign_on_attempts(&mut self, organization: &OrganizationId, limit: i64, now: Timestamp) -> Result<i64> {
        self.expire_sign_ons(now)?;
        self.fetch_one(&COUNT_ATTEMPTS, args![organization, limit], |row| row.only())
    }

    /// Returns whether [`Self::expire_sign_ons`] would delete anything.
    pub fn has_expired_sign_ons(&mut self, now: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY_EXPIRED, args![now], |row| row.only())
    }

    /// Deletes expired sign-ins and logout tokens.
    pub fn expire_sign_ons(&mut self, now: Timestamp) -> Result<()> {
        self.execute(&EXPIRE_ATTEMPTS, args![now])?;
        self.execute(&EXPIRE_LOGOUTS, args![now])
    }

    pub fn insert_sign_on_attempt(&mut self, new: &SignOnAttempt) -> Result<()> {
        self.execute_named(
            &INSERT_ATTEMPT,
            named![new =>
                organization_id, state_digest, browser_digest, provider_id, nonce, code_verifier, callback_url,
                error_url, new_user_url, expires_at,
            ],
        )
    }

    /// Consumes a waiting sign-in of a browser. A sign-in of another browser is left untouched.
    pub fn take_sign_on_attempt(
        &mut self,
        state_digest: &str,
        browser_digest: &str,
        now: Timestamp,
    ) -> Result<Option<SignOnAttempt>> {
        let found = self.fetch_optional(&TAKE_ATTEMPT, args![state_digest, browser_digest], |row| {
            from_row!(row => SignOnAttempt {
                organization_id, state_digest, browser_digest, provider_id, nonce, code_verifier, callback_url,
                error_url, new_user_url, expires_at,
            })
        })?;
        Ok(found.filter(|attempt| attempt.expires_at >= now))
    }

    /// Returns the owner of an identity at a provider.
    pub fn owner_of_identity(
        &mut self,
        provider: &SignOnProviderId,
        issuer: &str,
        subject: &str,
        now: Timestamp,
    ) -> Result<Option<OwnedIdentity>> {
        self.fetch_optional(&OWNER, args![provider, issuer, subject], |row| {
            let (banned, until): (bool, Option<Timestamp>) = (row.get("banned")?, row.get("ban_expires")?);
            Ok(OwnedIdentity {
                id: row.get("id")?,
                owner: from_row!(row => IdentityOwner {
                    user = "user_id", platform_role, is_active, member_role, linked_by,
                    is_banned: banned && until.is_none_or(|until| until >= now),
                })?,
            })
        })
    }

    /// Returns whether the home organization of a user allows sign-in with a password: it may require its sign-on provider
    /// of everyone but its owners.
    pub fn may_sign_in_with_password(&mut self, user: &UserId) -> Result<bool> {
        let found: Option<Option<Metadata>> =
            self.fetch_optional(&SETTINGS_FOR_PASSWORDS, args![user], |row| row.json_option("metadata"))?;
        let is_off = found
            .flatten()
            .is_some_and(|settings| settings.features.passwords_for_owners_only);
        Ok(!is_off)
    }

    /// Records a sign-in through a provider.
    pub fn record_sign_on(&mut self, identity: &ExternalIdentityId, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&RECORD_SIGN_IN, args![identity, now])?;
        self.execute(&RECORD_LOGIN, args![user, now])
    }

    /// Ends the sessions of a subject, or of one session at the provider, that the provider opened.
    pub fn end_sign_on_sessions(
        &mut self,
        provider: &SignOnProviderId,
        subject: Option<&str>,
        session: Option<&str>,
    ) -> Result<Vec<(UserId, SessionId)>> {
        self.fetch_all(&END_SESSIONS, args![provider, subject, session], |row| {
            row.pair("user_id", "id")
        })
    }

    /// Records a logout token; returns false if it was processed before.
    pub fn insert_sign_on_logout(
        &mut self,
        organization: &OrganizationId,
        provider: &SignOnProviderId,
        token_id: &str,
        expires_at: Timestamp,
    ) -> Result<bool> {
        let arguments = args![organization, provider, token_id, expires_at];
        Ok(self.execute_counted(&INSERT_LOGOUT, arguments)? > 0)
    }
}
