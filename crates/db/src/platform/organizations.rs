//! Organizations as the platform sees them: which one a Host names, where an object is at home.

use model::access::MemberRole;
use model::collation::{search_key, sort_key};
use model::id::{DocumentId, MemberId, OrganizationId, UserId};
use model::organization::Organization;
use model::text::{Name, Slug, WebAddress, name_key};
use model::time::Timestamp;
use model::user::Member;

use super::Platform;
use super::sessions::{OrganizationFacts, organization as facts};
use crate::Tenant;
use crate::args;
use crate::organizations::{organization, organization_columns};
use crate::sql::Columns;
use crate::statements;
use common::clock;
use common::error::{Error, Result};

macro_rules! seen_columns {
    () => {
        concat!(
            organization_columns!(),
            ", m.id, m.user_id, m.role, m.external_id, m.created_at, m.updated_at, m.is_active"
        )
    };
}
/// Membership `m` of organization `o` is active and the person's password opens it: a password that an administrator chose
/// opens no other organization than that administrator's.
macro_rules! open_membership {
    () => {
        "m.is_active AND NOT EXISTS (SELECT 1 FROM users p
            WHERE p.id = m.user_id AND p.password_organization_id <> m.organization_id)"
    };
}

statements! {
    /// The organizations of which a person is a member, by name.
    OF_MEMBER = concat!("SELECT ", seen_columns!(), " FROM members m
        JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1 AND o.deleted_at IS NULL ORDER BY o.sort_key, o.id");
    /// The same that are open to the person now.
    OPEN_TO_MEMBER = concat!("SELECT ", seen_columns!(), " FROM members m
        JOIN organizations o ON o.id = m.organization_id
        WHERE m.user_id = $1 AND o.deleted_at IS NULL AND ", open_membership!(), " ORDER BY o.sort_key, o.id");
    /// An organization by id or by short name, with a person's part in it.
    SEEN = concat!("SELECT ", seen_columns!(), " FROM organizations o
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = $3 AND ", open_membership!(), "
        WHERE o.deleted_at IS NULL AND (o.id = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))");
    /// The organization a Host names, with the caller's part in it; an exact custom domain wins over a slug.
    BY_HOST = "SELECT o.id, o.status, m.role, COALESCE(
            (SELECT u.password_organization_id FROM users u WHERE u.id = $3) <> o.id, FALSE)
        FROM organizations o
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = $3 AND m.is_active
        WHERE o.deleted_at IS NULL AND (o.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))
        ORDER BY CASE WHEN o.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1";
    /// What everybody may know of the organization a Host names.
    SIGN = "SELECT o.name, o.slug, o.logo FROM organizations o
        WHERE o.deleted_at IS NULL AND (o.custom_domain = $1 OR (CAST($2 AS TEXT) IS NOT NULL AND o.slug = $2))
        ORDER BY CASE WHEN o.custom_domain = $1 THEN 0 ELSE 1 END LIMIT 1";
    /// The organization of a document.
    HOME_OF_DOCUMENT = "SELECT d.organization_id FROM documents d JOIN organizations o ON o.id = d.organization_id
        WHERE d.id = $1 AND o.deleted_at IS NULL";
    /// One organization by id.
    TENANT = "SELECT id FROM organizations WHERE id = $1 AND deleted_at IS NULL";
    /// One organization by its short name.
    BY_SLUG = "SELECT id FROM organizations WHERE slug = $1 AND deleted_at IS NULL";
    /// Every organization by name.
    TENANTS = "SELECT id FROM organizations WHERE deleted_at IS NULL ORDER BY sort_key, id";
    /// Every organization by name; with a search text, those whose name begins with it come first.
    LIST = concat!("SELECT ", organization_columns!(), " FROM organizations o
        WHERE o.deleted_at IS NULL AND (CAST($1 AS TEXT) IS NULL
            OR o.search_key LIKE '%' || $1 || '%' ESCAPE '\\' OR o.slug LIKE '%' || $1 || '%' ESCAPE '\\')
        ORDER BY CASE WHEN o.search_key LIKE $1 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, o.sort_key, o.id");
    /// Deleted organizations that nobody is taking away.
    FORGOTTEN = "SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs j
            WHERE j.organization_id = o.id AND j.kind = 'ORGANIZATION_PURGE' AND j.status IN ('QUEUED', 'RUNNING'))
        ORDER BY o.deleted_at, o.id";
    /// A new organization.
    INSERT = "INSERT INTO organizations (id, name, name_key, slug, custom_domain, created_at, updated_at, search_key, sort_key)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8)";
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

/// An organization with somebody's part in it.
#[derive(Debug, Clone)]
pub struct SeenOrganization {
    /// The organization.
    pub organization: Organization,
    /// The door to it.
    pub tenant: Tenant,
    /// The membership of the person who looks, if he has one.
    pub member: Option<Member>,
}

/// What names an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrganizationName {
    /// Its id.
    Id(String),
    /// Its short name.
    Slug(String),
}

