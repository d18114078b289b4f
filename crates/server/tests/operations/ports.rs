//! Ports that belong to one test. The system may give a port that is merely free to another test.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// Binds a port without listening: connections are refused as long as the socket exists.
pub fn closed_port() -> (TcpSocket, SocketAddr) {
    bind(false)
}

/// Like [`closed_port`], but a server that is started with this address can listen on it.
pub fn reserved_port() -> (TcpSocket, SocketAddr) {
    bind(true)
}

fn bind(is_shared: bool) -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(is_shared).unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}
