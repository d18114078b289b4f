//! Tests requests whose client disconnects before the response: the change is applied, logged and emitted, or none of
//! the three happens. 200 requests of five kinds lose their connection: before the body is complete, while the
//! transaction is queued, with the first byte of the response, or at a random moment. The expected result depends on
//! the moment of the disconnect, never on the speed of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use domain::id::OrganizationId;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::fairness;
use test_support::raw_socket::Socket;
use test_support::{TestApp, TestUser, WAIT_TIMEOUT, until};

/// The name of the group that is created after all other requests.
const LAST_GROUP: &str = "after the cancelled";
/// Requests of each kind.
const PER_KIND: usize = 40;

/// The moment at which the client closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisconnectMoment {
    /// Half of the body is sent. Nothing may change.
    DuringBody,
    /// Transactions are queued behind busy writers. A queued transaction is still executed; a request that is not
    /// queued changes nothing.
    WhileQueued,
    /// The response has begun to arrive, so the change was applied.
    AtResponse,
    /// A random time after the request was sent. The change may be applied or not.
    Random,
}

impl DisconnectMoment {
    const ALL: [Self; 4] = [Self::DuringBody, Self::WhileQueued, Self::AtResponse, Self::Random];

    fn of(number: usize) -> Self {
        Self::ALL[number % Self::ALL.len()]
    }
}

/// The kinds of requests. Each request leaves a unique text in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RequestKind {
    CreateGroup,
    RenameGroup,
    AskForHelp,
    CreateDocument,
    Submit,
}

impl RequestKind {
    const ALL: [Self; 5] = [
        Self::CreateGroup,
        Self::RenameGroup,
        Self::AskForHelp,
        Self::CreateDocument,
        Self::Submit,
    ];

    /// The event that the staff of the class receive, and the JSON pointer to the object in it.
    fn event(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateGroup => ("group:created", "/group/name"),
            Self::RenameGroup => ("group:updated", "/group/displayName"),
            Self::AskForHelp => ("group:help", "/helpMessage"),
            Self::CreateDocument => ("document:created", "/document/title"),
            Self::Submit => ("submission:created", "/submission/documentIds/0"),
        }
    }

    /// The category and the action of the activity log entry.
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

/// A group that is renamed, calls for help and submits a document, each at most once.
struct TargetGroup {
    group: String,
    room: String,
    document: String,
}

struct DisconnectFixture<'a> {
    app: &'a TestApp,
    topic: String,
    targets: Vec<TargetGroup>,
}

impl<'a> DisconnectFixture<'a> {
    /// Creates one group for each request, with Ben as a member and one document, and a topic for all groups.
    async fn prepare(app: &'a TestApp) -> Self {
        let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
        let class = &app.world.seven_b;
        let topic = json!({
            "title": "Cells", "deadline": "2030-01-01T00:00:00Z", "classId": class.id, "courseId": class.course,
        });
        let topic = id(&ada.post("/assignments", topic).await.expect(201));
        let mut targets = Vec::new();
        for _ in 0..PER_KIND {
            let group = json!({
                "classId": class.id, "courseId": class.course, "memberIds": [app.world.ben.id], "assignmentId": topic,
            });
            let group = ada.post("/groups", group).await.expect(201);
            let room = group["workRoomId"].as_str().unwrap().to_owned();
            let path = format!("/workrooms/{room}/documents");
            let document = ben.upload(&path, "page.txt", b"What we found".to_vec(), &[]).await;
            let document = id(&document.expect(201));
            targets.push(TargetGroup {
                group: id(&group),
                room,
                document,
            });
        }
        Self { app, topic, targets }
    }

