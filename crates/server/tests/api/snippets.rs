//! Text snippets of teachers: private, bounded, and only for staff.

use serde_json::{Value, json};

use test_support::rows::execute;
use test_support::topics::id;

both!(teacher_keeps_text_snippets_that_nobody_else_reads, |app| {
    let world = &app.world;
    let (ada, tom) = (app.as_(&world.ada), app.as_(&world.tom));
    ada.post("/snippets", json!({"text": " "})).await.invalid("text");
    ada.post("/snippets", json!({"text": "x".repeat(2001)}))
        .await
        .invalid("text");
    let created = ada.post("/snippets", json!({"text": "Name your sources."})).await;
    let created = created.expect(201);
    let path = format!("/snippets/{}", id(&created));
    let edited = ada.patch(&path, json!({"text": "Which sources?"})).await.expect(200);
    assert_eq!(edited["text"], "Which sources?");
    ada.patch(&path, json!({"text": null})).await.invalid("text");
    assert_eq!(ada.get("/snippets").await.expect(200), json!([edited]));

    for other in [&world.adam, &world.olga, &world.tom, &world.zoe, &world.zara] {
        let client = app.as_(other);
        assert_eq!(client.get("/snippets").await.expect(200), json!([]), "{}", other.name);
        client
            .patch(&path, json!({"text": "x"}))
            .await
            .refused(404, "NOT_FOUND");
        client.delete(&path).await.refused(404, "NOT_FOUND");
    }
    app.as_(&world.ben)
        .get("/snippets")
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let log = app.as_(&world.adam).get("/activity-logs?limit=200").await.expect(200);
    assert!(!log.to_string().contains("sources"), "{log}");

    ada.delete(&format!("{path}?dryRun=1")).await.expect(200);
    ada.delete(&path).await.expect(200);
    ada.delete(&path).await.refused(404, "NOT_FOUND");
    tom.post("/snippets", json!({"text": "Well done."})).await.expect(201);
});

both!(teacher_has_at_most_200_text_snippets, |app| {
    let (north, ada) = (&app.world.north, &app.world.ada.id);
    let rows: Vec<String> = (0..200)
        .map(|number| format!("('{north}', 's{number}', '{ada}', 'Text {number}', {number}, 1)"))
        .collect();
    let insert = "INSERT INTO text_snippets (organization_id, id, user_id, text, created_at, updated_at) VALUES";
    execute(&app.database, format!("{insert} {}", rows.join(", "))).await;
    let client = app.as_(&app.world.ada);
    client
        .post("/snippets", json!({"text": "One more"}))
        .await
        .refused(409, "LIMIT_REACHED");
    let all: Value = client.get("/snippets").await.expect(200);
    assert_eq!(
        (all.as_array().unwrap().len(), &all[0]["text"]),
        (200, &json!("Text 0"))
    );
});
