//! People: accounts, memberships, and the little of a person that others may see.
//! Password hashes never come here.

use serde::{Deserialize, Serialize};

use crate::access::{MemberRole, PlatformRole};
use crate::id::{MemberId, OrganizationId, UserId};
use crate::organization::Metadata;
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::text::{ExternalId, Locale, Name, ShortName, TimeZone, Username};
use crate::time::Timestamp;

/// What everybody may see of a person they meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// Their id.
    pub id: UserId,
    /// Their name.
    pub name: String,
    /// Address of their picture.
    pub image: Option<String>,
}

/// A password that was set by another person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordReset {
    /// When it was set.
    pub at: Timestamp,
    /// Who set it; null for a platform administrator and for an erased user.
    #[schema(required)]
    pub by: Option<Person>,
}

/// An account of the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// The name shown to others.
    pub name: Name,
    /// First name.
    pub first_name: Option<ShortName>,
    /// Last name.
    pub last_name: Option<ShortName>,
    /// Address in lower case, unique on the platform.
    pub email: String,
    /// Whether the address is known to be theirs.
    pub email_verified: bool,
    /// Another name to sign in with.
    pub username: Option<Username>,
    /// Platform role; only `SUPER_ADMIN` decides anything.
    pub role: PlatformRole,
    /// Address of their picture.
    pub image: Option<String>,
    /// Language.
    pub locale: Locale,
    /// Time zone.
    pub timezone: Option<TimeZone>,
    /// Whether they may sign in.
    pub is_active: bool,
    /// A hint for clients after a reset.
    pub must_change_password: bool,
    /// When they last signed in.
    pub last_login_at: Option<Timestamp>,
    /// The organization that made the account; never shown.
    pub home_organization_id: Option<OrganizationId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl User {
    /// What others may see.
    pub fn person(&self) -> Person {
        Person {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            image: self.image.clone(),
        }
    }

    /// The key by which lists of people are sorted.
    pub fn sort_key(&self) -> String {
        let last_name = self.last_name.as_ref().map(ShortName::as_str);
        crate::collation::person_sort_key(self.name.as_str(), last_name)
    }

    /// Refuses to let students change their own name, unless every school in which they are students allows it: otherwise a
    /// student could take the name of the teacher. `schools` are the settings of those schools.
    pub fn may_change_own_name(&self, schools: &[Option<Metadata>]) -> Result<(), Refusal> {
        let allows = |school: &Option<Metadata>| {
            school
                .as_ref()
                .is_some_and(|settings| settings.features.students_change_names)
        };
        if self.role == PlatformRole::SuperAdmin || schools.iter().all(allows) {
            Ok(())
        } else {
            Err(Refusal::NameSetBySchool)
        }
    }

    /// Refuses to let an organization's admins change or erase an account that is not theirs alone. `has_other_membership`
    /// means one that the person accepted; an invitation is none. What acts on the membership (deactivation, export, removal)
    /// never asks this.
    pub fn administered_by(&self, organization: &OrganizationId, has_other_membership: bool) -> Result<(), Refusal> {
        let at_home = self.home_organization_id.as_ref() == Some(organization);
        let is_theirs = at_home && !has_other_membership && self.role != PlatformRole::SuperAdmin;
        if policy::holds(Clause::AccountAtHome, is_theirs) {
            Ok(())
        } else {
            Err(Refusal::SharedAccount)
        }
    }
}

impl User {
    /// Refuses to let an organization's admins set the password of an account that is at home elsewhere. Other memberships do
    /// not matter: a password that an administrator set opens only that administrator's organization.
    pub fn password_set_by(&self, organization: &OrganizationId) -> Result<(), Refusal> {
        self.administered_by(organization, false)
    }
}

/// The membership of a user in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: MemberId,
    /// The organization.
    pub organization_id: OrganizationId,
    /// The user.
    pub user_id: UserId,
    /// The role that counts there.
    pub role: MemberRole,
    /// Id in the school's own administration.
    pub external_id: Option<ExternalId>,
    /// Since when.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether the membership is active; the account may be active elsewhere.
    pub is_active: bool,
}

impl Member {
    /// Refuses to take the last owner away from an organization; decide it under a lock.
    pub fn may_stop_owning(&self, other_owners: usize) -> Result<(), Refusal> {
        if self.role == MemberRole::Owner && other_owners == 0 {
            Err(Refusal::LastOwner)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(home: Option<&str>, role: PlatformRole) -> User {
        User {
            id: UserId::new("ben"),
            name: Name::stored("Ben"),
            first_name: None,
            last_name: None,
            email: "ben@example.org".to_owned(),
            email_verified: true,
            username: None,
            role,
            image: None,
            locale: Locale::stored("en"),
            timezone: None,
            is_active: true,
            must_change_password: false,
            last_login_at: None,
            home_organization_id: home.map(OrganizationId::new),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn only_the_home_of_an_account_with_one_membership_administers_it() {
        let here = OrganizationId::new("here");
        let student = PlatformRole::Student;
        assert_eq!(user(Some("here"), student).administered_by(&here, false), Ok(()));
        assert_eq!(
            user(Some("here"), student).administered_by(&here, true),
            Err(Refusal::SharedAccount)
        );
        assert_eq!(
            user(Some("there"), student).administered_by(&here, false),
            Err(Refusal::SharedAccount)
        );
        assert_eq!(
            user(None, student).administered_by(&here, false),
            Err(Refusal::SharedAccount)
        );
        let platform = user(Some("here"), PlatformRole::SuperAdmin);
        assert_eq!(platform.administered_by(&here, false), Err(Refusal::SharedAccount));
    }

    #[test]
    fn students_change_their_name_only_where_all_their_schools_allow_it() {
        let mut open = Metadata::default();
        open.features.students_change_names = true;
        let student = user(Some("here"), PlatformRole::Student);
        assert_eq!(student.may_change_own_name(&[]), Ok(()), "staff are students nowhere");
        assert_eq!(student.may_change_own_name(&[None]), Err(Refusal::NameSetBySchool));
        assert_eq!(student.may_change_own_name(&[Some(open.clone())]), Ok(()));
        assert_eq!(
            student.may_change_own_name(&[Some(open), Some(Metadata::default())]),
            Err(Refusal::NameSetBySchool)
        );
        let platform = user(None, PlatformRole::SuperAdmin);
        assert_eq!(platform.may_change_own_name(&[None]), Ok(()));
    }

    #[test]
    fn the_last_owner_stays() {
        let owner = Member {
            id: MemberId::new("m"),
            organization_id: OrganizationId::new("o"),
            user_id: UserId::new("u"),
            role: MemberRole::Owner,
            external_id: None,
            created_at: Timestamp::from_millis(0),
            updated_at: None,
            is_active: true,
        };
        assert_eq!(owner.may_stop_owning(0), Err(Refusal::LastOwner));
        assert_eq!(owner.may_stop_owning(1), Ok(()));
        assert_eq!(
            Member {
                role: MemberRole::Admin,
                ..owner
            }
            .may_stop_owning(0),
            Ok(())
        );
    }
}