/// What everybody may know of an organization: the sign at its door.
#[derive(Debug, Clone)]
pub struct Sign {
    /// Its name.
    pub name: Name,
    /// Its name in addresses.
    pub slug: Slug,
    /// Address of its logo.
    pub logo: Option<WebAddress>,
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

    /// Every organization.
    pub fn tenants(&mut self) -> Result<Vec<Tenant>> {
        self.connection.many(&TENANTS, &[], |row| Ok(Tenant(row.take()?)))
    }

    /// Deleted organizations that nobody is taking away.
    pub fn forgotten_tenants(&mut self) -> Result<Vec<Tenant>> {
        self.connection.many(&FORGOTTEN, &[], |row| Ok(Tenant(row.take()?)))
    }

    /// The organizations whose name or short name contains the text, by name.
    pub fn organizations(&mut self, search: Option<&str>) -> Result<Vec<Organization>> {
        let search = search.map(crate::pattern);
        self.connection.many(&LIST, args![search], organization)
    }

    /// What everybody may know of the organization a Host names.
    pub fn sign_of_host(&mut self, host: &HostName) -> Result<Option<Sign>> {
        self.connection.maybe(&SIGN, args![host.host, host.slug], |row| {
            Ok(Sign {
                name: row.take()?,
                slug: row.take()?,
                logo: row.take()?,
            })
        })
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
            args![
                new.id,
                new.name,
                name_key(&new.name),
                new.slug,
                new.custom_domain,
                now,
                search_key(&new.name),
                sort_key(&new.name),
            ],
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
            .maybe(&BY_HOST, args![host.host, host.slug, user], facts)?;
        Ok(found.flatten())
    }

    /// The organization a document belongs to, for the document server.
    pub fn home_of_document(&mut self, id: &DocumentId) -> Result<Tenant> {
        let home = self
            .connection
            .maybe(&HOME_OF_DOCUMENT, args![id], |row| Ok(Tenant(row.take()?)))?;
        home.ok_or(Error::NotFound)
    }

    /// The organizations of which a person is a member.
    pub fn organizations_of(&mut self, user: &UserId) -> Result<Vec<SeenOrganization>> {
        self.connection.many(&OF_MEMBER, args![user], seen)
    }

    /// Those of them that are open to the person: an active membership, and no password of a foreign administrator.
    pub fn organizations_open_to(&mut self, user: &UserId) -> Result<Vec<SeenOrganization>> {
        self.connection.many(&OPEN_TO_MEMBER, args![user], seen)
    }

    /// An organization by its id or short name, with a person's part in it.
    pub fn organization(&mut self, name: &OrganizationName, user: &UserId) -> Result<Option<SeenOrganization>> {
        let (id, slug) = match name {
            OrganizationName::Id(id) => (Some(id), None),
            OrganizationName::Slug(slug) => (None, Some(slug)),
        };
        self.connection.maybe(&SEEN, args![id, slug, user], seen)
    }
}

fn seen(row: &mut Columns<'_>) -> Result<SeenOrganization> {
    let organization = organization(row)?;
    let member: Option<MemberId> = row.take()?;
    let member = member.map(|id| member_of(id, &organization.id, row)).transpose()?;
    Ok(SeenOrganization {
        tenant: Tenant(organization.id.clone()),
        organization,
        member,
    })
}

fn member_of(id: MemberId, organization: &OrganizationId, row: &mut Columns<'_>) -> Result<Member> {
    Ok(Member {
        id,
        organization_id: organization.clone(),
        user_id: row.take()?,
        role: row.parse(MemberRole::parse)?,
        external_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        is_active: row.take()?,
    })
}
