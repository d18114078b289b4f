//! Files of a group: its students can read them while they can see the group, its teachers manage them.

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use test_support::topics::{LATER, group};
use test_support::{Answer, Client};

async fn add(client: &Client, group: &str, name: &str) -> Answer {
    let path = format!("/groups/{group}/attachments");
    client
        .upload(&path, name, format!("bytes of {name}").into_bytes(), &[])
        .await
}

fn download(file: &Value) -> String {
    file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned()
}

tenants!(group_files_are_visible_only_with_their_group, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let rivers = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let hidden = group(&ada, &world.seven_b, &[&world.ben], json!({"startDate": LATER})).await;
    let map = add(&ada, &rivers, "map.txt").await.expect(201);
    let secret = add(&ada, &hidden, "secret.txt").await.expect(201);
    let list = format!("/groups/{rivers}/attachments");
    let (ben, cem, tom) = (app.as_(&world.ben), app.as_(&world.cem), app.as_(&world.tom));

    assert_eq!(ben.get(&list).await.expect(200), json!([map]));
    assert_eq!(
        ben.get(&format!("/groups/{rivers}")).await.expect(200)["attachments"],
        json!([map])
    );
    assert_eq!(ben.get(&download(&map)).await.bytes, b"bytes of map.txt");
    for stranger in [&cem, &tom, &app.as_(&world.zoe)] {
        stranger.get(&list).await.refused(404, "NOT_FOUND");
        stranger.get(&download(&map)).await.refused(404, "NOT_FOUND");
    }
    // Ben is also in the hidden group and must not learn about its files.
    ben.get(&download(&secret)).await.refused(404, "NOT_FOUND");
    ben.get(&format!("/groups/{hidden}/attachments"))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ada.get(&download(&secret)).await.status, 200);
    // A file is found in its own group only.
    let crossed = download(&map).replace(&rivers, &hidden);
    ada.get(&crossed).await.refused(404, "NOT_FOUND");

    add(&ben, &rivers, "mine.txt").await.refused(403, "FORBIDDEN_ROLE");
    add(&tom, &rivers, "mine.txt").await.refused(403, "NOT_CLASS_TEACHER");
    add(&ada, &rivers, "macro.docm")
        .await
        .refused(415, "UNSUPPORTED_FILE_TYPE");
    let gone = format!("{list}/{}", map["id"].as_str().unwrap());
    tom.delete(&gone).await.refused(403, "NOT_CLASS_TEACHER");
    ada.delete(&gone).await.expect(200);
    ada.delete(&gone).await.refused(404, "NOT_FOUND");
    ben.get(&download(&map)).await.refused(404, "NOT_FOUND");
});

tenants!(concurrent_uploads_keep_limit_of_20_group_files, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let rivers = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let names: Vec<String> = (0..30).map(|number| format!("page {number}.txt")).collect();
    // As many concurrent uploads as one person may send.
    let uploads = futures_util::stream::iter(names.iter().map(|name| add(&ada, &rivers, name)));
    let answers: Vec<_> = uploads.buffer_unordered(8).collect().await;
    let kept = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(kept, 20);
    for refused in answers.into_iter().filter(|answer| answer.status != 201) {
        refused.refused(409, "LIMIT_REACHED");
    }
    let list = ada.get(&format!("/groups/{rivers}/attachments")).await.expect(200);
    assert_eq!(list.as_array().unwrap().len(), 20);
});

tenants!(fifty_concurrent_groups_get_distinct_numbers, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let class = &world.seven_b;
    let new = json!({"classId": class.id, "courseId": class.course});
    let made = (0..50).map(|_| ada.post("/groups", new.clone()));
    let mut numbers = Vec::new();
    for answer in futures_util::future::join_all(made).await {
        numbers.push(answer.expect(201)["groupNumber"].as_i64().unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=50).collect::<Vec<i64>>());
});
