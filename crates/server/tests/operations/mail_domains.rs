//! Mail domains: a domain is assigned to a school only by control of its name server or by a SUPER_ADMIN. A record that
//! disappears removes the domain after a grace period. Several schools share a domain only by decision of a
//! SUPER_ADMIN.

use common::clock;
use domain::mail_domain::{GRACE_SECONDS, RECHECK_SECONDS, RETRY_SECONDS};
use domain::time::Timestamp;
use serde_json::{Value, json};
use service::jobs::mail_domains::check_due;

use test_support::name_server::{self, NameRecords};
use test_support::rows::{execute, texts};
use test_support::{Client, TestApp};

async fn add(client: &Client, domain: &str) -> Value {
    client
        .post("/admin/domains", json!({"domain": domain}))
        .await
        .expect(201)
}

fn path(domain: &Value) -> String {
    format!("/admin/domains/{}", domain["id"].as_str().unwrap())
}

fn check_path(domain: &Value) -> String {
    format!("{}/check", path(domain))
}

fn verification_zone(domain: &Value) -> NameRecords {
    NameRecords::Texts(vec![domain["recordValue"].as_str().unwrap().to_owned()])
}

/// Adds a domain that North verifies by its DNS record.
async fn add_verified(client: &Client, name: &str) -> Value {
    let domain = add(client, name).await;
    name_server::set(name, verification_zone(&domain));
    client.post(&check_path(&domain), json!({})).await.expect(200)
}

async fn status(client: &Client, name: &str) -> Value {
    let all = client.get("/admin/domains").await.expect(200);
    let found = all.as_array().unwrap().iter().find(|one| one["domain"] == name);
    found.map_or(Value::Null, |one| one["status"].clone())
}

/// Returns the log entries of North about a domain, oldest first.
async fn logged(app: &TestApp, name: &str) -> Vec<String> {
    let query = format!(
        "SELECT action || ' ' || details FROM activity_logs WHERE entity_type = 'mailDomain' AND entity_name = '{name}'
            AND organization_id = '{}' ORDER BY created_at, id",
        app.world.north
    );
    let found = texts(&app.database, query).await;
    found.into_iter().flatten().map(|line| line.replace(' ', "")).collect()
}

async fn check_at(app: &TestApp, now: Timestamp) {
    check_due(app.app.transactor(), app.app.dns(), now).await.unwrap();
}

both!(domain_is_verified_by_its_txt_record_only, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    let name = name_server::domain();
    let domain = add(&adam, &format!(" @{}. ", name.to_uppercase())).await;
    assert_eq!(
        (&domain["domain"], &domain["status"], &domain["method"]),
        (&json!(name), &json!("PENDING"), &json!("DNS"))
    );
    assert_eq!(domain["recordName"], format!("_groupwork.{name}"));
    let check = async || adam.post(&check_path(&domain), json!({})).await;
    let expect_not_verified = async || check().await.refused(409, "DOMAIN_NOT_PROVEN");
    expect_not_verified().await;
    // The record of another school does not verify the domain for this one.
    let other = add(&zara, &name).await;
    assert_ne!(other["recordValue"], domain["recordValue"]);
    name_server::set(&name, verification_zone(&other));
    expect_not_verified().await;
    let value = domain["recordValue"].as_str().unwrap();
    for wrong in [
        String::new(),
        value[1..].to_owned(),
        format!("{value} "),
        value.to_uppercase(),
        format!("v=spf1 {value}"),
    ] {
        name_server::set(&name, NameRecords::Texts(vec![wrong]));
        expect_not_verified().await;
    }
    name_server::set(&name, NameRecords::Texts(Vec::new()));
    expect_not_verified().await;
    name_server::set(&name, NameRecords::ServerFailure);
    check().await.refused(409, "DOMAIN_UNANSWERED");
    assert_eq!(status(&adam, &name).await, "PENDING");

    name_server::set(
        &name,
        NameRecords::Texts(vec!["v=spf1 -all".to_owned(), value.to_owned()]),
    );
    let verified = check().await.expect(200);
    assert_eq!(verified["status"], "VERIFIED");
    assert!(verified["verifiedAt"].is_string() && verified["checkedAt"].is_string());
    assert_eq!(verified["failingSince"], Value::Null);
    let log = logged(app, &name).await;
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[1].starts_with("UPDATE") && log[1].contains("VERIFIED"), "{log:?}");
    assert!(!log.concat().contains(&value["groupwork-domain=".len()..]), "{log:?}");
});

both!(dns_response_larger_than_datagram_is_read_over_tcp, |app| {
    let adam = app.as_(&app.world.adam);
    let name = name_server::domain();
    let domain = add(&adam, &name).await;
    let long: Vec<String> = (0..8).map(|number| format!("{number}{}", "x".repeat(300))).collect();
    let mut texts = long;
    texts.push(domain["recordValue"].as_str().unwrap().to_owned());
    name_server::set(&name, NameRecords::Texts(texts));
    let verified = adam.post(&check_path(&domain), json!({})).await.expect(200);
    assert_eq!(verified["status"], "VERIFIED");
});

