//! Replaces one instance after the other while users work through a proxy. No request fails, and sockets reconnect
//! automatically. `make test` restarts five times, `make soak` a hundred times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use document_server_simulator::{Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::{WAIT_TIMEOUT, client_at, eventually, people};
use crate::crash::checker::Checker;
use crate::crash::oracle::Oracle;
use crate::crash::writers::Writers;
use test_support::instances::Instances;
use test_support::topics::group;
use test_support::{Client, DOCSERVER_SECRET, SocketListener, World, clients_are_installed, size};

/// The time to wait for a socket to receive a change before the next change is made.
const MOMENT: Duration = Duration::from_secs(2);

/// Sends read requests continuously, as open pages do.
struct Readers {
    stop: Arc<AtomicBool>,
    read: Arc<AtomicUsize>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Readers {
    fn start(base: &str, world: &World) -> Self {
        let (stop, read) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let tasks = [&world.ben, &world.ada].map(|person| {
            let (client, stop, read) = (client_at(base, person), Arc::clone(&stop), Arc::clone(&read));
            let class = world.seven_b.id.clone();
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    for path in ["/classes", &format!("/groups?classId={class}"), "/assignments"] {
                        client.get(path).await.expect(200);
                        read.fetch_add(1, Ordering::Relaxed);
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
        });
        let tasks = tasks.into();
        Self { stop, read, tasks }
    }

    async fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.read.load(Ordering::Relaxed)
    }
}

/// Sockets through the proxy, and the group whose events they receive.
struct ProxiedListeners {
    sockets: Vec<SocketListener>,
    teacher: Client,
    group: String,
    changes: usize,
}

impl ProxiedListeners {
    async fn start(base: &str, world: &World) -> Self {
        let teacher = client_at(base, &world.ada);
        let group = group(&teacher, &world.seven_b, &[&world.ben], json!({})).await;
        let mut sockets = Vec::new();
        for person in [&world.ada, &world.ben, &world.adam, &world.ben] {
            sockets.push(SocketListener::connect_through_proxy(base, person).await);
        }
        Self {
            sockets,
            teacher,
            group,
            changes: 0,
        }
    }

    /// Checks that every socket receives a change that is made now, or reconnects, receives `ready`, and receives a
    /// later change. A read after a change returns the newest state.
    async fn expect_all(&mut self) {
        let since = Instant::now();
        let mut deaf: Vec<usize> = (0..self.sockets.len()).collect();
        while !deaf.is_empty() {
            assert!(since.elapsed() < WAIT_TIMEOUT, "sockets {deaf:?} did not come back");
            self.changes += 1;
            let name = format!("Rivers {}", self.changes);
            let path = format!("/groups/{}", self.group);
            self.teacher.patch(&path, json!({"name": name})).await.expect(200);
            assert_eq!(self.teacher.get(&path).await.expect(200)["name"], name);
            let mut still = Vec::new();
            for at in deaf {
                let news = |received: &Value| received["group"]["name"] == name.as_str();
                let heard = self.sockets[at].receives_within(MOMENT, "group:updated", news).await;
                if !heard {
                    still.push(at);
                }
            }
            deaf = still;
        }
        for socket in &mut self.sockets {
            for gone in socket.all("disconnect") {
                assert_eq!(gone["reason"], "transport close", "the client comes back by itself");
                socket.expect("ready").await;
            }
            assert_eq!(socket.all("ready").len(), 0);
            socket.discard();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn rolling_restart_fails_no_request() {
    rolling_restart(EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn rolling_restart_with_builtin_editor_fails_no_request() {
    rolling_restart(EditorKind::Builtin).await;
}

async fn rolling_restart(editor: EditorKind) {
    if !clients_are_installed() {
        return;
    }
    let document_server = Arc::new(
        Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
            .await
            .unwrap(),
    );
    let url = document_server.url();
    let Some(mut instances) = Instances::prepare(2, &[("DOCSERVER_URL", &url), ("EDITOR_TEXT", editor.as_str())]).await
    else {
        return;
    };
    // The first instance drains for one second, so that the proxy can notice. The other stops immediately, and the
    // proxy retries its requests.
    instances.envs[0].set("DRAIN_SECONDS", "1");
    instances.start_all().await;
    let (world, proxy) = (people(&instances).await, instances.proxy.base.clone());
    let oracle = Arc::new(Oracle::default());
    let mut checker = Checker::new(instances.database(), &instances.bucket.folder(""), &world.north);
    let seed = rand::random::<u64>();
    println!("rolling: seed {seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut writers = Vec::new();
    for _ in 0..2 {
        writers.push(Writers::start(&[proxy.as_str()], editor, &world, &document_server, &oracle, &mut rng).await);
    }
    let mut listeners = ProxiedListeners::start(&proxy, &world).await;
    let readers = Readers::start(&proxy, &world);
    writers.iter().for_each(Writers::resume);

    let restarts = size(5, 100);
    let (mut cut, mut slowest) = (0, Duration::ZERO);
    for number in 0..restarts {
        let old = number % 2;
        eventually("a request waits for its response", async || {
            writers.iter().any(|writers| writers.busy() > 0)
        })
        .await;
        cut += instances.proxy.sockets()[old];
        let since = Instant::now();
        let ended = instances.stop(old).await;
        assert!(ended.success(), "{ended}");
        listeners.expect_all().await;
        instances.restart(old).await;
        slowest = slowest.max(since.elapsed());
        oracle.record_rejections(&document_server);
        document_server.simulator().clear_log();
        oracle.assert_no_faults();
        assert_eq!(instances.proxy.failures(), Vec::<String>::new());
    }
    for mut some in writers {
        some.pause().await;
        some.write_files(&oracle).await;
        some.stop().await;
    }
    let read = readers.stop().await;
    println!("{restarts} restarts, {cut} sockets sent elsewhere; slowest {slowest:?}");
    println!(
        "  {read} reads; {:?} requests answered, {} asked a second time, none failed",
        instances.proxy.answered(),
        instances.proxy.retries()
    );
    println!("  {}", oracle.summary());
    assert_eq!(oracle.refused(), 0, "no request was deferred");
    assert!(cut > 0, "the run shows nothing");
    for env in &instances.envs {
        let log = std::fs::read_to_string(env.folder().join("serve.log")).unwrap();
        assert!(!log.contains("requests in flight were dropped"), "{log}");
    }
    oracle.record_rejections(&document_server);
    oracle.assert_no_faults();
    checker.check_all(&oracle);
    println!("  {}", checker.summary());
    instances.close().await;
}
