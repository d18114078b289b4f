//! Sign-on providers of an organization and the identities at them (docs/single-sign-on.md).

use domain::id::{ExternalIdentityId, SessionId, SignOnProviderId, UserId};
use domain::sign_on::{ExternalIdentity, LinkCandidate, SignOnProvider};
use domain::user::Person;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    pub(crate) PROVIDER_COLUMNS = "p.organization_id, p.id, p.name, p.preset, p.issuer, p.client_id, p.client_secret,
        p.linking, p.external_id_claim, p.account_creation, p.role_claim, p.teacher_values, p.domains, p.is_enabled,
            p.created_at, p.updated_at";
    IDENTITY_COLUMNS = "x.id, x.provider_id, x.issuer, x.subject, x.user_id AS owner_id, x.linked_by, x.created_at,
        x.last_sign_in_at";
    /// A member as a candidate of a linking rule.
    CANDIDATE_COLUMNS = "m.user_id, u.role AS platform_role, m.role AS member_role,
            COALESCE(u.home_organization_id, '') = $1 AS is_home,
            EXISTS (SELECT 1 FROM external_identities x
                WHERE x.organization_id = $1 AND x.provider_id = $2 AND x.user_id = m.user_id) AS is_linked";
}

statements! {
    LIST = "SELECT {PROVIDER_COLUMNS} FROM sign_on_providers p WHERE p.organization_id = $1 ORDER BY p.name, p.id";
    BY_ID = "SELECT {PROVIDER_COLUMNS} FROM sign_on_providers p WHERE p.organization_id = $1 AND p.id = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM sign_on_providers WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM sign_on_providers WHERE organization_id = $1";
    INSERT = "INSERT INTO sign_on_providers (organization_id, id, name, preset, issuer, client_id, client_secret,
            linking, external_id_claim, account_creation, role_claim, teacher_values, domains, is_enabled, created_at,
            updated_at)
        VALUES ($1, :id, :name, :preset, :issuer, :client_id, :client_secret, :linking, :external_id_claim,
            :account_creation, :role_claim, :teacher_values, :domains, :is_enabled, :created_at, :created_at)";
    UPDATE = "UPDATE sign_on_providers SET name = :name, preset = :preset, client_id = :client_id,
            client_secret = :client_secret, linking = :linking, external_id_claim = :external_id_claim,
            account_creation = :account_creation, role_claim = :role_claim, teacher_values = :teacher_values,
            domains = :domains, is_enabled = :is_enabled, updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
    DELETE_ATTEMPTS = "DELETE FROM sign_on_attempts WHERE organization_id = $1 AND provider_id = $2";
    DELETE_LOGOUTS = "DELETE FROM sign_on_logouts WHERE organization_id = $1 AND provider_id = $2";
    DELETE_IDENTITIES = "DELETE FROM external_identities WHERE organization_id = $1 AND provider_id = $2";
    DELETE = "DELETE FROM sign_on_providers WHERE organization_id = $1 AND id = $2";
    /// Ends the sessions that a provider opened.
    END_SESSIONS = "DELETE FROM sessions WHERE sign_on_organization_id = $1 AND sign_on_provider_id = $2
        RETURNING user_id, id";
    /// Ends the sessions that a provider opened for one user.
    END_SESSIONS_OF_USER = "DELETE FROM sessions
        WHERE sign_on_organization_id = $1 AND sign_on_provider_id = $2 AND user_id = $3 RETURNING id";
    /// A page of the identities of a provider, newest first.
    IDENTITIES = "SELECT {IDENTITY_COLUMNS}, {PERSON_COLUMNS} FROM external_identities x JOIN users u ON u.id = x.user_id
        WHERE x.organization_id = $1 AND x.provider_id = $2
            AND (x.created_at, x.id) < ($3, $4)
        ORDER BY x.created_at DESC, x.id DESC LIMIT $5";
    IDENTITY = "SELECT {IDENTITY_COLUMNS}, {PERSON_COLUMNS} FROM external_identities x JOIN users u ON u.id = x.user_id
        WHERE x.organization_id = $1 AND x.provider_id = $2 AND x.id = $3";
    /// Inserts an identity, unless the identity or the user is linked already.
    INSERT_IDENTITY = "INSERT INTO external_identities (organization_id, id, provider_id, issuer, subject, user_id,
            linked_by, created_at)
        SELECT m.organization_id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), m.user_id,
            CAST($7 AS TEXT), CAST($8 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $6
        ON CONFLICT DO NOTHING";
    DELETE_IDENTITY = "DELETE FROM external_identities WHERE organization_id = $1 AND provider_id = $2 AND id = $3";
    /// The active member with an id of the school's administration system.
    CANDIDATE_OF_EXTERNAL_ID = "SELECT {CANDIDATE_COLUMNS} FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.external_id = $3 AND m.is_active AND u.is_active";
    /// The active member with an email address.
    CANDIDATE_OF_ADDRESS = "SELECT {CANDIDATE_COLUMNS} FROM users u JOIN members m ON m.user_id = u.id
        WHERE m.organization_id = $1 AND u.email = $3 AND m.is_active AND u.is_active";
}

/// An identity with the name of its user.
#[derive(Debug, Clone)]
pub struct NamedIdentity {
    pub identity: ExternalIdentity,
    pub person: Person,
}

