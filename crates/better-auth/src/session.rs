//! Lifetime, renewal and freshness of sessions. The current time is always an argument.

use crate::timestamp::UnixMillis;

/// Whether the browser keeps the session cookies after it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// Cookies have a Max-Age and the session is renewed while it is used.
    Yes,
    /// Cookies end with the browser and the session is never renewed.
    No,
}

/// The durations of a session, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// Lifetime after a session was issued or renewed.
    pub expires_in: i64,
    /// Minimum age of the last renewal before the next one.
    pub update_age: i64,
    /// Lifetime of the cached copy in `session_data`.
    pub cache_max_age: i64,
    /// How long after sign-in a session counts as fresh.
    pub fresh_age: i64,
    /// Lifetime of an impersonation session.
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

    /// Lifetime of the cached copy of a session that ends with the browser, in seconds.
    pub const UNREMEMBERED_CACHE: i64 = 60;

    /// Returns when a session expires that is issued or renewed now.
    pub const fn expires_at(&self, now: UnixMillis) -> UnixMillis {
        now.plus_seconds(self.expires_in)
    }

    /// Returns when an impersonation session expires that starts now.
    pub const fn impersonation_expires_at(&self, now: UnixMillis) -> UnixMillis {
        now.plus_seconds(self.impersonation)
    }

    /// Returns whether a session is still valid; its last millisecond counts.
    pub fn is_alive(&self, expires_at: UnixMillis, now: UnixMillis) -> bool {
        expires_at >= now
    }

    /// Returns whether a session was last renewed long enough ago to be renewed again.
    pub fn is_refresh_due(&self, expires_at: UnixMillis, now: UnixMillis) -> bool {
        expires_at.plus_seconds(self.update_age - self.expires_in) <= now
    }

    /// Returns whether a session is fresh enough for the routes that require it.
    pub fn is_fresh(&self, created_at: UnixMillis, now: UnixMillis) -> bool {
        now < created_at.plus_seconds(self.fresh_age)
    }

    /// Returns the lifetime of the cached copy that is written with these cookies, in seconds.
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
    const START: UnixMillis = UnixMillis::from_millis(1_795_188_810_714);

    fn after(seconds: i64) -> UnixMillis {
        START.plus_seconds(seconds)
    }

    #[test]
    fn session_expires_after_24_hours() {
        let end = LIFE.expires_at(START);
        assert_eq!(end, after(86_400));
        assert!(LIFE.is_alive(end, end));
        assert!(!LIFE.is_alive(end, UnixMillis::from_millis(end.millis() + 1)));
    }

    #[test]
    fn session_is_renewed_after_one_hour() {
        let end = LIFE.expires_at(START);
        assert!(!LIFE.is_refresh_due(end, after(59 * 60)));
        assert!(!LIFE.is_refresh_due(end, UnixMillis::from_millis(after(3600).millis() - 1)));
        assert!(LIFE.is_refresh_due(end, after(3600)));
        assert!(LIFE.is_refresh_due(end, after(80_000)));
    }

    #[test]
    fn freshness_starts_at_sign_in_not_renewal() {
        assert!(LIFE.is_fresh(START, after(86_399)));
        assert!(!LIFE.is_fresh(START, after(86_400)));
    }

    #[test]
    fn impersonation_expires_after_one_hour() {
        assert_eq!(LIFE.impersonation_expires_at(START), after(3600));
    }

    #[test]
    fn unremembered_sessions_are_cached_for_a_minute() {
        assert_eq!(LIFE.cache_age(Remember::Yes), 300);
        assert_eq!(LIFE.cache_age(Remember::No), 60);
    }
}
