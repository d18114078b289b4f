//! Submits documents, and finishes and reopens topics: one transaction changes the rows, then open editors are asked
//! for pending changes, then the response shows the outcome.

use domain::file::FileKey;
use domain::id::{AssignmentId, DocumentId, SubmissionDocumentId};
use domain::text::Note;
use domain::time::Timestamp;
use tokio::time::Instant;

use super::DocumentWorkflows;
use super::download::is_rolled_back;
use crate::actions::finish::{self, FinishOptions, FinishSummary};
use crate::actions::submissions::{self, SubmissionCopy, SubmissionState, SubmittedDocument};
use adapters::blob_store::{missing_key, templates};
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::RequestContext;
use db::documents::{CurrentFile, VisibleDocument};

/// Seconds after its deadline at which a freeze counts as interrupted and any instance may complete it.
const FREEZE_MARGIN_SECONDS: i64 = 5;
/// The maximum number of copies that are made if saves interfere.
const ATTEMPTS_MAX: u32 = 5;

/// The result of finishing a topic.
#[derive(Debug, Clone)]
pub struct FinishResult {
    /// The result of the transaction; editors have been asked since.
    pub finished: FinishSummary,
    /// The documents whose last changes may be missing.
    pub unsaved: Vec<DocumentId>,
}

/// The result of a submission.
#[derive(Debug, Clone)]
pub struct SubmitResult {
    /// The document, its group assignment and the submission.
    pub state: SubmissionState,
    /// Whether the last changes may be missing.
    pub unsaved: bool,
}

impl DocumentWorkflows {
    /// Submits a document for a topic. Continues if the caller disconnects.
    pub async fn submit(
        &self,
        context: RequestContext,
        document: DocumentId,
        assignment: AssignmentId,
        note: Option<Note>,
    ) -> Result<SubmitResult> {
        let workflows = self.clone();
        let submitting = tokio::spawn(async move {
            let deadline = Instant::now() + workflows.server.timeouts().submit();
            let submitted = workflows.submit_copy(&context, &document, &assignment, note).await?;
            failpoint::hit("submit.after_commit");
            let unsaved = workflows.complete_freezes(&context, submitted.freezes, deadline).await;
            let look = workflows
                .transactor
                .read(context, move |tx| submissions::find_state(tx, &document, &assignment));
            Ok(SubmitResult {
                state: look.await?,
                unsaved: !unsaved.is_empty(),
            })
        });
        submitting.await.map_err(|error| anyhow::anyhow!(error))?
    }

    /// Copies the current content and inserts the submission with the copy; retries if a save interfered.
    async fn submit_copy(
        &self,
        context: &RequestContext,
        document: &DocumentId,
        assignment: &AssignmentId,
        note: Option<Note>,
    ) -> Result<SubmittedDocument> {
        let (own, topic) = (document.clone(), assignment.clone());
        self.transactor
            .read(context.clone(), move |tx| {
                submissions::may_submit(tx, &own, &topic).map(drop)
            })
            .await?;
        // The first copy is then complete, unless someone is still writing.
        self.save_changes(context, document).await?;
        let mut missing = None;
        for _ in 0..ATTEMPTS_MAX {
            let (own, topic) = (document.clone(), assignment.clone());
            let look = self.transactor.read(context.clone(), move |tx| {
                let seen = submissions::may_submit(tx, &own, &topic)?;
                let content = tx.current_file(seen.document())?;
                Ok((seen, content))
            });
            let (seen, content) = look.await?;
            let mut copied = match self.copy(&seen, content).await {
                // The document may have been deleted in the meantime: it is read again.
                Err(error) if missing_key(&error).is_some_and(|key| missing.as_ref() != Some(key)) => {
                    missing = missing_key(&error).cloned();
                    continue;
                }
                copied => copied?,
            };
            copied.authorship = self.authorship_for_submission(context, &seen).await;
            failpoint::hit("submit.after_copy");
            let (own, topic, note) = (document.clone(), assignment.clone(), note.clone());
            let (key, server) = (copied.key.clone(), self.server.clone());
            // The time of the submission is that of the transaction, so saves during the copy are included.
            let context = RequestContext {
                now: clock::now(),
                ..context.clone()
            };
            let until = freeze_deadline(&context, self.server.timeouts().submit());
            let written = self.transactor.write(context, move |tx| {
                submissions::submit(tx, &own, &topic, note.as_ref(), &copied, (&server, until))
            });
            match written.await {
                Ok(Some(submitted)) => return Ok(submitted),
                Ok(None) => self.remove_orphan(&key).await,
                Err(error) => {
                    if is_rolled_back(&error) {
                        self.remove_orphan(&key).await;
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Overloaded)
    }

    /// Stores the content of a document under a separate key.
    async fn copy(&self, seen: &VisibleDocument, content: CurrentFile) -> Result<SubmissionCopy> {
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
                let bytes = templates::blank_document(extension)
                    .ok_or_else(|| anyhow::anyhow!("document {} has no content", document.id))?;
                let mut staging = self.files.stage(bytes.len() as u64);
                staging.write(bytes).await?;
                self.files.commit(staging.finish().await?, &key).await?;
                let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
                (None, 0, size, templates::sha256(bytes))
            }
        };
        Ok(SubmissionCopy {
            id,
            revision,
            version,
            extension,
            key,
            size,
            sha256,
            authorship: None,
        })
    }

    /// Finishes a topic. Continues if the caller disconnects. A dry run is rolled back and asks no editor for
    /// changes.
    pub async fn finish(
        &self,
        context: RequestContext,
        assignment: AssignmentId,
        options: FinishOptions,
        is_dry: bool,
    ) -> Result<FinishResult> {
        let workflows = self.clone();
        let finishing = tokio::spawn(async move {
            let server = workflows.server.clone();
            let deadline = Instant::now() + server.timeouts().finish();
            // The topic is finished at the present time, not at the time of the request.
            let context = RequestContext {
                now: clock::now(),
                ..context
            };
            let until = freeze_deadline(&context, server.timeouts().finish());
            let write = workflows.transactor.write(context.clone(), move |tx| {
                if is_dry {
                    tx.dry_run(|tx| finish::finish(tx, &assignment, &options, &server, until))
                } else {
                    finish::finish(tx, &assignment, &options, &server, until)
                }
            });
            let mut finished = write.await?;
            if is_dry {
                finished.freezes.clear();
            } else {
                failpoint::hit("finish.after_commit");
            }
            let freezes = std::mem::take(&mut finished.freezes);
            let unsaved = workflows.complete_freezes(&context, freezes, deadline).await;
            Ok(FinishResult { finished, unsaved })
        });
        finishing.await.map_err(|error| anyhow::anyhow!(error))?
    }
}

/// Returns the time after which a freeze that begins now counts as interrupted.
fn freeze_deadline(context: &RequestContext, timeout: std::time::Duration) -> Timestamp {
    let seconds = i64::try_from(timeout.as_secs()).unwrap_or(60);
    context.now.plus_seconds(seconds + FREEZE_MARGIN_SECONDS)
}
