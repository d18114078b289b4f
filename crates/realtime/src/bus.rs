//! The event bus: delivers signals of a committed transaction to the sockets. On SQLite they are sent directly to the
//! publisher task after the commit; on PostgreSQL they are rows of `event_outbox`, written in the same transaction and
//! received by every instance.

use model::id::UserId;
use model::news::Signal;
use tokio::sync::mpsc;

use super::timeouts::RealtimeTimeouts;
use super::{Live, listener};
use common::error::Result;
use db::platform::Platform;
use db::{AfterCommit, Database, Tenant, Work};

/// The path from a transaction to the sockets.
#[derive(Clone)]
pub struct Bus {
    way: Way,
    departures: mpsc::UnboundedSender<Departure>,
}

/// A change after which editors may have to be closed.
#[derive(Debug)]
pub enum Departure {
    /// Users whose rooms are computed again after a change in an organization. They may have documents open that they
    /// may no longer see.
    People {
        /// The organization of the change.
        tenant: Tenant,
        people: Vec<UserId>,
    },
    /// Documents were deleted; rows in the database name them.
    DocumentsDeleted,
}

#[derive(Clone)]
enum Way {
    /// One instance: signals are sent to its own task after the commit.
    Straight(mpsc::UnboundedSender<Vec<Signal>>),
    /// Several instances: each one, the sender included, is notified of the row.
    Outbox,
}

impl Bus {
    /// Starts the tasks that deliver signals and reconcile after missed ones. Returns the receiver of departures, which
    /// contains those of transactions of this instance only.
    pub fn start(
        database: &Database,
        live: &Live,
        timeouts: RealtimeTimeouts,
    ) -> (Self, mpsc::UnboundedReceiver<Departure>) {
        let (departures, told) = mpsc::unbounded_channel();
        tokio::spawn(live.clone().reconcile_periodically(timeouts.reconcile_interval()));
        tokio::spawn(live.clone().publish_boards_periodically());
        let way = match database {
            Database::Sqlite(_) => {
                let (sender, mut units) = mpsc::unbounded_channel();
                let live = live.clone();
                tokio::spawn(async move {
                    while let Some(signals) = units.recv().await {
                        live.dispatch(signals).await;
                    }
                });
                Way::Straight(sender)
            }
            Database::Postgres(url) => {
                let words = live.open_peer_queue();
                tokio::spawn(listener::listen(url.clone(), live.clone(), words, timeouts));
                tokio::spawn(listener::keep_pruning(live.clone()));
                Way::Outbox
            }
        };
        (Self { way, departures }, told)
    }

    /// The bus of a process without sockets. Other instances are notified where there can be any.
    pub fn without_sockets(database: &Database) -> Self {
        let way = match database {
            Database::Sqlite(_) => Way::Straight(mpsc::unbounded_channel().0),
            Database::Postgres(_) => Way::Outbox,
        };
        let departures = mpsc::unbounded_channel().0;
        Self { way, departures }
    }

    /// Queues the signals of a transaction in one organization. They are published in this order after the commit.
    pub fn carry(&self, work: &mut Work<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        let people: Vec<UserId> = signals.iter().flat_map(Signal::movers).cloned().collect();
        let tenant = work.standpoint().tenant.clone();
        let carried = self.carry_with(signals, |signals| work.insert_signals(signals))?;
        if people.is_empty() {
            return Ok(carried);
        }
        let departures = self.departures.clone();
        Ok(Box::new(move || {
            carried();
            // Without a document server there is no receiver.
            drop(departures.send(Departure::People { tenant, people }));
        }))
    }

    /// Wraps a commit hook: the editors of documents deleted by the transaction are closed afterwards.
    pub fn then_close_editors(&self, after: AfterCommit) -> AfterCommit {
        let departures = self.departures.clone();
        Box::new(move || {
            after();
            drop(departures.send(Departure::DocumentsDeleted));
        })
    }

    /// Like [`carry`](Self::carry), for a platform transaction, which belongs to no organization.
    pub fn carry_platform(&self, platform: &mut Platform<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        self.carry_with(signals, |signals| platform.insert_signals(signals))
    }

    fn carry_with(&self, signals: Vec<Signal>, write: impl FnOnce(&[Signal]) -> Result<()>) -> Result<AfterCommit> {
        if signals.is_empty() {
            return Ok(Box::new(|| ()));
        }
        match &self.way {
            Way::Straight(sender) => {
                let sender = sender.clone();
                Ok(Box::new(move || drop(sender.send(signals))))
            }
            Way::Outbox => {
                write(&signals)?;
                Ok(Box::new(|| ()))
            }
        }
    }
}
