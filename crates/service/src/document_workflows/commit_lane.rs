//! The queue of commits. Commits that arrive within a few milliseconds are appended in one transaction, which emits one
//! notification for all of them: on PostgreSQL, notifying transactions are the limit. Each commit is checked in the
//! organization and with the visibility of its caller. Documents are locked in the order of their ids, as everywhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::document_log::DocumentCommit;
use domain::id::{ClassId, DocumentId, OrganizationId};
use domain::realtime::{Event, Room, Signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::actions::commits::{self, CommitOutcome, NewCommit};
use crate::actions::open_documents::OpenDocuments;
use crate::changes::Transactor;
use api_types::document_log::CommitView;
use api_types::event::{DocumentCommits, Envelope};
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::RequestContext;
use db::platform::{CrossTenantReason, PlatformWriteTx};

/// The minimum time between the beginnings of two transactions. A commit that arrives later than this after the last
/// transaction does not wait.
const INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of commits in a transaction.
const BATCH_MAX: usize = 256;
/// The maximum number of waiting commits.
const QUEUE_MAX: usize = 4096;
/// The maximum size of the commits in an event, in bytes. Clients fetch larger ones.
const EVENT_MAX: usize = 32 * 1024;

/// The queue of this instance.
#[derive(Debug, Clone)]
pub(super) struct CommitLane {
    queue: mpsc::Sender<QueuedCommit>,
}

#[derive(Debug)]
struct QueuedCommit {
    context: RequestContext,
    new: NewCommit,
    reply: oneshot::Sender<Result<CommitOutcome>>,
}

/// The commits of one transaction, in the order in which they are appended.
type Batch = Arc<Vec<(RequestContext, NewCommit)>>;

impl CommitLane {
    /// Starts the task that appends commits. It ends when the last clone is dropped.
    pub(super) fn start(transactor: Transactor) -> Self {
        let (queue, mut commits) = mpsc::channel::<QueuedCommit>(QUEUE_MAX);
        tokio::spawn(async move {
            let writer = CommitWriter {
                transactor,
                open: Arc::default(),
            };
            let mut next = Instant::now();
            while let Some(first) = commits.recv().await {
                sleep_until(next).await;
                next = Instant::now() + INTERVAL;
                let mut batch = vec![first];
                while batch.len() < BATCH_MAX
                    && let Ok(commit) = commits.try_recv()
                {
                    batch.push(commit);
                }
                writer.append(batch).await;
            }
        });
        Self { queue }
    }

    /// Appends a commit. Returns after its transaction is committed.
    pub(super) async fn append(&self, context: RequestContext, new: NewCommit) -> Result<CommitOutcome> {
        let (reply, outcome) = oneshot::channel();
        let queued = QueuedCommit { context, new, reply };
        self.queue.try_send(queued).map_err(|_| Error::Overloaded)?;
        outcome.await.map_err(|_| Error::NotReady)?
    }
}

struct CommitWriter {
    transactor: Transactor,
    open: Arc<Mutex<OpenDocuments>>,
}

impl CommitWriter {
    async fn append(&self, mut queued: Vec<QueuedCommit>) {
        // Stable, so that the commits of a document keep their order of arrival.
        queued.sort_by(|one, other| lock_order(one).cmp(&lock_order(other)));
        let mut replies = Vec::with_capacity(queued.len());
        let mut batch = Vec::with_capacity(queued.len());
        for QueuedCommit { context, new, reply } in queued {
            replies.push(reply);
            batch.push((context, new));
        }
        let batch: Batch = Arc::new(batch);
        match self.write(Arc::clone(&batch)).await {
            Ok(outcomes) => {
                failpoint::hit("commits.written");
                for (reply, outcome) in replies.into_iter().zip(outcomes) {
                    // The caller may be gone; the commit is stored regardless.
                    drop(reply.send(outcome));
                }
            }
            // One commit that cannot be processed must not reject the others.
            Err(Error::Internal(error)) if replies.len() > 1 => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "document commits failed, appending them one by one"
                );
                for (reply, request) in replies.into_iter().zip(batch.iter().cloned()) {
                    let outcome = self.write(Arc::new(vec![request])).await;
                    let outcome = outcome.and_then(|mut outcomes| outcomes.pop().unwrap_or(Err(Error::NotReady)));
                    drop(reply.send(outcome));
                }
            }
            Err(error) => {
                for reply in replies {
                    drop(reply.send(Err(repeatable(&error))));
                }
            }
        }
    }

    async fn write(&self, batch: Batch) -> Result<Vec<Result<CommitOutcome>>> {
        let (open, bus) = (self.open(), self.transactor.bus().clone());
        let signals: Arc<Mutex<Vec<Signal>>> = Arc::default();
        let emitted = Arc::clone(&signals);
        let act = move |tx: &mut PlatformWriteTx<'_>| {
            // A repetition after a serialization failure starts again.
            let mut open = open.clone();
            let mut outcomes = Vec::with_capacity(batch.len());
            for (context, new) in batch.iter() {
                let context = RequestContext {
                    now: clock::now(),
                    ..context.clone()
                };
                let appended = tx.write_in_tenant(context, |tx| commits::append(tx, new, &mut open));
                match appended {
                    Err(error) if !is_of_request(&error) => return Err(error),
                    outcome => outcomes.push(outcome),
                }
            }
            failpoint::hit("commits.appended");
            *signals.lock().unwrap_or_else(PoisonError::into_inner) = signals_of(&batch, &outcomes);
            Ok((outcomes, open))
        };
        let written = self
            .transactor
            .platform_write_with(CrossTenantReason::DocumentCommits, act, move |tx| {
                let signals = std::mem::take(&mut *emitted.lock().unwrap_or_else(PoisonError::into_inner));
                bus.publish_platform(tx, signals)
            });
        let (outcomes, open) = written.await?;
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
        Ok(outcomes)
    }

    fn open(&self) -> OpenDocuments {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn lock_order(queued: &QueuedCommit) -> (&OrganizationId, &DocumentId) {
    (queued.context.tenant.id(), &queued.new.document_id)
}

/// Whether an error concerns one commit only. Every other one fails the transaction.
fn is_of_request(error: &Error) -> bool {
    matches!(
        error,
        Error::Invalid(_) | Error::NotFound | Error::Domain(_) | Error::Unauthenticated
    )
}

/// Copies the error of a transaction for each of its commits. All can be sent again with the same reference.
fn repeatable(error: &Error) -> Error {
    match error {
        Error::Overloaded => Error::Overloaded,
        Error::NotReady => Error::NotReady,
        error => Error::Internal(anyhow::anyhow!("document commits failed: {error:?}")),
    }
}

/// Returns one event for each document with new commits.
fn signals_of(batch: &Batch, outcomes: &[Result<CommitOutcome>]) -> Vec<Signal> {
    let mut by_document: BTreeMap<(&OrganizationId, &DocumentId, i64), (&ClassId, Vec<&DocumentCommit>)> =
        BTreeMap::new();
    for ((context, new), outcome) in batch.iter().zip(outcomes) {
        if let Ok(CommitOutcome::Committed(committed)) = outcome
            && !committed.is_repeat
        {
            let key = (context.tenant.id(), &new.document_id, new.generation);
            let entry = by_document.entry(key).or_insert_with(|| (&committed.class, Vec::new()));
            entry.1.push(&committed.commit);
        }
    }
    by_document
        .into_iter()
        .map(|((organization, document, generation), (class, commits))| {
            let views: Vec<CommitView> = commits.iter().map(|commit| CommitView::from(*commit)).collect();
            let is_small = serde_json::to_string(&views).is_ok_and(|text| text.len() <= EVENT_MAX);
            let envelope = Envelope {
                event_id: clock::new_id(),
                at: clock::now(),
                organization_id: Some(organization.clone()),
                class_id: Some(class.clone()),
                actor: None,
            };
            let rest = DocumentCommits {
                document_id: document.clone(),
                generation,
                version: commits.last().map_or(0, |commit| commit.version),
                commits: is_small.then_some(views),
            };
            Signal::Emit {
                organization: Some(organization.clone()),
                rooms: vec![Room::Document(document.clone())],
                except: Vec::new(),
                event: Event::DocumentCommits,
                payload: envelope.with(Event::DocumentCommits, &rest),
            }
        })
        .collect()
}
