//! Periodic sweep by one instance: recovers saves that arrived while the service was down, and checks editing
//! sessions whose callbacks have timed out. Each step is idempotent; failures are retried in the next round.

use std::time::Duration;

use domain::save::DocumentKey;
use domain::time::Timestamp;
use tokio::time::{Instant, sleep, timeout};

use super::save::CallbackReply;
use super::{DocumentWorkflows, context};
use crate::actions::{freeze, session_notices, watching};
use adapters::onlyoffice::callback::SaveCallback;
use adapters::onlyoffice::client::DocumentInfo;
use adapters::onlyoffice::result_path::ResultPath;
use common::error::{Error, Result};
use common::scheduler::Next;
use common::{clock, failpoint};
use db::RequestContext;
use db::platform::CrossTenantReason;
use db::platform::editing::StaleSession;
use db::saves::{EditingSession, SaveNote};

/// The name of the lease.
const LEASE: &str = "editing_sweep";
/// The timeout for the editors of one former key.
const FORMER_SESSION_TIMEOUT: Duration = Duration::from_secs(20);
/// The timeout for the callback that an `info` command repeats, and the polling interval.
const PROBE_TIMEOUT_AND_INTERVAL: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(60));
/// The interval for checking freezes in progress, because the instance that began one may have stopped.
const FREEZE_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Consecutive failures after which the document server counts as unavailable; the rest waits for the next round.
const FAILURES_MAX: u32 = 3;

impl DocumentWorkflows {
    /// Runs the sweep of this instance, if it has the lease. `holder` identifies it among the instances on the same
    /// database.
    pub async fn reconcile(&self, holder: &str) -> Result<Next> {
        let is_freezing = self.complete_interrupted_or_log().await;
        // Without a document server there is nothing that two instances must not ask for twice.
        let is_shared = self.server.is_configured();
        let has_lease = !is_shared
            || self.acquire_lease(holder).await.unwrap_or_else(|error| {
                let error = format!("{error:?}");
                tracing::warn!(error, "acquiring the document sweep lease failed");
                false
            });
        if has_lease {
            self.run_steps(is_shared.then_some(holder)).await;
        }
        let pause = self.server.timeouts().sweep();
        // The holder of the lease may have stopped: then the lease expires soon.
        let pause = if has_lease { pause } else { pause / 4 };
        Ok(Next::After(if is_freezing {
            pause.min(FREEZE_POLL_INTERVAL)
        } else {
            pause
        }))
    }

    /// Returns whether a freeze is in progress, or may be.
    async fn complete_interrupted_or_log(&self) -> bool {
        self.complete_interrupted().await.unwrap_or_else(|error| {
            let error = format!("{error:?}");
            tracing::warn!(error, "completing interrupted document freezes failed");
            true
        })
    }

    /// Acquires or renews the lease. It is longer than the interval, so it stays with one instance.
    async fn acquire_lease(&self, holder: &str) -> Result<bool> {
        let (holder, now) = (holder.to_owned(), clock::now());
        let pause = self.server.timeouts().sweep_seconds();
        let until = now.plus_seconds(pause.saturating_add(pause / 2).max(pause.saturating_add(1)));
        let take = self
            .transactor
            .platform_write(CrossTenantReason::Housekeeping, move |platform| {
                platform.acquire_lease(LEASE, &holder, until, now)
            });
        take.await
    }

    /// Runs one round without a lease.
    pub async fn reconcile_once(&self) {
        self.complete_interrupted_or_log().await;
        self.run_steps(None).await;
    }

