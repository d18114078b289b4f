//! Email domains of an organization: added and verified by its administrators, or assigned by a SUPER_ADMIN.

use api_macros::body;
use domain::change::MailDomainChange;
use domain::domain_error::DomainError;
use domain::id::MailDomainId;
use domain::mail_domain::{DOMAINS_MAX, DomainCheckOutcome, MailDomain, MailDomainName, RecordCheck};

use common::clock;
use common::error::{Error, Result};
use db::WriteTx;

/// A domain to add.
#[body]
pub struct NewMailDomain {
    /// The domain of the school's email addresses, for example `school.example`.
    #[garde(length(min = 1, max = 260))]
    #[schema(min_length = 1, max_length = 260)]
    pub domain: String,
}

impl NewMailDomain {
    /// Returns the normalized name; ignores a leading `@` and a trailing dot.
    pub fn name(&self) -> Result<MailDomainName> {
        let name = MailDomainName::parse(&self.domain);
        name.map_err(|bad| Error::invalid("domain", bad.code(), bad.to_string()))
    }
}

/// Adds a domain that has to be verified by a TXT record.
pub fn add(tx: &mut WriteTx<'_>, new: &NewMailDomain) -> Result<MailDomain> {
    let name = new.name()?;
    tx.lock_membership_changes()?;
    let domain = insert(tx, name)?;
    tx.record(MailDomainChange::Added { domain: domain.clone() });
    Ok(domain)
}

/// Assigns a domain to the organization, even if another one holds it; for SUPER_ADMINs. A domain that the
/// organization added before becomes verified.
pub fn set(tx: &mut WriteTx<'_>, new: &NewMailDomain) -> Result<MailDomain> {
    let name = new.name()?;
    tx.lock_membership_changes()?;
    let mut domain = match tx.mail_domain_named(&name)? {
        Some(domain) => domain,
        None => insert(tx, name)?,
    };
    if domain.confirm(tx.now()) {
        tx.update_mail_domain(&domain)?;
        tx.record(MailDomainChange::Verified { domain: domain.clone() });
    }
    Ok(domain)
}

/// The caller has locked the organization, so concurrent inserts cannot exceed the limit.
fn insert(tx: &mut WriteTx<'_>, name: MailDomainName) -> Result<MailDomain> {
    DomainError::check_limit("mail domains", tx.count_mail_domains()? + 1, DOMAINS_MAX)?;
    let id = MailDomainId::new(clock::new_id());
    let token = better_auth::token::session_token();
    let domain = MailDomain::pending(id, tx.organization().clone(), name, token, tx.now());
    tx.insert_mail_domain(&domain)?;
    Ok(domain)
}

/// Records the result of a check that an administrator requested.
pub fn prove(tx: &mut WriteTx<'_>, id: &MailDomainId, check: RecordCheck) -> Result<MailDomain> {
    let mut domain = tx.lock_mail_domain(id)?;
    let is_held_elsewhere = tx.is_domain_held_elsewhere(&domain.domain)?;
    let checked = domain.prove(check, is_held_elsewhere, tx.now())?;
    write(tx, &domain, checked)?;
    Ok(domain)
}

/// Records the result of a scheduled check. Ignores a domain that was removed in the meantime.
pub fn recheck(tx: &mut WriteTx<'_>, id: &MailDomainId, check: RecordCheck) -> Result<()> {
    let mut domain = match tx.lock_mail_domain(id) {
        Err(Error::NotFound) => return Ok(()),
        domain => domain?,
    };
    let checked = domain.recheck(check, tx.now());
    write(tx, &domain, checked)
}

/// Removes a domain. Accounts that were taken over are unchanged.
pub fn remove(tx: &mut WriteTx<'_>, id: &MailDomainId) -> Result<()> {
    let domain = tx.lock_mail_domain(id)?;
    tx.delete_mail_domain(id)?;
    tx.record(MailDomainChange::Removed { domain });
    Ok(())
}

fn write(tx: &mut WriteTx<'_>, domain: &MailDomain, checked: DomainCheckOutcome) -> Result<()> {
    tx.update_mail_domain(domain)?;
    let domain = domain.clone();
    match checked {
        DomainCheckOutcome::Verified => tx.record(MailDomainChange::Verified { domain }),
        DomainCheckOutcome::Failing => tx.record(MailDomainChange::Failing { domain }),
        DomainCheckOutcome::Lost => tx.record(MailDomainChange::Lost { domain }),
        DomainCheckOutcome::Unchanged => {}
    }
    Ok(())
}
