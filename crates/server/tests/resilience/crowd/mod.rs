//! The load at the start of a school day: a thousand sockets on one started process (ten thousand with
//! `GROUPWORK_SOAK=1`). Every client connects. Each socket receives exactly its own events while some clients never
//! read. The sockets of ended sessions are closed and no others, even if no event announces the end of a session. All
//! clients reconnect at the same time after a restart while requests are served. When all clients have disconnected,
//! the process holds no socket, connection or room.

mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use api::fd_limit;
use futures_util::StreamExt as _;
use model::realtime::Room;
use serde_json::json;

use sockets::{Crowd, Students};
use test_support::live_rows::group_updated;
use test_support::live_rows::user;
use test_support::{Client, Kind, PATIENCE, Rows, ServerEnv, ServerProcess, TestApp, World, raw, rows, size, until};

/// All ten thousand sockets are connected within a minute, also when they reconnect at the same time. The short run
/// executes in parallel with other tests and only has a generous limit.
fn in_time() -> Duration {
    size(2 * PATIENCE, Duration::from_mins(1))
}

/// A socket is closed within five seconds after its session ends. The short run only waits for it.
fn cut_within() -> Duration {
    size(PATIENCE, Duration::from_secs(5))
}

/// The maximum memory in bytes for each idle socket of this build. The release build needs less (`bench`,
/// `docs/performance.md`).
const MEMORY_MAX: u64 = 50 << 10;
/// How often the same crowd reconnects.
const CROWDS: usize = 6;

/// A started process with the URL of its metrics.
struct Watched {
    service: ServerProcess,
    metrics: String,
}

impl Watched {
    async fn start(place: &mut ServerEnv) -> Self {
        let mut service = place.start("serve");
        service.ready().await;
        let metrics = service.metrics.clone().unwrap();
        Self { service, metrics }
    }

    async fn number(&self, name: &str) -> u64 {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let page = http.get(&self.metrics).send().await.unwrap().text().await.unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }

    /// Waits until no socket, connection or room is left.
    async fn is_empty(&self) {
        self.has(0).await;
        self.becomes("socket_rooms", 0).await;
    }

    /// Waits until the process has this number of sockets, each with its own connection. An abandoned connection may
    /// remain for a moment.
    async fn has(&self, sockets: u64) {
        self.becomes("sockets_open", sockets).await;
        self.becomes("websocket_connections", sockets).await;
    }

