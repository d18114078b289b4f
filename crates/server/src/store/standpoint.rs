//! Who looks or acts, in which organization, and when.

use model::access::Viewer;
use model::id::UserId;
use model::time::Timestamp;

use super::Tenant;

/// Who acts, as the activity log and the events name him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The person; absent when the service itself acts.
    pub user: Option<UserId>,
    /// His name at the time.
    pub name: String,
    /// The role he acts in: `SUPER_ADMIN`, `owner`, `admin`, `teacher`, `student`, `system`.
    pub role: &'static str,
    /// The super admin behind an impersonated session.
    pub impersonated_by: Option<UserId>,
    /// The request this belongs to.
    pub request_id: Option<String>,
}

/// Who looks or acts, in which organization, and when: everything a query's visibility depends on.
#[derive(Debug, Clone)]
pub struct Standpoint {
    /// The organization of the request.
    pub tenant: Tenant,
    /// The person, as far as visibility is concerned.
    pub viewer: Viewer,
    /// The person, as far as the log is concerned.
    pub actor: Actor,
    /// The request's clock.
    pub now: Timestamp,
}
