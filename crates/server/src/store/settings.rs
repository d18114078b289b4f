//! The organization of the request itself: what its own admins see and change of it.

use model::collation::{search_key, sort_key};
use model::organization::{Metadata, Organization};
use model::text::name_key;

use super::organizations::organization;
use super::{Scope, Work};
use crate::error::Result;
use crate::{args, statements};

statements! {
    /// The organization.
    SHOW = "SELECT id, name, slug, custom_domain, logo, status, metadata, storage_quota, group_storage_quota,
            created_at, updated_at
        FROM organizations WHERE id = $1";
    /// Its settings alone.
    METADATA = "SELECT metadata FROM organizations WHERE id = $1";
    /// What its admins may change.
    UPDATE = "UPDATE organizations SET name = $2, name_key = $3, logo = $4, metadata = $5, updated_at = $6,
            search_key = $7, sort_key = $8
        WHERE id = $1";
}

impl Scope<'_> {
    /// The organization everything here belongs to.
    pub fn school(&mut self) -> Result<Organization> {
        self.one(&SHOW, args![], organization)
    }

    /// What it has set, with nothing set where nobody set anything.
    pub fn school_settings(&mut self) -> Result<Metadata> {
        let found: Option<Metadata> = self.one(&METADATA, args![], |row| row.json_option())?;
        Ok(found.unwrap_or_default())
    }
}

impl Work<'_> {
    /// The organization, held until this unit ends.
    pub fn school_to_change(&mut self) -> Result<Organization> {
        self.hold_organization()?;
        self.school()
    }

    /// Writes name, logo and settings.
    pub fn update_school(&mut self, school: &Organization) -> Result<()> {
        let metadata = school.metadata.as_ref().map(serde_json::to_string).transpose()?;
        self.run(
            &UPDATE,
            args![
                school.name,
                name_key(school.name.as_str()),
                school.logo,
                metadata,
                school.updated_at,
                search_key(school.name.as_str()),
                sort_key(school.name.as_str()),
            ],
        )
        .map(drop)
    }
}
