//! Points in time, in milliseconds since the Unix epoch. This module parses and formats times; it never reads a clock.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MILLIS_PER_DAY: i64 = 86_400_000;
/// 2000-01-01T00:00:00Z, the earliest time accepted as input.
const EARLIEST: i64 = 946_684_800_000;
/// 2101-01-01T00:00:00Z, exclusive upper limit of times accepted as input.
const LATEST: i64 = 4_133_980_800_000;

/// A point in time with millisecond precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Timestamp(i64);

/// The text is not a time in the years 2000 to 2100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time with an offset, such as 2026-01-31T12:00:00Z, in the years 2000 to 2100")]
pub struct ParseTimestampError;

impl Timestamp {
    /// Returns the time this many milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Parses RFC 3339 with any offset; truncated to milliseconds.
    pub fn parse(text: &str) -> Result<Self, ParseTimestampError> {
        let text = Some(text.trim())
            .filter(|text| is_rfc_3339(text))
            .ok_or(ParseTimestampError)?;
        let moment: jiff::Timestamp = text.parse().map_err(|_| ParseTimestampError)?;
        let millis = moment.as_millisecond();
        if (EARLIEST..LATEST).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(ParseTimestampError)
        }
    }

    /// Adds seconds, which may be negative.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Returns the whole seconds from `other` to this time; negative if `other` is later.
    pub const fn seconds_since(self, other: Self) -> i64 {
        self.0.saturating_sub(other.0).div_euclid(1000)
    }
}

/// Returns whether the text has the format of RFC 3339, section 5.6. jiff also accepts other forms of ISO 8601, such as
/// times without seconds or with the name of a time zone.
fn is_rfc_3339(text: &str) -> bool {
    const DATE_AND_TIME: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    const OFFSET: &[u8] = b"dd:dd";
    let fits = |part: &[u8], form: &[u8]| {
        part.len() == form.len()
            && part.iter().zip(form).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                form => byte.eq_ignore_ascii_case(form),
            })
    };
    let Some((begin, rest)) = text.as_bytes().split_at_checked(DATE_AND_TIME.len()) else {
        return false;
    };
    let rest = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    let is_offset = match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', offset @ ..] => fits(offset, OFFSET) && offset[..2] < b"24"[..],
        _ => false,
    };
    fits(begin, DATE_AND_TIME) && is_offset
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Converts days to a civil date with eras of 400 years that begin on 1 March, so that leap days come last.
        let days = self.0.div_euclid(MILLIS_PER_DAY) + 719_468;
        let millis = self.0.rem_euclid(MILLIS_PER_DAY);
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            millis / 3_600_000,
            millis / 60_000 % 60,
            millis / 1000 % 60,
            millis % 1000
        )
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

crate::valid_when_parsed!(Timestamp);

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_offset_is_read_and_utc_with_milliseconds_is_written() {
        for text in [
            "2026-01-31T12:00:00Z",
            "2026-01-31T13:00:00+01:00",
            "2026-01-31T07:00:00.000-05:00",
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), "2026-01-31T12:00:00.000Z");
        }
    }

    #[test]
    fn time_that_is_not_rfc_3339_is_rejected() {
        for text in [
            "2026-01-31t12:00:00z",
            "2026-01-31T12:00:00.123456789Z",
            "2026-01-31T12:00:00-00:00",
        ] {
            assert!(Timestamp::parse(text).is_ok(), "{text}");
        }
        for text in [
            "2026-01-31T12:00Z",
            "2026-01-31T12Z",
            "2026-01-31 12:00:00Z",
            "20260131T120000Z",
            "2026-01-31T12:00:00,5Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+01",
            "2026-01-31T12:00:00+0100",
            "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00+01:00:30",
            "2026-01-31T12:00:00+01:00[Europe/Berlin]",
            "+002026-01-31T12:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60:00Z",
            "2026-W05-6T12:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), Err(ParseTimestampError), "{text}");
        }
    }

    #[test]
    fn a_time_without_offset_or_out_of_range_is_refused() {
        for text in [
            "",
            "tomorrow",
            "2026-01-31",
            "2026-01-31T12:00:00",
            "1999-12-31T23:59:59Z",
            "2101-01-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), Err(ParseTimestampError), "{text}");
        }
        assert!(Timestamp::parse("2100-12-31T23:59:59.999Z").is_ok());
    }

    #[test]
    fn seconds_are_counted_in_both_directions() {
        let noon = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(noon.plus_seconds(90).seconds_since(noon), 90);
        assert_eq!(noon.seconds_since(noon.plus_seconds(90)), -90);
    }

    proptest! {
        #[test]
        fn timestamps_roundtrip(millis in EARLIEST..LATEST) {
            let moment = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
        }

        #[test]
        fn calendar_agrees_with_jiff(millis in -62_135_596_800_000_i64..253_402_207_200_000) {
            let jiff = jiff::Timestamp::from_millisecond(millis).unwrap();
            prop_assert_eq!(Timestamp::from_millis(millis).to_string(), format!("{jiff:.3}"));
        }
    }
}
