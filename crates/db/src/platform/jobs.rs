//! Jobs as their runners see them: what is due in whatever organization, who is at it, how it ended. `attempts` names the
//! holder of a job: whoever lost his lease can neither prolong it nor end the job of the next.

use model::file::FileKey;
use model::id::{JobId, OrganizationId};
use model::job::{Job, JobKind};
use model::time::Timestamp;
use serde_json::Value;

use super::Platform;
use crate::Tenant;
use crate::jobs::{job, job_columns};
use crate::sql::Columns;
use crate::{args, statements};
use common::clock;
use common::error::{Error, Result};

statements! {
    /// Of each organization the job that waits longest: its time has come, or its holder was silent for too long. Work on
    /// the platform is nobody's, and each of it is one of its own.
    DUE = "SELECT id, organization_id FROM (
            SELECT id, organization_id, run_at,
                ROW_NUMBER() OVER (PARTITION BY COALESCE(organization_id, id) ORDER BY run_at, id) AS place
            FROM jobs
            WHERE (status = 'QUEUED' AND run_at <= $1) OR (status = 'RUNNING' AND lease_until <= $1)) due
        WHERE place = 1 ORDER BY run_at, id LIMIT $2";
    /// Takes a job, unless another runner was faster.
    CLAIM = concat!("UPDATE jobs SET status = 'RUNNING', attempts = attempts + 1, lease_until = $3, updated_at = $2
        WHERE id = $1 AND ((status = 'QUEUED' AND run_at <= $2) OR (status = 'RUNNING' AND lease_until <= $2))
        RETURNING ", job_columns!());
    /// Goes on holding a job.
    RENEW = "UPDATE jobs SET lease_until = $3, updated_at = $4
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// Gives a job back as if it had not been begun.
    RELEASE = "UPDATE jobs SET status = 'QUEUED', attempts = attempts - 1, lease_until = NULL, updated_at = $3
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// A job is done.
    FINISH = "UPDATE jobs SET status = 'DONE', result = $3, file_key = $4, lease_until = NULL, last_error = NULL,
            finished_at = $5, updated_at = $5, expires_at = $6
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// A job is tried again later.
    POSTPONE = "UPDATE jobs SET status = 'QUEUED', run_at = $3, lease_until = NULL, last_error = $4, updated_at = $5
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// A job is given up.
    FAIL = "UPDATE jobs SET status = 'FAILED', lease_until = NULL, last_error = $3, finished_at = $4, updated_at = $4,
            expires_at = $5
        WHERE id = $1 AND attempts = $2 AND status = 'RUNNING'";
    /// The holders of all running jobs are gone.
    ABANDON = "UPDATE jobs SET lease_until = $1 WHERE status = 'RUNNING' AND lease_until > $1";
    /// Whether an outcome was kept long enough.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM jobs WHERE expires_at <= $1)";
    /// Their files go after the commit.
    LIST_EXPIRED_FILES = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT COALESCE(organization_id, ''), id, file_key, $1, $1 FROM jobs
        WHERE expires_at <= $1 AND file_key IS NOT NULL";
    /// Their rows go.
    DELETE_EXPIRED = "DELETE FROM jobs WHERE expires_at <= $1";
    /// A job on the platform, unless one of its kind is open for the same thing.
    INSERT = "INSERT INTO jobs (id, kind, entity_id, payload, run_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT DO NOTHING";
    /// The job on the platform that is open for something.
    OPEN = concat!("SELECT ", job_columns!(), " FROM jobs
        WHERE organization_id IS NULL AND kind = $1 AND entity_id = $2 AND status IN ('QUEUED', 'RUNNING')");
}

/// A job that a runner holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// The job.
    pub job: Job,
    /// The organization it works in; none for work on the platform.
    pub tenant: Option<Tenant>,
}

impl Platform<'_> {
    /// Jobs that could be taken now, one of each organization, the longest waiting first.
    pub fn due_jobs(&mut self, now: Timestamp, limit: i64) -> Result<Vec<(JobId, Option<OrganizationId>)>> {
        let read = |row: &mut Columns<'_>| Ok((row.take()?, row.take()?));
        self.connection.many(&DUE, args![now, limit], read)
    }

    /// Takes a job until a moment; nothing when somebody else has it.
    pub fn claim_job(&mut self, id: &JobId, now: Timestamp, until: Timestamp) -> Result<Option<Held>> {
        let taken = self.connection.maybe(&CLAIM, args![id, now, until], job)?;
        Ok(taken.map(|job| Held {
            tenant: job.organization_id.clone().map(Tenant),
            job,
        }))
    }

    /// Holds a job longer; false when it was lost.
    pub fn renew_job(&mut self, job: &Job, until: Timestamp, now: Timestamp) -> Result<bool> {
        let held = self.connection.run(&RENEW, args![job.id, job.attempts, until, now])?;
        Ok(held > 0)
    }

    /// Gives a job back, for another runner or a later start.
    pub fn release_job(&mut self, job: &Job, now: Timestamp) -> Result<()> {
        self.connection
            .run(&RELEASE, args![job.id, job.attempts, now])
            .map(drop)
    }

    /// Notes that a job is done; false when it was lost meanwhile, and then nothing of it counts.
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
        Ok(self.connection.run(&FINISH, arguments)? > 0)
    }

    /// Notes that an attempt failed and when the next one is.
    pub fn postpone_job(&mut self, job: &Job, next: Timestamp, why: &str, now: Timestamp) -> Result<()> {
        let arguments = args![job.id, job.attempts, next, why, now];
        self.connection.run(&POSTPONE, arguments).map(drop)
    }

    /// Gives a job up.
    pub fn fail_job(&mut self, job: &Job, why: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        let arguments = args![job.id, job.attempts, why, now, expires_at];
        self.connection.run(&FAIL, arguments).map(drop)
    }

    /// Lets every running job be taken over: only for a database that has one instance, when it starts.
    pub fn abandon_jobs(&mut self, now: Timestamp) -> Result<()> {
        self.connection.run(&ABANDON, args![now]).map(drop)
    }

    /// Whether an outcome was kept long enough.
    pub fn has_expired_jobs(&mut self, now: Timestamp) -> Result<bool> {
        let found = self.connection.maybe(&ANY_EXPIRED, args![now], |row| row.take())?;
        Ok(found.unwrap_or(false))
    }

    /// Forgets jobs whose outcome was kept long enough, and lets their files go.
    pub fn drop_expired_jobs(&mut self, now: Timestamp) -> Result<()> {
        self.connection.run(&LIST_EXPIRED_FILES, args![now])?;
        self.connection.run(&DELETE_EXPIRED, args![now]).map(drop)
    }

    /// Asks for a job on the platform, not before `run_at`; who asks while one is open is given that one.
    pub fn open_platform_job(
        &mut self,
        kind: JobKind,
        entity_id: &str,
        payload: &Value,
        run_at: Timestamp,
        now: Timestamp,
    ) -> Result<Job> {
        let (id, kind, payload) = (JobId::new(clock::new_id()), kind.as_str(), payload.to_string());
        self.connection
            .run(&INSERT, args![id, kind, entity_id, payload, run_at, now])?;
        let open = self.connection.maybe(&OPEN, args![kind, entity_id], job)?;
        // It ended between the two statements: whoever asks again gets a new one.
        open.ok_or(Error::Overloaded)
    }
}
