//! An address whose account another organization made is invited, and nobody but the reader of its mailbox joins: not the
//! administrator who registered the address first, by whatever way it is added.

use serde_json::{Value, json};

use crate::auth::{PASSWORD, enable};
use crate::support::letters::{Letter, outbox};
use crate::support::rows::texts;
use crate::support::{Client, Person, TestApp};

const HEAD: &str = "head@north.example";
/// What the administrator of South chose for the account of North's head.
const PLANTED: &str = "Zirkel und Winkel";
/// What the head chooses.
const CHOSEN: &str = "Tinte auf Papier";

fn person(email: &str, role: &str) -> Value {
    json!({"name": "Hanna Head", "email": email, "role": role})
}

/// South's administrator makes an account with the address of North's head, and a password of the administrator's choice.
async fn plant(app: &TestApp) -> Client {
    let mut body = person(HEAD, "TEACHER");
    body["password"] = json!(PLANTED);
    app.as_(&app.world.zara).post("/users", body).await.expect(201);
    sign_in(app, HEAD, PLANTED).await
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Client {
    let body = json!({"email": email, "password": password});
    let answer = app.stranger().post("/auth/sign-in/email", body).await;
    let cookie = answer
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap_or_default()
        .to_owned();
    answer.expect(200);
    Client::new(&app.base, Some(cookie))
}

async fn set_active(client: &Client, organization: &str) -> crate::support::Answer {
    let body = json!({"organizationId": organization});
    client.post("/auth/organization/set-active", body).await
}

fn token(letter: &Letter) -> String {
    let link = letter.link();
    link.strip_prefix("/accept-invitation#token=")
        .unwrap_or_else(|| panic!("{link}"))
        .to_owned()
}

/// The token of the newest invitation among so many letters.
async fn mailed_token(app: &TestApp, letters: usize) -> String {
    token(outbox(app, letters).await.last().unwrap())
}

async fn members(app: &TestApp, organization: &str, email: &str) -> usize {
    let sought = format!(
        "SELECT m.id FROM members m JOIN users u ON u.id = m.user_id
         WHERE m.organization_id = '{organization}' AND u.email = '{email}'"
    );
    texts(&app.database, sought).await.len()
}

/// What South's administrator can try with the account that South made.
async fn gains_nothing(app: &TestApp, planted: &Client, organization: &str, invitation: &str) {
    set_active(planted, organization)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    planted
        .get("/auth/organization/list-user-invitations")
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    planted
        .get(&format!("/auth/organization/get-invitation?id={invitation}"))
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    for action in ["accept", "reject"] {
        planted
            .post(
                &format!("/auth/organization/{action}-invitation"),
                json!({"invitationId": invitation}),
            )
            .await
            .refused(
                403,
                "EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION",
            );
    }
    assert_eq!(members(app, organization, HEAD).await, 0);
}

/// The head reads the mailbox, accepts and chooses a password: from now on the planted one is worth nothing.
async fn head_accepts(app: &TestApp, planted: &Client, organization: &str, token: &str) -> Client {
    let stranger = app.stranger();
    for _ in 0..2 {
        let shown = stranger
            .post("/invitations/preview", json!({"token": token}))
            .await
            .expect(200);
        assert_eq!((&shown["email"], &shown["needsPassword"]), (&json!(HEAD), &json!(true)));
        assert!(
            shown["organizationName"].is_string() && shown["host"].is_string(),
            "{shown}"
        );
    }
    stranger
        .post("/invitations/accept", json!({"token": token}))
        .await
        .invalid("password");
    let body = json!({"token": token, "password": CHOSEN});
    let accepted = stranger.post("/invitations/accept", body.clone()).await.expect(200);
    assert_eq!(accepted["invitation"]["status"], "accepted");
    assert!(!accepted.to_string().contains(token), "{accepted}");
    stranger
        .post("/invitations/accept", body)
        .await
        .refused(404, "NOT_FOUND");

    planted.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let old = json!({"email": HEAD, "password": PLANTED});
    app.stranger()
        .post("/auth/sign-in/email", old)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    let head = sign_in(app, HEAD, CHOSEN).await;
    set_active(&head, organization).await.expect(200);
    let me = head.get("/users/me").await.expect(200);
    assert_eq!(me["emailVerified"], true);
    let organizations = head.get("/auth/organization/list").await.expect(200);
    assert_eq!(organizations.as_array().map(Vec::len), Some(1), "{organizations}");
    assert_eq!(members(app, &app.world.south, HEAD).await, 0);
    head
}

both!(account_registered_first_by_another_organization_gains_nothing, |app| {
    let (world, olga, zara) = (&app.world, app.as_(&app.world.olga), app.as_(&app.world.zara));
    let planted = plant(app).await;
    let made = olga
        .post("/users", person(&HEAD.to_uppercase(), "ADMIN"))
        .await
        .expect(201);
    let mut keys: Vec<_> = made.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["email", "invitation", "role"]);
    assert_eq!((&made["email"], &made["role"]), (&json!(HEAD), &json!("ADMIN")));
    let id = made["invitation"]["id"].as_str().unwrap().to_owned();
    gains_nothing(app, &planted, &world.north, &id).await;
    let token = mailed_token(app, 1).await;
    let head = head_accepts(app, &planted, &world.north, &token).await;
    head.get("/admin/stats").await.expect(200);

    // What South had is an invitation now, and South has no hold of the account any more.
    let user = head.get("/users/me").await.expect(200)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/users/{user}");
    zara.patch(&path, json!({"email": "mine@south.example"}))
        .await
        .refused(404, "NOT_FOUND");
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    zara.delete(&path).await.refused(404, "NOT_FOUND");
    zara.post("/admin/gdpr/erase", json!({"userId": user}))
        .await
        .refused(403, "SHARED_ACCOUNT");
    let own = head.get("/auth/organization/list-user-invitations").await.expect(200);
    assert_eq!(
        (&own[0]["organizationId"], &own[0]["role"]),
        (&json!(world.south), &json!("teacher"))
    );
    assert_eq!(own.as_array().map(Vec::len), Some(1));
});

