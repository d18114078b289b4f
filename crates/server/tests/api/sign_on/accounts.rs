//! Which account an identity opens: linked by hand, by the id of the school's administration system, by a verified
//! address, or created.

use serde_json::{Value, json};

use super::{SchoolSignOn, add, assert_signed_in, assert_signed_out, person, verified_domain};
use test_support::fake_openid_provider::FakeOpenIdProvider;
use test_support::passkey;
use test_support::rows::{execute, texts};
use test_support::second_factor::{enter, set_up};
use test_support::{Browser, TestApp, TestUser};

/// Gives a user an address of a domain that North holds.
pub(super) async fn with_address(app: &TestApp, user: &TestUser) -> (String, String) {
    let domain = verified_domain(app, &app.world.north).await;
    let email = format!("someone@{domain}");
    execute(
        &app.database,
        format!("UPDATE users SET email = '{email}' WHERE id = '{}'", user.id),
    )
    .await;
    (domain, email)
}

fn mail(subject: &str, email: &str, is_verified: Value) -> Value {
    json!({"sub": subject, "name": "Kim Kidd", "email": email, "email_verified": is_verified})
}

async fn refused(app: &TestApp, school: &SchoolSignOn, person: &Value, error: &str) {
    let browser = Browser::new(app);
    school.sign_in(&browser, person).await.is_refused(error, "");
    assert_signed_out(&browser).await;
}

tenants!(address_alone_never_links, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let (_, email) = with_address(app, &app.world.ben).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_not_linked").await;
    let by_id = json!({"linking": "EXTERNAL_ID", "externalIdClaim": "person_id"});
    let school = SchoolSignOn::start(app, by_id).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_not_linked").await;
});

tenants!(verified_address_of_held_domain_links_once, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.ben).await;
    let browser = Browser::new(app);
    let ben = mail("ben", &email.to_uppercase(), json!(true));
    school.sign_in(&browser, &ben).await.is_signed_in();
    assert_signed_in(app, &browser, &app.world.ben).await;
    // From then on the subject counts, not the address.
    let browser = Browser::new(app);
    school
        .sign_in(&browser, &mail("ben", "other@evil.example", json!(false)))
        .await
        .is_signed_in();
    assert_signed_in(app, &browser, &app.world.ben).await;
    // A person who was deleted at the provider and made again is another identity.
    let again = mail("ben-again", &email, json!(true));
    refused(app, &school, &again, "account_linked_to_another_identity").await;
    // An administrator unlinks the former one.
    let adam = app.as_(&app.world.adam);
    let path = format!("/admin/sign-on/{}/identities", school.id);
    let identities = adam.get(&path).await.expect(200);
    assert_eq!(identities["data"][0]["linkedBy"], "VERIFIED_DOMAIN");
    let identity = identities["data"][0]["id"].as_str().unwrap();
    adam.delete(&format!("{path}/{identity}")).await.expect(200);
    browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let browser = Browser::new(app);
    school.sign_in(&browser, &again).await.is_signed_in();
});

tenants!(unverified_address_does_not_link, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.ben).await;
    for unverified in [json!(false), json!("true"), json!(1), Value::Null] {
        refused(app, &school, &mail("x", &email, unverified), "account_not_linked").await;
    }
    refused(app, &school, &json!({"sub": "x", "email": email}), "account_not_linked").await;
});

tenants!(address_of_domain_that_the_school_does_not_hold_does_not_link, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    // No organization holds Ben's domain.
    let ben = mail("x", &app.world.ben.email, json!(true));
    refused(app, &school, &ben, "account_not_linked").await;
    let domain = verified_domain(app, &app.world.south).await;
    let email = format!("ben@{domain}");
    let set = format!("UPDATE users SET email = '{email}' WHERE id = '{}'", app.world.ben.id);
    execute(&app.database, set).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_not_linked").await;
});

