//! Windows of rates that must hold across instances and restarts: what is seldom and shared by many.

use model::rate::{Limit, Meter, Window};

use super::Work;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Counts one more: in the open window, or as the first of a new one. The row is held until the unit ends.
    HIT = "INSERT INTO rate_windows (organization_id, name, window_started_at, hits) VALUES ($1, $2, $3, 1)
        ON CONFLICT (organization_id, name) DO UPDATE SET
            hits = CASE WHEN rate_windows.window_started_at <= $4 OR rate_windows.window_started_at > $5
                THEN 1 ELSE rate_windows.hits + 1 END,
            window_started_at = CASE WHEN rate_windows.window_started_at <= $4 OR rate_windows.window_started_at > $5
                THEN excluded.window_started_at ELSE rate_windows.window_started_at END
        RETURNING window_started_at, hits";
    /// Forgets windows that are over.
    FORGET = "DELETE FROM rate_windows WHERE organization_id = $1 AND window_started_at <= $2";
}

impl Work<'_> {
    /// Counts one of what `name` says, within this unit: if the unit fails, it was not counted.
    pub fn hit(&mut self, name: &str, limit: Limit) -> Result<Meter> {
        let now = self.now();
        let over = now.plus_seconds(-limit.window);
        // A window of the future is one from before the clock was set back; units that overtake each other are no reason.
        let ahead = now.plus_seconds(limit.window);
        // No window is longer than the day.
        self.run(&FORGET, args![now.plus_seconds(-24 * 60 * 60)])?;
        let window = self.one(&HIT, args![name, now, over, ahead], |row| {
            Ok(Window {
                started_at: row.take()?,
                hits: row.take()?,
            })
        })?;
        Ok(window.meter(limit, now, window.hits > limit.hits))
    }
}
