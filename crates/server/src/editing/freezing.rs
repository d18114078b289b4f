//! A document was frozen: its open editors are asked for what they still have, that is waited for a little, and then they
//! are sent out. The freeze holds whatever comes of this; what arrives late is sorted out when it arrives.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use model::id::DocumentId;
use tokio::time::{Instant, sleep, timeout_at};

use super::Editing;
use super::saving::Answer;
use crate::actions::freeze::Freeze;
use crate::actions::saves;
use crate::clock;
use crate::document_server::client::Forced;
use crate::document_server::notice::SaveNotice;
use crate::error::Result;
use crate::failpoint;
use crate::store::Standpoint;
use crate::store::saves::{EditingSession, SaveNote};

/// How long a forced save is waited for (contract 8.3).
const WAIT: Duration = Duration::from_secs(10);
/// How often is looked whether it arrived: another instance may hear it, so the row is asked.
const LOOK: Duration = Duration::from_millis(60);
/// How many documents are asked about at once (contract 8.3).
const AT_ONCE: usize = 8;

impl Editing {
    /// Asks all these sessions, a few at a time and until the deadline; answers the documents whose last writing may be
    /// missing.
    pub(super) async fn settle(
        &self,
        standpoint: &Standpoint,
        freezes: Vec<Freeze>,
        deadline: Instant,
    ) -> Vec<DocumentId> {
        let asking = freezes.into_iter().map(|freeze| async move {
            let document = freeze.document.clone();
            let asked = timeout_at(deadline, self.settle_one(standpoint, &freeze)).await;
            match asked {
                Ok(Ok(true)) => None,
                Ok(Ok(false)) | Err(_) => Some(document),
                Ok(Err(error)) => {
                    tracing::warn!(error = format!("{error:?}"), document.id = %document, "an open editor was not asked");
                    Some(document)
                }
            }
        });
        let missing = stream::iter(asking)
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready);
        let mut missing: Vec<DocumentId> = missing.collect().await;
        missing.sort();
        missing.dedup();
        missing
    }

    /// Asks one session for its last words and sends its editors out; answers whether everything it had is here.
    async fn settle_one(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<bool> {
        failpoint::hit("freeze.before_ask");
        let before = self.session(standpoint, freeze).await?;
        let is_here = match self.server.force_save(&freeze.key, &freeze.nonce).await? {
            Forced::Unchanged => true,
            Forced::Started => self.wait_for(standpoint, freeze, before.is_some()).await?,
            Forced::Closing => self.wait_for(standpoint, freeze, true).await?,
            Forced::Unknown => self.is_nothing_left(standpoint, freeze).await?,
        };
        failpoint::hit("freeze.before_drop");
        // Browsers go read-only; one that does not may write on, and what it saves is late.
        if let Err(error) = self.server.send_out(&freeze.key).await {
            tracing::warn!(error = format!("{error:?}"), document.id = %freeze.document, "editors were not sent out");
        }
        failpoint::hit("freeze.after_drop");
        Ok(is_here)
    }

    async fn session(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<Option<EditingSession>> {
        let (document, generation) = (freeze.document.clone(), freeze.generation);
        let look = self.read(standpoint.clone(), move |scope| {
            scope.editing_session(&document, generation)
        });
        look.await
    }

    /// Waits for the save with our words, or for the end of a session that was known.
    async fn wait_for(&self, standpoint: &Standpoint, freeze: &Freeze, was_known: bool) -> Result<bool> {
        let failed = saves::failed(&freeze.nonce);
        let deadline = Instant::now() + WAIT;
        while Instant::now() < deadline {
            match self.session(standpoint, freeze).await? {
                None if was_known => return Ok(true),
                Some(session) if session.saved_nonce.as_ref() == Some(&freeze.nonce) => return Ok(true),
                Some(session) if session.saved_nonce.as_ref() == Some(&failed) => return Ok(false),
                _ => sleep(LOOK).await,
            }
        }
        Ok(false)
    }

    /// The document server knows no such session any more. If it keeps a save that nobody took, this is its moment: the
    /// session was over before the freeze, so nothing in it is late.
    async fn is_nothing_left(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<bool> {
        let Some(result) = self.server.forgotten_save(&freeze.key).await? else {
            let (document, generation) = (freeze.document.clone(), freeze.generation);
            self.write(standpoint.clone(), move |work| work.end_session(&document, generation))
                .await?;
            return Ok(true);
        };
        let as_server = self.standpoint_of(&freeze.document).await?;
        let save = SaveNotice {
            is_final: true,
            last_save: Some(clock::now()),
            nonce: Some(freeze.nonce.clone()),
            ..SaveNotice::of_result(result)
        };
        let note = SaveNote {
            document_id: freeze.document.clone(),
            document_key: freeze.key.clone(),
            url_path_hash: String::new(),
        };
        let answer = self.take_save(as_server, note, freeze.generation, save).await?;
        if answer == Answer::Taken {
            self.server.delete_forgotten(&freeze.key).await?;
        }
        Ok(answer == Answer::Taken)
    }
}
