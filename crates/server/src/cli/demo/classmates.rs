//! Simulated students of the demo: they are online, type, and follow a script, so that the lesson board shows
//! activity. They leave out the groups of the demo's sign-in accounts and documents that are submitted or locked.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::caller::{Caller, Service, id};
use super::channel::Channel;
use super::lesson;
use super::people::School;
use common::clock;

/// Groups reserved for visitors; their simulated members are online, but passive.
const VISITED: [&str; 2] = ["Rivers", "Volcanoes"];
/// The accounts for visitors.
const VISITORS: [&str; 3] = ["ana@demo.example", "ben@demo.example", "cleo@demo.example"];
/// One of this many students is absent.
const ABSENT: usize = 7;
/// The lifetime of the sessions in seconds; a demo that runs for more than a day becomes inactive.
const SESSION: i64 = 86_400;
/// The service accepts one typing report per user in ten seconds.
const BREATH: Duration = Duration::from_secs(11);
/// The delay before a broken connection is reopened.
const PAUSE: Duration = Duration::from_secs(5);

/// A scripted action.
enum Act {
    Say(&'static str),
    Ask(&'static str),
    HandIn,
}

/// The script: seconds after the start, group, index of the member, action.
const SCRIPT: &[(u64, &str, usize, Act)] = &[
    (20, "Islands", 0, Act::Say("Only the sources are missing.")),
    (45, "Glaciers", 1, Act::Say("I take the valleys then.")),
    (70, "Plains", 1, Act::Say("She sent it back: we need sources.")),
    (95, "Glaciers", 2, Act::Ask("Is a glacier a river or a rock?")),
    (130, "Islands", 1, Act::Say("Found one: the atlas, page 30.")),
    (160, "Deserts", 0, Act::Say("The map opens now!")),
    (200, "Islands", 0, Act::HandIn),
    (260, "Plains", 0, Act::Say("Who has the school book?")),
    (330, "Plains", 1, Act::Say("Page 60, and the one about the pampas.")),
    (420, "Deserts", 2, Act::Ask("Where do we find how much it rains?")),
    (560, "Glaciers", 2, Act::Say("Done with the moraines.")),
    (700, "Plains", 0, Act::HandIn),
    (1_000, "Glaciers", 1, Act::HandIn),
];

/// Starts the simulated students; they stop when the returned set is dropped.
pub async fn arrive(service: &Service, school: &School) -> anyhow::Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    let ada = service
        .enter(&school.ada, &school.organization, lesson::A_WHILE)
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
            let Some(place) = known.filter(|place| !is_away(*place, school)) else {
                continue;
            };
            let caller = service
                .enter(&school.seven_b[place], &school.organization, SESSION)
                .await?;
            let part = Part {
                caller,
                group: id(group).to_owned(),
                room: room.to_owned(),
                topic: id(&topic).to_owned(),
                writes: !VISITED.contains(&name),
            };
            let script = SCRIPT.iter().filter(|(_, of, who, _)| *of == name && *who == index);
            for (seconds, _, _, act) in script {
                let part = part.clone();
                tasks.spawn(async move {
                    sleep(Duration::from_secs(*seconds)).await;
                    quietly(part.act(act).await);
                });
            }
            tasks.spawn(part.attend());
        }
    }
    Ok(tasks)
}

fn is_away(place: usize, school: &School) -> bool {
    place % ABSENT == ABSENT - 1 || VISITORS.contains(&school.seven_b[place].email.as_str())
}

/// One simulated student.
#[derive(Clone)]
struct Part {
    caller: Caller,
    group: String,
    room: String,
    topic: String,
    writes: bool,
}

impl Part {
    /// Stays online while the demo runs.
    async fn attend(self) {
        loop {
            quietly(self.stay().await);
            sleep(PAUSE).await;
        }
    }

    async fn stay(&self) -> anyhow::Result<()> {
        let channel = Channel::open(self.caller.clone()).await?;
        tokio::select! {
            gone = channel.stay() => gone,
            stuck = self.write(&channel), if self.writes => stuck,
        }
    }

    /// Alternates between typing and pauses.
    async fn write(&self, channel: &Channel) -> anyhow::Result<()> {
        loop {
            sleep(between(1, 40)).await;
            if let Some(document) = self.document().await? {
                for _ in 0..between(3, 12).as_secs() {
                    channel.writing(&document).await?;
                    sleep(BREATH).await;
                }
            }
            sleep(between(20, 200)).await;
        }
    }

    /// Returns the group's document for the topic, if it can be edited.
    async fn document(&self) -> anyhow::Result<Option<String>> {
        let documents = self.caller.get(&format!("/workrooms/{}/documents", self.room)).await?;
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

    async fn act(&self, act: &Act) -> anyhow::Result<()> {
        // The script ends when the lesson is over or the document is submitted.
        let Some(document) = self.document().await? else {
            return Ok(());
        };
        match act {
            Act::Say(content) => {
                let path = format!("/workrooms/{}/messages", self.room);
                self.caller.post(&path, json!({"content": content})).await?;
            }
            Act::Ask(message) => {
                let path = format!("/groups/{}", self.group);
                if self.caller.get(&path).await?["needsHelp"] == false {
                    self.caller
                        .post(&format!("{path}/help"), json!({"message": message}))
                        .await?;
                }
            }
            Act::HandIn => {
                let path = format!("/workrooms/documents/{document}/submit");
                self.caller.post(&path, json!({"assignmentId": self.topic})).await?;
            }
        }
        Ok(())
    }
}

/// Ignores failures of simulated students: a visitor may have changed the school.
fn quietly(outcome: anyhow::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "simulated student failed");
    }
}

fn between(least: u32, most: u32) -> Duration {
    Duration::from_secs(u64::from(least + clock::random_seed() % (most - least)))
}
