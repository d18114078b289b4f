//! Documents of workrooms.

use reqwest::Method;
use serde_json::{Value, json};

use test_support::office::docx;
use test_support::{Answer, Client, GroupRoom, TestApp, TestUser};

pub fn path(document: &Value) -> String {
    format!("/workrooms/documents/{}", id(document))
}

pub fn id(document: &Value) -> &str {
    document["id"].as_str().unwrap()
}

pub fn list(room: &GroupRoom) -> String {
    format!("/workrooms/{}/documents", room.id)
}

async fn create_blank(client: &Client, room: &GroupRoom, title: &str) -> Value {
    client
        .post(&list(room), json!({"title": title, "documentType": "word"}))
        .await
        .expect(201)
}

/// Replaces the content with a text document.
pub async fn put(client: &Client, document: &str, bytes: Vec<u8>, name: &str) -> Answer {
    let part = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
    let form = reqwest::multipart::Form::new().part("file", part);
    client
        .finish_showing(
            client
                .request(Method::PUT, &format!("{document}/content"))
                .multipart(form),
            Some(json!({"file": name})),
        )
        .await
}

/// Sends every request that changes a document.
pub async fn every_write(client: &Client, document: &str) -> Vec<Answer> {
    vec![
        client.patch(document, json!({"title": "Other"})).await,
        client.patch(document, json!({"assignmentId": null})).await,
        put(client, document, docx("other"), "a.docx").await,
        client.post(&format!("{document}/versions/1/restore"), json!({})).await,
        client.delete(document).await,
    ]
}

/// Sends every request that reads a document.
pub async fn every_read(client: &Client, document: &str) -> Vec<Answer> {
    vec![
        client.get(document).await,
        client.get(&format!("{document}/download")).await,
        client.get(&format!("{document}/versions")).await,
        client.get(&format!("{document}/versions/1/download")).await,
    ]
}

pub fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

/// Creates a workroom of Ben and Cem in class 7b.
pub async fn room(app: &TestApp) -> GroupRoom {
    app.room(&app.world.seven_b, &[&app.world.ben, &app.world.cem]).await
}

/// A document without comments as a list returns it.
fn in_list(document: &Value) -> Value {
    let mut listed = document.clone();
    listed["unreadComments"] = json!(0);
    listed["unreadMentions"] = json!(0);
    listed
}

both!(new_document_has_content_of_template, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let answer = ben
        .post(&list(&room), json!({"title": " Cells ", "documentType": "cell"}))
        .await;
    let location = answer.header("location").to_owned();
    let made = answer.expect(201);
    assert_eq!(location, format!("/api{}", path(&made)));
    let null = Value::Null;
    for (field, expected) in [
        ("title", json!("Cells")),
        ("workRoomId", json!(room.id)),
        ("groupId", json!(room.group)),
        ("documentType", json!("cell")),
        ("fileExtension", json!("xlsx")),
        ("status", json!("DRAFT")),
        ("version", json!(0)),
        ("size", json!(0)),
        ("createdById", json!(app.world.ben.id)),
        ("canEdit", json!(true)),
        ("mode", json!("edit")),
    ] {
        assert_eq!(made[field], expected, "{field}");
    }
    for field in [
        "statusBeforeLock",
        "lockedAt",
        "lockedByAssignmentId",
        "assignmentId",
        "lastEditedBy",
        "lastEditedByUser",
        "submittedAt",
        "submittedById",
        "grade",
        "points",
        "gradedAt",
        "gradedById",
        "feedback",
    ] {
        assert_eq!(made.get(field), Some(&null), "{field}");
    }
    let bytes = ben.get(&format!("{}/download", path(&made))).await;
    assert_eq!(bytes.bytes, include_bytes!("../../../adapters/templates/blank.xlsx"));
    assert_eq!(
        bytes.header("content-disposition"),
        "attachment; filename=\"Cells.xlsx\"; filename*=UTF-8''Cells.xlsx"
    );
    let part = ben
        .with("range", "bytes=0-1")
        .get(&format!("{}/download", path(&made)))
        .await;
    assert_eq!((part.status, part.bytes.as_slice()), (206, b"PK".as_slice()));
    assert_eq!(
        ben.get(&format!("{}/versions", path(&made))).await.expect(200),
        json!([])
    );
    let listed = ben.get(&format!("{}?status=DRAFT", list(&room))).await.expect(200);
    assert_eq!(listed, json!([in_list(&made)]));
    assert_eq!(
        ben.get(&format!("{}?status=LOCKED", list(&room))).await.expect(200),
        json!([])
    );
    assert!(app.stored_files().is_empty());
});

