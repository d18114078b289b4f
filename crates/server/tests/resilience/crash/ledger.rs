//! What the service said yes to, what it left unanswered, and what it answered that it never should. It must never hold
//! a promise that was not made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use document_server_simulator::RunningSimulator;

/// Everything acknowledged.
#[derive(Default)]
pub struct Promises {
    /// Texts whose save was answered with `{"error":0}`, by document.
    pub texts: BTreeMap<String, Vec<String>>,
    /// How each of them was acknowledged, for whoever wonders.
    pub how: BTreeMap<String, Vec<String>>,
    /// Documents with a text that no inspection has looked for yet.
    pub fresh: BTreeSet<String>,
    /// Uploaded documents and the hashes their bytes may have: one, unless the last answer is missing.
    pub uploads: BTreeMap<String, Vec<String>>,
    /// Documents that were deleted.
    pub deleted: BTreeSet<String>,
    /// Created groups and their work rooms.
    pub groups: BTreeMap<String, String>,
    /// What was handed in.
    pub attempts: Vec<Attempt>,
    /// Topics by what was answered last; one that is missing was asked for something and did not answer.
    pub topics: BTreeMap<String, Topic>,
    /// Messages with their place, by room.
    pub said: BTreeMap<String, BTreeMap<String, i64>>,
}

/// A document that was handed in.
#[derive(Clone)]
pub struct Attempt {
    pub document: String,
    /// The submission, if its answer came.
    pub submission: Option<String>,
    /// What the copy has at least.
    pub texts: Vec<String>,
}

/// A topic of one group.
pub struct Topic {
    pub room: String,
    pub is_finished: bool,
}

/// The promises with their figures.
#[derive(Default)]
pub struct Ledger {
    promises: Mutex<Promises>,
    faults: Mutex<Vec<String>>,
    /// While a disk is made to fail, the service may say that something went wrong.
    may_fail: AtomicBool,
    /// While nobody kills the service, a request without an answer is a fault.
    must_answer: AtomicBool,
    saves: AtomicU64,
    forced_saves: AtomicU64,
    finishes: AtomicU64,
    reopened: AtomicU64,
    unanswered: AtomicU64,
    refused: AtomicU64,
}

impl Ledger {
    /// What was promised so far.
    pub fn promises(&self) -> MutexGuard<'_, Promises> {
        self.promises.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A save of this text was acknowledged.
    pub fn saved(&self, document: &str, text: &str, forced: bool, how: &str) {
        let counter = if forced { &self.forced_saves } else { &self.saves };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut promises = self.promises();
        let texts = promises.texts.entry(document.to_owned()).or_default();
        if texts.last().is_none_or(|last| last != text) {
            texts.push(text.to_owned());
        }
        let note = format!("{text} by {how}");
        promises.how.entry(document.to_owned()).or_default().push(note);
        promises.fresh.insert(document.to_owned());
    }

    /// An upload, or one in the place of another, was acknowledged.
    pub fn uploaded(&self, document: &str, sha256: String) {
        self.promises().uploads.insert(document.to_owned(), vec![sha256]);
    }

    /// Other bytes are on their way.
    pub fn may_become(&self, document: &str, sha256: String) {
        if let Some(hashes) = self.promises().uploads.get_mut(document) {
            hashes.push(sha256);
        }
    }

    /// A document may be gone: nothing is promised of it any more.
    pub fn may_go(&self, document: &str) {
        self.promises().uploads.remove(document);
    }

    /// Its deletion was acknowledged.
    pub fn deleted(&self, document: &str) {
        self.promises().deleted.insert(document.to_owned());
    }

    /// A group was acknowledged.
    pub fn created(&self, group: &str, work_room: &str) {
        self.promises().groups.insert(group.to_owned(), work_room.to_owned());
    }

