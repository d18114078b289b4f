//! Runs due jobs, a few at once. Each is held by a lease that is renewed while it runs, and its outcome is stored. A
//! failed job is retried with increasing delays; a job whose lease has expired is taken over.

use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::id::OrganizationId;
use domain::job::{ATTEMPTS_MAX, RETENTION_SECONDS};

use super::{JobOutcome, Jobs};
use common::clock;
use common::error::{Error, Result};
use common::fair_queue::Permit;
use db::platform::jobs::ClaimedJob;
use db::platform::{CrossTenantReason, PlatformTx};

/// The number of jobs that one instance runs at once. An organization has at most one of them, so that a long export
/// or purge does not delay those of other organizations.
pub(super) const SLOTS_MAX: usize = 2;
/// The lease of a job in seconds, and the interval of its renewal.
const LEASE_SECONDS: i64 = 60;
const RENEWAL_INTERVAL: Duration = Duration::from_secs(15);

impl Jobs {
    /// Starts as many due jobs as there are free slots, for organizations without a running job here.
    pub async fn start_due_jobs(&self) -> Result<()> {
        // Tracked, so that closing waits for a job that was claimed and not started yet.
        self.0.running.track_future(self.claim_due_jobs()).await
    }

    async fn claim_due_jobs(&self) -> Result<()> {
        if self.0.slots.is_exhausted() || self.0.closing.is_cancelled() {
            return Ok(());
        }
        if self.0.has_abandoned_jobs.load(Ordering::Relaxed) {
            // No other process uses this database: jobs that are still leased belong to a dead one.
            self.platform_write(|platform| platform.abandon_jobs(clock::now()))
                .await?;
            self.0.has_abandoned_jobs.store(false, Ordering::Relaxed);
        }
        // Jobs of organizations with a running job are skipped; there are at most [`SLOTS_MAX`] of those.
        let asked = i64::try_from(SLOTS_MAX * 2).unwrap_or(i64::MAX);
        let store = &self.0.transactor;
        let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
            platform.due_jobs(clock::now(), asked)
        });
        for (id, organization) in due.await? {
            // Jobs without an organization are short and not limited further.
            let slot = match organization {
                Some(_) => self.0.slots.try_acquire(organization),
                None => self.0.slots.try_acquire_unlimited(organization),
            };
            let Ok(slot) = slot else { continue };
            let claim = move |platform: &mut PlatformTx<'_>| {
                let now = clock::now();
                platform.claim_job(&id, now, now.plus_seconds(LEASE_SECONDS))
            };
            if let Some(held) = self.platform_write(claim).await? {
                self.0.running.spawn(self.clone().run_job(held, slot));
            }
        }
        Ok(())
    }

    /// Runs a job while renewing its lease, and stores its outcome.
    async fn run_job(self, held: ClaimedJob, slot: Permit<Option<OrganizationId>>) {
        let id = held.job.id.clone();
        let outcome = tokio::select! {
            outcome = self.attempt(&held) => self.store_outcome(&held, outcome).await,
            // The lease was lost: the new runner starts from the beginning, and this attempt is discarded.
            outcome = self.renew_lease(&held) => outcome,
            () = self.0.closing.cancelled() => self.release(&held).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(error = format!("{error:?}"), job.id = %id, "job outcome not stored");
        }
        drop(slot);
        // Another job may be due for this slot.
        self.notify();
    }

    async fn attempt(&self, held: &ClaimedJob) -> Result<JobOutcome> {
        if held.job.attempts > ATTEMPTS_MAX {
            return Err(anyhow::anyhow!("every attempt ended with its runner").into());
        }
        // An interrupted attempt may have left its file.
        for key in held.job.files_of_earlier_attempts() {
            self.0.files.remove(&key).await?;
        }
        self.execute(held).await
    }

    /// Renews the lease until it is lost.
    async fn renew_lease(&self, held: &ClaimedJob) -> Result<()> {
        loop {
            tokio::time::sleep(RENEWAL_INTERVAL).await;
            let job = held.job.clone();
            let renew = move |platform: &mut PlatformTx<'_>| {
                let now = clock::now();
                platform.renew_job(&job, now.plus_seconds(LEASE_SECONDS), now)
            };
            match self.platform_write(renew).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!(job.id = %held.job.id, "job lease lost: taken over by another runner");
                    return Ok(());
                }
                // The lease outlasts a few failures; the next renewal shows whether it was lost.
                Err(error) => tracing::warn!(error = format!("{error:?}"), "job lease renewal failed"),
            }
        }
    }

    async fn release(&self, held: &ClaimedJob) -> Result<()> {
        let job = held.job.clone();
        self.platform_write(move |platform| platform.release_job(&job, clock::now()))
            .await
    }

    async fn store_outcome(&self, held: &ClaimedJob, outcome: Result<JobOutcome>) -> Result<()> {
        let job = held.job.clone();
        match outcome {
            Ok(outcome) => {
                let file = outcome.file.clone();
                let finish = move |platform: &mut PlatformTx<'_>| {
                    let now = clock::now();
                    let until = now.plus_seconds(RETENTION_SECONDS);
                    platform.finish_job(&job, outcome.result.as_ref(), outcome.file.as_ref(), now, until)
                };
                let is_stored = self.platform_write(finish).await?;
                if let (false, Some(file)) = (is_stored, file) {
                    self.0.files.remove(&file).await?;
                }
                Ok(())
            }
            Err(error) => self.store_failure(held, &error).await,
        }
    }

    async fn store_failure(&self, held: &ClaimedJob, error: &Error) -> Result<()> {
        let (job, reason) = (held.job.clone(), format!("{error:?}"));
        tracing::warn!(error = reason, job.id = %job.id, job.attempt = job.attempts, "job failed");
        let file = job.file_of_attempt(job.attempts);
        let write = move |platform: &mut PlatformTx<'_>| {
            let now = clock::now();
            match job.next_attempt(now) {
                Some(next) => platform.postpone_job(&job, next, &reason, now),
                None => platform.fail_job(&job, &reason, now, now.plus_seconds(RETENTION_SECONDS)),
            }
        };
        self.platform_write(write).await?;
        self.0.files.remove(&file).await
    }

    /// Deletes the outcomes that have expired.
    pub async fn purge_expired(&self) -> Result<()> {
        let store = &self.0.transactor;
        let look = store.platform_read(CrossTenantReason::Housekeeping, |platform| {
            platform.has_expired_jobs(clock::now())
        });
        if look.await? {
            self.platform_write(|platform| platform.delete_expired_jobs(clock::now()))
                .await?;
        }
        Ok(())
    }

    async fn platform_write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut PlatformTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.0
            .transactor
            .platform_write(CrossTenantReason::Housekeeping, act)
            .await
    }
}
