//! The external editing server: tokens both ways, the editor configuration, notices, commands, conversion.

use crate::config::Config;
use crate::error::Result;

/// The document server as this service knows it.
#[derive(Clone)]
pub struct DocumentServer {}

impl DocumentServer {
    /// Takes its addresses and secret from the settings.
    pub fn new(_: &Config, _: &str) -> Result<Self> {
        Ok(Self {})
    }

    /// Whether it says it is healthy; nothing when none is configured.
    pub async fn is_healthy(&self) -> Option<bool> {
        None
    }
}