both!(silent_name_server_does_not_block_the_request, |app| {
    let adam = app.as_(&app.world.adam);
    let name = name_server::domain();
    let domain = add(&adam, &name).await;
    name_server::set(&name, NameRecords::Silence);
    adam.post(&check_path(&domain), json!({}))
        .await
        .refused(409, "DOMAIN_UNANSWERED");
});

both!(second_school_gets_domain_only_by_super_admin, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    let name = name_server::domain();
    let ours = add_verified(&adam, &name).await;
    assert_eq!(ours["status"], "VERIFIED");
    adam.post("/admin/domains", json!({"domain": name}))
        .await
        .refused(409, "DUPLICATE_MAIL_DOMAIN");
    let theirs = add(&zara, &name).await;
    let both = [&ours, &theirs].map(|domain| domain["recordValue"].as_str().unwrap().to_owned());
    name_server::set(&name, NameRecords::Texts(both.to_vec()));
    zara.post(&check_path(&theirs), json!({}))
        .await
        .refused(409, "DOMAIN_HELD");
    assert_eq!(status(&zara, &name).await, "PENDING");

    let root = app.as_(&app.world.root);
    let tenant = format!("/tenants/{}/domains", app.world.south);
    for client in [&adam, &zara] {
        client
            .post(&tenant, json!({"domain": name}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    let set = root.post(&tenant, json!({"domain": name})).await.expect(201);
    assert_eq!(
        (&set["id"], &set["status"], &set["method"]),
        (&theirs["id"], &json!("VERIFIED"), &json!("SUPER_ADMIN"))
    );
    assert_eq!(status(&adam, &name).await, "VERIFIED", "the first one keeps it");
    assert_eq!(root.get(&tenant).await.expect(200).as_array().unwrap().len(), 1);
    // An assignment by a SUPER_ADMIN does not depend on a record.
    name_server::clear(&name);
    let checked = zara.post(&check_path(&theirs), json!({})).await.expect(200);
    assert_eq!(checked["status"], "VERIFIED");
    let gone = format!("{tenant}/{}", theirs["id"].as_str().unwrap());
    root.delete(&gone).await.expect(200);
    root.delete(&gone).await.refused(404, "NOT_FOUND");
    assert_eq!(status(&zara, &name).await, Value::Null);
});

both!(concurrent_verification_assigns_domain_to_one_school, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    for _ in 0..5 {
        let name = name_server::domain();
        let (ours, theirs) = (add(&adam, &name).await, add(&zara, &name).await);
        let both = [&ours, &theirs].map(|domain| domain["recordValue"].as_str().unwrap().to_owned());
        name_server::set(&name, NameRecords::Texts(both.to_vec()));
        let (one, other) = (check_path(&ours), check_path(&theirs));
        let (one, other) = tokio::join!(adam.post(&one, json!({})), zara.post(&other, json!({})));
        let mut answers = [one.status, other.status];
        answers.sort_unstable();
        assert_eq!(answers, [200, 409], "{} {}", one.json(), other.json());
        let refused = if one.status == 409 { one } else { other };
        refused.refused(409, "DOMAIN_HELD");
    }
});

both!(missing_record_removes_domain_after_grace_period, |app| {
    let adam = app.as_(&app.world.adam);
    let name = name_server::domain();
    let domain = add_verified(&adam, &name).await;
    let shown = async || {
        let all = adam.get("/admin/domains").await.expect(200);
        all.as_array()
            .unwrap()
            .iter()
            .find(|one| one["domain"] == *name)
            .unwrap()
            .clone()
    };
    // While the record exists, a weekly check changes only its own timestamp.
    let now = clock::now();
    check_at(app, now).await;
    assert_eq!(shown().await["checkedAt"], domain["checkedAt"], "it was not due");
    let mut now = now.plus_seconds(RECHECK_SECONDS + 60);
    check_at(app, now).await;
    assert_ne!(shown().await["checkedAt"], domain["checkedAt"]);
    assert_eq!(logged(app, &name).await.len(), 2);

    name_server::clear(&name);
    now = now.plus_seconds(RECHECK_SECONDS + 60);
    check_at(app, now).await;
    let failing = shown().await;
    assert_eq!(failing["status"], "VERIFIED");
    assert!(
        failing["failingSince"].is_string() && failing["lostAt"].is_string(),
        "{failing}"
    );
    // The record returns in time, and is missing again later.
    name_server::set(&name, verification_zone(&domain));
    now = now.plus_seconds(RETRY_SECONDS + 60);
    check_at(app, now).await;
    assert_eq!(shown().await["failingSince"], Value::Null);
    name_server::set(&name, NameRecords::ServerFailure);
    now = now.plus_seconds(RECHECK_SECONDS + 60);
    let since = now;
    while shown().await["status"] == "VERIFIED" {
        assert!(
            now.seconds_since(since) <= GRACE_SECONDS + 2 * RETRY_SECONDS,
            "never lost"
        );
        check_at(app, now).await;
        now = now.plus_seconds(RETRY_SECONDS + 60);
    }
    assert!(now.seconds_since(since) > GRACE_SECONDS, "lost within the grace period");
    let lost = shown().await;
    assert_eq!(
        (&lost["status"], &lost["verifiedAt"], &lost["lostAt"]),
        (&json!("LOST"), &Value::Null, &Value::Null)
    );
    let log = logged(app, &name).await;
    assert!(log.last().unwrap().contains("LOST"), "{log:?}");
    assert_eq!(log.len(), 5, "added, verified, failing, failing, lost: {log:?}");
    // Another school can verify the lost domain. After that its first holder needs a SUPER_ADMIN.
    let zara = app.as_(&app.world.zara);
    add_verified(&zara, &name).await;
    let both = [&domain, &add_again(&zara, &name).await].map(|one| one["recordValue"].as_str().unwrap().to_owned());
    name_server::set(&name, NameRecords::Texts(both.to_vec()));
    adam.post(&check_path(&domain), json!({}))
        .await
        .refused(409, "DOMAIN_HELD");
});

async fn add_again(client: &Client, name: &str) -> Value {
    let all = client.get("/admin/domains").await.expect(200);
    all.as_array()
        .unwrap()
        .iter()
        .find(|one| one["domain"] == name)
        .unwrap()
        .clone()
}

both!(public_mail_hosts_and_suffixes_are_rejected, |app| {
    let (adam, root) = (app.as_(&app.world.adam), app.as_(&app.world.root));
    let tenant = format!("/tenants/{}/domains", app.world.north);
    for domain in [
        "gmail.com",
        "GMX.de",
        "web.de",
        "outlook.com",
        "students.web.de",
        "co.uk",
        "example",
        "",
        "192.0.2.1",
        "school.example/x",
        "sch\u{fc}le.example",
        "a@b.example",
    ] {
        let body = json!({"domain": domain});
        adam.post("/admin/domains", body.clone()).await.invalid("domain");
        root.post(&tenant, body).await.invalid("domain");
    }
    adam.post("/admin/domains", json!({"domain": "x.".repeat(200)}))
        .await
        .invalid("domain");
});

both!(domains_of_school_are_limited_and_private, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    let ada = app.as_(&app.world.ada);
    ada.get("/admin/domains").await.refused(403, "FORBIDDEN_ROLE");
    let mut last = Value::Null;
    for _ in 0..domain::mail_domain::DOMAINS_MAX {
        last = add(&adam, &name_server::domain()).await;
    }
    adam.post("/admin/domains", json!({"domain": name_server::domain()}))
        .await
        .refused(409, "LIMIT_REACHED");
    let root = app.as_(&app.world.root);
    let tenant = format!("/tenants/{}/domains", app.world.north);
    root.post(&tenant, json!({"domain": name_server::domain()}))
        .await
        .refused(409, "LIMIT_REACHED");
    // Another school can neither list nor remove the domains.
    assert_eq!(zara.get("/admin/domains").await.expect(200), json!([]));
    zara.delete(&path(&last)).await.refused(404, "NOT_FOUND");
    zara.post(&check_path(&last), json!({})).await.refused(404, "NOT_FOUND");
    let foreign = format!("/tenants/{}/domains/{}", app.world.south, last["id"].as_str().unwrap());
    root.delete(&foreign).await.refused(404, "NOT_FOUND");
    adam.delete(&path(&last)).await.expect(200);
    adam.delete(&path(&last)).await.refused(404, "NOT_FOUND");
    add(&adam, last["domain"].as_str().unwrap()).await;
    assert_eq!(logged(app, last["domain"].as_str().unwrap()).await.len(), 3);
});

both!(due_check_is_done_by_one_instance_only, |app| {
    let adam = app.as_(&app.world.adam);
    let name = name_server::domain();
    let domain = add_verified(&adam, &name).await;
    let id = domain["id"].as_str().unwrap();
    let due = clock::now().plus_seconds(RECHECK_SECONDS + 60);
    let other = due.plus_seconds(60).as_millis();
    execute(
        &app.database,
        format!("UPDATE mail_domains SET next_check_at = {other} WHERE id = '{id}'"),
    )
    .await;
    check_at(app, due).await;
    let shown = add_again(&adam, &name).await;
    assert_eq!(shown["checkedAt"], domain["checkedAt"]);
});
