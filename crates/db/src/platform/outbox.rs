//! The event outbox as the instances see it: events without an organization, reading an announced row, and pruning.

use domain::realtime::Signal;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::outbox::CHANNEL;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    INSERT = "INSERT INTO event_outbox (id, signals, created_at) VALUES ($1, $2, $3)";
    BY_ID = "SELECT signals FROM event_outbox WHERE id = $1";
    /// Deletes rows that every instance has received long ago.
    PRUNE = "DELETE FROM event_outbox WHERE created_at < $1";
}

impl PlatformTx<'_> {
    /// Inserts the signals of this transaction and notifies every instance of the row after the commit.
    pub fn insert_signals(&mut self, signals: &[Signal]) -> Result<()> {
        let id = clock::new_id();
        self.execute(&INSERT, args![id, serde_json::to_string(signals)?, clock::now()])?;
        self.connection.notify(CHANNEL, &id)
    }

    /// Returns the signals of an announced row; `None` if it is pruned.
    pub fn signals(&mut self, id: &str) -> Result<Option<Vec<Signal>>> {
        self.fetch_optional(&BY_ID, args![id], |row| row.json("signals"))
    }

    /// Deletes rows older than `before`; returns their number.
    pub fn prune_signals(&mut self, before: Timestamp) -> Result<u64> {
        self.execute_counted(&PRUNE, args![before])
    }
}
