//! Runs due jobs, a few at once. Each is held by a lease that is renewed while it runs, and its outcome is stored. A
//! failed job is retried with increasing delays; a job whose lease has expired is taken over.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::id::OrganizationId;
use model::job::{ATTEMPTS_MAX, KEPT_SECONDS};

use super::{Jobs, Outcome, purge};
use common::clock;
use common::error::{Error, Result};
use db::platform::jobs::Held;
use db::platform::{Platform, PlatformProof};

/// The number of jobs that one instance runs at once. An organization has at most one of them, so that a long export
/// or purge does not delay those of other organizations.
const AT_ONCE: usize = 2;
/// The polling interval without a notification.
const PAUSE: Duration = Duration::from_secs(1);
/// The lease of a job in seconds, and the interval of its renewal.
const LEASE_SECONDS: i64 = 60;
const RENEWAL: Duration = Duration::from_secs(15);
/// The interval at which expired outcomes are deleted.
const TIDYING: Duration = Duration::from_mins(1);

/// Runs until the service stops.
pub(super) async fn run(jobs: Jobs, is_alone: bool) {
    if is_alone {
        // No other process uses this database: jobs that are still leased belong to a dead one.
        let abandon = |platform: &mut Platform<'_>| platform.abandon_jobs(clock::now());
        note(
            jobs.platform_write(abandon).await,
            "jobs of the previous process not released: waiting for their leases to expire",
        );
    }
    let hands = Hands::default();
    let mut tidied: Option<tokio::time::Instant> = None;
    loop {
        if tidied.is_none_or(|at| at.elapsed() >= TIDYING) {
            note(jobs.tidy().await, "cleanup of expired jobs failed");
            note(purge::resume(&jobs).await, "resuming organization purges failed");
            tidied = Some(tokio::time::Instant::now());
        }
        note(jobs.take_due(&hands).await, "polling for due jobs failed");
        tokio::select! {
            () = jobs.0.closing.cancelled() => return,
            () = jobs.0.bell.notified() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// The organizations of the running jobs, one entry per job. Clones share the same list.
#[derive(Debug, Clone, Default)]
struct Hands(Arc<Mutex<Vec<Option<OrganizationId>>>>);

/// A slot for a running job; released on drop.
struct Hand {
    hands: Hands,
    organization: Option<OrganizationId>,
}

impl Hands {
    fn are_busy(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= AT_ONCE
    }

    /// Acquires a slot for a job of an organization, unless all are taken or the organization has one. Jobs without
    /// an organization are short and not limited further.
    fn take(&self, organization: Option<OrganizationId>) -> Option<Hand> {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.len() >= AT_ONCE || (organization.is_some() && busy.contains(&organization)) {
            return None;
        }
        busy.push(organization.clone());
        let hands = self.clone();
        Some(Hand { hands, organization })
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        let mut busy = self.hands.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = busy.iter().position(|organization| *organization == self.organization) {
            busy.swap_remove(place);
        }
    }
}

fn note(outcome: Result<()>, what: &str) {
    if let Err(error) = outcome {
        tracing::warn!(error = format!("{error:?}"), "{what}");
    }
}

impl Jobs {
    /// Starts as many due jobs as there are free slots, for organizations without a running job here.
    async fn take_due(&self, hands: &Hands) -> Result<()> {
        if hands.are_busy() {
            return Ok(());
        }
        // Jobs of organizations with a running job are skipped; there are at most [`AT_ONCE`] of those.
        let asked = i64::try_from(AT_ONCE * 2).unwrap_or(i64::MAX);
        let store = &self.0.store;
        let due = store.platform_read(PlatformProof::housekeeping(), move |platform| {
            platform.due_jobs(clock::now(), asked)
        });
        for (id, organization) in due.await? {
            let Some(hand) = hands.take(organization) else {
                continue;
            };
            let claim = move |platform: &mut Platform<'_>| {
                let now = clock::now();
                platform.claim_job(&id, now, now.plus_seconds(LEASE_SECONDS))
            };
            if let Some(held) = self.platform_write(claim).await? {
                self.0.running.spawn(self.clone().hold(held, hand));
            }
        }
        Ok(())
    }

    /// Runs a job while renewing its lease, and stores its outcome.
    async fn hold(self, held: Held, hand: Hand) {
        let id = held.job.id.clone();
        let outcome = tokio::select! {
            outcome = self.attempt(&held) => self.end(&held, outcome).await,
            // The lease was lost: the new runner starts from the beginning, and this attempt is discarded.
            outcome = self.keep_holding(&held) => outcome,
            () = self.0.closing.cancelled() => self.give_back(&held).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(error = format!("{error:?}"), job.id = %id, "job outcome not stored");
        }
        drop(hand);
        // Another job may be due for this slot.
        self.ring();
    }

    async fn attempt(&self, held: &Held) -> Result<Outcome> {
        if held.job.attempts > ATTEMPTS_MAX {
            return Err(anyhow::anyhow!("every attempt ended with its runner").into());
        }
        // An interrupted attempt may have left its file.
        for key in held.job.files_of_earlier_attempts() {
            self.0.files.remove(&key).await?;
        }
        self.work(held).await
    }

    /// Renews the lease until it is lost.
    async fn keep_holding(&self, held: &Held) -> Result<()> {
        loop {
            tokio::time::sleep(RENEWAL).await;
            let job = held.job.clone();
            let renew = move |platform: &mut Platform<'_>| {
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

    async fn give_back(&self, held: &Held) -> Result<()> {
        let job = held.job.clone();
        self.platform_write(move |platform| platform.release_job(&job, clock::now()))
            .await
    }

    async fn end(&self, held: &Held, outcome: Result<Outcome>) -> Result<()> {
        let job = held.job.clone();
        match outcome {
            Ok(outcome) => {
                let file = outcome.file.clone();
                let finish = move |platform: &mut Platform<'_>| {
                    let now = clock::now();
                    let until = now.plus_seconds(KEPT_SECONDS);
                    platform.finish_job(&job, outcome.result.as_ref(), outcome.file.as_ref(), now, until)
                };
                let counts = self.platform_write(finish).await?;
                if let (false, Some(file)) = (counts, file) {
                    self.0.files.remove(&file).await?;
                }
                Ok(())
            }
            Err(error) => self.failed(held, &error).await,
        }
    }

    async fn failed(&self, held: &Held, error: &Error) -> Result<()> {
        let (job, why) = (held.job.clone(), format!("{error:?}"));
        tracing::warn!(error = why, job.id = %job.id, job.attempt = job.attempts, "job failed");
        let file = job.file_of_attempt(job.attempts);
        let write = move |platform: &mut Platform<'_>| {
            let now = clock::now();
            match job.next_attempt(now) {
                Some(next) => platform.postpone_job(&job, next, &why, now),
                None => platform.fail_job(&job, &why, now, now.plus_seconds(KEPT_SECONDS)),
            }
        };
        self.platform_write(write).await?;
        self.0.files.remove(&file).await
    }

    /// Deletes expired outcomes.
    async fn tidy(&self) -> Result<()> {
        let store = &self.0.store;
        let look = store.platform_read(PlatformProof::housekeeping(), |platform| {
            platform.has_expired_jobs(clock::now())
        });
        if look.await? {
            self.platform_write(|platform| platform.drop_expired_jobs(clock::now()))
                .await?;
        }
        Ok(())
    }

    async fn platform_write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut Platform<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.0.store.platform_write(PlatformProof::housekeeping(), act).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organization_has_one_hand_and_another_the_next() {
        let (north, south) = (Some(OrganizationId::new("north")), Some(OrganizationId::new("south")));
        let hands = Hands::default();
        let first = hands.take(north.clone());
        assert!(first.is_some());
        assert!(hands.take(north.clone()).is_none(), "it has one");
        let second = hands.take(south.clone());
        assert!(second.is_some() && hands.are_busy());
        assert!(hands.take(None).is_none(), "there are two");
        drop(first);
        assert!(hands.take(south).is_none());
        assert!(hands.take(north).is_some());
    }
}
