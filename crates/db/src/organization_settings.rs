//! The organization of the request as its own admins see and change it.

use domain::collation::{search_key, sort_key};
use domain::organization::{Metadata, Organization};
use domain::patch::FieldPatch;
use domain::text::name_key;
use domain::time::Timestamp;
use domain::zone::{DateOrTime, Zone};

use super::organizations::organization;
use super::{ReadTx, WriteTx};
use crate::{args, named, statements};
use common::error::{Error, Result};

statements! {
    CURRENT = "SELECT id, name, slug, custom_domain, logo, status, metadata, storage_quota, group_storage_quota,
            created_at, updated_at
        FROM organizations WHERE id = $1";
    METADATA = "SELECT metadata FROM organizations WHERE id = $1";
    /// Updates the fields that admins can change.
    UPDATE = "UPDATE organizations SET name = :name, name_key = :name_key, logo = :logo, metadata = :metadata,
            updated_at = :updated_at, search_key = :search_key, sort_key = :sort_key
        WHERE id = $1";
}

impl ReadTx<'_> {
    /// Returns the organization of the request.
    pub fn current_organization(&mut self) -> Result<Organization> {
        self.fetch_one(&CURRENT, args![], organization)
    }

    /// Returns the settings of the organization; unset ones are empty.
    pub fn organization_settings(&mut self) -> Result<Metadata> {
        let found: Option<Metadata> = self.fetch_one(&METADATA, args![], |row| row.json_option("metadata"))?;
        Ok(found.unwrap_or_default())
    }
}

impl ReadTx<'_> {
    /// Returns the time zone for dates and times of day: that of the organization, otherwise that of the caller,
    /// otherwise UTC.
    pub fn time_zone(&mut self) -> Result<Zone> {
        if let Some(name) = self.organization_settings()?.timezone {
            return Ok(Zone::named(name.as_str()).unwrap_or(Zone::utc()));
        }
        let Some(user) = self.actor().user.clone() else {
            return Ok(Zone::utc());
        };
        let own = match self.visible_user(&user, false) {
            Ok(known) => known.account.and_then(|account| account.timezone),
            // Super admins are not members.
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        Ok(own.and_then(|name| Zone::named(name.as_str())).unwrap_or(Zone::utc()))
    }

    /// Resolves a date to a timestamp. The time zone is read only for a date without a time.
    pub fn resolve_timestamp(&mut self, date: DateOrTime) -> Result<Timestamp> {
        match date {
            DateOrTime::Time(resolve_timestamp) => Ok(resolve_timestamp),
            DateOrTime::Date(_) => Ok(date.resolve(&self.time_zone()?)),
        }
    }

    /// Resolves a date field of a PATCH request to a timestamp.
    pub fn patched_timestamp(&mut self, edit: &FieldPatch<DateOrTime>) -> Result<FieldPatch<Timestamp>> {
        Ok(match edit {
            FieldPatch::Unchanged => FieldPatch::Unchanged,
            FieldPatch::Null => FieldPatch::Null,
            FieldPatch::Value(date) => FieldPatch::Value(self.resolve_timestamp(*date)?),
        })
    }
}

impl WriteTx<'_> {
    /// Returns the organization, locked until the end of the transaction.
    pub fn lock_current_organization(&mut self) -> Result<Organization> {
        self.lock_membership_changes()?;
        self.current_organization()
    }

    /// Updates name, logo and settings.
    pub fn update_current_organization(&mut self, organization: &Organization) -> Result<()> {
        let metadata = organization.metadata.as_ref().map(serde_json::to_string).transpose()?;
        self.execute_named(
            &UPDATE,
            named![organization =>
                name, logo, updated_at,
                name_key: name_key(organization.name.as_str()),
                metadata: metadata,
                search_key: search_key(organization.name.as_str()),
                sort_key: sort_key(organization.name.as_str()),
            ],
        )
    }
}
