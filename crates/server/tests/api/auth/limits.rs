//! Limits on failed sign-ins. Failures count, successes do not.

use common::clock;
use db::args;
use db::platform::CrossTenantReason;
use db::platform::users::NewUserAccount;
use domain::access::PlatformRole;
use serde_json::json;

use super::{AGE_FAILURES, Browser, FAILURES_IN_LOG, FORGET_FAILURES, PASSWORD, SET_HOME, enable, one, run, signed_in};
use test_support::{Answer, DatabaseKind, SecondInstance, TestApp};

const MINUTE: i64 = 60_000;

/// Runs a test against a service behind a proxy, so that clients have different addresses.
async fn run_behind_proxy(story: impl AsyncFn(&TestApp)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, &["--trust-proxy=127.0.0.1"]).await {
            story(&app).await;
            app.close().await;
        }
    }
}

fn assert_limited(answer: Answer, longest: u64) {
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert_eq!(answer.header("x-retry-after"), answer.header("retry-after"));
    assert!((1..=longest).contains(&seconds), "{seconds}");
    answer.refused(429, "RATE_LIMITED");
}

async fn fail_sign_ins(browser: &Browser, email: &str, times: usize) {
    for _ in 0..times {
        browser
            .sign_in(email, "another password")
            .await
            .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    }
}

/// Moves the recorded failures into the future, so that none expires during the test.
fn keep_failures_recent(app: &TestApp) {
    run(app, &AGE_FAILURES, args![-30 * MINUTE]);
}

/// Expects the limit to be active, whatever the remaining time.
fn assert_still_limited(answer: Answer) {
    assert_limited(answer, 24 * 3600);
}

both!(five_failures_from_one_address_limit_the_account, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    for email in [ada.email.as_str(), "nobody@nowhere.example"] {
        for _ in 0..5 {
            fail_sign_ins(&browser, email, 1).await;
            keep_failures_recent(app);
        }
        assert_still_limited(browser.sign_in(email, "another password").await);
        assert_still_limited(browser.sign_in(email, PASSWORD).await);
        run(app, &FORGET_FAILURES, args![]);
        fail_sign_ins(&browser, email, 1).await;
        run(app, &FORGET_FAILURES, args![]);
    }
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
});

both!(failures_are_shared_by_instances_and_survive_restart, |app| {
    let (ada, first) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    let second = SecondInstance::start(app, &[]).await;
    let there = Browser::elsewhere(&second.base);
    for browser in [&first, &there, &first, &there, &first] {
        fail_sign_ins(browser, &ada.email, 1).await;
        keep_failures_recent(app);
    }
    assert_still_limited(first.sign_in(&ada.email, PASSWORD).await);
    assert_still_limited(there.sign_in(&ada.email, PASSWORD).await);
    second.close().await;
    let restarted = SecondInstance::start(app, &[]).await;
    assert_still_limited(Browser::elsewhere(&restarted.base).sign_in(&ada.email, PASSWORD).await);
    restarted.close().await;
});

both!(forwarded_address_of_untrusted_client_is_ignored, |app| {
    let ada = &app.world.ada;
    enable(app, ada).await;
    for number in 0..5 {
        fail_sign_ins(&Browser::at(app, &format!("198.51.100.{number}")), &ada.email, 1).await;
        keep_failures_recent(app);
    }
    assert_still_limited(Browser::at(app, "203.0.113.9").sign_in(&ada.email, PASSWORD).await);
    run(app, &FORGET_FAILURES, args![]);
    let browser = Browser::at(app, "203.0.113.9");
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_eq!(
        browser.session().await["ipAddress"],
        "127.0.0.1",
        "no proxy is trusted here"
    );
});

both!(concurrent_failures_are_limited_like_sequential_ones, |app| {
    let ada = &app.world.ada;
    enable(app, ada).await;
    let browser = std::sync::Arc::new(Browser::new(app));
    let tries: Vec<_> = (0..12)
        .map(|_| {
            let (browser, email) = (std::sync::Arc::clone(&browser), ada.email.clone());
            tokio::spawn(async move { browser.sign_in(&email, "another password").await.status })
        })
        .collect();
    let mut wrong = 0;
    for one in tries {
        wrong += usize::from(one.await.unwrap() == 401);
    }
    assert_eq!(wrong, 5);
    assert_limited(browser.sign_in(&ada.email, PASSWORD).await, 60);
});

