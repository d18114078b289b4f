//! Storage usage of an organization, by kind of file and by class, and its quotas.

use api_macros::view;
use serde::{Deserialize, Serialize};

use crate::id::ClassId;
use crate::time::Timestamp;

/// Number of classes listed individually; the total includes all classes.
pub const CLASSES_NAMED: usize = 20;

/// Storage usage in bytes by kind of file.
#[view(Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct StorageKinds {
    /// The current content of documents.
    pub documents: i64,
    /// Older revisions of documents.
    pub revisions: i64,
    /// Attachments of topics and groups.
    pub attachments: i64,
    /// Attachments of room messages.
    pub messages: i64,
    /// Submitted copies of documents.
    pub submissions: i64,
    /// Cached conversions.
    pub conversions: i64,
    /// Exports that can still be downloaded.
    pub exports: i64,
    /// Files of deleted objects that can be restored.
    pub deleted: i64,
}

impl StorageKinds {
    /// Returns the sum of all kinds.
    pub const fn total(&self) -> i64 {
        self.documents
            + self.revisions
            + self.attachments
            + self.messages
            + self.submissions
            + self.conversions
            + self.exports
            + self.deleted
    }

    /// Adds the values of another count.
    pub const fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.revisions += other.revisions;
        self.attachments += other.attachments;
        self.messages += other.messages;
        self.submissions += other.submissions;
        self.conversions += other.conversions;
        self.exports += other.exports;
        self.deleted += other.deleted;
    }
}

/// Storage usage of one class.
#[view(PartialEq, Eq, Deserialize)]
pub struct ClassStorage {
    pub id: ClassId,
    /// Name of the class at the time of the count.
    pub name: String,
    /// Storage usage in bytes.
    pub bytes: i64,
}

/// Storage quota in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = i64, minimum = 0)]
pub struct QuotaBytes(i64);

impl QuotaBytes {
    /// Default quota of an organization: 200 GiB.
    pub const OF_SCHOOL: Self = Self(200 << 30);
    /// Default quota of a group: 2 GiB.
    pub const OF_GROUP: Self = Self(2 << 30);
    /// Largest quota that can be set: 1 PiB.
    const MAX: i64 = 1 << 50;

    /// Wraps a quota that was validated before, such as a database column.
    pub const fn stored(bytes: i64) -> Self {
        Self(bytes)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns whether this usage is within the quota.
    pub const fn allows(self, bytes: i64) -> bool {
        bytes <= self.0
    }

    /// Returns whether at least 90 % of the quota is used.
    pub const fn is_nearly_used_up_by(self, bytes: i64) -> bool {
        bytes / 9 >= self.0 / 10
    }
}

impl garde::Validate for QuotaBytes {
    type Context = ();

    fn validate_into(&self, (): &(), parent: &mut dyn FnMut() -> garde::Path, report: &mut garde::Report) {
        if !(0..=Self::MAX).contains(&self.0) {
            let reason = format!("must be between 0 and {}", Self::MAX);
            report.append(parent(), garde::Error::new(reason));
        }
    }
}

/// Present storage usage and quotas of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageAllowance {
    /// Bytes used: the latest count plus later additions.
    pub used: i64,
    pub quota: QuotaBytes,
    /// Quota of each group.
    pub group_quota: QuotaBytes,
    /// Whether the usage was ever counted.
    pub is_counted: bool,
    /// Whether files were deleted since the count, so that the actual usage may be lower.
    pub may_be_less: bool,
}

impl StorageAllowance {
    /// Returns whether this many more bytes fit into the quota.
    pub const fn has_room_for(&self, bytes: i64) -> bool {
        self.quota.allows(self.used.saturating_add(bytes))
    }
}

/// Storage usage of an organization at the time of the latest count.
#[view(PartialEq, Eq)]
pub struct StorageUsage {
    pub counted_at: Timestamp,
    /// Total usage in bytes.
    pub total_bytes: i64,
    /// Usage by kind of file.
    pub kinds: StorageKinds,
    /// The classes with the highest usage, largest first.
    pub classes: Vec<ClassStorage>,
}

impl StorageUsage {
    /// Sums up the counts of the classes and of files that belong to no class.
    pub fn of(classes: Vec<(ClassStorage, StorageKinds)>, unclassified: &StorageKinds, now: Timestamp) -> Self {
        let mut kinds = *unclassified;
        let mut named: Vec<ClassStorage> = Vec::with_capacity(classes.len());
        for (class, of_class) in classes {
            kinds.add(&of_class);
            let bytes = of_class.total();
            named.push(ClassStorage { bytes, ..class });
        }
        named.retain(|class| class.bytes > 0);
        named.sort_unstable_by(|left, right| (right.bytes, &left.id).cmp(&(left.bytes, &right.id)));
        named.truncate(CLASSES_NAMED);
        Self {
            counted_at: now,
            total_bytes: kinds.total(),
            kinds,
            classes: named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_allows_exactly_its_last_byte() {
        let room = StorageAllowance {
            used: 90,
            quota: QuotaBytes::stored(100),
            group_quota: QuotaBytes::OF_GROUP,
            is_counted: true,
            may_be_less: false,
        };
        assert!(room.has_room_for(10) && !room.has_room_for(11));
        // A save may exceed the quota; after that nothing fits, not even zero bytes.
        assert!(!StorageAllowance { used: 101, ..room }.has_room_for(0));
        assert!(room.quota.is_nearly_used_up_by(90) && !room.quota.is_nearly_used_up_by(89));
    }

    #[test]
    fn storage_lists_largest_classes_and_sums_the_rest() {
        let class = |number: i64| {
            let class = ClassStorage {
                id: ClassId::new(format!("k{number:02}")),
                name: format!("{number}"),
                bytes: 0,
            };
            let kinds = StorageKinds {
                documents: number,
                submissions: 1,
                ..StorageKinds::default()
            };
            (class, kinds)
        };
        let unclassified = StorageKinds {
            exports: 1000,
            ..StorageKinds::default()
        };
        let usage = StorageUsage::of((0..30).map(class).collect(), &unclassified, Timestamp::from_millis(7));
        assert_eq!(usage.classes.len(), CLASSES_NAMED);
        assert_eq!((usage.classes[0].name.as_str(), usage.classes[0].bytes), ("29", 30));
        assert_eq!(usage.kinds.documents, (0..30).sum::<i64>());
        assert_eq!(usage.total_bytes, usage.kinds.documents + 30 + 1000);
    }
}
