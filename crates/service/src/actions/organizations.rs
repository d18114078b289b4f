//! Creates, updates, suspends, activates and deletes organizations, and purges the data of deleted ones. Each
//! operation runs in the organization that it is about and is recorded in its log.

use api_macros::body;
use domain::access::{MemberRole, RoleLevel};
use domain::change::{OrganizationChange, SessionChange};
use domain::invitation::EnrollmentTargets;
use domain::job::JobKind;
use domain::organization::{Metadata, MetadataEdit, Organization, OrganizationEdit, OrganizationStatus, PlatformHosts};
use domain::patch::FieldPatch;
use domain::realtime::KillReason;
use domain::text::{CustomDomain, Name, Slug};
use serde_json::json;

use super::people::{self, NewPerson, Password, Provisioned};
use super::users;
use adapters::mailer::Mailer;
use common::error::{Error, Result};
use db::WriteTx;

/// An organization to create.
#[body]
pub struct NewTenant {
    /// The name of the organization.
    pub name: Name,
    /// The short name, used as the subdomain.
    pub slug: Slug,
    /// A custom domain.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub custom_domain: Option<CustomDomain>,
    /// The email address of the first owner. An address that has an account is invited.
    #[garde(custom(users::is_address))]
    pub owner_email: String,
    /// The name of the owner, used if the account is new.
    pub owner_name: Name,
    /// The settings of the organization.
    pub metadata: Option<MetadataEdit>,
}

/// The confirmation of a deletion.
#[body]
pub struct Confirmation {
    /// The short name (`slug`) of the organization.
    #[garde(skip)]
    pub confirm: String,
}

/// A new organization with its first owner.
#[derive(Debug, Clone)]
pub struct CreatedOrganization {
    pub organization: Organization,
    /// The owner, or the invitation of the owner. Until it is accepted, the organization has no owner.
    pub owner: Provisioned,
}

/// The immediate effects of a deletion.
#[derive(Debug, Clone)]
pub struct OrganizationDeletion {
    /// The organization before the deletion.
    pub organization: Organization,
    /// The number of members.
    pub members: i64,
    /// The number of sessions that were active in it.
    pub sessions: usize,
}

/// Creates an organization with its first owner. The temporary password is for an owner without an account. An
/// address that has an account is invited, and the organization has no owner until the invitation is accepted.
pub fn create(
    tx: &mut WriteTx<'_>,
    hosts: &PlatformHosts,
    new: &NewTenant,
    password_hash: &str,
    mail: &Mailer,
) -> Result<CreatedOrganization> {
    hosts.leave(Some(&new.slug), new.custom_domain.as_ref())?;
    let organization = Organization {
        id: tx.organization().clone(),
        name: new.name.clone(),
        slug: new.slug.clone(),
        custom_domain: new.custom_domain.clone(),
        logo: None,
        status: OrganizationStatus::Active,
        metadata: Metadata::edited(
            None,
            new.metadata.clone().map_or(FieldPatch::Unchanged, FieldPatch::Value),
        ),
        storage_quota: None,
        group_storage_quota: None,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_organization(&organization)?;
    tx.keep_former_slug(None, &organization.slug)?;
    let owner = NewPerson {
        name: new.owner_name.clone(),
        email: Some(people::address(&new.owner_email).unwrap_or_default()),
        first_name: None,
        last_name: None,
        username: None,
        role: MemberRole::Owner,
        external_id: None,
    };
    let password = Password::Temporary(password_hash.to_owned());
    let enrollment_targets = EnrollmentTargets::default();
    let owner = people::provision(
        tx,
        RoleLevel::SuperAdmin,
        &owner,
        &enrollment_targets,
        Some(&password),
        Some(mail),
    )?;
    tx.record(OrganizationChange::Created {
        organization: Box::new(organization.clone()),
        owner: owner.joined().map(|joined| joined.person.clone()),
    });
    Ok(CreatedOrganization { organization, owner })
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, hosts: &PlatformHosts, edit: &OrganizationEdit) -> Result<Organization> {
    let mut organization = tx.lock_organization()?;
    hosts.leave(edit.slug.value(), edit.custom_domain.value())?;
    let former_slug = organization.slug.clone();
    let changed = organization.edit(edit.clone(), tx.now())?;
    if !changed.is_empty() {
        tx.update_organization(&organization)?;
        if changed.has("slug") {
            tx.keep_former_slug(Some(&former_slug), &organization.slug)?;
        }
        tx.record(OrganizationChange::Updated {
            organization: Box::new(organization.clone()),
            changed,
        });
    }
    Ok(organization)
}

/// Suspends the organization: its members lose access and their sockets are closed. No data is deleted.
pub fn suspend(tx: &mut WriteTx<'_>) -> Result<Organization> {
    let mut organization = tx.lock_organization()?;
    if organization.set_status(OrganizationStatus::Suspended, tx.now()) {
        tx.update_organization(&organization)?;
        let sessions = tx.active_session_ids()?;
        tx.record(OrganizationChange::Suspended {
            organization: Box::new(organization.clone()),
            sessions,
        });
    }
    Ok(organization)
}

/// Reactivates a suspended organization.
pub fn activate(tx: &mut WriteTx<'_>) -> Result<Organization> {
    let mut organization = tx.lock_organization()?;
    if organization.set_status(OrganizationStatus::Active, tx.now()) {
        tx.update_organization(&organization)?;
        let sessions = tx.active_session_ids()?;
        tx.record(OrganizationChange::Activated {
            organization: Box::new(organization.clone()),
            sessions,
        });
    }
    Ok(organization)
}

/// Marks the organization as deleted, so that it cannot be found any more, and enqueues a job that purges its data.
pub fn remove(tx: &mut WriteTx<'_>, confirmation: &Confirmation) -> Result<OrganizationDeletion> {
    let organization = tx.lock_organization()?;
    if confirmation.confirm != organization.slug.as_str() {
        return Err(Error::invalid(
            "confirm",
            "mismatch",
            "must be the short name of the organization",
        ));
    }
    let (members, sessions) = (tx.member_count()?, tx.active_session_ids()?);
    tx.delete_organization()?;
    tx.open_job(JobKind::OrganizationPurge, organization.id.as_str(), &json!({}))?;
    let deleted = OrganizationDeletion {
        organization: organization.clone(),
        members,
        sessions: sessions.len(),
    };
    tx.record(OrganizationChange::Deleted {
        organization: Box::new(organization),
        sessions,
    });
    Ok(deleted)
}

/// Enqueues the purge of a deleted organization, unless it is already queued.
pub fn resume_purge(tx: &mut WriteTx<'_>) -> Result<()> {
    let id = tx.organization().clone();
    tx.open_job(JobKind::OrganizationPurge, id.as_str(), &json!({}))
        .map(drop)
}

/// Purges the next batch of a deleted organization; returns true when nothing is left.
pub fn purge(tx: &mut WriteTx<'_>) -> Result<bool> {
    let purged = tx.purge_batch()?;
    for (user, session) in purged.ended {
        tx.record(SessionChange::Ended {
            user,
            sessions: vec![session],
            reason: KillReason::Deactivated,
        });
    }
    if !purged.files.is_empty() {
        tx.record(OrganizationChange::Purged { files: purged.files });
    }
    Ok(purged.is_over)
}
