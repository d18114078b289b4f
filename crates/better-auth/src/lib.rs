//! The wire format of better-auth 1.7, as the official client and imported accounts know it.
//!
//! Everything here is a function of its arguments: no clock, no store, no web framework. Only fresh
//! tokens and salts come from outside, from the operating system's generator.
//!
//! | Module | What it knows |
//! |---|---|
//! | [`cookie`] | names, the `Cookie` header, signatures |
//! | [`uri_component`] | the escapes inside cookie values |
//! | [`set_cookie`] | the `Set-Cookie` lines, remembered or not, in chunks, clearing |
//! | [`cache`] | the five-minute `session_data` value |
//! | [`session`] | how long a session lives and when it is renewed |
//! | [`object`] | session, user, organization and member as JSON |
//! | [`timestamp`] | milliseconds, and how they look in JSON |
//! | [`password`] | hashing, verifying imported and own hashes, which may be chosen |
//! | [`origin`] | which page may send a request or be sent to |
//! | [`trusted_origin`] | the one trusted origin and the addresses on it |
//! | [`email`] | what counts as an e-mail address |
//! | [`token`] | random ids and tokens |
//! | [`schema`] | reading JSON bodies, with the library's wording of what is wrong |
//! | [`error`] | every refusal with its status, code and message |

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
pub mod trusted_origin;
pub mod uri_component;
