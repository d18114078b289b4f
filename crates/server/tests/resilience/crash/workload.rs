//! Runs the actions of a user: types into documents and closes them, submits and withdraws them, uploads, replaces and
//! deletes files, and posts messages. The teacher of the user creates groups, finishes topics and reopens them. Every
//! acknowledgement is recorded in the ledger. A request without a response is repeated, as users do. A missing response
//! is expected here.

mod files;

use std::sync::Arc;
use std::time::Duration;

use document_server_simulator::RunningSimulator;
use document_server_simulator::client::OpenEditor;
use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::oracle::Oracle;
use test_support::text_editor::AnyEditor;
use test_support::{Client, TestUser, World};

/// Saves after which a writer creates a new document, so that documents stay small and keep all their revisions.
const SAVES: usize = 20;
/// Uploads after which a writer changes to a new room.
const UPLOADS: usize = 60;

/// A request without a response: it is unknown whether the service executed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Submit,
    TakeBack,
    Finish,
    Reopen,
}

/// A user with their own group, topic and room.
pub struct Writer {
    name: String,
    member: String,
    class: String,
    course: String,
    own: Client,
    teacher: Client,
    document_server: Arc<RunningSimulator>,
    pub oracle: Arc<Oracle>,
    rng: StdRng,
    group: Option<String>,
    room: Option<String>,
    topic: Option<String>,
    document: Option<String>,
    /// The uploaded documents of this room.
    files: Vec<String>,
    pending: Option<Pending>,
    /// The text and the client message id of a message without a response.
    unsaid: Option<(String, String)>,
    is_handed_in: bool,
    is_finished: bool,
    /// Whether each save with the built-in editor reads the document, which writes its file.
    pub always_reads: bool,
    saves: usize,
    uploads: usize,
    typed: usize,
}

impl Writer {
    pub fn new(
        base: &str,
        world: &World,
        person: &TestUser,
        document_server: &Arc<RunningSimulator>,
        oracle: &Arc<Oracle>,
        rng: StdRng,
    ) -> Self {
        Self {
            name: person.name.split(' ').next().unwrap().to_lowercase(),
            member: person.id.clone(),
            class: world.seven_b.id.clone(),
            course: world.seven_b.course.clone(),
            own: Client::new(base, Some(person.cookie.clone())),
            teacher: Client::new(base, Some(world.ada.cookie.clone())),
            document_server: Arc::clone(document_server),
            oracle: Arc::clone(oracle),
            rng,
            group: None,
            room: None,
            topic: None,
            document: None,
            files: Vec::new(),
            pending: None,
            unsaid: None,
            is_handed_in: false,
            is_finished: false,
            always_reads: false,
            saves: 0,
            uploads: 0,
            typed: 0,
        }
    }

    /// Runs one random action. Returns `None` if the response is missing or a rejection.
    pub async fn act(&mut self) -> Option<()> {
        if self.pending.is_some() || self.document.is_none() {
            return self.prepare().await;
        }
        if self.is_finished {
            match self.rng.random_range(0..3) {
                0 => self.leave_room(),
                1 => return self.post_message().await,
                _ => return self.reopen().await,
            }
            return self.prepare().await;
        }
        match self.rng.random_range(0..100) {
            0..40 if !self.is_handed_in => self.save().await,
            0..40 => self.unsubmit_or_continue().await,
            40..50 => self.upload().await,
            50..55 => self.upload_legacy().await,
            55..65 => self.replace().await,
            65..68 => self.delete().await,
            68..76 if !self.is_handed_in => self.submit().await,
            68..82 => self.finish().await,
            82..95 => self.post_message().await,
            _ => self.create_group(None).await.map(|_| ()),
        }
    }

