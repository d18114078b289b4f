//! Limits on failed sign-ins. Failures count, successes do not.

use common::clock;
use db::args;
use db::platform::CrossTenantReason;
use db::platform::users::NewUserAccount;
use model::access::PlatformRole;
use serde_json::json;

use super::{AGE_FAILURES, Browser, FAILURES_IN_LOG, FORGET_FAILURES, PASSWORD, SET_HOME, enable, one, run, signed_in};
use test_support::{Answer, Kind, SecondInstance, TestApp};

const MINUTE: i64 = 60_000;

/// Runs a test against a service behind a proxy, so that clients have different addresses.
async fn behind_proxy(story: impl AsyncFn(&TestApp)) {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, &["--trust-proxy=127.0.0.1"]).await {
            story(&app).await;
            app.close().await;
        }
    }
}

fn limited(answer: Answer, longest: u64) {
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert_eq!(answer.header("x-retry-after"), answer.header("retry-after"));
    assert!((1..=longest).contains(&seconds), "{seconds}");
    answer.refused(429, "RATE_LIMITED");
}

async fn fail(browser: &Browser, email: &str, times: usize) {
    for _ in 0..times {
        browser
            .sign_in(email, "another password")
            .await
            .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    }
}

/// Moves the recorded failures into the future, so that none expires during the test.
fn hold(app: &TestApp) {
    run(app, &AGE_FAILURES, args![-30 * MINUTE]);
}

/// Expects the limit to be active, whatever the remaining time.
fn still_limited(answer: Answer) {
    limited(answer, 24 * 3600);
}

both!(five_failures_of_one_account_from_one_address_are_enough, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    for email in [ada.email.as_str(), "nobody@nowhere.example"] {
        for _ in 0..5 {
            fail(&browser, email, 1).await;
            hold(app);
        }
        still_limited(browser.sign_in(email, "another password").await);
        still_limited(browser.sign_in(email, PASSWORD).await);
        run(app, &FORGET_FAILURES, args![]);
        fail(&browser, email, 1).await;
        run(app, &FORGET_FAILURES, args![]);
    }
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
});

both!(what_failed_is_known_to_every_instance_and_after_a_restart, |app| {
    let (ada, first) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    let second = SecondInstance::start(app, &[]).await;
    let there = Browser::elsewhere(&second.base);
    for browser in [&first, &there, &first, &there, &first] {
        fail(browser, &ada.email, 1).await;
        hold(app);
    }
    still_limited(first.sign_in(&ada.email, PASSWORD).await);
    still_limited(there.sign_in(&ada.email, PASSWORD).await);
    second.close().await;
    let restarted = SecondInstance::start(app, &[]).await;
    still_limited(Browser::elsewhere(&restarted.base).sign_in(&ada.email, PASSWORD).await);
    restarted.close().await;
});

both!(nobody_chooses_the_address_he_is_counted_under, |app| {
    let ada = &app.world.ada;
    enable(app, ada).await;
    for number in 0..5 {
        fail(&Browser::at(app, &format!("198.51.100.{number}")), &ada.email, 1).await;
        hold(app);
    }
    still_limited(Browser::at(app, "203.0.113.9").sign_in(&ada.email, PASSWORD).await);
    run(app, &FORGET_FAILURES, args![]);
    let browser = Browser::at(app, "203.0.113.9");
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_eq!(
        browser.session().await["ipAddress"],
        "127.0.0.1",
        "no proxy is trusted here"
    );
});

tenants!(many_at_once_find_out_no_more_than_one_after_the_other, |app| {
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
    limited(browser.sign_in(&ada.email, PASSWORD).await, 60);
});

both!(a_class_behind_one_address_signs_in_together, |app| {
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
async fn strangers_cannot_lock_a_person_out_of_his_usual_computer() {
    behind_proxy(async |app| {
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
        limited(Browser::at(app, "203.0.113.9").sign_in(&ada.email, PASSWORD).await, 900);
        home.sign_in(&ada.email, PASSWORD).await.expect(200);
        fail(&home, &ada.email, 5).await;
        limited(home.sign_in(&ada.email, PASSWORD).await, 60);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_cannot_try_the_whole_school() {
    behind_proxy(async |app| {
        let ada = &app.world.ada;
        enable(app, ada).await;
        let stranger = Browser::at(app, "2001:db8:0:1::1");
        for number in 0..60 {
            fail(&stranger, &format!("pupil{number}@school.example"), 1).await;
        }
        let neighbour = Browser::at(app, "2001:db8:0:1:ffff::2");
        limited(neighbour.sign_in(&ada.email, PASSWORD).await, 600);
        Browser::at(app, "2001:db8:0:2::1")
            .sign_in(&ada.email, PASSWORD)
            .await
            .expect(200);
        run(app, &AGE_FAILURES, args![10 * MINUTE]);
        neighbour.sign_in(&ada.email, PASSWORD).await.expect(200);
    })
    .await;
}

both!(an_unattended_session_is_no_way_to_try_passwords, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    for _ in 0..5 {
        let wrong = browser
            .post("/auth/verify-password", json!({"password": "another password"}))
            .await;
        wrong.refused(400, "INVALID_PASSWORD");
        hold(app);
    }
    let right = json!({"password": PASSWORD});
    still_limited(browser.post("/auth/verify-password", right).await);
    let change = json!({"currentPassword": PASSWORD, "newPassword": "Dreieck und Kreis"});
    still_limited(browser.post("/auth/change-password", change).await);
});

tenants!(a_school_reads_of_failures_on_the_accounts_it_made, |app| {
    let (world, browser) = (&app.world, Browser::new(app));
    enable(app, &world.ada).await;
    run(app, &SET_HOME, args![world.ada.id, world.north]);
    fail(&browser, &world.ada.email, 2).await;
    fail(&browser, &world.nobody.email, 1).await;
    let told = |organization: &str, user: &str| one::<i64>(app, &FAILURES_IN_LOG, args![organization, user]);
    assert_eq!(told(&world.north, &world.ada.id), 2);
    assert_eq!(
        told(&world.south, &world.ada.id) + told(&world.north, &world.nobody.id),
        0
    );
});
