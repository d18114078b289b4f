//! The service streams files. The peak memory of the started binary stays near its memory at rest during uploads,
//! downloads, saves from the document server and archive exports. `make test` exports 200 documents of 1 MB, `make
//! soak` (`GROUPWORK_SOAK=1`) 200 of 10 MB.

use document_server_simulator::{Simulator, SimulatorSettings, client};
use reqwest::Method;
use serde_json::json;

use test_support::document_server_fixture::path;
use test_support::office::docx_with;
use test_support::topics::{group, id, topic};
use test_support::{Client, DOCSERVER_SECRET, DatabaseKind, ServerEnv, ServerProcess, World, size};

const MIB: u64 = 1 << 20;
/// Maximum memory of one large file, in addition to the process at rest.
const FILE_MAX: u64 = 16 * MIB;
/// Maximum memory of an archive export.
const ARCHIVE_MAX: u64 = 32 * MIB;
/// Number of documents in the archive; a workroom holds 100.
const DOCUMENTS: usize = 200;

/// A process with measured memory.
struct MonitoredService {
    service: ServerProcess,
    rest: u64,
}

impl MonitoredService {
    /// Measures the memory at rest, after every operation ran once on small files.
    async fn measure_at_rest(service: ServerProcess) -> Self {
        // Freed memory returns to the system with a delay.
        let mut rest = u64::MAX;
        for _ in 0..20 {
            rest = rest.min(service.resident());
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        println!("at rest: {} MiB", rest / MIB);
        Self { service, rest }
    }

    async fn stays_below(&self, most: u64, what: &str, act: impl Future<Output = ()>) {
        self.service.reset_peak();
        let began = std::time::Instant::now();
        act.await;
        let more = self.service.peak().saturating_sub(self.rest);
        println!("{what}: +{} KiB in {:?}", more >> 10, began.elapsed());
        assert!(more < most, "{what} took {more} bytes more than the process at rest");
    }
}

fn noise(size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    rand::Rng::fill_bytes(&mut rand::rng(), &mut bytes);
    bytes
}

async fn upload(client: &Client, room: &str, name: &str, bytes: Vec<u8>) -> String {
    let answer = client
        .upload(&format!("/workrooms/{room}/documents"), name, bytes, &[])
        .await;
    id(&answer.expect(201))
}

/// Reads a response without buffering it, and returns its size.
async fn read(client: &Client, path: &str) -> u64 {
    let mut answer = client.request(Method::GET, path).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut size = 0;
    while let Some(piece) = answer.chunk().await.unwrap() {
        size += piece.len() as u64;
    }
    size
}

async fn save(practice: &str, client: &Client, document: &str) {
    let config = client.get(&path(document, "/editor-config")).await.expect(200);
    let editor = client::open(practice, &config).await.unwrap();
    editor.type_text("One more line.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
}

async fn check_memory(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    let practice = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    env.set("DOCSERVER_URL", &practice.url());
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let as_ = |cookie: &str| Client::new(&service.base, Some(cookie.to_owned()));
    let (ada, ben) = (as_(&world.ada.cookie), as_(&world.ben.cookie));
    let mut rooms = Vec::new();
    let mut groups = Vec::new();
    for member in [&world.ben, &world.dana] {
        let made = group(&ada, &world.seven_b, &[member], json!({})).await;
        rooms.push(
            ada.get(&format!("/groups/{made}")).await.expect(200)["workRoomId"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        groups.push(made);
    }
    let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": groups})).await);
    let export = format!("/assignments/{topic}/export.zip");
    for size in [1000, 10_000] {
        let document = upload(
            &ben,
            &rooms[0],
            "small.docx",
            docx_with("x", &[("word/noise.bin", &noise(size))]),
        )
        .await;
        save(&practice.url(), &ben, &document).await;
        read(&ben, &path(&document, "/download")).await;
        read(&ada, &export).await;
    }

    let watched = MonitoredService::measure_at_rest(service).await;
    let large = docx_with("Large.", &[("word/media/noise.bin", &noise(50_000_000))]);
    let (length, mut document) = (large.len() as u64, String::new());
    assert!(length > 50_000_000);
    let act = async { document = upload(&ben, &rooms[0], "large.docx", large).await };
    watched.stays_below(FILE_MAX, "an upload of 50 MB", act).await;
    let act = async { assert_eq!(read(&ben, &path(&document, "/download")).await, length) };
    watched.stays_below(FILE_MAX, "a download of 50 MB", act).await;
    let act = async { save(&practice.url(), &ben, &document).await };
    watched.stays_below(FILE_MAX, "a save of 50 MB", act).await;
    ben.delete(&path(&document, "")).await.expect(200);

    let each = size(1_000_000, 10_000_000);
    let text: Vec<u8> = noise(each).iter().map(|byte| b' ' + byte % 64).collect();
    for count in 0..DOCUMENTS - 4 {
        let room = &rooms[count % 2];
        upload(&ada, room, &format!("Text {count}.txt"), text.clone()).await;
    }
    let act = async {
        let packed = read(&ada, &export).await;
        assert!(packed > (DOCUMENTS * each / 2) as u64, "{packed} bytes");
    };
    watched
        .stays_below(ARCHIVE_MAX, "an archive of 200 documents", act)
        .await;
    drop(watched);
    practice.stop().await;
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_operations_use_bounded_memory_on_sqlite() {
    check_memory(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn file_operations_use_bounded_memory_on_postgres() {
    check_memory(DatabaseKind::Postgres).await;
}
