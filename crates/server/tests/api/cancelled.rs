//! Whoever asks may go away before the answer: what was asked is then done, logged and told, or none of the three.
//! 200 requests of five kinds lose their connection within milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngExt as _};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::support::raw::Socket;
use crate::support::{Person, TestApp};

/// Requests of each kind.
const EACH: usize = 40;

/// What somebody asks for; each of it leaves a word of its own behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    CreateGroup,
    RenameGroup,
    AskForHelp,
    CreateDocument,
    Submit,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::CreateGroup,
        Self::RenameGroup,
        Self::AskForHelp,
        Self::CreateDocument,
        Self::Submit,
    ];

    /// The event by which the staff of the class hears of it, and where it names its object.
    fn event(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateGroup => ("group:created", "/group/name"),
            Self::RenameGroup => ("group:updated", "/group/displayName"),
            Self::AskForHelp => ("group:help", "/helpMessage"),
            Self::CreateDocument => ("document:created", "/document/title"),
            Self::Submit => ("submission:created", "/submission/documentIds/0"),
        }
    }

    /// How the log names it.
    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateGroup => ("GROUP", "CREATE"),
            Self::RenameGroup => ("GROUP", "UPDATE"),
            Self::AskForHelp => ("GROUP", "HELP_REQUESTED"),
            Self::CreateDocument => ("DOCUMENT", "CREATE"),
            Self::Submit => ("SUBMISSION", "SUBMIT"),
        }
    }
}

/// A group that is renamed, calls for help, and hands a document in; each at most once.
struct Target {
    group: String,
    room: String,
    document: String,
}

struct Scene<'a> {
    app: &'a TestApp,
    topic: String,
    targets: Vec<Target>,
}

impl<'a> Scene<'a> {
    /// One group for each request, with Ben in it, a document, and a topic for all.
    async fn prepare(app: &'a TestApp) -> Self {
        let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
        let class = &app.world.seven_b;
        let topic = json!({
            "title": "Cells", "deadline": "2030-01-01T00:00:00Z", "classId": class.id, "courseId": class.course,
        });
        let topic = id(&ada.post("/assignments", topic).await.expect(201));
        let mut targets = Vec::new();
        for _ in 0..EACH {
            let group = json!({
                "classId": class.id, "courseId": class.course, "memberIds": [app.world.ben.id], "assignmentId": topic,
            });
            let group = ada.post("/groups", group).await.expect(201);
            let room = group["workRoomId"].as_str().unwrap().to_owned();
            let path = format!("/workrooms/{room}/documents");
            let document = ben.upload(&path, "page.txt", b"What we found".to_vec(), &[]).await;
            let document = id(&document.expect(201));
            targets.push(Target {
                group: id(&group),
                room,
                document,
            });
        }
        Self { app, topic, targets }
    }

    /// Who asks what: path, body.
    fn request(&self, kind: Kind, number: usize) -> (&'a Person, &'static str, String, Value) {
        let (people, target, word) = (&self.app.world, &self.targets[number], word(kind, number));
        let class = &people.seven_b;
        match kind {
            Kind::CreateGroup => {
                let body = json!({"classId": class.id, "courseId": class.course, "name": word});
                (&people.ada, "POST", "/groups".to_owned(), body)
            }
            Kind::RenameGroup => {
                let path = format!("/groups/{}", target.group);
                (&people.ada, "PATCH", path, json!({"displayName": word}))
            }
            Kind::AskForHelp => {
                let path = format!("/groups/{}/help", target.group);
                (&people.ben, "POST", path, json!({"message": word}))
            }
            Kind::CreateDocument => {
                let path = format!("/workrooms/{}/documents", target.room);
                (
                    &people.ben,
                    "POST",
                    path,
                    json!({"title": word, "documentType": "word"}),
                )
            }
            Kind::Submit => {
                let path = format!("/workrooms/documents/{}/submit", target.document);
                (&people.ben, "POST", path, json!({"assignmentId": self.topic}))
            }
        }
    }

    /// What this request leaves behind in rows, log and events: a word, or the document it hands in.
    fn trace(&self, kind: Kind, number: usize) -> String {
        match kind {
            Kind::Submit => self.targets[number].document.clone(),
            _ => word(kind, number),
        }
    }

    /// Sends a request and hangs up after a moment.
    async fn ask_and_leave(&self, kind: Kind, number: usize, moment: Duration, rudely: bool) {
        let (person, method, path, body) = self.request(kind, number);
        let address = self.app.base.strip_prefix("http://").unwrap();
        let body = body.to_string();
        let request = format!(
            "{method} /api{path} HTTP/1.1\r\nHost: {address}\r\nCookie: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            person.cookie,
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        if rudely {
            // The connection is reset instead of closed.
            stream.set_zero_linger().unwrap();
        }
        stream.write_all(request.as_bytes()).await.unwrap();
        // A timer would wait a millisecond at least, and by then most are served.
        let sent = Instant::now();
        while sent.elapsed() < moment {
            tokio::task::yield_now().await;
        }
    }

    /// Which requests changed a row.
    async fn done(&self) -> BTreeSet<(Kind, String)> {
        let ada = self.app.as_(&self.app.world.ada);
        let groups = ada.get(&format!("/groups?classId={}", self.app.world.seven_b.id)).await;
        let mut found = BTreeSet::new();
        let mut add = |kind, text: &Value| {
            if let Some(text) = text.as_str() {
                found.insert((kind, text.to_owned()));
            }
        };
        for group in groups.expect(200).as_array().unwrap() {
            add(Kind::CreateGroup, &group["name"]);
            add(Kind::RenameGroup, &group["displayName"]);
            add(Kind::AskForHelp, &group["helpMessage"]);
        }
        for target in &self.targets {
            let path = format!("/workrooms/{}/documents", target.room);
            for document in ada.get(&path).await.expect(200).as_array().unwrap() {
                add(Kind::CreateDocument, &document["title"]);
                if document["status"] == "SUBMITTED" {
                    add(Kind::Submit, &document["id"]);
                }
            }
        }
        found
    }

    /// How often the log tells of each word.
    async fn logged(&self) -> BTreeMap<(Kind, String), usize> {
        let adam = self.app.as_(&self.app.world.adam);
        let mut found = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let page = adam.get(&format!("/activity-logs?limit=200{cursor}")).await.expect(200);
            for entry in page["data"].as_array().unwrap() {
                for kind in Kind::ALL {
                    let (category, action) = kind.entry();
                    if entry["category"] != category || entry["action"] != action {
                        continue;
                    }
                    let text = entry.to_string();
                    for number in 0..EACH {
                        let trace = self.trace(kind, number);
                        if text.contains(&format!("\"{trace}\"")) {
                            *found.entry((kind, trace)).or_default() += 1;
                        }
                    }
                }
            }
            let Some(next) = page["nextCursor"].as_str() else {
                return found;
            };
            cursor = format!("&cursor={next}");
        }
    }

