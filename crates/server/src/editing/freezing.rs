//! A document was frozen: its open editors are asked for what they still have, that is waited for a little, and then they
//! are sent out. The freeze holds whatever comes of this; what arrives late is sorted out when it arrives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use model::id::DocumentId;
use model::save::DocumentKey;
use tokio::time::{Instant, sleep, timeout_at};

use super::Editing;
use crate::actions::freeze::Freeze;
use crate::actions::saves;
use crate::document_server::client::Forced;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::store::Standpoint;
use crate::store::saves::EditingSession;

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
        // As many failures in a row as are asked at once: it is away, and nobody shall wait for each document anew.
        let failures = &AtomicUsize::new(0);
        let asking = freezes.into_iter().map(|freeze| async move {
            let document = freeze.document.clone();
            if failures.load(Ordering::Relaxed) >= AT_ONCE {
                return Some(document);
            }
            let asked = timeout_at(deadline, self.settle_one(standpoint, &freeze)).await;
            match asked {
                Ok(Ok(is_here)) => {
                    failures.store(0, Ordering::Relaxed);
                    (!is_here).then_some(document)
                }
                // Deleted meanwhile: nothing of it is missing.
                Ok(Err(Error::NotFound)) => None,
                Ok(Err(error)) => {
                    failures.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(error = format!("{error:?}"), document.id = %document, "an open editor was not asked");
                    Some(document)
                }
                Err(_) => Some(document),
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
    pub(super) async fn settle_one(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<bool> {
        failpoint::hit("freeze.before_ask");
        let before = self.session(standpoint, freeze).await?;
        let is_here = match self.server.force_save(&freeze.key, &freeze.nonce).await? {
            Forced::Unchanged => true,
            Forced::Started => self.wait_for(standpoint, freeze, before.is_some()).await?,
            Forced::Closing => self.wait_for(standpoint, freeze, true).await?,
            // Nobody is there to be sent out.
            Forced::Unknown => return self.is_nothing_left(standpoint, freeze).await,
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
        let deadline = Instant::now() + self.server.patience().command();
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

    /// The document server knows no such session any more. If it keeps a save that nobody took, this is its moment: a
    /// session that was over when the document was frozen has nothing in it that is late.
    async fn is_nothing_left(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<bool> {
        let Some(result) = self.server.forgotten_save(&freeze.key).await? else {
            let (document, generation) = (freeze.document.clone(), freeze.generation);
            self.write(standpoint.clone(), move |work| work.end_session(&document, generation))
                .await?;
            return Ok(true);
        };
        let as_server = self.standpoint_of(&freeze.document).await?;
        let key = DocumentKey {
            document: freeze.document.clone(),
            generation: freeze.generation,
        };
        self.take_forgotten(as_server, &key, &freeze.key, result, freeze.is_new)
            .await
    }
}
