//! Records what the service acknowledged, which requests had no response and which responses are never allowed. The
//! ledger never contains an acknowledgement that the service did not send.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use document_server_simulator::RunningSimulator;

/// Everything that the service acknowledged.
#[derive(Default)]
pub struct Acknowledged {
    /// The texts whose save was acknowledged with `{"error":0}`, by document.
    pub texts: BTreeMap<String, Vec<String>>,
    /// How each text was acknowledged, for diagnosis.
    pub how: BTreeMap<String, Vec<String>>,
    /// The documents with a text that no inspection has checked yet.
    pub fresh: BTreeSet<String>,
    /// The uploaded documents and the hashes that their content may have. There is one hash unless the last response is
    /// missing.
    pub uploads: BTreeMap<String, Vec<String>>,
    /// The deleted documents.
    pub deleted: BTreeSet<String>,
    /// The created groups and their work rooms.
    pub groups: BTreeMap<String, String>,
    /// The submitted documents.
    pub attempts: Vec<Attempt>,
    /// The topics in the state of the last response. A topic with a request that has no response yet is absent.
    pub topics: BTreeMap<String, Topic>,
    /// The messages with their sequence number, by room.
    pub posted: BTreeMap<String, BTreeMap<String, i64>>,
}

/// A submitted document.
#[derive(Clone)]
pub struct Attempt {
    pub document: String,
    /// The submission id, if the response arrived.
    pub submission: Option<String>,
    /// The texts that the submitted copy contains at least.
    pub texts: Vec<String>,
}

/// The acknowledged state of a topic.
pub struct Topic {
    pub room: String,
    pub is_finished: bool,
}

/// The acknowledgements and the counters of a run.
#[derive(Default)]
pub struct Oracle {
    acknowledged: Mutex<Acknowledged>,
    faults: Mutex<Vec<String>>,
    /// While a disk is made to fail, the service may respond with an internal error.
    may_fail: AtomicBool,
    /// While the service is not killed, a request without a response is a fault.
    must_answer: AtomicBool,
    saves: AtomicU64,
    forced_saves: AtomicU64,
    finishes: AtomicU64,
    reopened: AtomicU64,
    without_response: AtomicU64,
    refused: AtomicU64,
}

impl Oracle {
    /// Locks and returns the acknowledgements so far.
    pub fn acknowledged(&self) -> MutexGuard<'_, Acknowledged> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the save of a text was acknowledged.
    pub fn saved(&self, document: &str, text: &str, forced: bool, how: &str) {
        let counter = if forced { &self.forced_saves } else { &self.saves };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut acknowledged = self.acknowledged();
        let texts = acknowledged.texts.entry(document.to_owned()).or_default();
        if texts.last().is_none_or(|last| last != text) {
            texts.push(text.to_owned());
        }
        let note = format!("{text} by {how}");
        acknowledged.how.entry(document.to_owned()).or_default().push(note);
        acknowledged.fresh.insert(document.to_owned());
    }

    /// Records that an upload or a replacement of an uploaded file was acknowledged.
    pub fn uploaded(&self, document: &str, sha256: String) {
        self.acknowledged().uploads.insert(document.to_owned(), vec![sha256]);
    }

    /// Records that a replacement was requested: until the response the document may have either content.
    pub fn may_have_content(&self, document: &str, sha256: String) {
        if let Some(hashes) = self.acknowledged().uploads.get_mut(document) {
            hashes.push(sha256);
        }
    }

    /// Records that a document may be deleted: nothing is guaranteed for it from now on.
    pub fn may_be_deleted(&self, document: &str) {
        self.acknowledged().uploads.remove(document);
    }

    /// Records that the deletion of a document was acknowledged.
    pub fn deleted(&self, document: &str) {
        self.acknowledged().deleted.insert(document.to_owned());
    }

    /// Records that the creation of a group was acknowledged.
    pub fn created(&self, group: &str, work_room: &str) {
        self.acknowledged()
            .groups
            .insert(group.to_owned(), work_room.to_owned());
    }

    /// Records that a document was submitted. The copy must contain every text that was acknowledged before.
    pub fn submitted(&self, document: &str, submission: Option<String>, texts: Vec<String>) {
        self.acknowledged().attempts.push(Attempt {
            document: document.to_owned(),
            submission,
            texts,
        });
    }

