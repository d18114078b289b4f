//! Weekly timetable of a class. Times are local times of the school, without a date or a time zone.

use api_macros::body;
use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::number::Weekday;
use crate::text::{RoomName, optional};

/// A time of day with minute precision, formatted as `HH:MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
#[schema(value_type = String, pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
pub struct TimeOfDay(u16);

crate::valid_when_parsed!(TimeOfDay);

/// The text is not a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of day such as 08:15")]
pub struct ParseTimeOfDayError;

impl TimeOfDay {
    /// Parses `HH:MM`, from 00:00 to 23:59.
    pub fn parse(text: &str) -> Result<Self, ParseTimeOfDayError> {
        let digit = |byte: u8| {
            byte.is_ascii_digit()
                .then(|| u16::from(byte - b'0'))
                .ok_or(ParseTimeOfDayError)
        };
        let [hour_ten, hour_one, b':', minute_ten, minute_one] = *text.trim().as_bytes() else {
            return Err(ParseTimeOfDayError);
        };
        let (hour, minute) = (
            digit(hour_ten)? * 10 + digit(hour_one)?,
            digit(minute_ten)? * 10 + digit(minute_one)?,
        );
        if hour < 24 && minute < 60 {
            Ok(Self(hour * 60 + minute))
        } else {
            Err(ParseTimeOfDayError)
        }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// A weekly lesson.
#[body(PartialEq, Eq, Hash, Serialize)]
pub struct ScheduleEntry {
    /// Day of the week, from Monday (1) to Sunday (7).
    pub weekday: Weekday,
    /// Local time at which the lesson begins, `HH:MM`.
    pub start: TimeOfDay,
    /// Local time at which the lesson ends, `HH:MM`; after `start`.
    #[garde(custom(ends_after(&self.start)))]
    pub end: TimeOfDay,
    /// Name of the room.
    #[serde(default, deserialize_with = "optional")]
    pub room: Option<RoomName>,
}

/// Lessons of a week, at most 100.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(transparent)]
#[garde(transparent)]
#[schema(max_items = 100)]
pub struct Schedule(#[garde(length(max = 100), dive)] pub Vec<ScheduleEntry>);

fn ends_after(start: &TimeOfDay) -> impl FnOnce(&TimeOfDay, &()) -> garde::Result + '_ {
    move |end, ()| {
        if end > start {
            Ok(())
        } else {
            Err(garde::Error::new("must be after start"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use garde::Validate;

    use super::*;

    #[test]
    fn times_of_day_are_parsed_strictly_and_formatted() {
        for good in ["00:00", "08:15", "23:59"] {
            assert_eq!(TimeOfDay::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", "8:15", "24:00", "12:60", "12-30", "1２:30", "12:30:00", "aa:bb"] {
            assert_eq!(TimeOfDay::parse(bad), Err(ParseTimeOfDayError), "{bad}");
        }
    }

    #[test]
    fn a_lesson_ends_after_it_began_on_a_real_day() {
        let entry = |json: &str| serde_json::from_str::<ScheduleEntry>(json).unwrap();
        assert!(
            entry(r#"{"weekday": 1, "start": "08:00", "end": "08:45", "room": " "}"#)
                .validate()
                .is_ok()
        );
        let report = entry(r#"{"weekday": 8, "start": "08:00", "end": "08:00"}"#)
            .validate()
            .unwrap_err();
        let mut errors: Vec<_> = report.iter().map(|(path, error)| format!("{path} {error}")).collect();
        errors.sort();
        assert_eq!(errors, ["end must be after start", "weekday must be between 1 and 7"]);
    }

    #[test]
    fn an_unknown_key_of_a_lesson_is_refused() {
        assert!(
            serde_json::from_str::<ScheduleEntry>(r#"{"weekday":1,"start":"08:00","end":"09:00","day":1}"#).is_err()
        );
    }
}
