//! Events of changes that were made before a socket connected.

use domain::id::ClassId;
use domain::realtime::Room;

use test_support::realtime_rows::group_updated;
use test_support::{RealtimeRows, SocketListener, TestApp};

/// Discards the events of earlier changes. On PostgreSQL, they may arrive after the responses to the changes, but events
/// keep their order. The users belong to 7b.
pub async fn discard_earlier_events(app: &TestApp, sockets: &mut [SocketListener]) {
    let room = Room::Class(ClassId::new(&app.world.seven_b.id));
    let last = group_updated(&app.world.north, vec![room], "last");
    RealtimeRows(app).emit(vec![last]).await;
    for socket in sockets {
        socket
            .expect_where("group:updated", |event| event["word"] == "last")
            .await;
        socket.discard();
    }
}
