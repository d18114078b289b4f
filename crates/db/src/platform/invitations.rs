//! Invitations across organizations: those of an address, the one of a mailed token, and the account behind an address.

use model::id::{InvitationId, OrganizationId, UserId};
use model::invitation::Invitation;
use model::text::{CustomDomain, Name, Slug, WebAddress};
use model::time::Timestamp;

use super::Platform;
use crate::Tenant;
use crate::invitations::{invitation, invitation_columns};
use crate::sql::Columns;
use crate::{args, statements};
use common::error::Result;

macro_rules! known_columns {
    () => {
        concat!(
            invitation_columns!(),
            ", o.name, o.slug, o.logo, o.custom_domain, (SELECT u.email FROM users u WHERE u.id = i.inviter_id)"
        )
    };
}

statements! {
    /// One invitation of an organization that exists.
    BY_ID = concat!("SELECT ", known_columns!(), " FROM invitations i
        JOIN organizations o ON o.id = i.organization_id WHERE i.id = $1 AND o.deleted_at IS NULL");
    /// The invitation of a mailed token.
    BY_TOKEN = concat!("SELECT ", known_columns!(), " FROM invitations i
        JOIN organizations o ON o.id = i.organization_id WHERE i.token_digest = $1 AND o.deleted_at IS NULL");
    /// The pending invitations of an address that have not expired, oldest first.
    OF_ADDRESS = concat!("SELECT ", known_columns!(), " FROM invitations i
        JOIN organizations o ON o.id = i.organization_id
        WHERE i.email = $1 AND i.status = 'pending' AND i.expires_at >= $2 AND o.deleted_at IS NULL
        ORDER BY i.created_at, i.id");
    /// What a session proves about the mailbox.
    MAILBOX = "SELECT email_verified, password_organization_id FROM users WHERE id = $1 AND erased_at IS NULL";
    /// The mailbox was proven, so the password is the person's own.
    PROVE_MAILBOX = "UPDATE users SET email_verified = TRUE, password_organization_id = NULL, updated_at = $2
        WHERE id = $1";
}

/// An invitation with what the invited person may know about the organization.
#[derive(Debug, Clone)]
pub struct KnownInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// The organization's name.
    pub organization_name: Name,
    /// Its name in addresses.
    pub organization_slug: Slug,
    /// Address of its logo.
    pub organization_logo: Option<WebAddress>,
    /// Its own host.
    pub custom_domain: Option<CustomDomain>,
    /// The address of the inviter, if a person invited.
    pub inviter_email: Option<String>,
    /// The organization.
    pub tenant: Tenant,
}

/// Verification state of the mailbox and origin of the password of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// Whether the mailbox was ever proven.
    pub is_verified: bool,
    /// The organization whose administrator chose the password.
    pub password_organization: Option<OrganizationId>,
}

impl Platform<'_> {
    /// One invitation by id.
    pub fn known_invitation(&mut self, id: &InvitationId) -> Result<Option<KnownInvitation>> {
        self.connection.maybe(&BY_ID, args![id], known)
    }

    /// The invitation of the digest of a mailed token.
    pub fn invitation_of_token(&mut self, digest: &str) -> Result<Option<KnownInvitation>> {
        self.connection.maybe(&BY_TOKEN, args![digest], known)
    }

    /// The invitations of an address that can be answered, oldest first.
    pub fn invitations_of_address(&mut self, email: &str, now: Timestamp) -> Result<Vec<KnownInvitation>> {
        self.connection.many(&OF_ADDRESS, args![email, now], known)
    }

    /// The mailbox state of an account; none for an erased one.
    pub fn mailbox(&mut self, user: &UserId) -> Result<Option<Mailbox>> {
        self.connection.maybe(&MAILBOX, args![user], |row| {
            Ok(Mailbox {
                is_verified: row.take()?,
                password_organization: row.take()?,
            })
        })
    }

    /// Notes a round trip through the mailbox of an account: the address is the person's, and so is the password.
    pub fn prove_mailbox(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.connection.run(&PROVE_MAILBOX, args![user, now]).map(drop)
    }
}

fn known(row: &mut Columns<'_>) -> Result<KnownInvitation> {
    let invitation = invitation(row)?;
    Ok(KnownInvitation {
        tenant: Tenant(invitation.organization_id.clone()),
        invitation,
        organization_name: row.take()?,
        organization_slug: row.take()?,
        organization_logo: row.take()?,
        custom_domain: row.take()?,
        inviter_email: row.take()?,
    })
}