    /// Every word of the requests; what preparing left behind is not of interest.
    fn asked(&self) -> BTreeSet<(Kind, String)> {
        let all = Kind::ALL
            .into_iter()
            .flat_map(|kind| (0..EACH).map(move |number| (kind, number)));
        all.map(|(kind, number)| (kind, self.trace(kind, number))).collect()
    }
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

fn word(kind: Kind, number: usize) -> String {
    format!("{kind:?} {number} of the cancelled")
}

/// Everything Ada's socket hears, counted by word.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<BTreeMap<(Kind, String), usize>>>);

impl Ear {
    /// Listens until the connection ends.
    async fn listen(app: &TestApp) -> Self {
        let mut socket = Socket::open(app, &app.world.ada.cookie).await;
        socket.expect("ready").await;
        let ear = Self::default();
        let heard = ear.clone();
        tokio::spawn(async move {
            while let Some(frame) = socket.next().await {
                if frame == "2" {
                    socket.send("3").await;
                }
                let Some(event) = frame.strip_prefix("42") else {
                    continue;
                };
                heard.note(&serde_json::from_str(event).unwrap());
            }
        });
        ear
    }

    fn note(&self, event: &Value) {
        for kind in Kind::ALL {
            let (name, place) = kind.event();
            if event[0] == name
                && let Some(text) = event[1].pointer(place).and_then(Value::as_str)
            {
                // A renamed group is told again when it calls for help: only the change itself counts.
                let changed = event[1]["changed"].to_string();
                if kind != Kind::RenameGroup || changed.contains("displayName") {
                    *self.0.lock().unwrap().entry((kind, text.to_owned())).or_default() += 1;
                }
            }
        }
    }

    fn heard(&self) -> BTreeMap<(Kind, String), usize> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until nothing new has come for a while.
    async fn settle(&self) {
        let mut before = usize::MAX;
        while before != self.heard().len() {
            before = self.heard().len();
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
    }
}

both!(
    a_request_whose_caller_left_is_done_logged_and_told_or_none_of_it,
    |app| {
        let scene = Scene::prepare(app).await;
        let ear = Ear::listen(app).await;
        let seed = rand::rng().next_u64();
        let mut rng: rand::rngs::StdRng = rand::SeedableRng::seed_from_u64(seed);
        let mut requests: Vec<(Kind, usize)> = Kind::ALL
            .into_iter()
            .flat_map(|kind| (0..EACH).map(move |number| (kind, number)))
            .collect();
        requests.shuffle(&mut rng);
        for four in requests.chunks(4) {
            // Four at a time, so that units wait for each other and share commits.
            let leaving = four.iter().map(|(kind, number)| {
                // As often within the first instants as later on: how long a request takes is the machine's affair.
                let moment = Duration::from_secs_f64(10f64.powf(rng.random_range(-6.0..-2.3)));
                scene.ask_and_leave(*kind, *number, moment, rng.random_bool(0.5))
            });
            futures_util::future::join_all(leaving).await;
        }
        ear.settle().await;

        let asked = scene.asked();
        let done: BTreeSet<_> = scene.done().await.intersection(&asked).cloned().collect();
        let once = |counts: BTreeMap<(Kind, String), usize>| -> BTreeSet<(Kind, String)> {
            counts
                .into_iter()
                .filter(|(word, _)| asked.contains(word))
                .map(|(word, count)| {
                    assert_eq!(count, 1, "{word:?} more than once (seed {seed})");
                    word
                })
                .collect()
        };
        let (logged, heard) = (once(scene.logged().await), once(ear.heard()));
        println!(
            "{} of {} left requests were done (seed {seed})",
            done.len(),
            asked.len()
        );
        for kind in Kind::ALL {
            let count = done.iter().filter(|(of, _)| *of == kind).count();
            println!("  {kind:?}: {count} of {EACH}");
        }
        for (what, others) in [("logged", &logged), ("told", &heard)] {
            let lacking: Vec<_> = done.difference(others).collect();
            assert!(lacking.is_empty(), "done and not {what} (seed {seed}): {lacking:?}");
            let invented: Vec<_> = others.difference(&done).collect();
            assert!(invented.is_empty(), "{what} and not done (seed {seed}): {invented:?}");
        }
        assert!(
            (10..asked.len() - 10).contains(&done.len()),
            "leaving made no difference: {} of {} were done",
            done.len(),
            asked.len()
        );
    }
);