    /// Prepares the writer for the next action: repeats the pending request and creates what is missing.
    pub async fn prepare(&mut self) -> Option<()> {
        match self.pending {
            Some(Pending::Submit) => self.submit().await?,
            Some(Pending::TakeBack) => self.unsubmit().await?,
            Some(Pending::Finish) => self.finish().await?,
            Some(Pending::Reopen) => self.reopen().await?,
            None => {}
        }
        if self.room.is_none() {
            let (group, room) = self.create_group(Some(json!([self.member]))).await?;
            (self.group, self.room) = (Some(group), Some(room));
        }
        if self.topic.is_none() {
            let new = json!({"title": self.unique_text(), "description": "Write.", "deadline": "2099-01-01T00:00:00.000Z",
                "classId": self.class, "courseId": self.course, "groupIds": [self.group]});
            let topic = self
                .created(self.teacher.request(Method::POST, "/assignments").json(&new))
                .await?;
            self.topic = Some(text(&topic, "id"));
        }
        if self.document.is_none() && !self.is_finished {
            let path = format!("/workrooms/{}/documents", self.room.as_ref()?);
            // Without a topic, finishing would not lock the document if the room has two topics. A lost response may
            // have left a second topic.
            let new = json!({"title": self.unique_text(), "documentType": "word", "assignmentId": self.topic});
            let document = self.created(self.own.request(Method::POST, &path).json(&new)).await?;
            self.document = Some(text(&document, "id"));
            (self.saves, self.is_handed_in) = (0, false);
        }
        Some(())
    }

    /// Prepares a draft that is neither submitted nor locked.
    pub async fn prepare_draft(&mut self) -> Option<()> {
        self.prepare().await?;
        if self.is_finished {
            self.reopen().await?;
        }
        if self.is_handed_in {
            self.unsubmit().await?;
        }
        self.prepare().await
    }

    /// Opens the document and types. Returns the open editor, the document and the typed text.
    pub async fn write(&mut self) -> Option<(AnyEditor, String, String)> {
        let document = self.document.clone()?;
        let (editor, _, typed) = self.open_and_type(&document).await?;
        Some((editor, document, typed))
    }

    /// Downloads the content of a document.
    pub async fn read(&self, document: &str) -> Option<Vec<u8>> {
        let path = format!("/workrooms/documents/{document}/download");
        let answer = self.own.request(Method::GET, &path).send().await.ok()?;
        if answer.status() == 200 {
            Some(answer.bytes().await.ok()?.to_vec())
        } else {
            None
        }
    }

    /// Creates the group, the topic and the document before any fault is injected.
    pub async fn create_room(&mut self) {
        self.prepare().await;
        assert!(self.document.is_some(), "the first document must succeed");
    }

    fn leave_room(&mut self) {
        (self.group, self.room, self.topic, self.document) = (None, None, None, None);
        (self.files, self.unsaid) = (Vec::new(), None);
        (self.is_handed_in, self.is_finished, self.uploads) = (false, false, 0);
    }

    async fn create_group(&mut self, members: Option<Value>) -> Option<(String, String)> {
        let mut new = json!({"classId": self.class, "courseId": self.course, "name": self.unique_text()});
        if let Some(members) = members {
            new["memberIds"] = members;
        }
        let request = self.teacher.request(Method::POST, "/groups").json(&new);
        let group = self.created(request).await?;
        let (id, room) = (text(&group, "id"), text(&group, "workRoomId"));
        self.oracle.created(&id, &room);
        Some((id, room))
    }

    /// Runs one editing session: opens the document, types a unique text, presses save in some sessions and closes the
    /// editor.
    pub async fn save(&mut self) -> Option<()> {
        let document = self.document.clone()?;
        let (editor, config, typed) = self.open_and_type(&document).await?;
        if self.always_reads || self.rng.random_bool(0.3) {
            match &editor {
                AnyEditor::OnlyOffice(editor) => self.press_save(editor, &config, &document, &typed).await,
                AnyEditor::Builtin(_) => drop(self.read(&document).await),
            }
        }
        let closed = editor.close().await.ok()?;
        if closed.status == Some(2) && closed.accepted {
            self.oracle.saved(&document, &typed, false, "closing");
        }
        self.saves += 1;
        if self.saves >= SAVES {
            self.document = None;
        }
        closed.accepted.then_some(())
    }

