//! Rate limits: which caller a request counts for, which headers and errors report it, and that no caller can use up
//! the limit of another.

use std::sync::Arc;

use api::endpoint::Endpoints;
use api::layers;
use api::route_limits::RouteLimits;
use api::router;
use auth::rate_limiter::RateLimiter;
use axum::body::Body;
use axum::http::Request;
use axum::middleware::from_fn_with_state;
use common::clock;
use common::settings::Secret;
use db::args;
use db::platform::CrossTenantReason;
use db::platform::sessions::Session;
use domain::access::Access;
use domain::id::{OrganizationId, SessionId, UserId};
use domain::rate::{Rate, RateLimit};
use reqwest::Method;
use serde_json::json;
use tower::ServiceExt as _;
use utoipa_axum::routes;

use test_support::{AUTH_SECRET, Answer, Client, DatabaseKind, FRONTEND, TestApp, TestUser};

db::statements! {
    /// Moves the windows of schools into the past.
    AGE_WINDOWS = "UPDATE rate_windows SET window_started_at = window_started_at - $1";
}

/// With this factor, a user may send 6 reads and 3 changes per minute. An address without a session may send 60
/// requests.
const SMALL_LIMITS: &str = "--rate-limit-factor=0.005";

async fn run_with_flags(flags: &[&str], story: impl AsyncFn(&TestApp)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, flags).await {
            story(&app).await;
            app.close().await;
        }
    }
}

fn header_number(answer: &Answer, header: &str) -> i64 {
    let text = answer.header(header);
    text.parse().unwrap_or_else(|_| panic!("{header}: {text:?}"))
}

#[track_caller]
fn assert_limited(answer: Answer, longest: i64) -> i64 {
    let seconds = header_number(&answer, "retry-after");
    assert!((1..=longest).contains(&seconds), "{seconds}");
    answer.refused(429, "RATE_LIMITED");
    seconds
}

