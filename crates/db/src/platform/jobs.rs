//! Execution of background jobs of all organizations: due jobs, leases and results. `attempts` identifies the lease: a
//! runner whose lease expired can neither renew it nor end the attempt of another runner.

use domain::file::FileKey;
use domain::id::{JobId, OrganizationId};
use domain::job::Job;
use domain::time::Timestamp;
use serde_json::Value;

use super::PlatformTx;
use crate::jobs::{JOB_COLUMNS, job};
use crate::sql::Columns;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// The oldest due job of each organization: its scheduled time has come, or its lease expired. Each platform job
    /// counts as an organization of its own.
    DUE = "SELECT id, organization_id FROM (
            SELECT id, organization_id, run_at,
                ROW_NUMBER() OVER (PARTITION BY COALESCE(organization_id, id) ORDER BY run_at, id) AS place
            FROM jobs
            WHERE (status = 'QUEUED' AND run_at <= $1) OR (status = 'RUNNING' AND lease_until <= $1)) due
        WHERE place = 1 ORDER BY run_at, id LIMIT $2";
    /// Claims a job unless another runner has claimed it.
    CLAIM = "UPDATE jobs SET status = 'RUNNING', attempts = attempts + 1, lease_until = $3, updated_at = $2
        WHERE id = $1 AND ((status = 'QUEUED' AND run_at <= $2) OR (status = 'RUNNING' AND lease_until <= $2))
        RETURNING {JOB_COLUMNS}";
    /// Renews the lease of a job.
    RENEW = "UPDATE jobs SET lease_until = $3, updated_at = $4
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// Returns a job to the queue without counting the attempt.
    RELEASE = "UPDATE jobs SET status = 'QUEUED', attempts = attempts - 1, lease_until = NULL, updated_at = $3
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    FINISH = "UPDATE jobs SET status = 'DONE', result = $3, file_key = $4, lease_until = NULL, last_error = NULL,
            finished_at = $5, updated_at = $5, expires_at = $6
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// Schedules a retry.
    POSTPONE = "UPDATE jobs SET status = 'QUEUED', run_at = $3, lease_until = NULL, last_error = $4, updated_at = $5
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// Marks a job as failed.
    FAIL = "UPDATE jobs SET status = 'FAILED', lease_until = NULL, last_error = $3, finished_at = $4, updated_at = $4,
            expires_at = $5
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// Expires the leases of all running jobs.
    ABANDON = "UPDATE jobs SET lease_until = $1 WHERE status = 'RUNNING' AND lease_until > $1";
    /// Whether there are jobs with expired results.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM jobs WHERE expires_at <= $1)";
    /// Schedules the files of expired jobs for removal after the commit.
    LIST_EXPIRED_FILES = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT COALESCE(organization_id, ''), id, file_key, $1, $1 FROM jobs
        WHERE expires_at <= $1 AND file_key IS NOT NULL";
    DELETE_EXPIRED = "DELETE FROM jobs WHERE expires_at <= $1";
}

/// A job claimed by a runner.
#[derive(Debug, Clone)]
pub struct ClaimedJob {
    pub job: Job,
    /// The organization of the job; `None` for a platform job.
    pub tenant: Option<Tenant>,
}

impl PlatformTx<'_> {
    /// Lists due jobs, one of each organization, oldest first.
    pub fn due_jobs(&mut self, now: Timestamp, limit: i64) -> Result<Vec<(JobId, Option<OrganizationId>)>> {
        let read = |row: &Columns<'_>| Ok((row.get("id")?, row.get("organization_id")?));
        self.fetch_all(&DUE, args![now, limit], read)
    }

    /// Claims a job until `until`; returns `None` if another runner has it.
    pub fn claim_job(&mut self, id: &JobId, now: Timestamp, until: Timestamp) -> Result<Option<ClaimedJob>> {
        let taken = self.fetch_optional(&CLAIM, args![id, now, until], job)?;
        Ok(taken.map(|job| ClaimedJob {
            tenant: job.organization_id.clone().map(Tenant),
            job,
        }))
    }

    /// Renews the lease of a job; returns false if it was lost.
    pub fn renew_job(&mut self, job: &Job, until: Timestamp, now: Timestamp) -> Result<bool> {
        let held = self.execute_counted(&RENEW, args![job.id, job.attempts, until, now])?;
        Ok(held > 0)
    }

    /// Returns a job to the queue, for another runner or a later start.
    pub fn release_job(&mut self, job: &Job, now: Timestamp) -> Result<()> {
        self.execute(&RELEASE, args![job.id, job.attempts, now])
    }

    /// Marks a job as done; returns false if the lease was lost, in which case the result must be discarded.
    pub fn finish_job(
        &mut self,
        job: &Job,
        result: Option<&Value>,
        file: Option<&FileKey>,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<bool> {
        let (result, file) = (result.map(Value::to_string), file.map(FileKey::as_str));
        let arguments = args![job.id, job.attempts, result, file, now, expires_at];
        Ok(self.execute_counted(&FINISH, arguments)? > 0)
    }

    /// Records a failed attempt and schedules the next one.
    pub fn postpone_job(&mut self, job: &Job, next: Timestamp, why: &str, now: Timestamp) -> Result<()> {
        let arguments = args![job.id, job.attempts, next, why, now];
        self.execute(&POSTPONE, arguments)
    }

    /// Marks a job as failed.
    pub fn fail_job(&mut self, job: &Job, why: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        let arguments = args![job.id, job.attempts, why, now, expires_at];
        self.execute(&FAIL, arguments)
    }

    /// Expires the leases of all running jobs. Only for a database with a single instance, at its start.
    pub fn abandon_jobs(&mut self, now: Timestamp) -> Result<()> {
        self.execute(&ABANDON, args![now])
    }

    /// Returns whether there are jobs with expired results.
    pub fn has_expired_jobs(&mut self, now: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY_EXPIRED, args![now], |row| row.only())
    }

    /// Deletes jobs with expired results and schedules their files for removal.
    pub fn delete_expired_jobs(&mut self, now: Timestamp) -> Result<()> {
        self.execute(&LIST_EXPIRED_FILES, args![now])?;
        self.execute(&DELETE_EXPIRED, args![now])
    }
}
