//! What a school keeps in files: how many bytes, of which kind, and where the most of them are.

use serde::{Deserialize, Serialize};

use crate::id::ClassId;
use crate::time::Timestamp;

/// How many classes are named; the rest is in the sum.
pub const CLASSES_NAMED: usize = 20;

/// Bytes by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageKinds {
    /// The present content of documents.
    pub documents: i64,
    /// Their older revisions.
    pub revisions: i64,
    /// Files of topics and groups.
    pub attachments: i64,
    /// Files in chats.
    pub messages: i64,
    /// Copies that were handed in.
    pub submissions: i64,
    /// Conversions kept for reuse.
    pub conversions: i64,
    /// Exports that can still be fetched.
    pub exports: i64,
}

impl StorageKinds {
    /// All of it.
    pub const fn total(&self) -> i64 {
        self.documents
            + self.revisions
            + self.attachments
            + self.messages
            + self.submissions
            + self.conversions
            + self.exports
    }

    /// Adds what was counted elsewhere.
    pub const fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.revisions += other.revisions;
        self.attachments += other.attachments;
        self.messages += other.messages;
        self.submissions += other.submissions;
        self.conversions += other.conversions;
        self.exports += other.exports;
    }
}

/// What one class keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassStorage {
    /// The class.
    pub id: ClassId,
    /// Its name when it was counted.
    pub name: String,
    /// All its bytes.
    pub bytes: i64,
}

/// How much may be kept, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = i64, minimum = 0)]
pub struct QuotaBytes(i64);

impl QuotaBytes {
    /// What a school may keep where nobody said otherwise: 200 GiB.
    pub const OF_SCHOOL: Self = Self(200 << 30);
    /// What a group may keep where nobody said otherwise: 2 GiB.
    pub const OF_GROUP: Self = Self(2 << 30);
    /// The most that can be set: 1 PiB.
    const MAX: i64 = 1 << 50;

    /// Takes bytes that were checked before, such as a column of the store, as they are.
    pub const fn stored(bytes: i64) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whether so much may be kept.
    pub const fn allows(self, bytes: i64) -> bool {
        bytes <= self.0
    }

    /// Whether nine tenths of it are used up.
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

/// What a school keeps and may keep at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageRoom {
    /// Bytes that are kept: what was counted and what came since.
    pub used: i64,
    /// What the school may keep.
    pub quota: QuotaBytes,
    /// What each group may keep.
    pub group_quota: QuotaBytes,
    /// Whether it was counted at all.
    pub is_counted: bool,
    /// Whether files went since it was counted, so that less may be used than it says.
    pub may_be_less: bool,
}

impl StorageRoom {
    /// Whether so many more bytes fit.
    pub const fn takes(&self, bytes: i64) -> bool {
        self.quota.allows(self.used.saturating_add(bytes))
    }
}

/// What a school keeps, as it was counted last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageUsage {
    /// When it was counted.
    pub counted_at: Timestamp,
    /// All bytes.
    pub total_bytes: i64,
    /// The same by kind.
    pub kinds: StorageKinds,
    /// The classes that keep the most, largest first.
    pub classes: Vec<ClassStorage>,
}

impl StorageUsage {
    /// Sums up what was counted class by class, and what belongs to no class.
    pub fn of(classes: Vec<(ClassStorage, StorageKinds)>, beside: &StorageKinds, now: Timestamp) -> Self {
        let mut kinds = *beside;
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
    fn the_last_byte_fits_and_the_next_does_not() {
        let room = StorageRoom {
            used: 90,
            quota: QuotaBytes::stored(100),
            group_quota: QuotaBytes::OF_GROUP,
            is_counted: true,
            may_be_less: false,
        };
        assert!(room.takes(10) && !room.takes(11));
        // A save may have gone beyond; then nothing fits, not even nothing.
        assert!(!StorageRoom { used: 101, ..room }.takes(0));
        assert!(room.quota.is_nearly_used_up_by(90) && !room.quota.is_nearly_used_up_by(89));
    }

    #[test]
    fn the_largest_classes_are_named_and_the_rest_is_in_the_sum() {
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
        let beside = StorageKinds {
            exports: 1000,
            ..StorageKinds::default()
        };
        let usage = StorageUsage::of((0..30).map(class).collect(), &beside, Timestamp::from_millis(7));
        assert_eq!(usage.classes.len(), CLASSES_NAMED);
        assert_eq!((usage.classes[0].name.as_str(), usage.classes[0].bytes), ("29", 30));
        assert_eq!(usage.kinds.documents, (0..30).sum::<i64>());
        assert_eq!(usage.total_bytes, usage.kinds.documents + 30 + 1000);
    }
}
