//! Users: accounts, memberships, and the part of a profile that other users may see. Contains no password hashes.

use api_macros::view;
use serde::Deserialize;

use crate::access::{MemberRole, PlatformRole, RoleLevel};
use crate::account_email::AccountEmail;
use crate::domain_error::DomainError;
use crate::id::{MemberId, OrganizationId, UserId};
use crate::organization::Metadata;
use crate::text::{ExternalId, Locale, Name, ShortName, TimeZone, Username};
use crate::time::Timestamp;

/// Public profile of a user, as visible to other users.
#[view(PartialEq, Eq, Deserialize)]
pub struct Person {
    pub id: UserId,
    pub name: String,
    /// URL of the profile image.
    #[schema(required = false)]
    pub image: Option<String>,
}

/// Splits a display name into first name and last name: before the recorded last name if the display name ends with it,
/// otherwise before its last word.
pub fn split_name<'a>(name: &'a str, last_name: Option<&str>) -> (&'a str, &'a str) {
    let recorded = last_name.and_then(|last| {
        let first = name.strip_suffix(last)?;
        (first.is_empty() || first.ends_with(char::is_whitespace)).then_some(first.len())
    });
    let at = recorded.or_else(|| name.trim_end().rfind(' ').map(|space| space + 1));
    let (first, last) = name.split_at(at.unwrap_or(0));
    (first.trim(), last.trim())
}

/// A password reset by another user.
#[view(PartialEq, Eq, Deserialize)]
pub struct PasswordReset {
    /// When the password was set.
    pub at: Timestamp,
    /// Who set the password; null if it was a platform administrator or an erased user.
    pub by: Option<Person>,
}

/// The locale of accounts whose users have not chosen a language. Users who choose English have a region: `en-GB`.
const UNCHOSEN_LOCALE: &str = "en";

/// A user account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent column of the account"
)]
pub struct User {
    pub id: UserId,
    /// The name shown to others.
    pub name: Name,
    pub first_name: Option<ShortName>,
    pub last_name: Option<ShortName>,
    /// Email address in lower case, unique on the platform; accounts of students and teachers may have none.
    pub email: AccountEmail,
    pub email_verified: bool,
    /// The name for signing in, unique within the home organization.
    pub username: Option<Username>,
    /// Platform role; only `SUPER_ADMIN` grants permissions.
    pub role: PlatformRole,
    /// URL of the profile image.
    pub image: Option<String>,
    pub locale: Locale,
    pub timezone: Option<TimeZone>,
    /// Whether the user may sign in.
    pub is_active: bool,
    /// Hint for clients after a password reset.
    pub must_change_password: bool,
    /// Whether a sign-in requires a second factor.
    pub has_second_factor: bool,
    pub last_login_at: Option<Timestamp>,
    /// The organization that created the account. Never exposed.
    pub home_organization_id: Option<OrganizationId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl User {
    /// Returns the public profile.
    pub fn person(&self) -> Person {
        Person {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            image: self.image.clone(),
        }
    }

    /// Returns the key by which lists of users are sorted.
    pub fn sort_key(&self) -> String {
        let last_name = self.last_name.as_ref().map(ShortName::as_str);
        crate::collation::person_sort_key(self.name.as_str(), last_name)
    }

    /// Returns the locale of texts that are sent to the user: the one they have chosen, else that of their school; `None`
    /// if neither is known.
    pub fn preferred_locale<'a>(&'a self, school: Option<&'a Metadata>) -> Option<&'a Locale> {
        let own = Some(&self.locale).filter(|locale| locale.as_str() != UNCHOSEN_LOCALE);
        own.or_else(|| school.and_then(|settings| settings.locale.as_ref()))
    }

    /// Rejects an account without a way to sign in: without an email address it needs a user name, and the accounts
    /// of owners and administrators need an email address.
    pub fn has_sign_in_name(&self, role: MemberRole) -> Result<(), DomainError> {
        if self.email.address().is_some() {
            return Ok(());
        }
        if self.username.is_none() || matches!(role, MemberRole::Owner | MemberRole::Admin) {
            return Err(DomainError::EmailRequired);
        }
        Ok(())
    }

    /// Rejects a change of the own name by a student, unless every organization in which the user is a student allows
    /// it: otherwise a student could take the name of a teacher. `schools` are the settings of these organizations.
    pub fn may_change_own_name(&self, schools: &[Option<Metadata>]) -> Result<(), DomainError> {
        let allows = |school: &Option<Metadata>| {
            school
                .as_ref()
                .is_some_and(|settings| settings.features.students_change_names)
        };
        if self.role == PlatformRole::SuperAdmin || schools.iter().all(allows) {
            Ok(())
        } else {
            Err(DomainError::NameSetBySchool)
        }
    }

    /// Rejects changes and erasure of the account by admins of an organization that does not solely own it.
    /// `has_other_membership` refers to accepted memberships, not to invitations. Operations on the membership
    /// (deactivation, export, removal) do not require this.
    pub fn administered_by(
        &self,
        organization: &OrganizationId,
        has_other_membership: bool,
    ) -> Result<(), DomainError> {
        let at_home = self.home_organization_id.as_ref() == Some(organization);
        let is_theirs = at_home && !has_other_membership && self.role != PlatformRole::SuperAdmin;
        if is_theirs {
            Ok(())
        } else {
            Err(DomainError::SharedAccount)
        }
    }
}

impl User {
    /// Rejects a password reset by admins of an organization that is not the home organization of the account. Other
    /// memberships do not matter: a password set by an admin only gives access to the organization of that admin.
    pub fn password_set_by(&self, organization: &OrganizationId) -> Result<(), DomainError> {
        self.administered_by(organization, false)
    }

