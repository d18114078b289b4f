//! Distance between two school years, to shift dates when a class is copied. School years are free text; the first
//! four-digit number in it is used.

use crate::text::AcademicYear;
use crate::time::Timestamp;
use crate::zone::Zone;

/// Larger distances in years are considered typing errors.
const FAR: i64 = 50;

/// Distance between two school years in whole weeks, so that a deadline on a Monday remains on a Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YearShift {
    weeks: i64,
}

impl YearShift {
    /// Returns the distance from one year to the other; zero if one of them cannot be parsed.
    pub fn between(from: &AcademicYear, to: &AcademicYear) -> Self {
        let years = match (first_year(from.as_str()), first_year(to.as_str())) {
            (Some(from), Some(to)) if (to - from).abs() <= FAR => to - from,
            _ => 0,
        };
        // A year has 1461 / 4 days; rounded to whole weeks.
        Self {
            weeks: (years * 1461 * 2 + 28).div_euclid(56),
        }
    }

    /// Shifts a time by the distance, keeping weekday and local time in the time zone.
    pub fn apply(self, moment: Timestamp, zone: &Zone) -> Timestamp {
        zone.plus_weeks(moment, self.weeks)
    }
}

/// Parses the first four-digit number.
fn first_year(text: &str) -> Option<i64> {
    let mut numbers = text.split(|character: char| !character.is_ascii_digit());
    numbers.find(|number| number.len() == 4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weeks(from: &str, to: &str) -> i64 {
        YearShift::between(&AcademicYear::stored(from), &AcademicYear::stored(to)).weeks
    }

    #[test]
    fn next_school_year_is_52_weeks_later_without_drift() {
        assert_eq!(weeks("2026/2027", "2027/2028"), 52);
        assert_eq!(weeks("2026/27", "SY 2027-28"), 52);
        assert_eq!(weeks("2026/2027", "2025/2026"), -52);
        assert_eq!(weeks("2026", "2031"), 261);
    }

    #[test]
    fn unrecognized_school_year_shifts_nothing() {
        assert_eq!(weeks("2026/2027", "2026/2027"), 0);
        assert_eq!(weeks("2026/2027", "next"), 0);
        assert_eq!(weeks("26/27", "2027/2028"), 0);
        assert_eq!(weeks("2026", "20270"), 0);
        assert_eq!(weeks("0001", "9999"), 0);
    }

    #[test]
    fn a_monday_stays_a_monday() {
        let shift = YearShift::between(&AcademicYear::stored("2026"), &AcademicYear::stored("2027"));
        let moved = shift.apply(Timestamp::from_millis(1_000), &Zone::utc());
        assert_eq!(moved, Timestamp::from_millis(1_000 + 52 * 7 * 86_400_000));
    }
}
