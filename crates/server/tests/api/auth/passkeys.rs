//! Passkeys: the wire format of better-auth, what they open, and who may add and remove them. Attacks are in
//! `passkey_attacks`.

use db::args;
use serde_json::{Value, json};

use super::{
    AGE_SIGN_IN, Browser, FACTOR_ENTRIES, FORGET_FAILURES, PASSWORD, SET_HOME, SET_ROLE, TEMPORARY, one, run, signed_in,
};
use crate::password_resets::mailed_token;
use test_support::browser::set_cookies;
use test_support::emails::{SentEmail, outbox};
use test_support::passkey::{
    SoftAuthenticator, add, add_in, register, register_options, sign_in_options, sign_in_with, verify,
};
use test_support::rows::execute;
use test_support::second_factor::{enter, recover, set_up, set_up_in};
use test_support::{DatabaseKind, TestApp, TestUser};

const CHALLENGE: &str = "better-auth.better-auth-passkey";
const QUARTER: i64 = 15 * 60 * 1000;

/// Counts the entries of an action in the log of the user's school.
fn logged(app: &TestApp, person: &TestUser, action: &str) -> i64 {
    one(app, &FACTOR_ENTRIES, args![app.world.north, person.id, action])
}

async fn list(browser: &Browser) -> Vec<Value> {
    let body = browser.get("/auth/passkey/list-user-passkeys").await.expect(200);
    body.as_array().unwrap().clone()
}

