//! Runs the lesson of `story.rs` with the official clients: through a proxy that distributes requests over the
//! instances, and with each user at a different instance.

use document_server_simulator::{Simulator, SimulatorSettings};
use serde_json::json;

use crate::lesson::{people_with_passwords, run_lesson_client};
use test_support::instances::Instances;
use test_support::{DOCSERVER_SECRET, FRONTEND, clients_are_installed, is_soak};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Routing {
    /// All users connect to the proxy, without sticky sessions.
    Proxy,
    /// The teacher uses the first instance, the administrator the second, and so on.
    InstancePerUser,
}

async fn run_lesson(number: usize, routing: Routing) {
    if !clients_are_installed() {
        return;
    }
    let document_server = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET))
        .await
        .unwrap();
    let settings = [("DOCSERVER_URL", document_server.url())];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let Some(mut instances) = Instances::prepare(number, &settings).await else {
        return;
    };
    let people = people_with_passwords(&instances.store().await).await;
    instances.start_all().await;
    let mut world = json!({
        "baseUrl": instances.proxy.base, "frontendOrigin": FRONTEND, "people": people, "transports": ["websocket"],
    });
    if routing == Routing::InstancePerUser {
        world["baseUrls"] = (0..number).map(|at| instances.base(at)).collect();
    }
    tokio::task::spawn_blocking(move || run_lesson_client(&world))
        .await
        .unwrap();
    if routing == Routing::Proxy {
        let answered = instances.proxy.answered();
        assert!(
            answered.iter().all(|answered| *answered > 20),
            "all took part: {answered:?}"
        );
    }
    assert_eq!(instances.proxy.failures(), Vec::<String>::new());
    document_server.stop().await;
    instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn lesson_runs_through_proxy_to_two_instances() {
    run_lesson(2, Routing::Proxy).await;
    if is_soak() {
        run_lesson(3, Routing::Proxy).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn lesson_runs_with_users_at_three_instances() {
    run_lesson(3, Routing::InstancePerUser).await;
}
