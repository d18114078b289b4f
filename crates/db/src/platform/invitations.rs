//! Invitations across organizations: by email address, by token, and the verification state of the account's email
//! address.

use domain::id::{InvitationId, OrganizationId, UserId};
use domain::invitation::Invitation;
use domain::text::{CustomDomain, Name, Slug, WebAddress};
use domain::time::Timestamp;

use super::PlatformTx;
use crate::invitations::{INVITATION_COLUMNS, invitation};
use crate::sql::Columns;
use crate::{Tenant, args, fragments, from_row, statements};
use common::error::Result;

fragments! {
    KNOWN_COLUMNS = "{INVITATION_COLUMNS}, o.name AS organization_name, o.slug, o.logo, o.custom_domain,
            (SELECT u.email FROM users u WHERE u.id = i.inviter_id) AS inviter_email";
}

statements! {
    /// An invitation, unless its organization is deleted.
    BY_ID = "SELECT {KNOWN_COLUMNS} FROM invitations i
        JOIN organizations o ON o.id = i.organization_id WHERE i.id = $1 AND o.deleted_at IS NULL";
    /// The invitation with a token.
    BY_TOKEN = "SELECT {KNOWN_COLUMNS} FROM invitations i
        JOIN organizations o ON o.id = i.organization_id WHERE i.token_digest = $1 AND o.deleted_at IS NULL";
    /// The pending, unexpired invitations of an email address, oldest first.
    OF_ADDRESS = "SELECT {KNOWN_COLUMNS} FROM invitations i
        JOIN organizations o ON o.id = i.organization_id
        WHERE i.email = $1 AND i.status = 'pending' AND i.expires_at >= $2 AND o.deleted_at IS NULL
        ORDER BY i.created_at, i.id";
    /// The verification state of the account's email address.
    MAILBOX = "SELECT email_verified, password_organization_id FROM users WHERE id = $1 AND erased_at IS NULL";
    /// Marks the email address as verified and the password as chosen by the user.
    PROVE_MAILBOX = "UPDATE users SET email_verified = TRUE, password_organization_id = NULL, updated_at = $2
        WHERE id = $1";
}

/// An invitation with the data about the organization that is visible to the invited person.
#[derive(Debug, Clone)]
pub struct InvitationWithOrganization {
    pub invitation: Invitation,
    pub organization_name: Name,
    pub organization_slug: Slug,
    /// URL of the logo.
    pub organization_logo: Option<WebAddress>,
    /// The custom domain of the organization.
    pub custom_domain: Option<CustomDomain>,
    /// The email address of the inviter, if a person sent the invitation.
    pub inviter_email: Option<String>,
    pub tenant: Tenant,
}

/// Verification state of the email address and origin of the password of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// Whether the email address was ever verified.
    pub is_verified: bool,
    /// The organization whose administrator set the password.
    pub password_organization: Option<OrganizationId>,
}

impl PlatformTx<'_> {
    /// Returns an invitation by id.
    pub fn invitation_with_organization(&mut self, id: &InvitationId) -> Result<Option<InvitationWithOrganization>> {
        self.fetch_optional(&BY_ID, args![id], known)
    }

    /// Returns the invitation with the digest of an emailed token.
    pub fn invitation_of_token(&mut self, digest: &str) -> Result<Option<InvitationWithOrganization>> {
        self.fetch_optional(&BY_TOKEN, args![digest], known)
    }

    /// Lists the pending, unexpired invitations of an email address, oldest first.
    pub fn invitations_of_address(&mut self, email: &str, now: Timestamp) -> Result<Vec<InvitationWithOrganization>> {
        self.fetch_all(&OF_ADDRESS, args![email, now], known)
    }

    /// Returns the verification state of an account; `None` for an erased one.
    pub fn mailbox(&mut self, user: &UserId) -> Result<Option<Mailbox>> {
        self.fetch_optional(&MAILBOX, args![user], |row| {
            from_row!(row => Mailbox {
                is_verified = "email_verified", password_organization = "password_organization_id",
            })
        })
    }

    /// Records that the user received an email at the address of the account: the address is verified, and the password
    /// counts as chosen by the user.
    pub fn verify_mailbox(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&PROVE_MAILBOX, args![user, now])
    }
}

fn known(row: &Columns<'_>) -> Result<InvitationWithOrganization> {
    let invitation = invitation(row)?;
    from_row!(row => InvitationWithOrganization {
        organization_name, organization_slug = "slug", organization_logo = "logo", custom_domain, inviter_email,
        tenant: Tenant(invitation.organization_id.clone()),
        invitation: invitation,
    })
}
