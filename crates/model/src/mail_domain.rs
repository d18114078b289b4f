//! Mail domains of a school: which domains can be held, how one is proven by a TXT record, and when it is lost again.
//!
//! The holder of a domain may take over unproven accounts with addresses of that domain, so a domain that many people
//! share (a public mail host, a public suffix) cannot be held.

use crate::id::{MailDomainId, OrganizationId};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::word::words;

/// The most domains of one organization.
pub const DOMAINS_MAX: usize = 20;
/// Seconds between two checks of a TXT record that is there.
pub const RECHECK_SECONDS: i64 = 7 * DAY;
/// Seconds between two checks of a TXT record that was missing at the last check.
pub const RETRY_SECONDS: i64 = DAY;
/// Seconds for which a missing TXT record may come back before the domain is lost.
pub const GRACE_SECONDS: i64 = 14 * DAY;
/// Failed checks without which no domain is lost, however much time has passed: the service itself may have been off.
pub const FAILED_CHECKS_MIN: i64 = 3;
const DAY: i64 = 24 * 60 * 60;

const PUBLIC_MAIL_HOSTS: &str = include_str!("public_mail_hosts.txt");
/// Labels below which registries of countries register domains for the public, as in `co.uk` and `sch.id`.
const SECOND_LEVEL: [&str; 26] = [
    "ac", "asn", "co", "com", "ed", "edu", "go", "gob", "gov", "gouv", "gub", "gv", "id", "info", "k12", "ltd", "me",
    "mil", "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
];

words! {
    /// How an organization came to hold a domain.
    MailDomainMethod {
        /// By a TXT record, which is checked again and again.
        Dns = "DNS",
        /// By the decision of a SUPER_ADMIN.
        SuperAdmin = "SUPER_ADMIN",
    }
}

words! {
    /// Whether an organization holds a domain.
    MailDomainStatus {
        /// It was added and is not proven yet.
        Pending = "PENDING",
        /// It is held.
        Verified = "VERIFIED",
        /// It was held; its TXT record was missing for too long.
        Lost = "LOST",
    }
}

/// Why a text is no domain that can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMailDomain {
    /// Not a name of the domain name system in ASCII.
    #[error("must be a domain such as school.example, without @ and in ASCII (xn--… for other letters)")]
    NotADomain,
    /// A mail host that gives addresses to the public.
    #[error("is a public mail host, where everybody can get an address")]
    PublicMailHost,
    /// A suffix below which the public registers domains.
    #[error("is a public suffix, below which everybody can register a domain")]
    PublicSuffix,
}

impl BadMailDomain {
    /// The stable word for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotADomain => "invalid",
            Self::PublicMailHost => "public_mail_host",
            Self::PublicSuffix => "public_suffix",
        }
    }
}

/// A domain of mail addresses in its one spelling: lower case, no dot at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDomainName(String);

impl MailDomainName {
    /// Parses a domain as typed by a user; a leading `@` and a dot at the end are ignored.
    pub fn parse(text: &str) -> Result<Self, BadMailDomain> {
        let text = text.trim();
        let text = text.strip_prefix('@').unwrap_or(text);
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if !is_host(&name) {
            return Err(BadMailDomain::NotADomain);
        }
        if is_public_suffix(&name) {
            return Err(BadMailDomain::PublicSuffix);
        }
        if is_public_mail_host(&name) {
            return Err(BadMailDomain::PublicMailHost);
        }
        Ok(Self(name))
    }

