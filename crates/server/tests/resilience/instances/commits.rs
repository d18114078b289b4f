//! One document in the built-in editor, written at several instances at once, also while instances are killed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{client_at, people};
use test_support::document_server_fixture::words;
use test_support::instances::Instances;
use test_support::samples::commit;
use test_support::topics::{group, id, topic};
use test_support::{Client, SocketListener, World, clients_are_installed, kill_count, size, until};

/// Kills after which the document is submitted, and a new one is written.
const KILLS_PER_DOCUMENT: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn writers_at_different_instances_converge() {
    let Some(mut instances) = Instances::start(2, &[]).await else {
        return;
    };
    let world = people(&instances).await;
    let ada = client_at(instances.base(0), &world.ada);
    let rivers = group(&ada, &world.seven_b, &[&world.ben, &world.cem], json!({})).await;
    let room = ada.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
    let documents = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let new = json!({"title": "Report", "documentType": "word"});
    let document = ada.post(&documents, new).await.expect(201)["id"].clone();
    let document = format!("/workrooms/documents/{}", document.as_str().unwrap());
    let pages = [
        client_at(instances.base(0), &world.ben),
        client_at(instances.base(1), &world.cem),
    ];
    for page in &pages {
        page.get(&format!("{document}/content")).await.expect(200);
    }
    let mut socket = if clients_are_installed() {
        let mut socket = SocketListener::connect_at(instances.base(1), &world.cem).await;
        let id = document.rsplit('/').next().unwrap();
        let open = json!(["document:open", {"documentId": id, "generation": 1, "clientId": "cem"}]);
        socket.emit(open).await;
        assert_eq!(socket.expect("ack").await, json!({"joined": true}));
        Some(socket)
    } else {
        None
    };
    let rounds = size(20, 500);
    for round in 0..rounds {
        let sending = pages.iter().enumerate().map(|(at, page)| {
            let text = format!("<{at}-{round}>");
            let (path, body) = (
                format!("{document}/commits"),
                commit(1, &format!("r{at}-{round}"), 0, &text),
            );
            async move { page.post(&path, body).await.expect(200)["outcome"].clone() }
        });
        assert!(join_all(sending).await.iter().all(|outcome| outcome == "COMMITTED"));
    }
    let texts = join_all(
        pages
            .iter()
            .map(|page| async { page.get(&format!("{document}/content")).await.expect(200)["doc"].to_string() }),
    );
    let texts: Vec<String> = texts.await;
    assert_eq!(texts[0], texts[1]);
    for (at, round) in (0..2).flat_map(|at| (0..rounds).map(move |round| (at, round))) {
        assert_eq!(texts[0].matches(&format!("<{at}-{round}>")).count(), 1, "{at} {round}");
    }
    if let Some(socket) = &mut socket {
        // The events of both instances arrive, without a gap.
        let mut version = 0;
        while version < 2 * rounds {
            let event = socket.expect("document:commits").await;
            for commit in event["commits"].as_array().unwrap() {
                version += 1;
                assert_eq!(commit["version"], json!(version));
            }
        }
    }
    // An instance that dies loses nothing that was acknowledged.
    instances.kill(0);
    let left: Value = pages[1].get(&format!("{document}/content")).await.expect(200);
    assert_eq!(left["doc"].to_string(), texts[0]);
    instances.restart(0).await;
    instances.close().await;
}

/// The same user at both instances.
#[derive(Clone)]
struct TwoClients([Client; 2]);

