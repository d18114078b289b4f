//! Handles documents that were deleted while editors were open: the editors are disconnected, and what the document
//! server saves afterwards is kept for a day. Documents without a row in `deleted_documents` may belong to another
//! installation and are ignored.

use domain::file::FileKey;
use domain::id::{DocumentId, LateTextId};
use domain::late_text::{DeletedDocument, LateText};
use domain::save::DocumentKey;

use super::download::{detect_extension, is_retryable_error, is_rolled_back};
use super::save::CallbackReply;
use super::{DocumentWorkflows, context};
use crate::actions::late_texts;
use crate::actions::saves::nonce;
use adapters::onlyoffice::callback::{Callback, SaveCallback};
use adapters::onlyoffice::client::{DocumentInfo, ForceSaveResult};
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::RequestContext;
use db::platform::CrossTenantReason;
use db::platform::deleted_documents::OpenEditors;

/// Consecutive failures after which the document server counts as unavailable; the rest waits for the next round.
const FAILURES_MAX: u32 = 3;

impl DocumentWorkflows {
    /// Disconnects the editors of deleted documents. The sweep retries failures.
    pub(super) async fn close_deleted(&self) -> Result<()> {
        let look = self
            .transactor
            .platform_read(CrossTenantReason::DocumentServer, |platform| {
                platform.open_deleted_documents()
            });
        let mut failures = 0;
        for open in look.await? {
            if failures == FAILURES_MAX {
                break;
            }
            match self.close_editors(&open).await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(error = format!("{error:?}"), document.id = %open.document, "closing editors of a deleted document failed");
                }
            }
        }
        Ok(())
    }

    async fn close_editors(&self, open: &OpenEditors) -> Result<()> {
        let (oldest, newest) = open.generations;
        failpoint::hit("deletion.closing");
        for generation in oldest..=newest {
            let key = DocumentKey {
                document: open.document.clone(),
                generation,
            };
            let text = self.server.key(&key);
            // Saves pending changes now instead of when the last page is closed.
            if self.server.force_save(&text, &nonce(clock::now())).await? != ForceSaveResult::Unknown {
                failpoint::hit("deletion.saved");
                self.server.drop_all_users(&text).await?;
                failpoint::hit("deletion.dropped");
                tracing::info!(document.id = %open.document, "editors of a deleted document closed");
            }
        }
        let id = open.document.clone();
        let write = self
            .transactor
            .platform_write(CrossTenantReason::DocumentServer, move |platform| {
                platform.record_closed_editors(&id)
            });
        write.await
    }

    /// Returns the context of the document server for a deleted document, and the document.
    pub(super) async fn read_deleted(&self, document: &DocumentId) -> Result<(RequestContext, DeletedDocument)> {
        let id = document.clone();
        let found = self
            .transactor
            .platform_read(CrossTenantReason::DocumentServer, move |platform| {
                let context = context(platform.tenant_of_deleted_document(&id)?);
                let deleted = platform.read_in_tenant(context.clone(), |tx| tx.deleted_document(&id))?;
                Ok((context, deleted))
            });
        found.await
    }

    /// Handles a callback for a deleted document; [`Error::NotFound`] if it has no row in `deleted_documents`.
    pub(super) async fn receive_for_deleted(
        &self,
        key: DocumentKey,
        text: String,
        callback: Callback,
    ) -> Result<CallbackReply> {
        let (context, deleted) = self.read_deleted(&key.document).await?;
        if key.generation > deleted.generation {
            return Err(Error::DocumentServerTokenMismatch);
        }
        match callback {
            // An earlier forced save contained all changes.
            Callback::Save(save) if save.is_final && save.not_modified => Ok(CallbackReply::Accepted),
            Callback::Save(save) => self.receive_late_text(context, &deleted, &key, save).await,
            Callback::Editing { users, .. } => {
                if !users.is_empty() {
                    self.close_later(text);
                }
                Ok(CallbackReply::Accepted)
            }
            // The document server would send its changes when the document is opened again, which is impossible now.
            Callback::Failed { partial: None, .. } => {
                tracing::warn!(
                    document.key = text,
                    "last changes of a deleted document not saved by the document server"
                );
                Ok(CallbackReply::Accepted)
            }
            Callback::Failed {
                partial: Some(result), ..
            } => {
                let save = SaveCallback::from_result(result);
                self.receive_late_text(context, &deleted, &key, save).await
            }
            Callback::Unusable => Ok(CallbackReply::Rejected),
            Callback::Closed | Callback::Other => Ok(CallbackReply::Accepted),
        }
    }

    /// Disconnects editors that opened the document while it was being deleted. The callback is acknowledged first,
    /// because the document server may wait for that.
    fn close_later(&self, text: String) {
        let server = self.server.clone();
        tokio::spawn(async move {
            if let Err(error) = server.drop_all_users(&text).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    document.key = text,
                    "closing editors of a deleted document failed"
                );
            }
        });
    }

    async fn receive_late_text(
        &self,
        context: RequestContext,
        deleted: &DeletedDocument,
        key: &DocumentKey,
        save: SaveCallback,
    ) -> Result<CallbackReply> {
        match self.store_late_text(context, deleted, key, save).await {
            Ok(()) => Ok(CallbackReply::Accepted),
            Err(error) => {
                let is_retryable = is_retryable_error(&error);
                tracing::warn!(error = format!("{error:?}"), document.id = %key.document, is_retryable, "save of a deleted document rejected");
                Ok(if is_retryable {
                    CallbackReply::Retry
                } else {
                    CallbackReply::Rejected
                })
            }
        }
    }

    async fn store_late_text(
        &self,
        context: RequestContext,
        deleted: &DeletedDocument,
        key: &DocumentKey,
        save: SaveCallback,
    ) -> Result<()> {
        let staged = self.download(&save.result).await?;
        let file_extension = detect_extension(&staged, deleted.file_extension, save.file_type.as_deref()).await?;
        let id = LateTextId::new(clock::new_id());
        let text = LateText {
            file_key: FileKey::new(format!("{}.{id}.{file_extension}", key.document)),
            id,
            document_id: key.document.clone(),
            generation: key.generation,
            file_extension,
            size: i64::try_from(staged.size()).unwrap_or(i64::MAX),
            sha256: staged.sha256().to_owned(),
            saved_by_id: save.author,
            last_save: save.last_save,
            received_at: clock::now(),
        };
        let file = text.file_key.clone();
        self.files.commit(staged, &file).await?;
        failpoint::hit("deletion.text_kept");
        let written = self
            .transactor
            .write(context, move |tx| late_texts::store(tx, &text))
            .await;
        let is_named = match &written {
            Ok(is_named) => *is_named,
            Err(error) => !is_rolled_back(error),
        };
        if !is_named {
            self.remove_orphan(&file).await;
        }
        written.map(drop)
    }

    /// Stores a forgotten save of a deleted document (one whose callback was never acknowledged), then deletes it on
    /// the document server. Unknown documents may belong to another installation and are ignored.
    pub(super) async fn recover_late_text(&self, key: &DocumentKey, text: &str) -> Result<()> {
        let (context, deleted) = match self.read_deleted(&key.document).await {
            Err(Error::NotFound) => return Ok(()),
            found => found?,
        };
        if let DocumentInfo::Open(Some(people)) = self.server.info(text).await?
            && !people.is_empty()
        {
            // The last save of these editors replaces the forgotten one.
            return self.server.drop_all_users(text).await;
        }
        let Some(result) = self.server.get_forgotten(text).await? else {
            return Ok(());
        };
        let save = SaveCallback::from_result(result);
        if self.receive_late_text(context, &deleted, key, save).await? != CallbackReply::Retry {
            self.server.delete_forgotten(text).await?;
            tracing::info!(document.key = text, "forgotten save of a deleted document recovered");
        }
        Ok(())
    }
}