tenants!(address_of_account_of_another_school_does_not_link, |app| {
    // Zoe belongs to South and works in North, too; North holds the domain of her address.
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.zoe).await;
    join_north(app, &app.world.zoe).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_not_linked").await;
});

tenants!(id_of_the_administration_system_links, |app| {
    let claims = json!({"linking": "EXTERNAL_ID", "externalIdClaim": "school.person_id"});
    let school = SchoolSignOn::start(app, claims).await;
    let ben = &app.world.ben;
    let path = format!("/users/{}", ben.id);
    app.as_(&app.world.adam)
        .patch(&path, json!({"externalId": "P-17"}))
        .await
        .expect(200);
    let with = |subject: &str, id: &str| json!({"sub": subject, "school": {"person_id": id}});
    refused(app, &school, &with("x", "P-18"), "account_not_linked").await;
    refused(app, &school, &with("x", ""), "account_not_linked").await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &with("ben", "P-17")).await.is_signed_in();
    assert_signed_in(app, &browser, ben).await;
    refused(
        app,
        &school,
        &with("thief", "P-17"),
        "account_linked_to_another_identity",
    )
    .await;
});

tenants!(administrators_and_owners_are_linked_by_hand_only, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.olga).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_not_linked").await;
    let path = format!("/admin/sign-on/{}/identities", school.id);
    let identities = app.as_(&app.world.olga).get(&path).await.expect(200);
    assert_eq!(identities["data"], json!([]), "the rule linked the owner");
    // An administrator, who controls the provider, may link users of lower rank only.
    for above in [&app.world.olga, &app.world.adam] {
        let body = json!({"userId": above.id, "subject": "x"});
        app.as_(&app.world.adam)
            .post(&path, body)
            .await
            .refused(403, "FORBIDDEN_RANK");
    }
    let body = json!({"userId": app.world.adam.id, "subject": "adam"});
    app.as_(&app.world.olga).post(&path, body).await.expect(201);
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("adam")).await.is_signed_in();
});

tenants!(user_who_became_administrator_is_linked_again_by_hand, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.ada).await;
    let ada = mail("ada", &email, json!(true));
    let browser = Browser::new(app);
    school.sign_in(&browser, &ada).await.is_signed_in();
    let promote = format!(
        "UPDATE members SET role = 'admin' WHERE organization_id = '{}' AND user_id = '{}'",
        app.world.north, app.world.ada.id
    );
    execute(&app.database, promote).await;
    refused(app, &school, &ada, "account_not_linked").await;
});

