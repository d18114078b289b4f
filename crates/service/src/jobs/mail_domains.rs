//! Checks the TXT records of mail domains: once a week, and each day while a record is missing. The name servers are asked
//! outside of transactions.

use std::time::Duration;

use model::id::MailDomainId;
use model::mail_domain::MailDomain;
use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use super::Jobs;
use crate::actions::mail_domains;
use crate::changes;
use adapters::dns::Dns;
use common::clock;
use common::error::{Error, Result};
use db::platform::PlatformProof;
use db::{Standpoint, Store};
use realtime::bus::Bus;

/// How often due domains are looked for; weeks and days do not depend on it.
const PAUSE: Duration = Duration::from_mins(10);
/// Domains of one look.
const BATCH: i64 = 50;
/// Seconds for which an instance claims a check; longer than a look-up takes.
const CLAIM_SECONDS: i64 = 10 * 60;

/// Starts the task; it ends with the value.
pub fn start(store: Store, bus: Bus, dns: Dns) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = check_due(&store, &bus, &dns, clock::now()).await {
                tracing::warn!(error = format!("{error:?}"), "mail domains were not checked");
            }
        }
    }))
}

/// Checks the domains that are due at this moment, one after the other.
pub async fn check_due(store: &Store, bus: &Bus, dns: &Dns, now: Timestamp) -> Result<()> {
    let due = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.due_mail_domains(now, BATCH)
    });
    for (tenant, id) in due.await? {
        let (claimed, domain) = (tenant.clone(), id.clone());
        let claim = store.platform_write(PlatformProof::housekeeping(), move |platform| {
            platform.claim_mail_domain(&claimed, &domain, now, now.plus_seconds(CLAIM_SECONDS))
        });
        if claim.await? {
            check(
                store,
                bus,
                dns,
                Standpoint {
                    now,
                    ..Jobs::standpoint(tenant)
                },
                id,
            )
            .await?;
        }
    }
    Ok(())
}

async fn check(store: &Store, bus: &Bus, dns: &Dns, standpoint: Standpoint, id: MailDomainId) -> Result<()> {
    let asked = id.clone();
    let domain: MailDomain = match store
        .read(standpoint.clone(), move |scope| scope.mail_domain(&asked))
        .await
    {
        // It was removed in this moment.
        Err(Error::NotFound) => return Ok(()),
        domain => domain?,
    };
    let found = dns.check(&domain).await;
    changes::perform(store, bus, standpoint, move |work| {
        mail_domains::recheck(work, &id, found)
    })
    .await
}