both!(import_invites_an_address_of_another_organization, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let planted = plant(app).await;
    let rows = json!({"users": [
        {"email": HEAD, "firstName": "Hanna", "lastName": "Head", "role": "teacher", "externalId": "T-1",
            "classes": [world.seven_b.id]},
        {"email": "new@north.example", "firstName": "New", "role": "student"},
    ]});
    for path in ["/users/import?dryRun=1", "/users/import", "/users/import"] {
        let report = adam.post(path, rows.clone()).await.expect(200);
        assert_eq!(
            (&report["invited"], &report["failed"]),
            (&json!(1), &json!(0)),
            "{report}"
        );
        assert_eq!(report["rows"][0]["status"], "invited");
        assert!(report["rows"][0].get("userId").is_none(), "{report}");
        assert_eq!(members(app, &world.north, HEAD).await, 0);
    }
    let pending = adam.get("/admin/invitations").await.expect(200);
    assert_eq!(pending["data"].as_array().map(Vec::len), Some(1), "{pending}");
    let id = pending["data"][0]["id"].as_str().unwrap().to_owned();
    gains_nothing(app, &planted, &world.north, &id).await;
    // The second import wrote to nobody again.
    let token = mailed_token(app, 1).await;
    let head = head_accepts(app, &planted, &world.north, &token).await;
    let class = head.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
    assert_eq!(class["coTeachers"][0]["name"], "Hanna Head", "{class}");
});

both!(founded_organization_waits_for_the_acceptance_of_its_owner, |app| {
    let root = app.as_(&app.world.root);
    let planted = plant(app).await;
    let new = json!({"name": "West School", "slug": "west", "ownerEmail": HEAD, "ownerName": "Hanna Head"});
    let founded = root.post("/tenants", new).await.expect(201);
    assert!(
        founded.get("owner").is_none() && founded.get("temporaryPassword").is_none(),
        "{founded}"
    );
    let west = founded["tenant"]["id"].as_str().unwrap().to_owned();
    let id = founded["invitation"]["id"].as_str().unwrap().to_owned();
    gains_nothing(app, &planted, &west, &id).await;
    let waiting = root
        .get(&format!("/admin/invitations?organizationId={west}"))
        .await
        .expect(200);
    assert_eq!(waiting["data"][0]["role"], "owner", "{waiting}");
    let token = mailed_token(app, 1).await;
    head_accepts(app, &planted, &west, &token).await;
    let members = root.get(&format!("/tenants/{west}/members")).await.expect(200);
    assert_eq!(members["data"][0]["role"], "owner", "{members}");
});

