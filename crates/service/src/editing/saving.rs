//! Processes callbacks of the document server. A save is acknowledged only when its bytes are durable and the
//! transaction that refers to them is committed.

use model::document::Open;
use model::document_kind::FileExtension;
use model::file::FileKey;
use model::id::RevisionId;
use model::save::{DocumentKey, Revision};
use sha2::{Digest, Sha256};

use super::Editing;
use super::fetching::{kind_of, may_pass, surely_not_written};
use crate::actions::saves::{self, Arrived, KeptBytes, Named};
use crate::actions::session_notices;
use adapters::blob_store::hex;
use adapters::onlyoffice::callback::{Callback, SaveCallback};
use adapters::onlyoffice::result_path::ResultPath;
use common::clock;
use common::error::{Error, Result};
use common::failpoint;
use db::saves::SaveNote;
use db::{Scope, Standpoint};

/// The reply to a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The save was stored; the document server may delete it.
    Taken,
    /// The document server keeps its file; a retry would not help.
    Refused,
    /// The document server may retry.
    TryAgain,
}

impl Editing {
    /// Processes a callback. Continues if the document server disconnects.
    pub async fn notice(&self, key: DocumentKey, text: String, notice: Callback) -> Result<Answer> {
        let editing = self.clone();
        let taking = tokio::spawn(async move {
            match editing.take(key.clone(), text.clone(), notice.clone()).await {
                // The document was deleted, possibly just now.
                Err(Error::NotFound) => editing.receive_for_deleted(key, text, notice).await,
                answer => answer,
            }
        });
        taking.await.map_err(|error| anyhow::anyhow!(error))?
    }

    async fn take(&self, key: DocumentKey, text: String, notice: Callback) -> Result<Answer> {
        let generation = key.generation;
        let mut note = SaveNote {
            document_id: key.document,
            document_key: text,
            url_path_hash: String::new(),
        };
        if let Callback::Save(save) = notice {
            note.url_path_hash = identity(&save);
            let (document, asked) = (note.document_id.clone(), note.clone());
            let known = self.read_at_home(&document, move |scope| known(scope, &asked, generation));
            let (standpoint, known) = known.await?;
            return self.take_save(standpoint, note, generation, save, known).await;
        }
        let standpoint = self.standpoint_of(&note.document_id).await?;
        match notice {
            // Saves were processed above.
            Callback::Save(_) | Callback::Other => {}
            Callback::Editing { users, joined, left } => {
                let (tenant, people) = (standpoint.tenant.clone(), users.clone());
                let write = self.write(standpoint, move |work| {
                    session_notices::note_editors(work, &note, generation, &users, (&joined, &left))
                });
                write.await?;
                self.check_editors(tenant, people);
            }
            Callback::Closed => {
                let document = note.document_id;
                self.write(standpoint, move |work| {
                    session_notices::close(work, &document, generation)
                })
                .await?;
            }
            Callback::Failed { partial, nonce } => {
                self.fail(standpoint.clone(), note.clone(), generation, nonce).await?;
                if let Some(result) = partial
                    && let Err(error) = self.keep_partial(standpoint, note, generation, result).await
                {
                    tracing::warn!(error = format!("{error:?}"), "corrupted document save not stored");
                }
                return Ok(Answer::Refused);
            }
            Callback::Unusable => {
                tracing::warn!(
                    document.key = note.document_key,
                    "document save rejected: invalid result URL"
                );
                return Ok(Answer::Refused);
            }
        }
        Ok(Answer::Taken)
    }

    /// Returns what is known about a save before its download. Sets the identity in the note by which a repeat is
    /// recognized.
    pub(super) async fn know(
        &self,
        standpoint: &Standpoint,
        note: &mut SaveNote,
        generation: i64,
        save: &SaveCallback,
    ) -> Result<Known> {
        note.url_path_hash = identity(save);
        let asked = note.clone();
        self.read(standpoint.clone(), move |scope| known(scope, &asked, generation))
            .await
    }

    /// Stores a corrupted result as a late revision, for manual recovery.
    async fn keep_partial(
        &self,
        standpoint: Standpoint,
        mut note: SaveNote,
        generation: i64,
        result: ResultPath,
    ) -> Result<()> {
        let save = SaveCallback::from_result(result);
        let known = self.know(&standpoint, &mut note, generation, &save).await?;
        self.keep_save(standpoint, note, generation, save, known, true).await
    }

