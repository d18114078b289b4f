//! Converts rows to the objects of the library. Password hashes and tokens of other users are never included.

use better_auth::object::{
    InvitationObject, MemberObject, MemberUserObject, OrganizationObject, PluginField, SessionAndUser, SessionObject,
    UserObject,
};
use better_auth::timestamp::UnixMillis as WireTime;
use domain::id::UserId;
use domain::invitation::Invitation;
use domain::organization::Organization;
use domain::time::Timestamp;
use domain::user::Member;
use domain::user_name::full_name;

use db::members::MemberWithUser;
use db::platform::sessions::{Session, SessionUser};

/// Converts a timestamp to the type of the library.
pub fn time(to_timestamp: Timestamp) -> WireTime {
    WireTime::from_millis(to_timestamp.as_millis())
}

/// Converts a timestamp of the library.
pub fn to_timestamp(time: WireTime) -> Timestamp {
    Timestamp::from_millis(time.millis())
}

/// A session, for its owner.
pub fn session(session: &Session) -> SessionObject {
    SessionObject {
        expires_at: time(session.expires_at),
        token: session.token.clone(),
        created_at: time(session.created_at),
        updated_at: time(session.updated_at),
        ip_address: session.ip_address.clone(),
        user_agent: session.user_agent.clone(),
        user_id: session.user_id.as_str().to_owned(),
        active_organization_id: session.active_organization_id.as_ref().map(|id| id.as_str().to_owned()),
        impersonated_by: session.impersonated_by.as_ref().map(|id| id.as_str().to_owned()),
        id: session.id.as_str().to_owned(),
    }
}

/// A user with a session. Banned users have none, so the ban fields are empty.
pub fn user(user: &SessionUser) -> UserObject {
    UserObject {
        name: user.name.clone(),
        email: user.email.stored_form().to_owned(),
        email_verified: user.email_verified,
        image: user.image.clone(),
        created_at: time(user.created_at),
        updated_at: time(user.updated_at),
        role: user.role.as_str().to_owned(),
        banned: false,
        ban_reason: None,
        ban_expires: None,
        two_factor_enabled: Some(user.has_second_factor),
        username: PluginField::Present(user.user_name.as_ref().map(|(name, slug)| full_name(name, slug))),
        display_username: PluginField::Present(user.user_name.as_ref().map(|(name, _)| name.to_string())),
        id: user.id.as_str().to_owned(),
    }
}

pub fn session_and_user(of_session: &Session, of_user: &SessionUser) -> SessionAndUser {
    SessionAndUser {
        session: session(of_session),
        user: user(of_user),
    }
}

/// An organization. The library sends metadata as JSON text.
pub fn organization(organization: &Organization) -> OrganizationObject {
    OrganizationObject {
        name: organization.name.as_str().to_owned(),
        slug: organization.slug.as_str().to_owned(),
        logo: organization.logo.as_ref().map(|logo| logo.as_str().to_owned()),
        created_at: time(organization.created_at),
        metadata: organization
            .metadata
            .as_ref()
            .and_then(|metadata| serde_json::to_string(metadata).ok()),
        id: organization.id.as_str().to_owned(),
    }
}

/// An invitation without its token.
pub fn invitation(invitation: Invitation) -> InvitationObject {
    InvitationObject {
        organization_id: invitation.organization_id.into_string(),
        email: invitation.email,
        role: invitation.role.as_str().to_owned(),
        status: invitation.status.as_str().to_owned(),
        expires_at: time(invitation.expires_at),
        created_at: time(invitation.created_at),
        inviter_id: invitation.inviter_id.map(UserId::into_string).unwrap_or_default(),
        id: invitation.id.into_string(),
    }
}

/// A member without the user.
pub fn plain_member(member: Member) -> MemberObject {
    MemberObject {
        organization_id: member.organization_id.into_string(),
        user_id: member.user_id.into_string(),
        role: member.role.as_str().to_owned(),
        created_at: time(member.created_at),
        id: member.id.into_string(),
        user: None,
    }
}

/// A member with the user. The address is empty when the viewer may not see it, and a placeholder if there is none.
pub fn member(known: MemberWithUser) -> MemberObject {
    let MemberWithUser { member, person, email } = known;
    MemberObject {
        organization_id: member.organization_id.into_string(),
        user_id: member.user_id.into_string(),
        role: member.role.as_str().to_owned(),
        created_at: time(member.created_at),
        id: member.id.into_string(),
        user: Some(MemberUserObject {
            id: person.id.into_string(),
            name: person.name,
            email: email.map(|email| email.stored_form().to_owned()).unwrap_or_default(),
            image: person.image,
        }),
    }
}
