//! Ids in request bodies: an id from another room, topic, class or school counts as unknown, and nothing changes.

use serde_json::{Value, json};

use test_support::tables::fingerprints;
use test_support::topics::{group, id, link, topic};
use test_support::{Client, TestApp};

/// A group that works on its own topic.
struct GroupWithTopic {
    group: String,
    room: String,
    topic: String,
    link: String,
    topic_file: String,
    own_file: String,
    document: String,
    message: String,
    /// A file of the chat that no message references yet.
    unused_file: String,
}

async fn create_group_fixture(
    app: &TestApp,
    teacher: &Client,
    class: &test_support::TestClass,
    who: &test_support::TestUser,
) -> GroupWithTopic {
    let group = group(teacher, class, &[who], json!({})).await;
    let made = topic(teacher, class, json!({"isShared": false, "groupIds": [group]})).await;
    let (path, link) = (
        format!("/assignments/{}/attachments", id(&made)),
        id(link(&made, &group)),
    );
    let file = |name: &'static str, fields: Vec<(&'static str, String)>| {
        let (teacher, path) = (teacher.clone(), path.clone());
        async move {
            let fields: Vec<_> = fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
            id(&teacher.upload(&path, name, b"text".to_vec(), &fields).await.expect(201))
        }
    };
    let topic_file = file("all.txt", Vec::new()).await;
    let own_file = file("own.txt", vec![("groupAssignmentId", link.clone())]).await;
    let student = app.as_(who);
    let room = student.get(&format!("/workrooms/group/{group}")).await.expect(200);
    let room = id(&room);
    let new = json!({"title": "Page", "documentType": "word"});
    let document = student.post(&format!("/workrooms/{room}/documents"), new).await;
    let chat = format!("/workrooms/{room}/messages");
    let message = student.post(&chat, json!({"content": "Hello"})).await;
    let files = format!("{chat}/attachments");
    let unused_file = student.upload(&files, "waiting.txt", b"text".to_vec(), &[]).await;
    GroupWithTopic {
        document: id(&document.expect(201)),
        message: id(&message.expect(201)),
        unused_file: id(&unused_file.expect(201)),
        topic: id(&made),
        group,
        room,
        link,
        topic_file,
        own_file,
    }
}

async fn assert_not_found(client: &Client, who: &str, method: &str, path: &str, body: Value) {
    let answer = client.send(method.parse().unwrap(), path, Some(body.clone())).await;
    let context = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert_eq!(answer.status, 404, "{method} {path} with {body} as {who}: {context}");
    answer.refused(404, "NOT_FOUND");
}