impl TwoClients {
    /// Sends a request to one instance and then to the other, until one responds with one of these statuses. No response
    /// and 503 are expected while instances die and start.
    async fn send(&self, first: usize, path: &str, body: Option<&Value>, expected: &[u16]) -> Vec<u8> {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        for at in (first..).map(|at| at % 2) {
            let mut request = self.0[at].request(method.clone(), path);
            if let Some(body) = body {
                request = request.json(body);
            }
            if let Ok(answer) = request.timeout(Duration::from_mins(1)).send().await {
                let status = answer.status();
                // The connection may end within the body.
                if let Ok(bytes) = answer.bytes().await
                    && status != StatusCode::SERVICE_UNAVAILABLE
                {
                    let shown = String::from_utf8_lossy(&bytes);
                    assert!(expected.contains(&status.as_u16()), "{path}: {status} {shown}");
                    return bytes.to_vec();
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        unreachable!("the instances alternate without end")
    }

    async fn get(&self, at: usize, path: &str) -> Value {
        serde_json::from_slice(&self.send(at, path, None, &[200]).await).unwrap()
    }
}

/// A page that writes one text after the other. A commit without a response is sent again with its `ref`, also to the
/// other instance.
struct ResendingWriter {
    clients: TwoClients,
    at: usize,
    name: String,
    sent: usize,
    /// The acknowledged texts of the present document with the versions of their commits.
    acknowledged: Vec<(String, i64)>,
}

impl ResendingWriter {
    async fn write(&mut self, document: &str, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            self.sent += 1;
            let text = format!("<{}-{}>", self.name, self.sent);
            let body = commit(1, &format!("{}-{}", self.name, self.sent), 0, &text);
            let path = format!("{document}/commits");
            let answer = self.clients.send(self.at, &path, Some(&body), &[200]).await;
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["outcome"], "COMMITTED");
            self.acknowledged.push((text, answer["version"].as_i64().unwrap()));
        }
    }
}

/// Two instances and their writers.
struct KilledInstances {
    instances: Instances,
    teacher: TwoClients,
    topic: String,
    documents: String,
    writers: Vec<ResendingWriter>,
    rng: StdRng,
    kills: usize,
}

impl KilledInstances {
    async fn start() -> Option<Self> {
        let settings = [("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "1")];
        let instances = Instances::start(2, &settings).await?;
        let world: World = people(&instances).await;
        let at = |person| TwoClients([0, 1].map(|at| client_at(instances.base(at), person)));
        let (teacher, ada) = (at(&world.ada), client_at(instances.base(0), &world.ada));
        let rivers = group(&ada, &world.seven_b, &[&world.ben, &world.cem], json!({})).await;
        let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": [rivers]})).await);
        let room = ada.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
        let people = [&world.ben, &world.cem, &world.ben, &world.cem];
        let writers = people.iter().enumerate().map(|(number, person)| ResendingWriter {
            clients: at(person),
            at: number / 2,
            name: format!("w{number}"),
            sent: 0,
            acknowledged: Vec::new(),
        });
        let writers = writers.collect();
        let seed = rand::random::<u64>();
        println!("two instances: seed {seed}");
        Some(Self {
            instances,
            teacher,
            topic,
            documents: format!("/workrooms/{}/documents", room.as_str().unwrap()),
            writers,
            rng: StdRng::seed_from_u64(seed),
            kills: 0,
        })
    }

    async fn new_document(&mut self) -> String {
        for writer in &mut self.writers {
            writer.acknowledged.clear();
        }
        let new = json!({"title": "Report", "documentType": "word", "assignmentId": self.topic});
        let created = self.teacher.send(0, &self.documents, Some(&new), &[201]).await;
        let created: Value = serde_json::from_slice(&created).unwrap();
        let document = format!("/workrooms/documents/{}", id(&created));
        self.teacher.get(0, &format!("{document}/content")).await;
        document
    }

    /// Writes until one or both instances have been killed at a random moment and started again.
    async fn write_and_kill(&mut self, document: &str) {
        let is_over = AtomicBool::new(false);
        let writers = self.writers.iter_mut().map(|writer| writer.write(document, &is_over));
        let (instances, rng) = (&mut self.instances, &mut self.rng);
        let kill = async {
            let killed = kill_at_random(instances, rng).await;
            is_over.store(true, Ordering::Relaxed);
            killed
        };
        let (_, killed) = tokio::join!(join_all(writers), kill);
        self.kills += killed;
    }

    /// Every acknowledged text is in the document exactly once, at both instances, and the versions have no gaps.
    async fn check(&self, document: &str) {
        let contents = [
            self.teacher.get(0, &format!("{document}/content")).await,
            self.teacher.get(1, &format!("{document}/content")).await,
        ];
        assert_eq!(contents[0]["doc"], contents[1]["doc"]);
        let text = contents[0]["doc"].to_string();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for part in text.split('<').skip(1) {
            *counts.entry(part.split_once('>').unwrap().0).or_default() += 1;
        }
        let acknowledged: Vec<&(String, i64)> = self.writers.iter().flat_map(|writer| &writer.acknowledged).collect();
        for (text, _) in &acknowledged {
            assert_eq!(counts.get(text.trim_matches(['<', '>'])), Some(&1), "{text}");
        }
        assert_eq!(counts.len(), acknowledged.len(), "a text that nobody sent");
        let mut versions: Vec<i64> = acknowledged.iter().map(|(_, version)| *version).collect();
        versions.sort_unstable();
        let last = contents[0]["version"].as_i64().unwrap();
        assert_eq!(versions, (1..=last).collect::<Vec<_>>());
    }

    /// Submits the document while instances are killed. The submitted file has every acknowledged text.
    async fn submit(&mut self, document: &str) {
        let (path, body) = (format!("{document}/submit"), json!({"assignmentId": self.topic}));
        let submit = self.teacher.send(self.kills % 2, &path, Some(&body), &[200, 409]);
        let kill = kill_at_random(&mut self.instances, &mut self.rng);
        let (_, killed) = tokio::join!(submit, kill);
        self.kills += killed;
        until("the freeze is completed", async || {
            self.teacher.get(0, document).await["contentPending"] == false
        })
        .await;
        let seen = self.teacher.get(1, document).await;
        assert_eq!(seen["status"], "SUBMITTED");
        let file = self
            .teacher
            .send(0, &format!("{document}/download"), None, &[200])
            .await;
        let file = words(&file);
        for (text, _) in self.writers.iter().flat_map(|writer| &writer.acknowledged) {
            assert_eq!(file.matches(text.as_str()).count(), 1, "{text} in the submitted file");
        }
        let topic = self.teacher.get(0, &format!("/assignments/{}", self.topic)).await;
        let copies = topic["groupAssignments"][0]["currentSubmission"]["documents"].clone();
        let own = document.rsplit('/').next().unwrap();
        let copy = copies.as_array().unwrap().iter().find(|copy| copy["documentId"] == own);
        let versions = self.teacher.get(1, &format!("{document}/versions")).await;
        assert_eq!(copy.unwrap()["sha256"], versions[0]["sha256"]);
    }
}

/// Waits for a random moment, kills one or both instances, and starts them again. Returns the number of kills.
async fn kill_at_random(instances: &mut Instances, rng: &mut StdRng) -> usize {
    tokio::time::sleep(Duration::from_millis(rng.random_range(1..120))).await;
    let killed: &[usize] = [&[0][..], &[1], &[0, 1]][rng.random_range(0..3)];
    for at in killed {
        instances.kill(*at);
    }
    tokio::time::sleep(Duration::from_millis(rng.random_range(0..60))).await;
    for at in killed {
        instances.restart(*at).await;
    }
    killed.len()
}

async fn kills_of_two_instances_lose_no_commit(wanted: usize) {
    let Some(mut fixture) = KilledInstances::start().await else {
        return;
    };
    let mut acknowledged = 0;
    while fixture.kills < wanted {
        let document = fixture.new_document().await;
        let end = wanted.min(fixture.kills + KILLS_PER_DOCUMENT);
        while fixture.kills < end {
            fixture.write_and_kill(&document).await;
            fixture.check(&document).await;
        }
        fixture.submit(&document).await;
        let counts = fixture.writers.iter().map(|writer| writer.acknowledged.len());
        acknowledged += counts.sum::<usize>();
    }
    println!(
        "{} kills of two instances: {acknowledged} commits acknowledged",
        fixture.kills
    );
    fixture.instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_kills_of_two_instances_lose_no_commit() {
    kills_of_two_instances_lose_no_commit(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn many_kills_of_two_instances_lose_no_commit() {
    kills_of_two_instances_lose_no_commit(kill_count()).await;
}
