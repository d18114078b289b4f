//! One writer, one service with fault injection, and one action at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Database;
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::deeds::Writer;
use super::faults::{ALL, Action, Faults};
use super::inspection::Inspection;
use super::ledger::Ledger;
use super::patience;
use test_support::{DOCSERVER_SECRET, Kind, ServerEnv, ServerProcess, World, size};

/// How long the test waits for a condition that must become true.
pub const PATIENCE: Duration = test_support::PATIENCE;

/// The actions of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Save,
    HandIn,
    Finish,
    Upload,
    Replace,
    Say,
}

/// Every action.
pub const DEEDS: [Deed; 6] = [
    Deed::Save,
    Deed::HandIn,
    Deed::Finish,
    Deed::Upload,
    Deed::Replace,
    Deed::Say,
];

pub struct Rig {
    pub place: ServerEnv,
    pub practice: Arc<RunningSimulator>,
    pub ledger: Arc<Ledger>,
    pub inspection: Inspection,
    pub writer: Writer,
    pub faults: Faults,
    pub rng: StdRng,
}

impl Rig {
    pub async fn start(kind: Kind) -> Option<(Self, ServerProcess)> {
        let mut place = ServerEnv::new(kind)?;
        let world = World::create(&place.store().await, &place.database).await;
        let practice = Arc::new(
            Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
                .await
                .unwrap(),
        );
        place.set("DOCSERVER_URL", &practice.url());
        let faults = Faults::install(&mut place);
        let mut service = place.start("serve");
        service.ready().await;
        let ledger = Arc::new(Ledger::default());
        let seed = rand::random::<u64>();
        println!("rig on {kind:?}: seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let own = StdRng::from_rng(&mut rng);
        let mut writer = Writer::new(&service.base, &world, &world.ben, &practice, &ledger, own);
        writer.settle_in().await;
        let inspection = Inspection::new(&place.database, place.folder(), &world.north);
        let rig = Self {
            place,
            practice,
            ledger,
            inspection,
            writer,
            faults,
            rng,
        };
        Some((rig, service))
    }

    /// Prepares a draft that the writer can edit. Retries until it succeeds.
    pub async fn stand_ready(&mut self) {
        let since = Instant::now();
        while self.writer.stand_ready().await.is_none() {
            assert!(since.elapsed() < PATIENCE, "nothing works any more");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Runs an action. Returns `None` if the response is missing or a rejection.
    pub async fn perform(&mut self, deed: Deed) -> Option<()> {
        match deed {
            Deed::Save => self.writer.save().await,
            Deed::HandIn => self.writer.hand_in().await,
            Deed::Finish => self.writer.finish().await,
            Deed::Upload => self.writer.upload().await,
            Deed::Replace => self.writer.replace().await,
            Deed::Say => self.writer.say().await,
        }
    }

    /// Runs an action until it succeeds.
    pub async fn perform_surely(&mut self, deed: Deed) {
        let since = Instant::now();
        loop {
            self.stand_ready().await;
            if self.perform(deed).await.is_some() {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{deed:?} does not work any more");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Counts the calls that an action makes below a path.
    pub async fn count(&mut self, deed: Deed, path: &Path) -> u64 {
        self.stand_ready().await;
        self.faults.arm(path, ALL, Action::Count, 0, 0);
        self.perform(deed).await.expect("nothing goes wrong");
        let seen = self.faults.disarm().seen;
        // A message is stored only in the database, and another process writes the files of PostgreSQL.
        let is_silent = deed == Deed::Say && matches!(self.place.database, Database::Postgres(_));
        assert!(
            seen > 0 || is_silent,
            "{deed:?} writes nothing: the library is not asked"
        );
        seen
    }

    /// Returns call numbers from 1 to `count`: all of them in the soak run, otherwise a random sample of `few`.
    pub fn points(&mut self, count: u64, few: usize) -> Vec<u64> {
        let count = usize::try_from(count).unwrap();
        let wanted = size(few, count).min(count);
        let drawn = rand::seq::index::sample(&mut self.rng, count, wanted);
        let mut points: Vec<u64> = drawn.iter().map(|point| point as u64 + 1).collect();
        points.sort_unstable();
        points
    }

    /// Restarts the service and checks all its data.
    pub async fn recover(&mut self) -> ServerProcess {
        let mut service = self.place.start("serve");
        let start = service.ready().await;
        assert!(start < patience(), "ready only after {start:?}");
        self.look();
        service
    }

    /// Checks everything that is new since the last inspection.
    pub fn look(&mut self) {
        self.ledger.note_refusals(&self.practice);
        self.practice.clear_log();
        self.ledger.no_faults();
        self.inspection.after_a_crash(&self.ledger);
    }

    pub fn end(mut self, service: ServerProcess) {
        self.look();
        self.inspection.of_everything(&self.ledger);
        service.kill();
        println!("  {}", self.ledger.figures());
        println!("  {}", self.inspection.figures());
        self.place.close();
    }
}
