//! Invitations: how a person whose account another organization made becomes a member. Rules only; who holds which token
//! and what is stored is the server's business.
//!
//! An invitation is bound to an email address, never to an account: registering an address first gains nothing.

use crate::access::MemberRole;
use crate::id::{ClassId, HomeroomId, InvitationId, OrganizationId, UserId};
use crate::refusal::Refusal;
use crate::text::{ExternalId, Name};
use crate::time::Timestamp;
use crate::word::words;

/// How long an invitation can be accepted, in seconds.
pub const LIFETIME: i64 = 7 * 24 * 60 * 60;
/// The shortest time between two emails of one organization to the same address, in seconds.
pub const RESEND_INTERVAL: i64 = 5 * 60;
/// Domains that no email reaches (RFC 6761, RFC 6762, RFC 8375): organizations use them for accounts without a mailbox.
const UNREACHABLE: [&str; 5] = ["invalid", "localhost", "local", "internal", "home.arpa"];

words! {
    /// State of an invitation, in better-auth's words. An expired invitation stays `pending`.
    InvitationStatus {
        /// Waits for an answer.
        Pending = "pending",
        /// The person became a member.
        Accepted = "accepted",
        /// The person declined.
        Rejected = "rejected",
        /// The organization withdrew it.
        Canceled = "canceled",
    }
}

/// An invitation of an address into an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Its id; knowing it entitles to nothing.
    pub id: InvitationId,
    /// The organization that invites.
    pub organization_id: OrganizationId,
    /// The invited address in lower case.
    pub email: String,
    /// The name as the inviter wrote it.
    pub name: Name,
    /// The role the person will have.
    pub role: MemberRole,
    /// Id in the organization's own administration.
    pub external_id: Option<ExternalId>,
    /// Classes the person will join.
    pub class_ids: Vec<ClassId>,
    /// Homerooms the person will join.
    pub homeroom_ids: Vec<HomeroomId>,
    /// Whether accepting makes this organization the home of the account again: the invitation replaces such a membership.
    pub is_home: bool,
    /// Who invited; none for the service itself.
    pub inviter_id: Option<UserId>,
    /// Its state.
    pub status: InvitationStatus,
    /// When the last email was queued.
    pub sent_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Classes and homerooms that an invited person will join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The classes.
    pub class_ids: Vec<ClassId>,
    /// The homerooms.
    pub homeroom_ids: Vec<HomeroomId>,
}

/// Proof that the caller may accept or reject an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof<'a> {
    /// The mailed token: its holder reads the mailbox.
    Token,
    /// A session.
    Session {
        /// The address of the account.
        email: &'a str,
        /// Whether the mailbox was ever proven.
        is_verified: bool,
        /// Whether the person chose the password; an administrator may know it otherwise.
        has_own_password: bool,
        /// Whether the session is an impersonation.
        is_impersonated: bool,
    },
}

/// Why an answer to an invitation is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It was answered, withdrawn, or its time is over.
    NotOpen,
    /// It is for another address.
    NotTheRecipient,
    /// The session proves no mailbox.
    MailboxNotProven,
}

impl Invitation {
    /// Whether it can still be answered.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.status == InvitationStatus::Pending && now <= self.expires_at
    }

    /// Whether the proof entitles to answer. The order is that of better-auth: an unknown or closed invitation, the
    /// recipient, the mailbox.
    pub fn may_be_answered(&self, proof: Proof<'_>, now: Timestamp) -> Result<(), Denial> {
        if !self.is_open(now) {
            return Err(Denial::NotOpen);
        }
        let Proof::Session { email, .. } = proof else {
            return Ok(());
        };
        if self.email != email {
            return Err(Denial::NotTheRecipient);
        }
        if proof.is_of_mailbox() {
            Ok(())
        } else {
            Err(Denial::MailboxNotProven)
        }
    }

    /// When the next email may be sent; none if it may be sent now.
    pub fn resend_after(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.sent_at?.plus_seconds(RESEND_INTERVAL);
        (next > now).then_some(next)
    }

    /// Extends the invitation from now on and opens it again if it had expired.
    pub fn renew(&mut self, now: Timestamp) {
        self.expires_at = now.plus_seconds(LIFETIME);
        self.updated_at = now;
    }
}

