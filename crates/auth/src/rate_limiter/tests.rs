//! Tests of counting, eviction and counts exchanged between instances.

#![expect(clippy::unwrap_used, reason = "tests may panic")]
use std::sync::Mutex;

use super::*;

fn with_factor(factor: f64) -> RateLimiter {
    RateLimiter::new(factor, &Secret::new("of all instances"))
}

/// Several limiters that deliver their counts to each other immediately.
fn instances(number: usize, factor: f64, words: &Arc<AtomicI64>) -> Vec<RateLimiter> {
    let all: Vec<RateLimiter> = (0..number).map(|_| with_factor(factor)).collect();
    for (own, rate_limiter) in all.iter().enumerate() {
        let (others, words) = (all.clone(), Arc::clone(words));
        rate_limiter.report_with(move |count| {
            words.fetch_add(1, Ordering::Relaxed);
            let heard = serde_json::from_str(&serde_json::to_string(&count).unwrap()).unwrap();
            assert_eq!(count, heard);
            let others = others.iter().enumerate().filter(|(other, _)| *other != own);
            others.for_each(|(_, rate_limiter)| rate_limiter.add(heard));
        });
    }
    all
}

#[test]
fn instances_together_allow_little_more_than_one_limit() {
    let ben = UserId::new("ben");
    for number in 1..=4_usize {
        for order in ["in turn", "one after the other"] {
            let words = Arc::default();
            let all = instances(number, 0.16, &words);
            let limit = all[0].limit(Rate::Change).unwrap();
            let asks = usize::try_from(limit.hits).unwrap() * number * 2;
            let let_through = (0..asks).filter(|ask| {
                let at = if order == "in turn" {
                    ask % number
                } else {
                    ask * number / asks
                };
                !all[at].check_user(Rate::Change, &ben).unwrap().is_refused
            });
            let let_through = i64::try_from(let_through.count()).unwrap();
            let more = (i64::try_from(number).unwrap() - 1) * (limit.share() - 1);
            let fits = (limit.hits..=limit.hits + more).contains(&let_through);
            assert!(fits, "{number} {order}: {let_through} of {limit:?}");
            assert!(words.load(Ordering::Relaxed) <= 8 + 2 * i64::try_from(number).unwrap());
            assert!(
                all.iter()
                    .all(|rate_limiter| rate_limiter.check_user(Rate::Change, &ben).unwrap().remaining == 0)
            );
            assert!(!all[0].check_user(Rate::Change, &UserId::new("cem")).unwrap().is_refused);
        }
    }
}

#[test]
fn counts_are_shared_only_for_heavy_use_and_low_limits() {
    let words = Arc::default();
    let all = instances(2, 1.0, &words);
    for number in 0..100 {
        let pupil = UserId::new(format!("pupil {number}"));
        for _ in 0..149 {
            all[number % 2].check_user(Rate::Read, &pupil);
        }
        all[1].check_address("192.0.2.1");
    }
    assert_eq!(words.load(Ordering::Relaxed), 0);
    let ben = UserId::new("ben");
    let refused = (0..8).map(|ask| all[ask % 2].check_user(Rate::Export, &ben).unwrap().is_refused);
    assert_eq!(refused.filter(|refused| *refused).count(), 2, "six exports, wherever");
}

#[test]
fn shared_count_of_former_window_is_ignored() {
    let words = Arc::default();
    let all = instances(2, 0.02, &words);
    let ben = UserId::new("ben");
    let (late, counted) = (with_factor(0.02), Arc::new(Mutex::new(Vec::new())));
    let entry = Arc::clone(&counted);
    late.report_with(move |count| entry.lock().unwrap().push(count));
    for _ in 0..12 {
        late.check_user(Rate::Change, &ben);
    }
    all[0].advance_clock(61);
    counted.lock().unwrap().iter().for_each(|count| all[0].add(*count));
    assert_eq!(all[0].check_user(Rate::Change, &ben).unwrap().remaining, 11);
    counted.lock().unwrap().iter().for_each(|count| all[1].add(*count));
    assert!(
        all[1].check_user(Rate::Change, &ben).unwrap().is_refused,
        "on time it counts"
    );
}

