//! Rate limits that a whole group or organization shares. They are counted in the transaction of the operation, so an
//! operation that is rejected for another reason does not count.

use domain::rate::RateLimit;

use common::error::{Error, Result};
use db::WriteTx;

/// Counts one operation under `name`; rejects it if the limit is reached. Without a limit, does nothing.
pub fn consume(tx: &mut WriteTx<'_>, name: &str, limit: Option<RateLimit>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let meter = tx.check_rate_limit(name, limit)?;
    if meter.is_refused {
        let retry_after = u64::try_from(meter.resets_in).unwrap_or(1).max(1);
        return Err(Error::RateLimited { retry_after });
    }
    Ok(())
}
