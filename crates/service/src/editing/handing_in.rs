//! Handing in, finishing and reopening as people ask for them: the rows first, in one unit; then the open editors; then
//! the answer, which shows what their last words made of it.

use model::file::FileKey;
use model::id::{AssignmentId, DocumentId, SubmissionDocumentId};
use model::text::Note;
use model::time::Timestamp;
use tokio::time::Instant;

use super::Editing;
use super::fetching::surely_not_written;
use crate::actions::finish::{self, FinishOptions, Finished};
use crate::actions::submissions::{self, Copied, HandedIn, Standing};
use adapters::files::blank;
use common::clock;
use common::error::{Error, Result};
use common::failpoint;
use db::Standpoint;
use db::documents::{CurrentFile, SeenDocument};

/// So many seconds after its deadline a freeze counts as interrupted, and any instance completes it.
const MARGIN: i64 = 5;
/// How often a copy is made anew because a save came in between.
const TRIES: u32 = 5;

/// The result of finishing a topic.
#[derive(Debug, Clone)]
pub struct Finish {
    /// What finishing did; its editors have been asked.
    pub finished: Finished,
    /// The documents whose last writing may be missing.
    pub unsaved: Vec<DocumentId>,
}

/// The result of a submission.
#[derive(Debug, Clone)]
pub struct Submit {
    /// The document, its link and its attempt.
    pub standing: Standing,
    /// Whether the last changes may be missing.
    pub unsaved: bool,
}

impl Editing {
    /// Hands a document in for a topic. Once begun it no longer depends on the caller.
    pub async fn submit(
        &self,
        standpoint: Standpoint,
        document: DocumentId,
        assignment: AssignmentId,
        note: Option<Note>,
    ) -> Result<Submit> {
        let editing = self.clone();
        let submitting = tokio::spawn(async move {
            let deadline = Instant::now() + editing.server.patience().submit();
            let handed_in = editing.hand_in(&standpoint, &document, &assignment, note).await?;
            failpoint::hit("submit.after_commit");
            let unsaved = editing.settle(&standpoint, handed_in.freezes, deadline).await;
            let look = editing.read(standpoint, move |scope| {
                submissions::standing(scope, &document, &assignment)
            });
            Ok(Submit {
                standing: look.await?,
                unsaved: !unsaved.is_empty(),
            })
        });
        submitting.await.map_err(|error| anyhow::anyhow!(error))?
    }

    /// Copies the present content and writes the attempt that names the copy; again when a save came in between.
    async fn hand_in(
        &self,
        standpoint: &Standpoint,
        document: &DocumentId,
        assignment: &AssignmentId,
        note: Option<Note>,
    ) -> Result<HandedIn> {
        for _ in 0..TRIES {
            let (own, topic) = (document.clone(), assignment.clone());
            let look = self.read(standpoint.clone(), move |scope| {
                let seen = submissions::may_submit(scope, &own, &topic)?;
                let content = scope.current_file(seen.document())?;
                Ok((seen, content))
            });
            let (seen, content) = look.await?;
            let copied = self.copy(&seen, content).await?;
            failpoint::hit("submit.after_copy");
            let (own, topic, note) = (document.clone(), assignment.clone(), note.clone());
            let (key, server) = (copied.key.clone(), self.server.clone());
            // The moment of the hand-in is the unit's, not the request's: what was saved while the copy was made counts.
            let standpoint = Standpoint {
                now: clock::now(),
                ..standpoint.clone()
            };
            let until = freeze_ends(&standpoint, self.server.patience().submit());
            let written = self.write(standpoint, move |work| {
                submissions::submit(work, &own, &topic, note.as_ref(), &copied, (&server, until))
            });
            match written.await {
                Ok(Some(handed_in)) => return Ok(handed_in),
                Ok(None) => self.forget(&key).await,
                Err(error) => {
                    if surely_not_written(&error) {
                        self.forget(&key).await;
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Overloaded)
    }

    /// Keeps the content of a document under a key of its own.
    async fn copy(&self, seen: &SeenDocument, content: CurrentFile) -> Result<Copied> {
        let document = seen.document();
        let id = SubmissionDocumentId::new(clock::new_id());
        let extension = document.file_extension;
        let key = FileKey::new(format!("{}.{id}.{extension}", document.id));
        let (revision, version, size, sha256) = match content {
            CurrentFile::Revision(revision) => {
                self.files.copy(&revision.file_key, &key).await?;
                (Some(revision.id), revision.version, revision.size, revision.sha256)
            }
            CurrentFile::Blank(extension) => {
                let bytes = blank::blank(extension)
                    .ok_or_else(|| anyhow::anyhow!("document {} has no content", document.id))?;
                let mut staging = self.files.stage(bytes.len() as u64);
                staging.write(bytes).await?;
                self.files.commit(staging.finish().await?, &key).await?;
                let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
                (None, 0, size, blank::sha256(bytes))
            }
        };
        Ok(Copied {
            id,
            revision,
            version,
            extension,
            key,
            size,
            sha256,
        })
    }

    /// Finishes a topic. Once begun it no longer depends on the caller. A dry run is rolled back, and no editor is asked
    /// for what it has.
    pub async fn finish(
        &self,
        standpoint: Standpoint,
        assignment: AssignmentId,
        options: FinishOptions,
        is_dry: bool,
    ) -> Result<Finish> {
        let editing = self.clone();
        let finishing = tokio::spawn(async move {
            let server = editing.server.clone();
            let deadline = Instant::now() + server.patience().finish();
            // The bell rings now, not when the request began.
            let standpoint = Standpoint {
                now: clock::now(),
                ..standpoint
            };
            let until = freeze_ends(&standpoint, server.patience().finish());
            let write = editing.write(standpoint.clone(), move |work| {
                if is_dry {
                    work.rehearse(|work| finish::finish(work, &assignment, &options, &server, until))
                } else {
                    finish::finish(work, &assignment, &options, &server, until)
                }
            });
            let mut finished = write.await?;
            if is_dry {
                finished.freezes.clear();
            } else {
                failpoint::hit("finish.after_commit");
            }
            let freezes = std::mem::take(&mut finished.freezes);
            let unsaved = editing.settle(&standpoint, freezes, deadline).await;
            Ok(Finish { finished, unsaved })
        });
        finishing.await.map_err(|error| anyhow::anyhow!(error))?
    }
}

/// The moment after which a freeze that begins now counts as interrupted.
fn freeze_ends(standpoint: &Standpoint, patience: std::time::Duration) -> Timestamp {
    let seconds = i64::try_from(patience.as_secs()).unwrap_or(60);
    standpoint.now.plus_seconds(seconds + MARGIN)
}