    /// Returns the acknowledged texts of a document.
    pub fn texts_of(&self, document: &str) -> Vec<String> {
        self.acknowledged().texts.get(document).cloned().unwrap_or_default()
    }

    /// Records that finishing or reopening a topic was requested: until the response the topic may have either state.
    pub fn topic_may_change(&self, topic: &str) {
        self.acknowledged().topics.remove(topic);
    }

    /// Records that finishing or reopening a topic was acknowledged.
    pub fn topic_changed(&self, topic: &str, room: &str, is_finished: bool) {
        let counter = if is_finished { &self.finishes } else { &self.reopened };
        counter.fetch_add(1, Ordering::Relaxed);
        let room = room.to_owned();
        let topics = &mut self.acknowledged().topics;
        topics.insert(topic.to_owned(), Topic { room, is_finished });
    }

    /// Records that a message was acknowledged. A message that is repeated with the same client message id must keep
    /// its sequence number.
    pub fn posted(&self, room: &str, text: &str, seq: i64) {
        let mut acknowledged = self.acknowledged();
        let before = acknowledged
            .posted
            .entry(room.to_owned())
            .or_default()
            .insert(text.to_owned(), seq);
        drop(acknowledged);
        if before.is_some_and(|before| before != seq) {
            self.fault(format!("{text} has place {seq} and had {before:?} before"));
        }
    }

    /// Records a request without a response, or a save that was abandoned.
    pub fn request_abandoned(&self) {
        self.without_response.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on every request must have a response, because the service is not killed any more.
    pub fn require_responses(&self) {
        self.must_answer.store(true, Ordering::SeqCst);
    }

    /// Records a failed request. It is a fault if the service is running.
    pub fn request_failed(&self, why: &reqwest::Error) {
        if self.must_answer.load(Ordering::SeqCst) {
            self.fault(format!("no answer: {why:?}"));
        }
    }

    /// Returns the number of requests without a response.
    pub fn without_response(&self) -> u64 {
        self.without_response.load(Ordering::Relaxed)
    }

    /// Returns the number of requests that were rejected with 503.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Sets whether the disk may fail, so that the service may respond with an internal error.
    pub fn disk_may_fail(&self, may_fail: bool) {
        self.may_fail.store(may_fail, Ordering::SeqCst);
    }

    /// Records a response with an unexpected status. 503 is allowed while the service starts or stops. 500 is allowed
    /// while the disk fails. Every other status is a fault.
    pub fn unexpected(&self, status: u16, what: impl FnOnce() -> String) {
        // A rejected callback has status 200 and an error number in the body.
        let is_excused = matches!(status, 200 | 500) && self.may_fail.load(Ordering::SeqCst);
        if status == 503 {
            self.refused.fetch_add(1, Ordering::Relaxed);
        } else if !is_excused {
            self.fault(what());
        }
    }

    /// Records a response that is never allowed.
    pub fn fault(&self, what: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Records the rejected callbacks of the document server. A rejection with 503 is allowed while the service starts
    /// or stops. Every other rejection is a fault.
    pub fn record_rejections(&self, document_server: &RunningSimulator) {
        for sent in document_server.callbacks().iter().filter(|sent| !sent.accepted) {
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

    /// Panics with all faults so far, if there are any.
    pub fn assert_no_faults(&self) {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    }

    /// Returns a one-line summary for the test output.
    pub fn summary(&self) -> String {
        let acknowledged = self.acknowledged();
        format!(
            "acknowledged: {} final and {} forced saves, {} uploads, {} groups, {} hand-ins, {} finishes, {} reopenings, \
             {} messages; left without answer: {}, refused with 503: {}",
            self.saves.load(Ordering::Relaxed),
            self.forced_saves.load(Ordering::Relaxed),
            acknowledged.uploads.len(),
            acknowledged.groups.len(),
            acknowledged.attempts.len(),
            self.finishes.load(Ordering::Relaxed),
            self.reopened.load(Ordering::Relaxed),
            acknowledged.posted.values().map(BTreeMap::len).sum::<usize>(),
            self.without_response(),
            self.refused.load(Ordering::Relaxed),
        )
    }
}
