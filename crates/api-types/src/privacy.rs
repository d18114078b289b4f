//! Exports of personal data in responses.

use api_macros::view;
use domain::from_fields;
use domain::id::JobId;
use domain::job::{Job, JobKind, JobStatus};
use domain::time::Timestamp;

/// An export of personal data. The archive is created by a background job.
#[view]
pub struct PersonalExportView {
    id: JobId,
    kind: JobKind,
    status: JobStatus,
    /// The user whose data is exported.
    user_id: Option<String>,
    created_at: Timestamp,
    finished_at: Option<Timestamp>,
    /// Until when the archive can be downloaded.
    expires_at: Option<Timestamp>,
    /// Size of the archive in bytes; null until the job is done.
    size: Option<i64>,
    /// Download URL of the archive; null until the job is done.
    download_url: Option<String>,
}

impl From<Job> for PersonalExportView {
    fn from(job: Job) -> Self {
        let is_done = job.status == JobStatus::Done && job.file_key.is_some();
        from_fields!(job => Self {
            download_url: is_done.then(|| format!("{}/download", path(&job.id))),
            id, kind, status, created_at, finished_at, expires_at,
            size: job.result.as_ref().and_then(|result| result["size"].as_i64()),
            user_id: job.entity_id,
        })
    }
}

/// Returns the URL of an export.
pub fn path(id: &JobId) -> String {
    format!("/api/admin/gdpr/jobs/{id}")
}
