//! Emails to users: their kinds and how long delivery is attempted. The server renders their content.

use crate::string_enum::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// Kind of an email.
    EmailKind {
        /// A link that resets a password.
        PasswordReset = "PASSWORD_RESET",
        /// The password of the user was set by another person.
        PasswordResetNotice = "PASSWORD_RESET_NOTICE",
        /// An invitation to a new member to choose a password.
        Invitation = "INVITATION",
        /// A link that verifies a new email address.
        AddressConfirmation = "ADDRESS_CONFIRMATION",
        /// Informs the previous email address about the new one.
        AddressNotice = "ADDRESS_NOTICE",
    }
}

/// Lifetime of a link that replaces a password, in seconds.
const LINK_LIFETIME_SECONDS: i64 = 3_600;
/// How long delivery of other emails is attempted, in seconds: a mail server may be down over a weekend.
const DELIVERY_LIMIT_SECONDS: i64 = 3 * 86_400;

impl EmailKind {
    /// Returns when delivery of an email queued now is given up.
    pub const fn expires_at(self, now: Timestamp) -> Timestamp {
        now.plus_seconds(match self {
            Self::PasswordReset | Self::AddressConfirmation => LINK_LIFETIME_SECONDS,
            Self::Invitation | Self::AddressNotice | Self::PasswordResetNotice => DELIVERY_LIMIT_SECONDS,
        })
    }
}

/// A queued email. Its content is encrypted; only the mailer can decrypt it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedEmail {
    /// Also used as the `Message-ID`, so that an email sent twice can be recognized.
    pub id: String,
    pub kind: EmailKind,
    /// Recipient and text, encrypted.
    pub sealed: String,
    pub created_at: Timestamp,
    /// When delivery is given up.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_expires_with_its_link() {
        let now = Timestamp::from_millis(0);
        assert_eq!(EmailKind::PasswordReset.expires_at(now), now.plus_seconds(3_600));
        assert!(EmailKind::Invitation.expires_at(now) > now.plus_seconds(2 * 86_400));
    }
}
