//! Statistics and storage usage of an organization, and the sessions of its members.

use api_macros::view;
use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::from_fields;
use domain::id::{OrganizationId, SessionId, UserId};
use domain::storage::{QuotaBytes, StorageUsage};
use domain::time::Timestamp;
use domain::user::Person;

/// Number of members by role.
#[view(Copy)]
pub struct MembersByRole {
    pub owner: i64,
    pub admin: i64,
    pub teacher: i64,
    pub student: i64,
}

/// Statistics of an organization.
#[view(Copy)]
pub struct SchoolStats {
    pub users: MembersByRole,
    /// Number of classes, regardless of status.
    pub classes: i64,
    /// Number of courses.
    pub courses: i64,
    /// Number of groups.
    pub groups: i64,
    /// Number of topics.
    pub assignments: i64,
    /// Storage usage in bytes at the time of the latest count.
    pub storage_bytes: i64,
    /// Number of groups that request help.
    pub open_help: i64,
    /// Number of sessions whose active organization this is.
    pub active_sessions: i64,
}

/// Storage usage and quotas of an organization.
#[view]
#[schema(as = StorageView)]
pub struct StorageView {
    #[serde(flatten)]
    pub usage: StorageUsage,
    /// Bytes used at present: the latest count plus later additions.
    pub used_bytes: i64,
    /// Storage quota of the organization in bytes.
    pub quota_bytes: QuotaBytes,
    /// Storage quota of each group in bytes.
    pub group_quota_bytes: QuotaBytes,
}

/// A session, without its token.
#[view]
pub struct SessionView {
    pub id: SessionId,
    pub user_id: UserId,
    pub expires_at: Timestamp,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When the session was last extended.
    pub updated_at: Timestamp,
    /// IP address of the sign-in; null for users whom the caller may not manage.
    pub ip_address: Option<String>,
    /// User agent of the sign-in; null for users whom the caller may not manage.
    pub user_agent: Option<String>,
    pub active_organization_id: OrganizationId,
    /// Whether this is the session of the request.
    pub is_current: bool,
    /// Role of the user in this organization.
    pub role: MemberRole,
    pub user: SessionPerson,
}

/// The user of a session.
#[view]
pub struct SessionPerson {
    id: UserId,
    name: String,
    /// Null for accounts without an email address.
    #[schema(required, value_type = Option<String>)]
    email: AccountEmail,
    image: Option<String>,
}

impl SessionPerson {
    pub fn new(person: Person, email: AccountEmail) -> Self {
        from_fields!(person => Self { id, name, image, email: email })
    }
}
