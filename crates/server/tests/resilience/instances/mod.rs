//! Runs several instances on one PostgreSQL database and one object store, as real processes behind a real proxy. They
//! must behave as one service for all users, whichever instance handles a request, also during a rolling restart.

mod commits;
mod events;
mod lesson;
mod limits;
mod rolling_restart;
mod shared_work;
mod starting;

use std::time::{Duration, Instant};

use test_support::instances::Instances;
use test_support::{Client, TestUser, World};

/// Longer than any expected change takes on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// Inserts the users of two schools directly into the database of the instances.
async fn people(instances: &Instances) -> World {
    World::create(&instances.store().await, instances.database()).await
}

/// Returns a client of a user at one address.
fn client_at(base: &str, person: &TestUser) -> Client {
    Client::new(base, Some(person.cookie.clone()))
}

/// Polls a condition until it is true.
async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let since = Instant::now();
    while !is_so().await {
        assert!(since.elapsed() < WAIT_TIMEOUT, "not in the end: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
