//! Whether there is room for what somebody brings. This is asked before the bytes are taken, so that nobody sends them in
//! vain; the unit that writes the row asks again, and its answer counts ([`Work::must_have_room`](db::Work)).

use model::storage::StorageRoom;

use super::context::Context;
use auth::uploads::Room;
use common::error::{Error, Result};
use service::changes::storage;

/// Refuses what surely does not fit, of a file whose size is known.
pub async fn expect_room(cx: &Context, bytes: u64) -> Result<Option<Room>> {
    expect_room_between(cx, bytes, bytes).await
}

/// Refuses what surely does not fit, and returns the available space. A refusal is never older than the last file that went: the school is counted again.
pub async fn expect_room_between(cx: &Context, least: u64, most: u64) -> Result<Option<Room>> {
    cx.app().uploads().expect_disk().await?;
    // Without an organization nothing is kept; whose it is, the handler finds out.
    let Ok(standpoint) = cx.standpoint() else {
        return Ok(None);
    };
    let organization = standpoint.tenant.id().clone();
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let look = || cx.read(|scope| scope.storage_room());
    let mut room: StorageRoom = look().await?;
    if !room.is_counted || (room.may_be_less && !room.takes(bytes(most))) {
        storage::count(cx.app().store(), cx.app().files(), standpoint.tenant).await?;
        room = look().await?;
    }
    if room.takes(bytes(least)) {
        let free = room.quota.get().saturating_sub(room.used);
        let free = u64::try_from(free).unwrap_or_default();
        Ok(Some(Room { organization, free }))
    } else {
        Err(Error::QuotaExceeded)
    }
}
