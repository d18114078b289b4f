//! Nothing acknowledged is lost: four writers save documents, upload files and create groups while the started binary is
//! killed at random moments and at every named failpoint; after each restart everything it said yes to is there, whole.
//! `make test` kills 25 times on each database, `make soak` (`GROUPWORK_SOAK=1`) 200 times.

mod inspection;
mod ledger;
mod writers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use practice_document_server::{Practice, Running, Settings};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use self::inspection::Inspection;
use self::ledger::Ledger;
use self::writers::Writers;
use crate::support::{DOCSERVER_SECRET, Kind, Place, Started, World};

/// How long a start may take until the service is ready.
const READY: Duration = Duration::from_secs(5);
/// How long a named place may stay unvisited while the writers write.
const VISIT: Duration = Duration::from_secs(30);

/// A service that dies often, and what was acknowledged in all its lives.
struct Scene {
    place: Place,
    practice: Arc<Running>,
    ledger: Arc<Ledger>,
    inspection: Inspection,
    writers: Writers,
    slowest_start: Duration,
    rng: StdRng,
}

impl Scene {
    async fn prepare(kind: Kind) -> Option<(Self, Started)> {
        let mut place = Place::new(kind)?;
        let world = World::create(&place.store().await, &place.database).await;
        let practice = Arc::new(Practice::start(Settings::quick(DOCSERVER_SECRET)).await.unwrap());
        place.set("DOCSERVER_URL", &practice.url());
        let seed = rand::random::<u64>();
        println!("crash on {kind:?}: seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let mut service = place.start("serve");
        let slowest_start = service.ready().await;
        let ledger = Arc::new(Ledger::default());
        let inspection = Inspection::new(&place.database, place.folder(), &world.north);
        let writers = Writers::start(&service.base, &world, &practice, &ledger, &mut rng).await;
        let scene = Self {
            place,
            practice,
            ledger,
            inspection,
            writers,
            slowest_start,
            rng,
        };
        Some((scene, service))
    }

    /// Starts the service again and looks at everything it remembers while nobody writes.
    async fn recover(&mut self) -> Started {
        // Writers and the document server go on meanwhile: what they repeat must find its first try.
        let mut service = self.place.start("serve");
        let start = service.ready().await;
        assert!(start < READY, "ready only after {start:?}");
        self.slowest_start = self.slowest_start.max(start);
        self.writers.pause().await;
        let ledger = Arc::clone(&self.ledger);
        ledger.no_faults();
        self.inspection.after_a_crash(&ledger);
        self.ledger.note_refusals(&self.practice);
        self.practice.clear_record();
        service
    }

    async fn end(mut self, service: Started) {
        self.writers.stop().await;
        self.inspection.of_everything(&self.ledger);
        self.ledger.no_faults();
        service.kill();
        println!("  {}", self.inspection.figures());
        self.place.close();
    }
}

async fn random_kills(kind: Kind) {
    let Some((mut scene, mut service)) = Scene::prepare(kind).await else {
        return;
    };
    let kills = if is_long_run() { 200 } else { 25 };
    let (mut hit, mut broke) = (0, 0);
    let begin = Instant::now();
    for _ in 0..kills {
        let before = scene.ledger.unanswered();
        scene.writers.resume();
        let life = scene.rng.random_range(30..500);
        tokio::time::sleep(Duration::from_millis(life)).await;
        let busy = scene.writers.busy();
        service.kill();
        service = scene.recover().await;
        hit += u32::from(busy > 0);
        broke += u32::from(scene.ledger.unanswered() > before);
    }
    println!(
        "crash on {kind:?}: {kills} kills in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    println!("  a request under way at {hit}, an unanswered one after {broke} of them");
    println!("  {}", scene.ledger.figures());
    println!("  slowest start {} ms", scene.slowest_start.as_millis());
    assert!(hit * 2 > kills, "too few kills met work: the run shows nothing");
    scene.end(service).await;
}

async fn kills_at_every_named_place(kind: Kind) {
    let Some((mut scene, service)) = Scene::prepare(kind).await else {
        return;
    };
    scene.writers.pause().await;
    service.kill();
    for name in failpoints() {
        // The first visits may belong to the start itself; which one kills is drawn.
        let count = scene.rng.random_range(1..=12);
        let armed = format!("{name}:{count}");
        match scene.place.try_start("serve", &[("GROUPWORK_FAILPOINT", &armed)]) {
            Err(_) => println!("  {armed}: died while it started"),
            Ok(mut dying) => {
                scene.writers.resume();
                let since = Instant::now();
                while dying.ended().is_none() {
                    assert!(since.elapsed() < VISIT, "{armed}: nobody came by");
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                println!("  {armed}: died after {} ms", since.elapsed().as_millis());
            }
        }
        scene.recover().await.kill();
    }
    println!("crash on {kind:?}, named places: {}", scene.ledger.figures());
    let service = scene.recover().await;
    scene.end(service).await;
}

/// Whether somebody has time.
fn is_long_run() -> bool {
    crate::support::environment("GROUPWORK_SOAK").is_some()
}

/// Every name that the sources pass to the failpoint.
fn failpoints() -> BTreeSet<String> {
    fn search(folder: &Path, found: &mut BTreeSet<String>) {
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
    let mut found = BTreeSet::new();
    search(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() >= 6, "only {found:?}");
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_kills_lose_nothing_acknowledged_on_sqlite() {
    random_kills(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_kills_lose_nothing_acknowledged_on_postgres() {
    random_kills(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_every_named_place_lose_nothing_acknowledged_on_sqlite() {
    kills_at_every_named_place(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_every_named_place_lose_nothing_acknowledged_on_postgres() {
    kills_at_every_named_place(Kind::Postgres).await;
}