both!(platform_administrator_confirms_where_there_is_no_email, |app| {
    let (world, root) = (&app.world, app.as_(&app.world.root));
    let planted = plant(app).await;
    let new = json!({"name": "West School", "slug": "west", "ownerEmail": HEAD, "ownerName": "Hanna Head"});
    let founded = root.post("/tenants", new).await.expect(201);
    let west = founded["tenant"]["id"].as_str().unwrap().to_owned();
    let id = founded["invitation"]["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/invitations/{id}/confirm");
    app.as_(&world.zara)
        .post(&path, json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let confirmed = root.post(&path, json!({})).await.expect(200);
    let temporary = confirmed["temporaryPassword"].as_str().unwrap().to_owned();
    root.post(&path, json!({})).await.refused(404, "NOT_FOUND");
    planted.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(members(app, &world.south, HEAD).await, 0);
    let head = sign_in(app, HEAD, &temporary).await;
    set_active(&head, &west).await.expect(200);
    let me = head.get("/users/me").await.expect(200);
    assert_eq!(
        (&me["emailVerified"], &me["mustChangePassword"]),
        (&json!(false), &json!(true))
    );
    let log = root
        .get(&format!("/activity-logs?organizationId={west}"))
        .await
        .expect(200)
        .to_string();
    assert!(
        log.contains("\"acceptedBy\":\"platform\"") && log.contains("Root Admin"),
        "{log}"
    );
});

/// Ben of North is invited to South.
async fn invite_ben(app: &TestApp) -> String {
    let made = app
        .as_(&app.world.zara)
        .post("/users", person(&app.world.ben.email, "STUDENT"))
        .await;
    made.expect(201)["invitation"]["id"].as_str().unwrap().to_owned()
}

/// Ben proves the mailbox by a mailed reset and signs in.
async fn proven(app: &TestApp, person: &Person, letters: usize) -> Client {
    let body = json!({"email": person.email});
    app.stranger()
        .post("/auth/request-password-reset", body)
        .await
        .expect(200);
    let link = outbox(app, letters).await.last().unwrap().link();
    let token = link
        .split(['/', '?', '=', '#'])
        .find(|part| part.len() == 24)
        .unwrap()
        .to_owned();
    let body = json!({"newPassword": CHOSEN, "token": token});
    app.stranger().post("/auth/reset-password", body).await.expect(200);
    sign_in(app, &person.email, CHOSEN).await
}

both!(inviting_takes_nothing_away_from_the_home_of_an_account, |app| {
    let (world, adam, zara) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    invite_ben(app).await;
    let path = format!("/users/{}", world.ben.id);
    zara.get(&path).await.refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"name": "Ben North"})).await.expect(200);
    adam.post(&format!("{path}/reset-password"), json!({}))
        .await
        .expect(200);
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    let body = json!({"email": world.ben.email, "password": PASSWORD});
    app.stranger()
        .post("/auth/sign-in/email", body)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    adam.patch(&path, json!({"isActive": true})).await.expect(200);
    adam.post("/admin/gdpr/erase", json!({"userId": world.ben.id}))
        .await
        .expect(200);
    // With the person goes the invitation of the address.
    assert_eq!(zara.get("/admin/invitations").await.expect(200)["data"], json!([]));
});

