//! Publication of topics: when the students of a group may know that a topic exists. The topic has a publication, and
//! the link of a group may have an exception. The same rule exists in SQL (`crates/db/src/visibility.rs`);
//! `tests/permissions/topic_visibility.rs` proves that both agree.

use crate::domain_error::DomainError;
use crate::patch::{FieldDiff, FieldPatch};
use crate::time::Timestamp;

/// When students see a topic. The default is at once; for the link of a group it means that the group follows the
/// topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicPublication {
    /// Hidden until staff publish it.
    pub is_draft: bool,
    /// Hidden until this time. `None` for a draft.
    pub publish_at: Option<Timestamp>,
}

impl TopicPublication {
    /// Returns the publication that a request sets. Rejects a draft with a time.
    pub fn new(is_draft: Option<bool>, publish_at: Option<Timestamp>) -> Result<Self, DomainError> {
        let set = |value: Option<Timestamp>| value.map_or(FieldPatch::Unchanged, FieldPatch::Value);
        let is_draft = is_draft.map_or(FieldPatch::Unchanged, FieldPatch::Value);
        Self::default().edited(&is_draft, &set(publish_at))
    }

    pub fn is_published(self, now: Timestamp) -> bool {
        !self.is_draft && self.publish_at.is_none_or(|moment| moment <= now)
    }

    /// Returns the publication for a group whose link has the exception `own`.
    #[must_use]
    pub fn for_group(self, own: Self) -> Self {
        if own == Self::default() { self } else { own }
    }

    /// Returns the publication of a copy: that of an unpublished topic is a draft.
    #[must_use]
    pub fn of_copy(self, now: Timestamp) -> Self {
        Self {
            is_draft: !self.is_published(now),
            publish_at: None,
        }
    }

    /// Returns the publication after an edit. A time ends the draft, and a draft has no time; both at once are
    /// rejected.
    pub fn edited(self, is_draft: &FieldPatch<bool>, publish_at: &FieldPatch<Timestamp>) -> Result<Self, DomainError> {
        match (is_draft.value(), publish_at) {
            (Some(true), FieldPatch::Value(_)) => Err(DomainError::Invalid {
                path: "publishAt",
                code: "format",
                message: "must be null for a draft",
            }),
            (Some(true), FieldPatch::Unchanged | FieldPatch::Null) => Ok(Self {
                is_draft: true,
                publish_at: None,
            }),
            (None, FieldPatch::Unchanged | FieldPatch::Null) if self.is_draft => Ok(self),
            (_, publish_at) => Ok(Self {
                is_draft: false,
                publish_at: publish_at.clone().resolve(self.publish_at),
            }),
        }
    }

    /// Rejects a time in the future that is after the deadline. The error names the field that the request changes.
    pub fn check_deadline(self, deadline: Timestamp, changed: &FieldDiff, now: Timestamp) -> Result<(), DomainError> {
        if self.publish_at.is_none_or(|moment| moment <= now.max(deadline)) {
            return Ok(());
        }
        let (path, message) = if changed.has("deadline") && !changed.has("publishAt") {
            ("deadline", "must not be before publishAt")
        } else {
            ("publishAt", "must not be after the deadline")
        };
        Err(DomainError::Invalid {
            path,
            code: "after_deadline",
            message,
        })
    }

    /// Replaces the publication and records the fields that changed.
    pub fn write(&mut self, edited: Self, changed: &mut FieldDiff) {
        changed.write("isDraft", &mut self.is_draft, edited.is_draft);
        changed.write("publishAt", &mut self.publish_at, edited.publish_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::at;
    use proptest::prelude::*;

    const DRAFT: TopicPublication = TopicPublication {
        is_draft: true,
        publish_at: None,
    };

    fn from(second: i64) -> TopicPublication {
        TopicPublication {
            is_draft: false,
            publish_at: Some(at(second)),
        }
    }

    #[test]
    fn topic_is_published_at_once_by_default() {
        assert_eq!(TopicPublication::new(None, None), Ok(TopicPublication::default()));
        assert!(TopicPublication::default().is_published(at(0)));
    }

    #[test]
    fn scheduled_topic_is_published_at_its_time() {
        assert!(!from(10).is_published(at(9)));
        assert!(from(10).is_published(at(10)));
        assert!(!DRAFT.is_published(at(10)));
    }

    #[test]
    fn exception_of_group_replaces_publication_of_topic() {
        assert_eq!(DRAFT.for_group(TopicPublication::default()), DRAFT);
        assert_eq!(DRAFT.for_group(from(3)), from(3));
        assert_eq!(from(3).for_group(DRAFT), DRAFT);
    }

    #[test]
    fn draft_with_time_is_rejected() {
        assert!(TopicPublication::new(Some(true), Some(at(3))).is_err());
        let keep = FieldPatch::Unchanged;
        assert_eq!(DRAFT.edited(&keep, &FieldPatch::Value(at(3))), Ok(from(3)));
        assert_eq!(
            from(3).edited(&FieldPatch::Value(true), &FieldPatch::Unchanged),
            Ok(DRAFT)
        );
        assert_eq!(DRAFT.edited(&keep, &FieldPatch::Null), Ok(DRAFT));
        let now = DRAFT.edited(&FieldPatch::Value(false), &FieldPatch::Null);
        assert_eq!(now, Ok(TopicPublication::default()));
    }

    #[test]
    fn time_after_deadline_is_rejected_while_it_is_in_future() {
        let checked =
            |publication: TopicPublication, now| publication.check_deadline(at(10), &FieldDiff::new(), at(now));
        assert!(checked(from(20), 5).is_err());
        assert!(checked(from(20), 20).is_ok());
        assert!(checked(from(10), 5).is_ok());
        assert!(checked(DRAFT, 5).is_ok());
    }

    #[test]
    fn copy_of_unpublished_topic_is_draft() {
        assert_eq!(from(10).of_copy(at(9)), DRAFT);
        assert_eq!(from(10).of_copy(at(10)), TopicPublication::default());
    }

    proptest! {
        #[test]
        fn edited_publication_is_never_draft_with_time(
            first in prop::option::of(0_i64..5),
            draft in any::<bool>(),
            edit in prop::option::of(any::<bool>()),
            moment in prop_oneof![Just(FieldPatch::Unchanged), Just(FieldPatch::Null), (0_i64..5).prop_map(|second| FieldPatch::Value(at(second)))],
        ) {
            let before = if draft { DRAFT } else { TopicPublication { is_draft: false, publish_at: first.map(at) } };
            let edit = edit.map_or(FieldPatch::Unchanged, FieldPatch::Value);
            if let Ok(after) = before.edited(&edit, &moment) {
                prop_assert!(!(after.is_draft && after.publish_at.is_some()));
                if let Some(wanted) = edit.value() {
                    prop_assert_eq!(after.is_draft, *wanted);
                }
            }
        }
    }
}
