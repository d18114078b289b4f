//! What the service said yes to, what it left unanswered, and what it answered that it never should. It must never hold
//! a promise that was not made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use practice_document_server::Running;

/// Everything acknowledged.
#[derive(Default)]
pub struct Promises {
    /// Texts whose save was answered with `{"error":0}`, by document.
    pub texts: BTreeMap<String, Vec<String>>,
    /// Documents with a text that no inspection has looked for yet.
    pub fresh: BTreeSet<String>,
    /// Uploaded documents and the hash of their bytes.
    pub uploads: BTreeMap<String, String>,
    /// Created groups and their work rooms.
    pub groups: BTreeMap<String, String>,
}

/// The promises with their figures.
#[derive(Default)]
pub struct Ledger {
    promises: Mutex<Promises>,
    faults: Mutex<Vec<String>>,
    saves: AtomicU64,
    forced_saves: AtomicU64,
    unanswered: AtomicU64,
    refused: AtomicU64,
}

impl Ledger {
    /// What was promised so far.
    pub fn promises(&self) -> MutexGuard<'_, Promises> {
        self.promises.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A save of this text was acknowledged.
    pub fn saved(&self, document: &str, text: &str, forced: bool) {
        let counter = if forced { &self.forced_saves } else { &self.saves };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut promises = self.promises();
        let texts = promises.texts.entry(document.to_owned()).or_default();
        if texts.last().is_none_or(|last| last != text) {
            texts.push(text.to_owned());
        }
        promises.fresh.insert(document.to_owned());
    }

    /// An upload was acknowledged.
    pub fn uploaded(&self, document: &str, sha256: String) {
        self.promises().uploads.insert(document.to_owned(), sha256);
    }

    /// A group was acknowledged.
    pub fn created(&self, group: &str, work_room: &str) {
        self.promises().groups.insert(group.to_owned(), work_room.to_owned());
    }

    /// Something was asked and no answer came, or a save was given up.
    pub fn left_unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that happened.
    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// The service answered what it never should.
    pub fn fault(&self, what: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Notices that were answered with a no: not ready is fine while it starts or stops, all else is a fault.
    pub fn note_refusals(&self, practice: &Running) {
        for sent in practice.callbacks().iter().filter(|sent| !sent.accepted) {
            match sent.answer_status {
                None => {}
                Some(503) => {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
                Some(status) => self.fault(format!(
                    "notice {} of {} was answered with {status} {}",
                    sent.status, sent.key, sent.answer_body
                )),
            }
        }
    }

    /// Fails with every fault so far.
    pub fn no_faults(&self) {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    }

    /// One line for people.
    pub fn figures(&self) -> String {
        let promises = self.promises();
        format!(
            "acknowledged: {} final and {} forced saves, {} uploads, {} groups; left without answer: {}, refused with 503: {}",
            self.saves.load(Ordering::Relaxed),
            self.forced_saves.load(Ordering::Relaxed),
            promises.uploads.len(),
            promises.groups.len(),
            self.unanswered(),
            self.refused.load(Ordering::Relaxed),
        )
    }
}
