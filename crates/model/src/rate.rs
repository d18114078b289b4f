//! How often somebody may ask (contract 9): so many times within a window that begins with the first request.
//! The rules are here; where the windows are remembered is not.

use crate::time::Timestamp;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rate {
    /// Requests of one person that only read.
    Read,
    /// Requests of one person that may change something.
    Change,
    /// Chat messages of one person.
    Chat,
    /// Exports of one person: what the service computes long for.
    Export,
    /// Calls for help of one group.
    Help,
    /// Imports of one organization.
    Import,
    /// Requests without a session from one address. A whole school may stand behind it.
    Address,
    /// Sockets that one person opens: all come back after a restart, and a page tries again after a few seconds.
    Socket,
    /// Requests of sockets of one person that poll.
    Poll,
    /// Requests of the document server about one document at one of its doors. A class of thirty that opens and leaves it
    /// at once is far below, and so are the four tries of a save in eight seconds.
    Document,
}

/// So many within so many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most that is let through in a window.
    pub hits: i64,
    /// The length of a window, in seconds.
    pub window: i64,
}

/// An instance tells the others of a person's requests once there are so many of them: this part of the limit.
const SHARES: i64 = 8;

/// Exports of one person that may run at the same time.
pub const EXPORTS_AT_ONCE: usize = 2;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

impl Rate {
    /// The limit as the contract names it.
    pub const fn limit(self) -> Limit {
        let (hits, window) = match self {
            Self::Read | Self::Poll => (1_200, MINUTE),
            Self::Socket => (120, MINUTE),
            Self::Change | Self::Document => (600, MINUTE),
            Self::Chat => (60, MINUTE),
            Self::Export => (6, MINUTE),
            Self::Help => (20, HOUR),
            Self::Import => (5, HOUR),
            Self::Address => (12_000, MINUTE),
        };
        Limit { hits, window }
    }
}

impl Limit {
    /// The limit of an installation with this factor (RATE_LIMIT_FACTOR): at least one request; none at all for 0.
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

    /// How many requests of one window an instance keeps to itself at most, plus one. With n instances no more than
    /// limit + (n - 1) × (share - 1) are let through, besides what comes in while a word is on its way.
    pub fn share(self) -> i64 {
        (self.hits / SHARES).max(1)
    }
}

/// What is remembered of one who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The moment of the first request in it.
    pub started_at: Timestamp,
    /// The requests that were let through.
    pub hits: i64,
}

/// How a request stands to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    /// The most within a window.
    pub limit: i64,
    /// What is left of it after this request.
    pub remaining: i64,
    /// Seconds until the window ends.
    pub resets_in: i64,
    /// Whether this request is one too many.
    pub is_refused: bool,
}

impl Window {
    /// Whether the window is over. A clock that was set back ends it too: nobody waits for the old time to come again.
    /// Requests that overtake each other are a little early and no reason to begin anew.
    pub fn is_over(&self, limit: Limit, now: Timestamp) -> bool {
        now >= self.started_at.plus_seconds(limit.window) || now < self.started_at.plus_seconds(-limit.window)
    }

