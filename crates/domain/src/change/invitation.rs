//! Changes of invitations.

use crate::invitation::Invitation;

/// A change of an invitation.
#[derive(Clone, Debug, PartialEq)]
pub enum InvitationChange {
    Created {
        invitation: Invitation,
        /// Whether an email was queued.
        is_sent: bool,
    },
    /// The invitation was extended, or its role and classes changed.
    Renewed {
        invitation: Invitation,
        /// Whether another email was queued.
        is_sent: bool,
    },
    /// The invitee accepted; the membership is recorded as a change of its own.
    Accepted {
        invitation: Invitation,
        /// How ownership of the mailbox was verified.
        by: AcceptedBy,
    },
    /// The invitee declined.
    Rejected { invitation: Invitation },
    /// The organization canceled the invitation.
    Canceled { invitation: Invitation },
}

/// How ownership of the mailbox was verified when an invitation was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedBy {
    /// The invitee was signed in with a verified email address.
    Session,
    /// The invitee used the token of the invitation email.
    Token,
    /// A platform administrator accepted on behalf of the invitee.
    Platform,
}

impl AcceptedBy {
    /// Returns the value stored in the activity log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Token => "token",
            Self::Platform => "platform",
        }
    }
}
