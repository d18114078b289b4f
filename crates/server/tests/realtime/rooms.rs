//! Room membership of sockets: events reach exactly the members of a room.

use std::time::Duration;

use common::clock;
use domain::id::{ClassId, OrganizationId};
use domain::realtime::{ConnectionTarget, Room, Signal};
use serde_json::json;

use test_support::realtime_rows::group_updated;
use test_support::realtime_rows::{GroupRow, user};
use test_support::{RealtimeRows, SocketListener, TestApp, clients_are_installed, raw_socket, until};

const TOMORROW: i64 = 86_400_000;

fn resync(parties: Vec<ConnectionTarget>, leave: Vec<Room>) -> Signal {
    Signal::Resync { parties, leave }
}

/// Opens a raw socket and waits until it has joined its rooms.
async fn connect_and_join(app: &TestApp, cookie: &str) -> raw_socket::Socket {
    let mut socket = raw_socket::Socket::open(app, cookie).await;
    socket.expect("ready").await;
    socket
}

both!(sockets_join_exactly_the_documented_rooms, |app| {
    let (world, live) = (&app.world, app.app.realtime());
    let rows = RealtimeRows(app);
    let now = clock::now().as_millis();
    let open = rows.group(&world.seven_b, 1, Some(now - 1000), &[&world.ben]).await;
    let hidden = rows
        .group(&world.seven_b, 2, Some(now + TOMORROW), &[&world.ben, &world.cem])
        .await;
    let mut sockets = Vec::new();
    for person in [
        &world.ben,
        &world.cem,
        &world.ada,
        &world.tom,
        &world.adam,
        &world.root,
        &world.zoe,
    ] {
        sockets.push(connect_and_join(app, &person.cookie).await);
    }
    let class = ClassId::new(&world.seven_b.id);
    let counts = [
        (Room::Group(open.id.clone()), 1),
        (Room::Group(hidden.id.clone()), 0),
        // Ben and Cem, Ada, and Adam. Tom teaches another class, Root has no active school.
        (Room::Class(class.clone()), 4),
        (Room::Staff(class), 2),
        (Room::Staff(ClassId::new(&world.eight_a.id)), 2),
        (Room::Staff(ClassId::new(&world.south_class.id)), 1),
        (Room::User(user(&world.root)), 1),
    ];
    for (room, expected) in counts {
        assert_eq!(live.count(&room), expected, "{room:?}");
    }
});

tenants!(event_for_several_rooms_reaches_each_socket_once, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows) = (&app.world, RealtimeRows(app));
    let group = rows.group(&world.seven_b, 1, None, &[&world.ben]).await;
    let mut ben = SocketListener::connect(app, &world.ben).await;
    let mut cem = SocketListener::connect(app, &world.cem).await;
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let mut zoe = SocketListener::connect(app, &world.zoe).await;
    let class = ClassId::new(&world.seven_b.id);
    let rooms = vec![
        Room::Group(group.id.clone()),
        Room::Staff(class.clone()),
        Room::User(user(&world.ben)),
    ];
    rows.emit(vec![
        group_updated(&world.north, rooms, "once"),
        group_updated(&world.north, Vec::new(), "to nobody"),
    ])
    .await;
    assert_eq!(ben.expect("group:updated").await["word"], "once");
    assert_eq!(ada.expect("group:updated").await["word"], "once");
    let mut except = group_updated(&world.north, vec![Room::Class(class)], "but Ben");
    if let Signal::Emit { except, .. } = &mut except {
        except.push(Room::User(user(&world.ben)));
    }
    rows.emit(vec![except]).await;
    assert_eq!(cem.expect("group:updated").await["word"], "but Ben");
    assert_eq!(ada.expect("group:updated").await["word"], "but Ben");
    for person in [&mut ben, &mut cem, &mut ada, &mut zoe] {
        person.expect_no_event(150).await;
    }
});

both!(user_events_reach_sockets_active_in_that_school_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows) = (&app.world, RealtimeRows(app));
    rows.join_school(&world.south, &world.ada, "teacher").await;
    let at_south = rows.another_session(&world.ada).await;
    rows.set_active_school(&at_south, Some(&world.south)).await;
    let mut north = SocketListener::connect(app, &world.ada).await;
    let mut south = SocketListener::connect(app, &at_south).await;
    let room = vec![Room::User(user(&world.ada))];
    rows.emit(vec![
        group_updated(&world.north, room.clone(), "north"),
        group_updated(&world.south, room.clone(), "south"),
    ])
    .await;
    assert_eq!(north.expect("group:updated").await["word"], "north");
    assert_eq!(south.expect("group:updated").await["word"], "south");
    let mut everywhere = group_updated(&world.north, room, "everywhere");
    if let Signal::Emit { organization, .. } = &mut everywhere {
        *organization = None;
    }
    rows.emit(vec![everywhere]).await;
    for socket in [&mut north, &mut south] {
        assert_eq!(socket.expect("group:updated").await["word"], "everywhere");
        socket.expect_no_event(100).await;
    }
});