    /// Returns the caller, the method, the path and the body of a request.
    fn request(&self, kind: RequestKind, number: usize) -> (&'a TestUser, &'static str, String, Value) {
        let (people, target, unique_text) = (&self.app.world, &self.targets[number], unique_text(kind, number));
        let class = &people.seven_b;
        match kind {
            RequestKind::CreateGroup => {
                let body = json!({"classId": class.id, "courseId": class.course, "name": unique_text});
                (&people.ada, "POST", "/groups".to_owned(), body)
            }
            RequestKind::RenameGroup => {
                let path = format!("/groups/{}", target.group);
                (&people.ada, "PATCH", path, json!({"displayName": unique_text}))
            }
            RequestKind::AskForHelp => {
                let path = format!("/groups/{}/help", target.group);
                (&people.ben, "POST", path, json!({"message": unique_text}))
            }
            RequestKind::CreateDocument => {
                let path = format!("/workrooms/{}/documents", target.room);
                (
                    &people.ben,
                    "POST",
                    path,
                    json!({"title": unique_text, "documentType": "word"}),
                )
            }
            RequestKind::Submit => {
                let path = format!("/workrooms/documents/{}/submit", target.document);
                (&people.ben, "POST", path, json!({"assignmentId": self.topic}))
            }
        }
    }

    /// Returns the text that this request leaves in rows, log and events: a unique text, or the id of the submitted
    /// document.
    fn trace(&self, kind: RequestKind, number: usize) -> String {
        match kind {
            RequestKind::Submit => self.targets[number].document.clone(),
            _ => unique_text(kind, number),
        }
    }

    /// Sends a request, or only the head and half of the body, and returns the connection.
    async fn send(&self, kind: RequestKind, number: usize, is_whole: bool, with_reset: bool) -> TcpStream {
        let (person, method, path, body) = self.request(kind, number);
        let address = self.app.base.strip_prefix("http://").unwrap();
        let body = body.to_string();
        let head = format!(
            "{method} /api{path} HTTP/1.1\r\nHost: {address}\r\nCookie: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            person.cookie,
            body.len()
        );
        let sent = if is_whole { body.len() } else { body.len() / 2 };
        let mut stream = TcpStream::connect(address).await.unwrap();
        if with_reset {
            // The connection is reset instead of closed.
            stream.set_zero_linger().unwrap();
        }
        let request = [head.as_bytes(), &body.as_bytes()[..sent]].concat();
        stream.write_all(&request).await.unwrap();
        stream
    }

    /// Sends a request and closes the connection after `moment`, or after the first byte of the response.
    async fn send_and_disconnect(&self, kind: RequestKind, number: usize, moment: Duration, with_reset: bool) {
        let disconnect = DisconnectMoment::of(number);
        let mut stream = self
            .send(kind, number, disconnect != DisconnectMoment::DuringBody, with_reset)
            .await;
        if disconnect == DisconnectMoment::AtResponse {
            let first = tokio::time::timeout(WAIT_TIMEOUT, stream.read_u8()).await;
            assert_eq!(first.expect("there is an answer").unwrap(), b'H');
            return;
        }
        // A timer waits at least one millisecond, and by then most requests are complete.
        let sent = Instant::now();
        while sent.elapsed() < moment {
            tokio::task::yield_now().await;
        }
    }

    /// Sends requests while every writer is busy, and closes their connections once their transactions are queued.
    async fn disconnect_while_queued(&self, requests: &[(RequestKind, usize)]) {
        let (_, writers) = fairness::threads(self.app);
        let (store, north) = (self.app.app.store(), Some(OrganizationId::new(&self.app.world.north)));
        let (release, blocking) = fairness::block(store, writers, true).await;
        let mut streams = Vec::new();
        for (kind, number) in requests {
            streams.push(self.send(*kind, *number, true, number % 8 == 1).await);
        }
        let all = async || store.queued_writes(&north) >= requests.len();
        until("all units of work are queued", all).await;
        drop(streams);
        drop(release);
        for blocked in blocking {
            blocked.await.unwrap();
        }
    }

