//! Rate limits: a number of requests within a fixed window that begins with the first request. This module contains the
//! rules; the server stores the windows.

use crate::time::Timestamp;

/// Kind of requests that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rate {
    /// Read requests of one user.
    Read,
    /// Write requests of one user.
    Change,
    /// Commits of documents by one user.
    Commit,
    /// Room messages of one user.
    Chat,
    /// Exports of one user, which are expensive to compute.
    Export,
    /// Help requests of one group.
    Help,
    /// Imports of one organization.
    Import,
    /// Requests of one organization to roster servers.
    Roster,
    /// Requests without a session from one IP address. A whole school may share the address.
    Address,
    /// Socket connections opened by one user. All clients reconnect after a restart, and a page retries every few
    /// seconds.
    Socket,
    /// Long-polling requests of the sockets of one user.
    Poll,
    /// Requests of the document server about one document to one route. A class of thirty students who open and leave a
    /// document at the same time stays far below the limit, as do the four attempts of a save within eight seconds.
    Document,
}

/// A number of requests per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Maximum number of accepted requests in a window.
    pub hits: i64,
    /// Length of a window in seconds.
    pub window: i64,
}

/// An instance publishes its count to the others after this fraction of the limit (1/8).
const SHARES: i64 = 8;

/// Maximum number of concurrent exports of one user.
pub const EXPORTS_AT_ONCE: usize = 2;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

impl Rate {
    /// Returns the default limit, as documented in `docs/api-contract.md`.
    pub const fn limit(self) -> RateLimit {
        let (hits, window) = match self {
            Self::Read | Self::Poll => (1_200, MINUTE),
            Self::Socket => (120, MINUTE),
            Self::Change | Self::Commit | Self::Document => (600, MINUTE),
            Self::Chat => (60, MINUTE),
            Self::Export => (6, MINUTE),
            Self::Help => (20, HOUR),
            Self::Import => (5, HOUR),
            Self::Roster => (30, HOUR),
            Self::Address => (12_000, MINUTE),
        };
        RateLimit { hits, window }
    }
}

impl RateLimit {
    /// Scales the limit by `RATE_LIMIT_FACTOR`: at least one request, and no limit (`None`) for 0.
    #[must_use]
    pub fn times(self, factor: f64) -> Option<Self> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "limits are small, and a huge factor may saturate"
        )]
        let hits = (self.hits as f64 * factor).round() as i64;
        (factor > 0.0).then_some(Self {
            hits: hits.max(1),
            window: self.window,
        })
    }

    /// Returns after how many requests of one window an instance publishes its count. With n instances at most limit +
    /// (n - 1) × (share - 1) requests are accepted, plus those accepted while a message is in transit.
    pub fn share(self) -> i64 {
        (self.hits / SHARES).max(1)
    }
}

/// Requests of one client in the present window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateWindow {
    /// Time of the first request.
    pub started_at: Timestamp,
    /// Number of accepted requests.
    pub hits: i64,
}

/// Rate limit status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    /// Maximum number of requests in a window.
    pub limit: i64,
    /// Remaining requests after this one.
    pub remaining: i64,
    /// Seconds until the window ends.
    pub resets_in: i64,
    /// Whether the request is rejected.
    pub is_refused: bool,
}

impl RateWindow {
    /// Returns whether the window has ended. A clock that was set back by more than a window also ends it, so that
    /// clients need not wait for the old time. Requests processed out of order may be slightly earlier and do not end
    /// it.
    pub fn is_over(&self, limit: RateLimit, now: Timestamp) -> bool {
        now >= self.started_at.plus_seconds(limit.window) || now < self.started_at.plus_seconds(-limit.window)
    }

    /// Counts one request and returns the new window and the status of the request. Rejected requests are not counted,
    /// so that a client that keeps trying waits no longer than the window.
    pub fn hit(before: Option<Self>, limit: RateLimit, now: Timestamp) -> (Self, Meter) {
        let open = before.filter(|window| !window.is_over(limit, now));
        let mut window = open.unwrap_or(Self {
            started_at: now,
            hits: 0,
        });
        let is_refused = window.hits >= limit.hits;
        if !is_refused {
            window.hits += 1;
        }
        (window, window.meter(limit, now, is_refused))
    }

    /// Merges requests that another instance accepted in its own window. The merged window starts with the earlier of
    /// the two; windows that have ended are ignored.
    #[must_use]
    pub fn join(before: Option<Self>, reported: Self, limit: RateLimit, now: Timestamp) -> Option<Self> {
        let open = before.filter(|window| !window.is_over(limit, now));
        if reported.is_over(limit, now) {
            return open;
        }
        Some(open.map_or(reported, |own| Self {
            started_at: own.started_at.min(reported.started_at),
            hits: own.hits.saturating_add(reported.hits),
        }))
    }

