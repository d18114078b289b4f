//! Checks the TXT records of email domains: once a week, and daily while a record is missing. DNS queries run outside
//! of transactions.

use std::time::Duration;

use domain::id::MailDomainId;
use domain::mail_domain::MailDomain;
use domain::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use super::Jobs;
use crate::actions::mail_domains;
use crate::changes;
use adapters::dns::Dns;
use common::clock;
use common::error::{Error, Result};
use db::platform::CrossTenantReason;
use db::{RequestContext, Store};
use realtime::bus::EventBus;

/// The polling interval; it does not affect the intervals of the checks.
const INTERVAL: Duration = Duration::from_mins(10);
/// The maximum number of domains in one round.
const BATCH: i64 = 50;
/// The lease of a check in seconds; longer than a DNS query takes.
const CLAIM_SECONDS: i64 = 10 * 60;

/// Starts the task; it is aborted when the handle is dropped.
pub fn start(store: Store, bus: EventBus, dns: Dns) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = check_due(&store, &bus, &dns, clock::now()).await {
                tracing::warn!(error = format!("{error:?}"), "email domain check failed");
            }
        }
    }))
}

/// Checks the domains that are due at `now`, one after the other.
pub async fn check_due(store: &Store, bus: &EventBus, dns: &Dns, now: Timestamp) -> Result<()> {
    let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.due_mail_domains(now, BATCH)
    });
    for (tenant, id) in due.await? {
        let (claimed, domain) = (tenant.clone(), id.clone());
        let claim = store.platform_write(CrossTenantReason::Housekeeping, move |platform| {
            platform.claim_mail_domain(&claimed, &domain, now, now.plus_seconds(CLAIM_SECONDS))
        });
        if claim.await? {
            check(
                store,
                bus,
                dns,
                RequestContext {
                    now,
                    ..Jobs::context(tenant)
                },
                id,
            )
            .await?;
        }
    }
    Ok(())
}

async fn check(store: &Store, bus: &EventBus, dns: &Dns, context: RequestContext, id: MailDomainId) -> Result<()> {
    let asked = id.clone();
    let domain: MailDomain = match store.read(context.clone(), move |tx| tx.mail_domain(&asked)).await {
        // The domain was removed in the meantime.
        Err(Error::NotFound) => return Ok(()),
        domain => domain?,
    };
    let found = dns.check(&domain).await;
    changes::perform(store, bus, context, move |tx| mail_domains::recheck(tx, &id, found)).await
}