    /// Runs one round. With a holder, it stops when another instance has acquired the lease, for example after a long
    /// pause.
    async fn run_steps(&self, holder: Option<&str>) {
        if self.server.is_configured() {
            if let Err(error) = self.recover_saves(holder).await {
                tracing::warn!(error = format!("{error:?}"), "recovery of forgotten saves failed");
            }
            if let Err(error) = self.close_deleted().await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "closing editors of deleted documents failed"
                );
            }
        }
        if let Err(error) = self.probe_stale_sessions(holder).await {
            tracing::warn!(
                error = format!("{error:?}"),
                "check of timed out editing sessions failed"
            );
        }
    }

    async fn holds_lease(&self, holder: Option<&str>) -> Result<bool> {
        match holder {
            Some(holder) => self.acquire_lease(holder).await,
            None => Ok(true),
        }
    }

    /// Takes every forgotten save of the document server. A failure does not stop the others.
    async fn recover_saves(&self, holder: Option<&str>) -> Result<()> {
        for text in self.server.list_forgotten().await? {
            // Keys of other installations are ignored.
            let Some(key) = self.server.parse_key(&text) else {
                continue;
            };
            if !self.holds_lease(holder).await? {
                break;
            }
            if let Err(error) = self.recover_forgotten(&key, &text).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    document.key = text,
                    "recovery of a forgotten save failed"
                );
            }
        }
        Ok(())
    }

    async fn recover_forgotten(&self, key: &DocumentKey, text: &str) -> Result<()> {
        let context = match self.resolve_context(&key.document).await {
            Err(Error::NotFound) => return self.recover_late_text(key, text).await,
            context => context?,
        };
        // Users who open the document under this key get the forgotten save as their base: their saves contain it,
        // and the last of them replaces it.
        if let DocumentInfo::Open(Some(people)) = self.server.info(text).await?
            && !people.is_empty()
        {
            return Ok(());
        }
        if let Some(result) = self.server.get_forgotten(text).await? {
            self.recover_save(context, key, text, result, false).await?;
        }
        Ok(())
    }

    /// Takes a forgotten save and then deletes it on the document server. Returns whether it is stored now.
    /// `is_from_before` means that the session had ended before the document was frozen.
    pub(super) async fn recover_save(
        &self,
        context: RequestContext,
        key: &DocumentKey,
        text: &str,
        result: ResultPath,
        is_from_before: bool,
    ) -> Result<bool> {
        let mut note = SaveNote {
            document_id: key.document.clone(),
            document_key: text.to_owned(),
            url_path_hash: String::new(),
        };
        let asked = note.clone();
        let known = self.transactor.read(context.clone(), move |tx| {
            let failed = tx.failed_save(&asked.document_id, &asked.document_key)?;
            let frozen = tx.document(&asked.document_id)?.document().frozen_at();
            Ok(written_at(failed, frozen, is_from_before))
        });
        let save = SaveCallback {
            is_final: true,
            last_save: known.await?,
            ..SaveCallback::from_result(result)
        };
        let known = self
            .read_save_target(&context, &mut note, key.generation, &save)
            .await?;
        let answer = self.apply_save(context, note, key.generation, save, known).await?;
        if answer != CallbackReply::Accepted {
            return Ok(false);
        }
        failpoint::hit("sweep.before_delete");
        self.server.delete_forgotten(text).await?;
        tracing::info!(document.key = text, "forgotten save recovered");
        Ok(true)
    }

    /// Ends sessions that are unknown to the document server, and closes editors that still write under a former key.
    async fn probe_stale_sessions(&self, holder: Option<&str>) -> Result<()> {
        let (now, patience) = (clock::now(), self.server.timeouts());
        let silent = now.plus_seconds(-patience.session_timeout_seconds());
        let former = now.plus_seconds(-patience.sweep_seconds());
        let sessions = self
            .transactor
            .platform_read(CrossTenantReason::Housekeeping, move |platform| {
                platform.stale_sessions(silent, former)
            });
        let mut failures = 0;
        for found in sessions.await? {
            if failures == FAILURES_MAX || !self.holds_lease(holder).await? {
                break;
            }
            let id = found.session.document_id.clone();
            match self.probe_session(found).await {
                // The document was deleted in the meantime.
                Ok(()) | Err(Error::NotFound) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(error = format!("{error:?}"), document.id = %id, "check of a timed out editing session failed");
                }
            }
        }
        Ok(())
    }

    async fn probe_session(&self, found: StaleSession) -> Result<()> {
        let (session, context) = (found.session, context(found.tenant));
        if found.is_former {
            let asked = session.clone();
            let frozen = self
                .transactor
                .read(context.clone(), move |tx| watching::frozen_at(tx, &asked));
            let freeze = freeze::stale_session_freeze(session, frozen.await?.unwrap_or(context.now));
            let asked = timeout(FORMER_SESSION_TIMEOUT, self.complete_freeze(&context, &freeze)).await;
            let outcome = asked.map_err(|_| Error::DocumentServerTimeout)??;
            let asked = vec![(freeze.generation, outcome)];
            self.complete(&context, &freeze.document, asked).await;
            return Ok(());
        }
        let (id, generation) = (session.document_id.clone(), session.generation);
        if !self.server.is_configured() || self.has_log(context.clone(), &id, generation).await? {
            self.save_log(context.clone(), &id, generation, None).await?;
            return self
                .transactor
                .write(context, move |tx| session_notices::end(tx, &id, generation))
                .await;
        }
        match self.server.info(&session.document_key).await? {
            DocumentInfo::Unknown => self.end_unknown(context, session).await,
            DocumentInfo::Open(Some(people)) if people.is_empty() => self.probe_empty_session(context, session).await,
            // Users have the document open without saving.
            DocumentInfo::Open(_) => Ok(()),
        }
    }

    /// Ends a session that is unknown to the document server, after taking its forgotten save.
    async fn end_unknown(&self, context: RequestContext, session: EditingSession) -> Result<()> {
        let text = &session.document_key;
        if let Some(result) = self.server.get_forgotten(text).await? {
            let key = DocumentKey {
                document: session.document_id.clone(),
                generation: session.generation,
            };
            self.recover_save(context, &key, text, result, false).await?;
            return Ok(());
        }
        self.transactor
            .write(context, move |tx| watching::end_unknown(tx, &session))
            .await
    }

    /// Handles a session without users. If nothing is left to save, the `info` command triggers a callback that ends
    /// it. Otherwise a crash of the document server left changes, which it sends when the same key is opened again.
    async fn probe_empty_session(&self, context: RequestContext, session: EditingSession) -> Result<()> {
        let until = Instant::now() + PROBE_TIMEOUT_AND_INTERVAL.0;
        while Instant::now() < until {
            let (document, generation) = (session.document_id.clone(), session.generation);
            let look = self
                .transactor
                .read(context.clone(), move |tx| tx.editing_session(&document, generation));
            match look.await? {
                None => return Ok(()),
                Some(now) if now.last_callback_at > session.last_callback_at => {
                    // A user may have reconnected.
                    if !now.editors.is_empty() {
                        return Ok(());
                    }
                    return self
                        .transactor
                        .write(context, move |tx| watching::record_lost_changes(tx, &now))
                        .await;
                }
                Some(_) => sleep(PROBE_TIMEOUT_AND_INTERVAL.1).await,
            }
        }
        Ok(())
    }
}

/// Returns the time of a forgotten save. A failed callback may have contained it. Otherwise, in a draft, the save is
/// the newest of its session. After a freeze it may be older or newer, so it is kept as a late revision, unless the
/// session had ended before the freeze.
fn written_at(failed: Option<Timestamp>, frozen: Option<Timestamp>, is_from_before: bool) -> Option<Timestamp> {
    match (failed, frozen) {
        (Some(failed), _) => Some(failed),
        (None, None) => Some(clock::now()),
        (None, Some(frozen)) => is_from_before.then_some(frozen),
    }
}
