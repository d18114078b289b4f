//! Carries signals from the unit of work to the sockets: on SQLite straight to the publisher task after the commit, on
//! PostgreSQL as a row of `event_outbox` in the same transaction, heard by every instance.

use model::id::UserId;
use model::news::Signal;
use tokio::sync::mpsc;

use super::watch::Watch;
use super::{Live, listener};
use common::error::Result;
use db::platform::Platform;
use db::{AfterCommit, Database, Tenant, Work};

/// The way from a unit of work to the sockets.
#[derive(Clone)]
pub struct Bus {
    way: Way,
    departures: mpsc::UnboundedSender<Departure>,
}

/// A change after which editors may have to be closed.
#[derive(Debug)]
pub enum Departure {
    /// People whose rooms are computed again after a change in a school: they may have a document open that they do not
    /// see any more.
    People {
        /// The school.
        tenant: Tenant,
        /// The people.
        people: Vec<UserId>,
    },
    /// Documents were deleted; the rows name them.
    DocumentsDeleted,
}

#[derive(Clone)]
enum Way {
    /// One instance: it tells itself, after the commit.
    Straight(mpsc::UnboundedSender<Vec<Signal>>),
    /// Several instances: each hears of the row, the sender too.
    Outbox,
}

impl Bus {
    /// Starts the tasks that carry out what is told and sweep up what was missed.
    /// Answers where departures are told; this instance alone hears those of its own units.
    pub fn start(database: &Database, live: &Live, watch: Watch) -> (Self, mpsc::UnboundedReceiver<Departure>) {
        let (departures, told) = mpsc::unbounded_channel();
        tokio::spawn(live.clone().keep_sweeping(watch.sweep()));
        tokio::spawn(live.clone().keep_boards());
        let way = match database {
            Database::Sqlite(_) => {
                let (sender, mut units) = mpsc::unbounded_channel();
                let live = live.clone();
                tokio::spawn(async move {
                    while let Some(signals) = units.recv().await {
                        live.carry_out(signals).await;
                    }
                });
                Way::Straight(sender)
            }
            Database::Postgres(url) => {
                let words = live.meet_neighbours();
                tokio::spawn(listener::listen(url.clone(), live.clone(), words, watch));
                tokio::spawn(listener::keep_pruning(live.clone()));
                Way::Outbox
            }
        };
        (Self { way, departures }, told)
    }

    /// The way out of a process without sockets: other instances hear of it where there can be others.
    pub fn without_sockets(database: &Database) -> Self {
        let way = match database {
            Database::Sqlite(_) => Way::Straight(mpsc::unbounded_channel().0),
            Database::Postgres(_) => Way::Outbox,
        };
        let departures = mpsc::unbounded_channel().0;
        Self { way, departures }
    }

    /// Takes the signals of a unit of work in one organization; they leave once it is committed, in this order.
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
            // Without a document server nobody listens.
            drop(departures.send(Departure::People { tenant, people }));
        }))
    }

    /// After the unit: its documents were deleted, and their editors are closed.
    pub fn then_close_editors(&self, after: AfterCommit) -> AfterCommit {
        let departures = self.departures.clone();
        Box::new(move || {
            after();
            drop(departures.send(Departure::DocumentsDeleted));
        })
    }

    /// The same for a unit on the platform, which belongs to no organization.
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
