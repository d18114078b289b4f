//! Tests work that only one of several instances may do, and work that several may do concurrently: the check for
//! forgotten saves, jobs, duplicate callbacks of one save, and group numbers.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use common::clock;
use document_server_simulator::{DuplicateDelivery, Faults, RunningSimulator, Simulator, SimulatorSettings, client};
use serde_json::{Value, json};

use super::{client_at, eventually, people};
use test_support::document_server_fixture::{path, words};
use test_support::instances::Instances;
use test_support::jobs::wait_for_end;
use test_support::rows::{execute, texts};
use test_support::topics::{group, id};
use test_support::{Client, DOCSERVER_SECRET, is_soak, size};

/// Counts the requests for the list of forgotten saves.
fn check_count(server: &RunningSimulator) -> usize {
    let requests = server.simulator().requests();
    let check_count = requests
        .iter()
        .filter(|heard| heard.parameters["c"] == "getForgottenList");
    check_count.count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn one_instance_checks_forgotten_saves_until_it_dies() {
    // Each instance uses a document server of its own, which shows which instance sent a request.
    let servers = [
        Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
            .await
            .unwrap(),
        Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
            .await
            .unwrap(),
    ];
    // The lease lasts 1.5 times the reconcile interval, which tolerates that a busy machine delays an instance for half
    // an interval.
    let url = servers[0].url();
    let settings = [
        ("DOCSERVER_URL", url.as_str()),
        ("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "6"),
    ];
    let Some(mut instances) = Instances::prepare(2, &settings).await else {
        return;
    };
    for (env, server) in instances.envs.iter_mut().zip(&servers) {
        env.set("DOCSERVER_INTERNAL_URL", &server.url());
    }
    instances.start_all().await;
    let asked = || servers.each_ref().map(check_count);
    eventually("one has looked twice", async || asked().into_iter().max() >= Some(2)).await;
    let before = asked();
    assert!(before.contains(&0), "one alone looks: {before:?}");
    let holder = usize::from(before[0] == 0);
    instances.kill(holder);
    eventually("the other takes over", async || asked()[1 - holder] > 0).await;
    assert_eq!(asked()[holder], before[holder], "who is dead does not ask");
    instances.close().await;
    for server in servers {
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_of_dead_instance_is_completed_by_another() {
    let Some(mut instances) = Instances::start(2, &[]).await else {
        return;
    };
    let world = people(&instances).await;
    // The second instance is paused, so the first takes the job. The job blocks while it stores the archive.
    instances.running(1).pause();
    instances.bucket.faults.holds_requests.store(true, Ordering::SeqCst);
    let adam = client_at(instances.base(0), &world.adam);
    let answer = adam.post("/admin/gdpr/export", json!({"userId": world.ben.id})).await;
    let location = answer.header("location").to_owned();
    answer.expect(202);
    // Health checks send requests to the object store, too.
    eventually("the archive is on its way", async || {
        let running = "SELECT id FROM jobs WHERE status = 'RUNNING'".to_owned();
        let is_running = !texts(instances.database(), running).await.is_empty();
        is_running && instances.bucket.held_requests() > 0
    })
    .await;
    instances.kill(0);
    instances.running(1).resume();
    instances.bucket.clear_faults();
    if !is_soak() {
        // Simulates the expiry of the lease, which lasts one minute.
        let past = format!("UPDATE jobs SET lease_until = {}", clock::now().as_millis() - 1);
        execute(instances.database(), past).await;
    }
    let adam = client_at(instances.base(1), &world.adam);
    let job = wait_for_end(&adam, &location).await;
    assert_eq!(job["status"], "DONE", "{job}");
    let attempts = texts(
        instances.database(),
        "SELECT CAST(attempts AS TEXT) FROM jobs".to_owned(),
    )
    .await;
    let [Some(attempts)] = attempts.as_slice() else {
        panic!("one job: {attempts:?}")
    };
    // The first instance may have repeated its attempt, because the request was held for too long.
    assert!(attempts.parse::<u32>().unwrap() >= 2, "{attempts}");
    let archive = adam
        .get(&format!("{}/download", location.strip_prefix("/api").unwrap()))
        .await;
    assert_eq!(
        (archive.status, archive.header("content-type")),
        (200, "application/zip")
    );
    instances.restart(0).await;
    instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn callback_sent_to_two_instances_creates_one_revision() {
    let document_server = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    let url = document_server.url();
    let Some(instances) = Instances::start(2, &[("DOCSERVER_URL", &url)]).await else {
        return;
    };
    let world = people(&instances).await;
    let through = client_at(&instances.proxy.base, &world.ada);
    let rivers = group(&through, &world.seven_b, &[&world.ben], json!({})).await;
    let room = through.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
    document_server.simulator().set_faults(Faults {
        duplicate: Some(DuplicateDelivery::Parallel),
        ..Faults::default()
    });
    let document = new_document(&through, room.as_str().unwrap()).await;
    let received = size(20, 1_000);
    for number in 1..=received {
        let typed = format!("Line {number}.");
        let config = through.get(&path(&document, "/editor-config")).await.expect(200);
        let editor = client::open(&url, &config).await.unwrap();
        editor.type_text(&typed).await.unwrap();
        assert!(editor.close().await.unwrap().accepted);
        let seen = through.get(&path(&document, "")).await.expect(200);
        assert_eq!(seen["version"], number, "one revision for two notices");
        let bytes = through.get(&path(&document, "/download")).await.bytes;
        assert!(words(&bytes).contains(&typed));
    }
    // The proxy sends one callback to each instance, and both callbacks are acknowledged.
    let finals: Vec<_> = document_server
        .simulator()
        .callbacks()
        .into_iter()
        .filter(|sent| sent.status == 2)
        .collect();
    assert_eq!(finals.len(), 2 * received);
    assert!(finals.iter().all(|sent| sent.accepted));
    let answered = instances.proxy.answered();
    assert!(answered.iter().all(|answered| *answered > received), "{answered:?}");
    let origins = format!("SELECT origin FROM document_revisions WHERE document_id = '{document}'");
    let kept = texts(instances.database(), origins).await;
    assert_eq!(kept.len(), received.min(50));
    assert_eq!(instances.proxy.failures(), Vec::<String>::new());
    document_server.stop().await;
    instances.close().await;
}

async fn new_document(client: &Client, room: &str) -> String {
    let new = json!({"title": "Our page", "documentType": "word"});
    id(&client
        .post(&format!("/workrooms/{room}/documents"), new)
        .await
        .expect(201))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_created_at_two_instances_have_unique_numbers() {
    let Some(instances) = Instances::start(2, &[]).await else {
        return;
    };
    let world = people(&instances).await;
    // A class has at most 9,999 group numbers, so the groups are created in two classes.
    for (class, teacher) in [(&world.seven_b, &world.ada), (&world.eight_a, &world.tom)] {
        let (all, at_once) = (size(30, 5_000), 20);
        let mut numbers = BTreeSet::new();
        for from in (0..all).step_by(at_once) {
            let row = from..(from + at_once).min(all);
            let made = row.map(|number| {
                let client = client_at(instances.base(number % 2), teacher);
                let new = json!({"classId": class.id, "courseId": class.course});
                async move { client.post("/groups", new).await.expect(201) }
            });
            let made: Vec<Value> = futures_util::future::join_all(made).await;
            numbers.extend(made.iter().map(|group| group["groupNumber"].as_u64().unwrap()));
        }
        assert!(numbers.into_iter().eq(1..=u64::try_from(all).unwrap()), "without gaps");
    }
    instances.close().await;
}
