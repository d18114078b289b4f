//! The event bus: delivers signals of a committed transaction to the sockets. On SQLite they are sent directly to the
//! publisher task after the commit; on PostgreSQL they are rows of `event_outbox`, written in the same transaction and
//! received by every instance.

use domain::id::UserId;
use domain::realtime::Signal;
use tokio::sync::mpsc;

use super::timeouts::RealtimeTimeouts;
use super::{RealtimeServer, listener};
use common::error::Result;
use db::platform::PlatformTx;
use db::{AfterCommit, Database, Tenant, WriteTx};

/// The path from a transaction to the sockets.
#[derive(Clone)]
pub struct EventBus {
    transport: Transport,
    revocations: mpsc::UnboundedSender<AccessRevoked>,
}

/// A change after which editors may have to be closed.
#[derive(Debug)]
pub enum AccessRevoked {
    /// Users whose rooms are computed again after a change in an organization. They may have documents open that they
    /// may no longer see.
    Users {
        /// The organization of the change.
        tenant: Tenant,
        users: Vec<UserId>,
    },
    /// Documents were deleted; rows in the database name them.
    DocumentsDeleted,
}

#[derive(Clone)]
enum Transport {
    /// One instance: signals are sent to its own task after the commit.
    InProcess(mpsc::UnboundedSender<Vec<Signal>>),
    /// Several instances: each one, the sender included, is notified of the row.
    Outbox,
}

impl EventBus {
    /// Starts the tasks that deliver signals. Returns the receiver of lost access, which contains that of transactions
    /// of this instance only.
    pub fn start(
        database: &Database,
        realtime: &RealtimeServer,
        timeouts: RealtimeTimeouts,
    ) -> (Self, mpsc::UnboundedReceiver<AccessRevoked>) {
        let (revocations, receiver) = mpsc::unbounded_channel();
        let transport = match database {
            Database::Sqlite(_) => {
                let (sender, mut transactions) = mpsc::unbounded_channel();
                let realtime = realtime.clone();
                realtime.set_listening(true);
                tokio::spawn(async move {
                    while let Some(signals) = transactions.recv().await {
                        realtime.dispatch(signals).await;
                    }
                });
                Transport::InProcess(sender)
            }
            Database::Postgres(url) => {
                let peer_messages = realtime.open_peer_queue();
                tokio::spawn(listener::listen(url.clone(), realtime.clone(), peer_messages, timeouts));
                Transport::Outbox
            }
        };
        (Self { transport, revocations }, receiver)
    }

    /// The bus of a process without sockets. Other instances are notified where there can be any.
    pub fn without_sockets(database: &Database) -> Self {
        let transport = match database {
            Database::Sqlite(_) => Transport::InProcess(mpsc::unbounded_channel().0),
            Database::Postgres(_) => Transport::Outbox,
        };
        let revocations = mpsc::unbounded_channel().0;
        Self { transport, revocations }
    }

    /// Queues the signals of a transaction in one organization. They are published in this order after the commit.
    pub fn publish(&self, tx: &mut WriteTx<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        let users: Vec<UserId> = signals.iter().flat_map(Signal::affected_users).cloned().collect();
        let tenant = tx.context().tenant.clone();
        let published = self.publish_with(signals, |signals| tx.insert_signals(signals))?;
        if users.is_empty() {
            return Ok(published);
        }
        let revocations = self.revocations.clone();
        Ok(Box::new(move || {
            published();
            // Without a document server there is no receiver.
            drop(revocations.send(AccessRevoked::Users { tenant, users }));
        }))
    }

    /// Wraps a commit hook: the editors of documents deleted by the transaction are closed afterwards.
    pub fn close_editors_after(&self, after: AfterCommit) -> AfterCommit {
        let revocations = self.revocations.clone();
        Box::new(move || {
            after();
            drop(revocations.send(AccessRevoked::DocumentsDeleted));
        })
    }

    /// Like [`publish`](Self::publish), for a platform transaction, which belongs to no organization.
    pub fn publish_platform(&self, platform: &mut PlatformTx<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        self.publish_with(signals, |signals| platform.insert_signals(signals))
    }

    fn publish_with(&self, signals: Vec<Signal>, write: impl FnOnce(&[Signal]) -> Result<()>) -> Result<AfterCommit> {
        if signals.is_empty() {
            return Ok(Box::new(|| ()));
        }
        match &self.transport {
            Transport::InProcess(sender) => {
                let sender = sender.clone();
                Ok(Box::new(move || drop(sender.send(signals))))
            }
            Transport::Outbox => {
                write(&signals)?;
                Ok(Box::new(|| ()))
            }
        }
    }
}
