//! The row of an organization as platform administrators change it, and the sessions in the organization. Changes by
//! its own admins are in [`organization_settings`](super::organization_settings), look-ups in
//! [`platform::organizations`](super::platform::organizations).

use domain::collation::{search_key, sort_key};
use domain::error_code::ErrorCode;
use domain::id::SessionId;
use domain::organization::Organization;
use domain::storage::QuotaBytes;
use domain::text::{Slug, name_key};

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::error::{Error, Result};

fragments! {
    /// The columns that [`organization`] reads.
    pub(crate) ORGANIZATION_COLUMNS = "o.id, o.name, o.slug, o.custom_domain, o.logo, o.status, o.metadata,
        o.storage_quota, o.group_storage_quota,
        o.created_at, o.updated_at";
    /// Sessions in the organization: it is their active organization, or they have none and belong to a member, so the
    /// `Host` header may resolve to it. Sessions of super admins are excluded.
    ACTIVE_SESSION_IDS = "FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE u.role <> 'SUPER_ADMIN' AND (s.active_organization_id = $1 OR (s.active_organization_id IS NULL
            AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = s.user_id)))";
}

statements! {
    /// Locks the organization until the end of the transaction, unless it is deleted.
    HOLD = "SELECT id FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
    INSERT = "INSERT INTO organizations (id, name, name_key, slug, custom_domain, logo, status, metadata, created_at,
            updated_at, search_key, sort_key)
        VALUES ($1, :name, :name_key, :slug, :custom_domain, :logo, :status, :metadata, :created_at, :updated_at,
            :search_key, :sort_key)";
    /// Updates every field of the organization.
    UPDATE = "UPDATE organizations SET name = $2, name_key = $3, slug = $4, custom_domain = $5, logo = $6, status = $7,
            metadata = $8, storage_quota = $9, group_storage_quota = $10, updated_at = $11, search_key = $12,
            sort_key = $13
        WHERE id = $1";
    /// Soft-deletes the organization. Its slug and domain become available immediately.
    DELETE = "UPDATE organizations SET deleted_at = $2, updated_at = $2, slug = id, custom_domain = NULL
            WHERE id = $1";
    /// Keeps a short name that the organization no longer has.
    INSERT_FORMER_SLUG = "INSERT INTO former_slugs (organization_id, slug, created_at) VALUES ($1, $2, $3)
        ON CONFLICT (slug) DO NOTHING";
    /// Forgets a former short name that the organization has again.
    DELETE_FORMER_SLUG = "DELETE FROM former_slugs WHERE organization_id = $1 AND slug = $2";
    /// Whether another organization had a short name.
    IS_FORMER_ELSEWHERE = "SELECT EXISTS (SELECT 1 FROM former_slugs f WHERE f.slug = $2
        AND NOT EXISTS (SELECT 1 FROM former_slugs own WHERE own.organization_id = $1 AND own.slug = f.slug))";
    SESSIONS = "SELECT s.id {ACTIVE_SESSION_IDS} ORDER BY s.id";
    /// Clears the active organization of its sessions.
    LEAVE = "UPDATE sessions SET active_organization_id = NULL WHERE active_organization_id = $1";
    MEMBER_COUNT = "SELECT COUNT(*) FROM members WHERE organization_id = $1";
}

impl ReadTx<'_> {
    pub fn member_count(&mut self) -> Result<i64> {
        self.fetch_one(&MEMBER_COUNT, args![], |row| row.only())
    }

    /// Lists the sessions in the organization.
    pub fn active_session_ids(&mut self) -> Result<Vec<SessionId>> {
        self.fetch_all(&SESSIONS, args![], |row| row.get("id"))
    }
}

impl WriteTx<'_> {
    /// Returns the organization, locked until the end of the transaction.
    pub fn lock_organization(&mut self) -> Result<Organization> {
        self.fetch_one(&HOLD, args![], |row| row.get::<String>("id"))?;
        self.current_organization()
    }

    /// Inserts the organization as its first row; a slug that is in use is `DUPLICATE_SLUG`, a domain
    /// `DUPLICATE_DOMAIN`.
    pub fn insert_organization(&mut self, new: &Organization) -> Result<()> {
        let metadata = metadata(new)?;
        let key = name_key(new.name.as_str());
        let (search_key, sort_key) = (search_key(new.name.as_str()), sort_key(new.name.as_str()));
        let (status, domain) = (new.status.as_str(), &new.custom_domain);
        let (created_at, updated_at) = (new.created_at, new.updated_at);
        self.execute_named(
            &INSERT,
            named![new =>
                name, slug, logo,
                name_key: key,
                custom_domain: domain,
                status: status,
                metadata: metadata,
                created_at: created_at,
                updated_at: updated_at,
                search_key: search_key,
                sort_key: sort_key,
            ],
        )
    }

    /// Updates every field of the organization.
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
        self.execute(
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
    }

    /// Keeps the former short name after a change, and rejects a short name that another organization had before. Called
    /// after the new name was written, which waits for concurrent changes of the same name.
    pub fn keep_former_slug(&mut self, former: Option<&Slug>, slug: &Slug) -> Result<()> {
        let is_taken: bool = self.fetch_one(&IS_FORMER_ELSEWHERE, args![slug], |row| row.only())?;
        if is_taken {
            return Err(Error::Conflict {
                code: ErrorCode::DuplicateSlug,
                message: "This short name is taken.",
                path: "slug",
                existing_id: None,
            });
        }
        let now = self.now();
        if let Some(former) = former {
            self.execute(&INSERT_FORMER_SLUG, args![former, now])?;
            self.execute(&DELETE_FORMER_SLUG, args![slug])?;
        }
        Ok(())
    }

    /// Soft-deletes the organization: look-ups no longer find it, and its sessions lose their active organization.
    pub fn delete_organization(&mut self) -> Result<()> {
        let now = self.now();
        self.execute(&DELETE, args![now])?;
        self.execute(&LEAVE, args![])
    }
}

fn metadata(organization: &Organization) -> Result<Option<String>> {
    let metadata = organization.metadata.as_ref();
    Ok(metadata.map(serde_json::to_string).transpose()?)
}

pub(super) fn organization(row: &Columns<'_>) -> Result<Organization> {
    from_row!(row => Organization {
        id, name, slug, custom_domain, logo, status, created_at, updated_at,
        metadata: row.json_option("metadata")?,
        storage_quota: row.get::<Option<i64>>("storage_quota")?.map(QuotaBytes::stored),
        group_storage_quota: row.get::<Option<i64>>("group_storage_quota")?.map(QuotaBytes::stored),
    })
}
