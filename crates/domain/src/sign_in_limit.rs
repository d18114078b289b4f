//! Limits of failed sign-ins. Only failures count, so that a class behind one IP address can sign in together. An
//! address from which the account signed in recently is a known address of this account: failures elsewhere never block
//! it there.

use crate::time::Timestamp;

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

/// A number of failures within a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureLimit {
    /// Number of failures that reach the limit.
    pub failures: i64,
    /// Length of the window in seconds.
    pub window: i64,
}

/// Failures of one account from one address.
pub const PAIR: FailureLimit = FailureLimit {
    failures: 5,
    window: MINUTE,
};
/// Failures of one account from all addresses that are not known addresses of it.
pub const ACCOUNT: FailureLimit = FailureLimit {
    failures: 10,
    window: 15 * MINUTE,
};
/// Distinct accounts that failed from one address. Reaching the limit blocks the address for accounts not known there.
pub const ADDRESS: FailureLimit = FailureLimit {
    failures: 60,
    window: 10 * MINUTE,
};
/// Distinct accounts that failed from one address. Once it is reached, [`PAIR_WHILE_GUESSING`] applies at this address,
/// even to accounts known there.
pub const GUESSING: FailureLimit = FailureLimit {
    failures: 20,
    window: 10 * MINUTE,
};
/// Failures of one account from an address at which many accounts fail. The correct password at the first attempt
/// always succeeds, so that one student who guesses passwords of classmates does not block the class.
pub const PAIR_WHILE_GUESSING: FailureLimit = FailureLimit {
    failures: 2,
    window: 10 * MINUTE,
};
/// Consecutive failures that block an account: at all addresses that are not known, or at one known address.
pub const CONSECUTIVE: i64 = 100;
/// The longest of all windows, in seconds.
pub const LONGEST_WINDOW: i64 = ACCOUNT.window;
/// How long an address remains known after a successful sign-in, and how long consecutive failures are remembered, in
/// seconds.
pub const FAILURE_RETENTION: i64 = 30 * DAY;
/// Maximum number of stored failure counts for accounts that do not exist.
pub const UNKNOWN_ACCOUNTS: i64 = 100_000;

impl FailureLimit {
    /// Returns the start of the window that ends now.
    #[must_use]
    pub fn since(self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.window)
    }

    fn opens_at(self, failure: Timestamp) -> Timestamp {
        failure.plus_seconds(self.window)
    }
}

/// Earlier failures that an attempt is checked against. Each timestamp is that of the n-th latest failure (or distinct
/// account) within the window, where n is the number of failures of the limit; `None` if there are fewer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureHistory {
    /// The latest successful sign-in of the account from this address within [`FAILURE_RETENTION`].
    pub known_since: Option<Timestamp>,
    /// See [`PAIR`].
    pub pair: Option<Timestamp>,
    /// See [`PAIR_WHILE_GUESSING`].
    pub pair_while_guessing: Option<Timestamp>,
    /// See [`ACCOUNT`].
    pub account: Option<Timestamp>,
    /// See [`ADDRESS`].
    pub address: Option<Timestamp>,
    /// See [`GUESSING`].
    pub guessing: Option<Timestamp>,
    /// Consecutive failures: from this address if it is known, otherwise from all addresses that are not.
    pub consecutive: i64,
    /// The latest of the consecutive failures from addresses that are not known.
    pub last_failure: Option<Timestamp>,
}

impl FailureHistory {
    /// Returns when the next attempt is allowed; `None` if it is allowed now.
    pub fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        let while_guessing = self
            .guessing
            .zip(self.pair_while_guessing)
            .map(|(guessing, pair)| GUESSING.opens_at(guessing).min(PAIR_WHILE_GUESSING.opens_at(pair)));
        let consecutive = (self.consecutive >= CONSECUTIVE).then(|| {
            self.known_since
                .or(self.last_failure)
                .unwrap_or(now)
                .plus_seconds(FAILURE_RETENTION)
        });
        let unless_known = |time: Option<Timestamp>| time.filter(|_| self.known_since.is_none());
        let times = [
            self.pair.map(|time| PAIR.opens_at(time)),
            while_guessing,
            consecutive,
            unless_known(self.account).map(|time| ACCOUNT.opens_at(time)),
            unless_known(self.address).map(|time| ADDRESS.opens_at(time)),
        ];
        times.into_iter().flatten().max().filter(|time| *time > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus_seconds(seconds)
    }

    fn history() -> FailureHistory {
        FailureHistory::default()
    }

    #[test]
    fn history_without_failures_is_open() {
        assert_eq!(history().opens_at(at(0)), None);
    }

    #[test]
    fn pair_limit_holds_for_known_and_unknown_addresses() {
        for known_since in [None, Some(at(-5))] {
            let history = FailureHistory {
                pair: Some(at(0)),
                known_since,
                ..history()
            };
            assert_eq!(history.opens_at(at(1)), Some(at(60)));
            assert_eq!(history.opens_at(at(60)), None);
        }
    }

    #[test]
    fn failures_at_other_addresses_do_not_lock_known_one() {
        let closed = FailureHistory {
            account: Some(at(0)),
            address: Some(at(0)),
            ..history()
        };
        assert_eq!(closed.opens_at(at(1)), Some(at(15 * MINUTE)));
        let known = FailureHistory {
            known_since: Some(at(-DAY)),
            ..closed
        };
        assert_eq!(known.opens_at(at(1)), None);
    }

    #[test]
    fn address_with_many_failures_keeps_two_tries_per_account() {
        let guessing = FailureHistory {
            guessing: Some(at(0)),
            known_since: Some(at(-DAY)),
            ..history()
        };
        assert_eq!(guessing.opens_at(at(1)), None, "the first try of an account is open");
        let tried = FailureHistory {
            pair_while_guessing: Some(at(100)),
            ..guessing
        };
        assert_eq!(
            tried.opens_at(at(120)),
            Some(at(10 * MINUTE)),
            "until others stop failing"
        );
        let quiet = FailureHistory {
            guessing: None,
            ..tried
        };
        assert_eq!(quiet.opens_at(at(120)), None);
    }

    #[test]
    fn hundred_consecutive_failures_lock_for_thirty_days() {
        let failures = |consecutive, known_since| FailureHistory {
            consecutive,
            known_since,
            last_failure: Some(at(0)),
            ..history()
        };
        assert_eq!(failures(99, None).opens_at(at(1)), None);
        assert_eq!(failures(100, None).opens_at(at(1)), Some(at(FAILURE_RETENTION)));
        assert_eq!(
            failures(100, Some(at(-DAY))).opens_at(at(1)),
            Some(at(FAILURE_RETENTION - DAY)),
            "then the address is not known any more"
        );
    }
}
