//! Users for a single test, inserted directly into the tables: with a session, a role in this school, and the school
//! that created the account.

use common::clock;
use db::platform::CrossTenantReason;
use db::platform::sessions::Session;
use db::platform::users::NewUserAccount;
use domain::access::{MemberRole, PlatformRole};
use domain::id::{OrganizationId, SessionId};

use super::app::AUTH_SECRET;
use super::rows::texts;
use super::{TestApp, TestUser};

/// A new user of a school, with the membership id.
pub struct SchoolPerson {
    pub person: TestUser,
    pub member: String,
}

/// Creates a user whose account the school created and who is a member of it; the school is active in the user's
/// session.
pub async fn in_school(app: &TestApp, organization: &str, role: MemberRole, platform: PlatformRole) -> SchoolPerson {
    let person = insert_person(app, organization, Some(role), platform).await;
    let member = format!(
        "SELECT id FROM members WHERE user_id = '{}' AND organization_id = '{organization}'",
        person.id
    );
    let member = texts(&app.database, member).await.remove(0).unwrap();
    SchoolPerson { person, member }
}

/// Like `in_school`; without a role the user has no membership.
pub async fn insert_person(
    app: &TestApp,
    organization: &str,
    role: Option<MemberRole>,
    platform: PlatformRole,
) -> TestUser {
    let id = clock::new_id();
    let (name, email) = (format!("Person {id}"), format!("{id}@test.example"));
    let mut user = NewUserAccount::provisioned(&name, &email, platform, None);
    let organization = OrganizationId::new(organization);
    user.home = Some(organization.clone());
    let now = clock::now();
    let session = Session {
        id: SessionId::new(clock::new_id()),
        token: better_auth::token::session_token(),
        user_id: user.id.clone(),
        expires_at: now.plus_seconds(86_400),
        created_at: now,
        updated_at: now,
        ip_address: None,
        user_agent: None,
        active_organization_id: Some(organization.clone()),
        impersonated_by: None,
        new_password_until: None,
        confirmed_at: None,
        sign_on: None,
    };
    let (id, token) = (user.id.to_string(), session.token.clone());
    let write = move |platform: &mut db::platform::PlatformTx<'_>| {
        let tenant = platform.tenant(&organization)?;
        platform.insert_user(&user, now)?;
        if let Some(role) = role {
            platform.insert_member(&tenant, &user.id, role, now)?;
        }
        platform.insert_session(&session)
    };
    let written = app.app.store().platform_write(CrossTenantReason::CommandLine, write);
    written.await.unwrap();
    let cookie = format!(
        "better-auth.session_token={}",
        better_auth::cookie::sign(AUTH_SECRET, &token)
    );
    TestUser {
        id,
        name,
        email,
        token,
        cookie,
    }
}

/// Returns the id of a user's membership of North.
pub async fn member_of_north(app: &TestApp, person: &TestUser) -> String {
    let sought = format!(
        "SELECT id FROM members WHERE user_id = '{}' AND organization_id = '{}'",
        person.id, app.world.north
    );
    texts(&app.database, sought).await.remove(0).unwrap()
}
