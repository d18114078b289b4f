//! Look-ups of organizations: by `Host` header, by member, by document.

use domain::access::MemberRole;
use domain::collation::{search_key, sort_key};
use domain::id::{DocumentId, MemberId, OrganizationId, UserId};
use domain::organization::Organization;
use domain::text::{Name, Slug, WebAddress, name_key};
use domain::time::Timestamp;
use domain::user::Member;

use super::PlatformTx;
use super::sessions::{OrganizationFacts, organization as facts};
use crate::organizations::{ORGANIZATION_COLUMNS, organization};
use crate::sql::Columns;
use crate::{Tenant, args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    SEEN_COLUMNS = "{ORGANIZATION_COLUMNS}, m.id AS member_id, m.user_id, m.role AS member_role, m.external_id,
            m.created_at AS member_created_at, m.updated_at AS member_updated_at, m.is_active AS member_is_active";
    /// Membership `m` of organization `o` is active, and the user's password is valid there: a password set by an
    /// administrator is valid only in that administrator's organization.
    OPEN_MEMBERSHIP = "m.is_active AND NOT EXISTS (SELECT 1 FROM users p
            WHERE p.id = m.user_id AND p.password_organization_id <> m.organization_id)";
}

statements! {
    /// The organizations of a user, by name.
    OF_MEMBER = "SELECT {SEEN_COLUMNS} FROM members m
        JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1 AND o.deleted_at IS NULL ORDER BY o.sort_key, o.id";
    /// The organizations that are accessible to a user, by name.
    OPEN_TO_MEMBER = "SELECT {SEEN_COLUMNS} FROM members m
        JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1 AND o.deleted_at IS NULL AND {OPEN_MEMBERSHIP} ORDER BY o.sort_key, o.id";
    /// An organization by id or slug, with the membership of a user.
    SEEN = "SELECT {SEEN_COLUMNS} FROM organizations o
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = $3 AND {OPEN_MEMBERSHIP}
        WHERE o.deleted_at IS NULL AND (o.id = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))";
    /// The organization of a `Host` header, with the membership of the caller. An exact custom domain takes precedence
    /// over a slug.
    BY_HOST = "SELECT o.id AS active_id, o.status AS active_status, o.metadata AS active_metadata,
            m.role AS member_role, COALESCE(
            (SELECT u.password_organization_id FROM users u WHERE u.id = $3) <> o.id, FALSE) AS is_password_foreign
        FROM organizations o
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = $3 AND m.is_active
        WHERE o.deleted_at IS NULL AND (o.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))
        ORDER BY CASE WHEN o.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1";
    /// The public data of the organization of a `Host` header.
    SIGN = "SELECT o.name, o.slug, o.logo FROM organizations o
        WHERE o.deleted_at IS NULL AND (o.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))
        ORDER BY CASE WHEN o.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1";
    HOME_OF_DOCUMENT = "SELECT d.organization_id FROM documents d JOIN organizations o ON o.id = d.organization_id
        WHERE d.id = $1 AND o.deleted_at IS NULL";
    /// An organization by id, unless it is deleted.
    TENANT = "SELECT id FROM organizations WHERE id = $1 AND deleted_at IS NULL";
    /// An organization by slug, unless it is deleted.
    BY_SLUG = "SELECT id FROM organizations WHERE slug = $1 AND deleted_at IS NULL";
    /// All organizations by name.
    TENANTS = "SELECT id FROM organizations WHERE deleted_at IS NULL ORDER BY sort_key, id";
    /// The matching organizations by name; those whose name begins with the search text come first.
    LIST = "SELECT {ORGANIZATION_COLUMNS} FROM organizations o
        WHERE o.deleted_at IS NULL AND (CAST($1 AS TEXT) IS NULL
            OR o.search_key LIKE '%' || $1 || '%' ESCAPE '\\' OR o.slug LIKE '%' || $1 || '%' ESCAPE '\\')
        ORDER BY CASE WHEN o.search_key LIKE $1 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, o.sort_key, o.id";
    /// Deleted organizations without a queued or running purge job.
    FORGOTTEN = "SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs j
            WHERE j.organization_id = o.id AND j.kind = 'ORGANIZATION_PURGE' AND j.status IN ('QUEUED', 'RUNNING'))
        ORDER BY o.deleted_at, o.id";
    INSERT = "INSERT INTO organizations (id, name, name_key, slug, custom_domain, created_at, updated_at, search_key,
            sort_key)
        VALUES (:id, :name, :name_key, :slug, :custom_domain, :created_at, :created_at, :search_key, :sort_key)";
    INSERT_MEMBER = "INSERT INTO members (organization_id, id, user_id, role, created_at) VALUES ($1, $2, $3, $4, $5)";
}

/// A canonical host name, and the slug in it if it is a subdomain of the base domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// In lower case, without port and trailing dot.
    pub host: String,
    /// The first label, if the rest is the base domain.
    pub slug: Option<String>,
}

/// An organization with the membership of a user.
#[derive(Debug, Clone)]
pub struct OrganizationOfUser {
    pub organization: Organization,
    /// Gives access to the organization.
    pub tenant: Tenant,
    /// The membership of the user, if any.
    pub member: Option<Member>,
}

/// Identifies an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrganizationName {
    Id(String),
    Slug(String),
}

/// The public data of an organization, shown before sign-in.
#[derive(Debug, Clone)]
pub struct OrganizationBranding {
    pub name: Name,
    pub slug: Slug,
    /// URL of the logo.
    pub logo: Option<WebAddress>,
}

