//! Two instances on a separate PostgreSQL cluster, with users who write, read and receive events at both, and the
//! faults that are injected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::clock;
use db::Database;
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use super::fault_proxy::FaultProxy;
use super::help_history::HelpHistory;
use super::requests;
use super::socket_probe::SocketProbe;
use crate::crash::checker::Checker;
use crate::crash::oracle::Oracle;
use crate::crash::writers::Writers;
use test_support::cluster::Cluster;
use test_support::rows::execute;
use test_support::{
    AUTH_SECRET, Client, DOCSERVER_SECRET, ServerEnv, ServerProcess, TestUser, WAIT_TIMEOUT, World, size,
};

/// The faults that are injected into PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostgresOutage {
    /// An orderly shutdown, a pause and a restart.
    RestartFast,
    /// An immediate shutdown and a recovery from the write-ahead log.
    RestartImmediate,
    /// All connections of the service are terminated.
    EndAll,
    /// Only the event bus connections are terminated.
    EndBus,
    /// The server is frozen.
    Freeze,
    /// A commit succeeds, and the connection is closed before its response.
    CutCommit,
}

/// All faults, in the order of execution.
pub const OUTAGES: [PostgresOutage; 6] = [
    PostgresOutage::RestartFast,
    PostgresOutage::CutCommit,
    PostgresOutage::EndAll,
    PostgresOutage::RestartImmediate,
    PostgresOutage::EndBus,
    PostgresOutage::Freeze,
];

impl PostgresOutage {
    /// Returns whether revocation events may be lost during this fault.
    fn may_lose_events(self) -> bool {
        !matches!(self, Self::Freeze | Self::CutCommit)
    }
}

/// The maximum recovery time after the database is back: ten seconds. The short run allows more, because other tests
/// run in parallel.
fn recovery_timeout() -> Duration {
    Duration::from_secs(size(40, 10))
}

pub struct OutageFixture {
    cluster: Arc<Cluster>,
    fault_proxy: FaultProxy,
    direct: Database,
    world: World,
    services: [ServerProcess; 2],
    _envs: [ServerEnv; 2],
    document_server: Arc<RunningSimulator>,
    oracle: Arc<Oracle>,
    checker: Checker,
    writers: Writers,
    readers: Vec<JoinHandle<usize>>,
    help_history: JoinHandle<HelpHistory>,
    stop: Arc<AtomicBool>,
    socket_probe: Vec<SocketProbe>,
    tom: [Client; 2],
    /// The group from which a user is removed during every gap in the event stream.
    group: String,
    named: usize,
    slowest: Duration,
    busy: usize,
    gaps: usize,
    reads: Arc<AtomicUsize>,
    rng: StdRng,
}

