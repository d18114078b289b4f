//! Secrets: used, never shown; made at random, read from a file, and refused when everybody knows them.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Refused;

/// Secrets that are in every manual and so protect nothing.
const KNOWN_SECRETS: [&str; 6] = [
    "secret",
    "changeme",
    "change-me",
    "password",
    "default",
    "better-auth-secret",
];

/// A secret: it can be used, not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for whoever checks it.
    pub fn into_text(self) -> String {
        self.0
    }

    /// The secret itself, for signing.
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

/// A secret nobody has had before.
pub fn fresh_secret() -> String {
    better_auth::token::random_text(48)
}

/// Whether a secret is in every manual, or is one character again and again.
pub fn is_known(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let one_character = lower.chars().all(|character| lower.starts_with(character));
    // "secretsecretsecret…" is as well known as "secret".
    one_character
        || KNOWN_SECRETS
            .iter()
            .any(|known| lower.replace(known, "").trim_matches(['-', '_', ' ']).is_empty())
}

/// Refuses a file that every user of this machine can read.
pub fn refuse_world_readable(path: &Path) -> Result<(), Refused> {
    let metadata = std::fs::metadata(path).map_err(|error| Refused(format!("{}: {error}", path.display())))?;
    if metadata.permissions().mode() & 0o004 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Refused(format!(
        "{path}: every user of this machine can read it, and it holds secrets; chmod 600 {path}"
    )))
}

/// Reads a secret from a file, without the white space around it.
pub fn read_secret_file(path: &Path) -> Result<String, Refused> {
    refuse_world_readable(path)?;
    let text = std::fs::read_to_string(path).map_err(|error| Refused(format!("{}: {error}", path.display())))?;
    Ok(text.trim().to_owned())
}
