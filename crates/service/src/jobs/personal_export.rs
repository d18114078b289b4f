//! Writes what an organization stores about a user into one file for its administrators. It can be interrupted at any
//! point: the file of an unfinished attempt is deleted, and the next attempt starts from the beginning.

use domain::id::UserId;
use futures_util::StreamExt;
use serde_json::json;

use super::personal_data::ExportScope;
use super::{JobOutcome, Jobs};
use common::error::Result;
use db::platform::CrossTenantReason;
use db::platform::jobs::ClaimedJob;

pub(super) async fn run(jobs: &Jobs, held: &ClaimedJob) -> Result<JobOutcome> {
    let job = &held.job;
    let (Some(tenant), Some(user)) = (&held.tenant, &job.entity_id) else {
        return Err(anyhow::anyhow!("an export belongs to an organization and is about a person").into());
    };
    let (user, asked) = (UserId::new(user.as_str()), tenant.clone());
    let known = user.clone();
    let slug = jobs
        .0
        .transactor
        .platform_read(CrossTenantReason::PersonalData, move |platform| {
            // Fails if the user does not exist or has been erased completely.
            platform.profile(&known)?;
            platform.slug_of(&asked)
        })
        .await?;
    let extent = ExportScope {
        user,
        with_account: job.payload["withAccount"] == true,
        is_own: false,
        holders: vec![(tenant.clone(), slug)],
    };
    let mut staging = jobs.0.files.stage(u64::MAX);
    let mut chunks = jobs.archive(extent);
    while let Some(chunk) = chunks.next().await {
        staging.write(&chunk?).await?;
    }
    let staged = staging.finish().await?;
    let result = json!({"size": staged.size(), "sha256": staged.sha256()});
    let key = job.file_of_attempt(job.attempts);
    jobs.0.files.commit(staged, &key).await?;
    Ok(JobOutcome {
        result: Some(result),
        file: Some(key),
    })
}
