//! Who wrote which part of a document of the built-in editor: the authorship of its log, replayed from the newest
//! snapshot. See docs/built-in-editor.md#authorship.

use std::collections::BTreeMap;

use domain::document_log::{DocumentCommit, DocumentLog};
use domain::id::{DocumentId, UserId};
use rich_text::{AuthoredText, Authorship, Node, Step};
use serde_json::Value;

use common::error::Result;
use db::document_log::DocumentSnapshot;
use db::{ReadTx, WriteTx};

/// A document with its authors.
#[derive(Debug, Clone)]
pub struct AuthoredContent {
    pub content: Node,
    pub authorship: Authorship,
}

impl AuthoredContent {
    /// Reads a snapshot. Content of which no authorship was stored has no known author.
    fn from_snapshot(snapshot: &DocumentSnapshot) -> Result<Self> {
        let json: Value = serde_json::from_str(&snapshot.content)?;
        let content = Node::document_from_json(&json).map_err(|error| anyhow::anyhow!("stored document: {error}"))?;
        let stored = snapshot.authorship.as_deref().map(Authorship::from_json);
        let authorship = match stored {
            Some(Ok(authorship)) if authorship.size() == content.content_size() => authorship,
            Some(invalid) => {
                let error = invalid.err().map(|error| error.to_string());
                tracing::warn!(error, "stored authorship does not fit its document");
                Authorship::unknown(&content)
            }
            None => Authorship::unknown(&content),
        };
        Ok(Self { content, authorship })
    }

    /// Applies a commit. After an error the value is not usable.
    fn apply(&mut self, commit: &DocumentCommit) -> Result<()> {
        for step in &commit.steps {
            let applied = Step::from_json(step).and_then(|step| {
                self.authorship.apply(&step, &self.content, commit.author_id.as_str())?;
                step.apply(&self.content)
            });
            self.content = applied.map_err(|error| anyhow::anyhow!("stored step does not apply: {error}"))?;
        }
        Ok(())
    }

    /// Returns the text with its authors.
    pub fn text(&self) -> AuthoredText {
        self.authorship.text_of(&self.content)
    }
}

/// Returns the content of a log at its head with its authors.
pub fn of_log(tx: &mut ReadTx<'_>, log: &DocumentLog) -> Result<AuthoredContent> {
    let snapshot = tx.authored_snapshot(log)?;
    let mut authored = AuthoredContent::from_snapshot(&snapshot)?;
    for commit in tx.commits_since(&log.document_id, log.generation, snapshot.version, i64::MAX)? {
        authored.apply(&commit)?;
    }
    Ok(authored)
}

/// Returns the authorship of a log after a new commit, for a snapshot. `None` if the former snapshot has none: to replay
/// the whole log would delay other commits.
pub fn of_snapshot(tx: &mut ReadTx<'_>, log: &DocumentLog, commit: &DocumentCommit) -> Result<Option<Authorship>> {
    let snapshot = tx.authored_snapshot(log)?;
    if snapshot.authorship.is_none() || snapshot.version != log.snapshot_version {
        return Ok(None);
    }
    let mut authored = AuthoredContent::from_snapshot(&snapshot)?;
    let commits = tx.commits_since(&log.document_id, log.generation, snapshot.version, i64::MAX)?;
    for commit in commits.iter().chain([commit]) {
        authored.apply(commit)?;
    }
    Ok(Some(authored.authorship))
}

/// Returns the authorship of a content that was written and read again as a file: texts of the former content keep their
/// authors.
pub fn inherited(former: Option<&AuthoredContent>, content: &Node) -> Authorship {
    former.map_or_else(
        || Authorship::unknown(content),
        |former| Authorship::matched(&former.authorship, &former.content, content),
    )
}

/// Returns the newest content of a document that was edited in the built-in editor before a generation.
pub fn before_generation(
    tx: &mut ReadTx<'_>,
    document: &DocumentId,
    generation: i64,
) -> Result<Option<AuthoredContent>> {
    let Some(former) = tx.latest_log(document)?.filter(|former| *former < generation) else {
        return Ok(None);
    };
    let log = tx.document_log(document, former)?;
    log.map(|log| of_log(tx, &log)).transpose()
}

/// Records for the contributions how many characters each author has in a text.
pub fn record_characters(tx: &mut WriteTx<'_>, document: &DocumentId, text: &AuthoredText) -> Result<()> {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let counts = text.characters();
    let total = counts.values().map(|count| number(*count)).sum();
    let known = counts
        .into_iter()
        .filter_map(|(author, count)| Some((UserId::new(author?), number(count))));
    let by_author: BTreeMap<UserId, i64> = known.collect();
    tx.record_characters(document, total, &by_author)
}