    /// Counts one request: the window afterwards, and how the request stands. Refused requests do not count, so that
    /// who goes on trying waits no longer than the window.
    pub fn hit(before: Option<Self>, limit: Limit, now: Timestamp) -> (Self, Meter) {
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

    /// Adds requests that another instance let through in a window of its own. Both windows go on as the one that began
    /// first; what is over by now counts for nothing.
    #[must_use]
    pub fn join(before: Option<Self>, told: Self, limit: Limit, now: Timestamp) -> Option<Self> {
        let open = before.filter(|window| !window.is_over(limit, now));
        if told.is_over(limit, now) {
            return open;
        }
        Some(open.map_or(told, |own| Self {
            started_at: own.started_at.min(told.started_at),
            hits: own.hits.saturating_add(told.hits),
        }))
    }

    /// How the window stands to its limit.
    pub fn meter(&self, limit: Limit, now: Timestamp, is_refused: bool) -> Meter {
        let milliseconds = self.started_at.plus_seconds(limit.window).as_millis() - now.as_millis();
        Meter {
            limit: limit.hits,
            remaining: (limit.hits - self.hits).max(0),
            // Rounded up: who waits so long is let in.
            resets_in: milliseconds.div_euclid(1000) + i64::from(milliseconds.rem_euclid(1000) > 0),
            is_refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Limit = Limit { hits: 2, window: 60 };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000_000_000 + millis)
    }

    #[test]
    fn the_limit_is_let_through_and_not_one_more() {
        let (window, first) = Window::hit(None, TWO, at(0));
        assert_eq!((first.remaining, first.is_refused, first.resets_in), (1, false, 60));
        let (window, second) = Window::hit(Some(window), TWO, at(100));
        assert_eq!((second.remaining, second.is_refused, second.resets_in), (0, false, 60));
        let (window, third) = Window::hit(Some(window), TWO, at(59_001));
        assert_eq!((third.remaining, third.is_refused, third.resets_in), (0, true, 1));
        assert_eq!(window.hits, 2, "refused requests do not count");
        let (_, later) = Window::hit(Some(window), TWO, at(59_001 + third.resets_in * 1000));
        assert!(!later.is_refused, "who waits as told is let in");
    }

    #[test]
    fn a_window_ends_on_time_and_when_the_clock_is_set_back() {
        let (full, _) = Window::hit(Some(Window::hit(None, TWO, at(0)).0), TWO, at(0));
        assert!(Window::hit(Some(full), TWO, at(59_999)).1.is_refused);
        assert!(!Window::hit(Some(full), TWO, at(60_000)).1.is_refused);
        assert!(
            Window::hit(Some(full), TWO, at(-1)).1.is_refused,
            "somebody was overtaken"
        );
        assert!(!Window::hit(Some(full), TWO, at(-60_001)).1.is_refused);
    }

    #[test]
    fn what_two_instances_let_through_is_one_window() {
        let own = |started, hits| Window {
            started_at: at(started),
            hits,
        };
        let join = |before, told, now| Window::join(before, told, TWO, at(now));
        assert_eq!(join(None, own(0, 1), 10), Some(own(0, 1)));
        assert_eq!(join(Some(own(5_000, 1)), own(0, 1), 6_000), Some(own(0, 2)));
        assert_eq!(join(Some(own(0, 1)), own(5_000, 3), 6_000), Some(own(0, 4)));
        // A word of the last minute is late, and an own window of the last minute is over.
        assert_eq!(join(Some(own(61_000, 1)), own(0, 2), 62_000), Some(own(61_000, 1)));
        assert_eq!(join(Some(own(0, 2)), own(61_000, 1), 62_000), Some(own(61_000, 1)));
        assert_eq!(join(None, own(0, 2), 62_000), None);
        let meter = own(0, 4).meter(TWO, at(0), true);
        assert_eq!(meter.remaining, 0, "more than all is none left");
    }

    #[test]
    fn a_share_is_an_eighth_and_at_least_one() {
        let share = |hits| Limit { hits, window: 60 }.share();
        assert_eq!([1, 6, 8, 60, 600].map(share), [1, 1, 1, 7, 75]);
    }

    #[test]
    fn the_factor_multiplies_and_none_is_none() {
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
    fn the_limits_are_those_of_the_contract() {
        let limits = [
            (Rate::Read, 1200, 60),
            (Rate::Change, 600, 60),
            (Rate::Chat, 60, 60),
            (Rate::Export, 6, 60),
            (Rate::Help, 20, 3600),
            (Rate::Import, 5, 3600),
        ];
        for (rate, hits, window) in limits {
            assert_eq!(rate.limit(), Limit { hits, window }, "{rate:?}");
        }
    }
}