tenants!(invalid_fields_of_new_document_are_rejected, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let post = async |body: Value| ben.post(&list(&room), body).await;
    post(json!({"documentType": "word"})).await.invalid("title");
    post(json!({"title": " ", "documentType": "word"}))
        .await
        .invalid("title");
    post(json!({"title": "x"})).await.invalid("documentType");
    post(json!({"title": "x", "documentType": "pdf"}))
        .await
        .invalid("documentType");
    post(json!({"title": "x", "documentType": "word", "fileExtension": "xlsx"}))
        .await
        .invalid("fileExtension");
    post(json!({"title": "x", "fileExtension": "docm"}))
        .await
        .invalid("fileExtension");
    post(json!({"title": "x", "documentType": "word", "color": "red"}))
        .await
        .invalid("color");
    post(json!({"title": "x", "documentType": "word", "templateAttachmentId": "none"}))
        .await
        .refused(404, "NOT_FOUND");
    let made = create_blank(&ben, &room, "x").await;
    ben.patch(&path(&made), json!({"title": null})).await.invalid("title");
    ben.patch(&path(&made), json!({"owner": "me"})).await.invalid("owner");
    let same = ben.patch(&path(&made), json!({"version": 7})).await.expect(200);
    assert_eq!(same["version"], made["version"], "read-only fields are ignored");
    let mut whole = made.clone();
    whole["title"] = json!("New name");
    let renamed = ben.patch(&path(&made), whole).await.expect(200);
    assert_eq!(renamed["title"], "New name");
    ben.get(&format!("{}/versions/1/download", path(&made)))
        .await
        .refused(404, "NOT_FOUND");
    ben.get(&format!("{}/versions/x/download", path(&made)))
        .await
        .refused(404, "NOT_FOUND");
});

both!(documents_are_visible_only_with_their_group, |app| {
    let world = &app.world;
    let room = room(app).await;
    app.room(&world.seven_b, &[&world.dana]).await;
    let (ben, ada) = (app.as_(&world.ben), app.as_(&world.ada));
    let made = ben.upload(&list(&room), "a.docx", docx("a"), &[]).await.expect(201);
    let document = path(&made);
    let outsiders: [&TestUser; 6] = [
        &world.dana,
        &world.eli,
        &world.finn,
        &world.tom,
        &world.zoe,
        &world.zack,
    ];
    let unknown = ben
        .get("/workrooms/documents/00000000-0000-7000-8000-000000000000")
        .await
        .refused(404, "NOT_FOUND");
    for person in outsiders {
        let client = app.as_(person);
        let mut answers = every_read(&client, &document).await;
        answers.extend(every_write(&client, &document).await);
        answers.push(client.get(&list(&room)).await);
        answers.push(
            client
                .post(&list(&room), json!({"title": "x", "documentType": "word"}))
                .await,
        );
        answers.push(client.upload(&list(&room), "a.docx", docx("x"), &[]).await);
        for answer in answers {
            let body = answer.refused(404, "NOT_FOUND");
            assert_eq!(
                (&body["message"], body.get("details")),
                (&unknown["message"], None),
                "{}",
                person.name
            );
        }
    }
    app.stranger().get(&document).await.refused(401, "UNAUTHENTICATED");
    for person in [&world.ben, &world.cem, &world.ada, &world.adam, &world.olga] {
        let client = app.as_(person);
        assert_eq!(
            statuses(&every_read(&client, &document).await),
            [200; 4],
            "{}",
            person.name
        );
        client.patch(&document, json!({"title": person.name})).await.expect(200);
        put(&client, &document, docx(&person.name), "a.docx").await.expect(200);
    }
    assert_eq!(app.stored_files().len(), 6);
    app.as_(&world.cem).delete(&document).await.refused(403, "NOT_AUTHOR");

    // Until its start date only the staff can see the group, also in a draft class.
    app.set_group_start(&room, 99_999_999_999_999).await;
    assert_eq!(statuses(&every_read(&ben, &document).await), [404; 4]);
    assert_eq!(statuses(&every_write(&ben, &document).await), [404; 5]);
    ben.get(&list(&room)).await.refused(404, "NOT_FOUND");
    assert_eq!(statuses(&every_read(&ada, &document).await), [200; 4]);
    app.set_group_start(&room, 1).await;
    app.set_class_status(&world.seven_b, "DRAFT").await;
    assert_eq!(statuses(&every_read(&ben, &document).await), [404; 4]);
    assert_eq!(statuses(&every_read(&ada, &document).await), [200; 4]);
    app.set_class_status(&world.seven_b, "ACTIVE").await;
    ada.delete(&document).await.expect(200);
    ben.get(&document).await.refused(404, "NOT_FOUND");
});

