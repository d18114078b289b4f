//! Passkeys: WebAuthn credentials of an account. With a verified user, a passkey is a sign-in by itself; without, it is a
//! second factor.

use crate::id::{OrganizationId, PasskeyId, UserId};
use crate::text::ShortName;
use crate::time::Timestamp;

/// Maximum number of passkeys of one account.
pub const PASSKEYS_MAX: usize = 20;
/// How long a challenge is valid, in seconds.
pub const CHALLENGE_SECONDS: i64 = 5 * 60;
/// How long after the sign-in, or after the password was proved, a session may add and remove passkeys, in seconds.
pub const FRESH_SECONDS: i64 = 15 * 60;
/// Maximum number of transports that are stored of a passkey, and characters of each.
const TRANSPORTS_MAX: usize = 8;
const TRANSPORT_LENGTH_MAX: usize = 20;

/// A passkey of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    pub id: PasskeyId,
    pub user_id: UserId,
    pub name: Option<ShortName>,
    /// As base64url without padding.
    pub credential_id: String,
    /// In COSE form.
    pub public_key: Vec<u8>,
    pub counter: SignatureCounter,
    /// How browsers reach the authenticator, separated by commas.
    pub transports: String,
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
    /// The model of the authenticator.
    pub aaguid: String,
    /// The organization whose administrators could have added the passkey; see [`Passkey::is_sufficient`].
    pub limited_to: Option<OrganizationId>,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

impl Passkey {
    /// Whether the passkey is a sign-in by itself. One that an administrator could have added, because the administrator
    /// chose the password or controls the provider, must not outlast that password: after the user has chosen one, it is a
    /// second factor only. `password_of` is the organization whose administrator chose the present password.
    pub fn is_sufficient(&self, password_of: Option<&OrganizationId>) -> bool {
        self.limited_to.is_none() || self.limited_to.as_ref() == password_of
    }

    /// The name for the activity log and for lists.
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or("", ShortName::as_str)
    }
}

/// The signature counter of an authenticator; 0 if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignatureCounter(pub i64);

impl SignatureCounter {
    /// Whether the counter of an assertion may follow this one. A counter that does not grow shows that the credential was
    /// copied; authenticators without a counter always send 0.
    pub fn accepts(self, next: Self) -> bool {
        next > self || (next.0 == 0 && self.0 == 0)
    }
}

/// Whether a session may add and remove passkeys: the user signed in, or proved the password, a short time ago.
pub fn is_fresh(created_at: Timestamp, confirmed_at: Option<Timestamp>, now: Timestamp) -> bool {
    let proved_at = confirmed_at.unwrap_or(created_at).max(created_at);
    now < proved_at.plus_seconds(FRESH_SECONDS)
}

/// Returns the transports of a browser as they are stored. They are not signed, so anything unusual is left out.
pub fn stored_transports(transports: &[String]) -> String {
    let is_plain = |text: &&str| {
        let is_letter = |character: char| character.is_ascii_lowercase() || character == '-';
        (1..=TRANSPORT_LENGTH_MAX).contains(&text.len()) && text.chars().all(is_letter)
    };
    let plain: Vec<&str> = transports
        .iter()
        .map(String::as_str)
        .filter(is_plain)
        .take(TRANSPORTS_MAX)
        .collect();
    plain.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn counter_has_to_grow_unless_there_is_none() {
        for (stored, next, accepted) in [
            (0, 0, true),
            (0, 1, true),
            (5, 6, true),
            (5, 5, false),
            (5, 4, false),
            (5, 0, false),
        ] {
            assert_eq!(
                SignatureCounter(stored).accepts(SignatureCounter(next)),
                accepted,
                "{stored} {next}"
            );
        }
    }

    #[test]
    fn session_is_fresh_for_a_quarter_of_an_hour_after_sign_in_or_password() {
        let old = NOW.plus_seconds(-FRESH_SECONDS);
        assert!(is_fresh(NOW, None, NOW) && is_fresh(old.plus_seconds(1), None, NOW));
        assert!(!is_fresh(old, None, NOW));
        assert!(is_fresh(old, Some(old.plus_seconds(1)), NOW));
        assert!(!is_fresh(old, Some(old), NOW));
    }

    #[test]
    fn unusual_transports_are_left_out() {
        let transports = [
            "usb",
            "internal",
            "",
            "a,b",
            "<b>",
            "smart-card",
            "averyveryverylongtransport",
        ];
        let transports: Vec<String> = transports.iter().map(|&text| text.to_owned()).collect();
        assert_eq!(stored_transports(&transports), "usb,internal,smart-card");
        let many = vec!["usb".to_owned(); 100];
        assert_eq!(stored_transports(&many).split(',').count(), TRANSPORTS_MAX);
    }

    #[test]
    fn passkey_of_an_administrator_ends_with_the_password() {
        let school = OrganizationId::new("school");
        let other = OrganizationId::new("other");
        let passkey = |limited_to: Option<&OrganizationId>| Passkey {
            id: PasskeyId::new("p"),
            user_id: UserId::new("u"),
            name: None,
            credential_id: String::new(),
            public_key: Vec::new(),
            counter: SignatureCounter(0),
            transports: String::new(),
            is_backup_eligible: false,
            is_backed_up: false,
            aaguid: String::new(),
            limited_to: limited_to.cloned(),
            created_at: NOW,
            last_used_at: None,
        };
        assert!(passkey(None).is_sufficient(None) && passkey(None).is_sufficient(Some(&school)));
        assert!(passkey(Some(&school)).is_sufficient(Some(&school)));
        assert!(!passkey(Some(&school)).is_sufficient(None));
        assert!(!passkey(Some(&school)).is_sufficient(Some(&other)));
    }
}
