//! Turns late commits into late revisions: the text that a user's page sent after the generation had ended, applied to
//! the last content of that generation, under the user's name.

use std::collections::BTreeMap;

use domain::document_image::DocumentImage;
use domain::document_kind::FileExtension;
use domain::id::{DocumentId, UserId};
use domain::save::{DocumentKey, History, HistoryChange};
use rich_text::{Node, Step, rebase};
use serde_json::{Value, json};

use super::log_save::{identity, original, report};
use super::{DocumentWorkflows, context as service_context};
use crate::actions::commits::{self, parse_steps, parse_stored};
use crate::actions::saves::{IncomingSave, StoredBlob};
use common::error::{Error, Result};
use db::document_log::LateCommit;
use db::documents::CurrentFile;
use db::saves::SaveNote;
use db::{ReadTx, RequestContext};

/// The text of one author after the end of a generation.
struct AuthorLateText {
    /// The last of its commits.
    last: LateCommit,
    content: Node,
    original: CurrentFile,
    images: Vec<DocumentImage>,
}

impl DocumentWorkflows {
    /// Saves late commits of a document in the background. The periodic check saves what an interruption leaves.
    pub(super) fn save_late_soon(&self, context: &RequestContext, document: &DocumentId) {
        let (workflows, context, id) = (self.clone(), context.clone(), document.clone());
        tokio::spawn(async move { report(&id, workflows.save_late_commits(&context, &id).await) });
    }

    /// Stores the late commits of a document, one revision for each author and generation.
    pub(super) async fn save_late_commits(&self, context: &RequestContext, document: &DocumentId) -> Result<()> {
        let (context, id) = (service_context(context.tenant.clone()), document.clone());
        let look = self.transactor.read(context.clone(), move |tx| late_texts(tx, &id));
        for late in look.await? {
            let AuthorLateText {
                last,
                content,
                original,
                images,
            } = late;
            let staged = self.write_word_file(&original, content, images).await?;
            let key = DocumentKey {
                document: document.clone(),
                generation: last.generation,
            };
            let change = HistoryChange {
                at: Some(last.received_at),
                user_id: last.author_id.clone(),
            };
            let identity = format!("late {}", last.author_id);
            let incoming = IncomingSave {
                forgotten_at: None,
                is_late: true,
                note: SaveNote {
                    document_id: document.clone(),
                    document_key: self.server.key(&key),
                    url_path_hash: self::identity(&identity, last.generation, last.received_at.as_millis()),
                },
                generation: last.generation,
                is_final: false,
                last_save: Some(last.received_at),
                author: Some(last.author_id.clone()),
                editors: vec![last.author_id.clone()],
                history: History::bounded(None, std::iter::once(change)),
                nonce: None,
                is_partial: false,
                blob: StoredBlob::none(FileExtension::Docx),
            };
            let id = document.clone();
            self.store_revision(context.clone(), incoming, staged, false, move |tx| {
                tx.record_late_saved(&id, &last)
            })
            .await?;
        }
        Ok(())
    }
}

/// Applies the late commits of each author to the last content of their generation. The commits of a page build on each
/// other; those of different pages are mapped over each other.
fn late_texts(tx: &mut ReadTx<'_>, id: &DocumentId) -> Result<Vec<AuthorLateText>> {
    tx.document(id)?;
    let mut by_author: BTreeMap<(i64, UserId), Vec<LateCommit>> = BTreeMap::new();
    for late in tx.unsaved_late_commits(id)? {
        let key = (late.generation, late.author_id.clone());
        by_author.entry(key).or_default().push(late);
    }
    let mut texts = Vec::new();
    for ((generation, _), late_commits) in by_author {
        let log = tx.document_log(id, generation)?.ok_or(Error::NotFound)?;
        let mut content = commits::content(tx, &log)?;
        let mut applied = Vec::new();
        let mut by_page: Vec<((&str, i64), Vec<Value>)> = Vec::new();
        for late in &late_commits {
            let key = (late.client_id.as_str(), late.version);
            match by_page.iter_mut().find(|(known, _)| *known == key) {
                Some((_, steps)) => steps.extend(late.steps.iter().cloned()),
                None => by_page.push((key, late.steps.clone())),
            }
        }
        let mut misplaced = Vec::new();
        for ((_, version), steps) in by_page {
            let mut over = parse_stored(&tx.commits_since(id, generation, version, i64::MAX)?)?;
            over.extend(applied.iter().cloned());
            let rebased = rebase(&parse_steps(&steps)?, &over, &content);
            misplaced.extend(
                rebased
                    .dropped
                    .iter()
                    .map(|index| inserted_text(&steps[*index]["slice"])),
            );
            content = rebased.document;
            applied.extend(rebased.steps);
        }
        content = append(content, misplaced)?;
        if let Some(last) = late_commits.last().cloned() {
            let original = original(tx, &log)?;
            texts.push(AuthorLateText {
                last,
                content,
                original,
                images: tx.document_images(id)?,
            });
        }
    }
    Ok(texts)
}

/// Returns the text that a step inserts, from its slice.
fn inserted_text(node: &Value) -> String {
    let own = node["text"].as_str().unwrap_or_default();
    let children = node["content"].as_array().into_iter().flatten();
    children.fold(own.to_owned(), |text, child| text + &inserted_text(child))
}

/// Appends texts whose place is gone as paragraphs.
fn append(content: Node, texts: Vec<String>) -> Result<Node> {
    let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
    let paragraphs: Vec<Value> = texts
        .map(|text| json!({"type": "paragraph", "content": [{"type": "text", "text": text}]}))
        .collect();
    if paragraphs.is_empty() {
        return Ok(content);
    }
    let end = content.content_size();
    let step = json!({"stepType": "replace", "from": end, "to": end, "slice": {"content": paragraphs}});
    let step = Step::from_json(&step).and_then(|step| step.apply(&content));
    step.map_err(|error| anyhow::anyhow!("late text could not be appended: {error}").into())
}
