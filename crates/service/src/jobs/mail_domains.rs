//! Checks the TXT records of email domains: once a week, and daily while a record is missing. DNS queries run outside
//! of transactions.

use domain::id::MailDomainId;
use domain::mail_domain::MailDomain;
use domain::time::Timestamp;

use super::Jobs;
use crate::actions::mail_domains;
use crate::changes::Transactor;
use adapters::dns::Dns;
use common::error::{Error, Result};
use db::RequestContext;
use db::platform::CrossTenantReason;

/// The maximum number of domains in one round.
const BATCH: i64 = 50;
/// The lease of a check in seconds; longer than a DNS query takes.
const CLAIM_SECONDS: i64 = 10 * 60;

/// Checks the domains that are due at `now`, one after the other.
pub async fn check_due(transactor: &Transactor, dns: &Dns, now: Timestamp) -> Result<()> {
    let due = transactor.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.due_mail_domains(now, BATCH)
    });
    for (tenant, id) in due.await? {
        let (claimed, domain) = (tenant.clone(), id.clone());
        let claim = transactor.platform_write(CrossTenantReason::Housekeeping, move |platform| {
            platform.claim_mail_domain(&claimed, &domain, now, now.plus_seconds(CLAIM_SECONDS))
        });
        if claim.await? {
            check(
                transactor,
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

async fn check(transactor: &Transactor, dns: &Dns, context: RequestContext, id: MailDomainId) -> Result<()> {
    let asked = id.clone();
    let domain: MailDomain = match transactor.read(context.clone(), move |tx| tx.mail_domain(&asked)).await {
        // The domain was removed in the meantime.
        Err(Error::NotFound) => return Ok(()),
        domain => domain?,
    };
    let found = dns.check(&domain).await;
    transactor
        .write(context, move |tx| mail_domains::recheck(tx, &id, found))
        .await
}
