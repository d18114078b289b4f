//! The load at the start of a school day: a thousand sockets on one started process (ten thousand with
//! `GROUPWORK_SOAK=1`). Every client connects. Each socket receives exactly its own events while some clients never
//! read. The sockets of ended sessions are closed and no others, even if no event announces the end of a session. All
//! clients reconnect at the same time after a restart while requests are served. When all clients have disconnected,
//! the process holds no socket, connection or room.

mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use api::fd_limit;
use domain::realtime::Room;
use futures_util::StreamExt as _;
use serde_json::json;

use sockets::{StudentSockets, Students};
use test_support::realtime_rows::group_updated;
use test_support::realtime_rows::user;
use test_support::{
    Client, DatabaseKind, RealtimeRows, ServerEnv, ServerProcess, TestApp, WAIT_TIMEOUT, World, raw_socket, rows, size,
    until,
};

/// All ten thousand sockets are connected within a minute, also when they reconnect at the same time. The short run
/// executes in parallel with other tests and only has a generous limit.
fn connect_timeout() -> Duration {
    size(2 * WAIT_TIMEOUT, Duration::from_mins(1))
}

/// A socket is closed within five seconds after its session ends. The short run only waits for it.
fn close_timeout() -> Duration {
    size(WAIT_TIMEOUT, Duration::from_secs(5))
}

/// The maximum memory in bytes for each idle socket of this build. The release build needs less (`bench`,
/// `docs/performance.md`).
const MEMORY_MAX: u64 = 50 << 10;
/// How often the same crowd reconnects.
const RECONNECTS: usize = 6;

/// A started process with metrics.
struct MonitoredServer {
    service: ServerProcess,
}

impl MonitoredServer {
    async fn start(env: &mut ServerEnv) -> Self {
        let mut service = env.start("serve");
        service.ready().await;
        Self { service }
    }

    /// Waits until no socket, connection or room is left.
    async fn wait_until_empty(&self) {
        self.wait_for_sockets(0).await;
        self.wait_for_metric("socket_rooms", 0).await;
    }

    /// Waits until the process has this number of sockets, each with its own connection. An abandoned connection may
    /// remain for a moment.
    async fn wait_for_sockets(&self, sockets: u64) {
        self.wait_for_metric("sockets_open", sockets).await;
        self.wait_for_metric("websocket_connections", sockets).await;
    }

