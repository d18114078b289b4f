//! Changes of sessions.

use crate::id::{OrganizationId, SessionId, UserId};
use crate::realtime::KillReason;
use crate::string_enum::string_enum;
use crate::user::Person;

string_enum! {
    /// What happened to a second factor.
    SecondFactorEvent {
        /// A second factor was set up.
        Enabled = "ENABLED",
        /// The user removed the second factor.
        Disabled = "DISABLED",
        /// A wrong code was entered.
        CodeRejected = "CODE_REJECTED",
        /// A recovery code was used instead of the app.
        RecoveryCodeUsed = "RECOVERY_CODE_USED",
        /// The recovery codes were replaced.
        RecoveryCodesRenewed = "RECOVERY_CODES_RENEWED",
    }
}

string_enum! {
    /// What happened to a passkey.
    PasskeyEvent {
        /// The user added a passkey.
        Added = "ADDED",
        /// The user removed a passkey.
        Removed = "REMOVED",
        /// An assertion was rejected.
        Rejected = "REJECTED",
        /// The counter of the authenticator did not grow: the credential may have been copied.
        CounterRegressed = "COUNTER_REGRESSED",
    }
}

string_enum! {
    /// How a user signed in without a password.
    SignInKind {
        Passkey = "PASSKEY",
        /// Through a sign-on provider.
        Provider = "PROVIDER",
    }
}

/// A change of sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionChange {
    /// Sessions ended; their socket connections are closed.
    Ended {
        user: UserId,
        sessions: Vec<SessionId>,
        reason: KillReason,
    },
    /// An admin of the organization ended one session of a member.
    RevokedByAdmin { user: Person, session: SessionId },
    /// Another organization was selected: the sockets of the session switch rooms.
    OrganizationChosen {
        session: SessionId,
        organization: Option<OrganizationId>,
    },
    LoginFailed {
        /// The account with this email address, if there is one.
        user: Option<UserId>,
        /// The email address that was entered.
        email: String,
        /// IP address of the client.
        address: Option<String>,
        /// The super admin who impersonated the user.
        impersonated_by: Option<UserId>,
    },
    /// A user signed in without a password.
    SignedIn {
        user: UserId,
        kind: SignInKind,
        /// The name of the passkey or of the provider.
        name: String,
        /// The organization of the provider, which logs the sign-in; by default the home organization does.
        organization: Option<OrganizationId>,
        /// IP address of the client.
        address: Option<String>,
    },
    /// Something happened to a passkey of a user, at sign-in or in the account.
    Passkey {
        user: UserId,
        event: PasskeyEvent,
        /// The name of the passkey.
        name: String,
        /// IP address of the client.
        address: Option<String>,
    },
    /// Something happened to the second factor of a user, at sign-in or in the account.
    SecondFactor {
        user: UserId,
        event: SecondFactorEvent,
        /// IP address of the client.
        address: Option<String>,
        /// The super admin who impersonated the user.
        impersonated_by: Option<UserId>,
    },
}
