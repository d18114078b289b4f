//! A point in time in milliseconds and its JSON representation: ISO 8601 in UTC with exactly three fractional digits.
//! The clock is never read here.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(i64);

impl UnixMillis {
    /// Creates a timestamp from milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Adds seconds; saturates instead of wrapping.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Parses an ISO 8601 text with an offset or `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>()
            .ok()
            .map(|moment| Self(moment.as_millisecond()))
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beyond = if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        };
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(beyond);
        write!(formatter, "{moment:.3}")
    }
}

impl Serialize for UnixMillis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnixMillis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not an ISO 8601 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_three_fractional_digits() {
        let written = |millis| UnixMillis::from_millis(millis).to_string();
        assert_eq!(written(1_795_188_810_714), "2026-11-20T15:33:30.714Z");
        assert_eq!(written(1_795_188_810_000), "2026-11-20T15:33:30.000Z");
        assert_eq!(written(1_795_188_810_050), "2026-11-20T15:33:30.050Z");
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(951_782_400_001), "2000-02-29T00:00:00.001Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn timestamps_roundtrip() {
        for millis in [0, 1, 1_795_188_810_714, 4_102_444_800_000, -62_000_000_000] {
            let moment = UnixMillis::from_millis(millis);
            assert_eq!(UnixMillis::parse(&moment.to_string()), Some(moment));
        }
        assert_eq!(UnixMillis::parse("yesterday"), None);
        assert_eq!(UnixMillis::parse(""), None);
    }

    #[test]
    fn timestamp_addition_saturates() {
        let last = UnixMillis::from_millis(i64::MAX);
        assert_eq!(last.plus_seconds(i64::MAX), last);
        assert!(last.to_string().starts_with("9999-12-"));
        assert!(UnixMillis::from_millis(i64::MIN).to_string().starts_with('-'));
    }
}