tenants!(school_reserves_passwords_to_owners_while_it_has_a_provider, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    for user in [&world.olga, &world.ada, &world.zoe, &world.root] {
        test_support::accounts::enable(app, user).await;
    }
    let settings = |on: bool| json!({"metadata": {"features": {"passwordsForOwnersOnly": on}}});
    adam.patch("/admin/settings", settings(true)).await.expect(200);
    let sign_in = async |user: &TestUser, password: &str| {
        let browser = Browser::new(app);
        let answer = browser.sign_in(&user.email, password).await;
        (
            answer.status,
            answer.json()["code"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let right = test_support::accounts::PASSWORD;
    assert_eq!(sign_in(&world.ada, right).await, (403, "PASSWORDS_OFF".to_owned()));
    let pupil = json!({"name": "Mia Without", "role": "STUDENT"});
    let pupil = adam.post("/users", pupil).await.expect(201);
    let slip = json!({"token": pupil["slipToken"]});
    Browser::new(app)
        .post("/auth/sign-in/slip", slip)
        .await
        .refused(403, "PASSWORDS_OFF");
    // A wrong password reveals nothing.
    let wrong = sign_in(&world.ada, "wrong wrong").await;
    assert_eq!(wrong, (401, "INVALID_EMAIL_OR_PASSWORD".to_owned()));
    for other in [&world.olga, &world.zoe, &world.root] {
        assert_eq!(sign_in(other, right).await.0, 200, "{}", other.name);
    }
    let path = format!("/admin/sign-on/{}", school.id);
    adam.patch(&path, json!({"isEnabled": false})).await.expect(200);
    assert_eq!(
        sign_in(&world.ada, right).await.0,
        200,
        "without a provider the setting has no effect"
    );
    adam.patch(&path, json!({"isEnabled": true})).await.expect(200);
    adam.patch("/admin/settings", settings(false)).await.expect(200);
    assert_eq!(sign_in(&world.ada, right).await.0, 200);
});

tenants!(super_admin_is_never_signed_in_through_a_school, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (_, email) = with_address(app, &app.world.root).await;
    join_north(app, &app.world.root).await;
    refused(app, &school, &mail("x", &email, json!(true)), "platform_administrator").await;
    let path = format!("/admin/sign-on/{}/identities", school.id);
    let body = json!({"userId": app.world.root.id, "subject": "root"});
    app.as_(&app.world.olga)
        .post(&path, body)
        .await
        .refused(403, "FORBIDDEN_RANK");
    // A linked user who became one.
    school.link(app, "ben", &app.world.ben).await;
    let promote = format!(
        "UPDATE users SET role = 'SUPER_ADMIN' WHERE id = '{}'",
        app.world.ben.id
    );
    execute(&app.database, promote).await;
    refused(app, &school, &person("ben"), "platform_administrator").await;
});

tenants!(identity_of_one_school_opens_nothing_in_another, |app| {
    // Two schools use the same provider with the same client.
    let north = SchoolSignOn::start(app, json!({})).await;
    let south = add(
        app,
        &app.world.zara,
        &north.provider,
        json!({"linking": "VERIFIED_DOMAIN"}),
    )
    .await;
    north.link(app, "ben", &app.world.ben).await;
    let browser = Browser::new(app);
    let body = json!({"providerId": south, "callbackURL": "/today", "errorCallbackURL": "/login"});
    let url = crate::sign_on::begin(&browser, body).await;
    let authorized = north.provider.authorize(&url, &person("ben"));
    crate::sign_on::follow(&browser, &authorized)
        .await
        .is_refused("account_not_linked", "");
    // An administrator of South can link no member of North.
    let path = format!("/admin/sign-on/{south}/identities");
    let body = json!({"userId": app.world.ben.id, "subject": "ben"});
    app.as_(&app.world.zara)
        .post(&path, body)
        .await
        .refused(404, "NOT_FOUND");
    // Two providers of one school have identities of their own, too.
    let other = FakeOpenIdProvider::start().await;
    let id = add(app, &app.world.adam, &other, json!({})).await;
    let second = SchoolSignOn { provider: other, id };
    refused(app, &second, &person("ben"), "account_not_linked").await;
});

tenants!(inactive_and_banned_users_are_rejected, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    school.link(app, "cem", &app.world.cem).await;
    let (ben, cem) = (&app.world.ben.id, &app.world.cem.id);
    execute(
        &app.database,
        format!("UPDATE users SET banned = TRUE WHERE id = '{cem}'"),
    )
    .await;
    refused(app, &school, &person("cem"), "banned").await;
    let adam = app.as_(&app.world.adam);
    adam.patch(&format!("/users/{ben}"), json!({"isActive": false}))
        .await
        .expect(200);
    refused(app, &school, &person("ben"), "account_inactive").await;
    // A session would become valid when the account is activated again.
    let opened = format!(
        "SELECT id FROM sessions WHERE user_id = '{ben}' AND sign_on_provider_id = '{}'",
        school.id
    );
    assert!(texts(&app.database, opened).await.is_empty());
    adam.patch(&format!("/users/{ben}"), json!({"isActive": true}))
        .await
        .expect(200);
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    // A user who left the school is unlinked.
    adam.delete(&format!("/users/{ben}")).await.expect(200);
    refused(app, &school, &person("ben"), "account_not_linked").await;
});

