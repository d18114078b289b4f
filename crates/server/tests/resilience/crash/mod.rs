//! Nothing acknowledged is lost. Four writers save, submit, finish, upload, post messages and create groups while the
//! started binary is killed at random moments and at every named failpoint. After each restart everything that was
//! acknowledged is present and complete. `make test-resilience` kills 50 times on each database, `make soak`
//! (`GROUPWORK_SOAK=1`) 1,000 times or `GROUPWORK_KILLS` times.

mod bad_disks;
pub mod checker;
mod commits;
mod deletions;
mod faults;
mod harness;
mod kill_points;
pub mod oracle;
mod snapshot;
mod sync_order;
mod trace;
pub mod workload;
pub mod writers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::failpoint;
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use self::checker::Checker;
use self::oracle::Oracle;
use self::writers::Writers;
use test_support::rows::execute;
use test_support::{DOCSERVER_SECRET, DatabaseKind, ServerEnv, ServerProcess, WAIT_TIMEOUT, World, kill_count, size};

/// Returns the longest allowed time from start to readiness: five seconds in the soak run. The short run executes in
/// parallel with other tests that use the CPU, so its limit is generous.
fn recovery_timeout() -> Duration {
    Duration::from_secs(size(30, 5))
}

/// How long the test waits for a failpoint while the writers write, and in how many runs of the service.
const FAILPOINT_TIMEOUT: Duration = Duration::from_secs(15);
const RUNS: usize = 6;

/// A service that is killed often, and what was acknowledged in all its runs.
struct CrashFixture {
    env: ServerEnv,
    document_server: Arc<RunningSimulator>,
    oracle: Arc<Oracle>,
    checker: Checker,
    writers: Writers,
    slowest_start: Duration,
    rng: StdRng,
}

impl CrashFixture {
    async fn prepare(kind: DatabaseKind, editor: EditorKind) -> Option<(Self, ServerProcess)> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let document_server = Arc::new(
            Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
                .await
                .unwrap(),
        );
        env.set("DOCSERVER_URL", &document_server.url());
        env.set("EDITOR_TEXT", editor.as_str());
        let seed = rand::random::<u64>();
        println!("crash on {kind:?} with {editor}: seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let mut service = env.start("serve");
        let slowest_start = service.ready().await;
        let oracle = Arc::new(Oracle::default());
        let checker = Checker::new(&env.database, env.folder(), &world.north);
        let writers = Writers::start(&[&service.base], editor, &world, &document_server, &oracle, &mut rng).await;
        let fixture = Self {
            env,
            document_server,
            oracle,
            checker,
            writers,
            slowest_start,
            rng,
        };
        Some((fixture, service))
    }

    /// Restarts the service and checks all its data while the writers are paused.
    async fn recover(&mut self) -> ServerProcess {
        // Writers and the document server continue during the start. Their repeated requests must find the result of
        // the first attempt.
        let mut service = self.env.start("serve");
        let start = service.ready().await;
        assert!(start < recovery_timeout(), "ready only after {start:?}");
        self.slowest_start = self.slowest_start.max(start);
        self.writers.pause().await;
        let oracle = Arc::clone(&self.oracle);
        oracle.assert_no_faults();
        self.writers.write_files(&oracle).await;
        self.checker.check_new(&oracle);
        self.oracle.record_rejections(&self.document_server);
        self.document_server.clear_log();
        service
    }

    async fn end(mut self, service: ServerProcess) {
        self.writers.stop().await;
        self.writers.write_files(&self.oracle).await;
        self.checker.check_all(&self.oracle);
        self.oracle.assert_no_faults();
        service.kill();
        println!("  {}", self.checker.summary());
        self.env.close();
    }
}

