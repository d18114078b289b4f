//! Submission overview: visible rows, filters, and totals that match the rows.

use serde_json::{Value, json};

use test_support::rows::execute;
use test_support::topics::{LATER, group, id, link, mark_submitted, topic};
use test_support::{Client, TestApp};

const OVERVIEW: &str = "/assignments/submissions/overview";

async fn groups_of(client: &Client, query: &str) -> Vec<String> {
    let page = client.get(&format!("{OVERVIEW}{query}")).await.expect(200);
    let rows = page["data"].as_array().unwrap().iter();
    rows.map(|row| row["group"]["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Creates a topic of 7b with six groups, one in each state; one submission is late. Returns the topic and the groups.
async fn create_group_in_each_state(app: &TestApp) -> (Value, Vec<String>) {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let mut groups = Vec::new();
    for name in ["None", "Begun", "In", "Late", "Back", "Good"] {
        let more = json!({"name": name, "startDate": if name == "Begun" { json!(LATER) } else { Value::Null }});
        groups.push(group(&ada, class, &[&app.world.ben], more).await);
    }
    let topic = topic(&ada, class, json!({"title": "Rivers", "groupIds": groups})).await;
    for place in [2, 3, 5] {
        mark_submitted(app, link(&topic, &groups[place]), &app.world.ben, 1000).await;
    }
    for (place, status) in [(1, "IN_PROGRESS"), (4, "RETURNED"), (5, "GRADED")] {
        let set = format!(
            "UPDATE group_assignments SET status = '{status}' WHERE group_id = '{}'",
            groups[place]
        );
        execute(&app.database, set).await;
    }
    let late = id(link(&topic, &groups[3]));
    let set = format!("UPDATE submissions SET is_late = TRUE WHERE group_assignment_id = '{late}'");
    execute(&app.database, set).await;
    (topic, groups)
}

both!(status_counts_ignore_status_filter_and_page_size, |app| {
    let ada = app.as_(&app.world.ada);
    let (topic, groups) = create_group_in_each_state(app).await;
    let expected = json!([{
        "assignmentId": topic["id"], "title": "Rivers", "deadline": LATER, "groups": 6, "notStarted": 1, "inProgress": 1,
        "submitted": 2, "returned": 1, "graded": 1, "late": 1, "ungraded": 2,
    }]);
    for query in ["", "?status=GRADED", "?status=LATE&limit=1", "?limit=1"] {
        assert_eq!(
            ada.get(&format!("{OVERVIEW}{query}")).await.expect(200)["stats"],
            expected,
            "{query}"
        );
    }
    for (status, places) in [
        ("NOT_STARTED", vec![0]),
        ("IN_PROGRESS", vec![1]),
        ("SUBMITTED", vec![2, 3]),
        ("RETURNED", vec![4]),
        ("GRADED", vec![5]),
        ("LATE", vec![3]),
        ("UNGRADED", vec![2, 3]),
    ] {
        let wanted: Vec<&String> = places.iter().map(|place| &groups[*place]).collect();
        let found = groups_of(&ada, &format!("?status={status}")).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{status}");
    }
    ada.get(&format!("{OVERVIEW}?status=LOST")).await.invalid("status");
});

both!(overview_row_equals_group_link_of_topic, |app| {
    let ada = app.as_(&app.world.ada);
    let (topic, groups) = create_group_in_each_state(app).await;
    let path = format!("/assignments/{}", id(&topic));
    ada.upload(&format!("{path}/attachments"), "map.txt", b"a map".to_vec(), &[])
        .await
        .expect(201);
    let shown = ada.get(&path).await.expect(200);
    let page = ada.get(OVERVIEW).await.expect(200);
    let rows = page["data"].as_array().unwrap();
    assert_eq!(rows.len(), groups.len(), "hidden groups included");
    for (row, group) in rows.iter().zip(&groups) {
        let single = link(&shown, group);
        assert_eq!(row["groupAssignment"], *single);
        assert_eq!(row["currentSubmission"], single["currentSubmission"]);
        assert_eq!(
            (&row["group"], &row["assignment"]),
            (&single["group"], &single["assignment"])
        );
        assert_eq!(row["course"]["id"], app.world.seven_b.course.as_str());
        assert_eq!(row["subject"]["id"], app.world.seven_b.subject.as_str());
    }
});

both!(teachers_see_own_classes_and_students_are_rejected, |app| {
    let world = &app.world;
    let (topic, _) = create_group_in_each_state(app).await;
    let empty = json!({"data": [], "stats": [], "nextCursor": null});
    for outside in [&world.tom, &world.zoe, &world.zara] {
        let query = format!("{OVERVIEW}?classId={}", world.seven_b.id);
        assert_eq!(
            app.as_(outside).get(&query).await.expect(200),
            empty,
            "{}",
            outside.name
        );
    }
    app.as_(&world.ben).get(OVERVIEW).await.refused(403, "FORBIDDEN_ROLE");
    app.stranger().get(OVERVIEW).await.refused(401, "UNAUTHENTICATED");
    assert_eq!(groups_of(&app.as_(&world.adam), "").await.len(), 6);
    let root = app.as_(&world.root).get(OVERVIEW).await.expect(200);
    assert_eq!(
        (
            root["data"].as_array().unwrap().len(),
            &root["stats"][0]["assignmentId"]
        ),
        (6, &topic["id"])
    );
});

both!(filters_apply_to_rows_and_counts_alike, |app| {
    let world = &app.world;
    let (ada, adam) = (app.as_(&world.ada), app.as_(&world.adam));
    create_group_in_each_state(app).await;
    let second = group(&ada, &world.seven_b, &[&world.dana], json!({"name": "100%_sure"})).await;
    let other = topic(
        &ada,
        &world.seven_b,
        json!({"title": "Clouds", "groupIds": [second], "deadline": "2020-01-01T00:00:00Z"}),
    )
    .await;
    let toms = group(&app.as_(&world.tom), &world.eight_a, &[&world.finn], json!({})).await;
    topic(&app.as_(&world.tom), &world.eight_a, json!({"groupIds": [toms]})).await;
    for (query, rows, topics) in [
        ("", 8, 3),
        (&format!("?classId={}", world.seven_b.id), 7, 2),
        (&format!("?subjectId={}", world.seven_b.subject), 8, 3),
        (&format!("?courseId={}", world.eight_a.course), 1, 1),
        (&format!("?assignmentId={}", id(&other)), 1, 1),
        ("?search=cloud", 1, 1),
        ("?search=0%25_s", 1, 1),
        ("?search=dana", 1, 1),
        ("?search=%25", 1, 1),
        ("?classId=nobody", 0, 0),
    ] {
        let page = adam.get(&format!("{OVERVIEW}{query}")).await.expect(200);
        let stats = page["stats"].as_array().unwrap();
        let counted: i64 = stats.iter().map(|topic| topic["groups"].as_i64().unwrap()).sum();
        let found = i64::try_from(page["data"].as_array().unwrap().len()).unwrap();
        assert_eq!((found, counted, stats.len()), (rows, rows, topics), "{query}");
    }
});

both!(pages_follow_each_other_without_gap, |app| {
    let ada = app.as_(&app.world.ada);
    create_group_in_each_state(app).await;
    let extra = group(&ada, &app.world.seven_b, &[], json!({})).await;
    topic(
        &ada,
        &app.world.seven_b,
        json!({"title": "Old", "groupIds": [extra], "deadline": "2020-01-01T00:00:00Z"}),
    )
    .await;
    topic(
        &ada,
        &app.world.seven_b,
        json!({"title": "Same time", "groupIds": [extra]}),
    )
    .await;
    let all = groups_of(&ada, "").await;
    assert_eq!((all.len(), all.last()), (8, Some(&extra)), "the latest deadline first");
    for (person, limit) in [(&app.world.ada, 1), (&app.world.ada, 3), (&app.world.root, 3)] {
        let (client, mut found, mut cursor) = (app.as_(person), Vec::new(), String::new());
        loop {
            let page = client
                .get(&format!("{OVERVIEW}?limit={limit}{cursor}"))
                .await
                .expect(200);
            let rows = page["data"].as_array().unwrap().iter();
            found.extend(rows.map(|row| row["group"]["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(found, all, "{limit} a page for {}", person.name);
    }
});
