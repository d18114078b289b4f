//! A school under load in the built binary, and the content that was acknowledged to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use db::Database;
use db::connection::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;

use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess, World, office};

pub const ROOT: &str = "restorer@platform.example";
pub const PASSWORD: &str = "correct horse battery 9";

/// Documents with the hash of their acknowledged content.
pub type AcknowledgedFiles = BTreeMap<String, String>;

db::statements! {
    REVISIONS = "SELECT document_id, sha256 FROM document_revisions";
    NAMES = "SELECT name FROM users";
}

/// A running service with an active class.
pub struct BackupSchool {
    pub env: ServerEnv,
    pub service: ServerProcess,
    pub world: World,
    rooms: Vec<(String, Client)>,
}

impl BackupSchool {
    pub async fn open(kind: DatabaseKind) -> Option<Self> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let mut child = env
            .command(
                &[
                    "admin",
                    "create",
                    "--email",
                    ROOT,
                    "--name",
                    "Rosa Restorer",
                    "--password-stdin",
                ],
                &[],
            )
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), PASSWORD.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let mut service = env.start("serve");
        service.ready().await;
        let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
        let mut rooms = Vec::new();
        for person in [&world.ben, &world.cem, &world.dana] {
            let group = json!({"name": format!("Of {}", person.name), "classId": world.seven_b.id,
                "courseId": world.seven_b.course, "memberIds": [person.id]});
            let group = ada.post("/groups", group).await.expect(201);
            let room = group["workRoomId"].as_str().unwrap().to_owned();
            rooms.push((room, Client::new(&service.base, Some(person.cookie.clone()))));
        }
        Some(Self {
            env,
            service,
            world,
            rooms,
        })
    }

    /// Creates `count` documents, each with different content.
    pub async fn documents(&self, count: usize) -> AcknowledgedFiles {
        let mut stored = AcknowledgedFiles::new();
        for number in 0..count {
            let (room, client) = &self.rooms[number % self.rooms.len()];
            let (document, sha256) = upload(client, room, &format!("text {number}")).await;
            stored.insert(document, sha256);
        }
        stored
    }

    /// Returns all stored files.
    pub fn files(&self) -> Vec<PathBuf> {
        let folders = std::fs::read_dir(self.env.folder().join("files")).unwrap();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        files.map(|file| file.unwrap().path()).collect()
    }

    /// Stops the service and returns its environment.
    pub fn stopped(self) -> ServerEnv {
        self.service.kill();
        self.env
    }

    pub fn close(self) {
        self.stopped().close();
    }
}

async fn upload(client: &Client, room: &str, text: &str) -> (String, String) {
    let bytes = office::docx(text);
    let sha256 = hash(&bytes);
    let made = client
        .upload(&format!("/workrooms/{room}/documents"), "essay.docx", bytes, &[])
        .await;
    (made.expect(201)["id"].as_str().unwrap().to_owned(), sha256)
}

fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// The acknowledged state: the hash of each document, or `None` when it was deleted.
type SharedRecord = Arc<Mutex<BTreeMap<String, Option<String>>>>;

/// Three users who upload, replace, chat and delete until they are stopped.
pub struct Workers {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicUsize>,
    recorded: SharedRecord,
    tasks: Vec<JoinHandle<()>>,
}

impl Workers {
    pub fn start(school: &BackupSchool) -> Self {
        let (stop, done, recorded) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
            SharedRecord::default(),
        );
        let mut tasks = Vec::new();
        for (room, client) in &school.rooms {
            let own = Client::new(&school.service.base, client.cookie().map(str::to_owned));
            let (room, stop, done, recorded) = (room.clone(), stop.clone(), done.clone(), recorded.clone());
            tasks.push(tokio::spawn(async move {
                work(&own, &room, &stop, &done, &recorded).await;
            }));
        }
        Self {
            stop,
            done,
            recorded,
            tasks,
        }
    }

    /// Waits until `count` more requests were made, and returns the content that must be kept from now on.
    pub async fn wait_for_operations(&self, count: usize) -> AcknowledgedFiles {
        let until = self.done.load(Ordering::SeqCst) + count;
        while self.done.load(Ordering::SeqCst) < until {
            assert!(self.tasks.iter().all(|task| !task.is_finished()), "a worker gave up");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let recorded = self.recorded.lock().unwrap();
        recorded
            .iter()
            .filter_map(|(id, sha256)| Some((id.clone(), sha256.clone()?)))
            .collect()
    }

    /// Checks that a database contains the acknowledged content, except what was deleted since.
    pub fn stored(&self, acknowledged: &AcknowledgedFiles, database: &Database) {
        let recorded = self.recorded.lock().unwrap().clone();
        let mut acknowledged = acknowledged.clone();
        acknowledged.retain(|id, _| recorded[id].is_some());
        has_all(&acknowledged, database);
    }

    pub async fn stop(self) {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
    }
}

async fn work(client: &Client, room: &str, stop: &AtomicBool, done: &AtomicUsize, recorded: &SharedRecord) {
    let mut number = 0;
    let mut own: Vec<String> = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        number += 1;
        if own.len() > 6 {
            let id = own.remove(0);
            // Recorded before the request, because the response may come after the rows were read.
            recorded.lock().unwrap().insert(id.clone(), None);
            client.delete(&format!("/workrooms/documents/{id}")).await.expect(200);
        } else if number % 3 == 0 && !own.is_empty() {
            let id = own[number % own.len()].clone();
            let bytes = office::docx(&format!("anew {number}"));
            let sha256 = hash(&bytes);
            let request = client.request(reqwest::Method::PUT, &format!("/workrooms/documents/{id}/content"));
            let part = reqwest::multipart::Part::bytes(bytes).file_name("essay.docx");
            let form = reqwest::multipart::Form::new().part("file", part);
            client.finish(request.multipart(form)).await.expect(200);
            recorded.lock().unwrap().insert(id, Some(sha256));
        } else {
            let (id, sha256) = upload(client, room, &format!("work {number}\twith \\ tabs\nand lines")).await;
            recorded.lock().unwrap().insert(id.clone(), Some(sha256));
            own.push(id);
            let printed = json!({"content": format!("done \\N {number}\t\n\"quoted\" é")});
            let sent: Value = client
                .post(&format!("/workrooms/{room}/messages"), printed)
                .await
                .expect(201);
            assert!(sent["id"].is_string());
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Panics unless every acknowledged content is a revision of its document.
pub fn has_all(acknowledged: &AcknowledgedFiles, database: &Database) {
    let database = database.clone();
    let found: Vec<(String, String)> = std::thread::spawn(move || {
        assert_eq!(STATEMENTS.len(), 2);
        open(&database)
            .fetch_all(&REVISIONS, &[], |row| Ok((row.get("document_id")?, row.get("sha256")?)))
            .unwrap()
    })
    .join()
    .unwrap();
    for (document, sha256) in acknowledged {
        assert!(
            found.iter().any(|(id, stored)| id == document && stored == sha256),
            "document {document} was acknowledged before the backup and is lost"
        );
    }
}

/// Returns the names of all users.
pub fn names(database: &Database) -> Vec<String> {
    let database = database.clone();
    let read = std::thread::spawn(move || open(&database).fetch_all(&NAMES, &[], |row| row.get("name")).unwrap());
    read.join().unwrap()
}

fn open(database: &Database) -> Connection {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    }
}
