//! Sends the emails queued in the table `letters`, after the commits that inserted them. An email is deleted only
//! when an SMTP server has accepted it or it was written to the outbox folder. While the server is unavailable,
//! emails stay queued and no request is rejected.

use domain::time::Timestamp;

use adapters::mailer::{Delivery, Mailer};
use common::clock;
use common::error::Result;
use common::scheduler::Next;
use db::Store;
use db::platform::email_outbox::DueEmail;
use db::platform::{CrossTenantReason, PlatformTx};

/// The maximum number of emails in one round.
const BATCH: i64 = 50;
/// The lease of an email in seconds; longer than a delivery may take.
const LEASE_SECONDS: i64 = 180;
/// The first and the maximum delay before a rejected email is retried, in seconds.
const RETRY_DELAY: i64 = 60;
const RETRY_DELAY_MAX: i64 = 4 * 3_600;

/// Sends the emails that are due.
pub async fn deliver_batch(store: &Store, mail: &Mailer) -> Result<Next> {
    let now = clock::now();
    let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.due_emails(now, BATCH)
    });
    let due = due.await?;
    let full = i64::try_from(due.len()).unwrap_or(BATCH) == BATCH;
    let mut is_unavailable = false;
    for due in due {
        let expired = due.email.expires_at <= now;
        // An unavailable server is tried once per round.
        if (is_unavailable && !expired) || !claim(store, &due, clock::now()).await? {
            continue;
        }
        let delivery = if expired {
            Delivery::Rejected("email expired".to_owned())
        } else {
            mail.deliver(&due.email).await?
        };
        is_unavailable |= matches!(delivery, Delivery::Unavailable(_));
        store_outcome(store, mail, due, delivery).await?;
    }
    Ok(match (is_unavailable, full) {
        (true, _) => Next::BackOff,
        (false, true) => Next::Immediately,
        (false, false) => Next::Wait,
    })
}

async fn claim(store: &Store, due: &DueEmail, now: Timestamp) -> Result<bool> {
    let (id, due_at, lease) = (due.email.id.clone(), due.due_at, now.plus_seconds(LEASE_SECONDS));
    let claim = move |platform: &mut PlatformTx<'_>| platform.claim_email(&id, due_at, lease);
    store.platform_write(CrossTenantReason::Housekeeping, claim).await
}

/// Applies the result of a delivery. Log entries contain the id of the email, never its address or text.
async fn store_outcome(store: &Store, mail: &Mailer, due: DueEmail, delivery: Delivery) -> Result<()> {
    let DueEmail { email, attempts, .. } = due;
    let (id, kind, now) = (email.id.as_str(), email.kind.as_str(), clock::now());
    let retry = match delivery {
        Delivery::Sent => {
            tracing::info!(email.id = id, email.kind = kind, "email sent");
            None
        }
        Delivery::Rejected(reason) => {
            mail.move_to_outbox(&email).await?;
            tracing::warn!(
                email.id = id,
                email.kind = kind,
                reason,
                "email not sent: moved to the outbox folder"
            );
            None
        }
        Delivery::Deferred(reason) => {
            tracing::warn!(
                email.id = id,
                email.kind = kind,
                reason,
                "email delivery failed: retry scheduled"
            );
            let wait = RETRY_DELAY
                .saturating_mul(1 << attempts.clamp(0, 10))
                .min(RETRY_DELAY_MAX);
            Some((attempts + 1, now.plus_seconds(wait)))
        }
        Delivery::Unavailable(reason) => {
            tracing::warn!(reason, "emails queued: SMTP server unavailable");
            Some((attempts, now))
        }
    };
    let id = email.id;
    let update_email = move |platform: &mut PlatformTx<'_>| match retry {
        Some((attempts, next)) => platform.postpone_email(&id, attempts, next),
        None => platform.delete_queued_email(&id),
    };
    store
        .platform_write(CrossTenantReason::Housekeeping, update_email)
        .await
}
