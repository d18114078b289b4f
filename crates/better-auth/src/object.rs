//! Session, user, organization and member as the client receives them: keys in the observed order,
//! absent values as `null`. Passwords and other secrets of a row have no place here.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// A session as JSON; the token is the unsigned value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionObject {
    /// When the session ends unless it is renewed.
    pub expires_at: Timestamp,
    /// The unsigned token.
    pub token: String,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
    /// The address the sign-in came from; an empty text when unknown.
    pub ip_address: Option<String>,
    /// The browser the sign-in came from; an empty text when unknown.
    pub user_agent: Option<String>,
    /// Whose session it is.
    pub user_id: String,
    /// The organization chosen in this session.
    pub active_organization_id: Option<String>,
    /// The administrator who acts in this session as somebody else.
    pub impersonated_by: Option<String>,
    /// The row's id.
    pub id: String,
}

/// A user as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserObject {
    /// The name shown to others.
    pub name: String,
    /// The address in lower case.
    pub email: String,
    /// Whether the address is known to belong to the user.
    pub email_verified: bool,
    /// Where a picture of the user is found.
    pub image: Option<String>,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the account last changed.
    pub updated_at: Timestamp,
    /// The platform role.
    pub role: String,
    /// Whether the user may not sign in.
    pub banned: bool,
    /// Why the user may not sign in.
    pub ban_reason: Option<String>,
    /// Until when the user may not sign in.
    pub ban_expires: Option<Timestamp>,
    /// The row's id.
    pub id: String,
}

/// An organization as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationObject {
    /// The name shown to people.
    pub name: String,
    /// The name used in addresses.
    pub slug: String,
    /// Where the logo is found.
    pub logo: Option<String>,
    /// When the organization was made.
    pub created_at: Timestamp,
    /// Further facts as JSON *text*, as the reading routes send them.
    pub metadata: Option<String>,
    /// The row's id.
    pub id: String,
}

/// A membership as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberObject {
    /// The organization.
    pub organization_id: String,
    /// The user.
    pub user_id: String,
    /// The role, or several roles joined by commas.
    pub role: String,
    /// When the membership began.
    pub created_at: Timestamp,
    /// The row's id.
    pub id: String,
    /// Who the member is, on the routes that say so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<MemberUserObject>,
}

/// An invitation as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvitationObject {
    /// The organization that invites.
    pub organization_id: String,
    /// The invited address in lower case.
    pub email: String,
    /// The role the person will have.
    pub role: String,
    /// `pending`, `accepted`, `rejected` or `canceled`.
    pub status: String,
    /// When it can no longer be accepted.
    pub expires_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who invited; an empty text when no person did.
    pub inviter_id: String,
    /// The row's id.
    pub id: String,
}

/// The part of a user that fellow members see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberUserObject {
    /// The user's id.
    pub id: String,
    /// The name shown to others.
    pub name: String,
    /// The address in lower case.
    pub email: String,
    /// Where a picture of the user is found.
    pub image: Option<String>,
}

/// The answer of `get-session` to somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAndUser {
    /// The session.
    pub session: SessionObject,
    /// Its user.
    pub user: UserObject,
}

/// The answer of `get-full-organization`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FullOrganizationObject {
    /// The organization's own keys.
    #[serde(flatten)]
    pub organization: OrganizationObject,
    /// The invitations in every state, for administrators; empty for all other callers.
    pub invitations: Vec<InvitationObject>,
    /// The members, each with its user.
    pub members: Vec<MemberObject>,
}

/// The answer of `list-members`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MembersObject {
    /// The members asked for, each with its user.
    pub members: Vec<MemberObject>,
    /// How many members match, whatever the limit.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    const MOMENT: Timestamp = Timestamp::from_millis(1_795_188_810_714);

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
    fn a_member_names_its_user_only_where_noted() {
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
    fn a_full_organization_ends_with_invitations_and_members() {
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
    fn unset_values_of_session_and_user_are_null_not_absent() {
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
