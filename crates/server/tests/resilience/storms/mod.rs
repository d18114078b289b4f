//! PostgreSQL goes away: restarted in order and without, its connections ended, standing still, a line cut at the byte of a
//! commit's answer. Two instances go on, say 503 meanwhile, lose nothing they acknowledged, and tell their sockets to fetch.
//! `make test-resilience` has six outages, `make test` one, `make soak` 200, or `GROUPWORK_STORMS`.

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

/// Lets so many outages happen one after the other.
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