both!(power_of_an_administrator_ends_at_the_own_organization, |app| {
    let (world, adam, zara) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    let ben = proven(app, &world.ben, 1).await;
    let id = invite_ben(app).await;
    let accept = json!({"invitationId": id});
    let accepted = ben
        .post("/auth/organization/accept-invitation", accept.clone())
        .await
        .expect(200);
    assert_eq!(accepted["member"]["role"], "student", "{accepted}");
    ben.post("/auth/organization/accept-invitation", accept)
        .await
        .refused(400, "INVITATION_NOT_FOUND");
    assert_eq!(members(app, &world.north, &world.ben.email).await, 1);
    ben.get("/subjects").await.expect(200);

    let path = format!("/users/{}", world.ben.id);
    for client in [&adam, &zara] {
        for change in [json!({"name": "Mine"}), json!({"email": "mine@south.example"})] {
            client.patch(&path, change).await.refused(403, "SHARED_ACCOUNT");
        }
        client
            .post("/admin/gdpr/erase", json!({"userId": world.ben.id}))
            .await
            .refused(403, "SHARED_ACCOUNT");
        client
            .post("/admin/gdpr/export", json!({"userId": world.ben.id}))
            .await
            .expect(202);
    }
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(403, "SHARED_ACCOUNT");

    // Deactivation shuts one organization and leaves the other alone.
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    assert_eq!(adam.get(&path).await.expect(200)["isActive"], false);
    ben.get("/subjects").await.expect(200);
    set_active(&ben, &world.north)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    adam.patch(&path, json!({"isActive": true})).await.expect(200);
    set_active(&ben, &world.north).await.expect(200);

    // The home resets the password; it opens North and no other organization until the mailbox confirms.
    let reset = adam
        .post(&format!("{path}/reset-password"), json!({}))
        .await
        .expect(200);
    let temporary = reset["temporaryPassword"].as_str().unwrap();
    let known = sign_in(app, &world.ben.email, temporary).await;
    set_active(&known, &world.south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    let by_host = known.with("Host", "south.schools.test");
    by_host.get("/subjects").await.refused(403, "PASSWORD_NOT_CONFIRMED");
    let organizations = known.get("/auth/organization/list").await.expect(200);
    assert_eq!(organizations.as_array().map(Vec::len), Some(1), "{organizations}");
    known
        .post("/users/me/export", json!({}))
        .await
        .refused(403, "PASSWORD_NOT_CONFIRMED");
    known
        .post(
            "/users/me/email",
            json!({"newEmail": "mine@north.example", "password": temporary}),
        )
        .await
        .refused(403, "SHARED_ACCOUNT");
    known
        .get("/auth/organization/list-user-invitations")
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    set_active(&known, &world.north).await.expect(200);
    let change = json!({"currentPassword": temporary, "newPassword": "Kreide an der Tafel"});
    known.post("/auth/change-password", change).await.expect(200);
    set_active(&known, &world.south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    let confirmed = proven(app, &world.ben, 3).await;
    set_active(&confirmed, &world.south).await.expect(200);

    // Removal acts on the membership.
    zara.delete(&path).await.expect(200);
    adam.patch(&path, json!({"name": "Ben North"})).await.expect(200);
});

both!(
    accepting_by_token_on_an_unproven_account_turns_memberships_into_invitations,
    |app| {
        let (world, adam) = (&app.world, app.as_(&app.world.adam));
        enable(app, &world.ben).await;
        invite_ben(app).await;
        let token = mailed_token(app, 1).await;
        let body = json!({"token": token, "password": CHOSEN});
        app.stranger().post("/invitations/accept", body).await.expect(200);
        app.as_(&world.ben)
            .get("/users/me")
            .await
            .refused(401, "UNAUTHENTICATED");
        let ben = sign_in(app, &world.ben.email, CHOSEN).await;
        let own = ben.get("/auth/organization/list-user-invitations").await.expect(200);
        assert_eq!(
            (&own[0]["organizationName"], &own[0]["role"]),
            (&json!("North School"), &json!("student"))
        );
        let accept = json!({"invitationId": own[0]["id"]});
        ben.post("/auth/organization/accept-invitation", accept)
            .await
            .expect(200);
        let class = ben.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
        assert_eq!(class["name"], "7b");
        // North is the home again, with another accepted membership beside it.
        let path = format!("/users/{}", world.ben.id);
        adam.patch(&path, json!({"name": "Mine"}))
            .await
            .refused(403, "SHARED_ACCOUNT");
        adam.post(&format!("{path}/reset-password"), json!({}))
            .await
            .expect(200);
    }
);

both!(mailed_token_is_void_after_cancel_resend_expiry_and_use, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    let stranger = app.stranger();
    let dead = async |token: &str| {
        let body = json!({"token": token, "password": CHOSEN});
        stranger
            .post("/invitations/preview", json!({"token": token}))
            .await
            .refused(404, "NOT_FOUND");
        stranger
            .post("/invitations/accept", body)
            .await
            .refused(404, "NOT_FOUND");
    };
    dead("nothing").await;
    dead("").await;
    let id = invite_ben(app).await;
    let first = mailed_token(app, 1).await;
    // Neither the database nor the log knows the token.
    let digest = texts(
        &app.database,
        format!("SELECT token_digest FROM invitations WHERE id = '{id}'"),
    )
    .await;
    assert!(
        digest[0]
            .as_ref()
            .is_some_and(|digest| digest.len() == 64 && !digest.contains(&first))
    );
    assert!(
        !zara
            .get("/activity-logs")
            .await
            .expect(200)
            .to_string()
            .contains(&first)
    );

    let resend = format!("/admin/invitations/{id}/resend");
    let refused = zara.post(&resend, json!({})).await;
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 200);
    refused.refused(429, "RATE_LIMITED");
    execute(app, &format!("UPDATE invitations SET sent_at = 1 WHERE id = '{id}'")).await;
    zara.post(&resend, json!({})).await.expect(200);
    let second = mailed_token(app, 2).await;
    dead(&first).await;

    execute(app, &format!("UPDATE invitations SET expires_at = 1 WHERE id = '{id}'")).await;
    dead(&second).await;
    execute(app, &format!("UPDATE invitations SET sent_at = 1 WHERE id = '{id}'")).await;
    zara.post(&resend, json!({})).await.expect(200);
    let third = mailed_token(app, 3).await;
    stranger
        .post("/invitations/preview", json!({"token": third}))
        .await
        .expect(200);

    let cancel = json!({"invitationId": id});
    app.as_(&world.adam)
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .refused(400, "MEMBER_NOT_FOUND");
    app.as_(&world.zoe)
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION");
    let canceled = zara
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .expect(200);
    assert_eq!(canceled["status"], "canceled");
    zara.post("/auth/organization/cancel-invitation", cancel)
        .await
        .refused(400, "INVITATION_NOT_FOUND");
    dead(&third).await;
    // Inviting again at once would flood the mailbox.
    zara.post("/users", person(&world.ben.email, "STUDENT"))
        .await
        .refused(429, "RATE_LIMITED");
    assert_eq!(members(app, &world.south, &world.ben.email).await, 0);
});

