//! Types and checks that the settings of several crates share: secrets, addresses, and the refusal of a setting.

pub mod address;
pub mod secret;

pub use self::secret::{RotatedSecret, Secret};

/// Reason why the service refuses to start, printed as one line on stderr.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SettingsError(pub String);
