//! A group that works with a document server: Ada's topic for two groups of 7b, Ben and Cem in the visible group, Dana
//! in a hidden group, a room with documents, and editors that use the real protocol. Text documents can open in the
//! built-in editor instead; the document server then has the other kinds of documents.

use document_server_simulator::client::{self, OpenEditor};
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use serde_json::{Value, json};

use super::app::DOCSERVER_SECRET;
use super::text_editor::AnyEditor;
use super::topics::{group, id, topic};
use super::{DatabaseKind, TestApp, TestUser};

pub struct DocumentServerFixture {
    pub app: TestApp,
    pub server: RunningSimulator,
    /// The editor of text documents.
    pub editor: EditorKind,
    /// The group of Ben and Cem.
    pub group: String,
    /// The room of that group.
    pub room: String,
    /// Dana's group, whose start date is in one year.
    pub hidden: String,
    /// Ada's topic for both groups.
    pub topic: String,
}

impl DocumentServerFixture {
    pub async fn start(kind: DatabaseKind, flags: &[&str]) -> Option<Self> {
        Self::start_with_editor(kind, EditorKind::OnlyOffice, flags).await
    }

    /// Starts the service with this editor of text documents.
    pub async fn start_with_editor(kind: DatabaseKind, editor: EditorKind, flags: &[&str]) -> Option<Self> {
        let editor = format!("--editor-text={editor}");
        let flags: Vec<&str> = [editor.as_str()].into_iter().chain(flags.iter().copied()).collect();
        Self::start_beside(kind, SimulatorSettings::quick(DOCSERVER_SECRET), &flags).await
    }

    /// Starts the service with a document server that has other settings.
    pub async fn start_beside(kind: DatabaseKind, settings: SimulatorSettings, flags: &[&str]) -> Option<Self> {
        // A class is larger than the connection limit of the community edition.
        let connection_limit = settings.connection_limit.max(500);
        let settings = SimulatorSettings {
            connection_limit,
            ..settings
        };
        let server = Simulator::start(settings).await.unwrap();
        let url = format!("--docserver-url={}", server.url());
        let flags: Vec<&str> = [url.as_str()].into_iter().chain(flags.iter().copied()).collect();
        let app = TestApp::start_with(kind, &flags).await?;
        let editor = if flags.contains(&"--editor-text=builtin") {
            EditorKind::Builtin
        } else {
            EditorKind::OnlyOffice
        };
        let (world, ada) = (&app.world, app.as_(&app.world.ada));
        let class = &world.seven_b;
        let visible = group(&ada, class, &[&world.ben, &world.cem], json!({})).await;
        let start = json!({"startDate": "2099-01-01T00:00:00Z"});
        let hidden = group(&ada, class, &[&world.dana], start).await;
        let topic = id(&topic(&ada, class, json!({"groupIds": [visible, hidden]})).await);
        let room = ada.get(&format!("/groups/{visible}")).await.expect(200)["workRoomId"].clone();
        let room = room.as_str().unwrap().to_owned();
        Some(Self {
            app,
            server,
            editor,
            group: visible,
            room,
            hidden,
            topic,
        })
    }

    /// Creates a blank text document in the room of the visible group.
    pub async fn document(&self, title: &str) -> String {
        self.document_in(&self.room, title).await
    }

    /// Creates a blank text document in a room.
    pub async fn document_in(&self, room: &str, title: &str) -> String {
        let body = json!({"title": title, "documentType": "word"});
        let ada = self.app.as_(&self.app.world.ada);
        id(&ada
            .post(&format!("/workrooms/{room}/documents"), body)
            .await
            .expect(201))
    }

    /// Creates a further group of Ben and Cem on the same topic and returns its room.
    pub async fn another_room(&self) -> String {
        let (world, ada) = (&self.app.world, self.app.as_(&self.app.world.ada));
        let made = group(&ada, &world.seven_b, &[&world.ben, &world.cem], json!({})).await;
        let attach = format!("/assignments/{}/groups", self.topic);
        ada.post(&attach, json!({"groupIds": [made]})).await.expect(200);
        let group = ada.get(&format!("/groups/{made}")).await.expect(200);
        group["workRoomId"].as_str().unwrap().to_owned()
    }