/// The data of a new organization.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    pub id: OrganizationId,
    pub name: String,
    /// Also its subdomain.
    pub slug: String,
    pub custom_domain: Option<String>,
}

impl PlatformTx<'_> {
    /// Returns the tenant of an organization, unless it is deleted.
    pub fn tenant(&mut self, id: &OrganizationId) -> Result<Tenant> {
        self.fetch_one(&TENANT, args![id], |row| Ok(Tenant(row.get("id")?)))
    }

    /// Lists all organizations by name.
    pub fn tenants(&mut self) -> Result<Vec<Tenant>> {
        self.fetch_all(&TENANTS, &[], |row| Ok(Tenant(row.get("id")?)))
    }

    /// Lists deleted organizations without a queued or running purge job.
    pub fn forgotten_tenants(&mut self) -> Result<Vec<Tenant>> {
        self.fetch_all(&FORGOTTEN, &[], |row| Ok(Tenant(row.get("id")?)))
    }

    /// Lists the organizations whose name or slug contains the text, by name.
    pub fn organizations(&mut self, search: Option<&str>) -> Result<Vec<Organization>> {
        let search = search.map(crate::pattern);
        self.fetch_all(&LIST, args![search], organization)
    }

    /// Returns the public data of the organization of a `Host` header.
    pub fn branding_of_host(&mut self, host: &HostName) -> Result<Option<OrganizationBranding>> {
        self.fetch_optional(
            &SIGN,
            args![host.host, host.slug],
            |row| from_row!(row => OrganizationBranding { name, slug, logo }),
        )
    }

    /// Returns the slug of the organization of a `Host` header. A former slug in it counts too.
    pub fn slug_of_host(&mut self, host: &HostName) -> Result<Option<Slug>> {
        if let Some(branding) = self.branding_of_host(host)? {
            return Ok(Some(branding.slug));
        }
        Ok(host.slug.as_deref().and_then(|slug| Slug::try_from(slug).ok()))
    }

    /// Returns the organization with this slug.
    pub fn organization_with_slug(&mut self, slug: &str) -> Result<Option<Tenant>> {
        self.fetch_optional(&BY_SLUG, args![slug], |row| Ok(Tenant(row.get("id")?)))
    }

    /// Inserts an organization; a slug that is in use is `DUPLICATE_SLUG`.
    pub fn insert_organization(&mut self, new: &NewOrganization, now: Timestamp) -> Result<Tenant> {
        self.execute_named(
            &INSERT,
            named![new =>
                id, name, slug, custom_domain,
                name_key: name_key(&new.name),
                created_at: now,
                search_key: search_key(&new.name),
                sort_key: sort_key(&new.name),
            ],
        )?;
        Ok(Tenant(new.id.clone()))
    }

    /// Inserts a membership.
    pub fn insert_member(&mut self, tenant: &Tenant, user: &UserId, role: MemberRole, now: Timestamp) -> Result<()> {
        self.execute(
            &INSERT_MEMBER,
            args![tenant.id(), clock::new_id(), user, role.as_str(), now],
        )
    }

    /// Returns the organization of a `Host` header, with the membership of the user.
    pub fn organization_of_host(&mut self, host: &HostName, user: &UserId) -> Result<Option<OrganizationFacts>> {
        let found = self.fetch_optional(&BY_HOST, args![host.host, host.slug, user], facts)?;
        Ok(found.flatten())
    }

    /// Returns the organization of a document, for callbacks of the document server.
    pub fn tenant_of_document(&mut self, id: &DocumentId) -> Result<Tenant> {
        self.fetch_one(&HOME_OF_DOCUMENT, args![id], |row| {
            Ok(Tenant(row.get("organization_id")?))
        })
    }

    /// Lists the organizations of a user.
    pub fn organizations_of(&mut self, user: &UserId) -> Result<Vec<OrganizationOfUser>> {
        self.fetch_all(&OF_MEMBER, args![user], organization_of_user)
    }

    /// Lists the organizations accessible to a user: those with an active membership, unless an administrator of
    /// another organization set the password.
    pub fn organizations_open_to(&mut self, user: &UserId) -> Result<Vec<OrganizationOfUser>> {
        self.fetch_all(&OPEN_TO_MEMBER, args![user], organization_of_user)
    }

    /// Returns an organization by id or slug, with the membership of the user.
    pub fn organization(&mut self, name: &OrganizationName, user: &UserId) -> Result<Option<OrganizationOfUser>> {
        let (id, slug) = match name {
            OrganizationName::Id(id) => (Some(id), None),
            OrganizationName::Slug(slug) => (None, Some(slug)),
        };
        self.fetch_optional(&SEEN, args![id, slug, user], organization_of_user)
    }
}

fn organization_of_user(row: &Columns<'_>) -> Result<OrganizationOfUser> {
    let organization = organization(row)?;
    let member: Option<MemberId> = row.get("member_id")?;
    let member = member.map(|id| member_of(id, &organization.id, row)).transpose()?;
    Ok(OrganizationOfUser {
        tenant: Tenant(organization.id.clone()),
        organization,
        member,
    })
}

fn member_of(id: MemberId, organization: &OrganizationId, row: &Columns<'_>) -> Result<Member> {
    from_row!(row => Member {
        user_id, role = "member_role", external_id, created_at = "member_created_at", updated_at = "member_updated_at",
        is_active = "member_is_active",
        id: id,
        organization_id: organization.clone(),
    })
}
