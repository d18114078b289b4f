//! Work that outlives a request and a restart: what it is, how it stands, and when it is tried again.

use crate::file::FileKey;
use crate::id::{JobId, OrganizationId, UserId};
use crate::time::Timestamp;
use crate::word::words;

/// How often a job is begun before it has failed for good.
pub const ATTEMPTS_MAX: i64 = 5;
/// How long the outcome of a job is kept, in seconds: 14 days (contract 6.14).
pub const KEPT_SECONDS: i64 = 14 * 86_400;
/// The longest wait between two attempts, in seconds.
const WAIT_MAX: i64 = 600;

words! {
    /// What there is to do.
    JobKind {
        /// Gathers what an organization holds about a person.
        PersonalExport = "PERSONAL_EXPORT",
        /// Removes everything an organization had, after it was deleted.
        OrganizationPurge = "ORGANIZATION_PURGE",
    }
}

words! {
    /// How a job stands.
    JobStatus {
        /// It waits for its time or for a runner.
        Queued = "QUEUED",
        /// A runner is at it.
        Running = "RUNNING",
        /// It is done.
        Done = "DONE",
        /// It was tried as often as it may be.
        Failed = "FAILED",
    }
}

/// One piece of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The organization it belongs to; none for work on the platform.
    pub organization_id: Option<OrganizationId>,
    /// What there is to do.
    pub kind: JobKind,
    /// What it is about: a user, an organization.
    pub entity_id: Option<String>,
    /// How it stands.
    pub status: JobStatus,
    /// What else there is to know for doing it, a JSON object.
    pub payload: serde_json::Value,
    /// What came out, once it is done.
    pub result: Option<serde_json::Value>,
    /// The file it made.
    pub file_key: Option<FileKey>,
    /// How often it was begun; names the attempt that is under way.
    pub attempts: i64,
    /// Who asked for it.
    pub created_by_id: Option<UserId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Until when the outcome is kept.
    pub expires_at: Option<Timestamp>,
}

impl Job {
    /// When the attempt that just failed is followed by another; none when that was the last.
    pub fn next_attempt(&self, now: Timestamp) -> Option<Timestamp> {
        let doublings = u32::try_from(self.attempts.clamp(1, 10) - 1).unwrap_or_default();
        (self.attempts < ATTEMPTS_MAX).then(|| now.plus_seconds((5 << doublings).min(WAIT_MAX)))
    }

    /// The file one attempt writes. Each has its own, so that an attempt which lost its lease spoils nobody's file.
    pub fn file_of_attempt(&self, attempt: i64) -> FileKey {
        FileKey::new(format!("{}.{attempt}.zip", self.id))
    }

    /// The files that attempts before this one may have left.
    pub fn files_of_earlier_attempts(&self) -> Vec<FileKey> {
        (1..self.attempts)
            .map(|attempt| self.file_of_attempt(attempt))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(attempts: i64) -> Job {
        Job {
            id: JobId::new("j"),
            organization_id: None,
            kind: JobKind::PersonalExport,
            entity_id: None,
            status: JobStatus::Running,
            payload: serde_json::json!({}),
            result: None,
            file_key: None,
            attempts,
            created_by_id: None,
            created_at: Timestamp::from_millis(0),
            finished_at: None,
            expires_at: None,
        }
    }

    #[test]
    fn attempts_come_slower_and_end() {
        let at = Timestamp::from_millis(0);
        let waits: Vec<_> = (1..=ATTEMPTS_MAX)
            .map(|attempts| job(attempts).next_attempt(at))
            .collect();
        let seconds: Vec<_> = waits
            .iter()
            .map(|wait| wait.map(|wait| wait.seconds_since(at)))
            .collect();
        assert_eq!(seconds, [Some(5), Some(10), Some(20), Some(40), None]);
    }

    #[test]
    fn every_attempt_has_a_file_of_its_own() {
        assert_eq!(job(1).files_of_earlier_attempts(), []);
        let earlier = job(3).files_of_earlier_attempts();
        assert_eq!(earlier, [FileKey::new("j.1.zip"), FileKey::new("j.2.zip")]);
        assert!(!earlier.contains(&job(3).file_of_attempt(3)));
    }
}
