//! The steps after a document was frozen: its open editors get time to send pending changes, are asked to save, and
//! are disconnected after a timeout. The freeze holds whatever the outcome; late saves are processed when they
//! arrive.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::access::Viewer;
use domain::document_kind::EditorKind;
use domain::id::DocumentId;
use domain::save::DocumentKey;
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, sleep, timeout_at};

use super::DocumentWorkflows;
use crate::actions::freeze::{self, Freeze, FreezeOutcome};
use crate::actions::{saves, session_notices};
use adapters::onlyoffice::client::{DocumentInfo, ForceSaveResult};
use common::error::{Error, Result};
use common::{clock, failpoint};
use db::RequestContext;
use db::saves::EditingSession;

/// The polling interval for saves. Another instance may receive the callback, so the row is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(60);
/// The maximum number of documents that are processed concurrently.
const CONCURRENCY_MAX: usize = 8;

impl DocumentWorkflows {
    /// Waits for the flush, asks all these sessions with limited concurrency and until the deadline, and completes
    /// each freeze. Returns the documents whose last changes may be missing.
    pub(super) async fn complete_freezes(
        &self,
        context: &RequestContext,
        freezes: Vec<Freeze>,
        deadline: Instant,
    ) -> Vec<DocumentId> {
        let mut by_document: BTreeMap<DocumentId, Vec<Freeze>> = BTreeMap::new();
        for freeze in self.flush(context, freezes, deadline).await {
            by_document.entry(freeze.document.clone()).or_default().push(freeze);
        }
        // If all concurrent requests fail in a row, the document server counts as unavailable and the other documents
        // are skipped.
        let failures = &AtomicUsize::new(0);
        let saves_by_document = by_document.into_iter().map(|(document, freezes)| async move {
            let mut outcomes = Vec::new();
            for freeze in &freezes {
                match self.force_save(context, freeze, deadline, failures).await {
                    Some(outcome) => outcomes.push((freeze.generation, outcome)),
                    // The document was deleted in the meantime, so nothing is missing.
                    None => return None,
                }
            }
            let is_missing = outcomes.iter().any(|(_, outcome)| *outcome != FreezeOutcome::Complete);
            self.complete(context, &document, outcomes).await;
            is_missing.then_some(document)
        });
        let missing = stream::iter(saves_by_document)
            .buffer_unordered(CONCURRENCY_MAX)
            .filter_map(std::future::ready);
        let mut missing: Vec<DocumentId> = missing.collect().await;
        missing.sort();
        missing
    }