    async fn wait_for_metric(&self, name: &str, metric: u64) {
        let begin = Instant::now();
        loop {
            let found = self.service.metric(name).await;
            if found == metric {
                return;
            }
            assert!(begin.elapsed() < WAIT_TIMEOUT, "{name} is {found}, not {metric}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the lowest resident memory over several measurements.
    async fn resident(&self) -> u64 {
        let mut least = u64::MAX;
        for _ in 0..size(10, 40) {
            least = least.min(self.service.resident());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        least
    }
}

/// Renames the classes. Returns the number of events for each class.
async fn rename(ada: &Client, students: &Students, rounds: usize) -> BTreeMap<usize, usize> {
    let mut expected = BTreeMap::new();
    for round in 0..rounds {
        // The last class receives fewer events than the others.
        for (class, id) in students
            .classes
            .iter()
            .enumerate()
            .take(students.classes.len() - round % 2)
        {
            let name = json!({"name": format!("Class {class} in round {round}")});
            ada.patch(&format!("/classes/{id}"), name).await.expect(200);
            *expected.entry(class).or_default() += 1;
        }
    }
    expected
}

/// Checks that every socket that reads receives each event of its class once, in the same order as the other sockets of
/// the class, and no event of another class.
async fn check_received_events(
    clients: &StudentSockets,
    students: &Students,
    non_reading: &BTreeSet<usize>,
    expected: &BTreeMap<usize, usize>,
) {
    let due = |student: usize| expected.get(&students.class_of(student)).copied().unwrap_or_default();
    let readers: Vec<usize> = (0..students.count())
        .filter(|student| !non_reading.contains(student))
        .collect();
    let begin = Instant::now();
    let of = |received: &BTreeMap<usize, Vec<String>>, student: usize| received.get(&student).map_or(0, Vec::len);
    loop {
        let received = clients.received();
        if readers.iter().all(|student| of(&received, *student) >= due(*student)) {
            break;
        }
        let behind = readers
            .iter()
            .filter(|student| of(&received, **student) < due(**student))
            .count();
        assert!(begin.elapsed() < WAIT_TIMEOUT, "{behind} sockets lack events");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Duplicate events would arrive during this time.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let received = clients.received();
    let mut of_class: BTreeMap<usize, &Vec<String>> = BTreeMap::new();
    for student in readers {
        let events = &received[&student];
        assert_eq!(events.len(), due(student), "socket {student}: {events:?}");
        let first = of_class.entry(students.class_of(student)).or_insert(events);
        assert_eq!(events, *first, "socket {student} heard other events than its class");
    }
    let all: Vec<&String> = of_class.values().flat_map(|events| events.iter()).collect();
    let different: BTreeSet<&&String> = all.iter().collect();
    assert_eq!(all.len(), different.len(), "two classes heard the same event");
}

/// Reconnects the same crowd several times: the memory of the first crowd is reused. The memory that the allocator
/// retains varies, but a leak grows with each repetition. Returns the last crowd.
async fn reconnect(
    server: &MonitoredServer,
    mut clients: StudentSockets,
    students: &Students,
    non_reading: &BTreeSet<usize>,
    memory_per_run: u64,
) -> StudentSockets {
    let mut taken = Vec::new();
    for _ in 0..RECONNECTS {
        clients.disconnect();
        server.wait_until_empty().await;
        clients = StudentSockets::connect_all(&server.service.base, students, non_reading).await;
        taken.push(server.resident().await);
    }
    println!("bytes with the same crowd again and again: {taken:?}; the first took {memory_per_run}");
    let (first, last) = (taken[0], taken[taken.len() - 1]);
    let leaked = (RECONNECTS as u64 - 1) * memory_per_run;
    assert!(
        last < first + leaked / 2,
        "{taken:?}: the first crowd took {memory_per_run}, and it is not used again"
    );
    clients
}

/// Signs out a tenth of the students: their sockets are closed in time, and no others.
async fn sign_out_a_tenth(
    service: &ServerProcess,
    clients: &StudentSockets,
    students: &Students,
    non_reading: &BTreeSet<usize>,
) {
    let leaving: Vec<usize> = (0..students.count())
        .step_by(10)
        .filter(|student| !non_reading.contains(student))
        .collect();
    let signed_out: BTreeMap<usize, Instant> = futures_util::stream::iter(leaving)
        .map(|student| async move {
            let client = Client::new(&service.base, Some(students.cookies[student].clone()));
            client.post("/auth/sign-out", json!({})).await.expect(200);
            (student, Instant::now())
        })
        .buffer_unordered(16)
        .collect()
        .await;
    until("all who signed out are cut", async || {
        let closed = clients.closed();
        signed_out.keys().all(|student| closed.contains_key(student))
    })
    .await;
    let closed = clients.closed();
    for (student, at) in &signed_out {
        let took = closed[student].saturating_duration_since(*at);
        assert!(took < close_timeout(), "socket {student} was cut after {took:?}");
    }
    let others: Vec<_> = closed
        .keys()
        .filter(|student| !signed_out.contains_key(student))
        .collect();
    assert_eq!(others, Vec::<&usize>::new(), "cut although their sessions are good");
}

/// Ends the sessions of another tenth in the database without an event: the sweep closes their sockets and no others.
async fn expire_a_tenth(env: &ServerEnv, clients: &StudentSockets, students: &Students, non_reading: &BTreeSet<usize>) {
    let before: BTreeSet<usize> = clients.closed().into_keys().collect();
    let expiring: BTreeSet<usize> = (5..students.count())
        .step_by(10)
        .filter(|student| !non_reading.contains(student))
        .collect();
    let ids: Vec<String> = expiring.iter().map(|student| format!("'crowd-{student}'")).collect();
    let expire = format!("UPDATE sessions SET expires_at = 1 WHERE id IN ({})", ids.join(", "));
    rows::execute(&env.database, expire).await;
    let begin = Instant::now();
    loop {
        let closed: BTreeSet<usize> = clients.closed().into_keys().collect();
        let of_sweep: BTreeSet<usize> = closed.difference(&before).copied().collect();
        assert!(of_sweep.is_subset(&expiring), "cut although their sessions are good");
        if of_sweep == expiring {
            break;
        }
        let left = expiring.len() - of_sweep.len();
        assert!(begin.elapsed() < WAIT_TIMEOUT, "{left} sockets outlive their sessions");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!(
        "the sweep ended {} sockets within {:?}",
        expiring.len(),
        begin.elapsed()
    );
}

/// Sends requests of another user until `clients` is connected. Returns the crowd, the number of requests and the longest
/// response time.
async fn send_requests_during(
    ada: &Client,
    clients: impl Future<Output = StudentSockets>,
) -> (StudentSockets, usize, Duration) {
    tokio::pin!(clients);
    let (mut count, mut slowest) = (0, Duration::ZERO);
    loop {
        let began = Instant::now();
        tokio::select! {
            clients = &mut clients => return (clients, count, slowest),
            answer = ada.get("/classes") => {
                answer.expect(200);
                count += 1;
                slowest = slowest.max(began.elapsed());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sockets_receive_own_events_and_leave_no_state() {
    let open = fd_limit::raise().unwrap_or(u64::MAX);
    let (classes, class_size) = size((10, 100), (10, 1_000));
    assert!(open > (classes * class_size + 500) as u64, "only {open} descriptors");
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    for (name, value) in [
        ("CONNECTIONS_MAX", "20000"),
        ("CONNECTIONS_PER_ADDRESS", "20000"),
        ("METRICS_LISTEN", "127.0.0.1:0"),
        ("SOCKET_RECONCILE_INTERVAL_SECONDS", "2"),
    ] {
        env.set(name, value);
    }
    let world = World::create(&env.store().await, &env.database).await;
    let students = Students::write(&env.database, &world, classes, class_size).await;
    // One client in twenty never reads. These clients are spread over all classes.
    let non_reading: BTreeSet<usize> = (7..students.count()).step_by(20).collect();
    let server = MonitoredServer::start(&mut env).await;
    let ada = Client::new(&server.service.base, Some(world.ada.cookie.clone()));
    // A few clients connect first, so that the measurement excludes what the process loads only once.
    let few = students.first(50);
    StudentSockets::connect_all(&server.service.base, &few, &BTreeSet::new())
        .await
        .disconnect();
    server.wait_until_empty().await;
    let empty = server.resident().await;

    let begin = Instant::now();
    let clients = StudentSockets::connect_all(&server.service.base, &students, &non_reading).await;
    let came = begin.elapsed();
    assert!(came < connect_timeout(), "all were in after {came:?}");
    let count = students.count() as u64;
    server.wait_for_sockets(count).await;
    let full = server.resident().await;
    let of_one = full.saturating_sub(empty) / count;
    println!("{count} sockets in {came:?}, {of_one} bytes each");
    assert!(of_one < MEMORY_MAX, "{of_one} bytes for each idle socket");

    let expected = rename(&ada, &students, size(5, 20)).await;
    check_received_events(&clients, &students, &non_reading, &expected).await;
    assert_eq!(clients.closed(), BTreeMap::new(), "nobody was cut while all was well");

    let clients = reconnect(&server, clients, &students, &non_reading, full - empty).await;

    // The server restarts on the same address, and all clients reconnect at the same time.
    let ada = Client::new(&server.service.base, Some(world.ada.cookie.clone()));
    assert!(server.service.stop().success());
    clients.disconnect();
    let server = MonitoredServer::start(&mut env).await;
    let begin = Instant::now();
    let storm = StudentSockets::connect_all(&server.service.base, &students, &non_reading);
    let (clients, answered, slowest) = send_requests_during(&ada, storm).await;
    let came = begin.elapsed();
    println!("all came back in {came:?}; {answered} requests were answered meanwhile, the slowest in {slowest:?}");
    assert!(came < connect_timeout(), "all were back after {came:?}");
    assert!(answered > 0, "nobody else was served meanwhile");
    server.wait_for_sockets(count).await;

    sign_out_a_tenth(&server.service, &clients, &students, &non_reading).await;
    expire_a_tenth(&env, &clients, &students, &non_reading).await;
    clients.disconnect();
    server.wait_until_empty().await;
    drop(server);
    env.close();
}

/// Fills connections until the server's writers wait for clients that never read. The other clients still receive their
/// events, and the kernel closes the connections of the clients that never read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn non_reading_clients_block_no_others_and_are_closed() {
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let (class_size, every) = size((200, 20), (2_000, 10));
    let students = Students::write(&app.database, &app.world, 1, class_size).await;
    let non_reading: BTreeSet<usize> = (0..students.count()).step_by(every).collect();
    let clients = StudentSockets::connect_all(&app.base, &students, &non_reading).await;
    let rows = RealtimeRows(&app);
    // More data than the buffers of a connection can hold.
    let words = "x".repeat(60_000);
    for student in &non_reading {
        let room = Room::User(domain::id::UserId::new(format!("crowd-{student}")));
        for _ in 0..80 {
            rows.emit(vec![group_updated(&app.world.north, vec![room.clone()], &words)])
                .await;
        }
    }
    let stalled = Instant::now();
    let ada = app.as_(&app.world.ada);
    let expected = rename(&ada, &students, 20).await;
    check_received_events(&clients, &students, &non_reading, &expected).await;
    let took = stalled.elapsed();
    assert!(took < connect_timeout(), "the others heard after {took:?}");
    // The kernel closes a connection after 25 s without an acknowledgement, within the guaranteed limit of 30 s. Its
    // rooms then release the socket.
    let readers = students.count() - non_reading.len();
    while app.app.realtime().socket_count() > readers || app.app.realtime().websocket_connections() > readers {
        assert!(
            stalled.elapsed() < WAIT_TIMEOUT,
            "{} sockets stand",
            app.app.realtime().socket_count()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!(
        "{} deaf clients were gone after {:?}",
        non_reading.len(),
        stalled.elapsed()
    );
    assert_eq!(clients.closed(), BTreeMap::new(), "those who read stay");
    for student in &non_reading {
        let room = Room::User(domain::id::UserId::new(format!("crowd-{student}")));
        assert_eq!(app.app.realtime().count(&room), 0);
    }
    clients.disconnect();
    // A new socket is served as usual.
    let mut ben = raw_socket::Socket::open(&app, &app.world.ben.cookie).await;
    ben.expect("ready").await;
    assert_eq!(app.app.realtime().count(&Room::User(user(&app.world.ben))), 1);
    app.close().await;
}
