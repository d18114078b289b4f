//! Sign-on through the OpenID Connect providers of an organization: which account an identity opens, and which accounts
//! may be linked or created automatically.
//!
//! An identity is the pair of issuer and subject at one provider. An email address never identifies a user.

use serde::{Deserialize, Serialize};

use crate::access::{MemberRole, PlatformRole};
use crate::id::{ExternalIdentityId, OrganizationId, SignOnProviderId, UserId};
use crate::mail_domain::MailDomainName;
use crate::string_enum::string_enum;
use crate::text::Name;
use crate::time::Timestamp;

/// Maximum number of providers of one organization.
pub const PROVIDERS_MAX: usize = 20;
/// Maximum number of domains that select one provider.
pub const PROVIDER_DOMAINS_MAX: usize = 20;
/// Lifetime of a sign-in that waits for the provider, in seconds.
pub const ATTEMPT_SECONDS: i64 = 10 * 60;
/// Maximum number of sign-ins of one organization that wait for a provider. Further ones are rejected.
pub const ATTEMPTS_MAX: i64 = 10_000;
/// Maximum length of a subject in bytes, as in OpenID Connect Core.
pub const SUBJECT_MAX: usize = 255;
/// Maximum length of the id of a session at a provider (`sid`). OpenID Connect sets none, and some ids are encrypted.
pub const PROVIDER_SESSION_MAX: usize = 1024;

string_enum! {
    /// The product behind a provider; it decides which instructions are shown.
    SignOnPreset {
        Entra = "ENTRA",
        Google = "GOOGLE",
        Iserv = "ISERV",
        Keycloak = "KEYCLOAK",
        Vidis = "VIDIS",
        Other = "OTHER",
    }
}

string_enum! {
    /// How an identity that is seen for the first time is linked to an existing account.
    LinkingRule {
        /// Only administrators link identities.
        Administrator = "ADMINISTRATOR",
        /// A claim contains the id of the member in the school's administration system.
        ExternalId = "EXTERNAL_ID",
        /// The provider has verified an address of a mail domain that the organization holds.
        VerifiedDomain = "VERIFIED_DOMAIN",
    }
}

string_enum! {
    /// Whether an identity without an account gets one.
    AccountCreation {
        Never = "NEVER",
        /// A student.
        Students = "STUDENTS",
        /// A teacher if the role claim has one of the listed values, otherwise a student.
        ByClaim = "BY_CLAIM",
    }
}

string_enum! {
    /// How an identity was linked.
    LinkedBy {
        Administrator = "ADMINISTRATOR",
        ExternalId = "EXTERNAL_ID",
        VerifiedDomain = "VERIFIED_DOMAIN",
        /// The account was created for the identity.
        Creation = "CREATION",
    }
}

/// An OpenID Connect provider of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignOnProvider {
    pub id: SignOnProviderId,
    pub organization_id: OrganizationId,
    /// Shown on the button of the sign-in page.
    pub name: Name,
    pub preset: SignOnPreset,
    /// It never changes: identities belong to it.
    pub issuer: String,
    pub client_id: String,
    /// Encrypted with the id of the provider.
    pub client_secret: String,
    pub linking: LinkingRule,
    /// The claim with the id of the member in the school's administration system.
    pub external_id_claim: String,
    pub account_creation: AccountCreation,
    /// The claim with the role, for [`AccountCreation::ByClaim`].
    pub role_claim: String,
    /// The values of the role claim that make a teacher.
    pub teacher_values: Vec<String>,
    /// The mail domains whose addresses select this provider; empty for all domains of the organization.
    pub domains: Vec<String>,
    pub is_enabled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl SignOnProvider {
    /// Returns whether an address of this mail domain, which the organization holds, selects the provider.
    pub fn serves_domain(&self, domain: &str) -> bool {
        self.is_enabled && (self.domains.is_empty() || self.domains.iter().any(|own| own == domain))
    }

    /// Returns the role of an account that is created for an identity; `None` if none is created.
    pub fn role_of_new_account(&self, roles: &[String]) -> Option<MemberRole> {
        match self.account_creation {
            AccountCreation::Never => None,
            AccountCreation::Students => Some(MemberRole::Student),
            AccountCreation::ByClaim => {
                let is_teacher = roles.iter().any(|role| self.teacher_values.contains(role));
                Some(if is_teacher {
                    MemberRole::Teacher
                } else {
                    MemberRole::Student
                })
            }
        }
    }
}

/// An identity at a provider and the user it opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalIdentity {
    pub id: ExternalIdentityId,
    pub provider_id: SignOnProviderId,
    pub issuer: String,
    pub subject: String,
    pub user_id: UserId,
    pub linked_by: LinkedBy,
    pub created_at: Timestamp,
    pub last_sign_in_at: Option<Timestamp>,
}

