//! A session that the provider of a school opened is valid in that school only: who controls the provider must not
//! enter other schools as a person who works in both.

use serde_json::json;

use super::{SchoolSignOn, person};
use test_support::rows::{execute, texts};
use test_support::second_factor::{enter, set_up};
use test_support::{Browser, TestApp};

/// Ada works in South, too, and the provider of North signs her in.
async fn shared(app: &TestApp) -> (SchoolSignOn, Browser) {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ada", &app.world.ada).await;
    let insert = format!(
        "INSERT INTO members (organization_id, id, user_id, role, created_at)
         VALUES ('{}', '{}', '{}', 'teacher', 1)",
        app.world.south,
        common::clock::new_id(),
        app.world.ada.id
    );
    execute(&app.database, insert).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ada")).await.is_signed_in();
    browser.get("/classes").await.expect(200);
    (school, browser)
}

tenants!(session_cannot_choose_another_school, |app| {
    let (_school, browser) = shared(app).await;
    let south = json!({"organizationId": app.world.south});
    browser
        .set_active(south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    let schools = browser.get("/auth/organization/list").await.expect(200);
    let ids: Vec<_> = schools
        .as_array()
        .unwrap()
        .iter()
        .map(|school| school["id"].clone())
        .collect();
    assert_eq!(ids, [json!(app.world.north)]);
    for path in [
        "/auth/organization/get-organization",
        "/auth/organization/get-full-organization",
        "/auth/organization/list-members",
    ] {
        let answer = browser.get(&format!("{path}?organizationId={}", app.world.south)).await;
        assert_eq!(answer.status, 403, "{path}");
    }
});

tenants!(session_cannot_work_in_another_school_by_row_or_host, |app| {
    let (_school, browser) = shared(app).await;
    let token = browser.token();
    let set = |organization: &str| {
        format!("UPDATE sessions SET active_organization_id = {organization} WHERE token = '{token}'")
    };
    execute(&app.database, set(&format!("'{}'", app.world.south))).await;
    browser.get("/classes").await.refused(403, "SIGNED_ON_ELSEWHERE");
    let me = browser.get("/users/me").await.expect(200);
    assert!(me["organization"].is_null() && me["member"].is_null(), "{me}");
    execute(&app.database, set("NULL")).await;
    let slug = app.as_(&app.world.zara).get("/admin/settings").await.expect(200);
    let host = format!("{}.schools.test", slug["slug"].as_str().unwrap());
    let client = browser.client().with("host", &host);
    client.get("/classes").await.refused(403, "SIGNED_ON_ELSEWHERE");
});

tenants!(session_does_not_change_a_shared_account, |app| {
    let (_school, browser) = shared(app).await;
    browser
        .post("/users/me/export", json!({}))
        .await
        .refused(403, "SIGNED_ON_ELSEWHERE");
    let client = browser.client();
    client
        .patch("/users/me", json!({"locale": "de"}))
        .await
        .refused(403, "SIGNED_ON_ELSEWHERE");
    browser
        .post("/auth/update-user", json!({"name": "Mallory"}))
        .await
        .refused(403, "SIGNED_ON_ELSEWHERE");
});

tenants!(session_of_an_account_of_the_school_alone_changes_it, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ada", &app.world.ada).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ada")).await.is_signed_in();
    browser
        .client()
        .patch("/users/me", json!({"locale": "de"}))
        .await
        .expect(200);
});

tenants!(session_sees_and_ends_no_sessions_of_a_password, |app| {
    let (_school, browser) = shared(app).await;
    let own = app.as_(&app.world.ada);
    let sessions = browser.get("/auth/list-sessions").await.expect(200);
    assert_eq!(sessions.as_array().unwrap().len(), 1, "{sessions}");
    let body = json!({"token": app.world.ada.token});
    browser.post("/auth/revoke-session", body).await.expect(200);
    browser.post("/auth/revoke-other-sessions", json!({})).await.expect(200);
    own.get("/classes").await.expect(200);
    browser.post("/auth/revoke-sessions", json!({})).await.expect(200);
    own.get("/classes").await.expect(200);
    browser.get("/classes").await.refused(401, "UNAUTHENTICATED");
});

tenants!(session_accepts_no_invitation_of_another_school, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ada", &app.world.ada).await;
    let verified = format!(
        "UPDATE users SET email_verified = TRUE WHERE id = '{}'",
        app.world.ada.id
    );
    execute(&app.database, verified).await;
    let body = json!({"name": "Ada", "email": app.world.ada.email, "role": "TEACHER"});
    app.as_(&app.world.zara).post("/users", body).await.expect(201);
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ada")).await.is_signed_in();
    browser
        .get("/auth/organization/list-user-invitations")
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    // Her password shows that it is she.
    let invitations = app
        .as_(&app.world.ada)
        .get("/auth/organization/list-user-invitations")
        .await
        .expect(200);
    assert_eq!(invitations.as_array().unwrap().len(), 1);
});

tenants!(successor_of_a_changed_password_stays_confined, |app| {
    let (_school, browser) = shared(app).await;
    test_support::accounts::enable(app, &app.world.ada).await;
    let body = json!({
        "currentPassword": test_support::accounts::PASSWORD, "newPassword": "Dreieck und Kreise 9", "revokeOtherSessions": true,
    });
    browser.post("/auth/change-password", body).await.expect(200);
    browser.get("/classes").await.refused(400, "NO_ACTIVE_ORGANIZATION");
    browser
        .set_active(json!({"organizationId": app.world.south}))
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
});

tenants!(second_factor_is_asked_and_the_session_stays_in_the_school, |app| {
    let (school, _browser) = shared(app).await;
    let ada = set_up(app, &app.world.ada).await;
    let browser = Browser::new(app);
    let page = school.sign_in(&browser, &person("ada")).await;
    assert_eq!((page.path.as_str(), page.error), ("/login", None));
    browser.get("/classes").await.refused(401, "UNAUTHENTICATED");
    enter(&browser, &ada.wrong_code()).await.refused(401, "INVALID_CODE");
    enter(&browser, &ada.code()).await.expect(200);
    browser.get("/classes").await.expect(200);
    let south = json!({"organizationId": app.world.south});
    browser
        .set_active(south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    // The provider ends it like every other session that it opened.
    let sessions = format!(
        "SELECT sign_on_subject FROM sessions WHERE user_id = '{}' AND token = '{}'",
        app.world.ada.id,
        browser.token()
    );
    assert_eq!(texts(&app.database, sessions).await, [Some("ada".to_owned())]);
});
