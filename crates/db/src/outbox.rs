//! What a unit of work has to tell to the instances of the service (PostgreSQL): written with the unit, so that it is
//! heard if and only if the unit is committed. Reading and pruning is the platform's business (`platform/outbox.rs`).

use model::news::Signal;

use super::Work;
use crate::{args, statements};
use common::clock;
use common::error::Result;

/// The channel on which instances name rows to each other.
pub const CHANNEL: &str = "app_bus";

statements! {
    /// What one unit has to tell.
    INSERT = "INSERT INTO event_outbox (organization_id, id, signals, created_at) VALUES ($1, $2, $3, $4)";
}

impl Work<'_> {
    /// Writes the signals of this unit and names the row to every instance after the commit.
    pub fn insert_signals(&mut self, signals: &[Signal]) -> Result<()> {
        let (id, now) = (clock::new_id(), self.now());
        self.run(&INSERT, args![id, serde_json::to_string(signals)?, now])?;
        self.scope.connection.notify(CHANNEL, &id)
    }
}
