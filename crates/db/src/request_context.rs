//! The context of a request: organization, viewer, actor and time.

use domain::access::Viewer;
use domain::id::{ApiTokenId, OrganizationId, UserId};
use domain::text::ShortName;
use domain::time::Timestamp;

use super::platform::CrossTenantReason;

/// The organization of a request. Only look-ups in [`platform`](super::platform) create it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant(pub(super) OrganizationId);

impl Tenant {
    /// Returns the id of the organization, for responses, events and the log.
    pub fn id(&self) -> &OrganizationId {
        &self.0
    }

    /// Creates the tenant of a new organization with a new id.
    pub fn for_new_organization(_: CrossTenantReason) -> Self {
        Self(OrganizationId::new(common::clock::new_id()))
    }
}

/// An API token with which a program acts for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingToken {
    pub id: ApiTokenId,
    pub name: ShortName,
}

/// The user who acts, as recorded in the activity log and in events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `None` when the service itself acts.
    pub user: Option<UserId>,
    /// The name at the time of the action.
    pub name: String,
    /// The effective role: `SUPER_ADMIN`, `owner`, `admin`, `teacher`, `student`, `system`.
    pub role: &'static str,
    /// The super admin behind an impersonated session.
    pub impersonated_by: Option<UserId>,
    /// The API token that the request was sent with. It acts with the rank of an administrator, never above.
    pub api_token: Option<ActingToken>,
    pub request_id: Option<String>,
}

/// The context of a request: everything that the visibility of a query depends on.
#[derive(Debug, Clone)]
pub struct RequestContext {
    pub tenant: Tenant,
    /// The user, for visibility rules.
    pub viewer: Viewer,
    /// The user, for the activity log.
    pub actor: Actor,
    /// The time of the request.
    pub now: Timestamp,
}

impl RequestContext {
    /// Creates the context of an action by the service itself: the whole organization is visible. `name` appears in the
    /// activity log.
    pub fn for_service(tenant: Tenant, name: &str, now: Timestamp) -> Self {
        Self {
            tenant,
            viewer: Viewer::Admin,
            actor: Actor {
                user: None,
                name: name.to_owned(),
                role: "system",
                impersonated_by: None,
                api_token: None,
                request_id: None,
            },
            now,
        }
    }
}
