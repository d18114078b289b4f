//! The outbox as the instances see it: the signals of units on the platform, reading a row that was named, pruning.

use model::news::Signal;
use model::time::Timestamp;

use super::Platform;
use crate::outbox::CHANNEL;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// What one unit on the platform has to tell.
    INSERT = "INSERT INTO event_outbox (id, signals, created_at) VALUES ($1, $2, $3)";
    /// What one unit told.
    BY_ID = "SELECT signals FROM event_outbox WHERE id = $1";
    /// Drops what everybody has heard long ago.
    PRUNE = "DELETE FROM event_outbox WHERE created_at < $1";
}

impl Platform<'_> {
    /// Writes the signals of this unit and names the row to every instance after the commit.
    pub fn insert_signals(&mut self, signals: &[Signal]) -> Result<()> {
        let id = clock::new_id();
        self.connection
            .run(&INSERT, args![id, serde_json::to_string(signals)?, clock::now()])?;
        self.connection.notify(CHANNEL, &id)
    }

    /// The signals of a row that was named; nothing when it is pruned.
    pub fn signals(&mut self, id: &str) -> Result<Option<Vec<Signal>>> {
        self.connection.maybe(&BY_ID, args![id], |row| row.json())
    }

    /// Drops rows older than this.
    pub fn prune_signals(&mut self, before: Timestamp) -> Result<u64> {
        self.connection.run(&PRUNE, args![before])
    }
}
