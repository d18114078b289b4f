//! Organizations: the schools, each a separate tenant with its own settings.

use api_macros::{body, patch, view};
use serde::Deserialize;

use crate::assignment::LatePolicy;
use crate::domain_error::DomainError;
use crate::id::OrganizationId;
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::second_factor::RequiredMembers;
use crate::storage::QuotaBytes;
use crate::string_enum::string_enum;
use crate::text::{CustomDomain, GradeScale, Locale, Name, Slug, TimeZone, WebAddress};
use crate::time::Timestamp;

string_enum! {
    /// Status of an organization.
    OrganizationStatus {
        Active = "ACTIVE",
        /// Requests of its members are rejected until it is activated again.
        Suspended = "SUSPENDED",
    }
}

/// A school; the tenant.
#[derive(Clone, Debug, PartialEq)]
pub struct Organization {
    pub id: OrganizationId,
    pub name: Name,
    /// Name in URLs, unique on the platform.
    pub slug: Slug,
    /// Host name of its own.
    pub custom_domain: Option<CustomDomain>,
    /// URL of its logo.
    pub logo: Option<WebAddress>,
    pub status: OrganizationStatus,
    /// Settings; `None` if none was ever set.
    pub metadata: Option<Metadata>,
    /// Storage quota of the organization; `None` for the default.
    pub storage_quota: Option<QuotaBytes>,
    /// Storage quota of each of its groups; `None` for the default.
    pub group_storage_quota: Option<QuotaBytes>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Settings of an organization.
// Unknown keys in the database, written by another release, are ignored; requests use `MetadataEdit`, which rejects
// unknown keys. Even with every limit reached, the settings are far below 16 KiB.
#[view(Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Grade scale of topics that do not specify one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade_scale: Option<GradeScale>,
    /// Time zone of the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<TimeZone>,
    /// Language of accounts that do not specify one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// How late submissions are handled for topics that do not specify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_default: Option<LatePolicy>,
    /// The members who are required to have a second factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_second_factor: Option<RequiredMembers>,
    /// Enabled features.
    #[serde(skip_serializing_if = "Features::is_plain")]
    pub features: Features,
}

/// Optional features of an organization. All are disabled by default.
#[view(Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each feature is enabled independently")]
pub struct Features {
    /// Teachers may create subjects, not only admins.
    pub teachers_add_subjects: bool,
    /// Students may change their own names; otherwise only staff may.
    pub students_change_names: bool,
    /// Clients address staff formally in languages that distinguish it ("Sie" in German); students informally.
    pub formal_address: bool,
    /// Only owners may sign in with a password, while the organization has an enabled sign-on provider.
    pub passwords_for_owners_only: bool,
    /// Staff may watch how a document of their class was written. Each use is recorded in the activity log.
    pub document_playback: bool,
}

impl Features {
    /// Returns whether all features are disabled.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// Changes of the settings, key by key: an absent key is unchanged, null clears it. When an organization is created,
/// the changes are applied to empty settings.
#[body(Default, PartialEq, Eq)]
pub struct MetadataEdit {
    /// Grade scale of topics that do not specify one.
    #[serde(default, deserialize_with = "optional_text")]
    pub grade_scale: FieldPatch<GradeScale>,
    /// Time zone of the organization, an IANA name.
    #[serde(default, deserialize_with = "optional_text")]
    pub timezone: FieldPatch<TimeZone>,
    /// Language of accounts that do not specify one.
    #[serde(default, deserialize_with = "optional_text")]
    pub locale: FieldPatch<Locale>,
    /// Obsolete; accepted and ignored, because clients of earlier releases may send it.
    #[serde(default)]
    #[garde(skip)]
    #[schema(ignore)]
    pub retention_days: Ignored,
    /// How late submissions are handled for topics that do not specify it.
    pub late_default: FieldPatch<LatePolicy>,
    /// The members who are required to have a second factor; null for none.
    pub require_second_factor: FieldPatch<RequiredMembers>,
    /// Optional features, key by key.
    pub features: FieldPatch<FeaturesEdit>,
}

/// Accepts any JSON value and discards it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Changes of optional features; null disables a feature.
#[body(Default, PartialEq, Eq)]
pub struct FeaturesEdit {
    /// Teachers may create subjects, not only admins.
    pub teachers_add_subjects: FieldPatch<bool>,
    /// Students may change their own names; otherwise only staff may.
    pub students_change_names: FieldPatch<bool>,
    /// Clients address staff formally in languages that distinguish it ("Sie" in German); students informally.
    pub formal_address: FieldPatch<bool>,
    /// Only owners may sign in with a password, while the organization has an enabled sign-on provider.
    pub passwords_for_owners_only: FieldPatch<bool>,
    /// Staff may watch how a document of their class was written. Each use is recorded in the activity log.
    pub document_playback: FieldPatch<bool>,
}

impl Metadata {
    /// Applies an edit key by key.
    pub fn edit(&mut self, edit: MetadataEdit) {
        edit.grade_scale.apply(&mut self.grade_scale);
        edit.timezone.apply(&mut self.timezone);
        edit.locale.apply(&mut self.locale);
        edit.late_default.apply(&mut self.late_default);
        edit.require_second_factor.apply(&mut self.require_second_factor);
        match edit.features {
            FieldPatch::Unchanged => {}
            FieldPatch::Null => self.features = Features::default(),
            FieldPatch::Value(switches) => {
                let resolve = |edit: FieldPatch<bool>, now| edit.resolve(Some(now)).unwrap_or(false);
                let features = &mut self.features;
                features.teachers_add_subjects =
                    resolve(switches.teachers_add_subjects, features.teachers_add_subjects);
                features.students_change_names =
                    resolve(switches.students_change_names, features.students_change_names);
                features.formal_address = resolve(switches.formal_address, features.formal_address);
                features.passwords_for_owners_only =
                    resolve(switches.passwords_for_owners_only, features.passwords_for_owners_only);
                features.document_playback = resolve(switches.document_playback, features.document_playback);
            }
        }
    }