    /// Returns the requests that changed a row.
    async fn applied(&self) -> BTreeSet<(RequestKind, String)> {
        let ada = self.app.as_(&self.app.world.ada);
        let groups = ada.get(&format!("/groups?classId={}", self.app.world.seven_b.id)).await;
        let mut found = BTreeSet::new();
        let mut add = |kind, text: &Value| {
            if let Some(text) = text.as_str() {
                found.insert((kind, text.to_owned()));
            }
        };
        for group in groups.expect(200).as_array().unwrap() {
            add(RequestKind::CreateGroup, &group["name"]);
            add(RequestKind::RenameGroup, &group["displayName"]);
            add(RequestKind::AskForHelp, &group["helpMessage"]);
        }
        for target in &self.targets {
            let path = format!("/workrooms/{}/documents", target.room);
            for document in ada.get(&path).await.expect(200).as_array().unwrap() {
                add(RequestKind::CreateDocument, &document["title"]);
                if document["status"] == "SUBMITTED" {
                    add(RequestKind::Submit, &document["id"]);
                }
            }
        }
        found
    }

    /// Counts the activity log entries of each trace.
    async fn logged(&self) -> BTreeMap<(RequestKind, String), usize> {
        let adam = self.app.as_(&self.app.world.adam);
        let mut found = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let page = adam.get(&format!("/activity-logs?limit=200{cursor}")).await.expect(200);
            for entry in page["data"].as_array().unwrap() {
                for kind in RequestKind::ALL {
                    let (category, action) = kind.entry();
                    if entry["category"] != category || entry["action"] != action {
                        continue;
                    }
                    let text = entry.to_string();
                    for number in 0..PER_KIND {
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

    /// Returns the traces of the requests whose client disconnected at one of these moments.
    fn traces(&self, disconnects: &[DisconnectMoment]) -> BTreeSet<(RequestKind, String)> {
        let numbers = (0..PER_KIND).filter(|number| disconnects.contains(&DisconnectMoment::of(*number)));
        let all = numbers.flat_map(|number| RequestKind::ALL.map(|kind| (kind, number)));
        all.map(|(kind, number)| (kind, self.trace(kind, number))).collect()
    }

    /// Returns the changes, log entries and events of the requests. Those of `prepare` are ignored.
    async fn effects(&self, events: &EventCounter) -> Effects {
        let asked = self.traces(&DisconnectMoment::ALL);
        let of_asked = |counts: BTreeMap<(RequestKind, String), usize>| -> BTreeMap<(RequestKind, String), usize> {
            counts.into_iter().filter(|(trace, _)| asked.contains(trace)).collect()
        };
        Effects {
            applied: self.applied().await.intersection(&asked).cloned().collect(),
            logged: of_asked(self.logged().await),
            emitted: of_asked(events.event_counts()),
        }
    }
}

/// The effects of the requests.
#[derive(Debug)]
struct Effects {
    applied: BTreeSet<(RequestKind, String)>,
    /// The number of log entries for each trace.
    logged: BTreeMap<(RequestKind, String), usize>,
    /// The number of events that the socket received for each trace.
    emitted: BTreeMap<(RequestKind, String), usize>,
}

impl Effects {
    /// Returns the inconsistencies: requests in `due` that changed nothing, changes without a log entry or an event,
    /// and log entries or events without a change.
    fn faults(&self, due: &BTreeSet<(RequestKind, String)>) -> Vec<String> {
        let mut faults = Vec::new();
        let mut note = |what: &str, which: Vec<&(RequestKind, String)>| {
            if !which.is_empty() {
                faults.push(format!("{what}: {which:?}"));
            }
        };
        note(
            "not done although it was answered",
            due.difference(&self.applied).collect(),
        );
        for (what, others) in [("logged", &self.logged), ("told", &self.emitted)] {
            let others: BTreeSet<_> = others.keys().cloned().collect();
            note(
                &format!("done and not {what}"),
                self.applied.difference(&others).collect(),
            );
            note(
                &format!("{what} and not done"),
                others.difference(&self.applied).collect(),
            );
        }
        faults
    }
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

fn unique_text(kind: RequestKind, number: usize) -> String {
    format!("{kind:?} {number} of the cancelled")
}

/// Counts all events that Ada's socket receives, by trace.
#[derive(Clone, Default)]
struct EventCounter(Arc<Mutex<BTreeMap<(RequestKind, String), usize>>>);

impl EventCounter {
    /// Reads events until the connection ends.
    async fn listen(app: &TestApp) -> Self {
        let mut socket = Socket::open(app, &app.world.ada.cookie).await;
        socket.expect("ready").await;
        let events = Self::default();
        let event_counts = events.clone();
        tokio::spawn(async move {
            while let Some(frame) = socket.next().await {
                if frame == "2" {
                    socket.send("3").await;
                }
                let Some(event) = frame.strip_prefix("42") else {
                    continue;
                };
                event_counts.note(&serde_json::from_str(event).unwrap());
            }
        });
        events
    }

    fn note(&self, event: &Value) {
        for kind in RequestKind::ALL {
            let (name, place) = kind.event();
            if event[0] == name
                && let Some(text) = event[1].pointer(place).and_then(Value::as_str)
            {
                // A call for help emits `group:updated` again for a renamed group. Only events that change
                // `displayName` count.
                let changed = event[1]["changed"].to_string();
                if kind != RequestKind::RenameGroup || changed.contains("displayName") {
                    *self.0.lock().unwrap().entry((kind, text.to_owned())).or_default() += 1;
                }
            }
        }
    }

    fn event_counts(&self) -> BTreeMap<(RequestKind, String), usize> {
        self.0.lock().unwrap().clone()
    }
}

both!(disconnected_request_is_applied_logged_emitted_or_none, |app| {
    let fixture = DisconnectFixture::prepare(app).await;
    let events = EventCounter::listen(app).await;
    let seed = rand::rng().next_u64();
    let mut rng: rand::rngs::StdRng = rand::SeedableRng::seed_from_u64(seed);
    let mut requests: Vec<(RequestKind, usize)> = RequestKind::ALL
        .into_iter()
        .flat_map(|kind| (0..PER_KIND).map(move |number| (kind, number)))
        .collect();
    requests.shuffle(&mut rng);
    let (queued, others): (Vec<_>, Vec<_>) = requests
        .into_iter()
        .partition(|(_, number)| DisconnectMoment::of(*number) == DisconnectMoment::WhileQueued);
    for four in queued.chunks(4) {
        fixture.disconnect_while_queued(four).await;
    }
    for four in others.chunks(4) {
        // Four requests run at a time, so that transactions wait for each other and share commits.
        let leaving = four.iter().map(|(kind, number)| {
            // The delay is distributed logarithmically, because the duration of a request depends on the machine.
            let moment = Duration::from_secs_f64(10f64.powf(rng.random_range(-6.0..-2.3)));
            fixture.send_and_disconnect(*kind, *number, moment, rng.random_bool(0.5))
        });
        futures_util::future::join_all(leaving).await;
    }

    // A request that has begun continues without its client and is complete in the end.
    let due = fixture.traces(&[DisconnectMoment::AtResponse]);
    let since = Instant::now();
    let applied = loop {
        let effects = fixture.effects(&events).await;
        let faults = effects.faults(&due);
        if faults.is_empty() {
            break effects.applied;
        }
        assert!(since.elapsed() < WAIT_TIMEOUT, "(seed {seed}) {faults:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    // Events arrive in commit order, so a duplicate arrives before the last event.
    let class = &app.world.seven_b;
    let last = json!({"classId": class.id, "courseId": class.course, "name": LAST_GROUP});
    app.as_(&app.world.ada).post("/groups", last).await.expect(201);
    let last = (RequestKind::CreateGroup, LAST_GROUP.to_owned());
    until("the last event comes", async || {
        events.event_counts().contains_key(&last)
    })
    .await;
    let effects = fixture.effects(&events).await;
    for (trace, count) in effects.logged.iter().chain(&effects.emitted) {
        assert_eq!(*count, 1, "{trace:?} more than once (seed {seed})");
    }
    let never: Vec<_> = fixture
        .traces(&[DisconnectMoment::DuringBody])
        .intersection(&effects.applied)
        .cloned()
        .collect();
    assert!(never.is_empty(), "half a request was carried out: {never:?}");
    let by_chance = fixture.traces(&[DisconnectMoment::Random]);
    println!(
        "{} were done; of {} that left at any moment {} (seed {seed})",
        applied.len(),
        by_chance.len(),
        by_chance.intersection(&applied).count()
    );
});
