//! Background jobs of one organization: enqueues them and returns their status. They are executed through
//! [`platform::jobs`](super::platform::jobs), because a runner works for all organizations.

use domain::file::FileKey;
use domain::id::JobId;
use domain::job::{Job, JobKind};
use serde_json::Value;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, statements};
use common::clock;
use common::error::{Error, Result};

fragments! {
    /// The columns that [`job`] reads.
    pub(crate) JOB_COLUMNS = "id, organization_id, kind, entity_id, status, payload, result, file_key, attempts,
        created_by_id, created_at,
            finished_at, expires_at";
}

statements! {
    BY_ID = "SELECT {JOB_COLUMNS} FROM jobs WHERE organization_id = $1 AND id = $2 AND kind = $3";
    /// The queued or running job of a kind for an entity.
    OPEN = "SELECT {JOB_COLUMNS} FROM jobs
        WHERE organization_id = $1 AND kind = $2 AND entity_id = $3 AND status IN ('QUEUED', 'RUNNING')";
    /// Inserts a job unless one of its kind is queued or running for the same entity.
    INSERT = "INSERT INTO jobs (organization_id, id, kind, entity_id, payload, created_by_id, run_at, created_at,
        updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7) ON CONFLICT DO NOTHING";
}

impl ReadTx<'_> {
    /// Returns a job; `NotFound` once its result has expired.
    pub fn job(&mut self, kind: JobKind, id: &JobId) -> Result<Job> {
        let now = self.now();
        let found = self.fetch_one(&BY_ID, args![id, kind.as_str()], job)?;
        if found.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::NotFound);
        }
        Ok(found)
    }
}

impl WriteTx<'_> {
    /// Enqueues a job for an entity, or returns the one that is queued or running. The flag is true if the job is new.
    pub fn open_job(&mut self, kind: JobKind, entity_id: &str, payload: &Value) -> Result<(Job, bool)> {
        let (id, by, now) = (JobId::new(clock::new_id()), self.actor().user.clone(), self.now());
        let (kind, payload) = (kind.as_str(), payload.to_string());
        let is_new = self.execute_counted(&INSERT, args![id, kind, entity_id, payload, by, now])? > 0;
        let open = self.fetch_optional(&OPEN, args![kind, entity_id], job)?;
        // No job is found if it ended between the two statements; the caller can retry.
        Ok((open.ok_or(Error::Overloaded)?, is_new))
    }
}

pub(super) fn job(row: &Columns<'_>) -> Result<Job> {
    from_row!(row => Job {
        id, organization_id, kind, entity_id, status, attempts, created_by_id, created_at, finished_at, expires_at,
        payload: row.json("payload")?,
        result: row.json_option("result")?,
        file_key: row.get::<Option<String>>("file_key")?.map(FileKey::new),
    })
}
