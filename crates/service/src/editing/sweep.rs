//! Every minute, by one instance: saves that came while the service was down are brought home, and editors that were
//! silent for long are asked after. Each is a step that can be repeated; a failure waits for the next round.

use std::time::Duration;

use model::save::DocumentKey;
use model::time::Timestamp;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::saving::Answer;
use super::{Editing, standpoint};
use crate::actions::{freeze, watching};
use adapters::document_server::client::Known;
use adapters::document_server::notice::SaveNotice;
use adapters::document_server::result_path::ResultPath;
use common::clock;
use common::error::{Error, Result};
use common::failpoint;
use db::Standpoint;
use db::platform::PlatformProof;
use db::platform::editing::SilentSession;
use db::saves::{EditingSession, SaveNote};

/// The name of the turn.
const TURN: &str = "editing_sweep";
/// How long the editors of one former key are waited for.
const FORMER: Duration = Duration::from_secs(20);
/// How long the news that the document server repeats is waited for, and how often is looked.
const NEWS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(60));
/// How often is looked after a freeze that is under way: the instance that began it may be gone.
const FREEZING: Duration = Duration::from_secs(2);
/// So many failures in a row say that the document server is away: the rest waits for the next round.
const FAILURES: u32 = 3;

impl Editing {
    /// Starts the sweep; it ends with the value. `holder` names this instance among those on the same database. Without a
    /// document server there is nothing to sweep.
    pub fn start_sweep(&self, holder: String) -> Option<AbortOnDropHandle<()>> {
        if !self.server.is_configured() {
            return None;
        }
        let editing = self.clone();
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            let pause = editing.server.patience().sweep();
            // The first round comes at once: it completes what the last run was interrupted in.
            loop {
                let is_freezing = match editing.complete_interrupted().await {
                    Ok(is_freezing) => is_freezing,
                    Err(error) => {
                        tracing::warn!(error = format!("{error:?}"), "interrupted freezes wait");
                        true
                    }
                };
                let taken = editing.take_turn(&holder).await;
                match &taken {
                    Ok(true) => editing.round(Some(&holder)).await,
                    Ok(false) => {}
                    Err(error) => tracing::warn!(error = format!("{error:?}"), "the sweep waits for the database"),
                }
                // Whoever has the turn may be gone: then it is soon free.
                let pause = if matches!(taken, Ok(true)) { pause } else { pause / 4 };
                sleep(if is_freezing { pause.min(FREEZING) } else { pause }).await;
            }
        })))
    }

    /// Takes the turn, or prolongs it: longer than the pause, so it stays with one instance.
    async fn take_turn(&self, holder: &str) -> Result<bool> {
        let (holder, now) = (holder.to_owned(), clock::now());
        let pause = self.server.patience().sweep_seconds();
        let until = now.plus_seconds(pause.saturating_add(pause / 2).max(pause.saturating_add(1)));
        let take = self
            .store
            .platform_write(PlatformProof::housekeeping(), move |platform| {
                platform.take_turn(TURN, &holder, until, now)
            });
        take.await
    }

    /// One round, whoever has the turn.
    pub async fn sweep(&self) {
        if let Err(error) = self.complete_interrupted().await {
            tracing::warn!(error = format!("{error:?}"), "interrupted freezes wait");
        }
        self.round(None).await;
    }

    /// One round. With a holder it ends when another instance has taken the turn over, as after a long stop.
    async fn round(&self, holder: Option<&str>) {
        if let Err(error) = self.bring_home(holder).await {
            tracing::warn!(
                error = format!("{error:?}"),
                "forgotten saves wait at the document server"
            );
        }
        if let Err(error) = self.close_deleted().await {
            tracing::warn!(error = format!("{error:?}"), "editors of deleted documents wait");
        }
        if let Err(error) = self.ask_after_the_silent(holder).await {
            tracing::warn!(error = format!("{error:?}"), "silent editors were not asked after");
        }
    }

    async fn is_ours(&self, holder: Option<&str>) -> Result<bool> {
        match holder {
            Some(holder) => self.take_turn(holder).await,
            None => Ok(true),
        }
    }

    /// Takes every save that the document server kept because nobody took it; one that cannot be taken stops no other.
    async fn bring_home(&self, holder: Option<&str>) -> Result<()> {
        for text in self.server.forgotten_keys().await? {
            // Keys of other installations are not ours to touch.
            let Some(key) = self.server.parse_key(&text) else {
                continue;
            };
            if !self.is_ours(holder).await? {
                break;
            }
            if let Err(error) = self.bring_one_home(&key, &text).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    document.key = text,
                    "a forgotten save was not taken"
                );
            }
        }
        Ok(())
    }

    async fn bring_one_home(&self, key: &DocumentKey, text: &str) -> Result<()> {
        let standpoint = match self.standpoint_of(&key.document).await {
            Err(Error::NotFound) => return self.take_forgotten_late_text(key, text).await,
            standpoint => standpoint?,
        };
        // Who opens the document under this key gets what was forgotten and writes on in it: his saves have it all, and it
        // goes with the last of them.
        if let Known::Open(Some(people)) = self.server.knows(text).await?
            && !people.is_empty()
        {
            return Ok(());
        }
        if let Some(result) = self.server.forgotten_save(text).await? {
            self.take_forgotten(standpoint, key, text, result, false).await?;
        }
        Ok(())
    }

    /// Takes a save that nobody took, and lets the document server throw it away; answers whether it is here now.
    /// `is_from_before`: the session was over when the document was frozen.
    pub(super) async fn take_forgotten(
        &self,
        standpoint: Standpoint,
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
        let known = self.read(standpoint.clone(), move |scope| {
            let failed = scope.failed_save(&asked.document_id, &asked.document_key)?;
            let frozen = scope.document(&asked.document_id)?.document().frozen_at();
            Ok(written_at(failed, frozen, is_from_before))
        });
        let save = SaveNotice {
            is_final: true,
            last_save: known.await?,
            ..SaveNotice::of_result(result)
        };
        let known = self.know(&standpoint, &mut note, key.generation, &save).await?;
        let answer = self.take_save(standpoint, note, key.generation, save, known).await?;
        if answer != Answer::Taken {
            return Ok(false);
        }
        failpoint::hit("sweep.before_delete");
        self.server.delete_forgotten(text).await?;
        tracing::info!(document.key = text, "a forgotten save was brought home");
        Ok(true)
    }

    /// Ends sessions that nobody knows any more, and closes editors that still write under a former key.
    async fn ask_after_the_silent(&self, holder: Option<&str>) -> Result<()> {
        let (now, patience) = (clock::now(), self.server.patience());
        let silent = now.plus_seconds(-patience.silence_seconds());
        let former = now.plus_seconds(-patience.sweep_seconds());
        let sessions = self
            .store
            .platform_read(PlatformProof::housekeeping(), move |platform| {
                platform.silent_sessions(silent, former)
            });
        let mut failures = 0;
        for found in sessions.await? {
            if failures == FAILURES || !self.is_ours(holder).await? {
                break;
            }
            let id = found.session.document_id.clone();
            match self.ask_after(found).await {
                // Deleted since.
                Ok(()) | Err(Error::NotFound) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(error = format!("{error:?}"), document.id = %id, "a silent editor was not asked after");
                }
            }
        }
        Ok(())
    }

    async fn ask_after(&self, found: SilentSession) -> Result<()> {
        let (session, standpoint) = (found.session, standpoint(found.tenant));
        if found.is_former {
            let asked = session.clone();
            let frozen = self.read(standpoint.clone(), move |scope| watching::frozen_at(scope, &asked));
            let freeze = freeze::silent(session, frozen.await?.unwrap_or(standpoint.now));
            let asked = timeout(FORMER, self.settle_one(&standpoint, &freeze)).await;
            let outcome = asked.map_err(|_| Error::DocumentServerTimeout)??;
            let asked = vec![(freeze.generation, outcome)];
            self.complete(&standpoint, &freeze.document, asked).await;
            return Ok(());
        }
        match self.server.knows(&session.document_key).await? {
            Known::Unknown => self.end_unknown(standpoint, session).await,
            Known::Open(Some(people)) if people.is_empty() => self.look_after(standpoint, session).await,
            // Somebody reads or thinks.
            Known::Open(_) => Ok(()),
        }
    }

    /// A session that the document server does not know: what it may have kept is taken first.
    async fn end_unknown(&self, standpoint: Standpoint, session: EditingSession) -> Result<()> {
        let text = &session.document_key;
        if let Some(result) = self.server.forgotten_save(text).await? {
            let key = DocumentKey {
                document: session.document_id.clone(),
                generation: session.generation,
            };
            self.take_forgotten(standpoint, &key, text, result, false).await?;
            return Ok(());
        }
        self.write(standpoint, move |work| watching::end_unknown(work, &session))
            .await
    }

    /// A session without people. If it has nothing to save, the document server says so now and it is over; else a crash
    /// over there left changes behind, which come with the next opening of the same key.
    async fn look_after(&self, standpoint: Standpoint, session: EditingSession) -> Result<()> {
        let until = Instant::now() + NEWS.0;
        while Instant::now() < until {
            let (document, generation) = (session.document_id.clone(), session.generation);
            let look = self.read(standpoint.clone(), move |scope| {
                scope.editing_session(&document, generation)
            });
            match look.await? {
                None => return Ok(()),
                Some(now) if now.last_callback_at > session.last_callback_at => {
                    // Somebody may have come back just now.
                    if !now.editors.is_empty() {
                        return Ok(());
                    }
                    return self
                        .write(standpoint, move |work| watching::tell_staff(work, &now))
                        .await;
                }
                Some(_) => sleep(NEWS.1).await,
            }
        }
        Ok(())
    }
}

/// When a save was written that nobody took. A failed notice may have said so. Otherwise it is the newest there is of its
/// session in a draft; after a freeze it may be older or newer, so it is kept beside the document, unless the session was
/// over by then.
fn written_at(failed: Option<Timestamp>, frozen: Option<Timestamp>, is_from_before: bool) -> Option<Timestamp> {
    match (failed, frozen) {
        (Some(failed), _) => Some(failed),
        (None, None) => Some(clock::now()),
        (None, Some(frozen)) => is_from_before.then_some(frozen),
    }
}
