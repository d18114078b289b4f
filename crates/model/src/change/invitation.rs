//! What happens to invitations.

use crate::invitation::Invitation;

/// What happened to an invitation.
#[derive(Clone, Debug, PartialEq)]
pub enum InvitationChange {
    /// An address was invited.
    Created {
        /// The invitation.
        invitation: Invitation,
        /// Whether an email was queued.
        is_sent: bool,
    },
    /// It was extended, or its role and classes changed; another email was queued where `is_sent`.
    Renewed {
        /// The invitation as it is now.
        invitation: Invitation,
        /// Whether an email was queued.
        is_sent: bool,
    },
    /// The person accepted; the membership is a change of its own.
    Accepted {
        /// The invitation as it is now.
        invitation: Invitation,
        /// How the mailbox was proven.
        by: AcceptedBy,
    },
    /// The person declined.
    Rejected {
        /// The invitation as it is now.
        invitation: Invitation,
    },
    /// The organization withdrew it.
    Canceled {
        /// The invitation as it is now.
        invitation: Invitation,
    },
}

/// How an acceptance was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedBy {
    /// Signed in, with a proven mailbox.
    Session,
    /// With the mailed token.
    Token,
    /// A platform administrator confirmed in the person's place.
    Platform,
}

impl AcceptedBy {
    /// The word in the activity log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Token => "token",
            Self::Platform => "platform",
        }
    }
}
