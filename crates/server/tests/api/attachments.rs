//! The files of topics: who sees which, what is staged, what goes (specification, Effective task text 4 and 5; contract
//! 3.6, 6.9, 11.7).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use groupwork::store::Standpoint;
use groupwork::store::platform::PlatformProof;
use groupwork::store::platform::homes::Home;
use model::access::Viewer;
use model::file::AssignmentAttachment;
use model::group_assignment::sees_file;
use model::id::AssignmentId;
use serde_json::{Value, json};

use crate::support::rows::{execute, texts};
use crate::support::tables::fingerprints;
use crate::support::topics::{LATER, group, id, ids, link, mark_finished, topic};
use crate::support::{Client, TestApp};

async fn add(client: &Client, topic: &Value, name: &str, fields: &[(&str, &str)]) -> Value {
    let path = format!("/assignments/{}/attachments", id(topic));
    client
        .upload(&path, name, format!("bytes of {name}").into_bytes(), fields)
        .await
        .expect(201)
}

fn download(file: &Value) -> String {
    file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned()
}

/// Waits until so many files are kept.
async fn eventually_kept(app: &TestApp, count: usize) {
    let folder = app.folder().join("files");
    let kept = || {
        let entries = std::fs::read_dir(&folder).unwrap().map(Result::unwrap);
        entries
            .filter(|entry| {
                entry.file_type().unwrap().is_file() && entry.file_name().to_string_lossy().ends_with(".txt")
            })
            .count()
    };
    let begun = Instant::now();
    while kept() != count {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{} files are kept, not {count}",
            kept()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

both!(a_file_is_for_all_groups_or_for_one, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let hidden = group(&ada, class, &[&app.world.dana], json!({"startDate": LATER})).await;
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groupIds": [rivers, lakes, hidden]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let shared = add(&ada, &made, "map.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let others = add(
        &ada,
        &made,
        "lakes.txt",
        &[("groupAssignmentId", &id(link(&made, &lakes)))],
    )
    .await;
    assert_eq!(
        (&shared["groupAssignmentId"], &shared["fileName"]),
        (&json!(null), &json!("map.txt"))
    );
    assert_eq!(
        (&shared["mimeType"], &shared["size"]),
        (&json!("text/plain; charset=utf-8"), &json!(16))
    );
    assert_eq!(
        (&shared["uploadedById"], &shared["isEffective"]),
        (&json!(app.world.ada.id), &json!(true))
    );
    assert!(shared.get("storedName").is_none() && shared.get("sha256").is_none());

    let all = [id(&shared), id(&own), id(&others)];
    assert_eq!(ids(&ada.get(&format!("{path}/attachments")).await.expect(200)), all);
    let seen = ada.get(&path).await.expect(200);
    assert_eq!(ids(&seen["attachments"]), all);
    assert_eq!(
        ids(&link(&seen, &rivers)["effectiveAttachments"]),
        [id(&shared), id(&own)]
    );
    assert_eq!(ids(&link(&seen, &hidden)["effectiveAttachments"]), [id(&shared)]);

    let ben = app.as_(&app.world.ben);
    let bens = ben.get(&format!("{path}/attachments")).await.expect(200);
    assert_eq!(ids(&bens), [id(&shared), id(&own)]);
    assert!(bens[0].get("isEffective").is_none());
    let listed = ben.get("/assignments").await.expect(200);
    assert_eq!(ids(&listed[0]["attachments"]), [id(&shared), id(&own)]);
    assert_eq!(
        ids(&listed[0]["groupAssignments"][0]["effectiveAttachments"]),
        [id(&shared), id(&own)]
    );
    let bytes = ben.get(&download(&own)).await;
    assert_eq!(
        (bytes.status, bytes.bytes.as_slice()),
        (200, &b"bytes of rivers.txt"[..])
    );
    assert!(
        bytes
            .header("content-disposition")
            .starts_with("attachment; filename=\"rivers.txt\"")
    );
    ben.get(&download(&others)).await.refused(404, "NOT_FOUND");
    for person in [
        &app.world.dana,
        &app.world.eli,
        &app.world.finn,
        &app.world.tom,
        &app.world.zoe,
        &app.world.zack,
    ] {
        app.as_(person).get(&download(&shared)).await.refused(404, "NOT_FOUND");
        app.as_(person)
            .get(&format!("{path}/attachments"))
            .await
            .refused(404, "NOT_FOUND");
    }
    let swapped = download(&shared).replace(&id(&made), &id(&topic(&ada, class, json!({})).await));
    ada.get(&swapped).await.refused(404, "NOT_FOUND");
});

both!(own_files_rest_while_the_topic_is_shared_and_come_back, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let path = format!("/assignments/{}", id(&made));
    add(&ada, &made, "map.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let rows = "SELECT id || file_key || COALESCE(group_assignment_id, '-') || sha256 || created_at FROM assignment_attachments ORDER BY id";
    let before = texts(&app.database, rows.to_owned()).await;

    ada.patch(&path, json!({"isShared": true})).await.expect(200);
    ben.get(&download(&own)).await.refused(404, "NOT_FOUND");
    let seen = ada.get(&path).await.expect(200);
    assert_eq!(
        (
            &seen["attachments"][0]["isEffective"],
            &seen["attachments"][1]["isEffective"]
        ),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        link(&seen, &rivers)["effectiveAttachments"].as_array().unwrap().len(),
        1
    );
    assert_eq!(ada.get(&download(&own)).await.status, 200, "staff still reach it");
    let added = add(
        &ada,
        &made,
        "more.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    assert_eq!(added["isEffective"], false);
    ada.delete(&format!("{path}/attachments/{}", id(&added)))
        .await
        .expect(200);

    ada.patch(&path, json!({"isShared": false})).await.expect(200);
    assert_eq!(ben.get(&download(&own)).await.bytes, b"bytes of rivers.txt");
    assert_eq!(texts(&app.database, rows.to_owned()).await, before);
});

both!(files_that_do_not_fit_are_refused_and_nothing_is_kept, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let other = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let path = format!("/assignments/{}/attachments", id(&made));
    for number in 0..19 {
        add(&ada, &made, &format!("{number}.txt"), &[]).await;
    }
    let before = fingerprints(&app.database).await;
    let send = async |client: &Client, name: &str, fields: &[(&str, &str)]| {
        client.upload(&path, name, b"text".to_vec(), fields).await
    };
    let elsewhere = id(link(&other, &rivers));
    send(&ada, "a.txt", &[("groupAssignmentId", &elsewhere)])
        .await
        .refused(404, "NOT_FOUND");
    send(&ada, "a.txt", &[("groupAssignmentId", "none")])
        .await
        .refused(404, "NOT_FOUND");
    send(&ada, "a.txt", &[("groupId", &rivers)]).await.invalid("groupId");
    send(&ada, "a.html", &[]).await.refused(415, "UNSUPPORTED_FILE_TYPE");
    ada.post(&path, json!({})).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let own = id(link(&made, &rivers));
    ada.upload(
        &format!("{path}?staged=1"),
        "a.txt",
        b"text".to_vec(),
        &[("groupAssignmentId", &own)],
    )
    .await
    .invalid("groupAssignmentId");
    send(&app.as_(&app.world.ben), "a.txt", &[])
        .await
        .refused(403, "FORBIDDEN_ROLE");
    send(&app.as_(&app.world.tom), "a.txt", &[])
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    send(&app.as_(&app.world.zoe), "a.txt", &[])
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
    eventually_kept(app, 19).await;

    let last = add(&ada, &made, "last.txt", &[("groupAssignmentId", &own)]).await;
    send(&ada, "a.txt", &[]).await.refused(409, "LIMIT_REACHED");
    let gone = format!("{path}/{}", id(&last));
    app.as_(&app.world.ben)
        .delete(&gone)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.tom)
        .delete(&gone)
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&app.world.zoe).delete(&gone).await.refused(404, "NOT_FOUND");
    ada.delete(&format!("/assignments/{}/attachments/{}", id(&other), id(&last)))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ada.delete(&gone).await.expect(200), json!({"success": true}));
    ada.delete(&gone).await.refused(404, "NOT_FOUND");
    eventually_kept(app, 19).await;
    mark_finished(app, &id(&made)).await;
    send(&ada, "a.txt", &[]).await.refused(409, "ASSIGNMENT_FINISHED");
    let first = ids(&ada.get(&path).await.expect(200))[0].clone();
    ada.delete(&format!("{path}/{first}"))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
});

