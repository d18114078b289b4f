//! Organizations for platform administrators, and the public information about an organization.

use api_macros::view;
use domain::access::MemberRole;
use domain::id::{MemberId, OrganizationId, UserId};
use domain::organization::Organization;
use domain::text::{Name, Slug, WebAddress};

use super::invitation::InvitationView;
use super::user::OrganizationView;

/// A new organization.
#[view]
#[schema(as = FoundedTenant)]
pub struct CreatedTenantView {
    pub tenant: OrganizationView,
    /// Its first owner; absent while the owner is invited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerView>,
    /// Invitation of the owner; absent if the owner is a member already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<InvitationView>,
    /// Temporary password of the owner, returned only once; absent if the address already had an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary_password: Option<String>,
}

/// The first owner. Of an existing account, only data given in the request is returned.
#[view]
#[schema(as = TenantOwner)]
pub struct OwnerView {
    /// Id of the account.
    pub id: UserId,
    /// Id of the membership.
    pub member_id: MemberId,
    /// Email address of the account.
    pub email: String,
    /// Always `owner`.
    pub role: MemberRole,
    /// Whether the account was created by this request.
    pub is_new_account: bool,
}

/// Result of deleting an organization.
#[view]
pub struct RemovedTenantView {
    success: bool,
    id: OrganizationId,
    name: Name,
    /// Number of members. Accounts whose home organization it was no longer have one.
    members: i64,
    /// Number of sessions that ended.
    ended_sessions: usize,
}

impl RemovedTenantView {
    pub fn new(organization: Organization, members: i64, ended_sessions: usize) -> Self {
        Self {
            success: true,
            id: organization.id,
            name: organization.name,
            members,
            ended_sessions,
        }
    }
}

/// Public information about the organization of a host name.
#[view]
#[schema(as = TenantSign)]
pub struct BrandingView {
    pub name: Name,
    /// Name in URLs, also the subdomain.
    pub slug: Slug,
    /// URL of the logo.
    pub logo: Option<WebAddress>,
}
