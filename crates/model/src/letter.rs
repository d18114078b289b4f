//! Letters to people: what kinds there are and how long each is worth sending.
//! What they say is the business of the server's mail room.

use crate::time::Timestamp;
use crate::word::words;

words! {
    /// What a letter is about.
    LetterKind {
        /// A link that resets a password.
        PasswordReset = "PASSWORD_RESET",
        /// The user's password was set by another person.
        PasswordResetNotice = "PASSWORD_RESET_NOTICE",
        /// A new member chooses a password.
        Invitation = "INVITATION",
        /// A link that proves a new address.
        AddressConfirmation = "ADDRESS_CONFIRMATION",
        /// The old address hears of the new one.
        AddressNotice = "ADDRESS_NOTICE",
    }
}

/// How long a link works that stands for a password, in seconds (contract 9).
const LINK: i64 = 3_600;
/// How long other letters are tried, in seconds: a mail server may be down over a weekend.
const PATIENCE: i64 = 3 * 86_400;

impl LetterKind {
    /// When there is no point any more in sending a letter made now.
    pub const fn expires_at(self, now: Timestamp) -> Timestamp {
        now.plus_seconds(match self {
            Self::PasswordReset | Self::AddressConfirmation => LINK,
            Self::Invitation | Self::AddressNotice | Self::PasswordResetNotice => PATIENCE,
        })
    }
}

/// A letter that is written and waits; only the mail room can open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its id, also on the wire, so that a letter sent twice is recognised.
    pub id: String,
    /// What it is about.
    pub kind: LetterKind,
    /// Address and text, under lock.
    pub sealed: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When there is no point any more in sending it.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_dead_link_is_sent() {
        let now = Timestamp::from_millis(0);
        assert_eq!(LetterKind::PasswordReset.expires_at(now), now.plus_seconds(3_600));
        assert!(LetterKind::Invitation.expires_at(now) > now.plus_seconds(2 * 86_400));
    }
}
