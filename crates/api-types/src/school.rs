//! A school in numbers, and the sessions that work in it (contract 6.14).

use model::access::MemberRole;
use model::id::{OrganizationId, SessionId, UserId};
use model::storage::{QuotaBytes, StorageUsage};
use model::time::Timestamp;
use model::user::Person;
use serde::Serialize;
use utoipa::ToSchema;

/// Members by role.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct MembersByRole {
    /// Owners.
    pub owner: i64,
    /// Admins.
    pub admin: i64,
    /// Teachers.
    pub teacher: i64,
    /// Students.
    pub student: i64,
}

/// A school in numbers.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchoolStats {
    /// Members by role.
    pub users: MembersByRole,
    /// Classes, whatever their status.
    pub classes: i64,
    /// Courses.
    pub courses: i64,
    /// Groups.
    pub groups: i64,
    /// Topics.
    pub assignments: i64,
    /// Bytes of files, as they were counted last.
    pub storage_bytes: i64,
    /// Groups that ask for help.
    pub open_help: i64,
    /// Sessions of members that work in the school.
    pub active_sessions: i64,
}

/// What a school keeps and may keep.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageView {
    /// What was counted last.
    #[serde(flatten)]
    pub usage: StorageUsage,
    /// Bytes at this moment: what was counted and what came since.
    pub used_bytes: i64,
    /// What the school may keep.
    pub quota_bytes: QuotaBytes,
    /// What each group may keep.
    pub group_quota_bytes: QuotaBytes,
}

/// A session without its token.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub user_id: UserId,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it was last prolonged.
    pub updated_at: Timestamp,
    /// Where the sign-in came from; null for people whom the caller may not act on.
    #[schema(required)]
    pub ip_address: Option<String>,
    /// The program it came with; null for people whom the caller may not act on.
    #[schema(required)]
    pub user_agent: Option<String>,
    /// The organization it works in.
    pub active_organization_id: OrganizationId,
    /// Whether the request came with it.
    pub is_current: bool,
    /// What the person is here.
    pub role: MemberRole,
    /// The person.
    pub user: SessionPerson,
}

/// The person of a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SessionPerson {
    id: UserId,
    name: String,
    email: String,
    #[schema(required)]
    image: Option<String>,
}

impl SessionPerson {
    /// The person with the address.
    pub fn new(person: Person, email: String) -> Self {
        Self {
            id: person.id,
            name: person.name,
            email,
            image: person.image,
        }
    }
}