both!(documents_of_archived_class_are_read_only, |app| {
    let room = room(app).await;
    let (ben, ada) = (app.as_(&app.world.ben), app.as_(&app.world.ada));
    let made = ben.upload(&list(&room), "a.docx", docx("a"), &[]).await.expect(201);
    app.set_class_status(&app.world.seven_b, "ARCHIVED").await;
    for client in [&ben, &ada] {
        for answer in every_write(client, &path(&made)).await {
            answer.refused(409, "CLASS_ARCHIVED");
        }
        client
            .post(&list(&room), json!({"title": "x", "documentType": "word"}))
            .await
            .refused(409, "CLASS_ARCHIVED");
        client
            .upload(&list(&room), "b.docx", docx("b"), &[])
            .await
            .refused(409, "CLASS_ARCHIVED");
        assert_eq!(statuses(&every_read(client, &path(&made)).await), [200; 4]);
    }
    let shown = ben.get(&path(&made)).await.expect(200);
    assert_eq!((&shown["status"], &shown["mode"]), (&json!("DRAFT"), &json!("view")));
    assert_eq!(app.stored_files().len(), 1);
});

tenants!(submitted_document_rejects_changes, |app| {
    let room = room(app).await;
    let topic = app.topic(&app.world.seven_b, &[&room]).await;
    let (ben, ada) = (app.as_(&app.world.ben), app.as_(&app.world.ada));
    let made = ben.upload(&list(&room), "a.docx", docx("a"), &[]).await.expect(201);
    let submission = app.insert_submission(id(&made), &topic, &room, &app.world.ada).await;
    for answer in every_write(&ben, &path(&made)).await {
        answer.refused(409, "ALREADY_SUBMITTED");
    }
    put(&ada, &path(&made), docx("b"), "b.docx")
        .await
        .refused(409, "ALREADY_SUBMITTED");
    ada.post(&format!("{}/versions/1/restore", path(&made)), json!({}))
        .await
        .refused(409, "ALREADY_SUBMITTED");
    ada.delete(&path(&made)).await.refused(409, "ALREADY_SUBMITTED");
    ada.patch(&path(&made), json!({"assignmentId": null}))
        .await
        .refused(409, "ALREADY_SUBMITTED");
    let renamed = ada.patch(&path(&made), json!({"title": "Renamed"})).await.expect(200);
    assert_eq!(
        (&renamed["title"], &renamed["mode"]),
        (&json!("Renamed"), &json!("view"))
    );

    // The grade is visible to the staff only until it is published.
    let graded = |document: &Value| ["grade", "points", "feedback", "gradedById"].map(|field| document[field].clone());
    let grade = [json!("2+"), json!(12.5), json!("Good"), json!(app.world.ada.id)];
    assert_eq!(graded(&ada.get(&path(&made)).await.expect(200)), grade);
    let nothing = [Value::Null, Value::Null, Value::Null, Value::Null];
    assert_eq!(graded(&ben.get(&path(&made)).await.expect(200)), nothing);
    assert_eq!(graded(&ben.get(&list(&room)).await.expect(200)[0]), nothing);
    app.publish(&submission).await;
    assert_eq!(graded(&ben.get(&path(&made)).await.expect(200)), grade);

    // A document that was submitted once cannot be deleted, even after the submission was withdrawn.
    app.withdraw(id(&made)).await;
    ada.delete(&path(&made)).await.refused(409, "ALREADY_SUBMITTED");
    put(&ben, &path(&made), docx("b"), "b.docx").await.expect(200);
});

