//! Tests that every operation that ends a session takes effect immediately: the old cookies are rejected in spite of
//! the session copy in them, the socket receives no later event, and the socket is closed within five seconds.
//! `instances/events.rs` runs the same test with a client at another instance.

use std::time::Duration;

use db::args;
use domain::access::{MemberRole, PlatformRole};
use domain::id::ClassId;
use domain::realtime::Room;
use serde_json::json;

use test_support::Browser;
use test_support::accounts::{PASSWORD, enable, run};
use test_support::realtime_rows::group_updated;
use test_support::rows::{execute, texts};
use test_support::school_people::{in_school, member_of_north};
use test_support::{RealtimeRows, TestApp, TestUser, WAIT_TIMEOUT, raw_socket, size};

/// The guarantee is five seconds. The short run executes tests in parallel, so it has the general timeout of tests.
fn close_timeout() -> Duration {
    size(WAIT_TIMEOUT, Duration::from_secs(5))
}

const NEW: &str = "Dreieck und Kreis";

db::statements! {
    /// Restores the original state of a user.
    RESTORE = "UPDATE users SET is_active = TRUE, banned = FALSE, ban_reason = NULL WHERE id = $1";
}

/// The operations that end sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Revocation {
    SignOut,
    RevokedElsewhere,
    OthersRevokedElsewhere,
    AllRevokedElsewhere,
    PasswordChangedElsewhere,
    PasswordResetByAdmin,
    PasswordSetByPlatform,
    RevokedByPlatform,
    AllRevokedByPlatform,
    Banned,
    SwitchedOff,
    Suspended,
    RemovedFromSchool,
    RemovedFromPlatform,
    RoleRaised,
    RoleLowered,
    RoleImported,
    PlatformRoleChanged,
}

const REVOCATIONS: [Revocation; 18] = [
    Revocation::SignOut,
    Revocation::RevokedElsewhere,
    Revocation::OthersRevokedElsewhere,
    Revocation::AllRevokedElsewhere,
    Revocation::PasswordChangedElsewhere,
    Revocation::PasswordResetByAdmin,
    Revocation::PasswordSetByPlatform,
    Revocation::RevokedByPlatform,
    Revocation::AllRevokedByPlatform,
    Revocation::Banned,
    Revocation::SwitchedOff,
    Revocation::Suspended,
    Revocation::RemovedFromSchool,
    Revocation::RemovedFromPlatform,
    Revocation::RoleRaised,
    Revocation::RoleLowered,
    Revocation::RoleImported,
    Revocation::PlatformRoleChanged,
];

impl Revocation {
    /// The roles in North and on the platform of a user that is created for this operation. `None` if the operation
    /// uses an existing user.
    fn of_new_user(self) -> Option<(MemberRole, PlatformRole)> {
        match self {
            Self::RoleRaised | Self::RoleImported => Some((MemberRole::Student, PlatformRole::Student)),
            Self::RoleLowered => Some((MemberRole::Teacher, PlatformRole::Teacher)),
            Self::PlatformRoleChanged => Some((MemberRole::Admin, PlatformRole::SuperAdmin)),
            _ => None,
        }
    }
}

/// Returns a browser with a session in the school at one instance.
async fn sign_in_at(app: &TestApp, base: &str, person: &TestUser) -> Browser {
    let browser = Browser::elsewhere(base);
    browser.sign_in(&person.email, PASSWORD).await.expect(200);
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    browser
}

