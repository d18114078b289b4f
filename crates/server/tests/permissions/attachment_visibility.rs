//! Compares the visibility rule for files of a topic with its SQL equivalent on random data.

use std::collections::BTreeSet;

use db::RequestContext;
use db::platform::CrossTenantReason;
use db::platform::resource_tenant::ResourceRef;
use domain::access::Viewer;
use domain::file::AssignmentAttachment;
use domain::group_assignment::can_view_file;
use domain::id::AssignmentId;
use serde_json::json;

use test_support::TestApp;
use test_support::rows::execute;
use test_support::topics::{LATER, group, id, ids, topic};

/// Returns a number below `n`. The sequence is the same in every run.
fn next_random(seed: &mut u64, n: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

/// Returns the files that the model rule shows to a student: reads everything as staff, then filters in Rust.
async fn visible_by_model(
    app: &TestApp,
    topic: &str,
    members: &[(String, Vec<String>)],
    student: &str,
) -> BTreeSet<String> {
    let (store, north) = (app.app.store(), ResourceRef::Organization(app.world.north.clone()));
    let facts = store
        .platform_read(CrossTenantReason::CommandLine, move |platform| {
            platform.find_resource_tenant(&north)
        })
        .await;
    let now = common::clock::now();
    let standpoint = RequestContext {
        tenant: facts.unwrap().unwrap().tenant,
        viewer: Viewer::Admin,
        actor: db::Actor {
            user: None,
            name: String::new(),
            role: "system",
            impersonated_by: None,
            api_token: None,
            request_id: None,
        },
        now,
    };
    let topic = AssignmentId::new(topic);
    let (whole, staged) = store
        .read(standpoint, move |scope| {
            Ok((scope.assignment(&topic)?.details, scope.staged_files(&topic)?))
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
        .filter(|link| is_own(link.link.group_id.as_str()) && link.group_context.is_open(now))
        .collect();
    let is_seen = |file: &&AssignmentAttachment| {
        own.iter()
            .any(|link| can_view_file(&whole.assignment, &link.link, file))
    };
    whole
        .attachments
        .iter()
        .chain(&staged)
        .filter(is_seen)
        .map(|file| file.id.to_string())
        .collect()
}

both!(file_visibility_in_model_and_sql_agrees, |app| {
    let (ada, class, world) = (app.as_(&app.world.ada), &app.world.seven_b, &app.world);
    let people = [&world.ben, &world.cem, &world.dana, &world.eli];
    let mut seed = 20_261_120;
    let (mut groups, mut members) = (Vec::new(), Vec::new());
    for number in 0..6 {
        let inside: Vec<_> = people.into_iter().filter(|_| next_random(&mut seed, 3) == 0).collect();
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
        let on: Vec<_> = groups
            .iter()
            .filter(|_| next_random(&mut seed, 2) == 0)
            .cloned()
            .collect();
        let made = topic(
            &ada,
            class,
            json!({"isShared": next_random(&mut seed, 2) == 0, "groupIds": on}),
        )
        .await;
        for _ in 0..7 {
            let links: Vec<String> = made["groupAssignments"].as_array().unwrap().iter().map(id).collect();
            let count = links.len() as u64;
            let (owner, staged) = match next_random(&mut seed, 4) {
                0 => ("NULL".to_owned(), "1"),
                1 => ("NULL".to_owned(), "NULL"),
                _ if count == 0 => ("NULL".to_owned(), "NULL"),
                _ => (
                    format!("'{}'", links[usize::try_from(next_random(&mut seed, count)).unwrap()]),
                    "NULL",
                ),
            };
            let file = common::clock::new_id();
            // The file is staged, but its timestamp is far in the future, so that the cleanup job does not delete it
            // during the test.
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
    let mut found_in_all = 0;
    for student in people {
        let client = app.as_(student);
        let listed = client.get("/assignments").await.expect(200);
        for topic in &topics {
            let expected = visible_by_model(app, topic, &members, &student.id).await;
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
                // The bytes of these rows do not exist, so a permitted download fails with a status other than 404.
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
            found_in_all += expected.len();
        }
    }
    let all = files.len() * people.len();
    assert!(
        found_in_all > all / 10 && found_in_all < all * 9 / 10,
        "{found_in_all} of {all}: the sample is too plain"
    );
});
