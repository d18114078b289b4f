//! Mail domains in responses.

use api_macros::view;
use domain::from_fields;
use domain::id::MailDomainId;
use domain::mail_domain::{GRACE_SECONDS, MailDomain, MailDomainMethod, MailDomainStatus};
use domain::time::Timestamp;

/// A mail domain of an organization.
#[view]
pub struct MailDomainView {
    id: MailDomainId,
    domain: String,
    method: MailDomainMethod,
    status: MailDomainStatus,
    /// Name of the TXT record that verifies the domain.
    record_name: String,
    /// Expected content of the TXT record.
    record_value: String,
    /// When the domain was verified.
    verified_at: Option<Timestamp>,
    /// When the TXT record was last looked up.
    checked_at: Option<Timestamp>,
    /// Since when the TXT record of a verified domain has been missing.
    failing_since: Option<Timestamp>,
    /// When the domain will be lost unless the TXT record is restored.
    lost_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<MailDomain> for MailDomainView {
    fn from(domain: MailDomain) -> Self {
        let is_held = domain.status == MailDomainStatus::Verified;
        let failing_since = domain.failing_since.filter(|_| is_held);
        from_fields!(domain => Self {
            record_name: domain.domain.record_name(),
            record_value: domain.record_value(),
            id,
            domain: domain.domain.as_str().to_owned(),
            method, status, verified_at, checked_at,
            failing_since: failing_since,
            lost_at: failing_since.map(|since| since.plus_seconds(GRACE_SECONDS)),
            created_at, updated_at,
        })
    }
}

impl MailDomainView {
    pub fn id(&self) -> &MailDomainId {
        &self.id
    }
}