    /// Gives the pages of the editors time to send pending changes, once for all documents. Pages report completion;
    /// a page without a report is waited for until the timeout.
    async fn flush(&self, context: &RequestContext, freezes: Vec<Freeze>, deadline: Instant) -> Vec<Freeze> {
        if !freezes.iter().any(|freeze| freeze.is_flushing) {
            return freezes;
        }
        let until = deadline.min(Instant::now() + self.server.timeouts().flush());
        while Instant::now() < until {
            match self.is_flushing(context, &freezes).await {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), "polling editor flush reports failed");
                }
            }
            sleep(POLL_INTERVAL).await;
        }
        let ending = freezes.clone();
        let written = self.transactor.write(with_service_role(context), move |tx| {
            freeze::end_flush(tx, ending.clone())
        });
        match written.await {
            Ok(freezes) => freezes,
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "recording the end of an editor flush failed"
                );
                freezes
            }
        }
    }

    async fn is_flushing(&self, context: &RequestContext, freezes: &[Freeze]) -> Result<bool> {
        let look = self.transactor.read(context.clone(), |tx| tx.sessions_with_editors());
        let open = look.await?;
        let is_waiting = |freeze: &Freeze| {
            let is_it = |session: &&EditingSession| {
                session.document_id == freeze.document && session.generation == freeze.generation
            };
            freeze.is_flushing && open.iter().find(is_it).is_some_and(EditingSession::is_flushing)
        };
        Ok(freezes.iter().any(is_waiting))
    }

    async fn force_save(
        &self,
        context: &RequestContext,
        freeze: &Freeze,
        deadline: Instant,
        failures: &AtomicUsize,
    ) -> Option<FreezeOutcome> {
        if failures.load(Ordering::Relaxed) >= CONCURRENCY_MAX {
            return Some(FreezeOutcome::Pending);
        }
        match timeout_at(deadline, self.complete_freeze(context, freeze)).await {
            Ok(Ok(outcome)) => {
                failures.store(0, Ordering::Relaxed);
                Some(outcome)
            }
            Ok(Err(Error::NotFound)) => None,
            Ok(Err(error)) => {
                failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(error = format!("{error:?}"), document.id = %freeze.document, "forced save of an open editor failed");
                Some(FreezeOutcome::Pending)
            }
            Err(_) => Some(FreezeOutcome::Pending),
        }
    }

    /// Saves a draft with open editors that was never saved, so that it is not read as a blank document. Returns
    /// whether something was saved; fails if the save does not arrive in time.
    pub async fn save_open(&self, context: &RequestContext, document: &DocumentId) -> Result<bool> {
        let mut is_saved = self.save_changes(context, document).await?;
        if !self.server.is_configured() {
            return Ok(is_saved);
        }
        let (service_context, id) = (with_service_role(context), document.clone());
        let server = self.server.clone();
        let look = self.transactor.read(service_context.clone(), move |tx| {
            let document = tx.document(&id)?.details.document;
            let key = document.key();
            let mut keys = Vec::new();
            if document.frozen_at().is_none() && server.editor_kind(&document) == EditorKind::OnlyOffice {
                // The first callback of the session may not have arrived yet.
                keys.push((key.generation, server.key(&key)));
                let others = tx.editing_sessions(&id)?.into_iter();
                let others = others.filter(|session| session.generation != key.generation);
                keys.extend(others.map(|session| (session.generation, session.document_key)));
            }
            Ok(keys)
        });
        for (generation, key) in look.await? {
            let freeze = Freeze {
                document: document.clone(),
                generation,
                key,
                nonce: saves::nonce(clock::now()),
                is_new: false,
                is_flushing: false,
            };
            match self.server.force_save(&freeze.key, &freeze.nonce).await? {
                ForceSaveResult::Unchanged | ForceSaveResult::Unknown => continue,
                ForceSaveResult::Started | ForceSaveResult::Closing => {}
            }
            if self.wait_for_save(&service_context, &freeze, true).await? != FreezeOutcome::Complete {
                return Err(Error::DocumentServerTimeout);
            }
            is_saved = true;
        }
        Ok(is_saved)
    }

    /// Completes the freeze of a document. The sweep retries failures.
    pub(super) async fn complete(
        &self,
        context: &RequestContext,
        document: &DocumentId,
        outcomes: Vec<(i64, FreezeOutcome)>,
    ) {
        let id = document.clone();
        let write = self.transactor.write(with_service_role(context), move |tx| {
            freeze::complete(tx, &id, &outcomes)
        });
        match write.await {
            Ok(()) | Err(Error::NotFound) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:?}"), document.id = %document, "completing a document freeze failed");
            }
        }
    }

    /// Forces a save of one session and disconnects its editors. Returns whether all changes were saved.
    pub(super) async fn complete_freeze(&self, context: &RequestContext, freeze: &Freeze) -> Result<FreezeOutcome> {
        failpoint::hit("freeze.before_ask");
        if let Some(outcome) = self.freeze_log(freeze).await? {
            return Ok(outcome);
        }
        let before = self.session(context, freeze).await?;
        let outcome = match self.server.force_save(&freeze.key, &freeze.nonce).await? {
            ForceSaveResult::Unchanged => match before.filter(EditingSession::had_editors) {
                Some(session) => return self.confirm_unchanged(context, freeze, session).await,
                None => FreezeOutcome::Complete,
            },
            ForceSaveResult::Started => self.wait_for_save(context, freeze, before.is_some()).await?,
            ForceSaveResult::Closing => self.wait_for_save(context, freeze, true).await?,
            // No editor is left to disconnect.
            ForceSaveResult::Unknown => return self.recover_closed_session(context, freeze).await,
        };
        self.disconnect_editors(freeze).await;
        Ok(outcome)
    }

    /// Writes the log of a generation that was edited in the built-in editor, and ends its session. Returns `None` if the
    /// document server has to be asked.
    async fn freeze_log(&self, freeze: &Freeze) -> Result<Option<FreezeOutcome>> {
        let id = freeze.document.clone();
        let (server, generation) = (self.server.clone(), freeze.generation);
        let look = self.read_in_document_tenant(&freeze.document, move |tx| {
            let is_builtin =
                !server.is_configured() || server.editor_kind(tx.document(&id)?.document()) == EditorKind::Builtin;
            Ok((tx.document_log(&id, generation)?.is_some(), is_builtin))
        });
        let (context, (has_log, is_builtin)) = look.await?;
        if has_log {
            self.close_log(context.clone(), &freeze.document, generation, &freeze.nonce)
                .await?;
            failpoint::hit("commits.frozen");
        } else if !is_builtin {
            return Ok(None);
        }
        let id = freeze.document.clone();
        self.transactor
            .write(context, move |tx| session_notices::end(tx, &id, generation))
            .await?;
        Ok(Some(FreezeOutcome::Complete))
    }

    async fn disconnect_editors(&self, freeze: &Freeze) {
        failpoint::hit("freeze.before_drop");
        // Browsers become read-only. A client that does not may continue to write; its saves are late.
        if let Err(error) = self.server.drop_all_users(&freeze.key).await {
            tracing::warn!(error = format!("{error:?}"), document.id = %freeze.document, "disconnecting editors failed");
        }
        failpoint::hit("freeze.after_drop");
    }

    /// Handles a session with editors for which the document server reports nothing to save. Forced saves rely on its
    /// memory, so after a restart this proves nothing, although its database may hold changes.
    async fn confirm_unchanged(
        &self,
        context: &RequestContext,
        freeze: &Freeze,
        session: EditingSession,
    ) -> Result<FreezeOutcome> {
        let timeout = self.server.timeouts().command();
        match self.server.info(&freeze.key).await? {
            DocumentInfo::Unknown => self.recover_closed_session(context, freeze).await,
            // Its database decides: the `info` command repeats the last callback, which ends the session if nothing
            // is left. A callback without editors means that changes are pending, unless the final save is being
            // sent.
            DocumentInfo::Open(Some(people)) if people.is_empty() => {
                self.disconnect_editors(freeze).await;
                let until = Instant::now() + timeout;
                let mut is_left = false;
                while Instant::now() < until {
                    let Some(now) = self.session(context, freeze).await? else {
                        return Ok(FreezeOutcome::Complete);
                    };
                    let is_updated = now.last_callback_at > session.last_callback_at || !session.editors.is_empty();
                    is_left |= is_updated && now.editors.is_empty();
                    sleep(POLL_INTERVAL).await;
                }
                Ok(if is_left {
                    FreezeOutcome::Unsaved
                } else {
                    FreezeOutcome::Pending
                })
            }
            // The editors were connected all the time.
            DocumentInfo::Open(_) if !session.has_gap => {
                self.disconnect_editors(freeze).await;
                Ok(FreezeOutcome::Complete)
            }
            // The editors may have reconnected after a restart: the end of the session saves what its database holds.
            DocumentInfo::Open(_) => {
                self.disconnect_editors(freeze).await;
                let until = Instant::now() + timeout;
                while Instant::now() < until {
                    if self.session(context, freeze).await?.is_none() {
                        return Ok(FreezeOutcome::Complete);
                    }
                    sleep(POLL_INTERVAL).await;
                }
                Ok(FreezeOutcome::Pending)
            }
        }
    }

    async fn session(&self, context: &RequestContext, freeze: &Freeze) -> Result<Option<EditingSession>> {
        let (document, generation) = (freeze.document.clone(), freeze.generation);
        let look = self
            .transactor
            .read(context.clone(), move |tx| tx.editing_session(&document, generation));
        look.await
    }

    /// Waits for the save with our user data, or for the end of a known session. The document server discards a
    /// forced save if the last editor leaves while it is assembled, and sends only the final save.
    async fn wait_for_save(&self, context: &RequestContext, freeze: &Freeze, was_known: bool) -> Result<FreezeOutcome> {
        let failed = saves::failure_nonce(&freeze.nonce);
        let deadline = Instant::now() + self.server.timeouts().command();
        while Instant::now() < deadline {
            match self.session(context, freeze).await? {
                None if was_known => return Ok(FreezeOutcome::Complete),
                Some(session) if session.saved_nonce.as_ref() == Some(&freeze.nonce) => {
                    return Ok(FreezeOutcome::Complete);
                }
                Some(session) if session.saved_nonce.as_ref() == Some(&failed) => return Ok(FreezeOutcome::Pending),
                _ => sleep(POLL_INTERVAL).await,
            }
        }
        Ok(FreezeOutcome::Pending)
    }

    /// Handles a session that the document server does not know any more. A forgotten save is taken now: if the
    /// session had ended before the freeze, nothing in it is late.
    async fn recover_closed_session(&self, context: &RequestContext, freeze: &Freeze) -> Result<FreezeOutcome> {
        let Some(result) = self.server.get_forgotten(&freeze.key).await? else {
            let (document, generation) = (freeze.document.clone(), freeze.generation);
            let end = self.transactor.write(with_service_role(context), move |tx| {
                session_notices::end(tx, &document, generation)
            });
            end.await?;
            return Ok(FreezeOutcome::Complete);
        };
        let as_server = self.resolve_context(&freeze.document).await?;
        let key = DocumentKey {
            document: freeze.document.clone(),
            generation: freeze.generation,
        };
        let is_taken = self
            .recover_save(as_server, &key, &freeze.key, result, freeze.is_new)
            .await?;
        Ok(if is_taken {
            FreezeOutcome::Complete
        } else {
            FreezeOutcome::Pending
        })
    }

    /// Completes interrupted freezes (for example after a crash), which are those past their deadline. Returns
    /// whether others are in progress.
    pub(super) async fn complete_interrupted(&self) -> Result<bool> {
        let freezing = self
            .transactor
            .platform_read(db::platform::CrossTenantReason::Housekeeping, |platform| {
                platform.documents_being_locked()
            })
            .await?;
        let mut is_any_left = false;
        for (tenant, id, until) in freezing {
            if until > clock::now() {
                is_any_left = true;
                continue;
            }
            let context = super::context(tenant);
            let (outcomes, server) = (id.clone(), self.server.clone());
            let look = self.transactor.read(context.clone(), move |tx| {
                let document = tx.document(&outcomes)?.details.document;
                let sessions = tx.editing_sessions(&outcomes)?;
                Ok(freeze::pending_freezes(&document, &sessions, &server))
            });
            let freezes = match look.await {
                Ok(freezes) => freezes,
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), document.id = %id, "completing an interrupted document freeze failed");
                    continue;
                }
            };
            tracing::info!(document.id = %id, "completing an interrupted document freeze");
            if freezes.is_empty() {
                self.complete(&context, &id, Vec::new()).await;
            } else {
                let deadline = Instant::now() + self.server.timeouts().command() * 2;
                self.complete_freezes(&context, freezes, deadline).await;
            }
        }
        Ok(is_any_left)
    }
}

/// Returns the caller's context with full read access and the present time: the caller may have lost access to the
/// group.
fn with_service_role(context: &RequestContext) -> RequestContext {
    RequestContext {
        viewer: Viewer::Admin,
        now: clock::now(),
        ..context.clone()
    }
}
