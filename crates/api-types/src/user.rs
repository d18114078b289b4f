//! People as answers show them (contract 3.1). A password never comes here.

use model::access::{MemberRole, PlatformRole};
use model::id::{MemberId, OrganizationId, UserId};
use model::organization::{Metadata, Organization, OrganizationStatus};
use model::storage::QuotaBytes;
use model::text::{CustomDomain, ExternalId, Locale, Name, ShortName, Slug, TimeZone, Username, WebAddress};
use model::time::Timestamp;
use model::user::{Member, PasswordReset, Person, User};
use serde::Serialize;
use utoipa::ToSchema;

use super::invitation::InvitedUserView;

/// An account, as its owner and administrators see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserView {
    id: UserId,
    name: Name,
    #[schema(required)]
    first_name: Option<ShortName>,
    #[schema(required)]
    last_name: Option<ShortName>,
    email: String,
    #[schema(required)]
    username: Option<Username>,
    /// The id in the school's own administration, from the membership.
    #[schema(required)]
    external_id: Option<ExternalId>,
    role: PlatformRole,
    #[schema(required)]
    image: Option<String>,
    email_verified: bool,
    locale: Locale,
    #[schema(required)]
    timezone: Option<TimeZone>,
    is_active: bool,
    must_change_password: bool,
    #[schema(required)]
    last_login_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A membership.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member)]
pub struct MemberView {
    id: MemberId,
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    #[schema(required)]
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    #[schema(required)]
    updated_at: Option<Timestamp>,
    user: MemberPerson,
}

/// The person of a membership.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPerson {
    id: UserId,
    name: String,
    /// Absent where the caller may not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[schema(required)]
    image: Option<String>,
}

/// A membership without its person.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Membership)]
pub struct MembershipView {
    id: MemberId,
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    #[schema(required)]
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    #[schema(required)]
    updated_at: Option<Timestamp>,
}

/// An account with the membership of the organization of the request; `role` is the one that counts there.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = UserWithMember)]
pub struct WholeUserView {
    #[serde(flatten)]
    user: UserView,
    member: MembershipView,
}

/// What one may know of a person whose account is none of one's business.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserOutline)]
pub struct UserOutlineView {
    id: UserId,
    name: String,
    #[schema(required)]
    image: Option<String>,
    /// The role that counts in the organization; for the staff.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<PlatformRole>,
    /// Absent where the caller may not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// For admins.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
    /// For admins.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<MembershipView>,
}

/// A person as far as the caller may know the account; `view` is the extent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "view", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = KnownUser)]
pub enum KnownUserView {
    /// The caller's own account, or one whose home is the organization that the caller administers.
    Full(Box<WholeUserView>),
    /// Every other account.
    Outline(Box<UserOutlineView>),
}

/// A person who was added to the organization; `result` is the way.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = NewMember)]
pub enum NewMemberView {
    /// With a new account.
    Created(Box<MadeUserView>),
    /// With an account that existed: nothing of its profile is shown.
    Joined(Box<JoinedUserView>),
    /// The address was invited, because its account was not created by this organization.
    Invited(Box<InvitedUserView>),
}

/// A new account, with the password that the service made up for it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewUserWithMember)]
pub struct MadeUserView {
    #[serde(flatten)]
    user: WholeUserView,
    /// Told this once; good for a week.
    #[serde(skip_serializing_if = "Option::is_none")]
    temporary_password: Option<String>,
}

/// An account of elsewhere that is a member now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = JoinedUser)]
pub struct JoinedUserView {
    id: UserId,
    email: String,
    role: PlatformRole,
    member: MembershipView,
}

/// A school as its members see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Organization)]
pub struct OrganizationView {
    id: OrganizationId,
    name: Name,
    slug: Slug,
    #[schema(required)]
    custom_domain: Option<CustomDomain>,
    #[schema(required)]
    logo: Option<WebAddress>,
    status: OrganizationStatus,
    #[schema(required)]
    metadata: Option<Metadata>,
    /// How many bytes it may keep, where the platform set it
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_quota: Option<QuotaBytes>,
    /// How many bytes each group may keep, where the platform set it
    #[serde(skip_serializing_if = "Option::is_none")]
    group_storage_quota: Option<QuotaBytes>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// The person who asks, with the part he plays in the organization of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Me {
    #[serde(flatten)]
    user: UserView,
    /// The own membership; null without an organization, and for those who run the platform.
    #[schema(required)]
    member: Option<MemberView>,
    /// The organization of the request; null before one was chosen.
    #[schema(required)]
    organization: Option<OrganizationView>,
    /// Who else set the password last and when; null when this never happened.
    #[serde(rename = "passwordReset")]
    #[schema(required)]
    password_reset: Option<PasswordReset>,
}

