//! Users in responses. Passwords are never part of them.

use api_macros::view;
use domain::access::{MemberRole, PlatformRole};
use domain::account_email::AccountEmail;
use domain::from_fields;
use domain::id::{MemberId, OrganizationId, UserId};
use domain::organization::{Metadata, Organization, OrganizationStatus};
use domain::storage::QuotaBytes;
use domain::text::{CustomDomain, ExternalId, Locale, Name, ShortName, Slug, TimeZone, Username, WebAddress};
use domain::time::Timestamp;
use domain::user::{Member, PasswordReset, Person, User};

use super::invitation::InvitedUserView;

/// An account, as visible to its user and to admins.
#[view]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent field of the account"
)]
pub struct UserView {
    id: UserId,
    name: Name,
    first_name: Option<ShortName>,
    last_name: Option<ShortName>,
    /// Null for accounts without an email address, whose users sign in with the user name.
    #[schema(required, value_type = Option<String>)]
    email: AccountEmail,
    /// The name to sign in with, unique in the organization that created the account.
    username: Option<Username>,
    /// Id in the school's administration system, from the membership.
    external_id: Option<ExternalId>,
    role: PlatformRole,
    image: Option<String>,
    email_verified: bool,
    locale: Locale,
    timezone: Option<TimeZone>,
    is_active: bool,
    must_change_password: bool,
    /// Whether a sign-in requires a second factor.
    has_second_factor: bool,
    last_login_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A membership of an organization.
#[view]
pub struct MemberView {
    id: MemberId,
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    updated_at: Option<Timestamp>,
    user: MemberPerson,
}

/// The user of a membership.
#[view]
pub struct MemberPerson {
    id: UserId,
    name: String,
    /// Absent if the caller may not see it; null if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    email: Option<AccountEmail>,
    image: Option<String>,
}

/// A membership without its user.
#[view]
pub struct MembershipView {
    id: MemberId,
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    updated_at: Option<Timestamp>,
}

/// An account with its membership in the organization of the request. `role` is the role in this organization.
#[view]
#[schema(as = UserWithMember)]
pub struct UserDetailsView {
    #[serde(flatten)]
    user: UserView,
    /// Whether the user has a password that is valid in this organization, or an identity of a sign-on provider. Absent
    /// in responses to changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_credential: Option<bool>,
    member: MembershipView,
}

/// The part of a user that callers without access to the account may see.
#[view]
pub struct UserOutlineView {
    id: UserId,
    name: String,
    image: Option<String>,
    /// Role in the organization. Present for staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<PlatformRole>,
    /// Absent if the caller may not see it; null if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    email: Option<AccountEmail>,
    /// The name to sign in with. Absent if the caller may not see it, or if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<Username>,
    /// Present for admins only.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
    /// Present for admins only.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<MembershipView>,
}

/// A user with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(tag = "view", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = VisibleUser)]
pub enum KnownUserView {
    /// The caller's own account, or an account whose home organization the caller administers.
    Full(Box<UserDetailsView>),
    /// Any other account.
    Outline(Box<UserOutlineView>),
}

/// A user who was added to the organization; `result` indicates how.
#[view]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NewMemberView {
    /// A new account was created.
    Created(Box<CreatedUserView>),
    /// An existing account joined; its profile is not returned.
    Joined(Box<JoinedUserView>),
    /// The address was invited, because its account was created by another organization.
    Invited(Box<InvitedUserView>),
}

/// A new account, with a temporary password if one was generated.
#[view]
#[schema(as = NewUserWithMember)]
pub struct CreatedUserView {
    #[serde(flatten)]
    user: UserDetailsView,
    /// The generated password, returned only once. It expires after one week.
    #[serde(skip_serializing_if = "Option::is_none")]
    temporary_password: Option<String>,
    /// The secret of a code to print that signs in once, returned only once. It expires with the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    slip_token: Option<String>,
}

/// An existing account that became a member.
#[view]
pub struct JoinedUserView {
    id: UserId,
    email: String,
    role: PlatformRole,
    member: MembershipView,
}

