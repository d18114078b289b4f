//! Limits on failed sign-ins: they hold under concurrent guesses and do not block a class that shares an address
//! (docs/api-contract.md#failed-sign-ins).

use std::time::Duration;

use common::clock;
use serde_json::json;

use test_support::Browser;
use test_support::accounts::{PASSWORD, enable, signed_in};
use test_support::rows::execute;
use test_support::{Answer, DatabaseKind, TestApp, TestUser};

/// The client address of the school in these tests.
const SCHOOL_ADDRESS: &str = "192.0.2.1";
const DAY: u64 = 24 * 3600;

/// Runs a test against a service behind a proxy, so that clients have different addresses.
async fn run_behind_proxy(story: impl AsyncFn(&TestApp)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, &["--trust-proxy=127.0.0.1"]).await {
            story(&app).await;
            app.close().await;
        }
    }
}

async fn insert_failures(app: &TestApp, account: &str, address: &str, count: usize) {
    let now = clock::now().as_millis();
    let rows: Vec<_> = (0..count)
        .map(|_| format!("('{}', '{account}', '{address}', {now})", clock::new_id()))
        .collect();
    let insert = "INSERT INTO sign_in_failures (id, account_key, address, created_at) VALUES";
    execute(&app.database, format!("{insert} {}", rows.join(", "))).await;
}

/// Records a successful sign-in of an account from the school's address, which makes it a known address.
async fn insert_known_address(app: &TestApp, account: &str) {
    let now = clock::now().as_millis();
    let insert = "INSERT INTO sign_in_successes (account_key, address, last_success_at) VALUES";
    execute(
        &app.database,
        format!("{insert} ('{account}', '{SCHOOL_ADDRESS}', {now})"),
    )
    .await;
}

fn assert_limited(answer: Answer) -> u64 {
    let seconds = answer.header("retry-after").parse().unwrap();
    answer.refused(429, "RATE_LIMITED");
    seconds
}

async fn fail_sign_in(browser: &Browser, email: &str) {
    let answer = browser.sign_in(email, "another password").await;
    answer.refused(401, "INVALID_EMAIL_OR_PASSWORD");
}

/// A transaction outside the service that locks an account and has inserted five uncommitted failures.
enum UncommittedFailures {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

impl UncommittedFailures {
    async fn begin(app: &TestApp, person: &TestUser) -> Self {
        let now = clock::now().as_millis();
        let rows: Vec<_> = (0..5)
            .map(|_| format!("('{}', '{}', '127.0.0.1', {now})", clock::new_id(), person.email))
            .collect();
        let insert = format!(
            "INSERT INTO sign_in_failures (id, account_key, address, created_at) VALUES {}",
            rows.join(", ")
        );
        let (database, id) = (app.database.clone(), person.id.clone());
        let begin = tokio::task::spawn_blocking(move || match &database {
            db::Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(Duration::from_secs(10)).unwrap();
                connection.execute_batch(&format!("BEGIN IMMEDIATE; {insert}")).unwrap();
                Self::Sqlite(connection)
            }
            db::Database::Postgres(url) => {
                let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
                let hold = format!("SELECT id FROM users WHERE id = '{id}' FOR UPDATE");
                client.batch_execute(&format!("BEGIN; {hold}; {insert}")).unwrap();
                Self::Postgres(Box::new(client))
            }
        });
        begin.await.unwrap()
    }

    async fn commit(self) {
        let commit = tokio::task::spawn_blocking(move || match self {
            Self::Sqlite(connection) => connection.execute_batch("COMMIT").unwrap(),
            Self::Postgres(mut client) => client.batch_execute("COMMIT").unwrap(),
        });
        commit.await.unwrap();
    }
}

