//! Storage in memory, for temporary services.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use domain::file::FileKey;

use super::missing_bytes;
use common::error::Result;

/// Files by key.
#[derive(Clone, Default)]
pub struct Memory {
    files: Arc<Mutex<HashMap<FileKey, Bytes>>>,
}

impl Memory {
    pub(super) fn insert(&self, key: &FileKey, bytes: Bytes) {
        self.files().insert(key.clone(), bytes);
    }

    pub(super) fn get(&self, key: &FileKey) -> Result<Bytes> {
        let found = self.files().get(key).cloned();
        found.ok_or_else(|| missing_bytes(key))
    }

    pub(super) fn remove(&self, key: &FileKey) {
        self.files().remove(key);
    }

    fn files(&self) -> MutexGuard<'_, HashMap<FileKey, Bytes>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
