//! Who looks or acts, in which organization, and when.

use model::access::Viewer;
use model::id::{OrganizationId, UserId};
use model::time::Timestamp;

use super::platform::PlatformProof;

/// The organization someone works in. Only look-ups in [`platform`] can make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant(pub(super) OrganizationId);

impl Tenant {
    /// The organization's id, for answers, events and the log.
    pub fn id(&self) -> &OrganizationId {
        &self.0
    }

    /// An organization that is about to be made; its id is nobody's yet.
    pub fn to_be_made(_: PlatformProof) -> Self {
        Self(OrganizationId::new(common::clock::new_id()))
    }
}

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

impl Standpoint {
    /// Where the service itself stands when no person acts: all of the organization may be read. `name` is what the
    /// activity log calls it; `now` its clock.
    pub fn of_service(tenant: Tenant, name: &str, now: Timestamp) -> Self {
        Self {
            tenant,
            viewer: Viewer::Admin,
            actor: Actor {
                user: None,
                name: name.to_owned(),
                role: "system",
                impersonated_by: None,
                request_id: None,
            },
            now,
        }
    }
}