impl Proof<'_> {
    /// Whether it proves that the caller reads the mailbox. A session of a password that an administrator chose, or of
    /// an impersonating administrator, does not, even if the mailbox was proven before.
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

/// What an organization may know about the account of an address before it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressAccount<'a> {
    /// The organization that made the account, if one did.
    pub home: Option<&'a OrganizationId>,
    /// Whether the account is a member of this organization.
    pub is_member: bool,
}

/// What happens when an organization adds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The address has no account: the organization makes one.
    Create,
    /// The account is the organization's own and joins at once.
    Join,
    /// The account was made elsewhere: the address is invited.
    Invite,
    /// The account is a member already.
    AlreadyMember,
}

/// Decides what happens when `organization` adds an address; `account` is the account of the address, if there is one.
/// This is the one place for rules about adding people: `POST /users`, imports and the founding of an organization ask here.
pub fn admission(organization: &OrganizationId, account: Option<AddressAccount<'_>>) -> Admission {
    match account {
        None => Admission::Create,
        Some(account) if account.is_member => Admission::AlreadyMember,
        Some(account) if account.home == Some(organization) => Admission::Join,
        Some(_) => Admission::Invite,
    }
}

/// Refuses to invite an address that no email reaches: that mailbox can never be proven.
pub fn can_be_invited(email: &str) -> Result<(), Refusal> {
    let domain = email.rsplit_once('@').map_or(email, |(_, domain)| domain);
    let is_below = |top: &str| domain == top || domain.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'));
    if UNREACHABLE.into_iter().any(is_below) {
        Err(Refusal::NoMailbox)
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

    fn session(email: &str) -> Proof<'_> {
        Proof::Session {
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
    fn an_invitation_is_open_for_seven_days_and_answered_once() {
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
                invitation.may_be_answered(Proof::Token, NOW),
                Err(Denial::NotOpen),
                "{status}"
            );
        }
    }

    #[test]
    fn a_session_answers_only_with_its_own_proven_mailbox() {
        let invitation = invitation();
        let answer = |proof| invitation.may_be_answered(proof, NOW);
        assert_eq!(answer(Proof::Token), Ok(()));
        assert_eq!(answer(session("head@north.example")), Ok(()));
        assert_eq!(answer(session("eve@north.example")), Err(Denial::NotTheRecipient));
        for (is_verified, has_own_password, is_impersonated) in
            [(false, true, false), (true, false, false), (true, true, true)]
        {
            let proof = Proof::Session {
                email: "head@north.example",
                is_verified,
                has_own_password,
                is_impersonated,
            };
            assert_eq!(answer(proof), Err(Denial::MailboxNotProven));
        }
    }

    #[test]
    fn an_address_is_not_written_to_again_at_once() {
        let mut invitation = invitation();
        assert_eq!(invitation.resend_after(NOW), Some(NOW.plus_seconds(RESEND_INTERVAL)));
        assert_eq!(invitation.resend_after(NOW.plus_seconds(RESEND_INTERVAL)), None);
        invitation.sent_at = None;
        assert_eq!(invitation.resend_after(NOW), None);
    }

    #[test]
    fn an_address_that_no_email_reaches_cannot_be_invited() {
        for email in ["a@pupil.invalid", "a@invalid", "a@mail.school.local", "a@x.home.arpa"] {
            assert_eq!(can_be_invited(email), Err(Refusal::NoMailbox), "{email}");
        }
        for email in ["a@school.example", "a@notlocal.example", "a@local.example"] {
            assert_eq!(can_be_invited(email), Ok(()), "{email}");
        }
    }
}