    /// Takes a name that was checked before, such as a column of the store.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// The domain of an address in lower case. Only this very domain counts, never one above it.
    pub fn of_address(address: &str) -> Option<Self> {
        let (_, domain) = address.rsplit_once('@')?;
        Self::parse(domain).ok()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the TXT record that proves the domain.
    pub fn record_name(&self) -> String {
        format!("_groupwork.{}", self.0)
    }
}

impl std::fmt::Display for MailDomainName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Whether a text is a name of the domain name system with two labels or more. A last label of digits is an address.
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
    // The name of the TXT record must fit, too.
    name.len() <= 240
        && name.contains('.')
        && name.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// A simple rule instead of the whole list of public suffixes: a word of registries below a country.
fn is_public_suffix(name: &str) -> bool {
    let mut labels = name.split('.');
    match (labels.next(), labels.next(), labels.next()) {
        (Some(second), Some(country), None) => country.len() == 2 && SECOND_LEVEL.contains(&second),
        _ => false,
    }
}

/// Whether the domain, or one above it, gives addresses to the public.
fn is_public_mail_host(name: &str) -> bool {
    let mut hosts = PUBLIC_MAIL_HOSTS.lines().filter(|line| !line.starts_with('#'));
    hosts.any(|host| {
        let above = name.strip_suffix(host);
        above.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// A domain of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDomain {
    /// Its id.
    pub id: MailDomainId,
    /// The organization.
    pub organization_id: OrganizationId,
    /// The domain.
    pub domain: MailDomainName,
    /// How it is or shall be proven.
    pub method: MailDomainMethod,
    /// Whether it is held.
    pub status: MailDomainStatus,
    /// What the TXT record must contain. It is public once the record is there, and belongs to one organization.
    pub token: String,
    /// Since when it is held.
    pub verified_at: Option<Timestamp>,
    /// When the TXT record was last looked for.
    pub checked_at: Option<Timestamp>,
    /// Since when the TXT record has been missing.
    pub failing_since: Option<Timestamp>,
    /// How many checks in a row found nothing.
    pub failed_checks: i64,
    /// When it is checked again; none for domains that are not checked by themselves.
    pub next_check_at: Option<Timestamp>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
}

/// Result of the lookup of a TXT record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordCheck {
    /// The record is there, with the right content.
    Found,
    /// There is no record, or its content is another one.
    Missing,
    /// No name server responded.
    Unanswered,
}

/// What a check changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The organization holds the domain from now on.
    Verified,
    /// It still holds it, or it still does not.
    Unchanged,
    /// The record of a domain that is held is missing; the grace period begins.
    Failing,
    /// The grace period is over.
    Lost,
}

impl MailDomain {
    /// A domain that was added and is to be proven.
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

    /// The content of the TXT record that proves the domain for this organization.
    pub fn record_value(&self) -> String {
        format!("groupwork-domain={}", self.token)
    }

    /// Whether accounts under the domain may be taken over now: not while its record is missing, for then it may have got
    /// another owner.
    pub fn counts(&self) -> bool {
        self.status == MailDomainStatus::Verified && self.failing_since.is_none()
    }

    /// A SUPER_ADMIN assigns the domain to the organization, also when another one holds it. Returns whether that is new.
    pub fn confirm(&mut self, now: Timestamp) -> bool {
        let is_new = self.status != MailDomainStatus::Verified || self.method != MailDomainMethod::SuperAdmin;
        if is_new {
            self.method = MailDomainMethod::SuperAdmin;
            self.hold(now);
            self.next_check_at = None;
        }
        is_new
    }

    /// An administrator asks for a check. `is_held_elsewhere` is true when another organization holds the domain.
    pub fn prove(&mut self, check: RecordCheck, is_held_elsewhere: bool, now: Timestamp) -> Result<Checked, Refusal> {
        if self.method == MailDomainMethod::SuperAdmin {
            return Ok(Checked::Unchanged);
        }
        match (check, self.status) {
            (RecordCheck::Unanswered, _) => Err(Refusal::DomainUnanswered),
            (_, MailDomainStatus::Verified) => Ok(self.recheck(check, now)),
            (RecordCheck::Missing, _) => Err(Refusal::DomainNotProven),
            (RecordCheck::Found, _) if is_held_elsewhere => Err(Refusal::DomainHeld),
            (RecordCheck::Found, _) => {
                self.hold(now);
                self.checked_at = Some(now);
                self.next_check_at = Some(now.plus_seconds(RECHECK_SECONDS));
                Ok(Checked::Verified)
            }
        }
    }

    /// The regular check of a domain that is held by its TXT record.
    pub fn recheck(&mut self, check: RecordCheck, now: Timestamp) -> Checked {
        if self.method != MailDomainMethod::Dns || self.status != MailDomainStatus::Verified {
            self.next_check_at = None;
            return Checked::Unchanged;
        }
        self.checked_at = Some(now);
        self.updated_at = now;
        if check == RecordCheck::Found {
            self.failing_since = None;
            self.failed_checks = 0;
            self.next_check_at = Some(now.plus_seconds(RECHECK_SECONDS));
            return Checked::Unchanged;
        }
        let is_first = self.failing_since.is_none();
        let since = *self.failing_since.get_or_insert(now);
        self.failed_checks += 1;
        if now >= since.plus_seconds(GRACE_SECONDS) && self.failed_checks >= FAILED_CHECKS_MIN {
            self.status = MailDomainStatus::Lost;
            self.verified_at = None;
            self.next_check_at = None;
            return Checked::Lost;
        }
        self.next_check_at = Some(now.plus_seconds(RETRY_SECONDS));
        if is_first { Checked::Failing } else { Checked::Unchanged }
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
