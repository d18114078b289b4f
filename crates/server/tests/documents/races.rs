//! Concurrent requests on one topic and in one group: uniqueness and limits hold, and a submission stays with its
//! authors when they change groups.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::json;

use test_support::document_server_fixture::path;
use test_support::rows::texts;
use test_support::topics::{LATER, group, id, ids, link, topic};

both!(concurrent_uploads_keep_limit_of_20_topic_files, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let own = id(link(&made, &rivers));
    let files = format!("/assignments/{}/attachments", id(&made));
    let staged = format!("{files}?staged=1");
    // Shared files and the files of one group count together. Staged files count separately.
    let uploads = (0..50).map(|number| {
        let (ada, name) = (&ada, format!("{number}.txt"));
        let to_one = [("groupAssignmentId", own.as_str())];
        let (path, fields) = match number % 5 {
            0 | 1 => (&files, &[][..]),
            2 => (&files, &to_one[..]),
            _ => (&staged, &[][..]),
        };
        let fields = fields.to_vec();
        async move { ada.upload(path, &name, name.clone().into_bytes(), &fields).await }
    });
    // 30 for the topic and 20 staged: all staged ones fit. The concurrency is the maximum for one person.
    let answers: Vec<_> = futures_util::stream::iter(uploads).buffer_unordered(8).collect().await;
    let accepted = answers.iter().filter(|answer| answer.status == 201).count();
    for refused in answers.into_iter().filter(|answer| answer.status != 201) {
        refused.refused(409, "LIMIT_REACHED");
    }
    assert_eq!(accepted, 40);
    assert_eq!(ids(&ada.get(&files).await.expect(200)).len(), 20);
    let rows = texts(&app.database, "SELECT file_key FROM assignment_attachments".to_owned()).await;
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 40);
});

both!(concurrently_attached_group_stays_in_one_course, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let rivers = group(&ada, class, &[], json!({"courseId": null})).await;
    let other = test_support::topics::course(&ada, class, "Other").await;
    let here = topic(&ada, class, json!({})).await;
    let there = topic(&ada, class, json!({"courseId": other})).await;
    let calls = (0..50).map(|number| {
        let client = if number % 3 == 0 { &adam } else { &ada };
        let topic = if number % 2 == 0 { &here } else { &there };
        let path = format!("/assignments/{}/groups", id(topic));
        let body = json!({"groupIds": [rivers]});
        async move { client.post(&path, body).await }
    });
    let answers = join_all(calls).await;
    let accepted: BTreeSet<String> = answers
        .into_iter()
        .filter_map(|answer| {
            if answer.status == 200 {
                let link = &answer.expect(200)[0];
                return Some(link["assignmentId"].as_str().unwrap().to_owned());
            }
            answer.refused(409, "COURSE_MISMATCH");
            None
        })
        .collect();
    assert_eq!(accepted.len(), 1, "the first course wins");
    let rows = texts(
        &app.database,
        format!("SELECT assignment_id FROM group_assignments WHERE group_id = '{rivers}'"),
    )
    .await;
    assert_eq!(rows, [accepted.first().cloned()]);
});

with_both_editors_long!(fifty_concurrent_submissions_number_attempts_in_order, |fixture| {
    let world = &fixture.app.world;
    let mut documents = Vec::new();
    for number in 0..5 {
        documents.push(fixture.document(&format!("Page {number}")).await);
    }
    let people = [&world.ben, &world.cem, &world.ada, &world.adam, &world.ben];
    let all = (0..50).map(|number| fixture.submit(people[number % 5], &documents[number / 10]));
    let answers = join_all(all).await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    for refused in answers.into_iter().filter(|answer| answer.status != 200) {
        refused.refused(409, "ALREADY_SUBMITTED");
    }
    assert_eq!(accepted, 5, "each document once");

    let lines =
        "SELECT CAST(attempt AS TEXT) || ' ' || status || ' ' || CAST((SELECT COUNT(*) FROM submission_documents d
        WHERE d.submission_id = submissions.id) AS TEXT) FROM submissions ORDER BY attempt";
    let attempts: Vec<String> = texts(&fixture.app.database, lines.to_owned())
        .await
        .into_iter()
        .flatten()
        .collect();
    let expected: Vec<String> = (1..=5)
        .map(|n| format!("{n} {} {n}", if n == 5 { "ACTIVE" } else { "SUPERSEDED" }))
        .collect();
    assert_eq!(attempts, expected, "each attempt is the whole set so far");
    let current = texts(
        &fixture.app.database,
        "SELECT s.status FROM group_assignments ga JOIN submissions s ON s.id = ga.current_submission_id".to_owned(),
    )
    .await;
    assert_eq!(current, [Some("ACTIVE".to_owned())]);
});