sqlite!(foreign_ids_in_bodies_are_not_found, |app| {
    let world = &app.world;
    let (ada, tom, zoe) = (app.as_(&world.ada), app.as_(&world.tom), app.as_(&world.zoe));
    let here = create_group_fixture(app, &ada, &world.seven_b, &world.ben).await;
    let same_class = create_group_fixture(app, &ada, &world.seven_b, &world.cem).await;
    let other_class = create_group_fixture(app, &tom, &world.eight_a, &world.finn).await;
    let other_school = create_group_fixture(app, &zoe, &world.south_class, &world.zack).await;
    let before = fingerprints(&app.database).await;

    let ben = app.as_(&world.ben);
    let (documents, chat) = (
        format!("/workrooms/{}/documents", here.room),
        format!("/workrooms/{}/messages", here.room),
    );
    let document = format!("/workrooms/documents/{}", here.document);
    for there in [&same_class, &other_class, &other_school] {
        let tried = [
            (
                "POST",
                &documents,
                json!({"title": "x", "documentType": "word", "assignmentId": there.topic}),
            ),
            (
                "POST",
                &documents,
                json!({"title": "x", "templateAttachmentId": there.topic_file}),
            ),
            (
                "POST",
                &documents,
                json!({"title": "x", "templateAttachmentId": there.own_file}),
            ),
            ("PATCH", &document, json!({"assignmentId": there.topic})),
            (
                "POST",
                &format!("{document}/submit"),
                json!({"assignmentId": there.topic}),
            ),
            ("POST", &chat, json!({"content": "x", "replyToId": there.message})),
            (
                "POST",
                &chat,
                json!({"content": "x", "attachmentIds": [there.unused_file]}),
            ),
            (
                "POST",
                &format!("/workrooms/{}/read", here.room),
                json!({"lastReadMessageId": there.message}),
            ),
            (
                "POST",
                &"/messages".to_owned(),
                json!({"content": "x", "groupId": there.group}),
            ),
        ];
        for (method, path, body) in tried {
            assert_not_found(&ben, "Ben", method, path, body).await;
        }
    }
    // Students can write only to their teachers, not to any user whose id they know.
    for person in [&world.finn, &world.tom, &world.zoe, &world.root] {
        let mail = json!({"content": "x", "recipientIds": [person.id]});
        assert_not_found(&ben, "Ben", "POST", "/messages", mail).await;
    }

    let bulk = format!("/assignments/{}/bulk", here.topic);
    for there in [&same_class, &other_class, &other_school] {
        for field in ["addAttachmentIds", "removeAttachmentIds"] {
            assert_not_found(&ada, "Ada", "PATCH", &bulk, json!({field: [there.topic_file]})).await;
        }
        let files = format!("/assignments/{}/attachments", here.topic);
        let fields = [("groupAssignmentId", there.link.as_str())];
        let answer = ada.upload(&files, "x.txt", b"text".to_vec(), &fields).await;
        answer.refused(404, "NOT_FOUND");
    }
    // A teacher can see that a class of another teacher exists, but not its content.
    for there in [&other_class, &other_school] {
        for about in [
            json!({"groupAssignmentId": there.link, "text": "x"}),
            json!({"documentId": there.document, "text": "x"}),
        ] {
            assert_not_found(&ada, "Ada", "POST", "/feedback", about).await;
        }
    }
    let class = &world.seven_b;
    let (groups, path) = ("/groups".to_owned(), format!("/classes/{}", class.id));
    let south = &world.south_class;
    let tried = [
        ("POST", &groups, json!({"classId": south.id})),
        ("POST", &groups, json!({"classId": class.id, "courseId": south.course})),
        (
            "POST",
            &groups,
            json!({"classId": class.id, "subjectId": south.subject}),
        ),
        (
            "POST",
            &groups,
            json!({"classId": class.id, "assignmentId": other_school.topic}),
        ),
        (
            "POST",
            &groups,
            json!({"classId": class.id, "memberIds": [world.zack.id]}),
        ),
        (
            "PATCH",
            &format!("/groups/{}", here.group),
            json!({"courseId": south.course}),
        ),
        (
            "POST",
            &format!("/assignments/{}/groups", here.topic),
            json!({"groupIds": [other_school.group]}),
        ),
        (
            "PATCH",
            &format!("/assignments/{}", here.topic),
            json!({"courseId": south.course}),
        ),
        ("PATCH", &path, json!({"subjectIds": [class.subject, south.subject]})),
        ("PATCH", &path, json!({"homeroomId": south.id})),
        (
            "POST",
            &format!("{path}/students"),
            json!({"studentIds": [world.zack.id]}),
        ),
        ("POST", &format!("{path}/teachers"), json!({"userId": world.zoe.id})),
        (
            "POST",
            &format!("/groups/{}/members", here.group),
            json!({"userIds": [world.zack.id]}),
        ),
        (
            "POST",
            &format!("/groups/{}/members/{}/move", here.group, world.ben.id),
            json!({"toGroupId": other_school.group}),
        ),
    ];
    for (method, path, body) in tried {
        assert_not_found(&ada, "Ada", method, path, body).await;
    }
    let after = fingerprints(&app.database).await;
    let changed: Vec<_> = before
        .iter()
        .filter(|(table, print)| after.get(*table) != Some(print))
        .collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
});
