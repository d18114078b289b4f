//! Events between the first response of a page and the moment when its socket has joined its rooms.

use serde_json::json;

use test_support::{SocketListener, clients_are_installed};

both!(ready_names_events_missed_since_first_response, |app| {
    if !clients_are_installed() {
        return;
    }
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    // The arrival of an event here proves that the instance has recorded it.
    let mut listening = SocketListener::connect(app, &world.ada).await;
    let since = ben.get("/users/me").await.header("event-position").to_owned();
    assert_ne!(since, "");

    let mut quiet = SocketListener::open_since(app, &world.ben, &since);
    assert_eq!(quiet.expect("ready").await["missed"], json!([]));

    let hidden = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id], "startDate": "2099-01-01T00:00:00Z"});
    ada.post("/groups", hidden).await.expect(201);
    listening.expect("group:created").await;
    let mut ben_socket = SocketListener::open_since(app, &world.ben, &since);
    assert_eq!(
        ben_socket.expect("ready").await["missed"],
        json!([]),
        "the group is hidden"
    );
    let mut ada_socket = SocketListener::open_since(app, &world.ada, &since);
    let ready = ada_socket.expect("ready").await;
    let missed = ready["missed"].as_array().unwrap();
    assert!(missed.contains(&json!("group:created")), "{ready}");

    let visible = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
    ada.post("/groups", visible).await.expect(201);
    listening.expect("group:created").await;
    let mut late = SocketListener::open_since(app, &world.ben, &since);
    let ready = late.expect("ready").await;
    let missed = ready["missed"].as_array().unwrap();
    assert!(missed.contains(&json!("group:created")), "{ready}");
    let mut other_school = SocketListener::open_since(app, &world.zoe, &since);
    assert_eq!(other_school.expect("ready").await["missed"], json!([]));

    let mut unknown = SocketListener::open_since(app, &world.ben, "00000000-1");
    assert_eq!(
        unknown.expect("ready").await["missed"],
        json!(null),
        "of another instance"
    );
    let mut without = SocketListener::open(
        app,
        "Ben",
        Some(&world.ben.cookie),
        Some("http://school.test"),
        &["websocket"],
    );
    assert_eq!(without.expect("ready").await["missed"], json!(null));
});
