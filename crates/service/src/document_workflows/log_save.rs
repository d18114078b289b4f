//! Writes the changes of the built-in editor into a file, as a revision of the document. The rules of saves apply as to
//! the saves of a document server; only the bytes come from the log instead of a download.

use domain::document::UnlockedStatus;
use domain::document_image::DocumentImage;
use domain::document_kind::FileExtension;
use domain::document_log::DocumentLog;
use domain::id::{AssignmentId, DocumentId, UserId};
use domain::save::{DocumentKey, History, HistoryChange};
use domain::time::Timestamp;
use rich_text::{AuthoredText, Node};
use sha2::{Digest, Sha256};

use super::{DocumentWorkflows, context as service_context};
use crate::actions::authorship;
use crate::actions::saves::{IncomingSave, StoredBlob};
use adapters::blob_store::hex;
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::documents::CurrentFile;
use db::platform::CrossTenantReason;
use db::saves::SaveNote;
use db::{ReadTx, RequestContext};

/// A log is written after this time without a commit, in seconds.
const QUIET_SECONDS: i64 = 120;
/// A log is written at the latest after this time, in seconds.
const UNSAVED_SECONDS_MAX: i64 = 600;

/// What a save of a log needs.
struct LogState {
    log: DocumentLog,
    content: Node,
    /// The text with its authors.
    text: AuthoredText,
    original: CurrentFile,
    /// The pictures that were added in the editor.
    images: Vec<DocumentImage>,
    extension: FileExtension,
    is_handed_in: bool,
    /// The authors since the last save, the latest last.
    authors: Vec<(UserId, Timestamp)>,
}

impl DocumentWorkflows {
    /// Writes the unsaved changes of a document into revisions, so that its file is current. Returns whether there were
    /// any.
    pub async fn save_changes(&self, context: &RequestContext, document: &DocumentId) -> Result<bool> {
        let (context, id) = (service_context(context.tenant.clone()), document.clone());
        let unsaved = self
            .transactor
            .read(context.clone(), move |tx| tx.unsaved_generations(&id));
        let unsaved = unsaved.await?;
        for generation in &unsaved {
            self.save_log(context.clone(), document, *generation, None).await?;
        }
        Ok(!unsaved.is_empty())
    }

    /// Writes the unsaved changes of all documents of a topic.
    pub async fn save_topic_changes(&self, context: &RequestContext, topic: &AssignmentId) -> Result<()> {
        let id = topic.clone();
        let unsaved = self
            .transactor
            .read(context.clone(), move |tx| tx.unsaved_documents_of_topic(&id));
        for document in unsaved.await? {
            report(&document, self.save_changes(context, &document).await.map(drop));
        }
        Ok(())
    }

    /// Writes one log into a revision, unless a revision contains it. `nonce` marks the save of a freeze.
    pub(super) async fn save_log(
        &self,
        context: RequestContext,
        document: &DocumentId,
        generation: i64,
        nonce: Option<String>,
    ) -> Result<()> {
        let id = document.clone();
        let look = self
            .transactor
            .read(context.clone(), move |tx| log_state(tx, &id, generation));
        let Some(state) = look.await? else {
            return Ok(());
        };
        let staged = self
            .write_word_file(&state.original, state.content, state.images)
            .await?;
        failpoint::hit("commits.log_written");
        let key = DocumentKey {
            document: document.clone(),
            generation,
        };
        let changes = state.authors.iter().map(|(user, at)| HistoryChange {
            at: Some(*at),
            user_id: user.clone(),
        });
        let incoming = IncomingSave {
            forgotten_at: None,
            is_late: false,
            note: SaveNote {
                document_id: document.clone(),
                document_key: self.server.key(&key),
                url_path_hash: identity("log", generation, state.log.version),
            },
            generation,
            is_final: false,
            last_save: state.log.last_commit_at,
            author: state.authors.last().map(|(user, _)| user.clone()),
            editors: state.authors.iter().map(|(user, _)| user.clone()).collect(),
            history: History::bounded(None, changes),
            nonce,
            is_partial: false,
            blob: StoredBlob::none(state.extension),
        };
        let (id, version, text) = (document.clone(), state.log.version, state.text);
        let (sha256, authors) = (staged.sha256().to_owned(), serde_json::to_string(&text)?);
        self.store_revision(context, incoming, staged, state.is_handed_in, move |tx| {
            authorship::record_characters(tx, &id, &text)?;
            tx.set_current_authorship(&id, &sha256, &authors)?;
            tx.record_saved_version(&id, generation, version)
        })
        .await
    }