async fn end(app: &TestApp, revocation: Revocation, person: &TestUser, browser: &Browser) {
    let world = &app.world;
    let (adam, root) = (app.as_(&world.adam), app.as_(&world.root));
    let of = json!({"userId": person.id});
    let elsewhere = async |path: &str, body| {
        let other = sign_in_at(app, &app.base, person).await;
        other.post(path, body).await.expect(200);
    };
    match revocation {
        Revocation::SignOut => {
            let here = browser.copy_at(&app.base);
            here.post("/auth/sign-out", json!({})).await.expect(200);
        }
        Revocation::RevokedElsewhere => elsewhere("/auth/revoke-session", json!({"token": browser.token()})).await,
        Revocation::OthersRevokedElsewhere => elsewhere("/auth/revoke-other-sessions", json!({})).await,
        Revocation::AllRevokedElsewhere => elsewhere("/auth/revoke-sessions", json!({})).await,
        Revocation::PasswordChangedElsewhere => {
            let body = json!({"currentPassword": PASSWORD, "newPassword": NEW, "revokeOtherSessions": true});
            elsewhere("/auth/change-password", body).await;
        }
        Revocation::PasswordResetByAdmin => {
            let path = format!("/users/{}/reset-password", person.id);
            adam.post(&path, json!({})).await.expect(200);
        }
        Revocation::PasswordSetByPlatform => {
            let body = json!({"userId": person.id, "newPassword": NEW});
            root.post("/auth/admin/set-user-password", body).await.expect(200);
        }
        Revocation::RevokedByPlatform => {
            let body = json!({"sessionToken": browser.token()});
            root.post("/auth/admin/revoke-user-session", body).await.expect(200);
        }
        Revocation::AllRevokedByPlatform => drop(root.post("/auth/admin/revoke-user-sessions", of).await.expect(200)),
        Revocation::Banned => drop(root.post("/auth/admin/ban-user", of).await.expect(200)),
        Revocation::SwitchedOff => {
            let path = format!("/users/{}", person.id);
            adam.patch(&path, json!({"isActive": false})).await.expect(200);
        }
        Revocation::Suspended => {
            let path = format!("/tenants/{}/suspend", world.north);
            root.post(&path, json!({})).await.expect(200);
        }
        Revocation::RemovedFromSchool => {
            adam.delete(&format!("/users/{}", person.id)).await.expect(200);
        }
        Revocation::RemovedFromPlatform => drop(root.post("/auth/admin/remove-user", of).await.expect(200)),
        Revocation::RoleRaised | Revocation::RoleLowered => {
            let member = format!("/admin/members/{}", member_of_north(app, person).await);
            let role = if revocation == Revocation::RoleRaised {
                "admin"
            } else {
                "student"
            };
            // Only an owner can promote a member to administrator.
            app.as_(&world.olga)
                .patch(&member, json!({"role": role}))
                .await
                .expect(200);
        }
        Revocation::RoleImported => {
            let row = json!({"email": person.email, "firstName": "A", "lastName": "B", "role": "teacher"});
            let report = adam.post("/users/import", json!({"users": [row]})).await.expect(200);
            assert_eq!(report["updated"], 1, "{report}");
        }
        Revocation::PlatformRoleChanged => {
            let body = json!({"userId": person.id, "role": "TEACHER"});
            root.post("/auth/admin/set-role", body).await.expect(200);
        }
    }
}

both!(revoked_session_rejects_cookies_and_closes_sockets, |app| {
    check_every_revocation(app, &app.base).await;
});

both!(role_change_ends_sessions_of_that_school_only, |app| {
    let (world, rows) = (&app.world, RealtimeRows(app));
    rows.join_school(&world.south, &world.ben, "student").await;
    let in_south = rows.another_session(&world.ben).await;
    rows.set_active_school(&in_south, Some(&world.south)).await;
    let in_no_school = rows.another_session(&world.ben).await;
    rows.set_active_school(&in_no_school, None).await;
    let member = format!("/admin/members/{}", member_of_north(app, &world.ben).await);
    let adam = app.as_(&world.adam);
    // Setting the current role again is no change.
    adam.patch(&member, json!({"role": "student"})).await.expect(200);
    app.as_(&world.ben).get("/subjects").await.expect(200);

    adam.patch(&member, json!({"role": "teacher"})).await.expect(200);
    for ended in [&world.ben, &in_no_school] {
        app.as_(ended).get("/users/me").await.refused(401, "UNAUTHENTICATED");
    }
    app.as_(&in_south).get("/subjects").await.expect(200);
    let logged = texts(
        &app.database,
        "SELECT details FROM activity_logs WHERE action = 'ROLE_CHANGED'".to_owned(),
    )
    .await;
    assert_eq!(logged.len(), 1);
    assert!(
        logged[0].as_deref().unwrap().contains("\"endedSessions\":2"),
        "{logged:?}"
    );
});