impl OutageFixture {
    pub async fn prepare(editor: EditorKind) -> Option<Self> {
        let cluster = tokio::task::spawn_blocking(|| Cluster::start(&[]));
        let cluster = Arc::new(cluster.await.unwrap()?);
        let direct = Database::Postgres(cluster.url("postgres"));
        let fault_proxy = FaultProxy::to(cluster.port()).await;
        let mut first = ServerEnv::on_database(&Database::Postgres(Cluster::url_at(fault_proxy.port, "postgres")));
        let mut second = ServerEnv::on_database(&direct);
        second.set("DATA_DIR", &first.folder().display().to_string());
        let world = World::create(&second.store().await, &direct).await;
        let document_server = Arc::new(
            Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
                .await
                .unwrap(),
        );
        for env in [&mut first, &mut second] {
            env.set("DOCSERVER_URL", &document_server.url());
            env.set("EDITOR_TEXT", editor.as_str());
        }
        let mut services = [first.start("serve"), second.start("serve")];
        for service in &mut services {
            service.ready().await;
        }
        let bases = [services[0].base.clone(), services[1].base.clone()];
        let bases = [bases[0].as_str(), bases[1].as_str()];
        let seed = rand::random::<u64>();
        println!("outages with {editor}: seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let oracle = Arc::new(Oracle::default());
        let checker = Checker::new(&direct, first.folder(), &world.north);
        let writers = Writers::start(&bases, editor, &world, &document_server, &oracle, &mut rng).await;
        oracle.require_responses();

        let at = |base: &str, person: &TestUser| Client::new(base, Some(person.cookie.clone()));
        let tom = bases.map(|base| at(base, &world.tom));
        let new = json!({"classId": world.eight_a.id, "memberIds": [world.finn.id]});
        let group = tom[0].post("/groups", new).await.expect(201)["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let new = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
        let called = at(bases[0], &world.ada).post("/groups", new).await.expect(201);
        let mut socket_probe = Vec::new();
        for (base, person) in [
            (bases[0], &world.tom),
            (bases[1], &world.tom),
            (bases[1], &world.finn),
            (bases[0], &world.ada),
            (bases[0], &world.ben),
            (bases[1], &world.zoe),
        ] {
            socket_probe.push(SocketProbe::of(base, person).await);
        }
        let (stop, reads) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let help_history = HelpHistory::of(bases, called["id"].as_str().unwrap(), &world.ben, &world.ada);
        let help_history = run_help_requests(help_history, Arc::clone(&stop), Arc::clone(&oracle));
        let readers = bases.map(|base| {
            let reader = at(base, &world.ada);
            run_reads(reader, Arc::clone(&stop), Arc::clone(&oracle), Arc::clone(&reads))
        });
        Some(Self {
            cluster,
            fault_proxy,
            direct,
            world,
            services,
            _envs: [first, second],
            document_server,
            oracle,
            checker,
            writers,
            readers: readers.into(),
            help_history,
            stop,
            socket_probe,
            tom,
            group,
            named: 0,
            slowest: Duration::ZERO,
            busy: 0,
            gaps: 0,
            reads,
            rng,
        })
    }

    /// Injects one fault and checks all invariants after it.
    pub async fn run_outage(&mut self, outage: PostgresOutage) {
        self.writers.resume();
        let calm = self.rng.random_range(50..400);
        tokio::time::sleep(Duration::from_millis(calm)).await;
        // A user is removed without an event, as if the event was lost in the gap.
        let victim = if outage.may_lose_events() {
            Some(self.new_member().await)
        } else {
            None
        };
        let marks: Vec<usize> = self.socket_probe.iter().map(SocketProbe::position).collect();
        if let Some((new_member, _)) = &victim {
            let put_out = format!(
                "DELETE FROM sessions WHERE token = '{}'; DELETE FROM group_members WHERE group_id = '{}'",
                new_member.token, self.group
            );
            execute(&self.direct, put_out).await;
        }
        self.busy += usize::from(self.writers.busy() > 0);
        self.inject(outage).await;
        let back = Instant::now();
        self.wait_until_ready(back).await;
        self.wait_until_received().await;
        let took = back.elapsed();
        assert!(
            took < recovery_timeout(),
            "{outage:?}: everything works only after {took:?}"
        );
        self.slowest = self.slowest.max(took);
        println!("  {outage:?}: all works after {} ms", took.as_millis());
        if let Some((new_member, probe)) = victim {
            self.gaps += 1;
            for (probe, position) in self.socket_probe.iter().zip(&marks) {
                probe
                    .until("received sync:required after the gap", |probe| {
                        probe.is_up_to_date(*position)
                    })
                    .await;
            }
            probe
                .until(&format!("{} is out", new_member.name), SocketProbe::is_rejected)
                .await;
            self.check_removed_member().await;
        }
        self.check().await;
    }

    async fn inject(&mut self, outage: PostgresOutage) {
        let cluster = Arc::clone(&self.cluster);
        let away = Duration::from_millis(self.rng.random_range(0..1_500));
        let frozen = size(Duration::from_secs(2), Duration::from_secs(20));
        let blocking =
            move |step: Box<dyn FnOnce(&Cluster) + Send>| tokio::task::spawn_blocking(move || step(&cluster));
        let ended = |bus: &str| {
            format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '{bus}'
                    AND pid <> pg_backend_pid()"
            )
        };
        match outage {
            PostgresOutage::RestartFast | PostgresOutage::RestartImmediate => {
                let mode = if outage == PostgresOutage::RestartFast {
                    "fast"
                } else {
                    "immediate"
                };
                let restarted = blocking(Box::new(move |cluster| {
                    cluster.stop(mode);
                    std::thread::sleep(away);
                    cluster.start_again();
                }));
                restarted.await.unwrap();
            }
            PostgresOutage::EndAll => execute(&self.direct, ended("groupwork%")).await,
            PostgresOutage::EndBus => execute(&self.direct, ended("groupwork bus")).await,
            PostgresOutage::Freeze => {
                let stood = blocking(Box::new(move |cluster| {
                    cluster.freeze();
                    std::thread::sleep(frozen);
                    cluster.thaw();
                }));
                stood.await.unwrap();
            }
            PostgresOutage::CutCommit => {
                for _ in 0..size(2, 15) {
                    let (before, since) = (self.fault_proxy.cuts(), Instant::now());
                    self.fault_proxy.cut_next_commit();
                    while self.fault_proxy.cuts() == before {
                        assert!(since.elapsed() < WAIT_TIMEOUT, "nobody commits");
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
            }
        }
    }

    /// Waits until both instances are ready.
    async fn wait_until_ready(&self, since: Instant) {
        for tom in &self.tom {
            let is_ready = async || {
                let asked = tom
                    .request(Method::GET, "/health/ready")
                    .timeout(Duration::from_secs(45));
                asked.send().await.is_ok_and(|answer| answer.status() == 200)
            };
            while !is_ready().await {
                assert!(since.elapsed() < Duration::from_mins(1), "not ready any more");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Checks in both directions that a change at one instance is received at the other.
    async fn wait_until_received(&mut self) {
        for at in [0, 1] {
            let (since, position) = (Instant::now(), self.socket_probe[1 - at].position());
            while !self.socket_probe[1 - at].received(&self.group, position) {
                assert!(since.elapsed() < WAIT_TIMEOUT, "the other instance is deaf");
                self.rename(at).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn rename(&mut self, at: usize) -> bool {
        self.named += 1;
        let path = format!("/groups/{}", self.group);
        let request = self.tom[at]
            .request(Method::PATCH, &path)
            .json(&json!({"name": format!("Name {}", self.named)}));
        match requests::send(request, &self.oracle).await {
            Some((200, _)) => true,
            Some((503, _)) => false,
            other => {
                self.oracle.fault(format!("renaming answered {other:?}"));
                false
            }
        }
    }

    /// Checks that Finn is in no room of the group any more, then adds Finn to the group again.
    async fn check_removed_member(&mut self) {
        let (tom, finn) = (1, 2);
        let marks = [self.socket_probe[tom].position(), self.socket_probe[finn].position()];
        assert!(self.rename(0).await, "nothing blows any more");
        let group = self.group.clone();
        self.socket_probe[tom]
            .until("the staff receive the event", |probe| probe.received(&group, marks[0]))
            .await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(
            !self.socket_probe[finn].received(&group, marks[1]),
            "the user was removed during the gap and still receives events"
        );
        let path = format!("/groups/{group}/members");
        let again = self.tom[1].post(&path, json!({"userIds": [self.world.finn.id]})).await;
        again.expect(200);
        let since = Instant::now();
        let position = self.socket_probe[finn].position();
        while !self.socket_probe[finn].received(&group, position) {
            assert!(
                since.elapsed() < WAIT_TIMEOUT,
                "the user was added again and receives nothing"
            );
            self.rename(0).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns a user with a separate session at one of the instances.
    async fn new_member(&mut self) -> (TestUser, SocketProbe) {
        let zack = &self.world.zack;
        let (id, token) = (clock::new_id(), better_auth::token::session_token());
        let copied = format!(
            "INSERT INTO sessions (id, user_id, token, expires_at, active_organization_id, created_at, updated_at)
                SELECT '{id}', user_id, '{token}', expires_at, active_organization_id, created_at, updated_at
                FROM sessions WHERE token = '{}'",
            zack.token
        );
        execute(&self.direct, copied).await;
        let cookie = format!(
            "better-auth.session_token={}",
            better_auth::cookie::sign(AUTH_SECRET, &token)
        );
        let new_member = TestUser {
            token,
            cookie,
            ..zack.clone()
        };
        let at = self.rng.random_range(0..2);
        let probe = SocketProbe::of(&self.services[at].base, &new_member).await;
        (new_member, probe)
    }

    /// Pauses the writers and checks that every acknowledged change exists.
    async fn check(&mut self) {
        self.writers.pause().await;
        self.oracle.record_rejections(&self.document_server);
        self.document_server.clear_log();
        self.oracle.assert_no_faults();
        self.writers.write_files(&self.oracle).await;
        self.checker.check_new(&self.oracle);
    }

    pub async fn end(mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.writers.stop().await;
        let mut refused = 0;
        for reader in self.readers.drain(..) {
            refused += reader.await.unwrap();
        }
        let mut help_history = (&mut self.help_history).await.unwrap();
        for at in [0, 1] {
            help_history.check(at, &self.oracle).await;
        }
        self.writers.write_files(&self.oracle).await;
        self.checker.check_all(&self.oracle);
        self.oracle.assert_no_faults();
        println!(
            "  writers busy in {} storms, {} gaps; slowest recovery {} ms; {} commits cut",
            self.busy,
            self.gaps,
            self.slowest.as_millis(),
            self.fault_proxy.cuts()
        );
        println!(
            "  {} reads answered, {refused} refused; calls for help: {} done, {} left open, {} looks",
            self.reads.load(Ordering::SeqCst),
            help_history.done,
            help_history.left_open,
            help_history.read
        );
        println!("  {}", self.oracle.summary());
        println!("  {}", self.checker.summary());
        drop(self.socket_probe);
        for service in self.services {
            assert!(service.stop().success());
        }
    }
}

/// Calls for help and resolves the calls until `stop` is set.
fn run_help_requests(
    mut help_history: HelpHistory,
    stop: Arc<AtomicBool>,
    oracle: Arc<Oracle>,
) -> JoinHandle<HelpHistory> {
    tokio::spawn(async move {
        while !stop.load(Ordering::SeqCst) {
            help_history.step(&oracle).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        help_history
    })
}

/// Reads lists until `stop` is set, and returns the number of rejected requests.
fn run_reads(reader: Client, stop: Arc<AtomicBool>, oracle: Arc<Oracle>, reads: Arc<AtomicUsize>) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let mut refused = 0;
        for number in 0_usize.. {
            if stop.load(Ordering::SeqCst) {
                break;
            }
            let path = ["/groups", "/courses", "/classes", "/assignments"][number % 4];
            match requests::send(reader.request(Method::GET, path), &oracle).await {
                Some((200, _)) => drop(reads.fetch_add(1, Ordering::SeqCst)),
                Some((503, _)) => refused += 1,
                other => oracle.fault(format!("{path} answered {other:?}")),
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        refused
    })
}
