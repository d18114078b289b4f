//! Several instances on one PostgreSQL database and one object store, as real processes behind a real proxy: they are one
//! service for whoever uses it, whatever one of them does, and while one after the other is replaced.

mod limits;
mod news;
mod rolling;
mod starting;
mod story;
mod turns;

use std::time::{Duration, Instant};

use test_support::instances::Instances;
use test_support::{Client, Person, World};

/// Longer than anything that must happen takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The people of two schools, written beside the instances.
async fn people(instances: &Instances) -> World {
    World::create(&instances.store().await, instances.database()).await
}

/// A person at one address.
fn at(base: &str, person: &Person) -> Client {
    Client::new(base, Some(person.cookie.clone()))
}

/// Asks again until the answer is yes.
async fn in_the_end(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let since = Instant::now();
    while !is_so().await {
        assert!(since.elapsed() < PATIENCE, "not in the end: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