    /// Returns the room of the hidden group.
    pub async fn hidden_room(&self) -> String {
        let ada = self.app.as_(&self.app.world.ada);
        let group = ada.get(&format!("/groups/{}", self.hidden)).await.expect(200);
        group["workRoomId"].as_str().unwrap().to_owned()
    }

    /// Returns the editor configuration of a user.
    pub async fn configuration(&self, person: &TestUser, document: &str) -> Value {
        self.app
            .as_(person)
            .get(&path(document, "/editor-config"))
            .await
            .expect(200)
    }

    /// Opens a document in the editor of a user.
    pub async fn open(&self, person: &TestUser, document: &str) -> OpenEditor {
        let config = self.configuration(person, document).await;
        client::open(&self.server.url(), &config).await.unwrap()
    }

    /// Opens a document in the editor that its configuration names.
    pub async fn open_editor(&self, person: &TestUser, document: &str) -> AnyEditor {
        let config = self.configuration(person, document).await;
        let client = self.app.as_(person);
        AnyEditor::open(&self.server.url(), &client, document, &config)
            .await
            .unwrap()
    }

    /// Whether text documents open in the built-in editor.
    pub fn is_builtin(&self) -> bool {
        self.editor == EditorKind::Builtin
    }

    /// Returns the URL from which a page loads the editor of text documents.
    pub fn editor_url(&self) -> Option<String> {
        (!self.is_builtin()).then(|| self.server.url())
    }

    /// Opens a document as a user, types text, closes the editor, and waits for the save. The built-in editor has saved
    /// when the document is read.
    pub async fn write(&self, person: &TestUser, document: &str, text: &str) {
        let editor = self.open_editor(person, document).await;
        editor.type_text(text).await.unwrap();
        editor.close_saved().await;
        if self.is_builtin() {
            assert!(self.text(document).await.contains(text));
        }
    }

    /// Editors that lost their document continue to write.
    pub fn ignore_drops(&self, editors: &[&AnyEditor]) {
        self.server.faults().update(|faults| faults.ignores_drop = true);
        for editor in editors {
            editor.ignore_end();
        }
    }

    /// Returns the document as Ada receives it.
    pub async fn get_document(&self, document: &str) -> Value {
        let ada = self.app.as_(&self.app.world.ada);
        ada.get(&path(document, "")).await.expect(200)
    }

    /// Returns the current editor key of the document.
    pub async fn key(&self, document: &str) -> String {
        let config = self.configuration(&self.app.world.ada, document).await;
        config["document"]["key"].as_str().unwrap().to_owned()
    }

    /// Returns the text of the stored content.
    pub async fn text(&self, document: &str) -> String {
        let ada = self.app.as_(&self.app.world.ada);
        let answer = ada.get(&path(document, "/download")).await;
        assert_eq!(answer.status, 200);
        words(&answer.bytes)
    }

    /// Returns the revisions that Ada can see, newest first.
    pub async fn versions(&self, document: &str) -> Vec<Value> {
        let ada = self.app.as_(&self.app.world.ada);
        let list = ada.get(&path(document, "/versions")).await.expect(200);
        list.as_array().unwrap().clone()
    }

