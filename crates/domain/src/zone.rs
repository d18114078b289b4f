//! Time zones: converts dates and local times of a school to points in time. The time zone database is compiled in;
//! that of the operating system is not used.

use std::borrow::Cow;

use jiff::Span;
use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::time::Timestamp;

/// A time zone, such as Europe/Berlin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the time zone with this IANA name.
    pub fn named(name: &str) -> Option<Self> {
        TimeZoneDatabase::bundled().get(name.trim()).ok().map(Self)
    }

    /// Adds weeks, which may be negative, keeping the weekday and local time in this time zone.
    #[must_use]
    pub fn plus_weeks(&self, moment: Timestamp, weeks: i64) -> Timestamp {
        self.plus_days(moment, weeks.saturating_mul(7))
    }

    /// Adds days to a time, keeping the local time.
    pub fn plus_days(&self, moment: Timestamp, days: i64) -> Timestamp {
        let later = || {
            let local = jiff::Timestamp::from_millisecond(moment.as_millis()).ok()?;
            let span = Span::new().try_days(days).ok()?;
            local.to_zoned(self.0.clone()).checked_add(span).ok()
        };
        // Fallback outside the range of jiff, where daylight saving time is irrelevant.
        later().map_or_else(
            || moment.plus_seconds(days.saturating_mul(24 * 60 * 60)),
            |later| Timestamp::from_millis(later.timestamp().as_millisecond()),
        )
    }

    /// Returns the next time after `moment` at which the hour of the local time begins.
    pub fn next_hour(&self, moment: Timestamp, hour: i8) -> Timestamp {
        let find = || {
            let now = jiff::Timestamp::from_millisecond(moment.as_millis()).ok()?;
            let mut day = now.to_zoned(self.0.clone()).date();
            loop {
                let start = day.at(hour, 0, 0, 0).to_zoned(self.0.clone()).ok()?.timestamp();
                if start > now {
                    return Some(Timestamp::from_millis(start.as_millisecond()));
                }
                day = day.tomorrow().ok()?;
            }
        };
        find().unwrap_or_else(|| moment.plus_seconds(24 * 60 * 60))
    }

    /// Returns the first instant of a day in this time zone.
    fn start_of(&self, day: Date) -> Timestamp {
        let start = day.to_zoned(self.0.clone()).and_then(|noon| noon.start_of_day());
        let start = start.map(|start| start.timestamp().as_millisecond());
        Timestamp::from_millis(start.unwrap_or_else(|_| midnight(day)))
    }
}

fn midnight(day: Date) -> i64 {
    let start = day.to_zoned(TimeZone::UTC);
    start
        .map(|start| start.timestamp().as_millisecond())
        .unwrap_or_default()
}

/// A point in time, or a date: the first instant of that day in the time zone of the school.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrTime {
    Time(Timestamp),
    Date(Date),
}

crate::valid_when_parsed!(DateOrTime);

/// The text is neither a date nor a time in the years 2000 to 2100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a date such as 2026-01-31, or a time with an offset such as 2026-01-31T12:00:00Z, in the years 2000 to 2100"
)]
pub struct ParseDateError;

impl DateOrTime {
    /// Parses a date (`2026-01-31`) or an RFC 3339 time.
    pub fn parse(text: &str) -> Result<Self, ParseDateError> {
        let text = text.trim();
        let is_day = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_day {
            return Timestamp::parse(text).map(Self::Time).map_err(|_| ParseDateError);
        }
        let day: Date = text.parse().map_err(|_| ParseDateError)?;
        if (2000..=2100).contains(&day.year()) {
            Ok(Self::Date(day))
        } else {
            Err(ParseDateError)
        }
    }

    /// Returns the point in time in a time zone.
    pub fn resolve(self, zone: &Zone) -> Timestamp {
        match self {
            Self::Time(moment) => moment,
            Self::Date(day) => zone.start_of(day),
        }
    }

    /// Returns the point in time without a time zone: dates begin at midnight UTC.
    pub fn moment(self) -> Timestamp {
        match self {
            Self::Time(moment) => moment,
            Self::Date(day) => Timestamp::from_millis(midnight(day)),
        }
    }
}

impl From<Timestamp> for DateOrTime {
    fn from(moment: Timestamp) -> Self {
        Self::Time(moment)
    }
}

impl<'de> Deserialize<'de> for DateOrTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl utoipa::__dev::ComposeSchema for DateOrTime {
    fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "An RFC 3339 time, or a date such as 2026-01-31: the first moment of that day in the school's time zone.",
            ))
            .into()
    }
}

impl utoipa::ToSchema for DateOrTime {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn local_time_of_day_is_kept_over_daylight_saving() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        // Noon in winter remains noon in summer, 23 weeks later.
        let deadline = at("2026-01-12T11:00:00Z");
        assert_eq!(berlin.plus_weeks(deadline, 23), at("2026-06-22T10:00:00Z"));
        assert_eq!(berlin.plus_weeks(at("2026-06-22T10:00:00Z"), -23), deadline);
        assert_eq!(Zone::utc().plus_weeks(deadline, 23), at("2026-06-22T11:00:00Z"));
    }

    #[test]
    fn next_hour_is_in_local_time_and_later() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(
            berlin.next_hour(at("2026-01-12T01:00:00Z"), 3),
            at("2026-01-12T02:00:00Z")
        );
        assert_eq!(
            berlin.next_hour(at("2026-01-12T02:00:00Z"), 3),
            at("2026-01-13T02:00:00Z")
        );
        assert_eq!(
            berlin.next_hour(at("2026-07-12T01:30:00Z"), 3),
            at("2026-07-13T01:00:00Z")
        );
        // In this night two o'clock does not exist.
        assert_eq!(
            berlin.next_hour(at("2026-03-28T23:30:00Z"), 2),
            at("2026-03-29T01:00:00Z")
        );
    }

    #[test]
    fn date_is_the_start_of_the_day_in_the_zone() {
        let day = DateOrTime::parse("2026-09-01").unwrap();
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(day.resolve(&berlin), at("2026-08-31T22:00:00Z"));
        assert_eq!(day.resolve(&Zone::utc()), at("2026-09-01T00:00:00Z"));
        assert_eq!(day.moment(), at("2026-09-01T00:00:00Z"));
        // On this day local time begins at one o'clock.
        let santiago = Zone::named("America/Santiago").unwrap();
        let first = DateOrTime::parse("2026-09-06").unwrap().resolve(&santiago);
        assert_eq!(first, at("2026-09-06T04:00:00Z"));
    }

    #[test]
    fn neither_date_nor_time_is_rejected() {
        for text in [
            "",
            "2026-9-1",
            "2026-02-30",
            "1999-12-31",
            "2101-01-01",
            "2026-09-01T00:00:00",
            "tomorrow",
        ] {
            assert_eq!(DateOrTime::parse(text), Err(ParseDateError), "{text}");
        }
        assert_eq!(Zone::named("Middle/Earth"), None);
    }
}
