//! The organization itself, as those who run the platform change it: its own row, and the sessions that work in it. What
//! its own admins change is in [`settings`](super::settings); whoever looks for one from outside asks [`platform::organizations`](super::platform::organizations).

use model::collation::{search_key, sort_key};
use model::id::SessionId;
use model::organization::{Organization, OrganizationStatus};
use model::storage::QuotaBytes;
use model::text::name_key;

use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, statements};
use common::error::Result;

/// The columns that [`organization`] reads.
macro_rules! organization_columns {
    () => {
        "o.id, o.name, o.slug, o.custom_domain, o.logo, o.status, o.metadata, o.storage_quota, o.group_storage_quota,
        o.created_at, o.updated_at"
    };
}
pub(super) use organization_columns;

/// Sessions at work in the organization: it is the chosen one, or a Host may name it for a member who chose none. Those of
/// the platform's own people are no business of the organization.
macro_rules! sessions_at_work {
    () => {
        " FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE u.role <> 'SUPER_ADMIN' AND (s.active_organization_id = $1 OR (s.active_organization_id IS NULL
            AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = s.user_id)))"
    };
}

statements! {
    /// Takes the organization for this unit; one that was deleted is not there.
    HOLD = "SELECT id FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
    /// A new organization.
    INSERT = "INSERT INTO organizations (id, name, name_key, slug, custom_domain, logo, status, metadata, created_at, updated_at,
            search_key, sort_key)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    /// All fields of the organization.
    UPDATE = "UPDATE organizations SET name = $2, name_key = $3, slug = $4, custom_domain = $5, logo = $6, status = $7,
            metadata = $8, storage_quota = $9, group_storage_quota = $10, updated_at = $11, search_key = $12, sort_key = $13
        WHERE id = $1";
    /// The organization is there no more; what it was called is free for others at once.
    DELETE = "UPDATE organizations SET deleted_at = $2, updated_at = $2, slug = id, custom_domain = NULL WHERE id = $1";
    /// The sessions at work in it.
    SESSIONS = concat!("SELECT s.id", sessions_at_work!(), " ORDER BY s.id");
    /// No session works in it any more.
    LEAVE = "UPDATE sessions SET active_organization_id = NULL WHERE active_organization_id = $1";
    /// How many members it has.
    MEMBER_COUNT = "SELECT COUNT(*) FROM members WHERE organization_id = $1";
}

impl Scope<'_> {
    /// How many members it has.
    pub fn member_count(&mut self) -> Result<i64> {
        self.one(&MEMBER_COUNT, args![], |row| row.take())
    }

    /// The sessions at work in it.
    pub fn sessions_at_work(&mut self) -> Result<Vec<SessionId>> {
        self.many(&SESSIONS, args![], |row| row.take())
    }
}

impl Work<'_> {
    /// The organization, held until this unit ends.
    pub fn organization_to_change(&mut self) -> Result<Organization> {
        self.one(&HOLD, args![], |row| row.take::<String>())?;
        self.school()
    }

    /// Writes the organization itself, as the first thing in it; a taken name in addresses is `DUPLICATE_SLUG`, a taken
    /// domain `DUPLICATE_DOMAIN`.
    pub fn insert_organization(&mut self, new: &Organization) -> Result<()> {
        let metadata = metadata(new)?;
        let key = name_key(new.name.as_str());
        let (search_key, sort_key) = (search_key(new.name.as_str()), sort_key(new.name.as_str()));
        let (status, domain) = (new.status.as_str(), &new.custom_domain);
        let (created_at, updated_at) = (new.created_at, new.updated_at);
        let arguments = args![
            new.name, key, new.slug, domain, new.logo, status, metadata, created_at, updated_at, search_key, sort_key,
        ];
        self.run(&INSERT, arguments).map(drop)
    }

    /// Writes all fields of the organization.
    pub fn update_organization(&mut self, organization: &Organization) -> Result<()> {
        let metadata = metadata(organization)?;
        let key = name_key(organization.name.as_str());
        let (status, domain) = (organization.status.as_str(), &organization.custom_domain);
        let Organization {
            name,
            slug,
            logo,
            updated_at,
            ..
        } = organization;
        let quota = organization.storage_quota.map(QuotaBytes::get);
        let group_quota = organization.group_storage_quota.map(QuotaBytes::get);
        self.run(
            &UPDATE,
            args![
                name,
                key,
                slug,
                domain,
                logo,
                status,
                metadata,
                quota,
                group_quota,
                updated_at,
                search_key(name.as_str()),
                sort_key(name.as_str()),
            ],
        )
        .map(drop)
    }

    /// Deletes the organization softly: no look-up finds it from now on, and no session works in it.
    pub fn delete_organization(&mut self) -> Result<()> {
        let now = self.now();
        self.run(&DELETE, args![now])?;
        self.run(&LEAVE, args![]).map(drop)
    }
}

fn metadata(organization: &Organization) -> Result<Option<String>> {
    let metadata = organization.metadata.as_ref();
    Ok(metadata.map(serde_json::to_string).transpose()?)
}

pub(super) fn organization(row: &mut Columns<'_>) -> Result<Organization> {
    Ok(Organization {
        id: row.take()?,
        name: row.take()?,
        slug: row.take()?,
        custom_domain: row.take()?,
        logo: row.take()?,
        status: row.parse(OrganizationStatus::parse)?,
        metadata: row.json_option()?,
        storage_quota: row.take::<Option<i64>>()?.map(QuotaBytes::stored),
        group_storage_quota: row.take::<Option<i64>>()?.map(QuotaBytes::stored),
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