both!(a_staged_file_waits_for_the_bulk_edit_that_names_it, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let other = topic(&ada, class, json!({"title": "Other"})).await;
    let path = format!("/assignments/{}", id(&made));
    let stage = async |topic: &Value, name: &str| {
        let path = format!("/assignments/{}/attachments?staged=1", id(topic));
        ada.upload(&path, name, name.as_bytes().to_vec(), &[]).await.expect(201)
    };
    let old = add(&ada, &made, "old.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "own.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let (staged, elsewhere) = (stage(&made, "new.txt").await, stage(&other, "other.txt").await);
    assert_eq!(staged["isEffective"], false);
    ben.get(&download(&staged)).await.refused(404, "NOT_FOUND");
    for client in [&ada, &ben] {
        assert_eq!(
            ids(&client.get(&format!("{path}/attachments")).await.expect(200)),
            [id(&old), id(&own)]
        );
    }
    let before = fingerprints(&app.database).await;
    let edit = json!({"addAttachmentIds": [id(&staged)], "removeAttachmentIds": [id(&old)]});
    let preview = ada
        .patch(&format!("{path}/bulk?dryRun=1"), edit.clone())
        .await
        .expect(200);
    let named = |file: &Value| json!([{"id": file["id"], "fileName": file["fileName"]}]);
    assert_eq!(
        preview["changes"],
        json!({"attachments": {"from": named(&old), "to": named(&staged)}})
    );
    for (key, file) in [
        ("addAttachmentIds", &elsewhere),
        ("addAttachmentIds", &old),
        ("addAttachmentIds", &own),
        ("removeAttachmentIds", &own),
        ("removeAttachmentIds", &staged),
        ("removeAttachmentIds", &elsewhere),
    ] {
        ada.patch(&format!("{path}/bulk"), json!({"title": "T", key: [id(file)]}))
            .await
            .refused(404, "NOT_FOUND");
    }
    ada.patch(
        &format!("{path}/bulk"),
        json!({"addAttachmentIds": [id(&staged), id(&staged)]}),
    )
    .await
    .invalid("addAttachmentIds");
    assert_eq!(fingerprints(&app.database).await, before);

    let done = ada.patch(&format!("{path}/bulk"), edit).await.expect(200);
    assert_eq!(done["updated"], json!({"attachments": named(&staged)}));
    assert_eq!(
        ids(&ben.get(&format!("{path}/attachments")).await.expect(200)),
        [id(&own), id(&staged)]
    );
    assert_eq!(ben.get(&download(&staged)).await.bytes, b"new.txt");
    ben.get(&download(&old)).await.refused(404, "NOT_FOUND");
    eventually_kept(app, 3).await;

    execute(
        &app.database,
        format!(
            "UPDATE assignment_attachments SET staged_at = 1 WHERE id = '{}'",
            id(&elsewhere)
        ),
    )
    .await;
    eventually_kept(app, 2).await;
    ada.get(&download(&elsewhere)).await.refused(404, "NOT_FOUND");
});