    /// Takes a save; if that fails, returns whether a retry may help.
    pub(super) async fn take_save(
        &self,
        standpoint: Standpoint,
        note: SaveNote,
        generation: i64,
        save: SaveCallback,
        known: Known,
    ) -> Result<Answer> {
        if save.is_final && save.not_modified {
            let write = self.write(standpoint, move |work| {
                session_notices::close_saved(work, &note, generation)
            });
            return write.await.map(|()| Answer::Taken);
        }
        let (last_save, nonce) = (save.last_save, save.nonce.clone());
        let kept = self
            .keep_save(standpoint.clone(), note.clone(), generation, save, known, false)
            .await;
        let error = match kept {
            Ok(()) => return Ok(Answer::Taken),
            // Not an error of the save: the document does not exist, or the key is not one of its keys.
            Err(error @ (Error::NotFound | Error::DocumentServerTokenMismatch)) => return Err(error),
            Err(error) => error,
        };
        let again = may_pass(&error);
        tracing::warn!(
            error = format!("{error:?}"),
            document.key = note.document_key,
            again,
            "document save rejected"
        );
        if again {
            // The identity stays empty, because it belongs to a callback that brings the bytes.
            let note = SaveNote {
                url_path_hash: String::new(),
                ..note
            };
            self.write(standpoint, move |work| {
                session_notices::note_unfetched(work, &note, last_save)
            })
            .await?;
            Ok(Answer::TryAgain)
        } else {
            self.fail(standpoint, note, generation, nonce).await?;
            Ok(Answer::Refused)
        }
    }

    async fn fail(&self, standpoint: Standpoint, note: SaveNote, generation: i64, nonce: Option<String>) -> Result<()> {
        let write = self.write(standpoint, move |work| {
            saves::note_failure(work, &note, generation, nonce.as_deref())
        });
        write.await
    }

    /// Downloads a save, stores its bytes, and applies the rules.
    async fn keep_save(
        &self,
        standpoint: Standpoint,
        note: SaveNote,
        generation: i64,
        save: SaveCallback,
        known: Known,
        is_partial: bool,
    ) -> Result<()> {
        let forgotten_at = save.is_forgotten.then_some(standpoint.now);
        let Known {
            extension,
            is_handed_in,
            is_taken,
        } = known;
        if is_taken {
            // A repeat: nothing to download, but the session may have to be closed.
            let bytes = KeptBytes::none(extension);
            let repeat = arrived(note, generation, save, is_partial, bytes);
            return self
                .write(standpoint, move |work| saves::save_back(work, &repeat).map(drop))
                .await;
        }
        let staged = self.fetch(&save.result).await?;
        failpoint::hit("save.fetched");
        let extension = kind_of(&staged, extension, save.file_type.as_deref()).await?;
        let revision = RevisionId::new(clock::new_id());
        let key = Revision::file_key(&note.document_id, &revision, extension);
        let copy = is_handed_in.then(|| FileKey::new(format!("{}.{}.{extension}", note.document_id, clock::new_id())));
        let bytes = KeptBytes {
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
        let standpoint = Standpoint {
            now: clock::now(),
            ..standpoint
        };
        let mut arrived = Arrived {
            forgotten_at,
            ..arrived(note, generation, save, is_partial, bytes)
        };
        let mut written = self.save_back(standpoint.clone(), arrived.clone()).await;
        if matches!(&written, Ok(named) if named.wants_copy) {
            // The document was submitted during the download: the submission gets the bytes too.
            let late = FileKey::new(format!("{}.{}.{extension}", arrived.note.document_id, clock::new_id()));
            self.files.copy(&key, &late).await?;
            arrived.bytes.copy = Some(late);
            written = self.save_back(standpoint, arrived.clone()).await;
        }
        failpoint::hit("save.written");
        let named = match &written {
            Ok(named) => *named,
            Err(error) if surely_not_written(error) => Named::default(),
            Err(_) => Named {
                revision: true,
                copy: true,
                wants_copy: false,
            },
        };
        if !named.revision {
            self.forget(&key).await;
        }
        if let Some(copy) = arrived.bytes.copy.filter(|_| !named.copy) {
            self.forget(&copy).await;
        }
        written.map(drop)
    }

    async fn save_back(&self, standpoint: Standpoint, arrived: Arrived) -> Result<Named> {
        self.write(standpoint, move |work| saves::save_back(work, &arrived))
            .await
    }
}

/// What is known about a save before its download.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The file type of the document.
    extension: FileExtension,
    /// Whether a copy of the document is submitted, which gets the bytes too.
    is_handed_in: bool,
    /// Whether this callback was processed before.
    is_taken: bool,
}

fn known(scope: &mut Scope<'_>, note: &SaveNote, generation: i64) -> Result<Known> {
    let seen = scope.document(&note.document_id)?;
    let document = seen.document();
    if generation > document.generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    Ok(Known {
        extension: document.file_extension,
        is_handed_in: document.status.open() == Open::Submitted,
        is_taken: scope.has_taken(note)?,
    })
}

fn arrived(note: SaveNote, generation: i64, save: SaveCallback, is_partial: bool, bytes: KeptBytes) -> Arrived {
    Arrived {
        forgotten_at: None,
        note,
        generation,
        is_final: save.is_final,
        last_save: save.last_save,
        author: save.author,
        editors: save.editors,
        history: save.history,
        nonce: save.nonce,
        is_partial,
        bytes,
    }
}

impl KeptBytes {
    /// A placeholder for a repeated callback, without bytes.
    fn none(extension: FileExtension) -> Self {
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
