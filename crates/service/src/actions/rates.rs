//! Rates that a whole group or school shares (contract 9). They are counted in the unit that does the thing, so what
//! is refused for another reason uses nothing up.

use model::rate::Limit;

use common::error::{Error, Result};
use db::Work;

/// Takes one turn of what `name` says, or refuses; without a limit there is nothing to take.
pub fn take(work: &mut Work<'_>, name: &str, limit: Option<Limit>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let meter = work.hit(name, limit)?;
    if meter.is_refused {
        let retry_after = u64::try_from(meter.resets_in).unwrap_or(1).max(1);
        return Err(Error::RateLimited { retry_after });
    }
    Ok(())
}