/// Returns a client of the same user on another computer.
async fn second_session(app: &TestApp, person: &TestUser, organization: &str) -> Client {
    let now = clock::now();
    let session = Session {
        id: SessionId::new(clock::new_id()),
        token: better_auth::token::session_token(),
        user_id: UserId::new(&*person.id),
        expires_at: now.plus_seconds(86_400),
        created_at: now,
        updated_at: now,
        ip_address: None,
        user_agent: None,
        active_organization_id: Some(OrganizationId::new(organization)),
        impersonated_by: None,
        new_password_until: None,
        confirmed_at: None,
        sign_on: None,
    };
    let cookie = better_auth::cookie::sign(AUTH_SECRET, &session.token);
    let store = app.app.store();
    let write = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        platform.insert_session(&session)
    });
    write.await.unwrap();
    Client::new(&app.base, Some(format!("better-auth.session_token={cookie}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rate_limit_is_shared_by_all_sessions_of_a_user() {
    run_with_flags(&[SMALL_LIMITS], async |app| {
        let world = &app.world;
        let (ben, cem) = (app.as_(&world.ben), app.as_(&world.cem));
        let second_session = second_session(app, &world.ben, &world.north).await;
        for left in (0..6).rev() {
            let client = if left % 2 == 0 { &ben } else { &second_session };
            let answer = client.get("/groups").await;
            assert_eq!(header_number(&answer, "ratelimit-limit"), 6);
            assert_eq!(header_number(&answer, "ratelimit-remaining"), left);
            assert!((1..=60).contains(&header_number(&answer, "ratelimit-reset")));
            answer.expect(200);
        }
        assert_limited(second_session.get("/groups").await, 60);
        let refused = ben.get("/users/me").await;
        assert_eq!(header_number(&refused, "ratelimit-remaining"), 0);
        assert_eq!(refused.header("retry-after"), refused.header("ratelimit-reset"));
        assert_eq!(refused.header("retry-after"), refused.header("x-retry-after"));
        let seconds = assert_limited(refused, 60);

        cem.get("/groups").await.expect(200);
        let change = ben.patch("/users/me", json!({"locale": "de"})).await;
        assert_eq!(
            header_number(&change, "ratelimit-limit"),
            3,
            "reads and changes are counted apart"
        );
        change.expect(200);

        app.app.rate_limiter().advance_clock(seconds);
        ben.get("/groups").await.expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rate_limit_is_checked_before_other_checks() {
    run_with_flags(&[SMALL_LIMITS], async |app| {
        let ben = app.as_(&app.world.ben);
        for status in [403, 404, 400] {
            let answer = match status {
                403 => ben.post("/subjects", json!({"name": "x"})).await,
                404 => ben.post("/groups/unknown/help", json!({})).await,
                _ => ben.patch("/users/me", json!({"locale": 7})).await,
            };
            assert!(
                header_number(&answer, "ratelimit-remaining") < 3,
                "refusals count and say so"
            );
            answer.expect(status);
        }
        let evil = ben.with("origin", "https://evil.example");
        assert_limited(evil.post("/subjects", json!({"name": 7})).await, 60);
        assert_limited(ben.post("/groups/unknown/help", json!({})).await, 60);
        // Public routes also identify the caller.
        assert_limited(ben.post("/auth/sign-out", json!({})).await, 60);
        assert_limited(ben.delete("/subjects/x").await, 60);
        app.stranger()
            .post("/subjects", json!({}))
            .await
            .refused(401, "UNAUTHENTICATED");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anonymous_requests_are_limited_by_address_only() {
    run_with_flags(&[SMALL_LIMITS], async |app| {
        let stranger = app.stranger();
        for number in 0..60 {
            // A client that is not a trusted proxy cannot choose its address through `x-forwarded-for`.
            let spoofed = stranger.with("x-forwarded-for", &format!("198.51.100.{number}"));
            let answer = if number % 2 == 0 {
                spoofed.get("/auth/get-session").await
            } else {
                spoofed.get("/groups").await
            };
            assert_ne!(answer.status, 429, "{number}");
            assert!(!answer.headers.contains_key("ratelimit-limit"));
        }
        let spoofed = stranger.with("x-forwarded-for", "203.0.113.9");
        assert_limited(spoofed.get("/auth/get-session").await, 60);
        let forged = stranger.with("cookie", "better-auth.session_token=nonsense.nonsense");
        assert_limited(forged.get("/groups").await, 60);
        // Other users behind the same address can still sign in and work, and health checks still pass.
        app.as_(&app.world.ada).get("/groups").await.expect(200);
        let wrong = json!({"email": app.world.ben.email, "password": "not the password"});
        let answer = stranger.post("/auth/sign-in/email", wrong).await;
        answer.refused(401, "INVALID_EMAIL_OR_PASSWORD");
        for _ in 0..70 {
            stranger.get("/health/live").await.expect(200);
        }
        app.app.rate_limiter().advance_clock(60);
        stranger.get("/auth/get-session").await.expect(200);
    })
    .await;
    run_with_flags(&[SMALL_LIMITS, "--trust-proxy=127.0.0.1"], async |app| {
        let at = |address: &str| app.stranger().with("x-forwarded-for", address);
        for _ in 0..60 {
            at("198.51.100.1").get("/auth/ok").await.expect(200);
        }
        assert_limited(at("198.51.100.1").get("/auth/ok").await, 60);
        assert_limited(at("203.0.113.7, 198.51.100.1").get("/auth/ok").await, 60);
        at("198.51.100.2").get("/auth/ok").await.expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_are_limited_in_rate_and_concurrency() {
    run_with_flags(&["--rate-limit-factor=1"], async |app| {
        let (world, path) = (&app.world, "/activity-logs/export.csv");
        let (adam, olga) = (app.as_(&world.adam), app.as_(&world.olga));
        let user = UserId::new(&*world.adam.id);
        let running: Vec<_> = (0..2)
            .map(|_| app.app.rate_limiter().acquire_export(&user).unwrap())
            .collect();
        assert_limited(adam.get(path).await, 60);
        olga.get(path).await.bytes.clear();
        drop(running);
        for left in (0..5).rev() {
            let answer = adam.get(path).await;
            assert_eq!(answer.status, 200, "an export that is over gives its place back");
            assert_eq!(header_number(&answer, "ratelimit-limit"), 6);
            assert_eq!(header_number(&answer, "ratelimit-remaining"), left);
        }
        assert_limited(adam.get(path).await, 60);
        let other = adam.get("/groups").await;
        assert_eq!(header_number(&other, "ratelimit-limit"), 1200);
        other.expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn help_requests_of_a_group_are_limited_per_hour() {
    // Two calls per hour.
    run_with_flags(&["--rate-limit-factor=0.1"], async |app| {
        let world = &app.world;
        let (ada, ben, cem, dana) = (
            app.as_(&world.ada),
            app.as_(&world.ben),
            app.as_(&world.cem),
            app.as_(&world.dana),
        );
        let group = async |members: &[&str]| {
            let new = json!({"classId": world.seven_b.id, "memberIds": members});
            let group = ada.post("/groups", new).await.expect(201);
            format!("/groups/{}/help", group["id"].as_str().unwrap())
        };
        let ours = group(&[&world.ben.id, &world.cem.id]).await;
        let theirs = group(&[&world.dana.id]).await;
        ben.post(&ours, json!({})).await.expect(200);
        // Rejected requests of other users and invalid requests do not count.
        for _ in 0..3 {
            dana.post(&ours, json!({})).await.refused(404, "NOT_FOUND");
            ben.post(&ours, json!({"message": 7}))
                .await
                .refused(400, "VALIDATION_ERROR");
        }
        cem.post(&ours, json!({})).await.expect(200);
        assert_limited(ben.post(&ours, json!({})).await, 3600);
        assert_limited(cem.post(&ours, json!({})).await, 3600);
        dana.post(&theirs, json!({})).await.expect(200);
        let age = async |milliseconds: i64| {
            assert_eq!(STATEMENTS.len(), 1);
            app.raw(move |connection| connection.execute(&AGE_WINDOWS, args![milliseconds]).unwrap())
                .await;
        };
        age(3_540_000).await;
        assert_limited(ben.post(&ours, json!({})).await, 60);
        age(60_000).await;
        ben.post(&ours, json!({})).await.expect(200);
    })
    .await;
}

/// A route that the whole school may call only a few times per hour, like the import.
#[utoipa::path(post, path = "/seldom", params(("dryRun" = Option<bool>, Query)), responses((status = 200, description = "done")))]
async fn limited_route() -> &'static str {
    "done"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn school_limit_is_shared_by_users_and_stored_in_database() {
    run_with_flags(&["--rate-limit-factor=1"], async |app| {
        let world = &app.world;
        let routes = Endpoints::default().add(
            Access::Admin,
            RouteLimits::Import,
            "POST /seldom",
            routes!(limited_route),
        );
        let (routes, _) = routes.into_parts();
        let (routes, _) = routes.split_for_parts();
        let router = routes
            .layer(from_fn_with_state(app.app.clone(), layers::request_context_layer))
            .with_state(app.app.clone());
        let ask_for = |person: &TestUser, query: &str| {
            let request = Request::post(format!("/seldom{query}")).header("cookie", &person.cookie);
            let request = request.header("host", "localhost").header("origin", FRONTEND);
            let request = request.body(Body::empty()).unwrap();
            let router = router.clone();
            tokio::spawn(async move {
                let (head, body) = router.oneshot(request).await.unwrap().into_parts();
                // A response holds its permit for long operations until its body is read. Unread responses would block
                // the others.
                axum::body::to_bytes(body, 1_000).await.unwrap();
                head
            })
        };
        let ask = |person: &TestUser| ask_for(person, "");
        for _ in 0..3 {
            let refused = ask(&world.ada).await.unwrap();
            assert_eq!(refused.status, 403, "who may not do it uses nothing up");
        }
        let asked: Vec<_> = [&world.adam, &world.olga]
            .into_iter()
            .cycle()
            .take(12)
            .map(ask)
            .collect();
        let mut done = 0;
        for one in asked {
            let answer = one.await.unwrap();
            if answer.status == 200 {
                done += 1;
            } else {
                assert_eq!(answer.status, 429);
                assert!(answer.headers.contains_key("retry-after"));
            }
        }
        assert_eq!(done, 5);
        assert_eq!(ask(&world.zara).await.unwrap().status, 200);
        for _ in 0..8 {
            let preview = ask_for(&world.adam, "?dryRun=1").await.unwrap();
            assert_eq!(preview.status, 200, "previews are not counted");
        }
        // The counts are in the database, not in this process.
        app.raw(|connection| connection.execute(&AGE_WINDOWS, args![3_600_000_i64]).unwrap())
            .await;
        assert_eq!(ask(&world.adam).await.unwrap().status, 200);
    })
    .await;
}

/// Finds expensive routes by their path, so that a new export cannot lack its limit.
#[test]
fn expensive_routes_declare_their_rate_limit() {
    let (_, rows) = router::description();
    for row in &rows {
        let path = row.path.as_str();
        let is_export = path.ends_with("/pdf") && row.method == "GET"
            || path.rsplit('.').next() == Some("zip")
            || path.rsplit('.').next() == Some("csv")
            || path.ends_with("/users/me/export")
            || path.ends_with("/gdpr/export");
        let expected = if is_export {
            RouteLimits::Export
        } else if path == "/users/import" {
            RouteLimits::Import
        } else if path.ends_with("/messages") && row.method == "POST" {
            RouteLimits::Chat
        } else if path.starts_with("/health") || ["/auth/sign-in/email", "/auth/sign-in/username"].contains(&path) {
            RouteLimits::Uncounted
        } else {
            continue;
        };
        let context = format!("{} {path}: its limits in routes.rs must be {expected:?}", row.method);
        assert_eq!(row.limits, expected, "{context}");
    }
    let counted = |terms: RouteLimits, access, method| terms.rate(access, &method);
    assert_eq!(
        counted(RouteLimits::Chat, Access::Member, Method::POST),
        Some(Rate::Change)
    );
    assert_eq!(
        counted(RouteLimits::Export, Access::Member, Method::HEAD),
        Some(Rate::Read)
    );
    assert_eq!(
        counted(RouteLimits::Standard, Access::DocumentServer, Method::POST),
        None
    );
}

/// The windows are protected by locks: concurrent threads lose no count.
#[test]
fn concurrent_requests_are_counted_exactly_once() {
    let rates = RateLimiter::new(1.0, &Secret::new(AUTH_SECRET));
    let limit: RateLimit = rates.limit(Rate::Change).unwrap();
    let rates = Arc::new(rates);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let rates = Arc::clone(&rates);
            std::thread::spawn(move || {
                let ben = UserId::new("ben");
                (0..400)
                    .filter(|_| !rates.check_user(Rate::Change, &ben).unwrap().is_refused)
                    .count()
            })
        })
        .collect();
    let let_through: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(i64::try_from(let_through).unwrap(), limit.hits);
}