/// An organization, as visible to its members.
#[view]
pub struct OrganizationView {
    id: OrganizationId,
    name: Name,
    slug: Slug,
    custom_domain: Option<CustomDomain>,
    logo: Option<WebAddress>,
    status: OrganizationStatus,
    metadata: Option<Metadata>,
    /// Storage quota of the organization in bytes; absent for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_quota: Option<QuotaBytes>,
    /// Storage quota of each group in bytes; absent for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_storage_quota: Option<QuotaBytes>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// The signed-in user, with the membership in the organization of the request.
#[view]
pub struct Me {
    #[serde(flatten)]
    user: UserView,
    /// The user's membership; null without an organization, and for platform administrators.
    member: Option<MemberView>,
    /// The organization of the request; null if none is selected.
    organization: Option<OrganizationView>,
    /// The last password reset by another user; null if there was none.
    #[serde(rename = "passwordReset")]
    password_reset: Option<PasswordReset>,
    /// Whether an authenticator app is one of the user's second factors.
    #[serde(rename = "hasAuthenticatorApp")]
    has_authenticator_app: bool,
}

impl Me {
    pub fn new(
        user: User,
        member: Option<Member>,
        organization: Option<Organization>,
        password_reset: Option<PasswordReset>,
        has_authenticator_app: bool,
    ) -> Self {
        let (person, email) = (user.person(), user.email.clone());
        let external_id = member.as_ref().and_then(|member| member.external_id.clone());
        Self {
            user: UserView::new(user, external_id),
            member: member.map(|member| MemberView::new(member, person, Some(email))),
            organization: organization.map(OrganizationView::from),
            password_reset,
            has_authenticator_app,
        }
    }
}

impl UserView {
    /// Returns the account; `external_id` is the id in the administration system of the organization of the request.
    pub fn new(user: User, external_id: Option<ExternalId>) -> Self {
        from_fields!(user => Self {
            id, name, first_name, last_name, email, username, role, image, email_verified, locale, timezone, is_active,
            must_change_password, has_second_factor, last_login_at, created_at, updated_at,
            external_id: external_id,
        })
    }
}

impl KnownUserView {
    pub fn details(user: User, member: Member, has_credential: bool) -> Self {
        let details = UserDetailsView::new(user, member);
        Self::Full(Box::new(UserDetailsView {
            has_credential: Some(has_credential),
            ..details
        }))
    }

    /// Returns the outline of a user; the optional values are those that the caller may see.
    pub fn outline(
        person: Person,
        role: Option<PlatformRole>,
        email: Option<AccountEmail>,
        username: Option<Username>,
        is_active: Option<bool>,
        member: Option<Member>,
    ) -> Self {
        Self::Outline(Box::new(UserOutlineView {
            id: person.id,
            name: person.name,
            image: person.image,
            role,
            email,
            username,
            is_active,
            member: member.map(MembershipView::from),
        }))
    }
}

impl UserDetailsView {
    fn new(user: User, member: Member) -> Self {
        Self {
            user: UserView::new(user, member.external_id.clone()),
            has_credential: None,
            member: member.into(),
        }
    }
}

impl CreatedUserView {
    /// Returns a new account; `temporary_password` and `slip_token` are set if they were generated.
    pub fn new(user: User, member: Member, temporary_password: Option<String>, slip_token: Option<String>) -> Self {
        Self {
            user: UserDetailsView::new(user, member),
            temporary_password,
            slip_token,
        }
    }
}

impl JoinedUserView {
    /// Returns an existing account; `email` is the address given in the request.
    pub fn new(email: String, member: Member) -> Self {
        Self {
            id: member.user_id.clone(),
            email,
            role: member.role.platform_role(),
            member: member.into(),
        }
    }
}

view_from!(member: Member => MembershipView { id, organization_id, user_id, role, external_id, created_at, updated_at });

impl MemberView {
    /// Returns a membership with its user; `email` only if the caller may see it.
    pub fn new(member: Member, person: Person, email: Option<AccountEmail>) -> Self {
        from_fields!(member => Self {
            id, organization_id, user_id, role, external_id, created_at, updated_at,
            user: from_fields!(person => MemberPerson { id, name, image, email: email }),
        })
    }
}

impl OrganizationView {
    pub fn id(&self) -> &OrganizationId {
        &self.id
    }
}

view_from!(organization: Organization => OrganizationView {
    id, name, slug, custom_domain, logo, status, metadata, storage_quota, group_storage_quota, created_at,
    updated_at,
});