impl ReadTx<'_> {
    /// Lists the providers of the organization by name.
    pub fn sign_on_providers(&mut self) -> Result<Vec<SignOnProvider>> {
        self.fetch_all(&LIST, args![], provider)
    }

    pub fn sign_on_provider(&mut self, id: &SignOnProviderId) -> Result<SignOnProvider> {
        self.fetch_one(&BY_ID, args![id], provider)
    }

    pub fn count_sign_on_providers(&mut self) -> Result<i64> {
        self.fetch_one(&COUNT, args![], |row| row.only())
    }

    /// Returns a page of the identities of a provider, newest first.
    pub fn external_identities(
        &mut self,
        provider: &SignOnProviderId,
        window: &Window<i64>,
    ) -> Result<Slice<NamedIdentity, i64>> {
        let (time, id) = window.newest_before();
        let rows = self.fetch_all(&IDENTITIES, args![provider, time, id, window.rows()], named_identity)?;
        Ok(window.cut(rows, |found| Position {
            key: found.identity.created_at.as_millis(),
            id: found.identity.id.to_string(),
        }))
    }

    pub fn external_identity(&mut self, provider: &SignOnProviderId, id: &ExternalIdentityId) -> Result<NamedIdentity> {
        self.fetch_one(&IDENTITY, args![provider, id], named_identity)
    }

    /// Returns the active member with an id of the school's administration system.
    pub fn link_candidate_of_external_id(
        &mut self,
        provider: &SignOnProviderId,
        external_id: &str,
    ) -> Result<Option<LinkCandidate>> {
        self.fetch_optional(&CANDIDATE_OF_EXTERNAL_ID, args![provider, external_id], candidate)
    }

    /// Returns the active member with an email address in lower case.
    pub fn link_candidate_of_address(
        &mut self,
        provider: &SignOnProviderId,
        email: &str,
    ) -> Result<Option<LinkCandidate>> {
        self.fetch_optional(&CANDIDATE_OF_ADDRESS, args![provider, email], candidate)
    }
}

impl WriteTx<'_> {
    /// Returns a provider, locked until the end of the transaction.
    pub fn lock_sign_on_provider(&mut self, id: &SignOnProviderId) -> Result<SignOnProvider> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<SignOnProviderId>("id"))?;
        self.sign_on_provider(id)
    }

    pub fn insert_sign_on_provider(&mut self, new: &SignOnProvider) -> Result<()> {
        let (teacher_values, domains) = lists(new)?;
        self.execute_named(
            &INSERT,
            named![new =>
                id, name, preset, issuer, client_id, client_secret, linking, external_id_claim, account_creation,
                role_claim, is_enabled, created_at,
                teacher_values: teacher_values,
                domains: domains,
            ],
        )
    }

    pub fn update_sign_on_provider(&mut self, provider: &SignOnProvider) -> Result<()> {
        let (teacher_values, domains) = lists(provider)?;
        self.execute_named(
            &UPDATE,
            named![provider =>
                id, name, preset, client_id, client_secret, linking, external_id_claim, account_creation, role_claim,
                is_enabled, updated_at,
                teacher_values: teacher_values,
                domains: domains,
            ],
        )
    }

    /// Deletes a provider with its identities. The caller has ended its sessions.
    pub fn delete_sign_on_provider(&mut self, id: &SignOnProviderId) -> Result<()> {
        for statement in [&DELETE_ATTEMPTS, &DELETE_LOGOUTS, &DELETE_IDENTITIES, &DELETE] {
            self.execute(statement, args![id])?;
        }
        Ok(())
    }

    /// Ends the sessions that a provider opened.
    pub fn end_sessions_of_provider(&mut self, id: &SignOnProviderId) -> Result<Vec<(UserId, SessionId)>> {
        self.fetch_all(&END_SESSIONS, args![id], |row| row.pair("user_id", "id"))
    }

    /// Ends the sessions that a provider opened for one user.
    pub fn end_provider_sessions_of(&mut self, id: &SignOnProviderId, user: &UserId) -> Result<Vec<SessionId>> {
        self.fetch_all(&END_SESSIONS_OF_USER, args![id, user], |row| row.get("id"))
    }

    /// Links an identity to a member; returns false if the identity or the member is linked already.
    pub fn insert_external_identity(&mut self, new: &ExternalIdentity) -> Result<bool> {
        let arguments = args![
            new.id,
            new.provider_id,
            new.issuer,
            new.subject,
            new.user_id,
            new.linked_by,
            new.created_at,
        ];
        Ok(self.execute_counted(&INSERT_IDENTITY, arguments)? > 0)
    }

    pub fn delete_external_identity(&mut self, provider: &SignOnProviderId, id: &ExternalIdentityId) -> Result<()> {
        self.execute(&DELETE_IDENTITY, args![provider, id])
    }
}

fn lists(provider: &SignOnProvider) -> Result<(String, String)> {
    Ok((
        serde_json::to_string(&provider.teacher_values)?,
        serde_json::to_string(&provider.domains)?,
    ))
}

pub(crate) fn provider(row: &Columns<'_>) -> Result<SignOnProvider> {
    from_row!(row => SignOnProvider {
        organization_id, id, name, preset, issuer, client_id, client_secret, linking, external_id_claim,
        account_creation, role_claim, is_enabled, created_at, updated_at,
        teacher_values: row.json("teacher_values")?,
        domains: row.json("domains")?,
    })
}

fn named_identity(row: &Columns<'_>) -> Result<NamedIdentity> {
    let identity = from_row!(row => ExternalIdentity {
        id, provider_id, issuer, subject, user_id = "owner_id", linked_by, created_at, last_sign_in_at,
    })?;
    Ok(NamedIdentity {
        identity,
        person: person(row)?,
    })
}

fn candidate(row: &Columns<'_>) -> Result<LinkCandidate> {
    from_row!(row => LinkCandidate { user = "user_id", platform_role, member_role, is_home, is_linked })
}
