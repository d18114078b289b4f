//! Rules of copies of topics: which groups a copy has, when students see it, and how its dates are shifted.

use crate::publication::TopicPublication;
use crate::school_year::YearShift;
use crate::string_enum::string_enum;
use crate::time::Timestamp;
use crate::zone::Zone;

string_enum! {
    /// Which groups a copy gets.
    GroupsOfCopy {
        /// None.
        None = "NONE",
        /// The same groups with their members. In another class they are created again, with those members who are
        /// enrolled there.
        Same = "SAME",
        /// New groups with the same names, without members.
        Names = "NAMES",
    }
}

string_enum! {
    /// When students see a copy.
    PublicationOfCopy {
        /// Once it is published: the copy is a draft.
        Draft = "DRAFT",
        /// Like the original: at once, or at its time, which is shifted like the deadline. The copy of a draft is a draft.
        Same = "SAME",
    }
}

/// How the dates of a copy are shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateShift {
    /// By the distance between two school years.
    Years(YearShift),
    /// By whole days, at the same local time.
    Days(i64),
    /// By a time span.
    Millis(i64),
}

impl DateShift {
    /// Shifts a time; whole days and years keep the local time in the time zone.
    pub fn apply(self, moment: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Self::Years(shift) => shift.apply(moment, zone),
            Self::Days(days) => zone.plus_days(moment, days),
            Self::Millis(millis) => Timestamp::from_millis(moment.as_millis().saturating_add(millis)),
        }
    }
}

impl PublicationOfCopy {
    /// Returns the publication of the copy of a topic.
    pub fn of_topic(self, original: TopicPublication, shift: impl Fn(Timestamp) -> Timestamp) -> TopicPublication {
        match self {
            Self::Draft => TopicPublication {
                is_draft: true,
                publish_at: None,
            },
            Self::Same => TopicPublication {
                publish_at: original.publish_at.map(shift),
                ..original
            },
        }
    }

    /// Returns the exception for a group of the copy. A time after the deadline of the copy is dropped.
    pub fn of_link(
        self,
        original: TopicPublication,
        deadline: Timestamp,
        shift: impl Fn(Timestamp) -> Timestamp,
    ) -> TopicPublication {
        match self {
            Self::Draft => TopicPublication::default(),
            Self::Same => TopicPublication {
                publish_at: original.publish_at.map(shift).filter(|moment| *moment <= deadline),
                ..original
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::at;

    const DRAFT: TopicPublication = TopicPublication {
        is_draft: true,
        publish_at: None,
    };

    fn later(moment: Timestamp) -> Timestamp {
        moment.plus_seconds(100)
    }

    fn from(second: i64) -> TopicPublication {
        TopicPublication {
            is_draft: false,
            publish_at: Some(at(second)),
        }
    }

    #[test]
    fn copy_is_draft_or_published_like_original_at_shifted_time() {
        let (draft, same) = (PublicationOfCopy::Draft, PublicationOfCopy::Same);
        for original in [DRAFT, from(5), TopicPublication::default()] {
            assert_eq!(draft.of_topic(original, later), DRAFT);
            assert_eq!(draft.of_link(original, at(900), later), TopicPublication::default());
        }
        assert_eq!(same.of_topic(DRAFT, later), DRAFT);
        assert_eq!(same.of_topic(from(5), later), from(105));
        assert_eq!(
            same.of_topic(TopicPublication::default(), later),
            TopicPublication::default()
        );
        assert_eq!(same.of_link(from(5), at(105), later), from(105));
        assert_eq!(same.of_link(from(5), at(104), later), TopicPublication::default());
    }

    #[test]
    fn shift_by_days_keeps_local_time_across_daylight_saving() {
        let berlin = Zone::named("Europe/Berlin").unwrap_or_else(Zone::utc);
        let march = Timestamp::from_millis(1_774_177_200_000);
        let shifted = DateShift::Days(14).apply(march, &berlin);
        assert_eq!(shifted.seconds_since(march), 14 * 86_400 - 3_600);
        assert_eq!(DateShift::Millis(1_000).apply(at(1), &berlin), at(2));
    }
}
