//! Background jobs that survive a restart: exports of personal data and other work that takes longer than a request.
//! A job is a row; each instance runs a few at once and holds a lease on each, so that another runner takes over when
//! one dies. Jobs are idempotent, because they may be interrupted at any point.

pub mod email_delivery;
pub mod file_removal;
pub mod idempotency_keys;
pub mod mail_domains;
pub mod old_messages;
pub mod orphaned_files;
mod personal_data;
mod personal_export;
mod purge;
pub mod retention;
pub mod roster_run;
mod runner;
pub mod storage_usage;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::file::FileKey;
use domain::id::OrganizationId;
use domain::job::JobKind;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::Transactor;
use crate::roster::Rosters;
use adapters::blob_store::BlobStore;
use adapters::mailer::{Mailer, OutboxFolder};
use common::clock;
use common::error::Result;
use common::fair_queue::FairSemaphore;
use db::platform::jobs::ClaimedJob;
use db::{RequestContext, Tenant};

/// The job runner of this instance. Clones share the same runner.
#[derive(Clone)]
pub struct Jobs(Arc<JobsInner>);

struct JobsInner {
    transactor: Transactor,
    files: BlobStore,
    outbox: OutboxFolder,
    mail: Mailer,
    rosters: Rosters,
    /// Notified when a job is enqueued; due times are found by polling.
    wake: Arc<Notify>,
    /// Whether jobs of the previous process may still be leased.
    has_abandoned_jobs: AtomicBool,
    slots: FairSemaphore<Option<OrganizationId>>,
    closing: CancellationToken,
    running: TaskTracker,
}

/// The outcome of a job.
#[derive(Debug, Clone, Default)]
pub struct JobOutcome {
    /// The result as a JSON object, if there is one.
    pub result: Option<Value>,
    /// The stored file that the job produced.
    pub file: Option<FileKey>,
}

impl Jobs {
    /// Creates the runner. `is_single_instance` means that no other instance uses this database.
    pub fn new(
        transactor: Transactor,
        files: BlobStore,
        (mail, rosters): (Mailer, Rosters),
        is_single_instance: bool,
    ) -> Self {
        Self(Arc::new(JobsInner {
            transactor,
            files,
            outbox: mail.outbox().clone(),
            mail,
            rosters,
            wake: Arc::default(),
            has_abandoned_jobs: AtomicBool::new(is_single_instance),
            slots: FairSemaphore::new(runner::SLOTS_MAX, 1),
            closing: CancellationToken::new(),
            running: TaskTracker::new(),
        }))
    }

    /// Notifies the runner about a new job; without this it starts at the next poll.
    pub fn notify(&self) {
        self.0.wake.notify_one();
    }

    /// What [`notify`](Self::notify) notifies.
    pub fn wake(&self) -> Arc<Notify> {
        Arc::clone(&self.0.wake)
    }

    /// Stops the runner. Unfinished jobs are released for another runner or a later start.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.running.close();
        self.0.running.wait().await;
    }

    /// Runs a job; the only dispatch on its kind.
    async fn execute(&self, held: &ClaimedJob) -> Result<JobOutcome> {
        match held.job.kind {
            JobKind::PersonalExport => personal_export::run(self, held).await,
            JobKind::OrganizationPurge => purge::run(self, held).await,
            JobKind::RosterRun => roster_run::run(self, held).await,
        }
    }

    /// Returns the context of a job in an organization: no acting user, read access to everything.
    fn context(tenant: Tenant) -> RequestContext {
        RequestContext::for_service(tenant, "groupwork", clock::now())
    }
}
