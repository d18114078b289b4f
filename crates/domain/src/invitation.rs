//! Invitations: how a user whose account belongs to another organization becomes a member. Contains the rules only;
//! tokens and storage are handled by the server.
//!
//! An invitation is bound to an email address, not to an account: registering an address in advance gives no advantage.

use crate::access::MemberRole;
use crate::domain_error::DomainError;
use crate::id::{ClassId, HomeroomId, InvitationId, OrganizationId, UserId};
use crate::string_enum::string_enum;
use crate::text::{ExternalId, Name};
use crate::time::Timestamp;

/// Lifetime of an invitation in seconds.
pub const LIFETIME: i64 = 7 * 24 * 60 * 60;
/// Minimum interval between two emails of one organization to the same address, in seconds.
pub const RESEND_INTERVAL: i64 = 5 * 60;
/// Domains to which no email can be delivered (RFC 6761, RFC 6762, RFC 8375). Organizations use them for accounts
/// without a mailbox.
const UNREACHABLE: [&str; 5] = ["invalid", "localhost", "local", "internal", "home.arpa"];

string_enum! {
    /// Status of an invitation, with the values of better-auth. An expired invitation stays `pending`.
    InvitationStatus {
        /// Not answered yet.
        Pending = "pending",
        /// The invitee became a member.
        Accepted = "accepted",
        /// The invitee declined.
        Rejected = "rejected",
        /// The organization canceled the invitation.
        Canceled = "canceled",
    }
}

/// An invitation of an email address to an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Not a secret: knowing the id does not permit to accept the invitation.
    pub id: InvitationId,
    pub organization_id: OrganizationId,
    /// The invited email address in lower case.
    pub email: String,
    /// The name entered by the inviter.
    pub name: Name,
    /// The role the invitee will have.
    pub role: MemberRole,
    /// Id in the organization's administration system.
    pub external_id: Option<ExternalId>,
    /// Classes the invitee will join.
    pub class_ids: Vec<ClassId>,
    /// Homerooms the invitee will join.
    pub homeroom_ids: Vec<HomeroomId>,
    /// Whether accepting makes this organization the home organization of the account again. Set if the invitation
    /// replaces a membership in the home organization.
    pub is_home: bool,
    /// `None` if the service created the invitation.
    pub inviter_id: Option<UserId>,
    pub status: InvitationStatus,
    /// When the last email was queued.
    pub sent_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Classes and homerooms that an invitee will join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnrollmentTargets {
    pub class_ids: Vec<ClassId>,
    pub homeroom_ids: Vec<HomeroomId>,
}

/// Evidence that the caller may accept or reject an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientProof<'a> {
    /// The token from the email, which proves access to the mailbox.
    Token,
    Session {
        /// Email address of the account.
        email: &'a str,
        /// Whether the email address of the account is verified.
        is_verified: bool,
        /// Whether the user set the password. Otherwise an admin may know it.
        has_own_password: bool,
        /// Whether the session is an impersonation.
        is_impersonated: bool,
    },
}

/// Why an invitation cannot be accepted or rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationDenial {
    /// It was accepted, rejected or canceled, or it expired.
    NotOpen,
    /// It is for another email address.
    NotTheRecipient,
    /// The session does not prove access to the mailbox.
    MailboxNotProven,
}

impl Invitation {
    /// Returns whether the invitation can still be accepted or rejected.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.status == InvitationStatus::Pending && now <= self.expires_at
    }

    /// Checks whether the caller may accept or reject the invitation. The checks have the order of better-auth: whether
    /// the invitation is open, the recipient, the mailbox.
    pub fn may_be_answered(&self, proof: RecipientProof<'_>, now: Timestamp) -> Result<(), InvitationDenial> {
        if !self.is_open(now) {
            return Err(InvitationDenial::NotOpen);
        }
        let RecipientProof::Session { email, .. } = proof else {
            return Ok(());
        };
        if self.email != email {
            return Err(InvitationDenial::NotTheRecipient);
        }
        if proof.is_of_mailbox() {
            Ok(())
        } else {
            Err(InvitationDenial::MailboxNotProven)
        }
    }

    /// Returns when the next email may be sent; `None` if it may be sent now.
    pub fn resend_after(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.sent_at?.plus_seconds(RESEND_INTERVAL);
        (next > now).then_some(next)
    }

    /// Extends the invitation from now on. An expired invitation becomes open again.
    pub fn renew(&mut self, now: Timestamp) {
        self.expires_at = now.plus_seconds(LIFETIME);
        self.updated_at = now;
    }
}

impl RecipientProof<'_> {
    /// Returns whether this proves access to the mailbox. A session whose password was set by an admin, or an
    /// impersonation, does not, even if the email address is verified.
    pub const fn is_of_mailbox(self) -> bool {
        match self {
            Self::Token => true,
            Self::Session {
                is_verified,
                has_own_password,
                is_impersonated,
                ..
            } => is_verified && has_own_password && !is_impersonated,
        }
    }
}

