//! Simulated students of the demo: they are online, type, and follow a script, so that the lesson board shows
//! activity. They leave out the groups of the demo's sign-in accounts and documents that are submitted or locked.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use self::ScriptedAction::{RequestHelp, SendMessage, Submit};
use super::api_client::{ApiClient, ClientFactory, id};
use super::lesson;
use super::people::School;
use super::socket_client::SocketClient;
use super::writing::StudentPage;
use common::clock;

/// Groups reserved for visitors; their simulated members are online, but passive.
const QUIET_GROUPS: [&str; 2] = ["Rivers", "Volcanoes"];
/// The accounts for visitors.
const SIGN_IN_STUDENTS: [&str; 3] = ["ana@demo.example", "ben@demo.example", "cleo@demo.example"];
/// One of this many students is absent.
const ABSENT_EVERY: usize = 7;
/// The lifetime of the sessions in seconds; a demo that runs for more than a day becomes inactive.
const STUDENT_SESSION_SECONDS: i64 = 86_400;
/// The service accepts one typing report per user in ten seconds.
const ACTIVITY_INTERVAL: Duration = Duration::from_secs(11);
/// The delay before a broken connection is reopened.
const RECONNECT_DELAY: Duration = Duration::from_secs(5);

/// A scripted action.
enum ScriptedAction {
    SendMessage(&'static str),
    RequestHelp(&'static str),
    Submit,
}

/// The script: seconds after the start, group, index of the member, action.
const SCRIPT: &[(u64, &str, usize, ScriptedAction)] = &[
    (20, "Islands", 0, SendMessage("Only the sources are missing.")),
    (45, "Glaciers", 1, SendMessage("I take the valleys then.")),
    (70, "Plains", 1, SendMessage("She sent it back: we need sources.")),
    (95, "Glaciers", 2, RequestHelp("Is a glacier a river or a rock?")),
    (130, "Islands", 1, SendMessage("Found one: the atlas, page 30.")),
    (160, "Deserts", 0, SendMessage("The map opens now!")),
    (200, "Islands", 0, Submit),
    (260, "Plains", 0, SendMessage("Who has the school book?")),
    (330, "Plains", 1, SendMessage("Page 60, and the one about the pampas.")),
    (420, "Deserts", 2, RequestHelp("Where do we find how much it rains?")),
    (560, "Glaciers", 2, SendMessage("Done with the moraines.")),
    (700, "Plains", 0, Submit),
    (1_000, "Glaciers", 1, Submit),
];

/// Starts the simulated students; they stop when the returned set is dropped.
pub async fn start(clients: &ClientFactory, school: &School, has_builtin_editor: bool) -> anyhow::Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    let ada = clients
        .sign_in(&school.ada, &school.organization, lesson::SESSION_SECONDS)
        .await?;
    let Some(topic) = lesson::find(&ada).await? else {
        return Ok(tasks);
    };
    let groups = ada.get(&format!("/groups?assignmentId={}", id(&topic))).await?;
    for group in groups.as_array().context("groups")? {
        let name = group["name"].as_str().unwrap_or_default();
        let room = group["workRoomId"].as_str().unwrap_or_default();
        let members = group["members"].as_array().context("members")?;
        for (index, member) in members.iter().enumerate() {
            let known = school
                .seven_b
                .iter()
                .position(|one| member["userId"] == one.id.as_str());
            let Some(index_in_class) = known.filter(|index_in_class| !is_absent(*index_in_class, school)) else {
                continue;
            };
            let client = clients
                .sign_in(
                    &school.seven_b[index_in_class],
                    &school.organization,
                    STUDENT_SESSION_SECONDS,
                )
                .await?;
            let student = SimulatedStudent {
                client,
                group: id(group).to_owned(),
                room: room.to_owned(),
                topic: id(&topic).to_owned(),
                writes: !QUIET_GROUPS.contains(&name),
                has_builtin_editor,
            };
            let script = SCRIPT.iter().filter(|(_, of, who, _)| *of == name && *who == index);
            for (seconds, _, _, action) in script {
                let student = student.clone();
                tasks.spawn(async move {
                    sleep(Duration::from_secs(*seconds)).await;
                    log_failure(student.action(action).await);
                });
            }
            tasks.spawn(student.run());
        }
    }
    Ok(tasks)
}

fn is_absent(index_in_class: usize, school: &School) -> bool {
    index_in_class % ABSENT_EVERY == ABSENT_EVERY - 1
        || SIGN_IN_STUDENTS.contains(&school.seven_b[index_in_class].email.as_str())
}

/// One simulated student.
#[derive(Clone)]
struct SimulatedStudent {
    client: ApiClient,
    group: String,
    room: String,
    topic: String,
    writes: bool,
    /// Whether text documents open in the built-in editor.
    has_builtin_editor: bool,
}

impl SimulatedStudent {
    /// Stays online while the demo runs.
    async fn run(self) {
        loop {
            log_failure(self.stay_connected().await);
            sleep(RECONNECT_DELAY).await;
        }
    }