tenants!(accounts_are_created_by_the_rule_of_the_school_only, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let domain = verified_domain(app, &app.world.north).await;
    let new = mail("new", &format!("new@{domain}"), json!(true));
    refused(app, &school, &new, "account_not_linked").await;
    let rule = json!({"accountCreation": "BY_CLAIM", "roleClaim": "roles", "teacherValues": ["LEHR"]});
    let school = SchoolSignOn::start(app, rule).await;
    refused(
        app,
        &school,
        &mail("n", &format!("n@{domain}"), json!(false)),
        "email_not_verified",
    )
    .await;
    refused(
        app,
        &school,
        &mail("n", "n@evil.example", json!(true)),
        "email_not_verified",
    )
    .await;
    for (name, roles, expected) in [
        ("kim", json!(["LERN"]), "student"),
        ("lea", json!(["LEHR", "x"]), "teacher"),
        ("max", json!("LEHR"), "teacher"),
        ("eve", json!(["admin", "owner", "SUPER_ADMIN"]), "student"),
    ] {
        let mut person = mail(name, &format!("{name}@{domain}"), json!(true));
        person["roles"] = roles;
        let browser = Browser::new(app);
        let body = json!({
            "providerId": school.id, "callbackURL": "/today", "newUserCallbackURL": "/me", "errorCallbackURL": "/login",
        });
        let url = crate::sign_on::begin(&browser, body.clone()).await;
        let page = crate::sign_on::follow(&browser, &school.provider.authorize(&url, &person)).await;
        assert_eq!((page.path.as_str(), page.error), ("/me", None));
        let me = browser.get("/users/me").await.expect(200);
        assert_eq!(
            (&me["member"]["role"], &me["name"]),
            (&json!(expected), &json!("Kim Kidd")),
            "{me}"
        );
        // The second sign-in is one of an existing user.
        let url = crate::sign_on::begin(&browser, body).await;
        crate::sign_on::follow(&browser, &school.provider.authorize(&url, &person))
            .await
            .is_signed_in();
    }
});

tenants!(creation_takes_no_existing_account, |app| {
    let school = SchoolSignOn::start(app, json!({"accountCreation": "STUDENTS"})).await;
    let (_, email) = with_address(app, &app.world.zack).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_exists").await;
    let (_, email) = with_address(app, &app.world.ben).await;
    refused(app, &school, &mail("x", &email, json!(true)), "account_exists").await;
});

tenants!(concurrent_first_sign_ins_create_one_account, |app| {
    let school = SchoolSignOn::start(app, json!({"accountCreation": "STUDENTS"})).await;
    let domain = verified_domain(app, &app.world.north).await;
    let email = format!("kim@{domain}");
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let browser = Browser::new(app);
        let person = mail("kim", &email, json!(true));
        let authorized = school.authorized(&browser, &person).await;
        tasks.push(tokio::spawn(async move {
            crate::sign_on::follow(&browser, &authorized).await
        }));
    }
    for task in tasks {
        task.await.unwrap().is_signed_in();
    }
    let users = texts(&app.database, format!("SELECT id FROM users WHERE email = '{email}'")).await;
    assert_eq!(users.len(), 1);
});

/// Makes a user a teacher of North, too.
async fn join_north(app: &TestApp, user: &TestUser) {
    let insert = format!(
        "INSERT INTO members (organization_id, id, user_id, role, created_at)
         VALUES ('{}', '{}', '{}', 'teacher', 1)",
        app.world.north,
        common::clock::new_id(),
        user.id
    );
    execute(&app.database, insert).await;
}

