//! Mail domains of an organization: which domains are accepted, how ownership is verified with a TXT record, and when
//! it is lost.
//!
//! The holder of a domain may take over unverified accounts with addresses of that domain. Domains shared by unrelated
//! people (public mail hosts, public suffixes) are therefore rejected.

use crate::domain_error::DomainError;
use crate::id::{MailDomainId, OrganizationId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

/// Maximum number of domains of one organization.
pub const DOMAINS_MAX: usize = 20;
/// Interval between two checks of a TXT record that was found, in seconds.
pub const RECHECK_SECONDS: i64 = 7 * DAY;
/// Interval between two checks of a TXT record that was missing at the last check, in seconds.
pub const RETRY_SECONDS: i64 = DAY;
/// Grace period in seconds: how long a TXT record may be missing before the domain is lost.
pub const GRACE_SECONDS: i64 = 14 * DAY;
/// Minimum number of failed checks before a domain is lost, however much time has passed: the service itself may have
/// been off.
pub const FAILED_CHECKS_MIN: i64 = 3;
const DAY: i64 = 24 * 60 * 60;

const PUBLIC_MAIL_HOSTS: &str = include_str!("public_mail_hosts.txt");
/// Labels below which country registries register domains for the public, as in `co.uk` and `sch.id`.
const SECOND_LEVEL: [&str; 26] = [
    "ac", "asn", "co", "com", "ed", "edu", "go", "gob", "gov", "gouv", "gub", "gv", "id", "info", "k12", "ltd", "me",
    "mil", "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
];

string_enum! {
    /// How ownership of a domain is verified.
    MailDomainMethod {
        /// By a TXT record, which is checked regularly.
        Dns = "DNS",
        /// By the decision of a `SUPER_ADMIN`.
        SuperAdmin = "SUPER_ADMIN",
    }
}

string_enum! {
    /// Verification status of a mail domain.
    MailDomainStatus {
        /// Added but not verified yet.
        Pending = "PENDING",
        /// The organization holds the domain.
        Verified = "VERIFIED",
        /// Was verified; its TXT record was missing for longer than the grace period.
        Lost = "LOST",
    }
}

/// Why a text is rejected as a mail domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailDomainError {
    /// Not a DNS name in ASCII.
    #[error("must be a domain such as school.example, without @ and in ASCII (xn--… for other letters)")]
    NotADomain,
    /// A mail host at which anyone can get an address.
    #[error("is a public mail host, where everybody can get an address")]
    PublicMailHost,
    /// A suffix below which anyone can register a domain.
    #[error("is a public suffix, below which everybody can register a domain")]
    PublicSuffix,
}

impl MailDomainError {
    /// Returns the stable error code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotADomain => "invalid",
            Self::PublicMailHost => "public_mail_host",
            Self::PublicSuffix => "public_suffix",
        }
    }
}

/// A mail domain in canonical form: lower case, without a trailing dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDomainName(String);

impl MailDomainName {
    /// Parses a domain as entered by a user; a leading `@` and a trailing dot are ignored.
    pub fn parse(text: &str) -> Result<Self, MailDomainError> {
        let text = text.trim();
        let text = text.strip_prefix('@').unwrap_or(text);
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if !is_host(&name) {
            return Err(MailDomainError::NotADomain);
        }
        if is_public_suffix(&name) {
            return Err(MailDomainError::PublicSuffix);
        }
        if is_public_mail_host(&name) {
            return Err(MailDomainError::PublicMailHost);
        }
        Ok(Self(name))
    }