    async fn stay_connected(&self) -> anyhow::Result<()> {
        let socket = SocketClient::open(self.client.clone()).await?;
        tokio::select! {
            closed = socket.poll() => closed,
            failed = self.write(&socket), if self.writes => failed,
        }
    }

    /// Alternates between typing and pauses.
    async fn write(&self, socket: &SocketClient) -> anyhow::Result<()> {
        loop {
            sleep(random_between(1, 40)).await;
            if let Some(document) = self.document().await? {
                if self.has_builtin_editor {
                    self.write_sentences(socket, &document).await?;
                } else {
                    for _ in 0..random_between(3, 12).as_secs() {
                        socket.send_activity(&document).await?;
                        sleep(ACTIVITY_INTERVAL).await;
                    }
                }
            }
            sleep(random_between(20, 200)).await;
        }
    }

    /// Writes a few sentences in the built-in editor, as long as the document can be edited.
    async fn write_sentences(&self, socket: &SocketClient, document: &str) -> anyhow::Result<()> {
        let Some(mut page) = StudentPage::open(&self.client, document).await? else {
            return Ok(());
        };
        socket.emit("document:open", page.joining()).await?;
        for _ in 0..random_between(1, 4).as_secs() {
            socket.send_activity(page.document()).await?;
            if !page.break_line().await? {
                return Ok(());
            }
            for word in StudentPage::words() {
                if !page.append(&word).await? {
                    return Ok(());
                }
                socket.emit("document:move", page.cursor()).await?;
                sleep(Duration::from_millis(u64::from(300 + clock::random_seed() % 900))).await;
            }
            sleep(ACTIVITY_INTERVAL).await;
        }
        socket.emit("document:close", page.joining()).await
    }

    /// Returns the group's document for the topic, if it can be edited.
    async fn document(&self) -> anyhow::Result<Option<String>> {
        let documents = self.client.get(&format!("/workrooms/{}/documents", self.room)).await?;
        let is_ours = |document: &&Value| {
            document["assignmentId"] == self.topic.as_str()
                && document["status"] == "DRAFT"
                && document["canEdit"] == true
        };
        let found = documents
            .as_array()
            .and_then(|documents| documents.iter().find(is_ours));
        Ok(found.map(|document| id(document).to_owned()))
    }

    async fn action(&self, action: &ScriptedAction) -> anyhow::Result<()> {
        // The script ends when the lesson is over or the document is submitted.
        let Some(document) = self.document().await? else {
            return Ok(());
        };
        match action {
            SendMessage(content) => {
                let path = format!("/workrooms/{}/messages", self.room);
                self.client.post(&path, json!({"content": content})).await?;
            }
            RequestHelp(message) => {
                let path = format!("/groups/{}", self.group);
                if self.client.get(&path).await?["needsHelp"] == false {
                    self.client
                        .post(&format!("{path}/help"), json!({"message": message}))
                        .await?;
                }
            }
            Submit => {
                let path = format!("/workrooms/documents/{document}/submit");
                self.client.post(&path, json!({"assignmentId": self.topic})).await?;
            }
        }
        Ok(())
    }
}

/// Ignores failures of simulated students: a visitor may have changed the school.
fn log_failure(outcome: anyhow::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "simulated student failed");
    }
}

fn random_between(least: u32, most: u32) -> Duration {
    Duration::from_secs(u64::from(least + clock::random_seed() % (most - least)))
}
