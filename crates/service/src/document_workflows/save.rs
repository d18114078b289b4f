//! Processes callbacks of the document server. A save is acknowledged only when its bytes are durable and the
//! transaction that refers to them is committed.

use domain::document::UnlockedStatus;
use domain::document_kind::FileExtension;
use domain::file::FileKey;
use domain::from_fields;
use domain::id::RevisionId;
use domain::save::{DocumentKey, Revision};
use sha2::{Digest, Sha256};

use super::DocumentWorkflows;
use super::download::{detect_extension, is_retryable_error, is_rolled_back};
use crate::actions::saves::{self, IncomingSave, ReferencedFiles, StoredBlob};
use crate::actions::session_notices;
use adapters::blob_store::{Staged, hex};
use adapters::onlyoffice::callback::{Callback, SaveCallback};
use adapters::onlyoffice::result_path::ResultPath;
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::saves::SaveNote;
use db::{ReadTx, RequestContext, WriteTx};

/// The reply to a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackReply {
    /// The save was stored; the document server may delete it.
    Accepted,
    /// The document server keeps its file; a retry would not help.
    Rejected,
    /// The document server may retry.
    Retry,
}

impl DocumentWorkflows {
    /// Processes a callback. Continues if the document server disconnects.
    pub async fn handle_callback(&self, key: DocumentKey, text: String, callback: Callback) -> Result<CallbackReply> {
        let workflows = self.clone();
        let handling = tokio::spawn(async move {
            match workflows
                .apply_callback(key.clone(), text.clone(), callback.clone())
                .await
            {
                // The document was deleted, possibly just now.
                Err(Error::NotFound) => workflows.receive_for_deleted(key, text, callback).await,
                answer => answer,
            }
        });
        handling.await.map_err(|error| anyhow::anyhow!(error))?
    }

    async fn apply_callback(&self, key: DocumentKey, text: String, callback: Callback) -> Result<CallbackReply> {
        let generation = key.generation;
        let mut note = SaveNote {
            document_id: key.document,
            document_key: text,
            url_path_hash: String::new(),
        };
        if let Callback::Save(save) = callback {
            note.url_path_hash = identity(&save);
            let (document, asked) = (note.document_id.clone(), note.clone());
            let target = self.read_in_document_tenant(&document, move |tx| save_target(tx, &asked, generation));
            let (context, target) = target.await?;
            return self.apply_save(context, note, generation, save, target).await;
        }
        let context = self.resolve_context(&note.document_id).await?;
        match callback {
            // Saves were processed above.
            Callback::Save(_) | Callback::Other => {}
            Callback::Editing { users, joined, left } => {
                let (tenant, people) = (context.tenant.clone(), users.clone());
                let write = self.transactor.write(context, move |tx| {
                    session_notices::update_editors(tx, &note, generation, &users, (&joined, &left))
                });
                write.await?;
                self.check_editors(tenant, people);
            }
            Callback::Closed => {
                let document = note.document_id;
                self.transactor
                    .write(context, move |tx| session_notices::close(tx, &document, generation))
                    .await?;
            }
            Callback::Failed { partial, nonce } => {
                self.record_failure(context.clone(), note.clone(), generation, nonce)
                    .await?;
                if let Some(result) = partial
                    && let Err(error) = self.store_partial_save(context, note, generation, result).await
                {
                    tracing::warn!(error = format!("{error:?}"), "corrupted document save not stored");
                }
                return Ok(CallbackReply::Rejected);
            }
            Callback::Unusable => {
                tracing::warn!(
                    document.key = note.document_key,
                    "document save rejected: invalid result URL"
                );
                return Ok(CallbackReply::Rejected);
            }
        }
        Ok(CallbackReply::Accepted)
    }

    /// Returns what is known about a save before its download. Sets the identity in the note by which a repeat is
    /// recognized.
    pub(super) async fn read_save_target(
        &self,
        context: &RequestContext,
        note: &mut SaveNote,
        generation: i64,
        save: &SaveCallback,
    ) -> Result<SaveTarget> {
        note.url_path_hash = identity(save);
        let asked = note.clone();
        self.transactor
            .read(context.clone(), move |tx| save_target(tx, &asked, generation))
            .await
    }