both!(switching_school_changes_rooms_of_that_session_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows, live) = (&app.world, RealtimeRows(app), app.app.realtime());
    rows.join_school(&world.south, &world.ada, "teacher").await;
    let other = rows.another_session(&world.ada).await;
    let mut changing = SocketListener::connect(app, &world.ada).await;
    let _staying = SocketListener::connect(app, &other).await;
    let staff = Room::Staff(ClassId::new(&world.seven_b.id));
    assert_eq!(live.count(&staff), 2);
    rows.set_active_school(&world.ada, Some(&world.south)).await;
    let session = ConnectionTarget::Session(rows.session(&world.ada).await);
    rows.emit(vec![resync(vec![session.clone()], Vec::new())]).await;
    assert_eq!(changing.expect("ready").await["organizationId"], world.south.as_str());
    assert_eq!(live.count(&staff), 1, "the other session stays");
    assert!(live.is_online(&OrganizationId::new(&world.south), &user(&world.ada)));

    rows.set_active_school(&world.root, Some(&world.north)).await;
    let _root = SocketListener::connect(app, &world.root).await;
    assert_eq!(
        live.count(&staff),
        2,
        "a SUPER_ADMIN joins as admin of the active school"
    );
    rows.set_active_school(&world.ada, None).await;
    rows.emit(vec![resync(vec![session], Vec::new())]).await;
    assert!(changing.expect("ready").await["organizationId"].is_null());
});

tenants!(user_who_loses_group_receives_no_more_of_its_events, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows) = (&app.world, RealtimeRows(app));
    let group = rows.group(&world.seven_b, 1, None, &[&world.ben, &world.cem]).await;
    let room = Room::Group(group.id.clone());
    let mut ben = SocketListener::connect(app, &world.ben).await;
    let mut cem = SocketListener::connect(app, &world.cem).await;
    rows.remove(&group.id, &world.ben).await;
    rows.emit(vec![
        resync(vec![ConnectionTarget::User(user(&world.ben))], vec![room.clone()]),
        group_updated(&world.north, vec![room.clone()], "without Ben"),
    ])
    .await;
    assert_eq!(cem.expect("group:updated").await["word"], "without Ben");

    rows.start(&group.id, Some(clock::now().as_millis() + TOMORROW)).await;
    rows.emit(vec![
        resync(vec![ConnectionTarget::Room(room.clone())], vec![room.clone()]),
        group_updated(&world.north, vec![room.clone()], "hidden"),
        group_updated(&world.north, vec![Room::User(user(&world.cem))], "carried out"),
    ])
    .await;
    assert_eq!(
        cem.expect("group:updated").await["word"],
        "carried out",
        "and not `hidden`"
    );
    rows.start(&group.id, None).await;
    rows.emit(vec![
        resync(vec![ConnectionTarget::User(user(&world.cem))], Vec::new()),
        group_updated(&world.north, vec![room], "open again"),
    ])
    .await;
    assert_eq!(
        cem.expect("group:updated").await["word"],
        "open again",
        "and not `hidden`"
    );
    ben.expect_no_event(150).await;
});

both!(first_read_of_visible_group_joins_its_room, |app| {
    let (world, rows, live) = (&app.world, RealtimeRows(app), app.app.realtime());
    let tomorrow = clock::now().as_millis() + TOMORROW;
    let group = rows.group(&world.seven_b, 1, Some(tomorrow), &[&world.ben]).await;
    let room = Room::Group(group.id.clone());
    let _ben = connect_and_join(app, &world.ben.cookie).await;
    let north = OrganizationId::new(&world.north);
    assert_eq!(live.count(&room), 0, "the start lies ahead");
    // The start date passes: moving the start is equivalent to moving the clock. No event is emitted.
    rows.start(&group.id, Some(clock::now().as_millis() - 1000)).await;
    assert_eq!(live.count(&room), 0, "nothing happens when a date passes");
    app.as_(&world.ben).get("/groups").await.expect(200);
    until("Ben is in the room", async || live.count(&room) == 1).await;

    // The ids of visible groups are a hint; the database decides. The groups of one read are checked together, so all
    // of them are decided once Ben is in the room of Ben's group.
    let own = rows.group(&world.seven_b, 2, None, &[&world.ben]).await;
    let foreign = rows.group(&world.seven_b, 3, None, &[&world.cem]).await;
    let ahead = rows.group(&world.seven_b, 4, Some(tomorrow), &[&world.ben]).await;
    let shown = [&own, &foreign, &ahead].map(|row| row.id.clone());
    live.join_visible_groups(&north, &user(&world.ben), &shown);
    let count = |row: &GroupRow| live.count(&Room::Group(row.id.clone()));
    until("Ben is in the room of his user", async || count(&own) == 1).await;
    assert_eq!((count(&foreign), count(&ahead)), (0, 0));
});

both!(membership_change_during_connect_leaves_no_stale_room, |app| {
    let (world, rows, live) = (&app.world, RealtimeRows(app), app.app.realtime());
    for round in 0..40_u64 {
        let group = rows
            .group(&world.seven_b, i64::try_from(round).unwrap() + 1, None, &[&world.ben])
            .await;
        let room = Room::Group(group.id.clone());
        let remove = async {
            tokio::time::sleep(Duration::from_micros(round * 200)).await;
            rows.remove(&group.id, &world.ben).await;
            rows.emit(vec![resync(
                vec![ConnectionTarget::User(user(&world.ben))],
                vec![room.clone()],
            )])
            .await;
        };
        let connect = async {
            let mut socket = raw_socket::Socket::open(app, &world.ben.cookie).await;
            socket.expect("ready").await;
            socket
        };
        let (socket, ()) = tokio::join!(connect, remove);
        // The signal may still be in flight. A later one is processed after it.
        let marker = group_updated(&world.north, vec![Room::User(user(&world.ben))], "marker");
        rows.emit(vec![marker]).await;
        let mut socket = socket;
        socket.expect("group:updated").await;
        assert_eq!(live.count(&room), 0, "round {round}");
    }
});

#[test]
fn emitted_payload_equals_given_value() {
    let Signal::Emit { payload, .. } = group_updated("north", Vec::new(), "word") else {
        unreachable!()
    };
    assert_eq!(payload, json!({"word": "word"}));
}
