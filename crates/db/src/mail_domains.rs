//! Mail domains of an organization (docs/mail-domains.md).

use domain::id::{MailDomainId, UserId};
use domain::mail_domain::{MailDomain, MailDomainName};
use domain::take_over::TakeOverCandidate;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
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
        VALUES ($1, :id, :domain, :method, :status, :token, :verified_at, :checked_at, :failing_since, :failed_checks,
            :next_check_at, :created_at, :created_at)";
    /// Updates the status of a domain.
    UPDATE = "UPDATE mail_domains SET method = :method, status = :status, verified_at = :verified_at,
            checked_at = :checked_at, failing_since = :failing_since, failed_checks = :failed_checks,
            next_check_at = :next_check_at, updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
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
            from_row!(row => TakeOverCandidate {
                is_own = "is_home", is_member, is_proven = "email_verified", is_super_admin, is_owner,
                is_under_held_domain: is_under_held_domain,
            })
        })
    }

    /// Counts the domains that the organization added.
    pub fn count_mail_domains(&mut self) -> Result<i64> {
        self.fetch_one(&COUNT, args![], |row| row.only())
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
        self.execute_named(
            &INSERT,
            named![new =>
                id, token, verified_at, checked_at, failing_since, failed_checks, next_check_at, created_at,
                domain: name,
                method: method,
                status: status,
            ],
        )
    }

    /// Updates the status of a domain; one that another organization verified concurrently is `DOMAIN_HELD`.
    pub fn update_mail_domain(&mut self, domain: &MailDomain) -> Result<()> {
        let (method, status) = (domain.method.as_str(), domain.status.as_str());
        self.execute_named(
            &UPDATE,
            named![domain =>
                id, verified_at, checked_at, failing_since, failed_checks, next_check_at, updated_at,
                method: method,
                status: status,
            ],
        )
    }

    /// Makes this organization the home organization of an account it takes over.
    pub fn take_over_account(&mut self, user: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&ADOPT, args![user, now])
    }

    pub fn delete_mail_domain(&mut self, id: &MailDomainId) -> Result<()> {
        self.execute(&DELETE, args![id])
    }
}

/// Returns whether an email address belongs to one of these domains.
fn is_under(email: &str, domains: &[String]) -> bool {
    let domain = MailDomainName::of_address(email);
    domain.is_some_and(|domain| domains.iter().any(|held| held == domain.as_str()))
}

fn mail_domain(row: &Columns<'_>) -> Result<MailDomain> {
    from_row!(row => MailDomain {
        organization_id, id, method, status, token, verified_at, checked_at, failing_since, failed_checks,
        next_check_at, created_at, updated_at,
        domain: MailDomainName::stored(row.get("domain")?),
    })
}
