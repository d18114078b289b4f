//! Whether there is room for what somebody brings. This is asked before the bytes are taken, so that nobody sends them in
//! vain; the unit that writes the row asks again, and its answer counts ([`Work::must_have_room`](crate::store::Work)).

use model::storage::StorageRoom;

use super::context::Context;
use crate::changes::storage;
use crate::error::{Error, Result};

/// Refuses what surely does not fit. A refusal is never older than the last file that went: the school is counted anew.
pub async fn expect_room(cx: &Context, bytes: u64) -> Result<()> {
    // Without an organization nothing is kept; whose it is, the handler finds out.
    let Ok(standpoint) = cx.standpoint() else {
        return Ok(());
    };
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let look = || cx.read(|scope| scope.storage_room());
    let mut room: StorageRoom = look().await?;
    if !room.is_counted || (room.may_be_less && !room.takes(bytes)) {
        storage::count(cx.app().store(), cx.app().files(), standpoint.tenant).await?;
        room = look().await?;
    }
    if room.takes(bytes) {
        Ok(())
    } else {
        Err(Error::QuotaExceeded)
    }
}
