//! Four people who never stop: each types into documents and closes them, uploads files and has groups created, and
//! writes every yes into the ledger. A no without an answer is the expected thing here, not a failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use practice_document_server::{Running, client};
use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::ledger::Ledger;
use crate::support::{Client, World};

/// After so many saves a writer takes a new document, so that documents stay small and keep all their revisions.
const SAVES: usize = 20;
/// After so many uploads a writer takes a new room.
const UPLOADS: usize = 60;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    Pause,
    Write,
    Stop,
}

/// The four writers together.
pub struct Writers {
    signal: watch::Sender<Signal>,
    busy: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
}

impl Writers {
    /// Gives each writer a group and a document; they wait for [`Self::resume`].
    pub async fn start(
        base: &str,
        world: &World,
        practice: &Arc<Running>,
        ledger: &Arc<Ledger>,
        rng: &mut StdRng,
    ) -> Self {
        let (signal, _) = watch::channel(Signal::Pause);
        let busy = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for person in [&world.ben, &world.cem, &world.dana, &world.eli] {
            let mut writer = Writer {
                name: person.name.split(' ').next().unwrap().to_lowercase(),
                member: person.id.clone(),
                class: world.seven_b.id.clone(),
                course: world.seven_b.course.clone(),
                own: Client::new(base, Some(person.cookie.clone())),
                teacher: Client::new(base, Some(world.ada.cookie.clone())),
                practice: Arc::clone(practice),
                ledger: Arc::clone(ledger),
                rng: StdRng::seed_from_u64(rng.next_u64()),
                work_room: None,
                document: None,
                saves: 0,
                uploads: 0,
                typed: 0,
            };
            writer.move_in().await;
            writer.take_document().await;
            assert!(writer.document.is_some(), "the first document must succeed");
            tasks.push(tokio::spawn(write(writer, signal.subscribe(), Arc::clone(&busy))));
        }
        ledger.no_faults();
        Self { signal, busy, tasks }
    }

    /// Lets them write.
    pub fn resume(&self) {
        self.signal.send_replace(Signal::Write);
    }

    /// How many have asked for something and wait for the answer.
    pub fn busy(&self) -> usize {
        self.busy.load(Ordering::SeqCst)
    }

    /// Waits until all have finished what they were at.
    pub async fn pause(&mut self) {
        self.signal.send_replace(Signal::Pause);
        while self.busy() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(self.tasks.iter().all(|task| !task.is_finished()), "a writer gave up");
    }

    /// Ends them.
    pub async fn stop(&mut self) {
        self.signal.send_replace(Signal::Stop);
        for task in self.tasks.drain(..) {
            task.await.unwrap();
        }
    }
}

