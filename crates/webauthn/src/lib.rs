//! Verifies registrations and assertions of passkeys (WebAuthn Level 3), from the JSON that browsers send. Accepted are
//! keys for ES256, EdDSA (Ed25519) and RS256, and attestations that name no vendor: `none`, and `packed` signed with the
//! new key itself. Nothing is trusted before its signature was verified, and every part has a maximum size.
//!
//! | Module | Contents |
//! |---|---|
//! | [`ceremony`] | the checks of a registration and of an assertion |
//! | [`authenticator_data`] | flags, counter and new credential of an authenticator |
//! | [`public_key`] | COSE keys and their signatures |
//! | [`error`] | the reasons for a rejection |

pub mod authenticator_data;
mod cbor;
pub mod ceremony;
pub mod error;
pub mod public_key;

pub use ceremony::{Assertion, AssertionResponse, RegisteredKey, RegistrationResponse, RelyingParty};
pub use error::WebAuthnError;