    async fn becomes(&self, name: &str, number: u64) {
        let begin = Instant::now();
        loop {
            let found = self.number(name).await;
            if found == number {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{name} is {found}, not {number}");
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
    let mut told = BTreeMap::new();
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
            *told.entry(class).or_default() += 1;
        }
    }
    told
}

/// Checks that every socket that reads receives each event of its class once, in the same order as the other sockets of
/// the class, and no event of another class.
async fn each_hears_its_own(crowd: &Crowd, students: &Students, deaf: &BTreeSet<usize>, told: &BTreeMap<usize, usize>) {
    let due = |place: usize| told.get(&students.class_of(place)).copied().unwrap_or_default();
    let readers: Vec<usize> = (0..students.count()).filter(|place| !deaf.contains(place)).collect();
    let begin = Instant::now();
    let of = |heard: &BTreeMap<usize, Vec<String>>, place: usize| heard.get(&place).map_or(0, Vec::len);
    loop {
        let heard = crowd.heard();
        if readers.iter().all(|place| of(&heard, *place) >= due(*place)) {
            break;
        }
        let behind = readers
            .iter()
            .filter(|place| of(&heard, **place) < due(**place))
            .count();
        assert!(begin.elapsed() < PATIENCE, "{behind} sockets lack events");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Duplicate events would arrive during this time.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let heard = crowd.heard();
    let mut of_class: BTreeMap<usize, &Vec<String>> = BTreeMap::new();
    for place in readers {
        let events = &heard[&place];
        assert_eq!(events.len(), due(place), "socket {place}: {events:?}");
        let first = of_class.entry(students.class_of(place)).or_insert(events);
        assert_eq!(events, *first, "socket {place} heard other events than its class");
    }
    let all: Vec<&String> = of_class.values().flat_map(|events| events.iter()).collect();
    let different: BTreeSet<&&String> = all.iter().collect();
    assert_eq!(all.len(), different.len(), "two classes heard the same event");
}

/// Reconnects the same crowd several times: the memory of the first crowd is reused. The memory that the allocator
/// retains varies, but a leak grows with each repetition. Returns the last crowd.
async fn comes_again(
    watched: &Watched,
    mut crowd: Crowd,
    students: &Students,
    deaf: &BTreeSet<usize>,
    of_crowd: u64,
) -> Crowd {
    let mut taken = Vec::new();
    for _ in 0..CROWDS {
        crowd.leave();
        watched.is_empty().await;
        crowd = Crowd::come(&watched.service.base, students, deaf).await;
        taken.push(watched.resident().await);
    }
    println!("bytes with the same crowd again and again: {taken:?}; the first took {of_crowd}");
    let (first, last) = (taken[0], taken[taken.len() - 1]);
    let leaked = (CROWDS as u64 - 1) * of_crowd;
    assert!(
        last < first + leaked / 2,
        "{taken:?}: the first crowd took {of_crowd}, and it is not used again"
    );
    crowd
}

/// Signs out a tenth of the students: their sockets are closed in time, and no others.
async fn a_tenth_signs_out(service: &ServerProcess, crowd: &Crowd, students: &Students, deaf: &BTreeSet<usize>) {
    let leaving: Vec<usize> = (0..students.count())
        .step_by(10)
        .filter(|place| !deaf.contains(place))
        .collect();
    let signed_out: BTreeMap<usize, Instant> = futures_util::stream::iter(leaving)
        .map(|place| async move {
            let client = Client::new(&service.base, Some(students.cookies[place].clone()));
            client.post("/auth/sign-out", json!({})).await.expect(200);
            (place, Instant::now())
        })
        .buffer_unordered(16)
        .collect()
        .await;
    until("all who signed out are cut", async || {
        let cut = crowd.cut();
        signed_out.keys().all(|place| cut.contains_key(place))
    })
    .await;
    let cut = crowd.cut();
    for (place, at) in &signed_out {
        let took = cut[place].saturating_duration_since(*at);
        assert!(took < cut_within(), "socket {place} was cut after {took:?}");
    }
    let others: Vec<_> = cut.keys().filter(|place| !signed_out.contains_key(place)).collect();
    assert_eq!(others, Vec::<&usize>::new(), "cut although their sessions are good");
}

/// Ends the sessions of another tenth in the database without an event: the sweep closes their sockets and no others.
async fn a_tenth_expires_untold(place: &ServerEnv, crowd: &Crowd, students: &Students, deaf: &BTreeSet<usize>) {
    let before: BTreeSet<usize> = crowd.cut().into_keys().collect();
    let expiring: BTreeSet<usize> = (5..students.count())
        .step_by(10)
        .filter(|place| !deaf.contains(place))
        .collect();
    let ids: Vec<String> = expiring.iter().map(|place| format!("'crowd-{place}'")).collect();
    let expire = format!("UPDATE sessions SET expires_at = 1 WHERE id IN ({})", ids.join(", "));
    rows::execute(&place.database, expire).await;
    let begin = Instant::now();
    loop {
        let cut: BTreeSet<usize> = crowd.cut().into_keys().collect();
        let of_sweep: BTreeSet<usize> = cut.difference(&before).copied().collect();
        assert!(of_sweep.is_subset(&expiring), "cut although their sessions are good");
        if of_sweep == expiring {
            break;
        }
        let left = expiring.len() - of_sweep.len();
        assert!(begin.elapsed() < PATIENCE, "{left} sockets outlive their sessions");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!(
        "the sweep ended {} sockets within {:?}",
        expiring.len(),
        begin.elapsed()
    );
}

/// Sends requests of another user until `crowd` is connected. Returns the crowd, the number of requests and the longest
/// response time.
async fn requests_are_answered(ada: &Client, crowd: impl Future<Output = Crowd>) -> (Crowd, usize, Duration) {
    tokio::pin!(crowd);
    let (mut count, mut slowest) = (0, Duration::ZERO);
    loop {
        let began = Instant::now();
        tokio::select! {
            crowd = &mut crowd => return (crowd, count, slowest),
            answer = ada.get("/classes") => {
                answer.expect(200);
                count += 1;
                slowest = slowest.max(began.elapsed());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_school_comes_in_hears_what_it_should_and_leaves_nothing_behind() {
    let open = fd_limit::raise().unwrap_or(u64::MAX);
    let (classes, class_size) = size((10, 100), (10, 1_000));
    assert!(open > (classes * class_size + 500) as u64, "only {open} descriptors");
    let mut place = ServerEnv::new(Kind::Sqlite).unwrap();
    for (name, value) in [
        ("CONNECTIONS_MAX", "20000"),
        ("CONNECTIONS_PER_ADDRESS", "20000"),
        ("METRICS_LISTEN", "127.0.0.1:0"),
        ("SOCKET_RECONCILE_INTERVAL_SECONDS", "2"),
    ] {
        place.set(name, value);
    }
    let world = World::create(&place.store().await, &place.database).await;
    let students = Students::write(&place.database, &world, classes, class_size).await;
    // One client in twenty never reads. These clients are spread over all classes.
    let deaf: BTreeSet<usize> = (7..students.count()).step_by(20).collect();
    let watched = Watched::start(&mut place).await;
    let ada = Client::new(&watched.service.base, Some(world.ada.cookie.clone()));
    // A few clients connect first, so that the measurement excludes what the process loads only once.
    let few = students.first(50);
    Crowd::come(&watched.service.base, &few, &BTreeSet::new()).await.leave();
    watched.is_empty().await;
    let empty = watched.resident().await;

    let begin = Instant::now();
    let crowd = Crowd::come(&watched.service.base, &students, &deaf).await;
    let came = begin.elapsed();
    assert!(came < in_time(), "all were in after {came:?}");
    let count = students.count() as u64;
    watched.has(count).await;
    let full = watched.resident().await;
    let of_one = full.saturating_sub(empty) / count;
    println!("{count} sockets in {came:?}, {of_one} bytes each");
    assert!(of_one < MEMORY_MAX, "{of_one} bytes for each idle socket");

    let told = rename(&ada, &students, size(5, 20)).await;
    each_hears_its_own(&crowd, &students, &deaf, &told).await;
    assert_eq!(crowd.cut(), BTreeMap::new(), "nobody was cut while all was well");

    let crowd = comes_again(&watched, crowd, &students, &deaf, full - empty).await;

    // The server restarts on the same address, and all clients reconnect at the same time.
    let ada = Client::new(&watched.service.base, Some(world.ada.cookie.clone()));
    assert!(watched.service.stop().success());
    crowd.leave();
    let watched = Watched::start(&mut place).await;
    let begin = Instant::now();
    let storm = Crowd::come(&watched.service.base, &students, &deaf);
    let (crowd, answered, slowest) = requests_are_answered(&ada, storm).await;
    let came = begin.elapsed();
    println!("all came back in {came:?}; {answered} requests were answered meanwhile, the slowest in {slowest:?}");
    assert!(came < in_time(), "all were back after {came:?}");
    assert!(answered > 0, "nobody else was served meanwhile");
    watched.has(count).await;

    a_tenth_signs_out(&watched.service, &crowd, &students, &deaf).await;
    a_tenth_expires_untold(&place, &crowd, &students, &deaf).await;
    crowd.leave();
    watched.is_empty().await;
    drop(watched);
    place.close();
}

/// Fills connections until the server's writers wait for clients that never read. The other clients still receive their
/// events, and the kernel closes the connections of the clients that never read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn clients_that_never_read_hold_up_nobody_and_are_ended() {
    let app = TestApp::start(Kind::Sqlite).await.unwrap();
    let (class_size, every) = size((200, 20), (2_000, 10));
    let students = Students::write(&app.database, &app.world, 1, class_size).await;
    let deaf: BTreeSet<usize> = (0..students.count()).step_by(every).collect();
    let crowd = Crowd::come(&app.base, &students, &deaf).await;
    let rows = Rows(&app);
    // More data than the buffers of a connection can hold.
    let words = "x".repeat(60_000);
    for place in &deaf {
        let room = Room::User(model::id::UserId::new(format!("crowd-{place}")));
        for _ in 0..80 {
            rows.tell(vec![group_updated(&app.world.north, vec![room.clone()], &words)])
                .await;
        }
    }
    let stalled = Instant::now();
    let ada = app.as_(&app.world.ada);
    let told = rename(&ada, &students, 20).await;
    each_hears_its_own(&crowd, &students, &deaf, &told).await;
    let took = stalled.elapsed();
    assert!(took < in_time(), "the others heard after {took:?}");
    // The kernel closes a connection after 25 s without an acknowledgement, within the guaranteed limit of 30 s. Its
    // rooms then release the socket.
    let readers = students.count() - deaf.len();
    while app.app.realtime().socket_count() > readers || app.app.realtime().websocket_connections() > readers {
        assert!(
            stalled.elapsed() < PATIENCE,
            "{} sockets stand",
            app.app.realtime().socket_count()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!("{} deaf clients were gone after {:?}", deaf.len(), stalled.elapsed());
    assert_eq!(crowd.cut(), BTreeMap::new(), "those who read stay");
    for place in &deaf {
        let room = Room::User(model::id::UserId::new(format!("crowd-{place}")));
        assert_eq!(app.app.realtime().count(&room), 0);
    }
    crowd.leave();
    // A new socket is served as usual.
    let mut ben = raw::Socket::open(&app, &app.world.ben.cookie).await;
    ben.expect("ready").await;
    assert_eq!(app.app.realtime().count(&Room::User(user(&app.world.ben))), 1);
    app.close().await;
}