async fn write(mut writer: Writer, mut signal: watch::Receiver<Signal>, busy: Arc<AtomicUsize>) {
    loop {
        // An error means that the test has failed already.
        let Ok(heard) = signal
            .wait_for(|signal| *signal != Signal::Pause)
            .await
            .map(|signal| *signal)
        else {
            return;
        };
        if heard == Signal::Stop {
            return;
        }
        busy.fetch_add(1, Ordering::SeqCst);
        // Whoever paused us may have counted before we were counted.
        if *signal.borrow() == Signal::Write {
            let answered = writer.act().await;
            if answered.is_none() {
                writer.ledger.left_unanswered();
                // Whoever finds nobody there does not knock without end.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        busy.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Writer {
    name: String,
    member: String,
    class: String,
    course: String,
    own: Client,
    teacher: Client,
    practice: Arc<Running>,
    ledger: Arc<Ledger>,
    rng: StdRng,
    work_room: Option<String>,
    document: Option<String>,
    saves: usize,
    uploads: usize,
    typed: usize,
}

impl Writer {
    /// Does one thing; nothing when no answer came.
    async fn act(&mut self) -> Option<()> {
        if self.work_room.is_none() {
            return self.move_in().await;
        }
        if self.document.is_none() {
            return self.take_document().await;
        }
        match self.rng.random_range(0..100) {
            0..60 => self.save().await,
            60..85 => self.upload().await,
            _ => self.create_group(None).await.map(|_| ()),
        }
    }

    /// Takes a group of one's own with its room.
    async fn move_in(&mut self) -> Option<()> {
        let members = json!([self.member]);
        self.work_room = Some(self.create_group(Some(members)).await?);
        Some(())
    }

    async fn create_group(&mut self, members: Option<Value>) -> Option<String> {
        let mut new = json!({"classId": self.class, "courseId": self.course, "name": self.mark()});
        if let Some(members) = members {
            new["memberIds"] = members;
        }
        let request = self.teacher.request(Method::POST, "/groups").json(&new);
        let group = self.created(request).await?;
        let (id, room) = (text(&group, "id"), text(&group, "workRoomId"));
        self.ledger.created(&id, &room);
        Some(room)
    }

    async fn take_document(&mut self) -> Option<()> {
        let path = format!("/workrooms/{}/documents", self.work_room.as_ref()?);
        let new = json!({"title": self.mark(), "documentType": "word"});
        let document = self.created(self.own.request(Method::POST, &path).json(&new)).await?;
        self.document = Some(text(&document, "id"));
        self.saves = 0;
        Some(())
    }

    /// One editing session: open, type something nobody ever typed, often press save, and leave.
    async fn save(&mut self) -> Option<()> {
        let document = self.document.clone()?;
        let path = format!("/workrooms/documents/{document}/editor-config");
        let config = self.answered(self.own.request(Method::GET, &path), 200).await?;
        let editor = client::open(&self.practice.url(), &config).await.ok()?;
        if !editor.may_edit() {
            // The last session of this key is still being put away.
            drop(editor.close().await);
            tokio::time::sleep(Duration::from_millis(5)).await;
            return None;
        }
        let typed = self.mark();
        editor.type_text(&format!("\n{typed}")).await.ok()?;
        if self.rng.random_bool(0.3) {
            self.press_save(&editor, &config, &document, &typed).await;
        }
        let closed = editor.close().await.ok()?;
        if closed.status == Some(2) && closed.accepted {
            self.ledger.saved(&document, &typed, false);
        }
        self.saves += 1;
        if self.saves >= SAVES {
            self.document = None;
        }
        closed.accepted.then_some(())
    }

    async fn press_save(&self, editor: &client::Editor, config: &Value, document: &str, typed: &str) {
        let key = text(&config["document"], "key");
        let before = self.forced_notices(&key);
        if editor.press_save().await.ok() != Some(0) {
            return;
        }
        let fits = |sent: &practice_document_server::Sent| sent.key == key && sent.status == 6 && sent.at >= before;
        let sent = self.practice.wait_for_callback(fits, Duration::from_secs(5)).await;
        if sent.is_some_and(|sent| sent.accepted) {
            self.ledger.saved(document, typed, true);
        }
    }

    /// The first millisecond in which a new forced save of this key can be told from the earlier ones.
    fn forced_notices(&self, key: &str) -> u64 {
        let earlier = self.practice.callbacks();
        let earlier = earlier.iter().filter(|sent| sent.key == key && sent.status == 6);
        earlier.map(|sent| sent.at + 1).max().unwrap_or(0)
    }

    /// Uploads random words, from one to 300 KiB.
    async fn upload(&mut self) -> Option<()> {
        let size = self.rng.random_range(1_000..300_000);
        let bytes: Vec<u8> = (0..size)
            .map(|_| b"abcdefgh \n"[self.rng.random_range(0..10)])
            .collect();
        let sha256 = hex(&Sha256::digest(&bytes));
        let path = format!("/workrooms/{}/documents", self.work_room.as_ref()?);
        let file = reqwest::multipart::Part::bytes(bytes).file_name(format!("{}.txt", self.mark()));
        let form = reqwest::multipart::Form::new().part("file", file);
        let document = self
            .created(self.own.request(Method::POST, &path).multipart(form))
            .await?;
        self.ledger.uploaded(&text(&document, "id"), sha256);
        self.uploads += 1;
        if self.uploads >= UPLOADS {
            (self.work_room, self.document, self.uploads) = (None, None, 0);
        }
        Some(())
    }

    async fn created(&self, request: RequestBuilder) -> Option<Value> {
        self.answered(request, 201).await
    }

    /// The body, if the expected answer came; any other answer than "not now" is a fault of the service.
    async fn answered(&self, request: RequestBuilder, expected: u16) -> Option<Value> {
        let answer = request.timeout(Duration::from_secs(30)).send().await.ok()?;
        let (status, path) = (answer.status().as_u16(), answer.url().path().to_owned());
        let body = answer.text().await.ok()?;
        if status == expected {
            return Some(serde_json::from_str(&body).unwrap());
        }
        if status != 503 {
            self.ledger
                .fault(format!("{path} answered {status} instead of {expected}: {body}"));
        }
        None
    }

    /// A text that stands nowhere else.
    fn mark(&mut self) -> String {
        self.typed += 1;
        format!("{}-{}-{:08x}", self.name, self.typed, self.rng.next_u32())
    }
}

fn text(object: &Value, key: &str) -> String {
    object[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {object}"))
        .to_owned()
}

/// Bytes as lower-case hexadecimal text.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