    /// Returns the settings after an edit. Settings without any key become `None`.
    pub fn edited(current: Option<Self>, edit: FieldPatch<MetadataEdit>) -> Option<Self> {
        let edited = match edit {
            FieldPatch::Unchanged => return current,
            FieldPatch::Null => return None,
            FieldPatch::Value(edit) => {
                let mut metadata = current.unwrap_or_default();
                metadata.edit(edit);
                metadata
            }
        };
        (edited != Self::default()).then_some(edited)
    }
}

/// Fields of an organization that its own admins may change.
#[patch(PartialEq, Eq)]
pub struct SettingsEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    /// URL of the new logo.
    #[serde(default, deserialize_with = "optional_text")]
    pub logo: FieldPatch<WebAddress>,
    /// Changes of the settings, key by key.
    pub metadata: FieldPatch<MetadataEdit>,
}

/// Fields of an organization that platform administrators may change.
#[patch(PartialEq, Eq)]
pub struct OrganizationEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    /// New name in URLs, unique on the platform.
    #[garde(dive, custom(not_null))]
    pub slug: FieldPatch<Slug>,
    /// New host name of its own.
    #[serde(default, deserialize_with = "optional_text")]
    pub custom_domain: FieldPatch<CustomDomain>,
    /// URL of the new logo.
    #[serde(default, deserialize_with = "optional_text")]
    pub logo: FieldPatch<WebAddress>,
    /// Changes of the settings, key by key.
    pub metadata: FieldPatch<MetadataEdit>,
    /// Storage quota of the organization in bytes; null for the default.
    pub storage_quota: FieldPatch<QuotaBytes>,
    /// Storage quota of each of its groups in bytes; null for the default.
    pub group_storage_quota: FieldPatch<QuotaBytes>,
}

impl From<SettingsEdit> for OrganizationEdit {
    fn from(edit: SettingsEdit) -> Self {
        Self {
            name: edit.name,
            logo: edit.logo,
            metadata: edit.metadata,
            ..Self::default()
        }
    }
}

/// Host names of the platform itself. An organization that could claim one would receive requests meant for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformHosts {
    /// Parent domain of the subdomains of all organizations.
    pub base_domain: Option<String>,
    /// Host of the web client.
    pub frontend: Option<String>,
}

impl PlatformHosts {
    /// Rejects names that would direct visitors of the platform, or of another organization, to this one.
    pub fn leave(&self, slug: Option<&Slug>, domain: Option<&CustomDomain>) -> Result<(), DomainError> {
        let is_frontend = |host: &str| self.frontend.as_deref() == Some(host);
        if let (Some(slug), Some(base)) = (slug, &self.base_domain)
            && is_frontend(&format!("{slug}.{base}"))
        {
            return Err(taken("slug"));
        }
        let Some(domain) = domain.map(CustomDomain::as_str) else {
            return Ok(());
        };
        let is_below_base = self.base_domain.as_deref().is_some_and(|base| {
            let above = domain.strip_suffix(base);
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        });
        if is_frontend(domain) || is_below_base {
            Err(taken("customDomain"))
        } else {
            Ok(())
        }
    }
}

const fn taken(path: &'static str) -> DomainError {
    DomainError::Invalid {
        path,
        code: "reserved",
        message: "belongs to the platform itself",
    }
}

impl Organization {
    pub fn edit(&mut self, edit: OrganizationEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut changed = FieldDiff::new();
        changed.edit("name", &mut self.name, edit.name)?;
        changed.edit("slug", &mut self.slug, edit.slug)?;
        changed.edit_nullable("customDomain", &mut self.custom_domain, edit.custom_domain);
        changed.edit_nullable("logo", &mut self.logo, edit.logo);
        changed.edit_nullable("storageQuota", &mut self.storage_quota, edit.storage_quota);
        let of_groups = edit.group_storage_quota;
        changed.edit_nullable("groupStorageQuota", &mut self.group_storage_quota, of_groups);
        let metadata = Metadata::edited(self.metadata.clone(), edit.metadata);
        changed.write("metadata", &mut self.metadata, metadata);
        if !changed.is_empty() {
            self.updated_at = now;
        }
        Ok(changed)
    }

    /// Suspends or activates the organization and returns whether its status changed.
    pub fn set_status(&mut self, status: OrganizationStatus, now: Timestamp) -> bool {
        let changes = self.status != status;
        if changes {
            self.status = status;
            self.updated_at = now;
        }
        changes
    }

    /// Returns the settings; empty if none was ever set.
    pub fn settings(&self) -> Metadata {
        self.metadata.clone().unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "organization_tests.rs"]
mod tests;
