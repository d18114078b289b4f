//! The wire format of better-auth 1.7, as used by the official client and imported accounts.
//!
//! All functions depend only on their arguments: no clock, no database, no web framework. The exceptions are new tokens
//! and salts, which come from the operating system's random number generator.
//!
//! | Module | Contents |
//! |---|---|
//! | [`cookie`] | names, the `Cookie` header, signatures |
//! | [`uri_component`] | percent-encoding of cookie values |
//! | [`set_cookie`] | `Set-Cookie` headers: remembered or not, chunked, cleared |
//! | [`cache`] | the `session_data` value, valid for five minutes |
//! | [`session`] | lifetime and renewal of sessions |
//! | [`object`] | session, user, organization and member as JSON |
//! | [`timestamp`] | milliseconds and their JSON representation |
//! | [`password`] | hashing, verification of imported and own hashes, rules for new passwords |
//! | [`origin`] | origin checks and redirect targets |
//! | [`trusted_origin`] | the trusted origin and the URLs that belong to it |
//! | [`email`] | syntax of email addresses |
//! | [`token`] | random ids and tokens |
//! | [`totp`] | codes of authenticator apps, recovery codes |
//! | [`schema`] | validation of JSON bodies with the library's messages |
//! | [`error`] | all errors with status, code and message |

pub mod cache;
pub mod cookie;
pub mod email;
pub mod error;
mod new_password;
pub mod object;
pub mod origin;
pub mod password;
mod predictable;
pub mod schema;
pub mod session;
pub mod set_cookie;
mod signature;
pub mod timestamp;
pub mod token;
pub mod totp;
pub mod trusted_origin;
pub mod uri_component;