with_both_editors_long!(submission_stays_with_group_when_author_moves, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Rivers").await;
    let submission = fixture.submit(&world.ben, &document).await.expect(200)["submission"].clone();
    let lakes = group(&ada, &world.seven_b, &[], json!({})).await;
    let topic = format!("/assignments/{}", fixture.topic);
    ada.post(&format!("{topic}/groups"), json!({"groupIds": [lakes]}))
        .await
        .expect(200);

    let way = format!("/groups/{}/members/{}/move", fixture.group, world.cem.id);
    for dry_run in [true, false] {
        let moved = ada
            .post(&way, json!({"toGroupId": lakes, "dryRun": dry_run}))
            .await
            .expect(200);
        assert_eq!(moved["keptSubmissions"], json!([submission["id"]]));
    }
    let seen = ada.get(&topic).await.expect(200);
    let (left, new) = (link(&seen, &fixture.group), link(&seen, &lakes));
    let mut members: Vec<&str> = left["currentSubmission"]["memberIds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    members.sort_unstable();
    let mut expected = vec![world.ben.id.as_str(), world.cem.id.as_str()];
    expected.sort_unstable();
    assert_eq!(members, expected, "who took part is frozen");
    assert_eq!(
        (&new["status"], &new["currentSubmission"]),
        (&json!("NOT_STARTED"), &json!(null))
    );
    // Cem can read the new group and no longer the old one.
    let cem = fixture.app.as_(&world.cem);
    let bodies = cem.get(&topic).await.expect(200);
    assert_eq!(bodies["groupAssignments"].as_array().unwrap().len(), 1);
    assert_eq!(bodies["groupAssignments"][0]["groupId"], json!(lakes));
    cem.get(&path(&document, "")).await.refused(404, "NOT_FOUND");
    fixture.submit(&world.cem, &document).await.refused(404, "NOT_FOUND");
    // The next attempt of the group belongs to its members at that time. Cem is not one of them.
    let ben = fixture.app.as_(&world.ben);
    ben.post(&path(&document, "/unsubmit"), json!({})).await.expect(200);
    let again = fixture.submit(&world.ben, &document).await.expect(200);
    assert_eq!(again["submission"]["memberIds"], json!([world.ben.id]));
    let back = format!("/groups/{lakes}/members/{}/move", world.cem.id);
    let moved = ada.post(&back, json!({"toGroupId": fixture.group})).await.expect(200);
    assert_eq!(moved["keptSubmissions"], json!([]));
    // Cem rejoins and leaves again: the attempt made in between does not belong to Cem.
    let moved = ada.post(&way, json!({"toGroupId": lakes})).await.expect(200);
    assert_eq!(moved["keptSubmissions"], json!([submission["id"]]));
});

with_both_editors_long!(student_sees_only_visible_group_of_topic, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let topic = format!("/assignments/{}", fixture.topic);
    let document = fixture.document("Rivers").await;
    fixture.document_in(&fixture.hidden_room().await, "Hidden").await;
    fixture.submit(&world.ben, &document).await.expect(200);
    // A group of which Ben is a member, but which has not started.
    let coming = group(&ada, &world.seven_b, &[&world.ben], json!({"startDate": LATER})).await;
    ada.post(&format!("{topic}/groups"), json!({"groupIds": [coming]}))
        .await
        .expect(200);
    assert_eq!(ada.get(&topic).await.expect(200)["stats"]["groups"], 3);

    let ben = fixture.app.as_(&world.ben);
    let places = [
        topic.clone(),
        "/assignments".to_owned(),
        format!("/classes/{}/assignments", world.seven_b.id),
    ];
    for place in places {
        let answer = ben.get(&place).await.expect(200);
        let seen = answer.as_array().map_or(&answer, |list| &list[0]);
        let links = seen["groupAssignments"].as_array().unwrap();
        assert_eq!(links.len(), 1, "{place}");
        assert_eq!(
            (&links[0]["groupId"], &links[0]["status"]),
            (&json!(fixture.group), &json!("SUBMITTED"))
        );
        // Lists have no count.
        let count = if place == topic { json!(1) } else { json!(null) };
        assert_eq!(links[0]["submittedCount"], count);
        assert!(seen.get("stats").is_none(), "{place}");
        for hidden in [&fixture.hidden, &coming, &world.dana.id] {
            assert!(
                !answer.to_string().contains(hidden.as_str()),
                "{hidden} shows in {place}"
            );
        }
    }
    fixture.app.as_(&world.dana).get(&topic).await.refused(404, "NOT_FOUND");
});

both!(toggling_shared_topic_preserves_own_texts_and_files, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let own = json!([{"groupId": rivers, "descriptionOverride": " <b>Own</b>\u{301}\r\n—"}, {"groupId": lakes}]);
    let made = topic(&ada, class, json!({"isShared": false, "groups": own})).await;
    let path = format!("/assignments/{}", id(&made));
    let to_one = id(link(&made, &rivers));
    ada.upload(
        &format!("{path}/attachments"),
        "own.txt",
        b"own".to_vec(),
        &[("groupAssignmentId", to_one.as_str())],
    )
    .await
    .expect(201);
    let tables = ["group_assignments", "assignment_attachments"];
    let before = test_support::tables::fingerprints(&app.database).await;
    // Two users change it concurrently. The last change is Ada's.
    let flips = (0..20).map(|number| {
        let client = if number % 2 == 0 { &ada } else { &adam };
        let body = json!({"isShared": number % 3 == 0});
        client.patch(&path, body)
    });
    for answer in join_all(flips).await {
        answer.expect(200);
    }
    ada.patch(&path, json!({"isShared": true})).await.expect(200);
    ada.patch(&path, json!({"isShared": false})).await.expect(200);
    let after = test_support::tables::fingerprints(&app.database).await;
    for table in tables {
        assert_eq!(after[table], before[table], "{table}");
    }
});
