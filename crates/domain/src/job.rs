//! Background jobs, which outlive a request and a restart: their kinds, status and retries.

use crate::file::FileKey;
use crate::id::{JobId, OrganizationId, UserId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

/// Maximum number of attempts, after which a job has failed.
pub const ATTEMPTS_MAX: i64 = 5;
/// How long the result of a job is kept, in seconds: 14 days.
pub const RETENTION_SECONDS: i64 = 14 * 86_400;
/// Maximum delay between two attempts, in seconds.
const WAIT_MAX: i64 = 600;

string_enum! {
    /// Kind of a job.
    JobKind {
        /// Exports the personal data that an organization holds about a user.
        PersonalExport = "PERSONAL_EXPORT",
        /// Purges all data of an organization after its deletion.
        OrganizationPurge = "ORGANIZATION_PURGE",
        /// Reads a roster and applies it.
        RosterRun = "ROSTER_RUN",
    }
}

string_enum! {
    /// Status of a job.
    JobStatus {
        /// Waits until it is due or until a worker is available.
        Queued = "QUEUED",
        Running = "RUNNING",
        Done = "DONE",
        /// All attempts failed.
        Failed = "FAILED",
    }
}

/// A background job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: JobId,
    /// `None` for jobs of the platform.
    pub organization_id: Option<OrganizationId>,
    pub kind: JobKind,
    /// Id of the user or organization the job processes.
    pub entity_id: Option<String>,
    pub status: JobStatus,
    /// Further parameters, a JSON object.
    pub payload: serde_json::Value,
    /// Set once the job is done.
    pub result: Option<serde_json::Value>,
    /// The file created by the job.
    pub file_key: Option<FileKey>,
    /// Number of attempts started so far; identifies the present attempt.
    pub attempts: i64,
    /// The user who requested the job.
    pub created_by_id: Option<UserId>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// Until when the result is kept.
    pub expires_at: Option<Timestamp>,
}

impl Job {
    /// Returns when to retry after the attempt that just failed; `None` if it was the last one. The delay doubles with
    /// each attempt.
    pub fn next_attempt(&self, now: Timestamp) -> Option<Timestamp> {
        let doublings = u32::try_from(self.attempts.clamp(1, 10) - 1).unwrap_or_default();
        (self.attempts < ATTEMPTS_MAX).then(|| now.plus_seconds((5 << doublings).min(WAIT_MAX)))
    }

    /// Returns the key of the file written by an attempt. Each attempt has its own file, so that an attempt that lost
    /// its lease cannot overwrite the file of another.
    pub fn file_of_attempt(&self, attempt: i64) -> FileKey {
        FileKey::new(format!("{}.{attempt}.zip", self.id))
    }

    /// Returns the keys of files that earlier attempts may have left behind.
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
    fn job_attempts_back_off_and_end() {
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
    fn every_job_attempt_has_its_own_file() {
        assert_eq!(job(1).files_of_earlier_attempts(), []);
        let earlier = job(3).files_of_earlier_attempts();
        assert_eq!(earlier, [FileKey::new("j.1.zip"), FileKey::new("j.2.zip")]);
        assert!(!earlier.contains(&job(3).file_of_attempt(3)));
    }
}
