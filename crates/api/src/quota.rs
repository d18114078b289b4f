//! Storage quota checks before an upload is received, so that clients do not send bytes in vain. The transaction that
//! writes the row checks again, and its result is decisive ([`WriteTx::must_have_room`](db::WriteTx)).

use domain::storage::StorageAllowance;

use super::context::Context;
use auth::uploads::UploadQuota;
use common::error::{Error, Result};
use service::jobs::storage_usage;

/// Rejects a file of known size that exceeds the quota.
pub async fn check_quota(cx: &Context, bytes: u64) -> Result<Option<UploadQuota>> {
    check_quota_between(cx, bytes, bytes).await
}

/// Rejects a file of at least `least` bytes that exceeds the quota, and returns the available space. Before a rejection
/// the organization is counted again if files were deleted.
pub async fn check_quota_between(cx: &Context, least: u64, most: u64) -> Result<Option<UploadQuota>> {
    cx.app().uploads().check_disk_space().await?;
    // Nothing is stored without an organization; the handler reports the error.
    let Ok(context) = cx.context() else {
        return Ok(None);
    };
    let organization = context.tenant.id().clone();
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let load = || cx.read(|tx| tx.storage_allowance());
    let mut room: StorageAllowance = load().await?;
    if !room.is_counted || (room.may_be_less && !room.has_room_for(bytes(most))) {
        storage_usage::count(cx.app().store(), cx.app().files(), context.tenant).await?;
        room = load().await?;
    }
    if room.has_room_for(bytes(least)) {
        let free = room.quota.get().saturating_sub(room.used);
        let free = u64::try_from(free).unwrap_or_default();
        Ok(Some(UploadQuota { organization, free }))
    } else {
        Err(Error::QuotaExceeded)
    }
}
