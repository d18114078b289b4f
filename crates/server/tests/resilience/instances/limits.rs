//! Tests that limits apply to all instances together: limits counted in the database are exact, limits counted in
//! memory have a small margin that is stated here and in the documentation of `domain::rate`.

use std::time::Duration;

use common::clock;
use db::platform::CrossTenantReason;
use domain::id::UserId;
use domain::rate::Rate;
use serde_json::json;

use super::{client_at, eventually, people};
use test_support::Browser;
use test_support::accounts::PASSWORD;
use test_support::instances::Instances;
use test_support::raw_socket::Socket;
use test_support::topics::group;
use test_support::{Answer, Client, TestUser, World};

async fn start_two() -> Option<(Instances, World)> {
    let instances = Instances::start(2, &[("RATE_LIMIT_FACTOR", "1")]).await?;
    let world = people(&instances).await;
    Some((instances, world))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn failed_sign_ins_are_counted_over_all_instances() {
    let Some((instances, world)) = start_two().await else {
        return;
    };
    let (store, id) = (instances.store().await, UserId::new(&world.ada.id));
    let hash = better_auth::password::hash(PASSWORD);
    let enable = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        platform.choose_password(&id, &hash, clock::now())
    });
    enable.await.unwrap();
    let wrong = async |number: usize, email: &str, from: &str| {
        let browser = Browser::elsewhere_from(instances.base(number % 2), from);
        // A machine that is busy with other tests may be too slow to hash all passwords. That rejection (503) is not
        // the limit under test.
        loop {
            let answer = browser.sign_in(email, "another password").await;
            if answer.status != 503 {
                return answer.status;
            }
        }
    };
    // The limits are 5 attempts for an account from one address, 10 for an account from all addresses, and 60 for all
    // accounts from one address.
    let all = (0..8).map(|number| wrong(number, &world.ben.email, "192.0.2.7"));
    assert_eq!(refused(futures_util::future::join_all(all).await), (5, 3));
    let mut statuses = Vec::new();
    for number in 0..14 {
        statuses.push(wrong(number, &world.ada.email, &format!("198.51.100.{number}")).await);
    }
    assert_eq!(refused(statuses), (10, 4));
    // Attempts for unknown accounts are counted exactly only if they are sent sequentially.
    let emails: Vec<String> = (0..64).map(|number| format!("pupil{number}@school.example")).collect();
    let (many, last) = emails.split_at(56);
    let mut statuses = Vec::new();
    for some in many.chunks(8) {
        let all = some.iter().enumerate();
        let all = all.map(|(number, email)| wrong(number, email, "203.0.113.5"));
        statuses.extend(futures_util::future::join_all(all).await);
    }
    for (number, email) in last.iter().enumerate() {
        statuses.push(wrong(number, email, "203.0.113.5").await);
    }
    assert_eq!(refused(statuses), (60, 4));
    instances.close().await;
}

/// Returns how many attempts were checked (401) and how many were rejected by the limit (429).
fn refused(statuses: Vec<u16>) -> (usize, usize) {
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!(of(401) + of(429), statuses.len(), "{statuses:?}");
    (of(401), of(429))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn rate_limits_are_shared_by_all_instances() {
    let Some((instances, world)) = start_two().await else {
        return;
    };
    let ada = client_at(instances.base(0), &world.ada);
    let bens = group(&ada, &world.seven_b, &[&world.ben, &world.cem, &world.dana], json!({})).await;
    check_help_and_import_limits(&instances, &world, &bens).await;

    let room = ada.get(&format!("/groups/{bens}")).await.expect(200)["workRoomId"].clone();
    let messages = format!("/workrooms/{}/messages", room.as_str().unwrap());
    let say = async |client: &Client, number: usize| {
        let message = json!({"content": "Hello.", "clientMessageId": format!("{number}-{}", clock::new_id())});
        client.post(&messages, message).await
    };
    let limit = Rate::Chat.limit();
    // With two instances, the bound is the whole limit plus the hits that one instance has not yet published to the
    // other.
    let most = usize::try_from(limit.hits + limit.share() - 1).unwrap();
    let limit = usize::try_from(limit.hits).unwrap();
    let of = |person: &TestUser| [0, 1].map(|number| client_at(instances.base(number), person));

    let dana = of(&world.dana);
    for number in 0..30 {
        say(&dana[0], number).await.expect(201);
    }
    let mut own = 0;
    eventually("the other instance reports what is left", async || {
        own += 1;
        let answer = say(&dana[1], 100 + own).await;
        let left: usize = answer.header("ratelimit-remaining").parse().unwrap();
        assert_eq!(answer.header("ratelimit-limit"), limit.to_string());
        // The instance knows 28 of the 30 hits, because a count is published with every seventh hit.
        tokio::time::sleep(Duration::from_millis(200)).await;
        left + own <= limit - 28
    })
    .await;

    let ben = of(&world.ben);
    let mut let_through = 0;
    for number in 0..limit + 5 {
        let_through += usize::from(say(&ben[0], number).await.status == 201);
    }
    assert_eq!(let_through, limit);
    eventually("all of it is spent at the other", async || {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let answer = say(&ben[1], 0).await;
        let_through += usize::from(answer.status == 201);
        is_limited(answer)
    })
    .await;
    assert!(let_through <= most, "{let_through} of {limit}");

    let cem = of(&world.cem);
    let mut sockets = Vec::new();
    for number in 0..2 {
        let mut socket = Socket::open_at(instances.base(number), &world.dana.cookie).await;
        socket.expect("ready").await;
        sockets.push(socket);
    }
    let mut let_through = 0;
    for number in 0..limit * 2 {
        let answer = say(&cem[number % 2], number).await;
        if answer.status == 201 {
            let_through += 1;
            let message = answer.expect(201)["id"].as_str().unwrap().to_owned();
            // Counts are published between the instances in order with messages, so the next message is sent after this
            // one has arrived.
            sockets[(number + 1) % 2].expect_text(&message).await;
        }
    }
    println!("{let_through} messages in turn, of {limit}");
    // The bound does not include a count in transit. An eighth of the limit allows for it.
    assert!((limit..=limit + limit / 8).contains(&let_through), "{let_through}");
    instances.close().await;
}

fn is_limited(answer: Answer) -> bool {
    let is_limited = answer.status == 429;
    if is_limited {
        assert_eq!(answer.header("ratelimit-remaining"), "0");
        assert!(!answer.header("retry-after").is_empty());
    }
    is_limited
}

/// Tests limits that are counted in the database for all users and instances: 20 calls for help of a group per hour,
/// and 5 imports of a school per hour.
async fn check_help_and_import_limits(instances: &Instances, world: &World, group: &str) {
    let help = format!("/groups/{group}/help");
    let callers = [&world.ben, &world.cem];
    let calls = (0..26).map(|number| {
        let (caller, help) = (client_at(instances.base(number % 2), callers[number / 2 % 2]), &help);
        async move { caller.post(help, json!({})).await.status }
    });
    let statuses = futures_util::future::join_all(calls).await;
    let of = |statuses: &[u16], wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(&statuses, 200), of(&statuses, 429)), (20, 6), "{statuses:?}");
    let imports = (0..9).map(|number| {
        let importer = client_at(instances.base(number % 2), [&world.adam, &world.olga][number / 2 % 2]);
        async move { importer.post("/users/import", json!({"users": []})).await.status }
    });
    let statuses = futures_util::future::join_all(imports).await;
    assert_eq!((of(&statuses, 200), of(&statuses, 429)), (5, 4), "{statuses:?}");
}
