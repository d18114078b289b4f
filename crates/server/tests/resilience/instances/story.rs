//! Runs the lesson of `story.rs` with the official clients: through a proxy that distributes requests over the
//! instances, and with each user at a different instance.

use document_server_simulator::{Simulator, SimulatorSettings};
use serde_json::json;

use crate::story::{people_with_passwords, tell};
use test_support::instances::Instances;
use test_support::{DOCSERVER_SECRET, FRONTEND, clients_are_there, is_soak};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All users connect to the proxy, without sticky sessions.
    ThroughTheProxy,
    /// The teacher uses the first instance, the administrator the second, and so on.
    EachAtAnother,
}

async fn hold_a_lesson(number: usize, way: Way) {
    if !clients_are_there() {
        return;
    }
    let practice = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET))
        .await
        .unwrap();
    let settings = [("DOCSERVER_URL", practice.url())];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let Some(mut instances) = Instances::prepare(number, &settings).await else {
        return;
    };
    let people = people_with_passwords(&instances.store().await).await;
    instances.start_all().await;
    let mut world = json!({
        "baseUrl": instances.proxy.base, "frontendOrigin": FRONTEND, "people": people, "transports": ["websocket"],
    });
    if way == Way::EachAtAnother {
        world["baseUrls"] = (0..number).map(|at| instances.base(at)).collect();
    }
    tokio::task::spawn_blocking(move || tell(&world)).await.unwrap();
    if way == Way::ThroughTheProxy {
        let answered = instances.proxy.answered();
        assert!(
            answered.iter().all(|answered| *answered > 20),
            "all took part: {answered:?}"
        );
    }
    assert_eq!(instances.proxy.failures(), Vec::<String>::new());
    practice.stop().await;
    instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn a_lesson_goes_through_a_proxy_before_two_instances() {
    hold_a_lesson(2, Way::ThroughTheProxy).await;
    if is_soak() {
        hold_a_lesson(3, Way::ThroughTheProxy).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn a_lesson_has_its_people_at_three_instances() {
    hold_a_lesson(3, Way::EachAtAnother).await;
}