    /// Returns the rate limit status of the window.
    pub fn meter(&self, limit: RateLimit, now: Timestamp, is_refused: bool) -> Meter {
        let milliseconds = self.started_at.plus_seconds(limit.window).as_millis() - now.as_millis();
        Meter {
            limit: limit.hits,
            remaining: (limit.hits - self.hits).max(0),
            // Rounded up, so that a client that waits this long is accepted.
            resets_in: milliseconds.div_euclid(1000) + i64::from(milliseconds.rem_euclid(1000) > 0),
            is_refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: RateLimit = RateLimit { hits: 2, window: 60 };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000_000_000 + millis)
    }

    #[test]
    fn rate_limit_allows_exactly_its_limit() {
        let (window, first) = RateWindow::hit(None, TWO, at(0));
        assert_eq!((first.remaining, first.is_refused, first.resets_in), (1, false, 60));
        let (window, second) = RateWindow::hit(Some(window), TWO, at(100));
        assert_eq!((second.remaining, second.is_refused, second.resets_in), (0, false, 60));
        let (window, third) = RateWindow::hit(Some(window), TWO, at(59_001));
        assert_eq!((third.remaining, third.is_refused, third.resets_in), (0, true, 1));
        assert_eq!(window.hits, 2, "refused requests do not count");
        let (_, later) = RateWindow::hit(Some(window), TWO, at(59_001 + third.resets_in * 1000));
        assert!(!later.is_refused, "a client that waits for `resets_in` is accepted");
    }

    #[test]
    fn a_window_ends_on_time_and_when_the_clock_is_set_back() {
        let (full, _) = RateWindow::hit(Some(RateWindow::hit(None, TWO, at(0)).0), TWO, at(0));
        assert!(RateWindow::hit(Some(full), TWO, at(59_999)).1.is_refused);
        assert!(!RateWindow::hit(Some(full), TWO, at(60_000)).1.is_refused);
        assert!(
            RateWindow::hit(Some(full), TWO, at(-1)).1.is_refused,
            "requests processed out of order stay in the window"
        );
        assert!(!RateWindow::hit(Some(full), TWO, at(-60_001)).1.is_refused);
    }

    #[test]
    fn counts_of_two_instances_share_one_window() {
        let own = |started, hits| RateWindow {
            started_at: at(started),
            hits,
        };
        let join = |before, reported, now| RateWindow::join(before, reported, TWO, at(now));
        assert_eq!(join(None, own(0, 1), 10), Some(own(0, 1)));
        assert_eq!(join(Some(own(5_000, 1)), own(0, 1), 6_000), Some(own(0, 2)));
        assert_eq!(join(Some(own(0, 1)), own(5_000, 3), 6_000), Some(own(0, 4)));
        // A message about an ended window is ignored, and an own window that has ended is replaced.
        assert_eq!(join(Some(own(61_000, 1)), own(0, 2), 62_000), Some(own(61_000, 1)));
        assert_eq!(join(Some(own(0, 2)), own(61_000, 1), 62_000), Some(own(61_000, 1)));
        assert_eq!(join(None, own(0, 2), 62_000), None);
        let meter = own(0, 4).meter(TWO, at(0), true);
        assert_eq!(meter.remaining, 0, "more than all is none left");
    }

    #[test]
    fn rate_share_is_an_eighth_and_at_least_one() {
        let share = |hits| RateLimit { hits, window: 60 }.share();
        assert_eq!([1, 6, 8, 60, 600].map(share), [1, 1, 1, 7, 75]);
    }

    #[test]
    fn rate_factor_multiplies_and_none_disables() {
        let times = |factor| Rate::Change.limit().times(factor).map(|limit| limit.hits);
        assert_eq!(times(0.0), None);
        assert_eq!(times(1.0), Some(600));
        assert_eq!(times(2.5), Some(1500));
        assert_eq!(times(0.005), Some(3));
        assert_eq!(
            times(0.000_001),
            Some(1),
            "a service that answers nothing is no service"
        );
    }

    #[test]
    fn rate_limits_match_the_documentation() {
        let limits = [
            (Rate::Read, 1200, 60),
            (Rate::Change, 600, 60),
            (Rate::Chat, 60, 60),
            (Rate::Export, 6, 60),
            (Rate::Help, 20, 3600),
            (Rate::Import, 5, 3600),
            (Rate::Roster, 30, 3600),
        ];
        for (rate, hits, window) in limits {
            assert_eq!(rate.limit(), RateLimit { hits, window }, "{rate:?}");
        }
    }
}
