//! The [`RequestContext`] of a user at a chosen moment, for tests that query the store directly.

use db::platform::CrossTenantReason;
use db::{Actor, AfterCommit, RequestContext, WriteTx};
use domain::access::Viewer;
use domain::id::{OrganizationId, UserId};
use domain::time::Timestamp;

use super::TestApp;

/// The role in which a user views the school.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewedAs {
    Admin,
    Teacher,
    Student,
}

impl TestApp {
    /// Returns the [`RequestContext`] of a user of a school at a moment.
    pub async fn request_context(
        &self,
        organization: &str,
        user: &str,
        viewed_as: ViewedAs,
        now: Timestamp,
    ) -> RequestContext {
        let id = OrganizationId::new(organization);
        let look = move |platform: &mut db::platform::PlatformTx<'_>| platform.tenant(&id);
        let tenant = self
            .app
            .store()
            .platform_read(CrossTenantReason::CommandLine, look)
            .await
            .unwrap();
        let id = UserId::new(user);
        let (viewer, role) = match viewed_as {
            ViewedAs::Admin => (Viewer::Admin, "admin"),
            ViewedAs::Teacher => (Viewer::Teacher(id.clone()), "teacher"),
            ViewedAs::Student => (Viewer::Student(id.clone()), "student"),
        };
        let name = "Somebody".to_owned();
        let actor = Actor {
            user: Some(id),
            name,
            role,
            impersonated_by: None,
            api_token: None,
            request_id: None,
        };
        RequestContext {
            tenant,
            viewer,
            actor,
            now,
        }
    }
}

/// Returns an after-commit hook that does nothing.
pub fn no_after_commit(_: &mut WriteTx<'_>) -> common::error::Result<AfterCommit> {
    Ok(Box::new(|| ()))
}