    /// Wraps a name that was validated before, such as a database column.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the domain of an email address in lower case. Only the exact domain counts, not its parent domains.
    pub fn of_address(address: &str) -> Option<Self> {
        let (_, domain) = address.rsplit_once('@')?;
        Self::parse(domain).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the TXT record that verifies the domain.
    pub fn record_name(&self) -> String {
        format!("_groupwork.{}", self.0)
    }
}

impl std::fmt::Display for MailDomainName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Returns whether a text is a DNS name with at least two labels. A last label of digits is an IP address.
fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    // Leaves room for the prefix of the TXT record name.
    name.len() <= 240
        && name.contains('.')
        && name.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Simplification of the public suffix list: a well-known second-level label below a country.
fn is_public_suffix(name: &str) -> bool {
    let mut labels = name.split('.');
    match (labels.next(), labels.next(), labels.next()) {
        (Some(second), Some(country), None) => country.len() == 2 && SECOND_LEVEL.contains(&second),
        _ => false,
    }
}

/// Returns whether the domain, or a parent domain, is a public mail host.
fn is_public_mail_host(name: &str) -> bool {
    let mut hosts = PUBLIC_MAIL_HOSTS.lines().filter(|line| !line.starts_with('#'));
    hosts.any(|host| {
        let above = name.strip_suffix(host);
        above.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// A mail domain of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDomain {
    pub id: MailDomainId,
    pub organization_id: OrganizationId,
    pub domain: MailDomainName,
    pub method: MailDomainMethod,
    pub status: MailDomainStatus,
    /// Expected content of the TXT record. Public once the record exists, and unique to one organization.
    pub token: String,
    pub verified_at: Option<Timestamp>,
    /// When the TXT record was last looked up.
    pub checked_at: Option<Timestamp>,
    /// Since when the TXT record has been missing.
    pub failing_since: Option<Timestamp>,
    /// Number of consecutive checks without the record.
    pub failed_checks: i64,
    /// When the next check is due; `None` for domains without automatic checks.
    pub next_check_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Result of the lookup of a TXT record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordCheck {
    /// The record exists with the expected content.
    Found,
    /// The record does not exist or has other content.
    Missing,
    /// No name server responded.
    Unanswered,
}

/// Effect of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainCheckOutcome {
    /// The organization now holds the domain.
    Verified,
    /// The status did not change.
    Unchanged,
    /// The record of a verified domain is missing; the grace period begins.
    Failing,
    /// The grace period is over and the domain is lost.
    Lost,
}

impl MailDomain {
    /// Returns a new domain that awaits verification.
    pub fn pending(
        id: MailDomainId,
        organization_id: OrganizationId,
        domain: MailDomainName,
        token: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            domain,
            method: MailDomainMethod::Dns,
            status: MailDomainStatus::Pending,
            token,
            verified_at: None,
            checked_at: None,
            failing_since: None,
            failed_checks: 0,
            next_check_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the content of the TXT record that verifies the domain for this organization.
    pub fn record_value(&self) -> String {
        format!("groupwork-domain={}", self.token)
    }

    /// Returns whether accounts of the domain may be taken over. Not while the record is missing, because the domain
    /// may have a new owner.
    pub fn counts(&self) -> bool {
        self.status == MailDomainStatus::Verified && self.failing_since.is_none()
    }

    /// Assigns the domain to the organization by decision of a `SUPER_ADMIN`, even if another organization holds it.
    /// Returns whether anything changed.
    pub fn confirm(&mut self, now: Timestamp) -> bool {
        let is_new = self.status != MailDomainStatus::Verified || self.method != MailDomainMethod::SuperAdmin;
        if is_new {
            self.method = MailDomainMethod::SuperAdmin;
            self.hold(now);
            self.next_check_at = None;
        }
        is_new
    }

    /// Verifies the domain on request of an admin. `is_held_elsewhere` is true if another organization holds the
    /// domain.
    pub fn prove(
        &mut self,
        check: RecordCheck,
        is_held_elsewhere: bool,
        now: Timestamp,
    ) -> Result<DomainCheckOutcome, DomainError> {
        if self.method == MailDomainMethod::SuperAdmin {
            return Ok(DomainCheckOutcome::Unchanged);
        }
        match (check, self.status) {
            (RecordCheck::Unanswered, _) => Err(DomainError::DomainUnanswered),
            (_, MailDomainStatus::Verified) => Ok(self.recheck(check, now)),
            (RecordCheck::Missing, _) => Err(DomainError::DomainNotProven),
            (RecordCheck::Found, _) if is_held_elsewhere => Err(DomainError::DomainHeld),
            (RecordCheck::Found, _) => {
                self.hold(now);
                self.checked_at = Some(now);
                self.next_check_at = Some(now.plus_seconds(RECHECK_SECONDS));
                Ok(DomainCheckOutcome::Verified)
            }
        }
    }

    /// Applies the result of a regular check of a domain verified by its TXT record.
    pub fn recheck(&mut self, check: RecordCheck, now: Timestamp) -> DomainCheckOutcome {
        if self.method != MailDomainMethod::Dns || self.status != MailDomainStatus::Verified {
            self.next_check_at = None;
            return DomainCheckOutcome::Unchanged;
        }
        self.checked_at = Some(now);
        self.updated_at = now;
        if check == RecordCheck::Found {
            self.failing_since = None;
            self.failed_checks = 0;
            self.next_check_at = Some(now.plus_seconds(RECHECK_SECONDS));
            return DomainCheckOutcome::Unchanged;
        }
        let is_first = self.failing_since.is_none();
        let since = *self.failing_since.get_or_insert(now);
        self.failed_checks += 1;
        if now >= since.plus_seconds(GRACE_SECONDS) && self.failed_checks >= FAILED_CHECKS_MIN {
            self.status = MailDomainStatus::Lost;
            self.verified_at = None;
            self.next_check_at = None;
            return DomainCheckOutcome::Lost;
        }
        self.next_check_at = Some(now.plus_seconds(RETRY_SECONDS));
        if is_first {
            DomainCheckOutcome::Failing
        } else {
            DomainCheckOutcome::Unchanged
        }
    }

    fn hold(&mut self, now: Timestamp) {
        self.status = MailDomainStatus::Verified;
        self.verified_at = Some(now);
        self.failing_since = None;
        self.failed_checks = 0;
        self.updated_at = now;
    }
}

#[cfg(test)]
#[path = "mail_domain_tests.rs"]
mod tests;
