//! Changes of the sign-on providers of an organization and of the identities at them.

use crate::patch::FieldDiff;
use crate::sign_on::{LinkedBy, SignOnProvider};
use crate::user::Person;

/// A change of a provider or of an identity.
#[derive(Clone, Debug, PartialEq)]
pub enum SignOnChange {
    ProviderAdded {
        provider: SignOnProvider,
    },
    ProviderUpdated {
        provider: SignOnProvider,
        changed: FieldDiff,
        /// Whether the client secret was replaced.
        is_secret_replaced: bool,
    },
    ProviderRemoved {
        /// The provider before its removal.
        provider: SignOnProvider,
    },
    /// An identity was linked to an account.
    IdentityLinked {
        provider: SignOnProvider,
        user: Person,
        by: LinkedBy,
    },
    IdentityUnlinked {
        provider: SignOnProvider,
        user: Person,
    },
}