impl Me {
    /// The account, and what is known about the organization of the request.
    pub fn new(
        user: User,
        member: Option<Member>,
        organization: Option<Organization>,
        password_reset: Option<PasswordReset>,
    ) -> Self {
        let (person, email) = (user.person(), user.email.clone());
        let external_id = member.as_ref().and_then(|member| member.external_id.clone());
        Self {
            user: UserView::new(user, external_id),
            member: member.map(|member| MemberView::new(member, person, Some(email))),
            organization: organization.map(OrganizationView::from),
            password_reset,
        }
    }
}

impl UserView {
    /// An account, with the id that the school of the request has for it.
    pub fn new(user: User, external_id: Option<ExternalId>) -> Self {
        Self {
            id: user.id,
            name: user.name,
            first_name: user.first_name,
            last_name: user.last_name,
            email: user.email,
            username: user.username,
            external_id,
            role: user.role,
            image: user.image,
            email_verified: user.email_verified,
            locale: user.locale,
            timezone: user.timezone,
            is_active: user.is_active,
            must_change_password: user.must_change_password,
            last_login_at: user.last_login_at,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

impl KnownUserView {
    /// The account with its membership.
    pub fn whole(user: User, member: Member) -> Self {
        Self::Full(Box::new(WholeUserView::new(user, member)))
    }

    /// The outline of a person with what else the caller may know.
    pub fn outline(
        person: Person,
        role: Option<PlatformRole>,
        email: Option<String>,
        is_active: Option<bool>,
        member: Option<Member>,
    ) -> Self {
        Self::Outline(Box::new(UserOutlineView {
            id: person.id,
            name: person.name,
            image: person.image,
            role,
            email,
            is_active,
            member: member.map(MembershipView::from),
        }))
    }
}

impl WholeUserView {
    fn new(user: User, member: Member) -> Self {
        Self {
            user: UserView::new(user, member.external_id.clone()),
            member: member.into(),
        }
    }
}

impl MadeUserView {
    /// A new account, and its password if the service made it up.
    pub fn new(user: User, member: Member, temporary_password: Option<String>) -> Self {
        Self {
            user: WholeUserView::new(user, member),
            temporary_password,
        }
    }
}

impl JoinedUserView {
    /// An account of elsewhere under the address that the caller gave.
    pub fn new(email: String, member: Member) -> Self {
        Self {
            id: member.user_id.clone(),
            email,
            role: member.role.platform_role(),
            member: member.into(),
        }
    }
}

impl From<Member> for MembershipView {
    fn from(member: Member) -> Self {
        Self {
            id: member.id,
            organization_id: member.organization_id,
            user_id: member.user_id,
            role: member.role,
            external_id: member.external_id,
            created_at: member.created_at,
            updated_at: member.updated_at,
        }
    }
}

impl MemberView {
    /// A membership with its person; the address only where the caller may know it.
    pub fn new(member: Member, person: Person, email: Option<String>) -> Self {
        Self {
            id: member.id,
            organization_id: member.organization_id,
            user_id: member.user_id,
            role: member.role,
            external_id: member.external_id,
            created_at: member.created_at,
            updated_at: member.updated_at,
            user: MemberPerson {
                id: person.id,
                name: person.name,
                email,
                image: person.image,
            },
        }
    }
}

impl OrganizationView {
    /// Its id.
    pub fn id(&self) -> &OrganizationId {
        &self.id
    }
}

impl From<Organization> for OrganizationView {
    fn from(organization: Organization) -> Self {
        Self {
            id: organization.id,
            name: organization.name,
            slug: organization.slug,
            custom_domain: organization.custom_domain,
            logo: organization.logo,
            status: organization.status,
            metadata: organization.metadata,
            storage_quota: organization.storage_quota,
            group_storage_quota: organization.group_storage_quota,
            created_at: organization.created_at,
            updated_at: organization.updated_at,
        }
    }
}
