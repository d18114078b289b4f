//! The transactional outbox of events (PostgreSQL): an event is inserted with the transaction and published to all
//! instances if and only if it commits. Reading and pruning are in `platform/outbox.rs`.

use domain::realtime::Signal;

use super::WriteTx;
use crate::{args, statements};
use common::clock;
use common::error::Result;

/// The `NOTIFY` channel on which instances announce new rows.
pub const CHANNEL: &str = "app_bus";

statements! {
    INSERT = "INSERT INTO event_outbox (organization_id, id, signals, created_at) VALUES ($1, $2, $3, $4)";
}

impl WriteTx<'_> {
    /// Inserts the signals of this transaction and notifies every instance of the row after the commit.
    pub fn insert_signals(&mut self, signals: &[Signal]) -> Result<()> {
        let (id, now) = (clock::new_id(), self.now());
        self.execute(&INSERT, args![id, serde_json::to_string(signals)?, now])?;
        self.read_tx.connection.notify(CHANNEL, &id)
    }
}
