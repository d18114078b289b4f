//! Mail domains of an organization (docs/mail-domains.md).

use domain::id::{MailDomainId, UserId};
use domain::mail_domain::{MailDomain, MailDomainMethod, MailDomainName, MailDomainStatus};
use domain::take_over::TakeOverCandidate;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, statements};
use common::error::Result;

fragments! {
    MAIL_DOMAIN_COLUMNS = "d.organization_id, d.id, d.domain, d.method, d.status, d.token, d.verified_at,
        d.checked_at, d.failing_since,
            d.failed_checks, d.next_check_at, d.created_at, d.updated_at";
}

statements! {
    LIST = "SELECT {MAIL_DOMAIN_COLUMNS} FROM mail_domains d WHERE d.organization_id = $1 ORDER BY d.domain";
    BY_ID = "SELECT {MAIL_DOMAIN_COLUMNS} FROM mail_domains d
        WHERE d.organization_id = $1 AND d.id = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM mail_domains WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// The id of an added domain; locks its row until the end of the transaction.
    ID_OF = "SELECT id FROM mail_domains WHERE organization_id = $1 AND domain = $2 FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM mail_domains WHERE organization_id = $1";
    INSERT = "INSERT INTO mail_domains (organization_id, id, domain, method, status, token, verified_at, checked_at,
            failing_since, failed_checks, next_check_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)";
    /// Updates the status of a domain.
    UPDATE = "UPDATE mail_domains SET method = $3, status = $4, verified_at = $5, checked_at = $6, failing_since = $7,
            failed_checks = $8, next_check_at = $9, updated_at = $10
        WHERE organization_id = $1 AND id = $2";
    DELETE = "DELETE FROM mail_domains WHERE organization_id = $1 AND id = $2";
    /// Whether another organization holds a domain of this one. Does not reveal which.
    IS_HELD_ELSEWHERE = "SELECT EXISTS (SELECT 1 FROM mail_domains own
        JOIN mail_domains d ON d.domain = own.domain AND d.organization_id <> own.organization_id
        JOIN organizations o ON o.id = d.organization_id
        WHERE own.organization_id = $1 AND own.domain = $2 AND d.status = 'VERIFIED' AND o.deleted_at IS NULL)";
    /// The domains that the organization holds and whose DNS record was present at the last check.
    HELD = "SELECT domain FROM mail_domains
        WHERE organization_id = $1 AND status = 'VERIFIED' AND failing_since IS NULL";
    /// The conditions under which the account of an email address can be taken over.
    CANDIDATE = "SELECT COALESCE(u.home_organization_id, '') = $1 AS is_home,
            EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = u.id) AS is_member,
            u.email_verified, u.role = 'SUPER_ADMIN' AS is_super_admin,
            EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.role = 'owner') AS is_owner
        FROM users u WHERE u.email = $2";
    /// Makes the organization the home organization of an account it takes over, and clears the restrictions of its
    /// password and its user name in the former one.
    ADOPT = "UPDATE users SET home_organization_id = $1, username = NULL, user_name = NULL, must_change_password = FALSE,
            temporary_password_expires_at = NULL, password_organization_id = NULL, updated_at = $3
        WHERE id = $2 AND NOT email_verified AND role <> 'SUPER_ADMIN'";
}

