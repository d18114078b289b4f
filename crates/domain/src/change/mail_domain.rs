//! Changes of the mail domains of an organization.

use crate::mail_domain::MailDomain;

/// A change of a mail domain.
#[derive(Clone, Debug, PartialEq)]
pub enum MailDomainChange {
    /// The domain was added and awaits verification.
    Added { domain: MailDomain },
    /// The domain was verified: its DNS record was found, or a `SUPER_ADMIN` confirmed it.
    Verified { domain: MailDomain },
    /// The DNS record was missing at a check; the grace period began.
    Failing { domain: MailDomain },
    /// The DNS record was missing for longer than the grace period.
    Lost { domain: MailDomain },
    Removed {
        /// The domain before its removal.
        domain: MailDomain,
    },
}
