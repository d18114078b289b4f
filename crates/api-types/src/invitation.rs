//! Invitations in responses: for admins, and for the holder of an invitation token.

use api_macros::view;
use domain::access::{MemberRole, PlatformRole};
use domain::from_fields;
use domain::id::{ClassId, HomeroomId, InvitationId, OrganizationId};
use domain::invitation::{Invitation, InvitationStatus};
use domain::text::{ExternalId, Name, Slug, WebAddress};
use domain::time::Timestamp;

/// An invitation of an email address to an organization.
#[view]
pub struct InvitationView {
    id: InvitationId,
    organization_id: OrganizationId,
    email: String,
    /// The name entered by the inviter; the account may have another name.
    name: Name,
    role: MemberRole,
    external_id: Option<ExternalId>,
    class_ids: Vec<ClassId>,
    homeroom_ids: Vec<HomeroomId>,
    /// An expired invitation stays `pending`; see `expiresAt`.
    status: InvitationStatus,
    /// When the last email was queued; null if none was, for example after an import from the command line.
    sent_at: Option<Timestamp>,
    expires_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// An email address that was invited instead of added.
#[view]
pub struct InvitedUserView {
    email: String,
    role: PlatformRole,
    invitation: InvitationView,
}

/// What the holder of an invitation token sees before accepting or declining.
#[view]
#[schema(as = InvitationPreview)]
pub struct InvitationPreview {
    /// Name of the inviting organization.
    pub organization_name: Name,
    /// Slug of the inviting organization.
    pub organization_slug: Slug,
    /// URL of the organization's logo.
    pub organization_logo: Option<WebAddress>,
    /// Host name of the organization.
    pub host: String,
    /// The role the invitee will have.
    pub role: MemberRole,
    /// The invited email address.
    pub email: String,
    /// Whether the invitee has to choose a password. True if the email address was never verified; an existing password
    /// is then replaced.
    pub needs_password: bool,
    pub expires_at: Timestamp,
}

impl InvitationView {
    /// Returns the invitation. Its token is not part of any response.
    pub fn new(invitation: Invitation) -> Self {
        from_fields!(invitation => Self {
            id, organization_id, email, name, role, external_id, class_ids, homeroom_ids, status, sent_at, expires_at,
            created_at, updated_at,
        })
    }
}

impl InvitedUserView {
    pub fn new(invitation: Invitation) -> Self {
        Self {
            email: invitation.email.clone(),
            role: invitation.role.platform_role(),
            invitation: InvitationView::new(invitation),
        }
    }
}
