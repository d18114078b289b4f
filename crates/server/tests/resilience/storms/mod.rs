//! Tests outages of PostgreSQL: orderly and immediate restarts, terminated connections, a frozen server, and a
//! connection that is closed before the response to a commit. Two instances keep running, respond with 503 during the
//! outage, lose no acknowledged change, and make their sockets fetch all data. `make test-resilience` runs six outages,
//! `make test` one, `make soak` 200 or the value of `GROUPWORK_STORMS`.

mod cable;
mod calls;
mod deaf;
mod ears;
mod question;
mod scene;
mod starts;
mod tls;

use std::time::Instant;

use self::scene::{STORMS, Scene};
use test_support::{environment, is_soak, size};

fn storms_wanted() -> usize {
    let wanted = environment("GROUPWORK_STORMS").and_then(|number| number.parse().ok());
    wanted.filter(|_| is_soak()).unwrap_or_else(|| size(6, 200))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn storms_lose_nothing_acknowledged() {
    survive(storms_wanted()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restart_of_postgres_loses_nothing_acknowledged() {
    survive(1).await;
}

/// Runs this many outages in sequence.
async fn survive(wanted: usize) {
    let Some(mut scene) = Scene::prepare().await else {
        return;
    };
    let begun = Instant::now();
    for storm in STORMS.into_iter().cycle().take(wanted) {
        scene.survive(storm).await;
    }
    println!("{wanted} storms in {:.0} s", begun.elapsed().as_secs_f64());
    scene.end().await;
}
