//! What tests share: a running service on either database, named people of two schools, clients that speak for them.

mod again;
pub mod app;
pub mod bucket;
pub mod chats;
mod client;
pub mod cluster;
pub mod database;
pub mod documented;
mod heard;
pub mod instances;
pub mod invariants;
pub mod legacy_office;
pub mod lesson_rows;
pub mod letters;
pub mod listeners;
pub mod live_rows;
pub mod many_rows;
pub mod marked;
pub mod mentions;
pub mod name_server;
pub mod office;
mod overdue;
pub mod page;
pub mod post_office;
pub mod proxy;
pub mod raw;
pub mod recorded;
mod rooms;
pub mod rosters;
pub mod row_counts;
pub mod rows;
pub mod samples;
pub mod school_people;
pub mod standpoint;
#[macro_use]
pub mod shelf;
mod started;
#[macro_use]
pub mod studio;
pub mod tables;
pub mod topics;
pub mod unpacked;
mod walk;
pub mod wire;
mod world;

pub use again::Again;
pub use app::{AUTH_SECRET, DOCSERVER_SECRET, FRONTEND, TestApp};
pub use client::{Answer, Client};
pub use database::Kind;
pub use heard::{Heard, clients_are_there};
pub use live_rows::Rows;
pub use rooms::Room;
pub use started::{Place, Started};
pub use walk::Walk;
pub use world::{Class, Person, World};

/// What the run was told by its environment: where the database is, whether this is CI, how long it may take.
#[expect(clippy::disallowed_methods, reason = "tests have no settings but these")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// How long a test waits for what has to happen: a watchdog for a busy machine, not a promise of the service.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_mins(2);

/// Asks again until the answer is yes; fails when it does not come within [`PATIENCE`].
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, waiting).await;
    in_time.unwrap_or_else(|_| panic!("did not happen: {what}"));
}

/// Whether this is the long run of those who have time (`make soak`).
pub fn is_soak() -> bool {
    environment("GROUPWORK_SOAK").is_some()
}

/// How often, or how large: little as a rule, much in the long run.
pub fn size<N>(little: N, much: N) -> N {
    if is_soak() { much } else { little }
}

/// A refusal as everybody gets it: without the id of the request.
#[track_caller]
pub fn reference(answer: Answer) -> serde_json::Value {
    let mut body = answer.refused(404, "NOT_FOUND");
    body["requestId"] = serde_json::Value::Null;
    body
}

/// Writes one test that runs on both databases: `both!(name, |app| { … })`; the body is async and gets a `TestApp`.
macro_rules! both {
    ($(#[$attribute:meta])* $name:ident, |$app:ident| $body:block) => {
        $(#[$attribute])*
        mod $name {
            #[allow(unused_imports, reason = "not every story needs everything around it")]
            use super::*;

            async fn story($app: &$crate::support::TestApp) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let app = $crate::support::TestApp::start($crate::support::Kind::Sqlite).await.unwrap();
                story(&app).await;
                app.close().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let Some(app) = $crate::support::TestApp::start($crate::support::Kind::Postgres).await else { return };
                story(&app).await;
                app.close().await;
            }
        }
    };
}
