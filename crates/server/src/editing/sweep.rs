//! Once a minute, by one instance: saves that came while the service was down are brought home, and editors that were
//! silent for long are asked after. Each is a step that can be repeated; a failure waits for the next minute.

use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use super::saving::Answer;
use super::{Editing, standpoint};
use crate::actions::freeze::Freeze;
use crate::actions::saves;
use crate::clock;
use crate::document_server::notice::SaveNotice;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::store::platform::PlatformProof;
use crate::store::platform::editing::SilentSession;
use crate::store::saves::SaveNote;

/// How often.
const PAUSE: Duration = Duration::from_mins(1);
/// The name of the turn, and for how many seconds one instance has it: longer than the pause, so it stays with one.
const TURN: (&str, i64) = ("editing_sweep", 90);
/// Seconds of silence after which a session is asked after, and after which one of a former key is ended.
const SILENCE: (i64, i64) = (600, 60);

impl Editing {
    /// Starts the sweep; it ends with the value. `holder` names this instance among those on the same database. Without a
    /// document server there is nothing to sweep.
    pub fn start_sweep(&self, holder: String) -> Option<AbortOnDropHandle<()>> {
        if !self.server.is_configured() {
            return None;
        }
        let editing = self.clone();
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            // The first round comes at once: it completes what the last run was interrupted in.
            loop {
                match editing.take_turn(&holder).await {
                    Ok(true) => editing.sweep().await,
                    Ok(false) => {}
                    Err(error) => tracing::warn!(error = format!("{error:?}"), "the sweep waits for the database"),
                }
                tokio::time::sleep(PAUSE).await;
            }
        })))
    }

    async fn take_turn(&self, holder: &str) -> Result<bool> {
        let (holder, now) = (holder.to_owned(), clock::now());
        let take = self
            .store
            .platform_write(PlatformProof::housekeeping(), move |platform| {
                platform.take_turn(TURN.0, &holder, now.plus_seconds(TURN.1), now)
            });
        take.await
    }

    /// One round.
    pub async fn sweep(&self) {
        if let Err(error) = self.bring_home().await {
            tracing::warn!(
                error = format!("{error:?}"),
                "forgotten saves wait at the document server"
            );
        }
        if let Err(error) = self.ask_after_the_silent().await {
            tracing::warn!(error = format!("{error:?}"), "silent editors were not asked after");
        }
    }

    /// Takes every save that the document server kept because nobody took it.
    async fn bring_home(&self) -> Result<()> {
        for key in self.server.forgotten_keys().await? {
            if let Err(error) = self.bring_one_home(&key).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    document.key = key,
                    "a forgotten save was not taken"
                );
            }
        }
        Ok(())
    }

    async fn bring_one_home(&self, text: &str) -> Result<()> {
        // Keys of other installations, and of documents that are gone, are not ours to touch.
        let Some(key) = self.server.parse_key(text) else {
            return Ok(());
        };
        let standpoint = match self.standpoint_of(&key.document).await {
            Err(Error::NotFound) => return Ok(()),
            standpoint => standpoint?,
        };
        // Who opens the document under this key gets what was forgotten, and writes on in it: his saves have it all, and
        // one of them may be here already. What is kept is older then, or goes with his last save.
        if self.server.knows(text).await? {
            return Ok(());
        }
        let Some(result) = self.server.forgotten_save(text).await? else {
            return Ok(());
        };
        let note = SaveNote {
            document_id: key.document.clone(),
            document_key: text.to_owned(),
            url_path_hash: String::new(),
        };
        let asked = note.clone();
        let known = self.read(standpoint.clone(), move |scope| {
            let failed = scope.failed_save(&asked.document_id, &asked.document_key)?;
            let is_frozen = scope.document(&asked.document_id)?.document().frozen_at().is_some();
            Ok((failed, is_frozen))
        });
        let last_save = match known.await? {
            (Some(failed), _) => Some(failed),
            // Nobody knows when it was written. In a draft it is the newest there is of its session; after a freeze it
            // may be older or newer, so it is kept beside the document.
            (None, false) => Some(clock::now()),
            (None, true) => None,
        };
        let save = SaveNotice {
            is_final: true,
            last_save,
            ..SaveNotice::of_result(result)
        };
        let answer = self.take_save(standpoint, note, key.generation, save).await?;
        if answer == Answer::Taken {
            failpoint::hit("sweep.before_delete");
            self.server.delete_forgotten(text).await?;
            tracing::info!(document.key = text, "a forgotten save was brought home");
        }
        Ok(())
    }

    /// Ends sessions that nobody knows any more, and closes editors that still write under a former key.
    async fn ask_after_the_silent(&self) -> Result<()> {
        let now = clock::now();
        let (silent, former) = (now.plus_seconds(-SILENCE.0), now.plus_seconds(-SILENCE.1));
        let sessions = self
            .store
            .platform_read(PlatformProof::housekeeping(), move |platform| {
                platform.silent_sessions(silent, former)
            });
        for found in sessions.await? {
            let id = found.session.document_id.clone();
            if let Err(error) = self.ask_after(found).await {
                tracing::warn!(error = format!("{error:?}"), document.id = %id, "a silent editor was not asked after");
            }
        }
        Ok(())
    }

    async fn ask_after(&self, found: SilentSession) -> Result<()> {
        let session = found.session;
        let standpoint = standpoint(found.tenant);
        if !self.server.knows(&session.document_key).await? {
            let (document, generation) = (session.document_id, session.generation);
            return self
                .write(standpoint, move |work| work.end_session(&document, generation))
                .await;
        }
        if found.is_former {
            let id = session.document_id.clone();
            let frozen = self.read(standpoint.clone(), move |scope| {
                Ok(scope.document(&id)?.document().frozen_at())
            });
            let freeze = Freeze {
                nonce: saves::nonce(frozen.await?.unwrap_or(standpoint.now)),
                document: session.document_id,
                generation: session.generation,
                key: session.document_key,
            };
            let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
            self.settle(&standpoint, vec![freeze], deadline).await;
        }
        Ok(())
    }
}