both!(session_of_former_member_does_not_gain_later_role, |app| {
    let (world, rows) = (&app.world, RealtimeRows(app));
    rows.join_school(&world.south, &world.ben, "student").await;
    let old = rows.another_session(&world.ben).await;
    rows.set_active_school(&old, None).await;
    app.as_(&world.adam)
        .delete(&format!("/users/{}", world.ben.id))
        .await
        .expect(200);
    rows.join_school(&world.north, &world.ben, "teacher").await;
    app.as_(&old).get("/users/me").await.refused(401, "UNAUTHENTICATED");
});

/// Ends sessions with every operation at the instance `app`, and checks that they are invalid at the instance at
/// `other_base`.
pub async fn check_every_revocation(app: &TestApp, other_base: &str) {
    let (world, rows) = (&app.world, RealtimeRows(app));
    assert_eq!(STATEMENTS.len(), 1);
    for revocation in REVOCATIONS {
        // Operations that end a membership need a user of their own.
        let new = match revocation.of_new_user() {
            Some((role, platform)) => Some(in_school(app, &world.north, role, platform).await.person),
            None => None,
        };
        let person = match (&new, revocation) {
            (Some(new), _) => new,
            (None, Revocation::RemovedFromSchool) => &world.cem,
            (None, Revocation::RemovedFromPlatform) => &world.dana,
            (None, _) => &world.ben,
        };
        enable(app, person).await;
        let browser = sign_in_at(app, other_base, person).await;
        let old = browser.copy();
        old.get("/subjects").await.expect(200);
        let mut socket = raw_socket::Socket::open_at(other_base, old.client().cookie().unwrap()).await;
        socket.expect("ready").await;

        end(app, revocation, person, &browser).await;

        let code = if revocation == Revocation::Suspended {
            (403, "ORGANIZATION_SUSPENDED")
        } else {
            (401, "UNAUTHENTICATED")
        };
        old.copy().get("/subjects").await.refused(code.0, code.1);
        if revocation != Revocation::Suspended {
            assert_eq!(
                old.copy().get("/auth/get-session").await.expect(200),
                json!(null),
                "{revocation:?}"
            );
            let path = "/socket.io/?EIO=4&transport=polling";
            old.client().get(path).await.refused(401, "UNAUTHENTICATED");
        }
        let rooms = vec![
            Room::User(test_support::realtime_rows::user(person)),
            Room::Class(ClassId::new(&world.seven_b.id)),
        ];
        // The event of another operation may reach a later socket of the same user.
        let late = format!("after {revocation:?}");
        rows.emit(vec![group_updated(&world.north, rooms, &late)]).await;
        let mut printed = Vec::new();
        let cut = tokio::time::timeout(close_timeout(), async {
            while let Some(frame) = socket.next().await {
                printed.push(frame);
            }
        });
        cut.await
            .unwrap_or_else(|_| panic!("{revocation:?}: the socket stands, and heard {printed:?}"));
        assert!(
            printed.iter().any(|frame| frame.contains("session:revoked")),
            "{revocation:?} states the reason: {printed:?}"
        );
        assert!(
            !printed.iter().any(|frame| frame.contains(&late)),
            "{revocation:?}: {printed:?}"
        );

        if revocation == Revocation::Suspended {
            let path = format!("/tenants/{}/activate", world.north);
            app.as_(&world.root).post(&path, json!({})).await.expect(200);
        }
        if person.id == world.ben.id {
            run(app, &RESTORE, args![person.id]);
            let membership = format!("UPDATE members SET is_active = TRUE WHERE user_id = '{}'", person.id);
            execute(&app.database, membership).await;
        }
    }
}
