//! Session, user, organization and member as sent to the client: keys in the observed order, absent values as `null`.
//! They never contain passwords or other secrets.

use serde::{Deserialize, Serialize};

use crate::timestamp::UnixMillis;

/// A session as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionObject {
    /// When the session expires unless it is renewed.
    pub expires_at: UnixMillis,
    /// The unsigned token.
    pub token: String,
    /// When the user signed in.
    pub created_at: UnixMillis,
    /// When the session was last changed.
    pub updated_at: UnixMillis,
    /// IP address of the sign-in; empty if unknown.
    pub ip_address: Option<String>,
    /// User agent of the sign-in; empty if unknown.
    pub user_agent: Option<String>,
    pub user_id: String,
    /// The active organization of this session.
    pub active_organization_id: Option<String>,
    /// The administrator who impersonates the user in this session.
    pub impersonated_by: Option<String>,
    pub id: String,
}

/// A user as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserObject {
    /// The display name.
    pub name: String,
    /// The address in lower case.
    pub email: String,
    /// Whether the address was verified to belong to the user.
    pub email_verified: bool,
    /// URL of the user's picture.
    pub image: Option<String>,
    /// When the account was created.
    pub created_at: UnixMillis,
    /// When the account was last changed.
    pub updated_at: UnixMillis,
    /// The platform role.
    pub role: String,
    /// Whether sign-in is disabled for the user.
    pub banned: bool,
    /// Why sign-in is disabled.
    pub ban_reason: Option<String>,
    /// When the ban ends.
    pub ban_expires: Option<UnixMillis>,
    /// Whether sign-in requires a second factor; absent where the library has no plugin for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_factor_enabled: Option<bool>,
    /// The user name on the platform, a field of the plugin for user names.
    #[serde(default, skip_serializing_if = "PluginField::is_absent")]
    pub username: PluginField,
    /// The user name as shown.
    #[serde(default, skip_serializing_if = "PluginField::is_absent")]
    pub display_username: PluginField,
    pub id: String,
}

/// A field of a plugin. Objects of a service without the plugin do not have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PluginField {
    #[default]
    Absent,
    Present(Option<String>),
}

impl PluginField {
    const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Serialize for PluginField {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Present(None) => serializer.serialize_none(),
            Self::Present(Some(text)) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for PluginField {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Present)
    }
}

/// An organization as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationObject {
    /// The display name.
    pub name: String,
    /// The name used in URLs.
    pub slug: String,
    /// URL of the logo.
    pub logo: Option<String>,
    /// When the organization was created.
    pub created_at: UnixMillis,
    /// Additional metadata as JSON *text*, the form returned by the read routes.
    pub metadata: Option<String>,
    pub id: String,
}

/// A membership as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberObject {
    pub organization_id: String,
    pub user_id: String,
    /// The role, or several roles joined by commas.
    pub role: String,
    /// When the membership began.
    pub created_at: UnixMillis,
    pub id: String,
    /// The member's user, on the routes that include it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<MemberUserObject>,
}

/// An invitation as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvitationObject {
    pub organization_id: String,
    /// The invited address in lower case.
    pub email: String,
    /// The role of the future member.
    pub role: String,
    /// `pending`, `accepted`, `rejected` or `canceled`.
    pub status: String,
    /// When the invitation expires.
    pub expires_at: UnixMillis,
    pub created_at: UnixMillis,
    /// The inviting user; empty if no user did.
    pub inviter_id: String,
    pub id: String,
}

/// The part of a user that is visible to other members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberUserObject {
    pub id: String,
    /// The display name.
    pub name: String,
    /// The address in lower case.
    pub email: String,
    /// URL of the user's picture.
    pub image: Option<String>,
}

/// The response of `get-session` with a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAndUser {
    pub session: SessionObject,
    pub user: UserObject,
}

/// The response of `get-full-organization`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FullOrganizationObject {
    /// The organization's own keys.
    #[serde(flatten)]
    pub organization: OrganizationObject,
    /// The invitations in every state for administrators; empty for other callers.
    pub invitations: Vec<InvitationObject>,
    /// The members, each with its user.
    pub members: Vec<MemberObject>,
}

/// The response of `list-members`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MembersObject {
    /// The requested members, each with its user.
    pub members: Vec<MemberObject>,
    /// Number of matching members, regardless of the limit.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    const MOMENT: UnixMillis = UnixMillis::from_millis(1_795_188_810_714);

    fn organization() -> OrganizationObject {
        OrganizationObject {
            name: "School".into(),
            slug: "school".into(),
            logo: None,
            created_at: MOMENT,
            metadata: Some(r#"{"a":1}"#.into()),
            id: "o1".into(),
        }
    }

    fn member(user: Option<MemberUserObject>) -> MemberObject {
        MemberObject {
            organization_id: "o1".into(),
            user_id: "u1".into(),
            role: "teacher,admin".into(),
            created_at: MOMENT,
            id: "m1".into(),
            user,
        }
    }

    #[test]
    fn organizations_keep_their_metadata_as_text() {
        assert_eq!(
            serde_json::to_string(&organization()).unwrap(),
            r#"{"name":"School","slug":"school","logo":null,"createdAt":"2026-11-20T15:33:30.714Z","metadata":"{\"a\":1}","id":"o1"}"#
        );
    }

    #[test]
    fn member_includes_user_only_if_set() {
        let plain = r#"{"organizationId":"o1","userId":"u1","role":"teacher,admin","createdAt":"2026-11-20T15:33:30.714Z","id":"m1"}"#;
        assert_eq!(serde_json::to_string(&member(None)).unwrap(), plain);

        let user = MemberUserObject {
            id: "u1".into(),
            name: "Ada".into(),
            email: "ada@school.test".into(),
            image: None,
        };
        let named = serde_json::to_string(&member(Some(user))).unwrap();
        assert!(
            named.ends_with(r#""id":"m1","user":{"id":"u1","name":"Ada","email":"ada@school.test","image":null}}"#)
        );
    }

    #[test]
    fn full_organization_ends_with_invitations_and_members() {
        let full = FullOrganizationObject {
            organization: organization(),
            invitations: Vec::new(),
            members: vec![member(None)],
        };
        let text = serde_json::to_string(&full).unwrap();
        assert!(text.starts_with(r#"{"name":"School","#), "{text}");
        assert!(
            text.contains(r#""id":"o1","invitations":[],"members":[{"organizationId":"o1","#),
            "{text}"
        );
    }

    #[test]
    fn unset_values_of_session_and_user_are_null() {
        let session = SessionObject {
            expires_at: MOMENT,
            token: "t".into(),
            created_at: MOMENT,
            updated_at: MOMENT,
            ip_address: Some(String::new()),
            user_agent: None,
            user_id: "u1".into(),
            active_organization_id: None,
            impersonated_by: None,
            id: "s1".into(),
        };
        let text = serde_json::to_string(&session).unwrap();
        assert!(text.ends_with(
            r#""ipAddress":"","userAgent":null,"userId":"u1","activeOrganizationId":null,"impersonatedBy":null,"id":"s1"}"#
        ), "{text}");
    }
}