    async fn open_and_type(&mut self, document: &str) -> Option<(AnyEditor, Value, String)> {
        let path = format!("/workrooms/documents/{document}/editor-config");
        let config = self
            .send_expecting(self.own.request(Method::GET, &path), &[200])
            .await?
            .1;
        let server = self.document_server.url();
        let editor = AnyEditor::open(&server, &self.own, document, &config).await.ok()?;
        if !editor.may_edit() {
            // The service still processes the end of the previous session of this key.
            drop(editor.close().await);
            tokio::time::sleep(Duration::from_millis(5)).await;
            return None;
        }
        let typed = self.unique_text();
        editor.type_text(&format!("\n{typed}")).await.ok()?;
        if matches!(editor, AnyEditor::Builtin(_)) {
            self.oracle.saved(document, &typed, false, "a commit");
        }
        Some((editor, config, typed))
    }

    async fn press_save(&self, editor: &OpenEditor, config: &Value, document: &str, typed: &str) {
        let key = text(&config["document"], "key");
        let before = self.next_forced_save_time(&key);
        if editor.press_save().await.ok() != Some(0) {
            return;
        }
        let fits =
            |sent: &document_server_simulator::SentCallback| sent.key == key && sent.status == 6 && sent.at >= before;
        let sent = self
            .document_server
            .wait_for_callback(fits, Duration::from_secs(5))
            .await;
        if sent.is_some_and(|sent| sent.accepted) {
            self.oracle.saved(document, typed, true, "the button");
        }
    }

    /// Returns the first millisecond in which a new forced save of this key can be distinguished from the earlier ones.
    fn next_forced_save_time(&self, key: &str) -> u64 {
        let earlier = self.document_server.callbacks();
        let earlier = earlier.iter().filter(|sent| sent.key == key && sent.status == 6);
        earlier.map(|sent| sent.at + 1).max().unwrap_or(0)
    }

    /// Submits the document, often while it is open: the copy also contains what is saved after that.
    pub async fn submit(&mut self) -> Option<()> {
        let (document, topic) = (self.document.clone()?, self.topic.clone()?);
        let mut open = None;
        if self.pending.is_none() && self.rng.random_bool(0.5) {
            open = self.open_and_type(&document).await.map(|(editor, ..)| editor);
        }
        let texts = self.oracle.texts_of(&document);
        let expected: &[u16] = if self.pending == Some(Pending::Submit) {
            &[200, 409]
        } else {
            &[200]
        };
        self.pending = Some(Pending::Submit);
        let path = format!("/workrooms/documents/{document}/submit");
        let request = self
            .own
            .request(Method::POST, &path)
            .json(&json!({"assignmentId": topic}));
        let answer = self.send_expecting(request, expected).await;
        if let Some(editor) = open {
            drop(editor.close().await);
        }
        let (_, answer) = answer?;
        self.pending = None;
        self.is_handed_in = true;
        let submission = answer["submission"]["id"].as_str().map(str::to_owned);
        self.oracle.submitted(&document, submission, texts);
        Some(())
    }

    async fn unsubmit_or_continue(&mut self) -> Option<()> {
        if self.rng.random_bool(0.5) {
            self.document = None;
            return self.prepare().await;
        }
        self.unsubmit().await
    }

    /// Withdraws the submitted document.
    pub async fn unsubmit(&mut self) -> Option<()> {
        let document = self.document.clone()?;
        let expected: &[u16] = if self.pending == Some(Pending::TakeBack) {
            &[200, 409]
        } else {
            &[200]
        };
        self.pending = Some(Pending::TakeBack);
        let path = format!("/workrooms/documents/{document}/unsubmit");
        self.send_expecting(self.own.request(Method::POST, &path).json(&json!({})), expected)
            .await?;
        self.pending = None;
        self.is_handed_in = false;
        Some(())
    }

