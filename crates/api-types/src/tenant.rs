//! Organizations as those who run the platform see them, and what everybody may know of one (contract 6.15).

use model::access::MemberRole;
use model::id::{MemberId, OrganizationId, UserId};
use model::organization::Organization;
use model::text::{Name, Slug, WebAddress};
use serde::Serialize;
use utoipa::ToSchema;

use super::invitation::InvitationView;
use super::user::OrganizationView;

/// A new organization. The password is shown here and never again.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FoundedTenant)]
pub struct FoundedView {
    /// The organization.
    pub tenant: OrganizationView,
    /// Its first owner; absent while the owner is invited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerView>,
    /// The invitation of the owner; absent when the owner is a member already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<InvitationView>,
    /// The owner's password for the first days; absent when the address had an account already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary_password: Option<String>,
}

/// The first owner. Of an account that existed nothing is said that the caller did not say himself.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TenantOwner)]
pub struct OwnerView {
    /// The account.
    pub id: UserId,
    /// The membership.
    pub member_id: MemberId,
    /// The address.
    pub email: String,
    /// Always `owner`.
    pub role: MemberRole,
    /// Whether the account was made just now.
    pub is_new_account: bool,
}

/// What a deletion shut.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RemovedTenant)]
pub struct RemovedTenantView {
    success: bool,
    id: OrganizationId,
    name: Name,
    /// How many members it had; their accounts lose this home.
    members: i64,
    /// How many sessions worked in it.
    ended_sessions: usize,
}

impl RemovedTenantView {
    /// What is told of a deletion.
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

/// What everybody may know of the organization a Host names.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = TenantSign)]
pub struct SignView {
    /// Its name.
    pub name: Name,
    /// Its name in addresses.
    pub slug: Slug,
    /// Address of its logo.
    #[schema(required)]
    pub logo: Option<WebAddress>,
}