    /// Rejects the removal of the second factor by others: of platform administrators always, of other users by admins of
    /// an organization that is not the home organization of the account.
    pub fn second_factor_reset_by(&self, level: RoleLevel, organization: &OrganizationId) -> Result<(), DomainError> {
        match (self.role, level) {
            (PlatformRole::SuperAdmin, _) => Err(DomainError::ForbiddenRank),
            (_, RoleLevel::SuperAdmin) => Ok(()),
            (_, RoleLevel::Member(_)) => self.password_set_by(organization),
        }
    }
}

/// The membership of a user in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub id: MemberId,
    pub organization_id: OrganizationId,
    pub user_id: UserId,
    /// The role in this organization.
    pub role: MemberRole,
    /// Id in the organization's administration system.
    pub external_id: Option<ExternalId>,
    pub created_at: Timestamp,
    pub updated_at: Option<Timestamp>,
    /// Whether the membership is active; independent of memberships in other organizations.
    pub is_active: bool,
}

impl Member {
    /// Rejects the removal of the last owner of an organization. Must be checked under a lock.
    pub fn may_stop_owning(&self, other_owners: usize) -> Result<(), DomainError> {
        if self.role == MemberRole::Owner && other_owners == 0 {
            Err(DomainError::LastOwner)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_split_before_the_recorded_last_name() {
        for (name, last_name, expected) in [
            ("Ben Meyer", None, ("Ben", "Meyer")),
            ("Ana Maria de la Cruz", Some("de la Cruz"), ("Ana Maria", "de la Cruz")),
            ("Ana Maria de la Cruz", None, ("Ana Maria de la", "Cruz")),
            ("Ben Ohneland", Some("land"), ("Ben", "Ohneland")),
            ("Ben", None, ("", "Ben")),
            ("Meyer", Some("Meyer"), ("", "Meyer")),
        ] {
            assert_eq!(split_name(name, last_name), expected, "{name}, {last_name:?}");
        }
    }

    fn user(home: Option<&str>, role: PlatformRole) -> User {
        User {
            id: UserId::new("ben"),
            name: Name::stored("Ben"),
            first_name: None,
            last_name: None,
            email: AccountEmail::stored("ben@example.org"),
            email_verified: true,
            username: None,
            role,
            image: None,
            locale: Locale::stored("en"),
            timezone: None,
            is_active: true,
            must_change_password: false,
            has_second_factor: false,
            last_login_at: None,
            home_organization_id: home.map(OrganizationId::new),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn only_tenant_of_single_membership_account_administers_it() {
        let here = OrganizationId::new("here");
        let student = PlatformRole::Student;
        assert_eq!(user(Some("here"), student).administered_by(&here, false), Ok(()));
        assert_eq!(
            user(Some("here"), student).administered_by(&here, true),
            Err(DomainError::SharedAccount)
        );
        assert_eq!(
            user(Some("there"), student).administered_by(&here, false),
            Err(DomainError::SharedAccount)
        );
        assert_eq!(
            user(None, student).administered_by(&here, false),
            Err(DomainError::SharedAccount)
        );
        let platform = user(Some("here"), PlatformRole::SuperAdmin);
        assert_eq!(platform.administered_by(&here, false), Err(DomainError::SharedAccount));
    }

    #[test]
    fn locale_of_user_takes_precedence_over_that_of_school() {
        let locale = |text: &str| Some(Locale::stored(text));
        let german_school = Metadata {
            locale: locale("de"),
            ..Metadata::default()
        };
        let mut ben = user(Some("here"), PlatformRole::Student);
        assert_eq!(ben.preferred_locale(None), None);
        assert_eq!(ben.preferred_locale(Some(&Metadata::default())), None);
        assert_eq!(ben.preferred_locale(Some(&german_school)), locale("de").as_ref());
        ben.locale = Locale::stored("en-GB");
        assert_eq!(ben.preferred_locale(Some(&german_school)), locale("en-GB").as_ref());
    }

    #[test]
    fn student_changes_name_only_if_all_schools_allow_it() {
        let mut open = Metadata::default();
        open.features.students_change_names = true;
        let student = user(Some("here"), PlatformRole::Student);
        assert_eq!(student.may_change_own_name(&[]), Ok(()), "staff are students nowhere");
        assert_eq!(student.may_change_own_name(&[None]), Err(DomainError::NameSetBySchool));
        assert_eq!(student.may_change_own_name(&[Some(open.clone())]), Ok(()));
        assert_eq!(
            student.may_change_own_name(&[Some(open), Some(Metadata::default())]),
            Err(DomainError::NameSetBySchool)
        );
        let platform = user(None, PlatformRole::SuperAdmin);
        assert_eq!(platform.may_change_own_name(&[None]), Ok(()));
    }

    #[test]
    fn account_without_email_needs_user_name_and_role_below_admin() {
        let mut ben = user(Some("here"), PlatformRole::Student);
        assert_eq!(ben.has_sign_in_name(MemberRole::Owner), Ok(()));
        ben.email = AccountEmail::none(&ben.id);
        assert_eq!(
            ben.has_sign_in_name(MemberRole::Student),
            Err(DomainError::EmailRequired)
        );
        ben.username = Some(Username::stored("ben"));
        assert_eq!(ben.has_sign_in_name(MemberRole::Student), Ok(()));
        assert_eq!(ben.has_sign_in_name(MemberRole::Teacher), Ok(()));
        assert_eq!(ben.has_sign_in_name(MemberRole::Admin), Err(DomainError::EmailRequired));
        assert_eq!(ben.has_sign_in_name(MemberRole::Owner), Err(DomainError::EmailRequired));
    }

    #[test]
    fn last_owner_cannot_be_removed() {
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
        assert_eq!(owner.may_stop_owning(0), Err(DomainError::LastOwner));
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