both!(own_files_go_with_the_link_and_all_files_with_the_topic, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let path = format!("/assignments/{}", id(&made));
    let shared = add(&ada, &made, "map.txt", &[]).await;
    add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    eventually_kept(app, 2).await;
    ada.delete(&format!("{path}/groups/{rivers}")).await.expect(200);
    assert_eq!(
        ids(&ada.get(&format!("{path}/attachments")).await.expect(200)),
        [id(&shared)]
    );
    ada.delete(&path).await.expect(200);
    let rows = texts(&app.database, "SELECT id FROM assignment_attachments".to_owned()).await;
    assert_eq!(rows, Vec::<Option<String>>::new());
});

/// A number below `n`, the same in every run.
fn draw(seed: &mut u64, n: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

/// What the rule of the model lets a student see of a topic: everything read as staff, then filtered by hand.
async fn by_the_rule(app: &TestApp, topic: &str, members: &[(String, Vec<String>)], student: &str) -> BTreeSet<String> {
    let (store, north) = (app.app.store(), Home::Organization(app.world.north.clone()));
    let facts = store
        .platform_read(PlatformProof::command_line(), move |platform| platform.home_of(&north))
        .await;
    let now = groupwork::clock::now();
    let standpoint = Standpoint {
        tenant: facts.unwrap().unwrap().tenant,
        viewer: Viewer::Admin,
        actor: groupwork::store::Actor {
            user: None,
            name: String::new(),
            role: "system",
            impersonated_by: None,
            request_id: None,
        },
        now,
    };
    let topic = AssignmentId::new(topic);
    let (whole, staged) = store
        .read(standpoint, move |scope| {
            Ok((scope.assignment(&topic)?.whole, scope.staged_files(&topic)?))
        })
        .await
        .unwrap();
    let is_own = |group: &str| {
        members
            .iter()
            .any(|(id, users)| id == group && users.iter().any(|user| user == student))
    };
    let own: Vec<_> = whole
        .links
        .iter()
        .filter(|link| is_own(link.link.group_id.as_str()) && link.place.is_open(now))
        .collect();
    let is_seen = |file: &&AssignmentAttachment| own.iter().any(|link| sees_file(&whole.assignment, &link.link, file));
    whole
        .attachments
        .iter()
        .chain(&staged)
        .filter(is_seen)
        .map(|file| file.id.to_string())
        .collect()
}

both!(the_rule_of_files_and_its_twin_agree, |app| {
    let (ada, class, world) = (app.as_(&app.world.ada), &app.world.seven_b, &app.world);
    let people = [&world.ben, &world.cem, &world.dana, &world.eli];
    let mut seed = 20_261_120;
    let (mut groups, mut members) = (Vec::new(), Vec::new());
    for number in 0..6 {
        let inside: Vec<_> = people.into_iter().filter(|_| draw(&mut seed, 3) == 0).collect();
        let start = if number % 3 == 2 { json!(LATER) } else { json!(null) };
        let group = group(&ada, class, &inside, json!({"startDate": start})).await;
        members.push((
            group.clone(),
            inside.iter().map(|person| person.id.clone()).collect::<Vec<_>>(),
        ));
        groups.push(group);
    }
    let (mut topics, mut files) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let on: Vec<_> = groups.iter().filter(|_| draw(&mut seed, 2) == 0).cloned().collect();
        let made = topic(
            &ada,
            class,
            json!({"isShared": draw(&mut seed, 2) == 0, "groupIds": on}),
        )
        .await;
        for _ in 0..7 {
            let links: Vec<String> = made["groupAssignments"].as_array().unwrap().iter().map(id).collect();
            let count = links.len() as u64;
            let (owner, staged) = match draw(&mut seed, 4) {
                0 => ("NULL".to_owned(), "1"),
                1 => ("NULL".to_owned(), "NULL"),
                _ if count == 0 => ("NULL".to_owned(), "NULL"),
                _ => (
                    format!("'{}'", links[usize::try_from(draw(&mut seed, count)).unwrap()]),
                    "NULL",
                ),
            };
            let file = groupwork::clock::new_id();
            // Staged long ago, but far in the future for the sweep, so that it stays during this test.
            let staged = if staged == "1" { "4000000000000" } else { staged };
            execute(&app.database, format!(
                "INSERT INTO assignment_attachments (organization_id, id, assignment_id, group_assignment_id, file_name, mime_type, \
                 size, sha256, file_key, staged_at, uploaded_by_id, created_at) VALUES ('{}', '{file}', '{}', {owner}, 'f.txt', \
                 'text/plain', 1, 'x', '{file}.txt', {staged}, '{}', 1)",
                world.north, id(&made), world.ada.id,
            )).await;
            files.push((id(&made), file));
        }
        topics.push(id(&made));
    }
    let mut seen = 0;
    for student in people {
        let client = app.as_(student);
        let listed = client.get("/assignments").await.expect(200);
        for topic in &topics {
            let expected = by_the_rule(app, topic, &members, &student.id).await;
            let answer = client.get(&format!("/assignments/{topic}/attachments")).await;
            let found: BTreeSet<String> = if answer.status == 404 {
                BTreeSet::new()
            } else {
                ids(&answer.expect(200)).into_iter().collect()
            };
            assert_eq!(found, expected, "{} on {topic}", student.name);
            let in_list = listed.as_array().unwrap().iter().find(|listed| listed["id"] == *topic);
            let in_list: BTreeSet<String> = in_list.map_or(BTreeSet::new(), |topic| {
                ids(&topic["attachments"]).into_iter().collect()
            });
            assert_eq!(in_list, expected, "{} lists {topic}", student.name);
            for (_, file) in files.iter().filter(|(of, _)| of == topic) {
                // The bytes of these rows do not exist: whoever gets past the rule meets that fault.
                let status = client
                    .get(&format!("/assignments/{topic}/attachments/{file}/download"))
                    .await
                    .status;
                assert_eq!(
                    status == 404,
                    !expected.contains(file),
                    "{} downloads {file}: {status}",
                    student.name
                );
            }
            seen += expected.len();
        }
    }
    let all = files.len() * people.len();
    assert!(
        seen > all / 10 && seen < all * 9 / 10,
        "{seen} of {all}: the sample is too plain"
    );
});