both!(work_room_is_limited_to_100_documents, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    for number in 0..100 {
        create_blank(&ben, &room, &format!("{number}")).await;
    }
    let full = |answer: Answer| answer.refused(409, "LIMIT_REACHED");
    full(
        ben.post(&list(&room), json!({"title": "x", "documentType": "word"}))
            .await,
    );
    full(ben.upload(&list(&room), "a.docx", docx("a"), &[]).await);
    assert!(app.stored_files().is_empty(), "the refused upload is gone");
    let titles = ben.get(&list(&room)).await.expect(200);
    assert_eq!(titles.as_array().unwrap().len(), 100);
    assert_eq!(titles[99]["title"], "99");
});

tenants!(first_document_of_topic_starts_its_work, |app| {
    let world = &app.world;
    let room = room(app).await;
    let other = app.room(&world.seven_b, &[&world.dana]).await;
    let (one, two) = (
        app.topic(&world.seven_b, &[&room, &other]).await,
        app.topic(&world.seven_b, &[&room]).await,
    );
    let ben = app.as_(&world.ben);
    let new = json!({"title": "x", "documentType": "word", "assignmentId": two});
    let made = ben.post(&list(&room), new).await.expect(201);
    assert_eq!(made["assignmentId"], json!(two));
    assert_eq!(app.link_status(&one, &room).await, "NOT_STARTED");
    assert_eq!(app.link_status(&two, &room).await, "IN_PROGRESS");
    create_blank(&ben, &room, "loose").await;
    assert_eq!(app.link_status(&one, &room).await, "IN_PROGRESS");
    assert_eq!(app.link_status(&one, &other).await, "NOT_STARTED");
    let linked = ben
        .get(&format!("{}?assignmentId={two}", list(&room)))
        .await
        .expect(200);
    assert_eq!(linked, json!([in_list(&made)]));

    // Linking a document to a topic also starts the work on that topic.
    let three = app.topic(&world.seven_b, &[&room]).await;
    let relinked = ben
        .patch(&path(&made), json!({"assignmentId": three}))
        .await
        .expect(200);
    assert_eq!(relinked["assignmentId"], json!(three));
    assert_eq!(app.link_status(&three, &room).await, "IN_PROGRESS");
    assert_eq!(
        ben.patch(&path(&made), json!({"assignmentId": null})).await.expect(200)["assignmentId"],
        Value::Null
    );
});

both!(document_is_not_linked_to_topic_of_another_group, |app| {
    let world = &app.world;
    let room = room(app).await;
    let other = app.room(&world.seven_b, &[&world.dana]).await;
    let topic = app.topic(&world.seven_b, &[&other]).await;
    let foreign = app.topic(&world.south_class, &[]).await;
    let (ben, ada) = (app.as_(&world.ben), app.as_(&world.ada));
    let made = create_blank(&ben, &room, "x").await;
    for (client, topic, status, code) in [
        (&ben, &topic, 404, "NOT_FOUND"),
        (&ada, &topic, 409, "GROUP_NOT_ON_ASSIGNMENT"),
        (&ben, &foreign, 404, "NOT_FOUND"),
        (&ada, &foreign, 404, "NOT_FOUND"),
    ] {
        let new = json!({"title": "x", "documentType": "word", "assignmentId": topic});
        client.post(&list(&room), new).await.refused(status, code);
        client
            .patch(&path(&made), json!({"assignmentId": topic}))
            .await
            .refused(status, code);
        let fields = [("assignmentId", topic.as_str())];
        client
            .upload(&list(&room), "a.docx", docx("a"), &fields)
            .await
            .refused(status, code);
    }
    assert!(app.stored_files().is_empty());
});
