//! How a simulated student writes: a page of the built-in editor that appends words to a document, with the same commits
//! as the web client.

use anyhow::Context as _;
use rich_text::{Node, Step};
use serde_json::{Value, json};

use super::api_client::ApiClient;
use common::clock;

/// The size of a document above which students only correct, so that a demo of many hours stays readable.
const SIZE_MAX: usize = 6_000;
/// What the students write, one sentence at a time.
const SENTENCES: &[&str] = &[
    "Water and wind shape the land.",
    "It takes thousands of years.",
    "The map shows where the valleys begin.",
    "We found three sources in the library.",
    "The photo on page 30 shows it well.",
    "People settled where the soil was good.",
    "In summer the river is only a stream.",
    "We still have to explain the word erosion.",
];

/// An open document of a student.
pub(super) struct StudentPage {
    client: ApiClient,
    document: String,
    generation: i64,
    version: i64,
    content: Node,
    id: String,
    sent: u32,
}

impl StudentPage {
    /// Opens a document; `None` if it cannot be edited.
    pub(super) async fn open(client: &ApiClient, document: &str) -> anyhow::Result<Option<Self>> {
        let opened = client.get(&format!("/workrooms/documents/{document}/content")).await?;
        if opened["canEdit"] != true {
            return Ok(None);
        }
        Ok(Some(Self {
            client: client.clone(),
            document: document.to_owned(),
            generation: opened["generation"].as_i64().context("generation")?,
            version: opened["version"].as_i64().context("version")?,
            content: Node::document_from_json(&opened["doc"])?,
            id: clock::new_id(),
            sent: 0,
        }))
    }

    pub(super) fn document(&self) -> &str {
        &self.document
    }

    /// The message that joins the room of the document.
    pub(super) fn joining(&self) -> Value {
        json!({"documentId": self.document, "generation": self.generation, "clientId": self.id})
    }

    /// The message that shows the cursor at the end of the document.
    pub(super) fn cursor(&self) -> Value {
        let end = self.end();
        json!({"documentId": self.document, "generation": self.generation, "clientId": self.id,
            "version": self.version, "anchor": end, "head": end})
    }

    /// Returns a sentence to write, word by word.
    pub(super) fn words() -> Vec<String> {
        let at = clock::random_seed() as usize % SENTENCES.len();
        SENTENCES[at].split(' ').map(|word| format!("{word} ")).collect()
    }

    /// Appends a word to the last paragraph. Returns false when the page has to be opened again.
    pub(super) async fn append(&mut self, word: &str) -> anyhow::Result<bool> {
        let Some(end) = self.end() else { return Ok(false) };
        if self.content.content_size() > SIZE_MAX {
            return Ok(true);
        }
        let slice = json!({"content": [{"type": "text", "text": word}]});
        let steps = json!([{"stepType": "replace", "from": end, "to": end, "slice": slice}]);
        self.commit(steps).await
    }

    /// Begins a new paragraph.
    pub(super) async fn break_line(&mut self) -> anyhow::Result<bool> {
        let end = self.content.content_size();
        let slice = json!({"content": [{"type": "paragraph"}]});
        let steps = json!([{"stepType": "replace", "from": end, "to": end, "slice": slice}]);
        self.commit(steps).await
    }

    async fn commit(&mut self, steps: Value) -> anyhow::Result<bool> {
        self.sent += 1;
        let body = json!({
            "generation": self.generation, "ref": format!("{}-{}", self.id, self.sent), "clientId": self.id,
            "version": self.version, "steps": steps,
        });
        let path = format!("/workrooms/documents/{}/commits", self.document);
        let reply = self.client.post(&path, body).await?;
        let Some(commits) = reply["commits"].as_array() else {
            return Ok(false);
        };
        for step in commits
            .iter()
            .flat_map(|commit| commit["steps"].as_array().into_iter().flatten())
        {
            self.content = Step::from_json(step)?.apply(&self.content)?;
        }
        self.version = reply["version"].as_i64().context("version")?;
        Ok(true)
    }

    /// The position at the end of the last paragraph; `None` if the document ends with something else.
    fn end(&self) -> Option<usize> {
        let last = self.content.children().last()?;
        (last.node_type().name() == "paragraph").then(|| self.content.content_size() - 1)
    }
}
