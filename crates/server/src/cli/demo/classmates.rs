//! The students of the demo whom nobody plays: while it runs they are there, write, and do what stands in their script, so
//! that the lesson board lives. They keep out of the groups that the sign-ins on offer belong to, and touch no document
//! that is handed in or locked.

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

/// Groups that visitors act in; their other members are there and watch.
const VISITED: [&str; 2] = ["Rivers", "Volcanoes"];
/// People for visitors.
const VISITORS: [&str; 3] = ["ana@demo.example", "ben@demo.example", "cleo@demo.example"];
/// Of so many, one is not there today.
const ABSENT: usize = 7;
/// A day: a demo that runs longer grows quiet.
const SESSION: i64 = 86_400;
/// The service hears "I write" from one person once in ten seconds.
const BREATH: Duration = Duration::from_secs(11);
/// Before somebody whose channel broke tries again.
const PAUSE: Duration = Duration::from_secs(5);

/// What somebody does once.
enum Act {
    Say(&'static str),
    Ask(&'static str),
    HandIn,
}

/// When, in seconds from the start; which group; which member.
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

/// Lets them arrive; they leave when the answer is dropped.
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

/// One of them.
#[derive(Clone)]
struct Part {
    caller: Caller,
    group: String,
    room: String,
    topic: String,
    writes: bool,
}

impl Part {
    /// Is there as long as the demo runs.
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

    /// Writes for a while, thinks for a while, over and over.
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

    /// The document of the group for the topic, while it may be written in.
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
        // A lesson that is over, or a document that is handed in, ends the script.
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

/// What fails for a classmate is no trouble of anybody's: a visitor may have changed the school under him.
fn quietly(outcome: anyhow::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "a classmate of the demo was hindered");
    }
}

fn between(least: u32, most: u32) -> Duration {
    Duration::from_secs(u64::from(least + clock::lot() % (most - least)))
}
