//! Jobs: claimed once, protected by a lease, retried, failed, released, and deleted with their files.

use std::time::Duration;

use common::clock;
use db::platform::jobs::ClaimedJob;
use db::platform::{CrossTenantReason, PlatformTx};
use domain::id::JobId;
use domain::job::ATTEMPTS_MAX;
use serde_json::json;

use test_support::rows::{execute, texts};
use test_support::{TestApp, WAIT_TIMEOUT};

/// Inserts a job that cannot succeed, because its user does not exist.
async fn insert_failing_job(app: &TestApp, extra: &str) -> String {
    let id = clock::new_id();
    let (north, now) = (&app.world.north, clock::now().as_millis());
    let statement = format!(
        "BEGIN; INSERT INTO jobs (organization_id, id, kind, entity_id, payload, run_at, created_at, updated_at)
         VALUES ('{north}', '{id}', 'PERSONAL_EXPORT', 'nobody', '{{}}', {now}, {now}, {now});
         UPDATE jobs SET {extra} WHERE id = '{id}'; COMMIT"
    );
    execute(&app.database, statement).await;
    id
}

async fn field(app: &TestApp, id: &str, column: &str) -> Option<String> {
    let query = format!("SELECT CAST({column} AS TEXT) FROM jobs WHERE id = '{id}'");
    texts(&app.database, query).await.into_iter().next().flatten()
}

async fn until(app: &TestApp, id: &str, column: &str, wanted: &str) {
    let since = std::time::Instant::now();
    while field(app, id, column).await.as_deref() != Some(wanted) {
        assert!(
            since.elapsed() < WAIT_TIMEOUT,
            "{column} is {:?}, not {wanted}",
            field(app, id, column).await
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Stops the job runner of the service, so that a test can run jobs itself.
async fn stop_runner(app: &TestApp) {
    app.app.jobs().close().await;
}

async fn write_platform<T: Send + 'static>(
    app: &TestApp,
    act: impl FnMut(&mut PlatformTx<'_>) -> common::error::Result<T> + Send + 'static,
) -> T {
    app.app
        .store()
        .platform_write(CrossTenantReason::Housekeeping, act)
        .await
        .unwrap()
}

async fn claim(app: &TestApp, id: &str, lease: i64) -> Option<ClaimedJob> {
    let id = JobId::new(id);
    write_platform(app, move |platform| {
        let now = clock::now();
        platform.claim_job(&id, now, now.plus_seconds(lease))
    })
    .await
}

both!(job_is_claimed_by_one_runner_only, |app| {
    stop_runner(app).await;
    let id = insert_failing_job(app, "attempts = 0").await;
    let due = write_platform(app, |platform| platform.due_jobs(clock::now(), 10)).await;
    let due: Vec<JobId> = due.into_iter().map(|(id, _)| id).collect();
    assert_eq!(due, [JobId::new(&id)]);
    let all = futures_util::future::join_all((0..20).map(|_| claim(app, &id, 60))).await;
    let held: Vec<_> = all.into_iter().flatten().collect();
    assert_eq!(held.len(), 1);
    assert_eq!(
        held[0].tenant.as_ref().map(|tenant| tenant.id().to_string()),
        Some(app.world.north.clone())
    );
    let due = write_platform(app, |platform| platform.due_jobs(clock::now(), 10)).await;
    assert_eq!(due, [], "a job that is held is not due");
});

both!(runner_without_lease_changes_nothing, |app| {
    stop_runner(app).await;
    let id = insert_failing_job(app, "attempts = 0").await;
    let first = claim(app, &id, -1).await.unwrap();
    let second = claim(app, &id, 60).await.expect("the lease ran out");
    assert_eq!((first.job.attempts, second.job.attempts), (1, 2));
    let (late, holder) = (first.job.clone(), second.job.clone());
    let (renewed, finished) = write_platform(app, move |platform| {
        let now = clock::now();
        let renewed = platform.renew_job(&late, now.plus_seconds(60), now)?;
        platform.postpone_job(&late, now, "late", now)?;
        platform.fail_job(&late, "late", now, now)?;
        platform.release_job(&late, now)?;
        Ok((
            renewed,
            platform.finish_job(&late, None, None, now, now.plus_seconds(60))?,
        ))
    })
    .await;
    assert!(!renewed && !finished);
    assert_eq!(field(app, &id, "status").await.as_deref(), Some("RUNNING"));
    let finished = write_platform(app, move |platform| {
        let now = clock::now();
        platform.finish_job(&holder, Some(&json!({"a": 1})), None, now, now.plus_seconds(60))
    })
    .await;
    assert!(finished);
});

both!(released_job_is_queued_without_counting_the_attempt, |app| {
    stop_runner(app).await;
    let id = insert_failing_job(app, "attempts = 0").await;
    let held = claim(app, &id, 60).await.unwrap();
    write_platform(app, move |platform| platform.release_job(&held.job, clock::now())).await;
    assert_eq!(field(app, &id, "status").await.as_deref(), Some("QUEUED"));
    assert_eq!(claim(app, &id, 60).await.unwrap().job.attempts, 1);
});

both!(failed_job_is_retried_later_and_finally_fails, |app| {
    let id = insert_failing_job(app, "attempts = 0").await;
    let (wait, mut waits) = (
        "CASE WHEN attempts > 0 AND status = 'QUEUED' THEN run_at - updated_at END",
        None,
    );
    test_support::until("the job is queued for its next attempt", async || {
        waits = field(app, &id, wait).await;
        waits.is_some()
    })
    .await;
    let milliseconds: i64 = waits.unwrap().parse().unwrap();
    assert!(milliseconds >= 5000, "it waits before the next attempt: {milliseconds}");
    assert!(field(app, &id, "last_error").await.is_some());
    let last = format!("attempts = {}, run_at = 0", ATTEMPTS_MAX - 1);
    execute(&app.database, format!("UPDATE jobs SET {last} WHERE id = '{id}'")).await;
    app.app.jobs().notify();
    until(app, &id, "status", "FAILED").await;
    assert!(
        field(app, &id, "expires_at").await.is_some(),
        "even a failure is forgotten some day"
    );
});

both!(job_of_dead_runner_is_retried_up_to_the_limit, |app| {
    let id = insert_failing_job(
        app,
        &format!("status = 'RUNNING', lease_until = 1, attempts = {ATTEMPTS_MAX}"),
    )
    .await;
    until(app, &id, "status", "FAILED").await;
    let id = insert_failing_job(app, "status = 'RUNNING', lease_until = 1, attempts = 1").await;
    until(app, &id, "CASE WHEN attempts > 1 THEN 'retried' END", "retried").await;
});

both!(expired_job_is_deleted_with_its_file, |app| {
    stop_runner(app).await;
    // The job expires in an hour, so that the background task of the service does not delete it first.
    let expiry = clock::now().plus_seconds(3_600);
    let old = format!(
        "status = 'DONE', file_key = 'old.1.zip', expires_at = {}, entity_id = 'x'",
        expiry.as_millis()
    );
    let id = insert_failing_job(app, &old).await;
    let kept = insert_failing_job(
        app,
        "status = 'DONE', file_key = 'new.1.zip', expires_at = 99999999999999",
    )
    .await;
    let (has, then) = write_platform(app, move |platform| {
        let has = platform.has_expired_jobs(expiry)?;
        platform.delete_expired_jobs(expiry)?;
        Ok((has, platform.has_expired_jobs(expiry)?))
    })
    .await;
    assert!(has && !then);
    assert_eq!(field(app, &id, "status").await, None);
    assert_eq!(field(app, &kept, "status").await.as_deref(), Some("DONE"));
});
