//! The maintenance mode as this instance knows it. It is a setting in the database, so that the command line can change it
//! for all instances; each instance reads it every few seconds.

use std::sync::{Arc, PoisonError, RwLock};

use domain::maintenance::Maintenance;

use common::error::Result;
use db::Store;
use db::platform::CrossTenantReason;

/// The maintenance mode of the installation; clones share it.
#[derive(Clone, Default)]
pub struct MaintenanceMode(Arc<RwLock<Option<Maintenance>>>);

impl MaintenanceMode {
    /// Reads the setting. After an error the last known mode stays.
    pub async fn refresh(&self, store: &Store) -> Result<()> {
        let read = store.platform_read(CrossTenantReason::Housekeeping, |platform| platform.maintenance());
        let read = read.await?;
        let mut mode = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if mode.is_some() != read.is_some() {
            tracing::info!(is_on = read.is_some(), "maintenance mode changed");
        }
        *mode = read;
        Ok(())
    }

    /// Returns the maintenance mode if it is on.
    pub fn current(&self) -> Option<Maintenance> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether it is on.
    pub fn is_on(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
