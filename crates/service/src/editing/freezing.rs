//! A document was frozen: its open editors get time to send what was typed, are asked for what they still have, that is
//! waited for a little, and then they are dropped. The freeze holds whatever comes of this; what arrives late is sorted
//! out when it arrives.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use model::access::Viewer;
use model::id::DocumentId;
use model::save::DocumentKey;
use tokio::time::{Instant, sleep, timeout_at};

use super::Editing;
use crate::actions::freeze::{self, Freeze, Outcome};
use crate::actions::{saves, session_notices};
use adapters::document_server::client::{Forced, Known};
use common::clock;
use common::error::{Error, Result};
use common::failpoint;
use db::Standpoint;
use db::saves::EditingSession;

/// How often is looked whether it arrived: another instance may hear it, so the row is asked.
const LOOK: Duration = Duration::from_millis(60);
/// How many documents are asked about at once (contract 8.3).
const AT_ONCE: usize = 8;

impl Editing {
    /// Waits for the flush, asks all these sessions, a few at a time and until the deadline, and completes each freeze.
    /// Returns the documents whose last changes may be missing.
    pub(super) async fn settle(
        &self,
        standpoint: &Standpoint,
        freezes: Vec<Freeze>,
        deadline: Instant,
    ) -> Vec<DocumentId> {
        let mut of_documents: BTreeMap<DocumentId, Vec<Freeze>> = BTreeMap::new();
        for freeze in self.flush(standpoint, freezes, deadline).await {
            of_documents.entry(freeze.document.clone()).or_default().push(freeze);
        }
        // As many failures in a row as are asked at once: it is away, and no further document waits for it.
        let failures = &AtomicUsize::new(0);
        let asking = of_documents.into_iter().map(|(document, freezes)| async move {
            let mut asked = Vec::new();
            for freeze in &freezes {
                match self.ask(standpoint, freeze, deadline, failures).await {
                    Some(outcome) => asked.push((freeze.generation, outcome)),
                    // Deleted meanwhile: nothing of it is missing.
                    None => return None,
                }
            }
            let is_missing = asked.iter().any(|(_, outcome)| *outcome != Outcome::Complete);
            self.complete(standpoint, &document, asked).await;
            is_missing.then_some(document)
        });
        let missing = stream::iter(asking)
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready);
        let mut missing: Vec<DocumentId> = missing.collect().await;
        missing.sort();
        missing
    }

    /// Gives the pages of the editors time to send what was typed, once for all documents. Pages report when they have;
    /// a page that does not report is waited for until the bound, whatever user it belongs to.
    async fn flush(&self, standpoint: &Standpoint, freezes: Vec<Freeze>, deadline: Instant) -> Vec<Freeze> {
        if !freezes.iter().any(|freeze| freeze.is_flushing) {
            return freezes;
        }
        let until = deadline.min(Instant::now() + self.server.patience().flush());
        while Instant::now() < until {
            match self.is_flushing(standpoint, &freezes).await {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), "reports of the flush were not read");
                }
            }
            sleep(LOOK).await;
        }
        let ending = freezes.clone();
        let written = self.write(as_service(standpoint), move |work| {
            freeze::end_flush(work, ending.clone())
        });
        match written.await {
            Ok(freezes) => freezes,
            Err(error) => {
                tracing::warn!(error = format!("{error:?}"), "the end of a flush was not noted");
                freezes
            }
        }
    }

    async fn is_flushing(&self, standpoint: &Standpoint, freezes: &[Freeze]) -> Result<bool> {
        let look = self.read(standpoint.clone(), |scope| scope.open_sessions());
        let open = look.await?;
        let waits = |freeze: &Freeze| {
            let is_it = |session: &&EditingSession| {
                session.document_id == freeze.document && session.generation == freeze.generation
            };
            freeze.is_flushing && open.iter().find(is_it).is_some_and(EditingSession::is_flushing)
        };
        Ok(freezes.iter().any(waits))
    }

    async fn ask(
        &self,
        standpoint: &Standpoint,
        freeze: &Freeze,
        deadline: Instant,
        failures: &AtomicUsize,
    ) -> Option<Outcome> {
        if failures.load(Ordering::Relaxed) >= AT_ONCE {
            return Some(Outcome::Pending);
        }
        match timeout_at(deadline, self.settle_one(standpoint, freeze)).await {
            Ok(Ok(outcome)) => {
                failures.store(0, Ordering::Relaxed);
                Some(outcome)
            }
            Ok(Err(Error::NotFound)) => None,
            Ok(Err(error)) => {
                failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(error = format!("{error:?}"), document.id = %freeze.document, "an open editor was not asked");
                Some(Outcome::Pending)
            }
            Err(_) => Some(Outcome::Pending),
        }
    }

    /// Has the open editors of a draft saved that was never saved, so that it is not read as a blank page; returns whether
    /// something was saved. What cannot be saved in time is an error.
    pub async fn save_open(&self, standpoint: &Standpoint, document: &DocumentId) -> Result<bool> {
        let (here, id) = (as_service(standpoint), document.clone());
        let server = self.server.clone();
        let look = self.read(here.clone(), move |scope| {
            let document = scope.document(&id)?.whole.document;
            let key = document.key();
            let mut keys = Vec::new();
            if document.frozen_at().is_none() {
                // Its first notice may be on its way.
                keys.push((key.generation, server.key(&key)));
                let others = scope.editing_sessions(&id)?.into_iter();
                let others = others.filter(|session| session.generation != key.generation);
                keys.extend(others.map(|session| (session.generation, session.document_key)));
            }
            Ok(keys)
        });
        let mut is_saved = false;
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
                Forced::Unchanged | Forced::Unknown => continue,
                Forced::Started | Forced::Closing => {}
            }
            if self.wait_for(&here, &freeze, true).await? != Outcome::Complete {
                return Err(Error::DocumentServerTimeout);
            }
            is_saved = true;
        }
        Ok(is_saved)
    }

    /// Completes the freeze of a document. What fails here is completed by the sweep.
    pub(super) async fn complete(&self, standpoint: &Standpoint, document: &DocumentId, asked: Vec<(i64, Outcome)>) {
        let id = document.clone();
        let write = self.write(as_service(standpoint), move |work| freeze::complete(work, &id, &asked));
        match write.await {
            Ok(()) | Err(Error::NotFound) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:?}"), document.id = %document, "a freeze was not completed");
            }
        }
    }

    /// Forces a save of one session and drops its editors; returns whether everything it had is here.
    pub(super) async fn settle_one(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<Outcome> {
        failpoint::hit("freeze.before_ask");
        let before = self.session(standpoint, freeze).await?;
        let outcome = match self.server.force_save(&freeze.key, &freeze.nonce).await? {
            Forced::Unchanged => match before.filter(EditingSession::had_editors) {
                Some(session) => return self.prove_unchanged(standpoint, freeze, session).await,
                None => Outcome::Complete,
            },
            Forced::Started => self.wait_for(standpoint, freeze, before.is_some()).await?,
            Forced::Closing => self.wait_for(standpoint, freeze, true).await?,
            // No editor is there to be dropped.
            Forced::Unknown => return self.is_nothing_left(standpoint, freeze).await,
        };
        self.drop_editors(freeze).await;
        Ok(outcome)
    }

    async fn drop_editors(&self, freeze: &Freeze) {
        failpoint::hit("freeze.before_drop");
        // Browsers go read-only; one that does not may write on, and what it saves is late.
        if let Err(error) = self.server.send_out(&freeze.key).await {
            tracing::warn!(error = format!("{error:?}"), document.id = %freeze.document, "editors were not sent out");
        }
        failpoint::hit("freeze.after_drop");
    }

    /// The document server has nothing new to save of a session that had editors. What a forced save knows is kept in its
    /// memory, so after a restart that proves nothing, although its database may hold changes.
    async fn prove_unchanged(
        &self,
        standpoint: &Standpoint,
        freeze: &Freeze,
        session: EditingSession,
    ) -> Result<Outcome> {
        let patience = self.server.patience().command();
        match self.server.knows(&freeze.key).await? {
            Known::Unknown => self.is_nothing_left(standpoint, freeze).await,
            // Its database decides: it repeats its last notice, which ends the session where nothing is left. A notice without
            // editors shows that changes are pending, but the final save may be on its way just now.
            Known::Open(Some(people)) if people.is_empty() => {
                self.drop_editors(freeze).await;
                let until = Instant::now() + patience;
                let mut is_left = false;
                while Instant::now() < until {
                    let Some(now) = self.session(standpoint, freeze).await? else {
                        return Ok(Outcome::Complete);
                    };
                    let is_news = now.last_callback_at > session.last_callback_at || !session.editors.is_empty();
                    is_left |= is_news && now.editors.is_empty();
                    sleep(LOOK).await;
                }
                Ok(if is_left { Outcome::Unsaved } else { Outcome::Pending })
            }
            // Its editors are there and were there all the time.
            Known::Open(_) if !session.has_gap => {
                self.drop_editors(freeze).await;
                Ok(Outcome::Complete)
            }
            // They may have come back after a restart: the end of the session brings what its database holds.
            Known::Open(_) => {
                self.drop_editors(freeze).await;
                let until = Instant::now() + patience;
                while Instant::now() < until {
                    if self.session(standpoint, freeze).await?.is_none() {
                        return Ok(Outcome::Complete);
                    }
                    sleep(LOOK).await;
                }
                Ok(Outcome::Pending)
            }
        }
    }

    async fn session(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<Option<EditingSession>> {
        let (document, generation) = (freeze.document.clone(), freeze.generation);
        let look = self.read(standpoint.clone(), move |scope| {
            scope.editing_session(&document, generation)
        });
        look.await
    }

    /// Waits for the save with our user data, or for the end of a session that was known: the forced result is dropped when
    /// the last editor leaves while it is assembled, and then only the final save comes.
    async fn wait_for(&self, standpoint: &Standpoint, freeze: &Freeze, was_known: bool) -> Result<Outcome> {
        let failed = saves::failed(&freeze.nonce);
        let deadline = Instant::now() + self.server.patience().command();
        while Instant::now() < deadline {
            match self.session(standpoint, freeze).await? {
                None if was_known => return Ok(Outcome::Complete),
                Some(session) if session.saved_nonce.as_ref() == Some(&freeze.nonce) => return Ok(Outcome::Complete),
                Some(session) if session.saved_nonce.as_ref() == Some(&failed) => return Ok(Outcome::Pending),
                _ => sleep(LOOK).await,
            }
        }
        Ok(Outcome::Pending)
    }

    /// The document server knows no such session any more. If it keeps a save that nobody took, this is its moment: a
    /// session that was over when the document was frozen has nothing in it that is late.
    async fn is_nothing_left(&self, standpoint: &Standpoint, freeze: &Freeze) -> Result<Outcome> {
        let Some(result) = self.server.forgotten_save(&freeze.key).await? else {
            let (document, generation) = (freeze.document.clone(), freeze.generation);
            let end = self.write(as_service(standpoint), move |work| {
                session_notices::end(work, &document, generation)
            });
            end.await?;
            return Ok(Outcome::Complete);
        };
        let as_server = self.standpoint_of(&freeze.document).await?;
        let key = DocumentKey {
            document: freeze.document.clone(),
            generation: freeze.generation,
        };
        let is_taken = self
            .take_forgotten(as_server, &key, &freeze.key, result, freeze.is_new)
            .await?;
        Ok(if is_taken { Outcome::Complete } else { Outcome::Pending })
    }

    /// Completes freezes that were interrupted, as by a crash: those whose time is over. Returns whether others are under
    /// way.
    pub(super) async fn complete_interrupted(&self) -> Result<bool> {
        let freezing = self
            .store
            .platform_read(db::platform::PlatformProof::housekeeping(), |platform| {
                platform.freezing_documents()
            })
            .await?;
        let mut is_any_left = false;
        for (tenant, id, until) in freezing {
            if until > clock::now() {
                is_any_left = true;
                continue;
            }
            let standpoint = super::standpoint(tenant);
            let (asked, server) = (id.clone(), self.server.clone());
            let look = self.read(standpoint.clone(), move |scope| {
                let document = scope.document(&asked)?.whole.document;
                let sessions = scope.editing_sessions(&asked)?;
                Ok(freeze::unasked(&document, &sessions, &server))
            });
            let freezes = match look.await {
                Ok(freezes) => freezes,
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), document.id = %id, "an interrupted freeze was not completed");
                    continue;
                }
            };
            tracing::info!(document.id = %id, "an interrupted freeze is completed");
            if freezes.is_empty() {
                self.complete(&standpoint, &id, Vec::new()).await;
            } else {
                let deadline = Instant::now() + self.server.patience().command() * 2;
                self.settle(&standpoint, freezes, deadline).await;
            }
        }
        Ok(is_any_left)
    }
}

/// The same actor where everything of the organization is visible, now: the caller may have lost sight of the group since.
fn as_service(standpoint: &Standpoint) -> Standpoint {
    Standpoint {
        viewer: Viewer::Admin,
        now: clock::now(),
        ..standpoint.clone()
    }
}
