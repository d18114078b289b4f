//! Secrets: generated, read from files, never displayed, and rejected if they are well-known.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::SettingsError;

/// Well-known placeholder secrets.
const KNOWN_SECRETS: [&str; 6] = [
    "secret",
    "changeme",
    "change-me",
    "password",
    "default",
    "better-auth-secret",
];

/// A secret that `Debug` does not display.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret for validation.
    pub fn into_text(self) -> String {
        self.0
    }

    /// Returns the secret for signing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// A secret that can be replaced without an interruption: the current one signs and encrypts, and what the previous one
/// signed or encrypted is still accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedSecret {
    current: Secret,
    previous: Option<Secret>,
}

impl RotatedSecret {
    pub fn new(current: impl Into<String>, previous: Option<String>) -> Self {
        Self {
            current: Secret::new(current),
            previous: previous.map(Secret::new),
        }
    }

    /// Returns the secret for signing.
    pub fn current(&self) -> &Secret {
        &self.current
    }

    /// Returns the secret that the current one replaces.
    pub fn previous(&self) -> Option<&Secret> {
        self.previous.as_ref()
    }
}

impl From<&str> for RotatedSecret {
    fn from(text: &str) -> Self {
        Self::new(text, None)
    }
}

/// Generates a random secret.
pub fn generate_secret() -> String {
    better_auth::token::random_text(48)
}

/// Returns whether a secret is a placeholder or a repeated character.
pub fn is_known(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let one_character = lower.chars().all(|character| lower.starts_with(character));
    // Repeated placeholders ("secretsecretsecret…") are rejected too.
    one_character
        || KNOWN_SECRETS
            .iter()
            .any(|known| lower.replace(known, "").trim_matches(['-', '_', ' ']).is_empty())
}

/// Rejects a file that is world-readable.
pub fn check_not_world_readable(path: &Path) -> Result<(), SettingsError> {
    let metadata = std::fs::metadata(path).map_err(|error| SettingsError(format!("{}: {error}", path.display())))?;
    if metadata.permissions().mode() & 0o004 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(SettingsError(format!(
        "{path}: every user of this machine can read it, and it holds secrets; chmod 600 {path}"
    )))
}

/// Reads a secret from a file and trims whitespace.
pub fn read_secret_file(path: &Path) -> Result<String, SettingsError> {
    check_not_world_readable(path)?;
    let text = std::fs::read_to_string(path).map_err(|error| SettingsError(format!("{}: {error}", path.display())))?;
    Ok(text.trim().to_owned())
}