    /// Returns the origins of the revisions, newest first.
    pub async fn origins(&self, document: &str) -> Vec<String> {
        let versions = self.versions(document).await;
        versions
            .iter()
            .map(|version| version["origin"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Waits until the revisions have these origins, newest first. The built-in editor acknowledges late text before it
    /// is a revision.
    pub async fn expect_origins(&self, document: &str, expected: &[&str]) {
        if self.is_builtin() {
            eventually(async || self.origins(document).await.len() >= expected.len()).await;
        }
        assert_eq!(self.origins(document).await, expected);
    }

    /// Submits a document as a user.
    pub async fn submit(&self, person: &TestUser, document: &str) -> super::Answer {
        let body = json!({"assignmentId": self.topic});
        self.app.as_(person).post(&path(document, "/submit"), body).await
    }

    /// Finishes the topic as Ada.
    pub async fn finish(&self) -> Value {
        let ada = self.app.as_(&self.app.world.ada);
        ada.send(
            reqwest::Method::POST,
            &format!("/assignments/{}/finish", self.topic),
            None,
        )
        .await
        .expect(200)
    }

    /// Reopens the topic as Ada.
    pub async fn reopen(&self) -> Value {
        let ada = self.app.as_(&self.app.world.ada);
        ada.send(
            reqwest::Method::POST,
            &format!("/assignments/{}/reopen", self.topic),
            None,
        )
        .await
        .expect(200)
    }

    /// Returns all files in the storage of the service, except temporary files of running writes.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.app.folder().join("files")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        // The marker file of the storage.
        found.retain(|name| name != "id");
        found
    }

    pub async fn close(self) {
        self.server.stop().await;
        self.app.close().await;
    }
}

/// Returns the path of a document, or of one of its subresources.
pub fn path(document: &str, rest: &str) -> String {
    format!("/workrooms/documents/{document}{rest}")
}

/// Extracts the text of an office document, or of a PDF of the simulator or the service.
pub fn words(bytes: &[u8]) -> String {
    match document_server_simulator::read_document(bytes) {
        Ok((_, lines)) if !lines.is_empty() || !bytes.starts_with(b"%PDF-") => lines.join("\n"),
        Err(error) if !bytes.starts_with(b"%PDF-") => panic!("{error:?}"),
        _ => pdf_text(bytes),
    }
}

/// Returns the text of a PDF by poppler's program, which `scripts/setup-tests` installs.
pub fn pdf_text(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("document.pdf");
    std::fs::write(&path, bytes).unwrap();
    let printed = std::process::Command::new("pdftotext")
        .arg(&path)
        .arg("-")
        .output()
        .unwrap();
    String::from_utf8(printed.stdout).unwrap()
}

/// Waits for the next full second: timestamps of the document server have a resolution of one second.
pub async fn next_second() {
    let second = || common::clock::now().as_millis() / 1000;
    let now = second();
    eventually(async || second() > now).await;
}

/// Polls a condition until it is true.
pub async fn eventually(is_so: impl AsyncFnMut() -> bool) {
    super::until("what the test waits for", is_so).await;
}

/// Generates a test with a document server on both databases: `with_document_server!(name, |fixture| { … })`. Attributes apply to both
/// test functions; `#[sqlite]` runs the test on SQLite alone, for behavior that does not depend on the database.
#[macro_export]
macro_rules! with_document_server {
    (#[sqlite] $name:ident, |$fixture:ident| $body:block) => {
        $crate::with_document_server!(#[sqlite] $name, [], |$fixture| $body);
    };
    (#[sqlite] $name:ident, [$($flag:literal),*], |$fixture:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let flags = [$($flag),*];
                let fixture = $crate::document_server_fixture::DocumentServerFixture::start($crate::DatabaseKind::Sqlite, &flags).await.unwrap();
                let $fixture = &fixture;
                $body
                fixture.close().await;
            }
        }
    };
    (#[long_on_postgres] $name:ident, |$fixture:ident| $body:block) => {
        $crate::with_document_server!(@ [] [#[ignore = "long: make test-resilience"]] $name, [], |$fixture| $body);
    };
    ($(#[$attribute:meta])* $name:ident, |$fixture:ident| $body:block) => {
        $crate::with_document_server!(@ [$(#[$attribute])*] [$(#[$attribute])*] $name, [], |$fixture| $body);
    };
    ($(#[$attribute:meta])* $name:ident, [$($flag:literal),*], |$fixture:ident| $body:block) => {
        $crate::with_document_server!(@ [$(#[$attribute])*] [$(#[$attribute])*] $name, [$($flag),*], |$fixture| $body);
    };
    (@ [$($on_sqlite:tt)*] [$($on_postgres:tt)*] $name:ident, [$($flag:literal),*], |$fixture:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every story needs everything around it")]
            use super::*;

            async fn test_body($fixture: &$crate::document_server_fixture::DocumentServerFixture) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $($on_sqlite)*
            async fn on_sqlite() {
                let fixture = $crate::document_server_fixture::DocumentServerFixture::start($crate::DatabaseKind::Sqlite, &[$($flag),*]).await.unwrap();
                test_body(&fixture).await;
                fixture.close().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $($on_postgres)*
            async fn on_postgres() {
                let started = $crate::document_server_fixture::DocumentServerFixture::start($crate::DatabaseKind::Postgres, &[$($flag),*]).await;
                let Some(fixture) = started else { return };
                test_body(&fixture).await;
                fixture.close().await;
            }
        }
    };
}

/// Generates a test of a rule that holds for both editors of text documents: `with_both_editors!(name, [flags], |fixture| { … })`. The
/// document server's editor is tested on both databases. The built-in editor is tested on SQLite, and on PostgreSQL in
/// the long run. `#[sqlite]` leaves PostgreSQL out.
#[macro_export]
macro_rules! with_both_editors {
    (#[sqlite] $name:ident, |$fixture:ident| $body:block) => {
        $crate::with_both_editors!(#[sqlite] $name, [], |$fixture| $body);
    };
    ($name:ident, |$fixture:ident| $body:block) => {
        $crate::with_both_editors!($name, [], |$fixture| $body);
    };
    (#[sqlite] $name:ident, [$($flag:literal),*], |$fixture:ident| $body:block) => {
        $crate::with_both_editors!(@ $name, [$($flag),*], |$fixture| $body, [
            on_sqlite Sqlite OnlyOffice [],
            builtin_on_sqlite Sqlite Builtin []
        ]);
    };
    (#[ignore = $reason:literal] $name:ident, |$fixture:ident| $body:block) => {
        $crate::with_both_editors!(@ $name, [], |$fixture| $body, [
            on_sqlite Sqlite OnlyOffice [#[ignore = $reason]],
            on_postgres Postgres OnlyOffice [#[ignore = $reason]],
            builtin_on_sqlite Sqlite Builtin [#[ignore = $reason]],
            builtin_on_postgres Postgres Builtin [#[ignore = $reason]]
        ]);
    };
    ($name:ident, [$($flag:literal),*], |$fixture:ident| $body:block) => {
        $crate::with_both_editors!(@ $name, [$($flag),*], |$fixture| $body, [
            on_sqlite Sqlite OnlyOffice [],
            on_postgres Postgres OnlyOffice [],
            builtin_on_sqlite Sqlite Builtin [],
            builtin_on_postgres Postgres Builtin [#[ignore = "long: make test-resilience"]]
        ]);
    };
    (@ $name:ident, $flags:tt, |$fixture:ident| $body:block, [
        $($test:ident $kind:ident $editor:ident [$($attribute:tt)*]),*
    ]) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            async fn test_body($fixture: &$crate::document_server_fixture::DocumentServerFixture) $body

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                $($attribute)*
                async fn $test() {
                    let (kind, editor) = ($crate::DatabaseKind::$kind, domain::document_kind::EditorKind::$editor);
                    let started = $crate::document_server_fixture::DocumentServerFixture::start_with_editor(kind, editor, &$flags);
                    let Some(fixture) = started.await else { return };
                    test_body(&fixture).await;
                    fixture.close().await;
                }
            )*
        }
    };
}

/// Like [`with_both_editors!`], but tests the built-in editor in the long run alone, on both databases.
#[macro_export]
macro_rules! with_both_editors_long {
    ($name:ident, |$fixture:ident| $body:block) => {
        $crate::with_both_editors!(@ $name, [], |$fixture| $body, [
            on_sqlite Sqlite OnlyOffice [],
            on_postgres Postgres OnlyOffice [],
            builtin_on_sqlite Sqlite Builtin [#[ignore = "long: make test-resilience"]],
            builtin_on_postgres Postgres Builtin [#[ignore = "long: make test-resilience"]]
        ]);
    };
}
