//! Organizations: the schools, each a tenant of its own, with the settings it works by.

use serde::{Deserialize, Serialize};

use crate::assignment::LatePolicy;
use crate::edit::{Changed, Edit, not_null, optional_text};
use crate::id::OrganizationId;
use crate::refusal::Refusal;
use crate::storage::QuotaBytes;
use crate::text::{CustomDomain, GradeScale, Locale, Name, Slug, TimeZone, WebAddress};
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// Whether an organization works.
    OrganizationStatus {
        /// It works.
        Active = "ACTIVE",
        /// Its members are refused until it is activated again.
        Suspended = "SUSPENDED",
    }
}

/// A school.
#[derive(Clone, Debug, PartialEq)]
pub struct Organization {
    /// Its id.
    pub id: OrganizationId,
    /// Its name.
    pub name: Name,
    /// Its name in addresses, unique on the platform.
    pub slug: Slug,
    /// A host of its own.
    pub custom_domain: Option<CustomDomain>,
    /// Address of its logo.
    pub logo: Option<WebAddress>,
    /// Whether it works.
    pub status: OrganizationStatus,
    /// Its settings; absent when nobody ever set one.
    pub metadata: Option<Metadata>,
    /// How much it may keep, where the platform said so.
    pub storage_quota: Option<QuotaBytes>,
    /// How much each of its groups may keep, where the platform said so.
    pub group_storage_quota: Option<QuotaBytes>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The settings of a school. Read from the store it knows what an older or newer version may have written there; what
/// people send is a [`MetadataEdit`], which refuses every key it does not know. With every limit reached it is far below
/// the 16 KiB of contract 3.1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// The scale of topics that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade_scale: Option<GradeScale>,
    /// The time zone of its lessons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<TimeZone>,
    /// The language of accounts that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// What happens to late work on topics that do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_default: Option<LatePolicy>,
    /// What it has switched on.
    #[serde(skip_serializing_if = "Features::is_plain")]
    pub features: Features,
}

/// What a school can switch on; everything is off at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Features {
    /// Teachers, not only admins, add subjects.
    pub teachers_add_subjects: bool,
    /// Students change their own names; otherwise only the staff does.
    pub students_change_names: bool,
}

impl Features {
    /// Whether nothing is switched on.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// What a PATCH says about settings, key by key: absent stays, null clears. At the creation of an organization it is
/// applied to empty settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetadataEdit {
    /// The scale of topics that name none.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub grade_scale: Edit<GradeScale>,
    /// The time zone of its lessons.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub timezone: Edit<TimeZone>,
    /// The language of accounts that name none.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub locale: Edit<Locale>,
    /// A setting of earlier releases that had no effect. It is accepted and ignored, so that clients may send it.
    #[serde(default)]
    #[garde(skip)]
    #[schema(ignore)]
    pub retention_days: Ignored,
    /// What happens to late work on topics that do not say.
    #[serde(default)]
    #[garde(skip)]
    pub late_default: Edit<LatePolicy>,
    /// What it has switched on, switch by switch.
    #[serde(default)]
    #[garde(dive)]
    pub features: Edit<FeaturesEdit>,
}

/// Any JSON value, which is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// What a PATCH says about switches; null switches off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeaturesEdit {
    /// Teachers, not only admins, add subjects.
    #[serde(default)]
    #[garde(skip)]
    pub teachers_add_subjects: Edit<bool>,
    /// Students change their own names; otherwise only the staff does.
    #[serde(default)]
    #[garde(skip)]
    pub students_change_names: Edit<bool>,
}

impl Metadata {
    /// Applies an edit key by key.
    pub fn edit(&mut self, edit: MetadataEdit) {
        edit.grade_scale.apply(&mut self.grade_scale);
        edit.timezone.apply(&mut self.timezone);
        edit.locale.apply(&mut self.locale);
        edit.late_default.apply(&mut self.late_default);
        match edit.features {
            Edit::Keep => {}
            Edit::Clear => self.features = Features::default(),
            Edit::Set(switches) => {
                let resolve = |edit: Edit<bool>, now| edit.resolve(Some(now)).unwrap_or(false);
                let features = &mut self.features;
                features.teachers_add_subjects =
                    resolve(switches.teachers_add_subjects, features.teachers_add_subjects);
                features.students_change_names =
                    resolve(switches.students_change_names, features.students_change_names);
            }
        }
    }

    /// The settings an edit leaves, given those there were; settings without any key are none.
    pub fn edited(current: Option<Self>, edit: Edit<MetadataEdit>) -> Option<Self> {
        let edited = match edit {
            Edit::Keep => return current,
            Edit::Clear => return None,
            Edit::Set(edit) => {
                let mut metadata = current.unwrap_or_default();
                metadata.edit(edit);
                metadata
            }
        };
        (edited != Self::default()).then_some(edited)
    }
}

/// What a school's own admins may change of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsEdit {
    /// New name.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<Name>,
    /// New address of its logo.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub logo: Edit<WebAddress>,
    /// New settings, key by key.
    #[serde(default)]
    #[garde(dive)]
    pub metadata: Edit<MetadataEdit>,
}

/// What the platform may change of a school: also where it is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationEdit {
    /// New name.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<Name>,
    /// New name in addresses.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub slug: Edit<Slug>,
    /// New host of its own.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub custom_domain: Edit<CustomDomain>,
    /// New address of its logo.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub logo: Edit<WebAddress>,
    /// New settings, key by key.
    #[serde(default)]
    #[garde(dive)]
    pub metadata: Edit<MetadataEdit>,
    /// How many bytes it may keep; null for what every school may keep.
    #[serde(default)]
    #[garde(dive)]
    pub storage_quota: Edit<QuotaBytes>,
    /// How many bytes each of its groups may keep; null for what every group may keep.
    #[serde(default)]
    #[garde(dive)]
    pub group_storage_quota: Edit<QuotaBytes>,
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

/// The hosts that belong to the platform itself. A school that could take one would get the others' visitors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformHosts {
    /// Below it every organization has its subdomain.
    pub base_domain: Option<String>,
    /// Where the web client is.
    pub frontend: Option<String>,
}

impl PlatformHosts {
    /// Refuses names that would lead visitors of the platform, or of another school, to this one.
    pub fn leave(&self, slug: Option<&Slug>, domain: Option<&CustomDomain>) -> Result<(), Refusal> {
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

const fn taken(path: &'static str) -> Refusal {
    Refusal::Invalid {
        path,
        code: "reserved",
        message: "belongs to the platform itself",
    }
}

impl Organization {
    /// Applies a PATCH.
    pub fn edit(&mut self, edit: OrganizationEdit, now: Timestamp) -> Result<Changed, Refusal> {
        let mut changed = Changed::new();
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

    /// Suspends or activates; false when it is so already.
    pub fn set_status(&mut self, status: OrganizationStatus, now: Timestamp) -> bool {
        let changes = self.status != status;
        if changes {
            self.status = status;
            self.updated_at = now;
        }
        changes
    }

    /// The settings, with nothing set where nobody set anything.
    pub fn settings(&self) -> Metadata {
        self.metadata.clone().unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "organization_tests.rs"]
mod tests;
