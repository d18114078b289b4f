//! Who listens: the Socket.IO channel at `/api/socket.io`. Rooms are joined by the server only; every event is told after
//! its commit.

pub mod bus;

/// The sockets of this instance.
#[derive(Clone, Default)]
pub struct Live {}

impl Live {
    /// No sockets yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets every socket go, so that clients connect to another instance.
    pub async fn close(&self) {}
}
