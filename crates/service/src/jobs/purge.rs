//! Takes away what a deleted organization had, one short unit after the other. The rows that are left say where it got to,
//! so it goes on wherever it was interrupted.

use super::{Jobs, Outcome};
use crate::actions::organizations;
use crate::changes;
use common::error::{Error, Result};
use db::platform::PlatformProof;
use db::platform::jobs::Held;

pub(super) async fn run(jobs: &Jobs, held: &Held) -> Result<Outcome> {
    let tenant = held.tenant.clone().ok_or(Error::NotFound)?;
    loop {
        let standpoint = Jobs::standpoint(tenant.clone());
        let is_over = changes::perform(&jobs.0.store, &jobs.0.bus, standpoint, organizations::purge).await?;
        if is_over {
            tracing::info!(organization.id = %tenant.id(), "nothing of a deleted organization is left");
            return Ok(Outcome::default());
        }
    }
}

/// Asks again for purges that were given up: a deleted organization must not stay half there for ever.
pub(super) async fn resume(jobs: &Jobs) -> Result<()> {
    let look = jobs
        .0
        .store
        .platform_read(PlatformProof::housekeeping(), |platform| platform.forgotten_tenants());
    for tenant in look.await? {
        let standpoint = Jobs::standpoint(tenant);
        changes::perform(&jobs.0.store, &jobs.0.bus, standpoint, organizations::resume_purge).await?;
    }
    Ok(())
}
