//! Fixtures, fakes and probes of the integration tests: a running service on either database, named users of two
//! schools, and clients that act for them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]
#![allow(
    clippy::implicit_hasher,
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    reason = "only the tests of this workspace use the crate"
)]

pub mod accounts;
pub mod app;
pub mod archive_entries;
pub mod browser;
pub mod canary_user;
pub mod chats;
mod client;
pub mod cluster;
pub mod database;
pub mod db_grep;
pub mod deletions;
pub mod document_server_fixture;
pub mod emails;
pub mod event_recorder;
pub mod fake_document_server;
pub mod fake_openid_provider;
pub mod fake_roster_server;
pub mod fake_s3;
pub mod fake_smtp;
mod hang_watchdog;
pub mod instances;
pub mod invariants;
pub mod jobs;
pub mod legacy_office;
mod lesson_fixture;
pub mod lesson_rows;
pub mod many_rows;
pub mod name_server;
pub mod office;
pub mod openapi_check;
pub mod openapi_examples;
pub mod page;
pub mod passkey;
pub mod proxy;
pub mod raw_http;
pub mod raw_socket;
pub mod realtime_rows;
pub mod request_context;
mod rooms;
pub mod rosters;
pub mod row_counts;
pub mod rows;
pub mod samples;
pub mod school_people;
pub mod scratch;
pub mod second_factor;
mod second_instance;
mod server_process;
mod socket_listener;
mod table_lock;
pub mod tables;
pub mod text_editor;
pub mod topics;
pub mod world;

pub use app::{AUTH_SECRET, DOCSERVER_SECRET, FRONTEND, TestApp};
pub use browser::Browser;
pub use client::{Answer, Client, http_client};
pub use database::DatabaseKind;
pub use lesson_fixture::LessonFixture;
pub use realtime_rows::RealtimeRows;
pub use rooms::GroupRoom;
pub use second_instance::SecondInstance;
pub use server_process::{ServerEnv, ServerProcess};
pub use socket_listener::{SocketListener, clients_are_installed};
pub use table_lock::TableLock;
pub use world::{TestClass, TestUser, World};

/// Returns the path of the `groupwork` binary. Cargo builds it before the tests of its package, into the parent folder
/// of theirs.
pub fn server_binary() -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().with_file_name("groupwork")
}

/// Reads an environment variable: the URL of the database, whether this is CI, the size of the run.
#[expect(clippy::disallowed_methods, reason = "tests have no settings but these")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the variable that selects a deliberate fault (`scripts/mutants`), for a process with an environment of its own.
fn selected_fault() -> Option<(&'static str, String)> {
    const NAME: &str = "GROUPWORK_MUTANT";
    environment(NAME).map(|fault| (NAME, fault))
}

/// Reports a test that does not run, once for each reason. The message goes to the standard error output of the process,
/// because the test harness hides what a passing test prints; `scripts/test-summary` counts it.
pub fn report_skipped(reason: &str) {
    use std::collections::BTreeSet;
    use std::io::Write as _;
    use std::sync::{Mutex, PoisonError};
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if reported.insert(reason.to_owned()) {
        writeln!(std::io::stderr(), "SKIPPED: {reason}").ok();
    }
}

/// The timeout of every wait: a watchdog for a busy machine, not a guarantee of the service.
pub const WAIT_TIMEOUT: std::time::Duration = std::time::Duration::from_mins(5);

/// Polls a condition until it holds; fails after [`WAIT_TIMEOUT`].
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
    in_time.unwrap_or_else(|_| panic!("did not happen: {what}"));
}

/// Whether this is the long run (`make soak`).
pub fn is_soak() -> bool {
    environment("GROUPWORK_SOAK").is_some()
}

/// Returns the first value in normal runs, the second in soak runs.
pub fn size<N>(little: N, much: N) -> N {
    if is_soak() { much } else { little }
}

/// Returns the number of kills of a long test. In a soak run `GROUPWORK_KILLS` overrides it.
pub fn kill_count() -> usize {
    let wanted = environment("GROUPWORK_KILLS").and_then(|number| number.parse().ok());
    wanted.filter(|_| is_soak()).unwrap_or_else(|| size(50, 1_000))
}

/// Returns the body of a 404 response without its request id.
#[track_caller]
pub fn not_found_body(answer: Answer) -> serde_json::Value {
    let mut body = answer.refused(404, "NOT_FOUND");
    body["requestId"] = serde_json::Value::Null;
    body
}

/// Generates a test on both databases with a separate service: `both!(name, |app| { … })`. The body is async and
/// receives a `&TestApp`. A test that reads and changes only its two schools uses [`tenants!`] instead.
#[macro_export]
macro_rules! both {
    (#[long_on_postgres] $name:ident, |$app:ident| $body:block) => {
        $crate::both!(@ start [#[ignore = "long: make test-resilience"]] [] $name, |$app| $body);
    };
    ($(#[$attribute:meta])* $name:ident, |$app:ident| $body:block) => {
        $crate::both!(@ start [] [$(#[$attribute])*] $name, |$app| $body);
    };
    (@ $start:ident [$($on_postgres:tt)*] [$($attribute:tt)*] $name:ident, |$app:ident| $body:block) => {
        $($attribute)*
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            async fn test_body($app: &$crate::TestApp) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let app = $crate::TestApp::$start($crate::DatabaseKind::Sqlite).await.unwrap();
                test_body(&app).await;
                app.close().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $($on_postgres)*
            async fn on_postgres() {
                let Some(app) = $crate::TestApp::$start($crate::DatabaseKind::Postgres).await else { return };
                test_body(&app).await;
                app.close().await;
            }
        }
    };
}

/// Generates a test on both databases in a service that the tests of its binary share: `tenants!(name, |app| { … })`.
/// The two schools of the test and their users are not shared. The test must read and change nothing outside them.
#[macro_export]
macro_rules! tenants {
    ($(#[$attribute:meta])* $name:ident, |$app:ident| $body:block) => {
        $crate::both!(@ shared [] [$(#[$attribute])*] $name, |$app| $body);
    };
}

/// Generates a test on SQLite alone, for behavior that does not depend on the database: `sqlite!(name, |app| { … })`.
#[macro_export]
macro_rules! sqlite {
    ($(#[$attribute:meta])* $name:ident, |$app:ident| $body:block) => {
        $(#[$attribute])*
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let app = $crate::TestApp::start($crate::DatabaseKind::Sqlite).await.unwrap();
                let $app = &app;
                $body
                app.close().await;
            }
        }
    };
}
