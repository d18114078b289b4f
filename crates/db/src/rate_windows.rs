//! Rate limits that hold across instances and restarts, for rare requests that are expensive or affect many users.

use domain::rate::{Meter, RateLimit, RateWindow};

use super::WriteTx;
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// Counts a hit in the open window or as the first of a new one. Locks the row until the end of the transaction.
    HIT = "INSERT INTO rate_windows (organization_id, name, window_started_at, hits) VALUES ($1, $2, $3, 1)
        ON CONFLICT (organization_id, name) DO UPDATE SET
            hits = CASE WHEN rate_windows.window_started_at <= $4 OR rate_windows.window_started_at > $5
                THEN 1 ELSE rate_windows.hits + 1 END,
            window_started_at = CASE WHEN rate_windows.window_started_at <= $4 OR rate_windows.window_started_at > $5
                THEN excluded.window_started_at ELSE rate_windows.window_started_at END
        RETURNING window_started_at, hits";
    /// Deletes elapsed windows.
    FORGET = "DELETE FROM rate_windows WHERE organization_id = $1 AND window_started_at <= $2";
}

impl WriteTx<'_> {
    /// Counts a hit of the limit `name` in this transaction; it is not counted if the transaction fails.
    pub fn check_rate_limit(&mut self, name: &str, limit: RateLimit) -> Result<Meter> {
        let now = self.now();
        let over = now.plus_seconds(-limit.window);
        // A window far in the future was opened before the clock was set back. Transactions that overtake each other
        // differ by less than a window.
        let ahead = now.plus_seconds(limit.window);
        // No window is longer than a day.
        self.execute(&FORGET, args![now.plus_seconds(-24 * 60 * 60)])?;
        let window = self.fetch_one(
            &HIT,
            args![name, now, over, ahead],
            |row| from_row!(row => RateWindow { started_at = "window_started_at", hits }),
        )?;
        Ok(window.meter(limit, now, window.hits > limit.hits))
    }
}