    /// Finishes the topic, often while a user types. The typed text is saved unless the response lists the document in
    /// `unsavedDocuments`.
    pub async fn finish(&mut self) -> Option<()> {
        let (topic, room) = (self.topic.clone()?, self.room.clone()?);
        let mut open = None;
        if self.pending.is_none()
            && !self.is_handed_in
            && let Some(document) = self.document.clone()
        {
            open = self
                .open_and_type(&document)
                .await
                .map(|(editor, _, typed)| (editor, document, typed));
        }
        self.oracle.topic_may_change(&topic);
        self.pending = Some(Pending::Finish);
        let request = self
            .teacher
            .request(Method::POST, &format!("/assignments/{topic}/finish"));
        let finished = self.send_expecting(request, &[200]).await;
        if let Some((editor, document, typed)) = open {
            let unsaved = finished
                .as_ref()
                .map(|(_, answer)| answer["unsavedDocuments"].to_string());
            if unsaved.is_some_and(|unsaved| !unsaved.contains(&document)) {
                self.oracle.saved(&document, &typed, true, "the bell");
            }
            drop(editor.close().await);
        }
        finished?;
        self.pending = None;
        self.is_finished = true;
        self.oracle.topic_changed(&topic, &room, true);
        Some(())
    }

    /// Reopens the topic, which restores the state before it was finished.
    pub async fn reopen(&mut self) -> Option<()> {
        let (topic, room) = (self.topic.clone()?, self.room.clone()?);
        self.oracle.topic_may_change(&topic);
        self.pending = Some(Pending::Reopen);
        let request = self
            .teacher
            .request(Method::POST, &format!("/assignments/{topic}/reopen"));
        self.send_expecting(request, &[200]).await?;
        self.pending = None;
        self.is_finished = false;
        self.oracle.topic_changed(&topic, &room, false);
        Some(())
    }

    /// Posts a message. A message without a response is posted again with the same client message id.
    pub async fn post_message(&mut self) -> Option<()> {
        let (words, id) = match self.unsaid.take() {
            Some(again) => again,
            None => (self.unique_text(), self.unique_text()),
        };
        self.unsaid = Some((words.clone(), id.clone()));
        let room = self.room.clone()?;
        let path = format!("/workrooms/{room}/messages");
        let new = json!({"content": words, "clientMessageId": id});
        let (_, message) = self
            .send_expecting(self.own.request(Method::POST, &path).json(&new), &[200, 201])
            .await?;
        self.unsaid = None;
        self.oracle.posted(&room, &words, message["seq"].as_i64().unwrap());
        Some(())
    }

    /// Submits the document while no editor is open.
    pub async fn submit_closed(&mut self) -> Option<()> {
        self.pending = Some(Pending::Submit);
        self.submit().await
    }

    async fn created(&self, request: RequestBuilder) -> Option<Value> {
        Some(self.send_expecting(request, &[201]).await?.1)
    }

    /// Sends a request and returns status and body if the status is an expected one.
    async fn send_expecting(&self, request: RequestBuilder, expected: &[u16]) -> Option<(u16, Value)> {
        let answer = match request.timeout(Duration::from_secs(90)).send().await {
            Ok(answer) => answer,
            Err(error) => {
                self.oracle.request_failed(&error);
                return None;
            }
        };
        let (status, path) = (answer.status().as_u16(), answer.url().path().to_owned());
        if status == 503 && !answer.headers().contains_key("retry-after") {
            self.oracle.fault(format!("{path} answered 503 without Retry-After"));
        }
        let body = answer.text().await.ok()?;
        if expected.contains(&status) {
            return Some((status, serde_json::from_str(&body).unwrap()));
        }
        self.oracle.unexpected(status, || {
            format!("{path} answered {status} instead of {expected:?}: {body}")
        });
        None
    }

    /// Returns a unique text.
    fn unique_text(&mut self) -> String {
        self.typed += 1;
        format!("{}-{}-{:08x}", self.name, self.typed, self.rng.next_u32())
    }
}

fn form(bytes: Vec<u8>, name: String) -> reqwest::multipart::Form {
    reqwest::multipart::Form::new().part("file", reqwest::multipart::Part::bytes(bytes).file_name(name))
}

fn text(object: &Value, key: &str) -> String {
    object[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {object}"))
        .to_owned()
}

/// Encodes bytes as lower-case hexadecimal text.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
