//! Help requests: students of a visible group create them, teachers of its class resolve them.

use serde_json::{Value, json};

use test_support::{SocketListener, TestApp, clients_are_installed};

async fn group(app: &TestApp) -> String {
    let world = &app.world;
    let new = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id, world.cem.id]});
    let group = app.as_(&world.ada).post("/groups", new).await.expect(201);
    format!("/groups/{}", group["id"].as_str().unwrap())
}

async fn seen(app: &TestApp, path: &str) -> Value {
    app.as_(&app.world.ada).get(path).await.expect(200)
}

tenants!(help_request_keeps_first_time_until_resolved, |app| {
    let (world, path) = (&app.world, group(app).await);
    let (ben, cem, ada) = (app.as_(&world.ben), app.as_(&world.cem), app.as_(&world.ada));
    let raised = ben
        .post(&format!("{path}/help"), json!({"message": " We are stuck "}))
        .await
        .expect(200);
    assert_eq!(
        (&raised["needsHelp"], &raised["helpMessage"]),
        (&json!(true), &json!("We are stuck"))
    );
    let again = cem
        .post(&format!("{path}/help"), json!({"message": "Still stuck"}))
        .await
        .expect(200);
    assert_eq!(
        again["helpRequestedAt"], raised["helpRequestedAt"],
        "the place in the queue stays"
    );
    let silent = ben
        .send(reqwest::Method::POST, &format!("{path}/help"), None)
        .await
        .expect(200);
    assert_eq!(silent["helpMessage"], "Still stuck");
    assert_eq!(seen(app, &path).await["helpRequestedById"], world.ben.id);

    let claimed = ada.post(&format!("{path}/help/claim"), json!({})).await.expect(200);
    assert_eq!(claimed, json!({"helpClaimedById": world.ada.id}));
    assert!(ben.get(&path).await.expect(200).get("helpClaimedById").is_none());
    assert_eq!(
        ada.get("/groups?needsHelp=1")
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let resolved = ada
        .post(&format!("{path}/help/resolve"), json!({"note": "Explained"}))
        .await
        .expect(200);
    assert_eq!(resolved, json!({"needsHelp": false}));
    let calm = seen(app, &path).await;
    assert_eq!(
        (&calm["helpRequestedAt"], &calm["helpMessage"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(calm["helpResolvedById"], world.ada.id);
    assert!(calm["helpResolvedAt"].is_string());
    ada.post(&format!("{path}/help/resolve"), json!({})).await.expect(200);
    assert_eq!(
        seen(app, &path).await["helpResolvedAt"],
        calm["helpResolvedAt"],
        "handling a calm group changes nothing"
    );
    let log = app
        .as_(&world.adam)
        .get("/activity-logs?category=GROUP")
        .await
        .expect(200);
    let records = log["data"].as_array().unwrap();
    let received: Vec<_> = records.iter().map(|record| &record["event"]).collect();
    assert_eq!(
        received,
        ["HELP_RESOLVED", "HELP_REQUESTED", "GROUP_CREATE"],
        "raised once, handled once"
    );
    assert_eq!(records[0]["details"]["message"], "Still stuck");
    assert!(records[0]["details"]["waitedSeconds"].as_i64().unwrap() >= 0);
    let nobody = ada.post(&format!("{path}/help/claim"), json!({})).await.expect(200);
    assert_eq!(nobody, json!({"helpClaimedById": null}));
});

tenants!(withdrawn_help_request_is_logged_and_renewed_by_asking_again, |app| {
    let (world, path) = (&app.world, group(app).await);
    if !clients_are_installed() {
        return;
    }
    let (ben, cem, ada) = (app.as_(&world.ben), app.as_(&world.cem), app.as_(&world.ada));
    let withdraw = format!("{path}/help/withdraw");
    let nothing = ben.post(&withdraw, json!({})).await.expect(200);
    assert_eq!(nothing, json!({"needsHelp": false, "helpWithdrawnAt": null}));
    let help = json!({"message": "stuck"});
    let raised = ben.post(&format!("{path}/help"), help).await.expect(200);
    let mut staff = SocketListener::connect(app, &world.ada).await;
    let mut student = SocketListener::connect(app, &world.cem).await;

    let withdrawn = cem.post(&withdraw, json!({})).await.expect(200);
    assert_eq!(withdrawn["needsHelp"], true);
    // On PostgreSQL, the events of the request may arrive after the response to it.
    let event = staff
        .expect_where("group:help", |event| !event["helpWithdrawnAt"].is_null())
        .await;
    assert_eq!(event["helpWithdrawnAt"], withdrawn["helpWithdrawnAt"]);
    for socket in [&mut staff, &mut student] {
        socket
            .expect_where("group:updated", |event| event["changed"] == json!(["helpWithdrawnAt"]))
            .await;
    }
    let shown = seen(app, &path).await;
    assert_eq!(shown["helpWithdrawnAt"], withdrawn["helpWithdrawnAt"]);
    assert_eq!(shown["helpRequestedAt"], raised["helpRequestedAt"]);
    let again = ben.post(&withdraw, json!({})).await.expect(200);
    assert_eq!(again, withdrawn, "a change only once");

    let renewed = ben.post(&format!("{path}/help"), json!({})).await.expect(200);
    assert_eq!(renewed["helpRequestedAt"], raised["helpRequestedAt"]);
    assert_eq!(seen(app, &path).await["helpWithdrawnAt"], json!(null));
    ben.post(&withdraw, json!({})).await.expect(200);
    ada.post(&format!("{path}/help/resolve"), json!({})).await.expect(200);
    assert_eq!(seen(app, &path).await["helpWithdrawnAt"], json!(null));

    let log = app
        .as_(&world.adam)
        .get("/activity-logs?category=GROUP")
        .await
        .expect(200);
    let events: Vec<_> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["event"])
        .collect();
    let expected = [
        "HELP_RESOLVED",
        "HELP_WITHDRAWN",
        "HELP_REQUESTED",
        "HELP_WITHDRAWN",
        "HELP_REQUESTED",
        "GROUP_CREATE",
    ];
    assert_eq!(events, expected);
});

tenants!(
    group_sees_who_claimed_its_help_request_until_it_is_withdrawn_or_resolved,
    |app| {
        let (world, path) = (&app.world, group(app).await);
        let room = path.replace("/groups/", "/workrooms/group/");
        let (ben, ada, adam) = (app.as_(&world.ben), app.as_(&world.ada), app.as_(&world.adam));
        let helper = async || ben.get(&room).await.expect(200)["helpClaimedBy"].clone();
        assert_eq!(helper().await, json!(null));
        ben.post(&format!("{path}/help"), json!({})).await.expect(200);
        ada.post(&format!("{path}/help/claim"), json!({})).await.expect(200);
        assert_eq!(helper().await["name"], world.ada.name);
        adam.post(&format!("{path}/help/claim"), json!({})).await.expect(200);
        assert_eq!(helper().await["id"], world.adam.id);
        ben.post(&format!("{path}/help/withdraw"), json!({})).await.expect(200);
        assert_eq!(helper().await, json!(null));
        ben.post(&format!("{path}/help"), json!({})).await.expect(200);
        assert_eq!(helper().await, json!(null), "the renewed request is claimed again");
        ada.post(&format!("{path}/help/claim"), json!({})).await.expect(200);
        ada.post(&format!("{path}/help/resolve"), json!({})).await.expect(200);
        assert_eq!(helper().await, json!(null));
        app.as_(&world.dana).get(&room).await.refused(404, "NOT_FOUND");
    }
);

tenants!(help_is_withdrawn_by_students_of_the_group_only, |app| {
    let (world, path) = (&app.world, group(app).await);
    let withdraw = format!("{path}/help/withdraw");
    app.as_(&world.ben)
        .post(&format!("{path}/help"), json!({}))
        .await
        .expect(200);
    for staff in [&world.ada, &world.adam, &world.tom] {
        app.as_(staff)
            .post(&withdraw, json!({}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    for stranger in [&world.dana, &world.finn, &world.zack] {
        app.as_(stranger)
            .post(&withdraw, json!({}))
            .await
            .refused(404, "NOT_FOUND");
    }
    assert_eq!(seen(app, &path).await["helpWithdrawnAt"], json!(null));
});

tenants!(help_is_requested_by_students_and_resolved_by_staff, |app| {
    let (world, path) = (&app.world, group(app).await);
    let help = format!("{path}/help");
    for staff in [&world.ada, &world.adam, &world.tom, &world.zoe] {
        app.as_(staff)
            .post(&help, json!({}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    for stranger in [&world.dana, &world.finn, &world.zack] {
        app.as_(stranger).post(&help, json!({})).await.refused(404, "NOT_FOUND");
    }
    app.as_(&world.ben)
        .post(&help, json!({"message": "x".repeat(501)}))
        .await
        .invalid("message");
    app.as_(&world.ben)
        .post(&help, json!({"text": "x"}))
        .await
        .invalid("text");
    app.as_(&world.ben).post(&help, json!({})).await.expect(200);
    for student in [&world.ben, &world.cem] {
        app.as_(student)
            .post(&format!("{help}/resolve"), json!({}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    app.as_(&world.tom)
        .post(&format!("{help}/resolve"), json!({}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .post(&format!("{help}/resolve"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.adam)
        .post(&format!("{help}/resolve"), json!({}))
        .await
        .expect(200);
});

tenants!(group_before_start_date_cannot_request_help, |app| {
    let (world, path) = (&app.world, group(app).await);
    let ada = app.as_(&world.ada);
    ada.patch(&path, json!({"startDate": "2099-01-01T00:00:00Z"}))
        .await
        .expect(200);
    app.as_(&world.ben)
        .post(&format!("{path}/help"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    ada.patch(&path, json!({"startDate": null})).await.expect(200);
    app.as_(&world.ben)
        .post(&format!("{path}/help"), json!({}))
        .await
        .expect(200);
});

tenants!(concurrent_help_requests_keep_time_and_other_fields, |app| {
    let (world, path) = (&app.world, group(app).await);
    let mut tasks = Vec::new();
    for turn in 0..10 {
        let (ben, cem, ada) = (app.as_(&world.ben), app.as_(&world.cem), app.as_(&world.ada));
        let (help, path) = (format!("{path}/help"), path.clone());
        tasks.push(tokio::spawn(async move {
            let caller = if turn % 2 == 0 { ben } else { cem };
            let (raised, edited) = tokio::join!(
                caller.post(&help, json!({"message": format!("{turn}")})),
                ada.patch(&path, json!({"requiredDocuments": turn})),
            );
            edited.expect(200);
            raised.expect(200)["helpRequestedAt"].as_str().unwrap().to_owned()
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times.dedup();
    assert_eq!(times.len(), 1, "{times:?}");
    assert_eq!(seen(app, &path).await["needsHelp"], true);
});
