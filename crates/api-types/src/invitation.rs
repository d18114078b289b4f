//! Invitations as administrators see them, and as the person who holds the mailed token does.

use model::access::{MemberRole, PlatformRole};
use model::id::{ClassId, HomeroomId, InvitationId, OrganizationId};
use model::invitation::{Invitation, InvitationStatus};
use model::text::{ExternalId, Name, Slug, WebAddress};
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// An invitation of an address into an organization.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    id: InvitationId,
    organization_id: OrganizationId,
    email: String,
    /// The name as the inviter wrote it; the account may have another.
    name: Name,
    role: MemberRole,
    #[schema(required)]
    external_id: Option<ExternalId>,
    class_ids: Vec<ClassId>,
    homeroom_ids: Vec<HomeroomId>,
    /// An expired invitation stays `pending`; see `expiresAt`.
    status: InvitationStatus,
    /// When the last email was queued; null if none was, as after an import from the command line.
    #[schema(required)]
    sent_at: Option<Timestamp>,
    expires_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// An address that was invited instead of added.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = InvitedUser)]
pub struct InvitedUserView {
    email: String,
    role: PlatformRole,
    invitation: InvitationView,
}

/// What the page of a mailed token shows before anything is decided.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InvitationPreview)]
pub struct InvitationPreview {
    /// The organization that invites.
    pub organization_name: Name,
    /// Its short name.
    pub organization_slug: Slug,
    /// Address of its logo.
    #[schema(required)]
    pub organization_logo: Option<WebAddress>,
    /// The host under which it is found.
    pub host: String,
    /// The role the person will have.
    pub role: MemberRole,
    /// The invited address.
    pub email: String,
    /// Whether a password has to be chosen: the mailbox was never proven, so a password that exists is replaced.
    pub needs_password: bool,
    /// When the invitation ends.
    pub expires_at: Timestamp,
}

impl InvitationView {
    /// The invitation without its token, which no answer holds.
    pub fn new(invitation: Invitation) -> Self {
        Self {
            id: invitation.id,
            organization_id: invitation.organization_id,
            email: invitation.email,
            name: invitation.name,
            role: invitation.role,
            external_id: invitation.external_id,
            class_ids: invitation.class_ids,
            homeroom_ids: invitation.homeroom_ids,
            status: invitation.status,
            sent_at: invitation.sent_at,
            expires_at: invitation.expires_at,
            created_at: invitation.created_at,
            updated_at: invitation.updated_at,
        }
    }
}

impl InvitedUserView {
    /// An address with its invitation.
    pub fn new(invitation: Invitation) -> Self {
        Self {
            email: invitation.email.clone(),
            role: invitation.role.platform_role(),
            invitation: InvitationView::new(invitation),
        }
    }
}