#[test]
fn users_are_counted_separately_and_windows_expire() {
    let rate_limiter = with_factor(0.005);
    let (ben, cem) = (UserId::new("ben"), UserId::new("cem"));
    let refused = |user: &UserId| rate_limiter.check_user(Rate::Change, user).unwrap().is_refused;
    assert_eq!([(); 4].map(|()| refused(&ben)), [false, false, false, true]);
    assert!(!refused(&cem));
    assert!(
        !rate_limiter.check_user(Rate::Read, &ben).unwrap().is_refused,
        "reads are counted apart"
    );
    rate_limiter.advance_clock(30);
    assert!(refused(&ben), "the window has not ended");
    rate_limiter.advance_clock(30);
    assert!(!refused(&ben));
}

#[test]
fn exhausted_token_is_remembered_until_window_ends() {
    let rate_limiter = with_factor(0.001);
    let ben = UserId::new("ben");
    rate_limiter.check_user(Rate::Change, &ben);
    let meter = rate_limiter.check_user(Rate::Change, &ben).unwrap();
    rate_limiter.remember_exhausted(Rate::Change, "token", meter);
    assert!(rate_limiter.exhausted(Rate::Change, "token").unwrap().is_refused);
    assert_eq!(rate_limiter.exhausted(Rate::Change, "other"), None);
    assert_eq!(rate_limiter.exhausted(Rate::Read, "token"), None);
    rate_limiter.advance_clock(meter.resets_in);
    assert_eq!(rate_limiter.exhausted(Rate::Change, "token"), None);
}

#[test]
fn many_addresses_use_bounded_memory_and_keep_user_counts() {
    let rate_limiter = with_factor(0.000_1);
    let ben = UserId::new("ben");
    rate_limiter.check_user(Rate::Change, &ben);
    let (_, most) = rate_limiter.0.addresses.window_count();
    for number in 0..2 * most {
        rate_limiter.check_address(&number.to_string());
    }
    let (entry, _) = rate_limiter.0.addresses.window_count();
    assert!(entry <= most, "{entry}");
    assert!(rate_limiter.check_user(Rate::Change, &ben).unwrap().is_refused);
}

#[test]
fn user_runs_at_most_two_exports_concurrently() {
    let rate_limiter = with_factor(1.0);
    let (ben, cem) = (UserId::new("ben"), UserId::new("cem"));
    let first = rate_limiter.acquire_export(&ben).unwrap();
    let second = rate_limiter.acquire_export(&ben).unwrap();
    assert!(matches!(
        rate_limiter.acquire_export(&ben),
        Err(Error::RateLimited { .. })
    ));
    assert!(rate_limiter.acquire_export(&cem).is_ok());
    drop(first);
    assert!(rate_limiter.acquire_export(&ben).is_ok());
    drop(second);
    assert!(rate_limiter.0.running_exports.is_idle());
}

#[test]
fn key_depends_on_secret_rate_and_each_part_of_the_subject() {
    let rate_limiter = with_factor(1.0);
    let key = rate_limiter.key(Rate::Document, &["callback", "d1"]);
    assert_eq!(
        with_factor(1.0).key(Rate::Document, &["callback", "d1"]),
        key,
        "every instance"
    );
    assert_ne!(rate_limiter.key(Rate::Document, &["callbackd", "1"]), key);
    assert_ne!(rate_limiter.key(Rate::Read, &["callback", "d1"]), key);
    let other = RateLimiter::new(1.0, &Secret::new("of another installation"));
    assert_ne!(other.key(Rate::Document, &["callback", "d1"]), key);
}

#[test]
fn rate_limits_are_disabled_without_factor() {
    let rate_limiter = with_factor(0.0);
    assert_eq!(rate_limiter.check_user(Rate::Change, &UserId::new("ben")), None);
    assert_eq!(rate_limiter.check_address("192.0.2.1"), None);
    assert!(rate_limiter.acquire_export(&UserId::new("ben")).unwrap().is_none());
}