impl ReadTx<'_> {
    /// Lists the domains of the organization by name.
    pub fn mail_domains(&mut self) -> Result<Vec<MailDomain>> {
        self.fetch_all(&LIST, args![], mail_domain)
    }

    pub fn mail_domain(&mut self, id: &MailDomainId) -> Result<MailDomain> {
        self.fetch_one(&BY_ID, args![id], mail_domain)
    }

    /// Returns whether another organization holds a domain that this one added.
    pub fn is_domain_held_elsewhere(&mut self, domain: &MailDomainName) -> Result<bool> {
        self.fetch_one(&IS_HELD_ELSEWHERE, args![domain.as_str()], |row| row.only())
    }

    /// Returns the conditions under which the account of an email address (lower case) can be taken over; `None`
    /// without an account.
    pub fn take_over_candidate(&mut self, email: &str) -> Result<Option<TakeOverCandidate>> {
        let held = self.held_domains()?;
        self.candidate(email, &held)
    }

    /// Returns those of these addresses whose accounts can be taken over.
    pub fn due_take_overs(&mut self, emails: &[String]) -> Result<Vec<String>> {
        let held = self.held_domains()?;
        let mut due = Vec::new();
        for email in emails.iter().filter(|email| is_under(email, &held)) {
            let candidate = self.candidate(email, &held)?;
            if candidate.is_some_and(TakeOverCandidate::can_be_taken_over) {
                due.push(email.clone());
            }
        }
        Ok(due)
    }

    /// Lists the domains that the organization holds and whose DNS record was present at the last check.
    pub fn held_domains(&mut self) -> Result<Vec<String>> {
        self.fetch_all(&HELD, args![], |row| row.get("domain"))
    }

    fn candidate(&mut self, email: &str, held: &[String]) -> Result<Option<TakeOverCandidate>> {
        let is_under_held_domain = is_under(email, held);
        self.fetch_optional(&CANDIDATE, args![email], |row| {
            Ok(TakeOverCandidate {
                is_under_held_domain,
                is_own: row.get("is_home")?,
                is_member: row.get("is_member")?,
                is_proven: row.get("email_verified")?,
                is_super_admin: row.get("is_super_admin")?,
                is_owner: row.get("is_owner")?,
            })
        })
    }

    /// Counts the domains that the organization added.
    pub fn count_mail_domains(&mut self) -> Result<usize> {
        let count: i64 = self.fetch_one(&COUNT, args![], |row| row.only())?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

impl WriteTx<'_> {
    /// Returns a domain, locked until the end of the transaction.
    pub fn lock_mail_domain(&mut self, id: &MailDomainId) -> Result<MailDomain> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<MailDomainId>("id"))?;
        self.mail_domain(id)
    }

    /// Returns an added domain, locked until the end of the transaction.
    pub fn mail_domain_named(&mut self, domain: &MailDomainName) -> Result<Option<MailDomain>> {
        let id = self.fetch_optional(&ID_OF, args![domain.as_str()], |row| row.get::<MailDomainId>("id"))?;
        id.map(|id| self.mail_domain(&id)).transpose()
    }

    /// Inserts a domain; a duplicate is `DUPLICATE_MAIL_DOMAIN`.
    pub fn insert_mail_domain(&mut self, new: &MailDomain) -> Result<()> {
        let (name, method, status) = (new.domain.as_str(), new.method.as_str(), new.status.as_str());
        let arguments = args![
            new.id,
            name,
            method,
            status,
            new.token,
            new.verified_at,
            new.checked_at,
            new.failing_since,
            new.failed_checks,
            new.next_check_at,
            new.created_at,
        ];
        self.execute(&INSERT, arguments).map(drop)
    }

    /// Updates the status of a domain; one that another organization verified concurrently is `DOMAIN_HELD`.
    pub fn update_mail_domain(&mut self, domain: &MailDomain) -> Result<()> {
        let (method, status) = (domain.method.as_str(), domain.status.as_str());
        let arguments = args![
            domain.id,
            method,
            status,
            domain.verified_at,
            domain.checked_at,
            domain.failing_since,
            domain.failed_checks,
            domain.next_check_at,
            domain.updated_at,
        ];
        self.execute(&UPDATE, arguments).map(drop)
    }

    /// Makes this organization the home organization of an account it takes over.
    pub fn take_over_account(&mut self, user: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&ADOPT, args![user, now]).map(drop)
    }

    pub fn delete_mail_domain(&mut self, id: &MailDomainId) -> Result<()> {
        self.execute(&DELETE, args![id]).map(drop)
    }
}

/// Returns whether an email address belongs to one of these domains.
fn is_under(email: &str, domains: &[String]) -> bool {
    let domain = MailDomainName::of_address(email);
    domain.is_some_and(|domain| domains.iter().any(|held| held == domain.as_str()))
}

fn mail_domain(row: &Columns<'_>) -> Result<MailDomain> {
    Ok(MailDomain {
        organization_id: row.get("organization_id")?,
        id: row.get("id")?,
        domain: MailDomainName::stored(row.get("domain")?),
        method: row.get::<MailDomainMethod>("method")?,
        status: row.get::<MailDomainStatus>("status")?,
        token: row.get("token")?,
        verified_at: row.get("verified_at")?,
        checked_at: row.get("checked_at")?,
        failing_since: row.get("failing_since")?,
        failed_checks: row.get("failed_checks")?,
        next_check_at: row.get("next_check_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