/// Properties of the account of an email address that the decision about adding it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressAccount<'a> {
    /// The home organization of the account.
    pub home: Option<&'a OrganizationId>,
    /// Whether the account is a member of this organization.
    pub is_member: bool,
}

/// What happens when an organization adds an email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The address has no account: the organization creates one.
    Create,
    /// The organization is the home organization of the account, which joins immediately.
    Join,
    /// The account belongs to another organization: the address is invited.
    Invite,
    /// The account is a member already.
    AlreadyMember,
}

/// Decides what happens when `organization` adds an email address; `account` is the account of that address, if any.
/// All ways of adding users apply this rule: `POST /users`, imports and the creation of an organization.
pub fn admission(organization: &OrganizationId, account: Option<AddressAccount<'_>>) -> Admission {
    match account {
        None => Admission::Create,
        Some(account) if account.is_member => Admission::AlreadyMember,
        Some(account) if account.home == Some(organization) => Admission::Join,
        Some(_) => Admission::Invite,
    }
}

/// Rejects addresses to which no email can be delivered, because access to the mailbox could never be proven.
pub fn can_be_invited(email: &str) -> Result<(), DomainError> {
    let domain = email.rsplit_once('@').map_or(email, |(_, domain)| domain);
    let is_below = |top: &str| domain == top || domain.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'));
    if UNREACHABLE.into_iter().any(is_below) {
        Err(DomainError::NoMailbox)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn invitation() -> Invitation {
        Invitation {
            id: InvitationId::new("i"),
            organization_id: OrganizationId::new("north"),
            email: "head@north.example".to_owned(),
            name: Name::stored("Head"),
            role: MemberRole::Owner,
            external_id: None,
            class_ids: Vec::new(),
            homeroom_ids: Vec::new(),
            is_home: false,
            inviter_id: None,
            status: InvitationStatus::Pending,
            sent_at: Some(NOW),
            expires_at: NOW.plus_seconds(LIFETIME),
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn session(email: &str) -> RecipientProof<'_> {
        RecipientProof::Session {
            email,
            is_verified: true,
            has_own_password: true,
            is_impersonated: false,
        }
    }

    #[test]
    fn only_own_accounts_join_and_foreign_ones_are_invited() {
        let (north, east) = (OrganizationId::new("north"), OrganizationId::new("east"));
        let account = |home, is_member| Some(AddressAccount { home, is_member });
        assert_eq!(admission(&north, None), Admission::Create);
        assert_eq!(admission(&north, account(Some(&east), false)), Admission::Invite);
        assert_eq!(admission(&north, account(None, false)), Admission::Invite);
        assert_eq!(admission(&north, account(Some(&north), false)), Admission::Join);
        for home in [None, Some(&north), Some(&east)] {
            assert_eq!(admission(&north, account(home, true)), Admission::AlreadyMember);
        }
    }

    #[test]
    fn invitation_is_open_for_seven_days_until_answered() {
        let mut invitation = invitation();
        assert!(invitation.is_open(NOW.plus_seconds(LIFETIME)));
        assert!(!invitation.is_open(NOW.plus_seconds(LIFETIME + 1)));
        for status in [
            InvitationStatus::Accepted,
            InvitationStatus::Rejected,
            InvitationStatus::Canceled,
        ] {
            invitation.status = status;
            assert_eq!(
                invitation.may_be_answered(RecipientProof::Token, NOW),
                Err(InvitationDenial::NotOpen),
                "{status}"
            );
        }
    }

    #[test]
    fn invitation_requires_verified_address_of_the_session() {
        let invitation = invitation();
        let answer = |proof| invitation.may_be_answered(proof, NOW);
        assert_eq!(answer(RecipientProof::Token), Ok(()));
        assert_eq!(answer(session("head@north.example")), Ok(()));
        assert_eq!(
            answer(session("eve@north.example")),
            Err(InvitationDenial::NotTheRecipient)
        );
        for (is_verified, has_own_password, is_impersonated) in
            [(false, true, false), (true, false, false), (true, true, true)]
        {
            let proof = RecipientProof::Session {
                email: "head@north.example",
                is_verified,
                has_own_password,
                is_impersonated,
            };
            assert_eq!(answer(proof), Err(InvitationDenial::MailboxNotProven));
        }
    }

    #[test]
    fn repeated_invitation_email_is_delayed() {
        let mut invitation = invitation();
        assert_eq!(invitation.resend_after(NOW), Some(NOW.plus_seconds(RESEND_INTERVAL)));
        assert_eq!(invitation.resend_after(NOW.plus_seconds(RESEND_INTERVAL)), None);
        invitation.sent_at = None;
        assert_eq!(invitation.resend_after(NOW), None);
    }

    #[test]
    fn an_address_that_no_email_reaches_cannot_be_invited() {
        for email in ["a@pupil.invalid", "a@invalid", "a@mail.school.local", "a@x.home.arpa"] {
            assert_eq!(can_be_invited(email), Err(DomainError::NoMailbox), "{email}");
        }
        for email in ["a@school.example", "a@notlocal.example", "a@local.example"] {
            assert_eq!(can_be_invited(email), Ok(()), "{email}");
        }
    }
}
