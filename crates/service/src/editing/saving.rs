//! A notice of the document server, from its arrival to its answer. A save is acknowledged only when its bytes are durable
//! and the unit that names them is committed.

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
use adapters::document_server::notice::{Notice, SaveNotice};
use adapters::document_server::result_path::ResultPath;
use adapters::files::hex;
use common::clock;
use common::error::{Error, Result};
use common::failpoint;
use db::saves::SaveNote;
use db::{Scope, Standpoint};

/// What the document server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It may forget the save.
    Taken,
    /// It keeps what it has, and trying again would not help.
    Refused,
    /// It may try again.
    TryAgain,
}

impl Editing {
    /// Takes a notice. Once begun it no longer depends on the caller: the document server may hang up, the save is taken.
    pub async fn notice(&self, key: DocumentKey, text: String, notice: Notice) -> Result<Answer> {
        let editing = self.clone();
        let taking = tokio::spawn(async move {
            match editing.take(key.clone(), text.clone(), notice.clone()).await {
                // Deleted, perhaps just now.
                Err(Error::NotFound) => editing.receive_for_deleted(key, text, notice).await,
                answer => answer,
            }
        });
        taking.await.map_err(|error| anyhow::anyhow!(error))?
    }

    async fn take(&self, key: DocumentKey, text: String, notice: Notice) -> Result<Answer> {
        let generation = key.generation;
        let mut note = SaveNote {
            document_id: key.document,
            document_key: text,
            url_path_hash: String::new(),
        };
        if let Notice::Save(save) = notice {
            note.url_path_hash = identity(&save);
            let (document, asked) = (note.document_id.clone(), note.clone());
            let known = self.read_at_home(&document, move |scope| known(scope, &asked, generation));
            let (standpoint, known) = known.await?;
            return self.take_save(standpoint, note, generation, save, known).await;
        }
        let standpoint = self.standpoint_of(&note.document_id).await?;
        match notice {
            // A save was taken above.
            Notice::Save(_) | Notice::Other => {}
            Notice::Editing { users, joined, left } => {
                let (tenant, people) = (standpoint.tenant.clone(), users.clone());
                let write = self.write(standpoint, move |work| {
                    session_notices::note_editors(work, &note, generation, &users, (&joined, &left))
                });
                write.await?;
                self.check_editors(tenant, people);
            }
            Notice::Closed => {
                let document = note.document_id;
                self.write(standpoint, move |work| {
                    session_notices::close(work, &document, generation)
                })
                .await?;
            }
            Notice::Failed { partial, nonce } => {
                self.fail(standpoint.clone(), note.clone(), generation, nonce).await?;
                if let Some(result) = partial
                    && let Err(error) = self.keep_partial(standpoint, note, generation, result).await
                {
                    tracing::warn!(error = format!("{error:?}"), "a damaged result was not kept");
                }
                return Ok(Answer::Refused);
            }
            Notice::Unusable => {
                tracing::warn!(
                    document.key = note.document_key,
                    "a save names no file of the document server"
                );
                return Ok(Answer::Refused);
            }
        }
        Ok(Answer::Taken)
    }

    /// What is known of a save before it is fetched; its note gets the name by which a repeat is recognised.
    pub(super) async fn know(
        &self,
        standpoint: &Standpoint,
        note: &mut SaveNote,
        generation: i64,
        save: &SaveNotice,
    ) -> Result<Known> {
        note.url_path_hash = identity(save);
        let asked = note.clone();
        self.read(standpoint.clone(), move |scope| known(scope, &asked, generation))
            .await
    }

    /// A damaged result is kept beside the document, for whoever can make something of it.
    async fn keep_partial(
        &self,
        standpoint: Standpoint,
        mut note: SaveNote,
        generation: i64,
        result: ResultPath,
    ) -> Result<()> {
        let save = SaveNotice::of_result(result);
        let known = self.know(&standpoint, &mut note, generation, &save).await?;
        self.keep_save(standpoint, note, generation, save, known, true).await
    }

    /// Takes a save, or says why it cannot be taken now.
    pub(super) async fn take_save(
        &self,
        standpoint: Standpoint,
        note: SaveNote,
        generation: i64,
        save: SaveNotice,
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
            // Not a fault of the save: the document is gone, or the key is none of its own.
            Err(error @ (Error::NotFound | Error::DocumentServerTokenMismatch)) => return Err(error),
            Err(error) => error,
        };
        let again = may_pass(&error);
        tracing::warn!(
            error = format!("{error:?}"),
            document.key = note.document_key,
            again,
            "a save was not taken"
        );
        if again {
            // Noted as one of which nothing came: the name of its bytes belongs to whoever brings them.
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

    /// Fetches a save, keeps its bytes, and lets the rules decide what becomes of them.
    async fn keep_save(
        &self,
        standpoint: Standpoint,
        note: SaveNote,
        generation: i64,
        save: SaveNotice,
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
            // A repeat: nothing to fetch, only the session to be closed once more.
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
        // The time between is long enough for a lock: the unit judges by its own clock.
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
            // It was handed in while the bytes were on their way: its attempt gets them, too.
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

/// What a save is measured by before its bytes are fetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// What the document is.
    extension: FileExtension,
    /// Whether a copy of it is handed in, which gets the bytes, too.
    is_handed_in: bool,
    /// Whether it is a repeat of one that was taken.
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

fn arrived(note: SaveNote, generation: i64, save: SaveNotice, is_partial: bool, bytes: KeptBytes) -> Arrived {
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
    /// No bytes at all, for a notice that was taken before.
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

/// What a repeat has in common with the save it repeats, as one short word: the path, and when the last change was made.
/// The query of a result carries an expiry and differs from repeat to repeat. The path alone would not do: its number has
/// four digits and comes again within a long session, and a new save taken for a repeat would be acknowledged and lost.
fn identity(save: &SaveNotice) -> String {
    let mut digest = Sha256::new();
    digest.update(save.result.path());
    if let Some(last_save) = save.last_save {
        digest.update(last_save.as_millis().to_be_bytes());
    }
    hex(&digest.finalize())
}
