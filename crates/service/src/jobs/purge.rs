//! Deletes the data of a deleted organization in short transactions. The remaining rows are the progress, so an
//! interrupted purge continues where it stopped.

use super::{JobOutcome, Jobs};
use crate::actions::organizations;
use crate::changes;
use common::error::{Error, Result};
use db::platform::CrossTenantReason;
use db::platform::jobs::ClaimedJob;

pub(super) async fn run(jobs: &Jobs, held: &ClaimedJob) -> Result<JobOutcome> {
    let tenant = held.tenant.clone().ok_or(Error::NotFound)?;
    loop {
        let context = Jobs::context(tenant.clone());
        let is_over = changes::perform(&jobs.0.store, &jobs.0.bus, context, organizations::purge).await?;
        if is_over {
            tracing::info!(organization.id = %tenant.id(), "organization purge completed");
            return Ok(JobOutcome::default());
        }
    }
}

/// Enqueues purges that were given up again, so that no deleted organization stays partly undeleted.
pub(super) async fn resume(jobs: &Jobs) -> Result<()> {
    let look = jobs
        .0
        .store
        .platform_read(CrossTenantReason::Housekeeping, |platform| platform.forgotten_tenants());
    for tenant in look.await? {
        let context = Jobs::context(tenant);
        changes::perform(&jobs.0.store, &jobs.0.bus, context, organizations::resume_purge).await?;
    }
    Ok(())
}