async fn random_kills(kind: DatabaseKind, editor: EditorKind, kills: usize) {
    let Some((mut fixture, mut service)) = CrashFixture::prepare(kind, editor).await else {
        return;
    };
    let (mut hit, mut broke) = (0, 0);
    let begin = Instant::now();
    for _ in 0..kills {
        let before = fixture.oracle.without_response();
        fixture.writers.resume();
        let life = fixture.rng.random_range(30..300);
        tokio::time::sleep(Duration::from_millis(life)).await;
        let busy = fixture.writers.busy();
        service.kill();
        service = fixture.recover().await;
        hit += usize::from(busy > 0);
        broke += usize::from(fixture.oracle.without_response() > before);
    }
    println!(
        "crash on {kind:?} with {editor}: {kills} kills in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    println!("  a request under way at {hit}, an unanswered one after {broke} of them");
    println!("  {}", fixture.oracle.summary());
    println!("  slowest start {} ms", fixture.slowest_start.as_millis());
    // In a short run all kills may happen while the writers are idle.
    assert!(
        kills == FEW || hit * 2 > kills,
        "too few kills met work: the run shows nothing"
    );
    fixture.end(service).await;
}

async fn kills_at_every_failpoint(kind: DatabaseKind, editor: EditorKind) {
    let Some((mut fixture, service)) = CrashFixture::prepare(kind, editor).await else {
        return;
    };
    fixture.writers.pause().await;
    service.kill();
    // `deletions.rs` and `api/purge.rs` test the failpoints of deletions, `commits.rs` those of the built-in editor.
    let is_elsewhere = |name: &str| name.starts_with("deletion.") || name.starts_with("commits.");
    // Only a document server sends saves, is asked to save, and forgets saves.
    let is_used = |name: &str| {
        let needs_document_server = ["save.", "freeze.before_drop", "freeze.after_drop", "sweep."];
        editor == EditorKind::OnlyOffice || !needs_document_server.iter().any(|prefix| name.starts_with(prefix))
    };
    let names = failpoint::NAMES.iter();
    for name in names.filter(|name| !is_elsewhere(name) && is_used(name)) {
        let since = Instant::now();
        let armed = fixture.kill_at(name).await;
        println!("  {armed}: died after {} ms", since.elapsed().as_millis());
        fixture.recover().await.kill();
    }
    println!(
        "crash on {kind:?} with {editor}, named places: {}",
        fixture.oracle.summary()
    );
    let service = fixture.recover().await;
    fixture.end(service).await;
}

impl CrashFixture {
    /// Runs the service until it dies at this failpoint. Returns the armed failpoint with its hit count.
    async fn kill_at(&mut self, name: &str) -> String {
        // Failpoints on busy code paths are armed with a random hit count, because the first hits may belong to the
        // start. Files are linked by submissions alone, which are rare on a busy machine.
        let is_busy = name.starts_with("store.") || name.starts_with("files.") && name != "files.linked";
        let count = if is_busy { self.rng.random_range(1..=12) } else { 1 };
        let armed = format!("{name}:{count}");
        for _ in 0..RUNS {
            if name.starts_with("sweep.") {
                self.leave_orphaned_files().await;
            }
            let Ok(mut dying) = self.env.try_start("serve", &[("GROUPWORK_FAILPOINT", &armed)]) else {
                return armed;
            };
            self.writers.resume();
            let since = Instant::now();
            while since.elapsed() < FAILPOINT_TIMEOUT {
                if dying.try_wait().is_some() {
                    return armed;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            dying.kill();
        }
        panic!("{armed}: nobody came by");
    }

    /// Runs the service until the document server has a save that was not accepted, then deletes the lease of the sweep.
    async fn leave_orphaned_files(&mut self) {
        let mut service = self.env.start("serve");
        service.ready().await;
        self.document_server
            .simulator()
            .faults()
            .update(|faults| faults.forgets_saves = true);
        self.writers.resume();
        let since = Instant::now();
        while self.document_server.simulator().forgotten_keys().is_empty() {
            assert!(since.elapsed() < WAIT_TIMEOUT, "nobody writes");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        service.kill();
        self.document_server.simulator().faults().clear();
        let free = "DELETE FROM settings WHERE name = 'editing_sweep'".to_owned();
        execute(&self.env.database, free).await;
    }
}

/// A failpoint that is not listed in `failpoint::NAMES` would never be tested.
#[test]
fn every_failpoint_of_the_sources_is_listed() {
    fn search(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, found);
            } else {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let names = text.split("failpoint::hit(\"").skip(1);
                found.extend(names.map(|rest| rest.split('"').next().unwrap().to_owned()));
            }
        }
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        let sources = entry.unwrap().path().join("src");
        if sources.is_dir() {
            search(&sources, &mut found);
        }
    }
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let listed: BTreeSet<&str> = failpoint::NAMES.iter().copied().collect();
    assert_eq!(found, listed);
    assert_eq!(listed.len(), failpoint::NAMES.len(), "a name stands there twice");
}

/// Kills in the short run.
const FEW: usize = 3;

/// Generates the tests for an editor of text documents.
macro_rules! crash_tests {
    ($module:ident, $editor:ident) => {
        mod $module {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "long: make test-resilience"]
            async fn random_kills_lose_nothing_acknowledged_on_sqlite() {
                random_kills(DatabaseKind::Sqlite, EditorKind::$editor, kill_count()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "long: make test-resilience"]
            async fn random_kills_lose_nothing_acknowledged_on_postgres() {
                random_kills(DatabaseKind::Postgres, EditorKind::$editor, kill_count()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "long: make test-resilience"]
            async fn kills_at_failpoints_lose_nothing_acknowledged_on_sqlite() {
                kills_at_every_failpoint(DatabaseKind::Sqlite, EditorKind::$editor).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "long: make test-resilience"]
            async fn kills_at_failpoints_lose_nothing_acknowledged_on_postgres() {
                kills_at_every_failpoint(DatabaseKind::Postgres, EditorKind::$editor).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn few_kills_lose_nothing_acknowledged_on_sqlite() {
                random_kills(DatabaseKind::Sqlite, EditorKind::$editor, FEW).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn few_kills_lose_nothing_acknowledged_on_postgres() {
                random_kills(DatabaseKind::Postgres, EditorKind::$editor, FEW).await;
            }
        }
    };
}

crash_tests!(onlyoffice, OnlyOffice);
crash_tests!(builtin, Builtin);
