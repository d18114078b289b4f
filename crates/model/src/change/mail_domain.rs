//! What happens to the mail domains of an organization.

use crate::mail_domain::MailDomain;

/// What happened to a mail domain.
#[derive(Clone, Debug, PartialEq)]
pub enum MailDomainChange {
    /// It was added, to be proven.
    Added {
        /// The domain.
        domain: MailDomain,
    },
    /// The organization holds it: its record was found, or a SUPER_ADMIN decided so.
    Verified {
        /// The domain.
        domain: MailDomain,
    },
    /// Its record was missing at a check; the grace period began.
    Failing {
        /// The domain.
        domain: MailDomain,
    },
    /// Its record was missing for too long.
    Lost {
        /// The domain.
        domain: MailDomain,
    },
    /// It was removed.
    Removed {
        /// The domain as it was.
        domain: MailDomain,
    },
}