async fn execute(app: &TestApp, statement: &str) {
    let database = app.database.clone();
    crate::support::rows::execute(&database, statement.to_owned()).await;
}

both!(invitation_is_accepted_once_however_many_ask, |app| {
    let world = &app.world;
    invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let body = json!({"token": token, "password": CHOSEN});
    let stranger = app.stranger();
    let (one, two, three) = tokio::join!(
        stranger.post("/invitations/accept", body.clone()),
        stranger.post("/invitations/accept", body.clone()),
        stranger.post("/invitations/accept", body.clone()),
    );
    let mut statuses = [one.status, two.status, three.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404, 404]);
    assert_eq!(members(app, &world.south, &world.ben.email).await, 1);
});

both!(cancel_and_accept_at_once_leave_one_outcome, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    let id = invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let (stranger, body) = (app.stranger(), json!({"token": token, "password": CHOSEN}));
    let (accepted, canceled) = tokio::join!(
        stranger.post("/invitations/accept", body),
        zara.post("/auth/organization/cancel-invitation", json!({"invitationId": id})),
    );
    assert_eq!(
        usize::from(accepted.status == 200) + usize::from(canceled.status == 200),
        1,
        "{} {}",
        accepted.status,
        canceled.status
    );
    let joined = members(app, &world.south, &world.ben.email).await;
    assert_eq!(joined, usize::from(accepted.status == 200));
});

both!(address_without_a_mailbox_cannot_be_invited, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    let pupil = person("pupil@north.invalid", "STUDENT");
    adam.post("/users", pupil.clone()).await.expect(201);
    zara.post("/users", pupil).await.refused(409, "NO_MAILBOX");
    let rows = json!({"users": [{"email": "pupil@north.invalid", "firstName": "Pupil", "role": "student"}]});
    let report = zara.post("/users/import", rows).await.expect(200);
    assert_eq!(report["rows"][0]["errors"][0]["code"], "NO_MAILBOX", "{report}");
});

both!(rejected_invitation_leaves_no_membership, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    let ben = proven(app, &world.ben, 1).await;
    let id = invite_ben(app).await;
    let shown = ben
        .get(&format!("/auth/organization/get-invitation?id={id}"))
        .await
        .expect(200);
    assert_eq!(
        (&shown["organizationSlug"], &shown["inviterEmail"]),
        (&json!("south"), &json!(world.zara.email))
    );
    let cem = app.as_(&world.cem);
    cem.post("/auth/organization/accept-invitation", json!({"invitationId": id}))
        .await
        .refused(403, "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION");
    let rejected = ben
        .post("/auth/organization/reject-invitation", json!({"invitationId": id}))
        .await
        .expect(200);
    assert_eq!(
        (&rejected["invitation"]["status"], &rejected["member"]),
        (&json!("rejected"), &Value::Null)
    );
    let listed = zara.get("/auth/organization/list-invitations").await.expect(200);
    assert_eq!(listed[0]["status"], "rejected", "{listed}");
    assert_eq!(members(app, &world.south, &world.ben.email).await, 0);
});
