//! How long a session lives, when it is renewed and how long it counts as fresh. Every question
//! takes the current time as an argument.

use crate::timestamp::Timestamp;

/// Whether the browser keeps the session cookies after it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// Cookies carry a Max-Age and the session is renewed while it is used.
    Yes,
    /// Cookies end with the browser and the session is never renewed.
    No,
}

/// The durations of a session, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// How long a session lives after it was issued or renewed.
    pub expires_in: i64,
    /// How old the last renewal must be before the next one.
    pub update_age: i64,
    /// How long the cached copy in `session_data` may be used.
    pub cache_max_age: i64,
    /// How long after sign-in a session counts as fresh.
    pub fresh_age: i64,
    /// How long a session lives in which an administrator acts as somebody else.
    pub impersonation: i64,
}

impl Lifecycle {
    /// The durations of the specification: 24 hours, renewed after 1 hour, cached for 5 minutes.
    pub const STANDARD: Self = Self {
        expires_in: 24 * 60 * 60,
        update_age: 60 * 60,
        cache_max_age: 5 * 60,
        fresh_age: 24 * 60 * 60,
        impersonation: 60 * 60,
    };

    /// How long the token of a password reset can be used, in seconds.
    pub const RESET_TOKEN: i64 = 60 * 60;

    /// How long the cached copy of a session lives that ends with the browser, in seconds.
    pub const UNREMEMBERED_CACHE: i64 = 60;

    /// When a session ends that is issued or renewed now.
    pub const fn expires_at(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(self.expires_in)
    }

    /// When a session ends in which an administrator starts to act as somebody else now.
    pub const fn impersonation_expires_at(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(self.impersonation)
    }

    /// Whether a session that ends then may still be used; its last millisecond counts.
    pub fn is_alive(&self, expires_at: Timestamp, now: Timestamp) -> bool {
        expires_at >= now
    }

    /// Whether a session that ends then was last renewed long enough ago to be renewed again.
    pub fn refresh_due(&self, expires_at: Timestamp, now: Timestamp) -> bool {
        expires_at.plus_seconds(self.update_age - self.expires_in) <= now
    }

    /// Whether a session created then is fresh enough for the routes that ask for it.
    pub fn is_fresh(&self, created_at: Timestamp, now: Timestamp) -> bool {
        now < created_at.plus_seconds(self.fresh_age)
    }

    /// How long the cached copy written with these cookies may be used, in seconds.
    pub const fn cache_age(&self, remember: Remember) -> i64 {
        match remember {
            Remember::Yes => self.cache_max_age,
            Remember::No => Self::UNREMEMBERED_CACHE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Lifecycle = Lifecycle::STANDARD;
    const START: Timestamp = Timestamp::from_millis(1_795_188_810_714);

    fn after(seconds: i64) -> Timestamp {
        START.plus_seconds(seconds)
    }

    #[test]
    fn a_session_ends_after_24_hours() {
        let end = LIFE.expires_at(START);
        assert_eq!(end, after(86_400));
        assert!(LIFE.is_alive(end, end));
        assert!(!LIFE.is_alive(end, Timestamp::from_millis(end.millis() + 1)));
    }

    #[test]
    fn a_session_is_renewed_from_the_first_hour_on() {
        let end = LIFE.expires_at(START);
        assert!(!LIFE.refresh_due(end, after(59 * 60)));
        assert!(!LIFE.refresh_due(end, Timestamp::from_millis(after(3600).millis() - 1)));
        assert!(LIFE.refresh_due(end, after(3600)));
        assert!(LIFE.refresh_due(end, after(80_000)));
    }

    #[test]
    fn freshness_counts_from_sign_in_not_from_renewal() {
        assert!(LIFE.is_fresh(START, after(86_399)));
        assert!(!LIFE.is_fresh(START, after(86_400)));
    }

    #[test]
    fn acting_as_somebody_else_ends_after_an_hour() {
        assert_eq!(LIFE.impersonation_expires_at(START), after(3600));
    }

    #[test]
    fn unremembered_sessions_are_cached_for_a_minute() {
        assert_eq!(LIFE.cache_age(Remember::Yes), 300);
        assert_eq!(LIFE.cache_age(Remember::No), 60);
    }
}