    /// Stores a corrupted result as a late revision, for manual recovery.
    async fn store_partial_save(
        &self,
        context: RequestContext,
        mut note: SaveNote,
        generation: i64,
        result: ResultPath,
    ) -> Result<()> {
        let save = SaveCallback::from_result(result);
        let target = self.read_save_target(&context, &mut note, generation, &save).await?;
        self.store_save(context, note, generation, save, target, true).await
    }

    /// Takes a save; if that fails, returns whether a retry may help.
    pub(super) async fn apply_save(
        &self,
        context: RequestContext,
        note: SaveNote,
        generation: i64,
        save: SaveCallback,
        target: SaveTarget,
    ) -> Result<CallbackReply> {
        if save.is_final && save.not_modified {
            let write = self
                .transactor
                .write(context, move |tx| session_notices::close_saved(tx, &note, generation));
            return write.await.map(|()| CallbackReply::Accepted);
        }
        let (last_save, nonce) = (save.last_save, save.nonce.clone());
        let kept = self
            .store_save(context.clone(), note.clone(), generation, save, target, false)
            .await;
        let error = match kept {
            Ok(()) => return Ok(CallbackReply::Accepted),
            // Not an error of the save: the document does not exist, or the key is not one of its keys.
            Err(error @ (Error::NotFound | Error::DocumentServerTokenMismatch)) => return Err(error),
            Err(error) => error,
        };
        let is_retryable = is_retryable_error(&error);
        tracing::warn!(
            error = format!("{error:?}"),
            document.key = note.document_key,
            is_retryable,
            "document save rejected"
        );
        if is_retryable {
            // The identity stays empty, because it belongs to a callback that brings the bytes.
            let note = SaveNote {
                url_path_hash: String::new(),
                ..note
            };
            self.transactor
                .write(context, move |tx| {
                    session_notices::record_unfetched(tx, &note, last_save)
                })
                .await?;
            Ok(CallbackReply::Retry)
        } else {
            self.record_failure(context, note, generation, nonce).await?;
            Ok(CallbackReply::Rejected)
        }
    }

    async fn record_failure(
        &self,
        context: RequestContext,
        note: SaveNote,
        generation: i64,
        nonce: Option<String>,
    ) -> Result<()> {
        let write = self.transactor.write(context, move |tx| {
            saves::record_failure(tx, &note, generation, nonce.as_deref())
        });
        write.await
    }

    /// Downloads a save, stores its bytes, and applies the rules.
    async fn store_save(
        &self,
        context: RequestContext,
        note: SaveNote,
        generation: i64,
        save: SaveCallback,
        target: SaveTarget,
        is_partial: bool,
    ) -> Result<()> {
        let forgotten_at = save.is_forgotten.then_some(context.now);
        let SaveTarget {
            extension,
            is_handed_in,
            is_taken,
        } = target;
        if is_taken {
            // A repeat: nothing to download, but the session may have to be closed.
            let blob = StoredBlob::none(extension);
            let repeat = incoming_save(note, generation, save, is_partial, blob);
            return self
                .transactor
                .write(context, move |tx| saves::apply(tx, &repeat).map(drop))
                .await;
        }
        let staged = self.download(&save.result).await?;
        failpoint::hit("save.fetched");
        let extension = detect_extension(&staged, extension, save.file_type.as_deref()).await?;
        let incoming = IncomingSave {
            forgotten_at,
            ..incoming_save(note, generation, save, is_partial, StoredBlob::none(extension))
        };
        self.store_revision(context, incoming, staged, is_handed_in, |_| Ok(()))
            .await
    }

