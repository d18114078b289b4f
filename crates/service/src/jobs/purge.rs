//! Deletes the data of a deleted organization in short transactions. The remaining rows are the progress, so an
//! interrupted purge continues where it stopped.

use super::{JobOutcome, Jobs};
use crate::actions::organizations;
use common::error::{Error, Result};
use common::failpoint;
use db::platform::CrossTenantReason;
use db::platform::jobs::ClaimedJob;

pub(super) async fn run(jobs: &Jobs, held: &ClaimedJob) -> Result<JobOutcome> {
    let tenant = held.tenant.clone().ok_or(Error::NotFound)?;
    loop {
        let context = Jobs::context(tenant.clone());
        let is_over = jobs.0.transactor.write(context, organizations::purge).await?;
        if is_over {
            tracing::info!(organization.id = %tenant.id(), "organization purge completed");
            return Ok(JobOutcome::default());
        }
        failpoint::hit("deletion.purged");
    }
}

impl Jobs {
    /// Enqueues purges that were given up again, so that no deleted organization stays partly undeleted.
    pub async fn resume_purges(&self) -> Result<()> {
        let transactor = &self.0.transactor;
        let look = transactor.platform_read(CrossTenantReason::Housekeeping, |platform| platform.forgotten_tenants());
        for tenant in look.await? {
            transactor
                .write(Self::context(tenant), organizations::resume_purge)
                .await?;
        }
        Ok(())
    }
}
