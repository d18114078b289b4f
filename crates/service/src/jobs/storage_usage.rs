//! Counts the bytes that organizations store: each at most once an hour and one after the other, with statements
//! whose cost depends only on its own rows.

use domain::storage::{StorageKinds, StorageUsage};

use adapters::blob_store::BlobStore;
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;
use db::{RequestContext, Store, Tenant};

/// The maximum age of a count, in seconds.
const AGE_MAX: i64 = 3_600;
/// The maximum number of organizations in one round.
const BATCH: i64 = 50;

/// Counts the organizations whose count is due.
pub async fn count_batch(store: &Store, files: &BlobStore) -> Result<()> {
    let before = clock::now().plus_seconds(-AGE_MAX);
    let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.uncounted_since(before, BATCH)
    });
    for tenant in due.await? {
        count(store, files, tenant).await?;
    }
    Ok(())
}

/// Counts the bytes that an organization stores and saves the count.
pub async fn count(store: &Store, files: &BlobStore, tenant: Tenant) -> Result<StorageUsage> {
    let context = RequestContext::for_service(tenant, "groupwork", clock::now());
    let (organization, now) = (context.tenant.id().clone(), context.now);
    let read = store.read(context, |tx| {
        let (mark, room) = (tx.storage_mark()?, tx.storage_allowance()?);
        let deleted = tx.deleted_bytes()?;
        Ok((mark, room, tx.storage_of_classes()?, tx.export_files()?, deleted))
    });
    let (mark, room, classes, exports, deleted) = read.await?;
    let mut separate = StorageKinds {
        deleted,
        ..StorageKinds::default()
    };
    for key in exports {
        // An export that expired in the meantime has no bytes.
        if let Ok(file) = files.open(&key).await {
            separate.exports += i64::try_from(file.size()).unwrap_or(i64::MAX);
        }
    }
    let usage = StorageUsage::of(classes, &separate, now);
    if room.quota.is_nearly_used_up_by(usage.total_bytes) {
        tracing::warn!(organization.id = %organization, used = usage.total_bytes, quota = room.quota.get(),
            "storage quota of an organization nearly used up");
    }
    let noted = usage.clone();
    store
        .platform_write(CrossTenantReason::Housekeeping, move |platform| {
            platform.record_storage_usage(&organization, &noted, mark)
        })
        .await?;
    Ok(usage)
}