both!(thirty_users_of_one_address_sign_in_concurrently, |app| {
    let pupils: Vec<_> = (0..30).map(|number| format!("pupil{number}@school.example")).collect();
    for email in &pupils {
        let hash = Some(test_support::accounts::hash().to_owned());
        let pupil = NewUserAccount::provisioned("Pupil", email, PlatformRole::Student, hash);
        let write = app
            .app
            .store()
            .platform_write(CrossTenantReason::CommandLine, move |platform| {
                platform.insert_user(&pupil, clock::now())
            });
        write.await.unwrap();
    }
    let all = pupils.into_iter().map(|email| {
        let browser = Browser::new(app);
        tokio::spawn(async move {
            // A machine busy with other tests may be too slow to hash every password and return 503; that is not the
            // limit.
            loop {
                let answer = browser.sign_in(&email, PASSWORD).await;
                if answer.status != 503 {
                    return answer.status;
                }
            }
        })
    });
    let started = std::time::Instant::now();
    for one in all.collect::<Vec<_>>() {
        assert_eq!(one.await.unwrap(), 200);
    }
    println!("30 sign-ins at once in {:?}", started.elapsed());
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_elsewhere_do_not_block_a_known_address() {
    run_behind_proxy(async |app| {
        let ada = &app.world.ada;
        enable(app, ada).await;
        let home = Browser::at(app, "192.0.2.1");
        home.sign_in(&ada.email, PASSWORD).await.expect(200);
        let mut refused = (0, 0);
        for number in 0..100 {
            let stranger = Browser::at(app, &format!("198.51.100.{}", number % 50));
            match stranger.sign_in(&ada.email, "another password").await.status {
                401 => refused.0 += 1,
                429 => refused.1 += 1,
                status => panic!("{status}"),
            }
        }
        assert_eq!(
            refused,
            (10, 90),
            "ten failures of one account in a quarter of an hour, from wherever"
        );
        assert_limited(Browser::at(app, "203.0.113.9").sign_in(&ada.email, PASSWORD).await, 900);
        home.sign_in(&ada.email, PASSWORD).await.expect(200);
        fail_sign_ins(&home, &ada.email, 5).await;
        assert_limited(home.sign_in(&ada.email, PASSWORD).await, 60);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_on_many_accounts_limit_the_address() {
    run_behind_proxy(async |app| {
        let ada = &app.world.ada;
        enable(app, ada).await;
        let stranger = Browser::at(app, "2001:db8:0:1::1");
        for number in 0..60 {
            fail_sign_ins(&stranger, &format!("pupil{number}@school.example"), 1).await;
        }
        let neighbour = Browser::at(app, "2001:db8:0:1:ffff::2");
        assert_limited(neighbour.sign_in(&ada.email, PASSWORD).await, 600);
        Browser::at(app, "2001:db8:0:2::1")
            .sign_in(&ada.email, PASSWORD)
            .await
            .expect(200);
        run(app, &AGE_FAILURES, args![10 * MINUTE]);
        neighbour.sign_in(&ada.email, PASSWORD).await.expect(200);
    })
    .await;
}

both!(wrong_passwords_within_a_session_are_limited, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    for _ in 0..5 {
        let wrong = browser
            .post("/auth/verify-password", json!({"password": "another password"}))
            .await;
        wrong.refused(400, "INVALID_PASSWORD");
        keep_failures_recent(app);
    }
    let right = json!({"password": PASSWORD});
    assert_still_limited(browser.post("/auth/verify-password", right).await);
    let change = json!({"currentPassword": PASSWORD, "newPassword": "Dreieck und Kreis"});
    assert_still_limited(browser.post("/auth/change-password", change).await);
});

tenants!(school_log_contains_failures_of_its_own_accounts, |app| {
    let (world, browser) = (&app.world, Browser::new(app));
    enable(app, &world.ada).await;
    run(app, &SET_HOME, args![world.ada.id, world.north]);
    fail_sign_ins(&browser, &world.ada.email, 2).await;
    fail_sign_ins(&browser, &world.nobody.email, 1).await;
    let received = |organization: &str, user: &str| one::<i64>(app, &FAILURES_IN_LOG, args![organization, user]);
    assert_eq!(received(&world.north, &world.ada.id), 2);
    assert_eq!(
        received(&world.south, &world.ada.id) + received(&world.north, &world.nobody.id),
        0
    );
});
