//! The built-in editor without a document server: the service is killed at each place of an append, of a save and of a
//! submission. Every acknowledged commit is in the document exactly once, and so is every commit that is sent again with
//! its reference because the response was lost.

use reqwest::Method;
use serde_json::{Value, json};

use common::failpoint;
use test_support::document_server_fixture::words;
use test_support::samples::commit;
use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess, WAIT_TIMEOUT, World, is_soak, kill_count};

/// A document that is written while the service dies.
struct CommitFixture {
    env: ServerEnv,
    writer: Client,
    teacher: Client,
    topic: String,
    document: String,
    generation: i64,
    /// The texts whose commits were acknowledged.
    acknowledged: Vec<String>,
    sent: usize,
}

async fn created(client: &Client, path: &str, body: &Value) -> Value {
    let answer = client.request(Method::POST, path).json(body).send().await.unwrap();
    assert_eq!(answer.status(), 201, "{path}");
    answer.json().await.unwrap()
}

impl CommitFixture {
    async fn start(kind: DatabaseKind) -> Option<(Self, ServerProcess)> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let mut service = env.start("serve");
        service.ready().await;
        let writer = Client::new(&service.base, Some(world.ben.cookie.clone()));
        let teacher = Client::new(&service.base, Some(world.ada.cookie.clone()));
        let class = &world.seven_b;
        let group =
            json!({"classId": class.id, "courseId": class.course, "name": "Rivers", "memberIds": [world.ben.id]});
        let group = created(&teacher, "/groups", &group).await;
        let topic = json!({"title": "Landforms", "description": "One page.", "deadline": "2099-01-01T00:00:00Z",
            "classId": class.id, "courseId": class.course, "groupIds": [group["id"]]});
        let topic = created(&teacher, "/assignments", &topic).await;
        let documents = format!("/workrooms/{}/documents", group["workRoomId"].as_str().unwrap());
        let new = json!({"title": "Report", "documentType": "word", "assignmentId": topic["id"]});
        let document = created(&writer, &documents, &new).await;
        let mut fixture = Self {
            env,
            writer,
            teacher,
            topic: topic["id"].as_str().unwrap().to_owned(),
            document: format!("/workrooms/documents/{}", document["id"].as_str().unwrap()),
            generation: 0,
            acknowledged: Vec::new(),
            sent: 0,
        };
        fixture.open().await;
        Some((fixture, service))
    }

    /// Opens the document in its present generation and returns its text.
    async fn open(&mut self) -> String {
        let answer = self.writer.request(Method::GET, &format!("{}/content", self.document));
        let content: Value = answer.send().await.unwrap().json().await.unwrap();
        self.generation = content["generation"].as_i64().unwrap();
        content["doc"].to_string()
    }

    /// Sends a commit. Returns its outcome, or `None` without a response.
    async fn send(&self, text: &str) -> Option<Value> {
        let body = commit(self.generation, text, 0, &format!("<{text}>"));
        let path = format!("{}/commits", self.document);
        let answer = self.writer.request(Method::POST, &path).json(&body).send().await.ok()?;
        if answer.status() == 503 {
            return None;
        }
        assert_eq!(answer.status(), 200);
        Some(answer.json::<Value>().await.ok()?["outcome"].clone())
    }

    fn next_text(&mut self) -> String {
        self.sent += 1;
        format!("t{}", self.sent)
    }

    /// Writes until the service dies at this failpoint, restarts it, and sends the unanswered commits again.
    async fn write_until_dead(&mut self, armed: &str, action: impl AsyncFn(&Self)) -> ServerProcess {
        let mut dying = self.env.try_start("serve", &[("GROUPWORK_FAILPOINT", armed)]).ok();
        let since = std::time::Instant::now();
        let mut unanswered = Vec::new();
        // Transactions of the start count as well, so the service may have died already.
        while dying.as_mut().is_some_and(|dying| dying.try_wait().is_none()) {
            assert!(since.elapsed() < WAIT_TIMEOUT, "{armed}: the failpoint is not reached");
            let text = self.next_text();
            match self.send(&text).await {
                Some(outcome) => {
                    assert_eq!(outcome, "COMMITTED", "{armed}");
                    self.acknowledged.push(text);
                    action(self).await;
                }
                None => unanswered.push(text),
            }
        }
        let mut service = self.env.start("serve");
        service.ready().await;
        for text in unanswered {
            assert_eq!(self.send(&text).await.expect("an answer"), "COMMITTED");
            self.acknowledged.push(text);
        }
        self.check().await;
        service
    }

    /// Every acknowledged text is in the document exactly once.
    async fn check(&mut self) {
        let content = self.open().await;
        for text in &self.acknowledged {
            assert_eq!(content.matches(&format!("<{text}>")).count(), 1, "{text} in {content}");
        }
    }

    async fn download(&self) -> String {
        let request = self
            .teacher
            .request(Method::GET, &format!("{}/download", self.document));
        words(&request.send().await.unwrap().bytes().await.unwrap())
    }
}

async fn kills_lose_no_commit(kind: DatabaseKind) {
    let Some((mut fixture, service)) = CommitFixture::start(kind).await else {
        return;
    };
    service.kill();
    let names = failpoint::NAMES.iter().filter(|name| name.starts_with("commits."));
    let mut names: Vec<&str> = names.copied().filter(|name| *name != "commits.frozen").collect();
    names.extend(["store.before_commit", "store.after_commit"]);
    let mut kills = 0;
    let rounds = if is_soak() {
        kill_count().div_ceil(names.len())
    } else {
        2
    };
    for round in 0..rounds {
        for name in &names {
            let hits = if *name == "commits.log_written" {
                1
            } else {
                1 + (round * 7 + kills) % 12
            };
            let armed = format!("{name}:{hits}");
            let downloads = name.ends_with("log_written");
            let service = fixture
                .write_until_dead(&armed, async |fixture| {
                    if downloads {
                        let path = format!("{}/download", fixture.document);
                        drop(fixture.teacher.request(Method::GET, &path).send().await);
                    }
                })
                .await;
            service.kill();
            kills += 1;
        }
    }
    println!(
        "{kills} kills on {kind:?}: {} commits acknowledged",
        fixture.acknowledged.len()
    );
    // A submission that dies is completed with every acknowledged commit.
    let (path, body) = (
        format!("{}/submit", fixture.document),
        json!({"assignmentId": fixture.topic}),
    );
    let mut dying = fixture
        .env
        .try_start("serve", &[("GROUPWORK_FAILPOINT", "commits.frozen:1")])
        .expect("starts");
    assert!(
        fixture
            .writer
            .request(Method::POST, &path)
            .json(&body)
            .send()
            .await
            .is_err()
    );
    while dying.try_wait().is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let mut service = fixture.env.start("serve");
    service.ready().await;
    let shown = fixture
        .writer
        .request(Method::GET, &fixture.document)
        .send()
        .await
        .unwrap();
    assert_eq!(shown.json::<Value>().await.unwrap()["status"], "SUBMITTED");
    let file = fixture.download().await;
    for text in &fixture.acknowledged {
        assert_eq!(file.matches(&format!("<{text}>")).count(), 1, "{text} in {file}");
    }
    service.kill();
    fixture.env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_no_commit_on_sqlite() {
    kills_lose_no_commit(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_no_commit_on_postgres() {
    kills_lose_no_commit(DatabaseKind::Postgres).await;
}
