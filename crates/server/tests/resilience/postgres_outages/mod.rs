//! Tests outages of PostgreSQL: orderly and immediate restarts, terminated connections, a frozen server, and a
//! connection that is closed before the response to a commit. Two instances keep running, respond with 503 during the
//! outage, lose no acknowledged change, and make their sockets fetch all data. `make test-resilience` runs six outages,
//! `make test` one, `make soak` 200 or the value of `GROUPWORK_OUTAGES`.

mod fault_proxy;
mod fixture;
mod help_history;
mod missed_notifications;
mod requests;
mod socket_probe;
mod starts;
mod tls;

use std::time::Instant;

use domain::document_kind::EditorKind;

use self::fixture::{OUTAGES, OutageFixture};
use test_support::{environment, is_soak, size};

fn outage_count() -> usize {
    let wanted = environment("GROUPWORK_OUTAGES").and_then(|number| number.parse().ok());
    wanted.filter(|_| is_soak()).unwrap_or_else(|| size(6, 200))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn outages_lose_nothing_acknowledged() {
    run_outage(EditorKind::OnlyOffice, outage_count()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn outages_with_builtin_editor_lose_nothing_acknowledged() {
    run_outage(EditorKind::Builtin, outage_count()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restart_of_postgres_loses_nothing_acknowledged() {
    run_outage(EditorKind::OnlyOffice, 1).await;
}

/// Runs this many outages in sequence.
async fn run_outage(editor: EditorKind, wanted: usize) {
    let Some(mut fixture) = OutageFixture::prepare(editor).await else {
        return;
    };
    let begun = Instant::now();
    for outage in OUTAGES.into_iter().cycle().take(wanted) {
        fixture.run_outage(outage).await;
    }
    println!("{wanted} outages in {:.0} s", begun.elapsed().as_secs_f64());
    fixture.end().await;
}
