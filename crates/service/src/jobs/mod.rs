//! What is done beside requests and survives a restart: exports of personal data, and whatever else takes longer than a
//! caller waits. A job is a row; each instance runs a few at once and holds them by a lease, so that a runner which died
//! is followed by another. What a job does can be repeated: it may be interrupted anywhere.

pub mod mail_domains;
mod personal_data;
mod personal_export;
mod purge;
mod runner;

use std::sync::Arc;

use model::file::FileKey;
use model::job::JobKind;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use adapters::files::Files;
use adapters::mail::Outbox;
use common::clock;
use common::error::Result;
use db::platform::jobs::Held;
use db::{Standpoint, Store, Tenant};
use realtime::bus::Bus;

/// The runner of this instance; copies are the same one.
#[derive(Clone)]
pub struct Jobs(Arc<Parts>);

struct Parts {
    store: Store,
    bus: Bus,
    files: Files,
    outbox: Outbox,
    /// Rung when there is something to do; time passing is noticed without it.
    bell: Notify,
    closing: CancellationToken,
    running: TaskTracker,
}

/// What a job made.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What there is to tell about it, a JSON object.
    pub result: Option<Value>,
    /// The file it made, already kept.
    pub file: Option<FileKey>,
}

impl Jobs {
    /// Joins what jobs need and starts to run them. `is_alone` says that no other instance works on this database.
    pub fn start(store: Store, bus: Bus, files: Files, outbox: Outbox, is_alone: bool) -> Self {
        let jobs = Self(Arc::new(Parts {
            store,
            bus,
            files,
            outbox,
            bell: Notify::new(),
            closing: CancellationToken::new(),
            running: TaskTracker::new(),
        }));
        jobs.0.running.spawn(runner::run(jobs.clone(), is_alone));
        jobs
    }

    /// Says that a job was asked for; without this it begins a little later.
    pub fn ring(&self) {
        self.0.bell.notify_one();
    }

    /// Stops at the next step; what is unfinished is given back for another runner or a later start.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.running.close();
        self.0.running.wait().await;
    }

    /// Does a job. Which one is said here and nowhere else.
    async fn work(&self, held: &Held) -> Result<Outcome> {
        match held.job.kind {
            JobKind::PersonalExport => personal_export::run(self, held).await,
            JobKind::OrganizationPurge => purge::run(self, held).await,
        }
    }

    /// Where a job of an organization stands: nobody acts, and everything there is may be read.
    fn standpoint(tenant: Tenant) -> Standpoint {
        Standpoint::of_service(tenant, "groupwork", clock::now())
    }
}