    /// A document was handed in with everything that was acknowledged until then.
    pub fn handed_in(&self, document: &str, submission: Option<String>, texts: Vec<String>) {
        self.promises().attempts.push(Attempt {
            document: document.to_owned(),
            submission,
            texts,
        });
    }

    /// The texts of a document that were acknowledged.
    pub fn texts_of(&self, document: &str) -> Vec<String> {
        self.promises().texts.get(document).cloned().unwrap_or_default()
    }

    /// A topic is asked to finish or to reopen: until the answer it may be either.
    pub fn may_turn(&self, topic: &str) {
        self.promises().topics.remove(topic);
    }

    /// It answered.
    pub fn turned(&self, topic: &str, room: &str, is_finished: bool) {
        let counter = if is_finished { &self.finishes } else { &self.reopened };
        counter.fetch_add(1, Ordering::Relaxed);
        let room = room.to_owned();
        let topics = &mut self.promises().topics;
        topics.insert(topic.to_owned(), Topic { room, is_finished });
    }

    /// A message was acknowledged. Said again under the same id of its sender, it has the same place.
    pub fn said(&self, room: &str, text: &str, seq: i64) {
        let mut promises = self.promises();
        let before = promises
            .said
            .entry(room.to_owned())
            .or_default()
            .insert(text.to_owned(), seq);
        drop(promises);
        if before.is_some_and(|before| before != seq) {
            self.fault(format!("{text} has place {seq} and had {before:?} before"));
        }
    }

    /// Something was asked and no answer came, or a save was given up.
    pub fn left_unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on everything that is asked must be answered: the service lives, whatever it lives on.
    pub fn everything_is_answered(&self) {
        self.must_answer.store(true, Ordering::SeqCst);
    }

    /// No answer came.
    pub fn silent(&self, why: &reqwest::Error) {
        if self.must_answer.load(Ordering::SeqCst) {
            self.fault(format!("no answer: {why:?}"));
        }
    }

    /// How often that happened.
    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// How often the service said not now.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// From now on the disk may fail, and the service say so; or no longer.
    pub fn disk_may_fail(&self, may_fail: bool) {
        self.may_fail.store(may_fail, Ordering::SeqCst);
    }

    /// Notes an answer that is none of the expected ones. Not now is fine while the service starts or stops, and a fault
    /// of the service while its disk fails; all else it must never say.
    pub fn unexpected(&self, status: u16, what: impl FnOnce() -> String) {
        // A notice is answered with 200 and a number that says no.
        let is_excused = matches!(status, 200 | 500) && self.may_fail.load(Ordering::SeqCst);
        if status == 503 {
            self.refused.fetch_add(1, Ordering::Relaxed);
        } else if !is_excused {
            self.fault(what());
        }
    }

    /// The service answered what it never should.
    pub fn fault(&self, what: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Notices that were answered with a no: not ready is fine while it starts or stops, all else is a fault.
    pub fn note_refusals(&self, practice: &RunningSimulator) {
        for sent in practice.callbacks().iter().filter(|sent| !sent.accepted) {
            if let Some(status) = sent.answer_status {
                self.unexpected(status, || {
                    let (status, key) = (sent.status, &sent.key);
                    format!(
                        "notice {status} of {key} was answered with {:?} {}",
                        sent.answer_status, sent.answer_body
                    )
                });
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
            "acknowledged: {} final and {} forced saves, {} uploads, {} groups, {} hand-ins, {} finishes, {} reopenings, \
             {} messages; left without answer: {}, refused with 503: {}",
            self.saves.load(Ordering::Relaxed),
            self.forced_saves.load(Ordering::Relaxed),
            promises.uploads.len(),
            promises.groups.len(),
            promises.attempts.len(),
            self.finishes.load(Ordering::Relaxed),
            self.reopened.load(Ordering::Relaxed),
            promises.said.values().map(BTreeMap::len).sum::<usize>(),
            self.unanswered(),
            self.refused.load(Ordering::Relaxed),
        )
    }
}
