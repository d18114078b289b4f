//! Organizations as the platform sees them: which one a Host names, where an object is at home.

use model::access::MemberRole;
use model::id::{DocumentId, OrganizationId, UserId};
use model::text::name_key;
use model::time::Timestamp;

use super::Platform;
use super::sessions::{OrganizationFacts, organization};
use crate::args;
use crate::error::{Error, Result};
use crate::store::Tenant;
use crate::{clock, statements};

statements! {
    /// The organization a Host names, with the caller's part in it; an exact custom domain wins over a slug.
    BY_HOST = "SELECT o.id, o.status, m.role FROM organizations o
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = $3
        WHERE o.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2)
        ORDER BY CASE WHEN o.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1";
    /// The organization of a document.
    HOME_OF_DOCUMENT = "SELECT organization_id FROM documents WHERE id = $1";
    /// One organization by id.
    TENANT = "SELECT id FROM organizations WHERE id = $1";
    /// One organization by its short name.
    BY_SLUG = "SELECT id FROM organizations WHERE slug = $1";
    /// A new organization.
    INSERT = "INSERT INTO organizations (id, name, name_key, slug, custom_domain, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)";
    /// A new membership.
    INSERT_MEMBER = "INSERT INTO members (organization_id, id, user_id, role, created_at) VALUES ($1, $2, $3, $4, $5)";
}

/// A canonical host, and the slug it carries under the base domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// Lower-case, without port and trailing dot.
    pub host: String,
    /// The first label, when the rest is the base domain.
    pub slug: Option<String>,
}

/// An organization to be created.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    /// The id it will have.
    pub id: OrganizationId,
    /// Its name.
    pub name: String,
    /// Its short name, also its subdomain.
    pub slug: String,
    /// A domain of its own.
    pub custom_domain: Option<String>,
}

impl Platform<'_> {
    /// The tenant of an existing organization.
    pub fn tenant(&mut self, id: &OrganizationId) -> Result<Tenant> {
        self.connection
            .maybe(&TENANT, args![id], |row| Ok(Tenant(row.take()?)))?
            .ok_or(Error::NotFound)
    }

    /// The organization with this short name.
    pub fn organization_with_slug(&mut self, slug: &str) -> Result<Option<Tenant>> {
        self.connection
            .maybe(&BY_SLUG, args![slug], |row| Ok(Tenant(row.take()?)))
    }

    /// Creates an organization; a taken short name is `DUPLICATE_SLUG`.
    pub fn insert_organization(&mut self, new: &NewOrganization, now: Timestamp) -> Result<Tenant> {
        self.connection.run(
            &INSERT,
            args![new.id, new.name, name_key(&new.name), new.slug, new.custom_domain, now],
        )?;
        Ok(Tenant(new.id.clone()))
    }

    /// Makes a person a member of an organization.
    pub fn insert_member(&mut self, tenant: &Tenant, user: &UserId, role: MemberRole, now: Timestamp) -> Result<()> {
        self.connection
            .run(
                &INSERT_MEMBER,
                args![tenant.id(), clock::new_id(), user, role.as_str(), now],
            )
            .map(drop)
    }

    /// The organization a Host names.
    pub fn organization_of_host(&mut self, host: &HostName, user: &UserId) -> Result<Option<OrganizationFacts>> {
        let found = self
            .connection
            .maybe(&BY_HOST, args![host.host, host.slug, user], organization)?;
        Ok(found.flatten())
    }

    /// The organization a document belongs to, for the document server.
    pub fn home_of_document(&mut self, id: &DocumentId) -> Result<Tenant> {
        let home = self
            .connection
            .maybe(&HOME_OF_DOCUMENT, args![id], |row| Ok(Tenant(row.take()?)))?;
        home.ok_or(Error::NotFound)
    }
}
