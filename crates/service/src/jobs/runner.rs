//! Runs due jobs, a few at once. Each is held by a lease that is renewed while it runs, and its outcome is stored. A
//! failed job is retried with increasing delays; a job whose lease has expired is taken over.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::id::OrganizationId;
use domain::job::{ATTEMPTS_MAX, RETENTION_SECONDS};

use super::{JobOutcome, Jobs, purge};
use common::clock;
use common::error::{Error, Result};
use db::platform::jobs::ClaimedJob;
use db::platform::{CrossTenantReason, PlatformTx};

/// The number of jobs that one instance runs at once. An organization has at most one of them, so that a long export
/// or purge does not delay those of other organizations.
const SLOTS_MAX: usize = 2;
/// The polling interval without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The lease of a job in seconds, and the interval of its renewal.
const LEASE_SECONDS: i64 = 60;
const RENEWAL_INTERVAL: Duration = Duration::from_secs(15);
/// The interval at which expired outcomes are deleted.
const PURGE_INTERVAL: Duration = Duration::from_mins(1);

/// Runs until the service stops.
pub(super) async fn run(jobs: Jobs, is_single_instance: bool) {
    if is_single_instance {
        // No other process uses this database: jobs that are still leased belong to a dead one.
        let abandon = |platform: &mut PlatformTx<'_>| platform.abandon_jobs(clock::now());
        log_failure(
            jobs.platform_write(abandon).await,
            "jobs of the previous process not released: waiting for their leases to expire",
        );
    }
    let slots = WorkerSlots::default();
    let mut purged_at: Option<tokio::time::Instant> = None;
    loop {
        if purged_at.is_none_or(|at| at.elapsed() >= PURGE_INTERVAL) {
            log_failure(jobs.purge_expired().await, "cleanup of expired jobs failed");
            log_failure(purge::resume(&jobs).await, "resuming organization purges failed");
            purged_at = Some(tokio::time::Instant::now());
        }
        log_failure(jobs.start_due_jobs(&slots).await, "polling for due jobs failed");
        tokio::select! {
            () = jobs.0.closing.cancelled() => return,
            () = jobs.0.wake.notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

/// The organizations of the running jobs, one entry per job. Clones share the same list.
#[derive(Debug, Clone, Default)]
struct WorkerSlots(Arc<Mutex<Vec<Option<OrganizationId>>>>);

/// A slot for a running job; released on drop.
struct Slot {
    slots: WorkerSlots,
    organization: Option<OrganizationId>,
}

impl WorkerSlots {
    fn is_full(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= SLOTS_MAX
    }

    /// Acquires a slot for a job of an organization, unless all are taken or the organization has one. Jobs without
    /// an organization are short and not limited further.
    fn acquire(&self, organization: Option<OrganizationId>) -> Option<Slot> {
        let mut in_use = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if in_use.len() >= SLOTS_MAX || (organization.is_some() && in_use.contains(&organization)) {
            return None;
        }
        in_use.push(organization.clone());
        let slots = self.clone();
        Some(Slot { slots, organization })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut in_use = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = in_use
            .iter()
            .position(|organization| *organization == self.organization)
        {
            in_use.swap_remove(index);
        }
    }
}

fn log_failure(outcome: Result<()>, what: &str) {
    if let Err(error) = outcome {
        tracing::warn!(error = format!("{error:?}"), "{what}");
    }
}

impl Jobs {
    /// Starts as many due jobs as there are free slots, for organizations without a running job here.
    async fn start_due_jobs(&self, slots: &WorkerSlots) -> Result<()> {
        if slots.is_full() {
            return Ok(());
        }
        // Jobs of organizations with a running job are skipped; there are at most [`SLOTS_MAX`] of those.
        let asked = i64::try_from(SLOTS_MAX * 2).unwrap_or(i64::MAX);
        let store = &self.0.store;
        let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
            platform.due_jobs(clock::now(), asked)
        });
        for (id, organization) in due.await? {
            let Some(slot) = slots.acquire(organization) else {
                continue;
            };
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
    async fn run_job(self, held: ClaimedJob, slot: Slot) {
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

    /// Deletes expired outcomes.
    async fn purge_expired(&self) -> Result<()> {
        let store = &self.0.store;
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
        self.0.store.platform_write(CrossTenantReason::Housekeeping, act).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenant_gets_one_worker_slot_at_a_time() {
        let (north, south) = (Some(OrganizationId::new("north")), Some(OrganizationId::new("south")));
        let slots = WorkerSlots::default();
        let first = slots.acquire(north.clone());
        assert!(first.is_some());
        assert!(slots.acquire(north.clone()).is_none(), "it has one");
        let second = slots.acquire(south.clone());
        assert!(second.is_some() && slots.is_full());
        assert!(slots.acquire(None).is_none(), "there are two");
        drop(first);
        assert!(slots.acquire(south).is_none());
        assert!(slots.acquire(north).is_some());
    }
}
