//! Reads the system clock (the only place in this crate that does) and formats timestamps. Time itself is never scaled;
//! delays are scaled where they are slept.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
pub(crate) fn now_millis() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("the clock of this machine is after 1970");
    u64::try_from(since.as_millis()).expect("milliseconds fit until the year 584 million")
}

/// Seconds since the Unix epoch, as used in tokens.
pub(crate) fn now_seconds() -> u64 {
    now_millis() / 1000
}

/// Formats as `2026-11-20T10:00:00.000Z`, the form of `lastsave`.
pub(crate) fn iso(millis: u64) -> String {
    let (year, month, day) = civil(millis / 86_400_000);
    let rest = millis % 86_400_000;
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Formats as `2026-11-20 10:00:00`, the form used in `history.changes`.
pub(crate) fn plain(millis: u64) -> String {
    iso(millis)[..19].replace('T', " ")
}

/// Converts days since the Unix epoch to a Gregorian date, counting 400-year eras that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(1_795_132_800_123), "2026-11-20T00:00:00.123Z");
        assert_eq!(plain(1_795_132_800_123), "2026-11-20 00:00:00");
    }
}
