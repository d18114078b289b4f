//! Cloning a topic: what is copied, what is not, and which classes and courses accept the copy.

use serde_json::json;

use test_support::rows::texts;
use test_support::tables::fingerprints;
use test_support::topics::{LATER, course, group, id, link, topic};
use test_support::{SocketListener, clients_are_installed};

/// Fields that are copied.
const COPIED_FIELDS: [&str; 9] = [
    "title",
    "description",
    "isShared",
    "maxPoints",
    "gradeScale",
    "latePolicy",
    "requiredSubmissions",
    "classId",
    "courseId",
];
const NEW_DEADLINE: &str = "2098-06-01T10:00:00.000Z";

/// Counts the files below a folder.
fn count_files(folder: &std::path::Path) -> usize {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .map(|path| if path.is_dir() { count_files(&path) } else { 1 })
        .sum()
}

both!(topic_clone_copies_task_and_shared_files_but_no_groups, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let more = json!({
        "groups": [{"groupId": rivers, "descriptionOverride": "Own."}], "isShared": false, "maxPoints": 12.5,
        "gradeScale": "A to F", "latePolicy": "BLOCK", "requiredSubmissions": 3,
    });
    let old = topic(&ada, class, more).await;
    let (path, own_link) = (format!("/assignments/{}", id(&old)), id(link(&old, &rivers)));
    let files = format!("{path}/attachments");
    let shared = ada.upload(&files, "map.txt", b"a map".to_vec(), &[]).await.expect(201);
    let to_one = [("groupAssignmentId", own_link.as_str())];
    ada.upload(&files, "own.txt", b"own".to_vec(), &to_one)
        .await
        .expect(201);
    ada.upload(&format!("{files}?staged=1"), "later.txt", b"later".to_vec(), &[])
        .await
        .expect(201);
    let grace = json!({"lateAllowedUntil": LATER});
    ada.patch(&format!("{path}/groups/{rivers}"), grace).await.expect(200);
    ada.post(&format!("{path}/finish"), json!({})).await.expect(200);
    let before = ada.get(&path).await.expect(200);
    let mut listeners = None;
    if clients_are_installed() {
        listeners = Some((
            SocketListener::connect(app, &app.world.ada).await,
            SocketListener::connect(app, &app.world.ben).await,
        ));
    }

    let body = json!({"deadline": NEW_DEADLINE, "withFiles": true});
    let answer = ada.post(&format!("{path}/clone"), body).await;
    let location = answer.header("location").to_owned();
    let copy = answer.expect(201);
    assert_eq!(location, format!("/api/assignments/{}", id(&copy)));
    for field in COPIED_FIELDS {
        assert_eq!(copy[field], old[field], "{field}");
    }
    assert_eq!(
        (&copy["deadline"], &copy["status"]),
        (&json!(NEW_DEADLINE), &json!("ACTIVE"))
    );
    assert_eq!(
        (&copy["finishedAt"], &copy["groupAssignments"]),
        (&json!(null), &json!([]))
    );
    assert_eq!(copy["stats"]["groups"], 0);
    let attachments = copy["attachments"].as_array().unwrap();
    assert_eq!(attachments.len(), 1, "own files of groups and staged ones stay");
    assert_eq!(
        (&attachments[0]["fileName"], &attachments[0]["size"]),
        (&json!("map.txt"), &json!(5))
    );
    assert_ne!(attachments[0]["id"], shared["id"]);
    let copy_path = format!("/assignments/{}", id(&copy));
    assert_eq!(ada.get(&copy_path).await.expect(200), copy);
    assert_eq!(ada.get(&path).await.expect(200), before, "the old topic is as it was");
    if let Some((at_adas, at_bens)) = &mut listeners {
        let received = at_adas.expect("assignment:created").await;
        assert_eq!(
            (&received["assignmentId"], &received["groupIds"]),
            (&copy["id"], &json!([])),
            "{received}"
        );
        at_bens.expect_no_event(150).await;
    }

    // Students can see the copy once their group is assigned to it. They get the common description.
    ben.get(&copy_path).await.refused(404, "NOT_FOUND");
    ada.post(&format!("{copy_path}/groups"), json!({"groupIds": [rivers]}))
        .await
        .expect(200);
    let seen = ben.get(&copy_path).await.expect(200);
    let own = &seen["groupAssignments"][0];
    assert_eq!(
        (&own["effectiveDescription"], &own["lateAllowedUntil"]),
        (&json!("Draw one."), &json!(null))
    );

    let bare = ada
        .post(&format!("{path}/clone"), json!({"deadline": NEW_DEADLINE}))
        .await
        .expect(201);
    assert_eq!(bare["attachments"], json!([]), "files come only when asked for");

    // The copy has its own stored file: the original topic and its file can be deleted.
    ada.delete(&path).await.expect(200);
    test_support::document_server_fixture::eventually(async || {
        texts(&app.database, "SELECT id FROM file_removals".to_owned())
            .await
            .is_empty()
    })
    .await;
    let url = attachments[0]["url"].as_str().unwrap().trim_start_matches("/api");
    assert_eq!(ben.get(url).await.bytes, b"a map");
    let log = ada
        .get(&format!("/activity-logs?assignmentId={}&action=CREATE", id(&copy)))
        .await
        .expect(200);
    assert_eq!(
        log["data"][0]["details"],
        json!({"groupIds": [], "copiedFrom": {"id": old["id"], "title": old["title"]}})
    );
});