both!(correct_password_after_uncommitted_failures_is_limited, |app| {
    let ben = &app.world.ben;
    let browser = std::sync::Arc::new(signed_in(app, ben).await);
    for (path, body) in [
        ("/auth/verify-password", json!({"password": PASSWORD})),
        (
            "/auth/change-password",
            json!({"currentPassword": PASSWORD, "newPassword": "Dreieck und Kreis"}),
        ),
        ("/auth/sign-in/email", json!({"email": ben.email, "password": PASSWORD})),
    ] {
        execute(&app.database, "DELETE FROM sign_in_failures".to_owned()).await;
        let guesses = UncommittedFailures::begin(app, ben).await;
        let asking = std::sync::Arc::clone(&browser);
        let mut request = tokio::spawn(async move { asking.copy().post(path, body).await });
        // The request may see none or all of the failures; in both cases the response must not confirm the guess.
        if let Ok(answer) = tokio::time::timeout(Duration::from_secs(2), &mut request).await {
            let status = answer.unwrap().status;
            panic!("{path} was answered with {status} while five failures were being counted");
        }
        guesses.commit().await;
        assert_limited(request.await.unwrap());
    }
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_on_many_known_accounts_limit_the_address() {
    run_behind_proxy(async |app| {
        let (ada, ben) = (&app.world.ada, &app.world.ben);
        let school = Browser::at(app, SCHOOL_ADDRESS);
        for person in [ada, ben] {
            enable(app, person).await;
            insert_known_address(app, &person.email).await;
        }
        // One failure on each of 19 other accounts that are known at this address does not block the account.
        for number in 0..19 {
            let account = format!("pupil{number}@school.example");
            insert_failures(app, &account, SCHOOL_ADDRESS, 1).await;
        }
        for _ in 0..2 {
            fail_sign_in(&school, &ada.email).await;
        }
        assert!(assert_limited(school.sign_in(&ada.email, PASSWORD).await) <= 600);
        // A correct first attempt is not blocked, and neither is a correct attempt after one failure.
        fail_sign_in(&school, &ben.email).await;
        school.sign_in(&ben.email, PASSWORD).await.expect(200);
        Browser::at(app, "198.51.100.7")
            .sign_in(&ada.email, PASSWORD)
            .await
            .expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_failures_do_not_block_first_sign_in_at_same_address() {
    run_behind_proxy(async |app| {
        let ada = &app.world.ada;
        enable(app, ada).await;
        for number in 0..12 {
            insert_failures(app, &format!("classmate{number}@school.example"), SCHOOL_ADDRESS, 5).await;
        }
        let school = Browser::at(app, SCHOOL_ADDRESS);
        school.sign_in(&ada.email, PASSWORD).await.expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundred_failures_block_account_until_password_reset() {
    run_behind_proxy(async |app| {
        let (adam, finn) = (app.as_(&app.world.adam), &app.world.finn);
        enable(app, finn).await;
        insert_known_address(app, &finn.email).await;
        let unknown = "nobody@nowhere.example";
        let close = async || {
            let now = clock::now().as_millis();
            let counts = format!(
                "DELETE FROM sign_in_failures; DELETE FROM sign_in_failure_counts;
                INSERT INTO sign_in_failure_counts (account_key, failures, last_failure_at)
                VALUES ('{}', 99, {now}), ('{unknown}', 99, {now})",
                finn.email
            );
            execute(&app.database, counts).await;
        };
        close().await;
        for (number, account) in [finn.email.as_str(), unknown].into_iter().enumerate() {
            let stranger = Browser::at(app, &format!("198.51.100.{number}"));
            fail_sign_in(&stranger, account).await;
            let elsewhere = Browser::at(app, &format!("203.0.113.{number}"));
            let seconds = assert_limited(elsewhere.sign_in(account, PASSWORD).await);
            assert!(seconds > 29 * DAY, "{account}: {seconds}");
        }
        let school = Browser::at(app, SCHOOL_ADDRESS);
        school.sign_in(&finn.email, PASSWORD).await.expect(200);
        let home = Browser::at(app, "203.0.113.9");
        assert_limited(home.sign_in(&finn.email, PASSWORD).await);
        // A reset by an administrator unblocks the account. So does a reset by email.
        let reset = format!("/users/{}/reset-password", finn.id);
        let temporary = adam.post(&reset, json!({})).await.expect(200)["temporaryPassword"].clone();
        home.sign_in(&finn.email, temporary.as_str().unwrap()).await.expect(200);
        close().await;
        let elsewhere = Browser::at(app, "203.0.113.77");
        fail_sign_in(&elsewhere, &finn.email).await;
        assert_limited(elsewhere.sign_in(&finn.email, temporary.as_str().unwrap()).await);
        let token = crate::password_resets::mailed_token(app, &finn.email).await;
        let body = json!({"newPassword": "Dreieck und Kreis", "token": token});
        elsewhere.post("/auth/reset-password", body).await.expect(200);
        elsewhere.sign_in(&finn.email, "Dreieck und Kreis").await.expect(200);
    })
    .await;
}

both!(sign_in_records_follow_email_change_and_erasure, |app| {
    let (world, ben) = (&app.world, &app.world.ben);
    let browser = signed_in(app, ben).await;
    fail_sign_in(&browser, &ben.email).await;
    let adam = app.as_(&world.adam);
    let path = format!("/users/{}", ben.id);
    adam.patch(&path, json!({"email": "ben.new@test.example"}))
        .await
        .expect(200);
    for table in ["sign_in_successes", "sign_in_failures"] {
        let keys = test_support::rows::texts(&app.database, format!("SELECT account_key FROM {table}")).await;
        assert_eq!(keys, [Some("ben.new@test.example".to_owned())], "{table}");
    }
    let erase = json!({"userId": ben.id, "dryRun": false});
    adam.post("/admin/gdpr/erase", erase).await.expect(200);
    for table in ["sign_in_successes", "sign_in_failures", "sign_in_failure_counts"] {
        let keys = test_support::rows::texts(&app.database, format!("SELECT account_key FROM {table}")).await;
        assert!(keys.is_empty(), "{table}: {keys:?}");
    }
});
