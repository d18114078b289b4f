//! Look-up of an API token, which determines the organization of the request.

use domain::access::{MemberRole, PlatformRole};
use domain::api_token::TokenScopes;
use domain::id::{ApiTokenId, OrganizationId, SessionId};
use domain::time::Timestamp;

use super::PlatformTx;
use super::sessions::{OrganizationFacts, Session, SessionFacts, SessionUser};
use crate::request_context::ActingToken;
use crate::{Tenant, args, from_row, statements};
use common::error::Result;

statements! {
    /// All data that a request with a token is authorized with. Expired tokens are excluded, and those of users who no
    /// longer administer the organization, or whose password an administrator of another organization set.
    BY_HASH = "SELECT t.id, t.name AS token_name, t.scopes, t.created_at AS token_created_at, t.expires_at,
            t.last_used_at, u.id AS user_id, u.name, u.email, u.email_verified, u.image, u.created_at AS user_created_at,
            u.updated_at AS user_updated_at, o.id AS active_id, o.status AS active_status
        FROM api_tokens t
        JOIN users u ON u.id = t.created_by_id
        JOIN organizations o ON o.id = t.organization_id AND o.deleted_at IS NULL
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = u.id AND m.is_active
        WHERE t.hash = $1 AND t.expires_at > $2 AND u.is_active AND (NOT u.banned OR u.ban_expires < $2)
            AND (u.role = 'SUPER_ADMIN' OR (m.role IN ('owner', 'admin')
                AND NOT COALESCE(u.password_organization_id <> o.id, FALSE)))";
    RECORD_USE = "UPDATE api_tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
}

/// A valid token with everything that authorizes its request.
#[derive(Debug, Clone)]
pub struct ApiTokenFacts {
    pub token: ActingToken,
    pub scopes: TokenScopes,
    pub last_used_at: Option<Timestamp>,
    /// The user for whom the token acts, as an administrator of its organization and without platform permissions.
    /// Their session exists for this request only.
    pub session: SessionFacts,
}

impl ApiTokenFacts {
    /// Returns whether a use at this time has to be recorded.
    pub fn is_use_due(&self, now: Timestamp) -> bool {
        domain::api_token::is_use_due(self.last_used_at, now)
    }
}

impl PlatformTx<'_> {
    /// Returns the data behind the hash of a token; `None` if it is unknown, expired or invalid.
    pub fn api_token(&mut self, hash: &str, now: Timestamp) -> Result<Option<ApiTokenFacts>> {
        self.fetch_optional(&BY_HASH, args![hash, now], |row| {
            let (id, organization): (ApiTokenId, OrganizationId) = (row.get("id")?, row.get("active_id")?);
            let (scopes, status): (String, String) = (row.get("scopes")?, row.get("active_status")?);
            let (created_at, expires_at) = (row.get("token_created_at")?, row.get("expires_at")?);
            let user = from_row!(row => SessionUser {
                id = "user_id", name, email, email_verified, image, created_at = "user_created_at",
                updated_at = "user_updated_at",
                role: PlatformRole::Admin,
                has_second_factor: false,
                user_name: None,
            })?;
            let session = Session {
                id: SessionId::new(id.as_str()),
                token: String::new(),
                user_id: user.id.clone(),
                expires_at,
                created_at,
                updated_at: created_at,
                ip_address: None,
                user_agent: None,
                active_organization_id: Some(organization.clone()),
                impersonated_by: None,
                new_password_until: None,
                confirmed_at: None,
                sign_on: None,
            };
            Ok(ApiTokenFacts {
                token: ActingToken {
                    id,
                    name: row.get("token_name")?,
                },
                scopes: TokenScopes::stored(&scopes),
                last_used_at: row.get("last_used_at")?,
                session: SessionFacts {
                    session,
                    user,
                    // The user had one when they created the token.
                    is_second_factor_missing: false,
                    organization: Some(OrganizationFacts {
                        tenant: Tenant(organization),
                        suspended: status != "ACTIVE",
                        member_role: Some(MemberRole::Admin),
                        is_password_foreign: false,
                        is_sign_on_foreign: false,
                        required_members: None,
                    }),
                },
            })
        })
    }

    /// Records the use of a token.
    pub fn record_api_token_use(&mut self, id: &ApiTokenId, now: Timestamp) -> Result<()> {
        self.execute(&RECORD_USE, args![id, now])
    }
}
