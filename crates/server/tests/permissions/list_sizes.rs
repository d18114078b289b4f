//! Limits the response size of the lists of a class: 8 groups on 10 topics, half of the work submitted.

use serde_json::{Value, json};

use test_support::topics::{group, link, mark_submitted, topic};

/// Maximum size of a list in bytes.
const LIMIT: usize = 60 * 1024;

both!(class_lists_stay_below_size_limit, |app| {
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let members = [&world.ben, &world.cem, &world.dana];
    let mut groups = Vec::new();
    for _ in 0..8 {
        groups.push(group(&ada, class, &members, json!({})).await);
    }
    let description = "Measure the temperature of the water at three places and draw a chart of it.";
    for number in 1..=10 {
        let new = json!({"title": format!("Experiment {number}"), "description": description, "groupIds": groups});
        let made = topic(&ada, class, new).await;
        for group in &groups[..4] {
            mark_submitted(app, link(&made, group), &world.ben, 1000).await;
        }
    }
    for list in ["groups", "assignments"] {
        for path in [
            format!("/{list}?classId={}", class.id),
            format!("/classes/{}/{list}", class.id),
        ] {
            let answer = ada.get(&path).await;
            println!("{path}: {} bytes", answer.bytes.len());
            assert!(answer.bytes.len() <= LIMIT, "{path} has {} bytes", answer.bytes.len());
            let found: Value = answer.expect(200);
            let links = found
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|one| one["groupAssignments"].as_array().unwrap());
            let texts: Vec<_> = links.map(|link| link["effectiveDescription"].as_str()).collect();
            assert_eq!(texts, vec![Some(description); 80], "{path}");
        }
    }
    // The detail response contains all fields.
    let detail = ada.get(&format!("/groups/{}", groups[0])).await.expect(200);
    let first = &detail["groupAssignments"][0];
    assert!(first["effectiveAttachments"].is_array() && first["currentSubmission"]["documents"].is_array());
});