both!(topic_clone_requires_permission_on_source_and_target, |app| {
    let world = &app.world;
    let (ada, adam, tom) = (app.as_(&world.ada), app.as_(&world.adam), app.as_(&world.tom));
    let (here, there) = (&world.seven_b, &world.eight_a);
    let old = topic(&ada, here, json!({})).await;
    let source = format!("/assignments/{}", id(&old));
    ada.upload(&format!("{source}/attachments"), "map.txt", b"a map".to_vec(), &[])
        .await
        .expect(201);
    let path = format!("{source}/clone");
    let into = |class: &str| json!({"deadline": NEW_DEADLINE, "classId": class, "withFiles": true});
    let with_course =
        |class: &str, course: &str| json!({"deadline": NEW_DEADLINE, "classId": class, "courseId": course});
    let archived = course(&ada, here, "Archived").await;
    let status = json!({"status": "ARCHIVED"});
    ada.patch(&format!("/courses/{archived}"), status.clone())
        .await
        .expect(200);
    let souths = app.as_(&world.zara).get("/classes").await.expect(200);
    let foreign = id(&souths[0]);

    let before = fingerprints(&app.database).await;
    let files = count_files(&app.folder().join("files"));
    // A target that the caller cannot see returns 404, even if the rest of the body is also invalid.
    for (client, body) in [
        (&ada, into("none")),
        (&ada, into(&foreign)),
        (&ada, with_course(&there.id, "none")),
        (&app.as_(&world.zoe), json!({"deadline": NEW_DEADLINE})),
    ] {
        client.post(&path, body).await.refused(404, "NOT_FOUND");
    }
    // The caller can see both classes but does not manage both.
    ada.post(&path, into(&there.id)).await.refused(403, "NOT_CLASS_TEACHER");
    tom.post(&path, into(&there.id)).await.refused(403, "NOT_CLASS_TEACHER");
    tom.post(&path, json!({"deadline": NEW_DEADLINE}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    let ben = app.as_(&world.ben);
    ben.post(&path, json!({})).await.refused(403, "FORBIDDEN_ROLE");
    // The caller manages the classes involved, but the request is invalid.
    adam.post(&path, with_course(&there.id, &here.course))
        .await
        .refused(409, "CLASS_MISMATCH");
    ada.post(&path, json!({"deadline": NEW_DEADLINE, "courseId": there.course}))
        .await
        .refused(409, "CLASS_MISMATCH");
    ada.post(&path, with_course(&here.id, &archived))
        .await
        .refused(409, "COURSE_ARCHIVED");
    ada.post(&path, json!({"withFiles": true})).await.invalid("deadline");
    ada.post(&path, json!({"deadline": null})).await.invalid("deadline");
    for extra in ["title", "groupIds", "groups", "descriptionOverride"] {
        let mut body = json!({"deadline": NEW_DEADLINE});
        body[extra] = json!([]);
        ada.post(&path, body).await.invalid(extra);
    }
    assert_eq!(fingerprints(&app.database).await, before);
    assert_eq!(
        count_files(&app.folder().join("files")),
        files,
        "no bytes of copies that were refused"
    );

    // A caller that manages both classes may clone. Courses belong to classes, so the copy has no course unless one
    // is named.
    let colleague = json!({"userId": world.ada.id});
    tom.post(&format!("/classes/{}/teachers", there.id), colleague)
        .await
        .expect(200);
    let copy = ada.post(&path, into(&there.id)).await.expect(201);
    assert_eq!(
        (&copy["classId"], &copy["courseId"], &copy["createdById"]),
        (&json!(there.id), &json!(null), &json!(world.ada.id))
    );
    assert_eq!(copy["attachments"].as_array().unwrap().len(), 1);
    tom.get(&format!("/assignments/{}", id(&copy))).await.expect(200);
    let copy = ada.post(&path, with_course(&there.id, &there.course)).await.expect(201);
    assert_eq!(copy["courseId"], json!(there.course));

    // An archived course rejects the copy. A copy without a course is accepted.
    ada.patch(&format!("/courses/{}", here.course), status.clone())
        .await
        .expect(200);
    ada.post(&path, json!({"deadline": NEW_DEADLINE}))
        .await
        .refused(409, "COURSE_ARCHIVED");
    let free = json!({"deadline": NEW_DEADLINE, "courseId": null});
    assert_eq!(ada.post(&path, free).await.expect(201)["courseId"], json!(null));
    // An archived class can be the source of a copy, but not its target.
    ada.patch(&format!("/classes/{}", here.id), status).await.expect(200);
    ada.post(&path, json!({"deadline": NEW_DEADLINE, "courseId": null}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.post(&path, into(&there.id)).await.expect(201);
    let root = app.as_(&world.root);
    root.post(&path, into(&there.id)).await.expect(201);
});