/// The claims of a provider about a person, from a verified token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityClaims {
    pub issuer: String,
    pub subject: String,
    /// In lower case.
    pub email: Option<String>,
    pub is_email_verified: bool,
    pub name: Option<String>,
    /// The value of the provider's `external_id_claim`.
    pub external_id: Option<String>,
    /// The values of the provider's `role_claim`.
    pub roles: Vec<String>,
    /// The session at the provider, for back-channel logout.
    pub session: Option<String>,
}

impl IdentityClaims {
    /// Returns the address if the provider has verified it and it belongs to one of the domains.
    pub fn proven_address(&self, held: &[String]) -> Option<&str> {
        let email = self.email.as_deref().filter(|_| self.is_email_verified)?;
        let domain = MailDomainName::of_address(email)?;
        held.iter().any(|held| held == domain.as_str()).then_some(email)
    }
}

/// The provider that opened a session, and the session there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOnSession {
    /// The only organization in which the session is valid: its administrators control the provider, so the provider
    /// must not open other organizations of a shared account.
    pub organization_id: OrganizationId,
    pub provider_id: SignOnProviderId,
    pub subject: String,
    /// `sid` of the provider.
    pub session: Option<String>,
    /// The ID token, encrypted, for the sign-out at the provider. It is stored with the session, but not read with it.
    #[serde(default)]
    pub id_token: Option<String>,
}

/// An account that a linking rule has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCandidate {
    pub user: UserId,
    pub platform_role: PlatformRole,
    pub member_role: MemberRole,
    /// Whether the organization is the home organization of the account.
    pub is_home: bool,
    /// Whether the account already has an identity at this provider.
    pub is_linked: bool,
}

/// Why a sign-on is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignOnDenial {
    /// No account belongs to the identity, and no rule links or creates one.
    NotLinked,
    /// The account belongs to another identity of the same provider; an administrator must unlink that one.
    LinkedToAnotherIdentity,
    /// Accounts are created, but the address is not a verified one of a domain of the organization.
    AddressNotVerified,
    /// Accounts are created, but the address already has an account.
    AccountExists,
    /// The account is deactivated, or it is not an active member of the organization.
    Inactive,
    Banned,
    /// Platform administrators never sign in through a provider of an organization.
    PlatformAdministrator,
}

impl SignOnDenial {
    /// Returns the code in the address of the error page.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotLinked => "account_not_linked",
            Self::LinkedToAnotherIdentity => "account_linked_to_another_identity",
            Self::AddressNotVerified => "email_not_verified",
            Self::AccountExists => "account_exists",
            Self::Inactive => "account_inactive",
            Self::Banned => "banned",
            Self::PlatformAdministrator => "platform_administrator",
        }
    }
}

/// Decides whether a rule may link an identity to the account that it has found. Administrators and owners are linked by
/// hand only: a provider must not grant their rights to an unchecked identity.
pub fn may_link(candidate: &LinkCandidate, rule: LinkingRule) -> Result<(), SignOnDenial> {
    if candidate.platform_role == PlatformRole::SuperAdmin {
        return Err(SignOnDenial::PlatformAdministrator);
    }
    if !matches!(candidate.member_role, MemberRole::Student | MemberRole::Teacher) {
        return Err(SignOnDenial::NotLinked);
    }
    match rule {
        LinkingRule::Administrator => return Err(SignOnDenial::NotLinked),
        LinkingRule::VerifiedDomain if !candidate.is_home => return Err(SignOnDenial::NotLinked),
        LinkingRule::VerifiedDomain | LinkingRule::ExternalId => {}
    }
    if candidate.is_linked {
        return Err(SignOnDenial::LinkedToAnotherIdentity);
    }
    Ok(())
}

/// A user whose identity is known, as it counts for a sign-on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityOwner {
    pub user: UserId,
    pub platform_role: PlatformRole,
    /// Whether the account is active.
    pub is_active: bool,
    /// Whether a ban is in force.
    pub is_banned: bool,
    /// The role in the organization of the provider, if the membership is active.
    pub member_role: Option<MemberRole>,
    /// How the identity was linked.
    pub linked_by: LinkedBy,
}

/// Decides whether the owner of a known identity may sign in. A user who became an administrator after a rule had linked
/// the identity must be linked again by hand.
pub fn may_sign_in(owner: &IdentityOwner) -> Result<(), SignOnDenial> {
    if owner.platform_role == PlatformRole::SuperAdmin {
        return Err(SignOnDenial::PlatformAdministrator);
    }
    if !owner.is_active || owner.member_role.is_none() {
        return Err(SignOnDenial::Inactive);
    }
    if owner.is_banned {
        return Err(SignOnDenial::Banned);
    }
    let is_administrator = matches!(owner.member_role, Some(MemberRole::Admin | MemberRole::Owner));
    if is_administrator && owner.linked_by != LinkedBy::Administrator {
        return Err(SignOnDenial::NotLinked);
    }
    Ok(())
}

#[cfg(test)]
#[path = "sign_on_tests.rs"]
mod tests;
