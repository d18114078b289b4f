//! Exports of personal data as answers show them (contract 6.14).

use model::id::JobId;
use model::job::{Job, JobKind, JobStatus};
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// An archive that is being made, or was.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PersonalExport)]
pub struct PersonalExportView {
    id: JobId,
    kind: JobKind,
    status: JobStatus,
    /// Whose data it is
    #[schema(required)]
    user_id: Option<String>,
    created_at: Timestamp,
    #[schema(required)]
    finished_at: Option<Timestamp>,
    /// Until when it can be fetched
    #[schema(required)]
    expires_at: Option<Timestamp>,
    /// Bytes of the archive, once it is done
    #[schema(required)]
    size: Option<i64>,
    /// Where it can be fetched, once it is done
    #[schema(required)]
    download_url: Option<String>,
}

impl From<Job> for PersonalExportView {
    fn from(job: Job) -> Self {
        let is_done = job.status == JobStatus::Done && job.file_key.is_some();
        Self {
            size: job.result.as_ref().and_then(|result| result["size"].as_i64()),
            download_url: is_done.then(|| format!("{}/download", path(&job.id))),
            id: job.id,
            kind: job.kind,
            status: job.status,
            user_id: job.entity_id,
            created_at: job.created_at,
            finished_at: job.finished_at,
            expires_at: job.expires_at,
        }
    }
}

/// Where an export is looked at.
pub fn path(id: &JobId) -> String {
    format!("/api/admin/gdpr/jobs/{id}")
}