    /// Writes the log of a frozen document. From now on, commits of its generation are late, so that a commit is either
    /// in the file or kept as late.
    pub(super) async fn close_log(
        &self,
        context: RequestContext,
        document: &DocumentId,
        generation: i64,
        nonce: &str,
    ) -> Result<()> {
        let id = document.clone();
        let close = self.transactor.write(context.clone(), move |tx| {
            tx.lock_writable_document(&id)?;
            tx.close_document_log(&id, generation)
        });
        close.await?;
        self.save_log(context, document, generation, Some(nonce.to_owned()))
            .await
    }

    /// Returns whether a generation was edited in the built-in editor.
    pub(super) async fn has_log(&self, context: RequestContext, id: &DocumentId, generation: i64) -> Result<bool> {
        let id = id.clone();
        let look = self
            .transactor
            .read(context, move |tx| tx.document_log(&id, generation));
        Ok(look.await?.is_some())
    }

    /// Writes the logs that have been quiet or unsaved for long, and late commits that were left by an interruption.
    /// Instances may do the same work; the identity of a save makes the second one a repetition.
    pub async fn save_due_logs(&self) -> Result<()> {
        let now = clock::now();
        let (quiet, oldest) = (now.plus_seconds(-QUIET_SECONDS), now.plus_seconds(-UNSAVED_SECONDS_MAX));
        let due = self
            .transactor
            .platform_read(CrossTenantReason::Housekeeping, move |platform| {
                Ok((
                    platform.unsaved_logs(quiet, oldest)?,
                    platform.unsaved_late_commits(now.plus_seconds(-60))?,
                ))
            });
        let (logs, late) = due.await?;
        for (tenant, document) in logs {
            let context = service_context(tenant);
            report(&document, self.save_changes(&context, &document).await.map(drop));
        }
        for (tenant, document) in late {
            let context = service_context(tenant);
            report(&document, self.save_late_commits(&context, &document).await);
        }
        Ok(())
    }
}

/// Reads what a save needs; `None` if a revision contains everything.
fn log_state(tx: &mut ReadTx<'_>, id: &DocumentId, generation: i64) -> Result<Option<LogState>> {
    let seen = tx.document(id)?;
    let Some(log) = tx
        .document_log(id, generation)?
        .filter(|log| log.unsaved_since.is_some())
    else {
        return Ok(None);
    };
    let (authored, original) = (authorship::of_log(tx, &log)?, original(tx, &log)?);
    let authors = tx.authors_since(id, generation, log.saved_version)?;
    Ok(Some(LogState {
        log,
        text: authored.text(),
        content: authored.content,
        original,
        images: tx.document_images(id)?,
        extension: FileExtension::Docx,
        is_handed_in: seen.document().status.open() == UnlockedStatus::Submitted,
        authors,
    }))
}

/// Returns the file with which a generation began.
pub(super) fn original(tx: &mut ReadTx<'_>, log: &DocumentLog) -> Result<CurrentFile> {
    Ok(match &log.base_revision_id {
        Some(revision) => CurrentFile::Revision(Box::new(tx.revision_by_id(&log.document_id, revision)?)),
        None => CurrentFile::Blank(FileExtension::Docx),
    })
}

/// Returns the identity of a save, by which a repetition is recognized.
pub(super) fn identity(kind: &str, generation: i64, version: i64) -> String {
    hex(&Sha256::digest(format!("{kind} {generation} {version}").as_bytes()))
}

pub(super) fn report(document: &DocumentId, saved: Result<()>) {
    match saved {
        // The document was deleted in the meantime.
        Ok(()) | Err(Error::NotFound) => {}
        Err(error) => {
            tracing::warn!(error = format!("{error:?}"), document.id = %document, "saving a document of the built-in editor failed");
        }
    }
}
