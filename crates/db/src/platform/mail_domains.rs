//! Mail domains of all organizations whose TXT record must be checked again.

use domain::id::{MailDomainId, OrganizationId};
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// Due domains, longest overdue first.
    DUE = "SELECT d.organization_id, d.id FROM mail_domains d JOIN organizations o ON o.id = d.organization_id
        WHERE d.next_check_at <= $1 AND o.deleted_at IS NULL ORDER BY d.next_check_at, d.id LIMIT $2";
    /// Claims the check by postponing the next one, so that no other instance runs it.
    CLAIM = "UPDATE mail_domains SET next_check_at = $4
        WHERE organization_id = $1 AND id = $2 AND next_check_at <= $3";
}

impl PlatformTx<'_> {
    /// Lists due domains, at most `limit`.
    pub fn due_mail_domains(&mut self, now: Timestamp, limit: i64) -> Result<Vec<(Tenant, MailDomainId)>> {
        self.fetch_all(&DUE, args![now, limit], |row| {
            let organization: OrganizationId = row.get("organization_id")?;
            Ok((Tenant(organization), row.get("id")?))
        })
    }

    /// Claims the check of a domain until `until`; returns false if another instance has claimed it.
    pub fn claim_mail_domain(
        &mut self,
        tenant: &Tenant,
        id: &MailDomainId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool> {
        let changed = self.execute_counted(&CLAIM, args![tenant.id(), id, now, until])?;
        Ok(changed > 0)
    }
}
