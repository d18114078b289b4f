//! One writer, one service with fault injection, and one action at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Database;
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::checker::Checker;
use super::faults::{ALL, FaultAction, FaultPlan};
use super::oracle::Oracle;
use super::recovery_timeout;
use super::workload::Writer;
use test_support::{DOCSERVER_SECRET, DatabaseKind, ServerEnv, ServerProcess, World, size};

/// How long the test waits for a condition that must become true.
pub const WAIT_TIMEOUT: Duration = test_support::WAIT_TIMEOUT;

/// The actions of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserOperation {
    Save,
    Submit,
    Finish,
    Upload,
    Replace,
    PostMessage,
}

/// Every action.
pub const OPERATIONS: [UserOperation; 6] = [
    UserOperation::Save,
    UserOperation::Submit,
    UserOperation::Finish,
    UserOperation::Upload,
    UserOperation::Replace,
    UserOperation::PostMessage,
];

pub struct Harness {
    pub env: ServerEnv,
    pub document_server: Arc<RunningSimulator>,
    pub oracle: Arc<Oracle>,
    pub checker: Checker,
    pub writer: Writer,
    pub faults: FaultPlan,
    pub rng: StdRng,
}

impl Harness {
    pub async fn start(kind: DatabaseKind) -> Option<(Self, ServerProcess)> {
        Self::start_with_editor(kind, EditorKind::OnlyOffice).await
    }

    pub async fn start_with_editor(kind: DatabaseKind, editor: EditorKind) -> Option<(Self, ServerProcess)> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let document_server = Arc::new(
            Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
                .await
                .unwrap(),
        );
        env.set("DOCSERVER_URL", &document_server.url());
        env.set("EDITOR_TEXT", editor.as_str());
        let faults = FaultPlan::install(&mut env);
        let mut service = env.start("serve");
        service.ready().await;
        let oracle = Arc::new(Oracle::default());
        let seed = rand::random::<u64>();
        println!("rig on {kind:?}: seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let own = StdRng::from_rng(&mut rng);
        let mut writer = Writer::new(&service.base, &world, &world.ben, &document_server, &oracle, own);
        writer.always_reads = editor == EditorKind::Builtin;
        writer.create_room().await;
        let checker = Checker::new(&env.database, env.folder(), &world.north);
        let harness = Self {
            env,
            document_server,
            oracle,
            checker,
            writer,
            faults,
            rng,
        };
        Some((harness, service))
    }

    /// Prepares a draft that the writer can edit. Retries until it succeeds.
    pub async fn prepare_draft(&mut self) {
        let since = Instant::now();
        while self.writer.prepare_draft().await.is_none() {
            assert!(since.elapsed() < WAIT_TIMEOUT, "nothing works any more");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Runs an action. Returns `None` if the response is missing or a rejection.
    pub async fn run(&mut self, operation: UserOperation) -> Option<()> {
        match operation {
            UserOperation::Save => self.writer.save().await,
            UserOperation::Submit => self.writer.submit().await,
            UserOperation::Finish => self.writer.finish().await,
            UserOperation::Upload => self.writer.upload().await,
            UserOperation::Replace => self.writer.replace().await,
            UserOperation::PostMessage => self.writer.post_message().await,
        }
    }

    /// Runs an action until it succeeds.
    pub async fn run_until_success(&mut self, operation: UserOperation) {
        let since = Instant::now();
        loop {
            self.prepare_draft().await;
            if self.run(operation).await.is_some() {
                return;
            }
            assert!(since.elapsed() < WAIT_TIMEOUT, "{operation:?} does not work any more");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Counts the calls that an action makes below a path.
    pub async fn count(&mut self, operation: UserOperation, path: &Path) -> u64 {
        self.prepare_draft().await;
        self.faults.arm(path, ALL, FaultAction::Count, 0, 0);
        self.run(operation).await.expect("nothing goes wrong");
        let seen = self.faults.disarm().seen;
        // A message is stored only in the database, and another process writes the files of PostgreSQL.
        let is_silent = operation == UserOperation::PostMessage && matches!(self.env.database, Database::Postgres(_));
        assert!(
            seen > 0 || is_silent,
            "{operation:?} writes nothing: the library is not asked"
        );
        seen
    }

    /// Returns call numbers from 1 to `count`: all of them in the soak run, otherwise a random sample of `few`.
    pub fn sample_calls(&mut self, count: u64, few: usize) -> Vec<u64> {
        let count = usize::try_from(count).unwrap();
        let wanted = size(few, count).min(count);
        let drawn = rand::seq::index::sample(&mut self.rng, count, wanted);
        let mut sample_calls: Vec<u64> = drawn.iter().map(|point| point as u64 + 1).collect();
        sample_calls.sort_unstable();
        sample_calls
    }

    /// Restarts the service and checks all its data.
    pub async fn recover(&mut self) -> ServerProcess {
        let mut service = self.env.start("serve");
        let start = service.ready().await;
        assert!(start < recovery_timeout(), "ready only after {start:?}");
        if self.writer.always_reads {
            // The built-in editor acknowledges commits, which are in no file until the document is read.
            let fresh = self.oracle.acknowledged().fresh.clone();
            for document in fresh {
                assert!(self.writer.read(&document).await.is_some(), "{document} cannot be read");
            }
        }
        self.check_state();
        service
    }

    /// Checks everything that is new since the last inspection.
    pub fn check_state(&mut self) {
        self.oracle.record_rejections(&self.document_server);
        self.document_server.clear_log();
        self.oracle.assert_no_faults();
        self.checker.check_new(&self.oracle);
    }

    pub fn end(mut self, service: ServerProcess) {
        self.check_state();
        self.checker.check_all(&self.oracle);
        service.kill();
        println!("  {}", self.oracle.summary());
        println!("  {}", self.checker.summary());
        self.env.close();
    }
}
