//! Tests events and revocation across instances: an event of one instance reaches all authorized sockets of the others
//! in order, and a session that ends at one instance ends at the others within five seconds.

use serde_json::json;

use super::{client_at, people};
use crate::revocation;
use test_support::instances::Instances;
use test_support::topics::group;
use test_support::{DatabaseKind, ServerEnv, SocketListener, TestApp, clients_are_installed, size};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn changes_reach_sockets_of_other_instances_in_order() {
    if !clients_are_installed() {
        return;
    }
    let Some(instances) = Instances::start(3, &[]).await else {
        return;
    };
    let world = people(&instances).await;
    let ada = client_at(instances.base(0), &world.ada);
    let rivers = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let mut sockets = vec![
        SocketListener::connect_at(instances.base(1), &world.ben).await,
        SocketListener::connect_at(instances.base(2), &world.ada).await,
        SocketListener::connect_at(instances.base(2), &world.dana).await,
    ];
    let changes = size(40, 2_000);
    for number in 0..changes {
        // Changes are sequential and rotate over the instances.
        let somewhere = client_at(instances.base(number % 3), &world.ada);
        let name = json!({"name": format!("Rivers {number}")});
        somewhere.patch(&format!("/groups/{rivers}"), name).await.expect(200);
    }
    for socket in &mut sockets[..2] {
        for number in 0..changes {
            let received = socket.expect("group:updated").await;
            assert_eq!(received["group"]["name"], format!("Rivers {number}"));
        }
    }
    for socket in &mut sockets {
        assert_eq!(socket.all("group:updated").len(), 0, "once, and nobody else");
        assert_eq!(socket.all("sync:required").len(), 0, "nobody missed anything");
    }
    instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn session_revocation_takes_effect_at_other_instance() {
    let Some(app) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let mut env = ServerEnv::on_database(&app.database);
    let mut other = tokio::task::block_in_place(|| env.start("serve"));
    other.ready().await;
    revocation::check_every_revocation(&app, &other.base).await;
    assert!(other.stop().success());
    app.close().await;
}
