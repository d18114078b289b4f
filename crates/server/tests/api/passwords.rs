//! The password policy, on every route that sets a password.

use serde_json::json;

use test_support::Browser;
use test_support::accounts::{PASSWORD, signed_in};

const ACCEPTED_PASSWORD: &str = "Dreieck und Kreis";

/// Passwords that Ada Teacher (ada.teacher@test.example) may not choose, with the error codes of better-auth.
const REJECTED_PASSWORDS: [(&str, &str); 9] = [
    ("1234567", "PASSWORD_TOO_SHORT"),
    ("iloveyou1", "PASSWORD_COMPROMISED"),
    ("PASSWORD123", "PASSWORD_COMPROMISED"),
    ("Herbst 2026", "PASSWORD_COMPROMISED"),
    ("1234-5678", "PASSWORD_COMPROMISED"),
    ("adateacher", "PASSWORD_COMPROMISED"),
    ("Teacher Ada 2026!", "PASSWORD_COMPROMISED"),
    ("ada.teacher@test.example", "PASSWORD_COMPROMISED"),
    ("\u{ff41}\u{ff44}\u{ff41}teacher", "PASSWORD_COMPROMISED"),
];

both!(password_change_rejects_guessable_passwords, |app| {
    let ada = &app.world.ada;
    let browser = signed_in(app, ada).await;
    let change = async |new: &str| {
        let body = json!({"currentPassword": PASSWORD, "newPassword": new});
        browser.post("/auth/change-password", body).await
    };
    for (password, code) in REJECTED_PASSWORDS {
        let body = change(password).await.refused(400, code);
        if code == "PASSWORD_COMPROMISED" {
            let message = body["message"].as_str().unwrap();
            assert!(message.contains("choose"), "{password}: {message}");
        }
    }
    change(&"x".repeat(129)).await.refused(400, "PASSWORD_TOO_LONG");
    Browser::new(app).sign_in(&ada.email, PASSWORD).await.expect(200);
    // The same characters in another Unicode composition are the same password.
    change("caf\u{e9} \u{fb01}n, bitte").await.expect(200);
    let composed = Browser::new(app).sign_in(&ada.email, "cafe\u{301} fin, bitte").await;
    composed.expect(200);
});

both!(password_reset_rejects_guessable_ones_and_keeps_its_link, |app| {
    let ada = &app.world.ada;
    let browser = Browser::new(app);
    test_support::accounts::enable(app, ada).await;
    let token = crate::password_resets::mailed_token(app, &ada.email).await;
    let reset = async |new: &str| {
        let body = json!({"newPassword": new, "token": token});
        browser.post("/auth/reset-password", body).await
    };
    for (password, code) in REJECTED_PASSWORDS {
        reset(password).await.refused(400, code);
    }
    reset(ACCEPTED_PASSWORD).await.expect(200);
    browser.sign_in(&ada.email, ACCEPTED_PASSWORD).await.expect(200);
});

both!(admin_cannot_set_guessable_password_for_new_user, |app| {
    let adam = app.as_(&app.world.adam);
    let make = async |password: &str| {
        let new = json!({
            "name": "Ida Newcomer", "email": "ida.n@north.example", "role": "STUDENT", "password": password,
        });
        adam.post("/users", new).await
    };
    for password in [
        "1234567",
        "iloveyou1",
        "idanewcomer",
        "Ida-North-2026",
        "ida.n@north.example",
    ] {
        make(password).await.invalid("password");
    }
    make(&"x".repeat(129)).await.invalid("password");
    make(ACCEPTED_PASSWORD).await.expect(201);
    Browser::new(app)
        .sign_in("ida.n@north.example", ACCEPTED_PASSWORD)
        .await
        .expect(200);
});

both!(super_admin_cannot_set_guessable_passwords, |app| {
    let (root, ada) = (&app.world.root, &app.world.ada);
    let browser = signed_in(app, root).await;
    for (password, code) in REJECTED_PASSWORDS {
        let set = json!({"userId": ada.id, "newPassword": password});
        browser
            .post("/auth/admin/set-user-password", set)
            .await
            .refused(400, code);
        let new = json!({"email": "ada.teacher@other.example", "name": "Ada Teacher-Test", "password": password});
        browser.post("/auth/admin/create-user", new).await.refused(400, code);
    }
    let set = json!({"userId": ada.id, "newPassword": ACCEPTED_PASSWORD});
    browser.post("/auth/admin/set-user-password", set).await.expect(200);
    Browser::new(app)
        .sign_in(&ada.email, ACCEPTED_PASSWORD)
        .await
        .expect(200);
});
