//! Bytes, kept under immutable keys: staged, then committed durably. Disk and S3 fit the same interface.

use crate::config::StorageArgs;
use crate::error::Result;

/// Where the bytes are.
#[derive(Clone)]
pub struct Files {}

impl Files {
    /// Opens the storage the settings name.
    pub async fn open(_: &StorageArgs) -> Result<Self> {
        Ok(Self {})
    }

    /// Whether bytes can be kept at this moment.
    pub async fn is_writable(&self) -> bool {
        true
    }
}
