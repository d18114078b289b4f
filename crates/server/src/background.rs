//! The periodic work of an instance, one row per task: name, interval, what it needs and what a round does. Work that
//! several instances share is divided by leases and claims in the database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adapters::blob_store::BlobStore;
use adapters::dns::Dns;
use adapters::mailer::Mailer;
use adapters::onlyoffice::DocumentServer;
use auth::maintenance::MaintenanceMode;
use backup::{erasure_journal, ownership};
use common::clock;
use common::scheduler::Task;
use realtime::RealtimeServer;
use realtime::timeouts::RealtimeTimeouts;
use service::changes::Transactor;
use service::document_workflows::DocumentWorkflows;
use service::jobs::{
    Jobs, email_delivery, file_removal, idempotency_keys, mail_domains, old_messages, orphaned_files, retention,
    roster_run, storage_usage,
};

/// What the tasks work with.
pub struct BackgroundWork {
    pub transactor: Transactor,
    pub files: BlobStore,
    pub mail: Mailer,
    pub maintenance: MaintenanceMode,
    pub dns: Dns,
    pub jobs: Jobs,
    pub realtime: RealtimeServer,
    pub realtime_timeouts: RealtimeTimeouts,
    /// Whether events are sent through the database, because there can be several instances.
    pub has_event_outbox: bool,
    pub document_server: DocumentServer,
    pub document_workflows: DocumentWorkflows,
    /// The name of this instance among those on the same database.
    pub instance: String,
    pub data_dir: PathBuf,
}

impl BackgroundWork {
    /// The tasks. Each interval is the pause between two rounds.
    pub fn tasks(self) -> Vec<Task> {
        let every = Duration::from_secs;
        let minutes = Duration::from_mins;
        let work = Arc::new(self);
        let mut tasks = vec![
            Task::new("jobs", every(1), work.clone(), |work| async move {
                work.jobs.start_due_jobs().await
            })
            .first_after(Duration::ZERO)
            .woken_by(work.jobs.wake()),
            Task::new("expired jobs", minutes(1), work.clone(), |work| async move {
                work.jobs.purge_expired().await
            })
            .first_after(Duration::ZERO),
            Task::new("interrupted purges", minutes(1), work.clone(), |work| async move {
                work.jobs.resume_purges().await
            })
            .first_after(Duration::ZERO),
            Task::new("email delivery", every(1), work.clone(), |work| async move {
                email_delivery::deliver_batch(&work.transactor, &work.mail).await
            })
            .first_after(Duration::ZERO)
            .backing_off_to(minutes(1)),
            Task::new("old emails", minutes(10), work.clone(), |work| async move {
                work.mail.outbox().delete_expired(clock::now()).await.map(drop)
            }),
            Task::new("file removal", every(2), work.clone(), |work| async move {
                file_removal::remove_batch(&work.transactor, &work.files).await
            })
            .first_after(Duration::ZERO),
            Task::new(
                "orphaned files",
                Duration::from_hours(24),
                work.clone(),
                |work| async move { orphaned_files::clean_up(&work.transactor, &work.files).await },
            )
            .first_after(minutes(5)),
            Task::new("storage usage", minutes(1), work.clone(), |work| async move {
                storage_usage::count_batch(&work.transactor, &work.files).await
            })
            .first_after(every(30)),
            Task::new("maintenance mode", every(2), work.clone(), |work| async move {
                work.maintenance.refresh(&work.transactor).await
            }),
            Task::new("old messages", minutes(10), work.clone(), |work| async move {
                old_messages::sweep(&work.transactor, clock::now()).await
            }),
            Task::new("idempotency keys", minutes(10), work.clone(), |work| async move {
                idempotency_keys::sweep(&work.transactor, clock::now()).await
            }),
            Task::new("sign-in records", minutes(10), work.clone(), |work| async move {
                retention::sweep(&work.transactor, clock::now()).await
            }),
            Task::new("email domains", minutes(10), work.clone(), |work| async move {
                mail_domains::check_due(&work.transactor, &work.dns, clock::now()).await
            }),
            Task::new("rosters", minutes(1), work.clone(), |work| async move {
                roster_run::start_due(&work.transactor, clock::now()).await
            }),
            Task::new("erasure journal", minutes(1), work.clone(), |work| async move {
                Ok(erasure_journal::append(&work.transactor, &work.data_dir).await?)
            })
            .first_after(Duration::ZERO),
            Task::new("lesson boards", every(1), work.clone(), |work| async move {
                work.realtime.publish_boards().await
            }),
            Task::new(
                "socket sessions",
                work.realtime_timeouts.reconcile_interval(),
                work.clone(),
                |work| async move { work.realtime.reconcile_round().await },
            ),
        ];
        if work.has_event_outbox {
            tasks.push(Task::new("event outbox", minutes(1), work.clone(), |work| async move {
                work.realtime.prune_outbox().await
            }));
        }
        if work.files.is_suspended() {
            tasks.push(Task::new("file storage", every(2), work.clone(), |work| async move {
                ownership::resume(&work.transactor, &work.files).await
            }));
        }
        let sweep = work.document_server.timeouts().sweep();
        tasks.extend([
            Task::new("document logs", every(15), work.clone(), |work| async move {
                work.document_workflows.save_due_logs().await
            })
            .first_after(Duration::ZERO),
            Task::new("old commits", minutes(1), work.clone(), |work| async move {
                work.document_workflows.pack_logs().await
            }),
            // The first round completes what a restart interrupted.
            Task::new("document sweep", sweep, work, |work| async move {
                work.document_workflows.reconcile(&work.instance).await
            })
            .first_after(Duration::ZERO),
        ]);
        tasks
    }
}