/// Returns the sign-ins in the activity log of a school, as method, name and IP address.
async fn logged_sign_ins(app: &TestApp, school: &str) -> Vec<(String, String, String)> {
    let select = format!(
        "SELECT details FROM activity_logs WHERE organization_id = '{school}' AND action = 'LOGGED_IN' ORDER BY created_at, id"
    );
    let parse = |details: String| {
        let details: Value = serde_json::from_str(&details).unwrap();
        let text = |key: &str| details[key].as_str().unwrap_or_default().to_owned();
        (text("method"), text("name"), text("address"))
    };
    texts(&app.database, select)
        .await
        .into_iter()
        .flatten()
        .map(parse)
        .collect()
}

tenants!(sign_in_through_a_provider_is_logged_in_its_school, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ada", &app.world.ada).await;
    let home = format!(
        "UPDATE users SET home_organization_id = '{}' WHERE id = '{}'",
        app.world.south, app.world.ada.id
    );
    execute(&app.database, home).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ada")).await.is_signed_in();
    let logged = logged_sign_ins(app, &app.world.north).await;
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0].0, "PROVIDER");
    assert!(!logged[0].1.is_empty() && !logged[0].2.is_empty(), "{logged:?}");
    assert!(
        logged_sign_ins(app, &app.world.south).await.is_empty(),
        "other schools learn nothing"
    );
    // With a second factor it is logged when the session opens.
    let user = set_up(app, &app.world.ada).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ada")).await;
    assert_eq!(logged_sign_ins(app, &app.world.north).await.len(), 1);
    enter(&browser, &user.code()).await.expect(200);
    assert_eq!(logged_sign_ins(app, &app.world.north).await.len(), 2);
});

tenants!(
    passkey_is_the_second_factor_after_a_provider_and_the_session_stays_in_the_school,
    |app| {
        let school = SchoolSignOn::start(app, json!({})).await;
        school.link(app, "ada", &app.world.ada).await;
        let (_, authenticator) = passkey::add(app, &app.world.ada).await;
        let browser = Browser::new(app);
        let page = school.sign_in(&browser, &person("ada")).await;
        assert!(page.path.starts_with("/login"), "{page:?}");
        browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
        let signed = passkey::sign_in_with(&browser, &authenticator).await.expect(200);
        assert_eq!(signed["session"]["activeOrganizationId"], json!(app.world.north));
        browser
            .set_active(json!({"organizationId": app.world.south}))
            .await
            .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    }
);

tenants!(
    passkey_that_was_added_in_a_session_of_a_provider_is_a_second_factor_only,
    |app| {
        let school = SchoolSignOn::start(app, json!({})).await;
        school.link(app, "ada", &app.world.ada).await;
        let home = format!(
            "UPDATE users SET home_organization_id = '{}' WHERE id = '{}'",
            app.world.north, app.world.ada.id
        );
        execute(&app.database, home).await;
        let browser = Browser::new(app);
        school.sign_in(&browser, &person("ada")).await.is_signed_in();
        let mut authenticator = passkey::SoftAuthenticator::new();
        passkey::add_in(&browser, &mut authenticator).await;
        passkey::sign_in_with(&Browser::new(app), &authenticator)
            .await
            .refused(403, "PASSKEY_NOT_SUFFICIENT");
        // An account that is used in other schools cannot be changed from here.
        let insert = format!(
            "INSERT INTO members (organization_id, id, user_id, role, created_at) VALUES ('{}', '{}', '{}', 'teacher', 1)",
            app.world.south,
            common::clock::new_id(),
            app.world.ada.id
        );
        execute(&app.database, insert).await;
        let options = passkey::register_options(&browser).await;
        let mut other = passkey::SoftAuthenticator::new();
        passkey::register(&browser, other.create(&options), "x")
            .await
            .refused(403, "SIGNED_ON_ELSEWHERE");
        let known = browser.get("/auth/passkey/list-user-passkeys").await.expect(200);
        browser
            .post("/auth/passkey/delete-passkey", json!({"id": known[0]["id"]}))
            .await
            .refused(403, "SIGNED_ON_ELSEWHERE");
    }
);