    /// Stores the bytes of a save under their final keys and applies the rules. `also` runs in the same transaction.
    pub(super) async fn store_revision(
        &self,
        context: RequestContext,
        mut incoming: IncomingSave,
        staged: Staged,
        is_handed_in: bool,
        also: impl Fn(&mut WriteTx<'_>) -> Result<()> + Clone + Send + 'static,
    ) -> Result<()> {
        let (document, extension) = (incoming.note.document_id.clone(), incoming.blob.extension);
        let revision = RevisionId::new(clock::new_id());
        let key = Revision::file_key(&document, &revision, extension);
        let copy = is_handed_in.then(|| FileKey::new(format!("{document}.{}.{extension}", clock::new_id())));
        incoming.blob = StoredBlob {
            revision,
            extension,
            key: key.clone(),
            size: i64::try_from(staged.size()).unwrap_or(i64::MAX),
            sha256: staged.sha256().to_owned(),
            copy: copy.clone(),
        };
        self.files.commit(staged, &key).await?;
        failpoint::hit("save.kept");
        if let Some(copy) = &copy {
            self.files.copy(&key, copy).await?;
            failpoint::hit("save.copied");
        }
        // The document may have been locked during the download: the transaction uses the present time.
        let context = RequestContext {
            now: clock::now(),
            ..context
        };
        let mut written = self.write_save(context.clone(), incoming.clone(), also.clone()).await;
        if matches!(&written, Ok(referenced) if referenced.needs_copy) {
            // The document was submitted during the download: the submission gets the bytes too.
            let late = FileKey::new(format!("{document}.{}.{extension}", clock::new_id()));
            self.files.copy(&key, &late).await?;
            incoming.blob.copy = Some(late);
            written = self.write_save(context, incoming.clone(), also).await;
        }
        failpoint::hit("save.written");
        let referenced = match &written {
            Ok(referenced) => *referenced,
            Err(error) if is_rolled_back(error) => ReferencedFiles::default(),
            Err(_) => ReferencedFiles {
                revision: true,
                copy: true,
                needs_copy: false,
            },
        };
        if !referenced.revision {
            self.remove_orphan(&key).await;
        }
        if let Some(copy) = incoming.blob.copy.filter(|_| !referenced.copy) {
            self.remove_orphan(&copy).await;
        }
        written.map(drop)
    }

    async fn write_save(
        &self,
        context: RequestContext,
        incoming: IncomingSave,
        also: impl Fn(&mut WriteTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<ReferencedFiles> {
        let act = move |tx: &mut WriteTx<'_>| {
            let referenced = saves::apply(tx, &incoming)?;
            if !referenced.needs_copy {
                also(tx)?;
            }
            Ok(referenced)
        };
        self.transactor.write(context, act).await
    }
}

/// What is known about a save before its download.
#[derive(Debug, Clone, Copy)]
pub(super) struct SaveTarget {
    /// The file type of the document.
    extension: FileExtension,
    /// Whether a copy of the document is submitted, which gets the bytes too.
    is_handed_in: bool,
    /// Whether this callback was processed before.
    is_taken: bool,
}

fn save_target(tx: &mut ReadTx<'_>, note: &SaveNote, generation: i64) -> Result<SaveTarget> {
    let seen = tx.document(&note.document_id)?;
    let document = seen.document();
    if generation > document.generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    Ok(SaveTarget {
        extension: document.file_extension,
        is_handed_in: document.status.open() == UnlockedStatus::Submitted,
        is_taken: tx.is_save_processed(note)?,
    })
}

fn incoming_save(
    note: SaveNote,
    generation: i64,
    save: SaveCallback,
    is_partial: bool,
    blob: StoredBlob,
) -> IncomingSave {
    from_fields!(save => IncomingSave {
        is_final, last_save, author, editors, history, nonce,
        forgotten_at: None,
        is_late: false,
        note: note,
        generation: generation,
        is_partial: is_partial,
        blob: blob,
    })
}

impl StoredBlob {
    /// A placeholder without bytes, for a repeated callback or until the bytes are stored.
    pub(super) fn none(extension: FileExtension) -> Self {
        Self {
            revision: RevisionId::new(""),
            extension,
            key: FileKey::new(""),
            size: 0,
            sha256: String::new(),
            copy: None,
        }
    }
}

/// Returns a hash that a repeated callback shares with the original: of the path and the time of the last change. The
/// query is left out, because it contains an expiry that differs between repeats. The path alone is not unique: its
/// number has four digits and recurs within a long session; a new save would be mistaken for a repeat, acknowledged
/// and lost.
fn identity(save: &SaveCallback) -> String {
    let mut digest = Sha256::new();
    digest.update(save.result.path());
    if let Some(last_save) = save.last_save {
        digest.update(last_save.as_millis().to_be_bytes());
    }
    hex(&digest.finalize())
}