both!(passkey_is_added_listed_renamed_and_removed, |app| {
    let ada = &app.world.ada;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    let (browser, other) = (signed_in(app, ada).await, signed_in(app, ada).await);
    let path = "/auth/passkey/generate-register-options?authenticatorAttachment=platform&name=Ada%20L.";
    let answer = browser.get(path).await;
    let cookie = set_cookies(&answer).pop().unwrap();
    assert!(cookie.starts_with(&format!("{CHALLENGE}=registration~")), "{cookie}");
    assert!(
        cookie.ends_with("; Max-Age=300; Path=/; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    let options = answer.expect(200);
    assert_eq!(options["rp"], json!({"name": "groupwork", "id": "school.test"}));
    assert_eq!(options["user"]["name"], "Ada L.");
    assert_eq!(options["authenticatorSelection"]["authenticatorAttachment"], "platform");
    let algorithms: Vec<_> = options["pubKeyCredParams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["alg"].clone())
        .collect();
    assert_eq!(algorithms, [json!(-7), json!(-8), json!(-257)]);
    assert_eq!(
        (&options["attestation"], &options["excludeCredentials"]),
        (&json!("none"), &json!([]))
    );

    let mut authenticator = SoftAuthenticator::new();
    let added = register(&browser, authenticator.create(&options), " Laptop ")
        .await
        .expect(200);
    assert_eq!(
        (
            &added["name"],
            &added["userId"],
            &added["deviceType"],
            &added["transports"],
            &added["lastUsedAt"]
        ),
        (
            &json!("Laptop"),
            &json!(ada.id),
            &json!("singleDevice"),
            &json!("internal"),
            &Value::Null
        )
    );
    // Sessions that were opened without it end.
    other.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let session = browser.get("/auth/get-session").await.expect(200);
    assert_eq!(session["user"]["twoFactorEnabled"], true);
    let again = register_options(&browser).await;
    assert_eq!(again["excludeCredentials"][0]["id"], added["credentialID"]);
    assert_eq!(again["excludeCredentials"][0]["transports"], json!(["internal"]));

    let id = added["id"].clone();
    let name = json!({"id": id, "name": " Phone "});
    let renamed = browser.post("/auth/passkey/update-passkey", name).await.expect(200);
    assert_eq!(renamed["passkey"]["name"], "Phone");
    for (name, code) in [("", "VALIDATION_ERROR"), ("a\u{7}b", "VALIDATION_ERROR")] {
        let body = json!({"id": id, "name": name});
        browser
            .post("/auth/passkey/update-passkey", body)
            .await
            .refused(400, code);
    }
    let long = json!({"id": id, "name": "x".repeat(81)});
    browser
        .post("/auth/passkey/update-passkey", long)
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(list(&browser).await.len(), 1);

    let unknown = json!({"id": "unknown"});
    browser
        .post("/auth/passkey/delete-passkey", unknown)
        .await
        .refused(404, "PASSKEY_NOT_FOUND");
    let body = browser
        .post("/auth/passkey/delete-passkey", json!({"id": id}))
        .await
        .expect(200);
    assert_eq!(body, json!({"status": true}));
    assert!(list(&browser).await.is_empty());
    let session = browser.get("/auth/get-session").await.expect(200);
    assert_eq!(session["user"]["twoFactorEnabled"], false);
    assert_eq!(
        (logged(app, ada, "PASSKEY_ADDED"), logged(app, ada, "PASSKEY_REMOVED")),
        (1, 1)
    );
});

both!(user_is_notified_of_added_and_removed_passkeys, |app| {
    let (ada, ben) = (&app.world.ada, &app.world.ben);
    // Only addresses whose owner has confirmed them get emails.
    let confirm = format!("UPDATE users SET email_verified = (id = '{}')", ada.id);
    execute(&app.database, confirm).await;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    add(app, ben).await;
    let (browser, _) = add(app, ada).await;
    let added = outbox(app, 1).await.remove(0);
    assert_eq!(
        (added.to.as_str(), added.subject.as_str(), added.link().as_str()),
        (ada.email.as_str(), "A passkey was added to your account", "/me")
    );
    // Ada has chosen no language, so that of her school is used.
    let settings = json!({"metadata": {"locale": "de"}});
    app.as_(&app.world.adam)
        .patch("/admin/settings", settings)
        .await
        .expect(200);
    let passkey = list(&browser).await.remove(0);
    assert!(added.text.contains(passkey["name"].as_str().unwrap()), "{}", added.text);
    browser
        .post("/auth/passkey/delete-passkey", json!({"id": passkey["id"]}))
        .await
        .expect(200);
    let mails = outbox(app, 2).await;
    let removed = mails
        .iter()
        .find(|mail| mail.subject == "Ein Passkey Ihres Kontos wurde entfernt");
    assert_eq!(removed.unwrap().to, ada.email);
    assert_eq!(mails.len(), 2);
});

both!(passkey_alone_opens_a_session_and_is_logged, |app| {
    let ada = &app.world.ada;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    let (first, mut authenticator) = add(app, ada).await;
    let browser = Browser::new(app);
    let options = sign_in_options(&browser).await;
    assert_eq!(
        (&options["rpId"], &options["userVerification"]),
        (&json!("school.test"), &json!("required"))
    );
    assert!(
        options.get("allowCredentials").is_none(),
        "no account is named: {options}"
    );
    authenticator.counter = 7;
    let body = verify(&browser, authenticator.get(&options)).await.expect(200);
    assert_eq!(
        (&body["user"]["id"], &body["session"]["userId"]),
        (&json!(ada.id), &json!(ada.id))
    );
    assert_eq!(body["session"]["token"], json!(browser.token()));
    assert!(browser.cookie(CHALLENGE).is_none());
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    browser.get("/users/me").await.expect(200);
    let known = &list(&browser).await[0];
    assert_eq!(known["counter"], 7);
    assert!(known["lastUsedAt"].is_string(), "{known}");
    assert_eq!(logged(app, ada, "LOGGED_IN"), 1);
    // The session in which it was added continues.
    first.get("/auth/get-session").await.expect(200)["user"]["id"]
        .as_str()
        .unwrap();
});

both!(password_then_asks_for_the_passkey, |app| {
    let ada = &app.world.ada;
    let (_, authenticator) = add(app, ada).await;
    let browser = Browser::new(app);
    let body = browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_eq!(
        body,
        json!({"twoFactorRedirect": true, "twoFactorMethods": ["passkey"]})
    );
    assert_eq!(browser.get("/auth/get-session").await.expect(200), Value::Null);
    enter(&browser, "000000").await.refused(400, "TOTP_NOT_ENABLED");
    let options = sign_in_options(&browser).await;
    assert_eq!(options["userVerification"], "preferred");
    assert_eq!(options["allowCredentials"].as_array().unwrap().len(), 1);
    // A security key without a PIN is sufficient after the password.
    let mut key = authenticator;
    key.flags = test_support::passkey::PRESENT;
    verify(&browser, key.get(&options)).await.expect(200);
    assert!(browser.cookie("better-auth.two_factor").is_none());
    // A new sign-in can ignore the waiting one.
    let shared = Browser::new(app);
    shared.sign_in(&ada.email, PASSWORD).await.expect(200);
    let options = shared
        .get("/auth/passkey/generate-authenticate-options?signIn=true")
        .await
        .expect(200);
    assert_eq!(
        (&options["userVerification"], options.get("allowCredentials")),
        (&json!("required"), None)
    );
});

both!(app_and_passkey_are_offered_together, |app| {
    let user = set_up(app, &app.world.ada).await;
    let mut authenticator = SoftAuthenticator::new();
    add_in(&user.browser, &mut authenticator).await;
    let browser = Browser::new(app);
    let body = browser.sign_in(&user.email, PASSWORD).await.expect(200);
    assert_eq!(body["twoFactorMethods"], json!(["totp", "passkey"]));
    enter(&browser, &user.code()).await.expect(200);
    // Without the app the passkey is still required.
    let password = json!({"password": PASSWORD});
    user.browser
        .post("/auth/two-factor/disable", password)
        .await
        .expect(200);
    let session = user.browser.get("/auth/get-session").await.expect(200);
    assert_eq!(session["user"]["twoFactorEnabled"], true);
    let body = Browser::new(app).sign_in(&user.email, PASSWORD).await.expect(200);
    assert_eq!(body["twoFactorMethods"], json!(["passkey"]));
});

both!(recovery_codes_replace_a_passkey, |app| {
    let ada = &app.world.ada;
    let (browser, _) = add(app, ada).await;
    let password = json!({"password": PASSWORD});
    let made = browser
        .post("/auth/two-factor/generate-backup-codes", password)
        .await
        .expect(200);
    let code = made["backupCodes"][0].as_str().unwrap().to_owned();
    let waiting = Browser::new(app);
    waiting.sign_in(&ada.email, PASSWORD).await.expect(200);
    recover(&waiting, "aaaa-bbbb-cccc")
        .await
        .refused(401, "INVALID_BACKUP_CODE");
    recover(&waiting, &code).await.expect(200);
    let body = waiting.get("/auth/get-session").await.expect(200);
    assert_eq!(body["user"]["id"], json!(ada.id));
    // With the last passkey they end.
    let id = list(&browser).await[0]["id"].clone();
    browser
        .post("/auth/passkey/delete-passkey", json!({"id": id}))
        .await
        .expect(200);
    Browser::new(app).sign_in(&ada.email, PASSWORD).await.expect(200)["token"]
        .as_str()
        .unwrap();
    recover(&browser, made["backupCodes"][1].as_str().unwrap())
        .await
        .refused(400, "BACKUP_CODES_NOT_ENABLED");
});

both!(unconfirmed_app_completes_no_sign_in, |app| {
    let ada = &app.world.ada;
    let (browser, authenticator) = add(app, ada).await;
    let made = browser
        .post("/auth/two-factor/enable", json!({"password": PASSWORD}))
        .await
        .expect(200);
    let secret = test_support::second_factor::secret_of(&made);
    let code = secret.code(test_support::second_factor::present_step());
    let waiting = Browser::new(app);
    waiting.sign_in(&ada.email, PASSWORD).await.expect(200);
    enter(&waiting, &code).await.refused(400, "TOTP_NOT_ENABLED");
    sign_in_with(&waiting, &authenticator).await.expect(200);
    // A recovery code does not confirm it.
    let recovery = made["backupCodes"][0].as_str().unwrap();
    recover(&browser, recovery).await.expect(200);
    let body = Browser::new(app).sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_eq!(body["twoFactorMethods"], json!(["passkey"]));
});

both!(session_adds_and_removes_passkeys_shortly_after_password_only, |app| {
    let ada = &app.world.ada;
    let (browser, _) = add(app, ada).await;
    let options = register_options(&browser).await;
    run(app, &AGE_SIGN_IN, args![browser.token(), QUARTER]);
    browser
        .get("/auth/passkey/generate-register-options")
        .await
        .refused(403, "SESSION_NOT_FRESH");
    let response = SoftAuthenticator::new().create(&options);
    register(&browser, response.clone(), "Phone")
        .await
        .refused(403, "SESSION_NOT_FRESH");
    let id = json!({"id": list(&browser).await[0]["id"]});
    browser
        .post("/auth/passkey/delete-passkey", id.clone())
        .await
        .refused(403, "SESSION_NOT_FRESH");
    let wrong = json!({"password": "another password"});
    browser
        .post("/auth/verify-password", wrong)
        .await
        .refused(400, "INVALID_PASSWORD");
    register(&browser, response.clone(), "Phone")
        .await
        .refused(403, "SESSION_NOT_FRESH");
    let password = json!({"password": PASSWORD});
    browser.post("/auth/verify-password", password).await.expect(200);
    register(&browser, response, "Phone").await.expect(200);
    browser.post("/auth/passkey/delete-passkey", id).await.expect(200);
});

both!(account_has_at_most_twenty_passkeys, |app| {
    let browser = signed_in(app, &app.world.ben).await;
    for _ in 0..20 {
        add_in(&browser, &mut SoftAuthenticator::new()).await;
    }
    let options = register_options(&browser).await;
    register(&browser, SoftAuthenticator::new().create(&options), "one more")
        .await
        .refused(409, "LIMIT_REACHED");
    assert_eq!(list(&browser).await.len(), 20);
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passkey_satisfies_the_requirement_and_the_last_one_cannot_be_removed() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(app) = TestApp::start_with(kind, &["--require-second-factor=staff"]).await else {
            continue;
        };
        let browser = signed_in(&app, &app.world.ada).await;
        let north = json!({"organizationId": app.world.north});
        browser.set_active(north.clone()).await.expect(200);
        browser.get("/users/me").await.refused(403, "SECOND_FACTOR_REQUIRED");
        let mut authenticator = SoftAuthenticator::new();
        let added = add_in(&browser, &mut authenticator).await;
        browser.get("/users/me").await.expect(200);
        let id = json!({"id": added["id"]});
        browser
            .post("/auth/passkey/delete-passkey", id.clone())
            .await
            .refused(403, "SECOND_FACTOR_REQUIRED");
        let alone = Browser::new(&app);
        sign_in_with(&alone, &authenticator).await.expect(200);
        alone.set_active(north).await.expect(200);
        alone.get("/users/me").await.expect(200);
        // With another factor it can be removed.
        add_in(&browser, &mut SoftAuthenticator::new()).await;
        browser.post("/auth/passkey/delete-passkey", id).await.expect(200);
        browser.get("/users/me").await.expect(200);
        app.close().await;
    }
}

both!(administrator_of_the_home_removes_passkeys_and_the_user_is_told, |app| {
    let world = &app.world;
    execute(&app.database, "UPDATE users SET email_verified = TRUE".to_owned()).await;
    run(app, &SET_HOME, args![world.ada.id, world.north]);
    let (browser, authenticator) = add(app, &world.ada).await;
    let path = format!("/users/{}/reset-second-factor", world.ada.id);
    app.as_(&world.zara)
        .post(&path, json!({}))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.ben)
        .post(&path, json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
    app.as_(&world.adam).post(&path, json!({})).await.expect(200);
    browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    sign_in_with(&Browser::new(app), &authenticator)
        .await
        .refused(401, "PASSKEY_NOT_FOUND");
    let mails = outbox(app, 2).await;
    let received =
        |mail: &SentEmail| mail.to == world.ada.email && mail.subject.ends_with("removed your second factor");
    assert_eq!(mails.iter().filter(|mail| received(mail)).count(), 1);
    assert_eq!(logged(app, &world.ada, "FACTOR_RESET"), 1);
    Browser::new(app).sign_in(&world.ada.email, PASSWORD).await.expect(200)["token"]
        .as_str()
        .unwrap();
});

both!(passkey_of_a_provisional_account_may_choose_the_password, |app| {
    let (_, authenticator) = add(app, &app.world.ben).await;
    run(app, &TEMPORARY, args![app.world.ben.id, 1]);
    // The temporary password has expired; the passkey has not.
    let browser = Browser::new(app);
    sign_in_with(&browser, &authenticator).await.expect(200);
    let body = json!({"newPassword": "Dreieck und Kreis"});
    browser.post("/auth/new-password", body).await.expect(200);
});

both!(
    passkey_that_an_administrator_could_have_added_ends_with_the_password,
    |app| {
        let ada = &app.world.ada;
        execute(
            &app.database,
            format!(
                "UPDATE users SET password_organization_id = '{0}', home_organization_id = '{0}' WHERE id = '{1}'",
                app.world.north, ada.id
            ),
        )
        .await;
        let (_, authenticator) = add(app, ada).await;
        sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
        // The user chooses the password with a link in an email.
        let token = mailed_token(app, &ada.email).await;
        let chosen = json!({"newPassword": "Dreieck und Kreis", "token": token});
        Browser::new(app).post("/auth/reset-password", chosen).await.expect(200);
        sign_in_with(&Browser::new(app), &authenticator)
            .await
            .refused(403, "PASSKEY_NOT_SUFFICIENT");
        // It is still a second factor: the mailbox alone opens nothing.
        let browser = Browser::new(app);
        let body = browser.sign_in(&ada.email, "Dreieck und Kreis").await.expect(200);
        assert_eq!(body["twoFactorMethods"], json!(["passkey"]));
        sign_in_with(&browser, &authenticator).await.expect(200);
    }
);

both!(school_without_passwords_rejects_passkeys_alone, |app| {
    let world = &app.world;
    run(app, &SET_HOME, args![world.ada.id, world.north]);
    let (_, authenticator) = add(app, &world.ada).await;
    let provider = json!({
        "name": "School", "preset": "OTHER", "issuer": "https://id.school.example",
        "clientId": "groupwork", "clientSecret": "secret",
    });
    app.as_(&world.olga).post("/admin/sign-on", provider).await.expect(201);
    let body = json!({"metadata": {"features": {"passwordsForOwnersOnly": true}}});
    app.as_(&world.olga).patch("/admin/settings", body).await.expect(200);
    sign_in_with(&Browser::new(app), &authenticator)
        .await
        .refused(403, "PASSWORDS_OFF");
    // Owners can always sign in.
    run(app, &SET_ROLE, args![world.ada.id, "owner"]);
    sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
});

both!(super_admin_cannot_add_passkeys_for_others, |app| {
    let root = set_up_in(app, signed_in(app, &app.world.root).await, &app.world.root.email).await;
    let act = json!({"userId": app.world.ada.id});
    root.browser.post("/auth/admin/impersonate-user", act).await.expect(200);
    root.browser
        .get("/auth/passkey/generate-register-options")
        .await
        .refused(401, "YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY");
    run(app, &FORGET_FAILURES, args![]);
});
