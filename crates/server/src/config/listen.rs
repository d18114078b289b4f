//! The address on which the service listens: a host and a port, or the path of a Unix socket.

use std::fmt;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;
use api::server::Listener;
use tokio::net::{TcpListener, UnixListener, UnixStream};

/// The prefix of a Unix socket.
const UNIX: &str = "unix:";
/// A proxy that runs as another user reaches the socket through its group.
const SOCKET_MODE: u32 = 0o660;

/// `host:port` or `unix:/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl ListenAddress {
    /// Returns whether only this machine can connect. A host name other than `localhost` may have any address.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp { host, .. } => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            Self::Unix(_) => true,
        }
    }

    /// Returns the path of a Unix socket.
    pub fn socket(&self) -> Option<&Path> {
        match self {
            Self::Tcp { .. } => None,
            Self::Unix(path) => Some(path),
        }
    }

    /// Returns the URL at which a client on this machine reaches the service; on a Unix socket the host has no
    /// meaning.
    pub fn local_url(&self) -> String {
        match self {
            Self::Tcp { host, port } => match host.parse::<IpAddr>() {
                Ok(address) if address.is_unspecified() => {
                    format!("http://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, *port)))
                }
                _ => format!("http://{self}"),
            },
            Self::Unix(_) => "http://localhost".to_owned(),
        }
    }

    /// Starts to listen. Replaces the socket of a service that has ended without removing it.
    pub async fn bind(&self) -> anyhow::Result<Listener> {
        let bound = match self {
            Self::Tcp { host, port } => TcpListener::bind((host.as_str(), *port)).await.map(Listener::from),
            Self::Unix(path) => bind_socket(path).await.map(Listener::from),
        };
        bound.with_context(|| format!("listen on {self}"))
    }
}

async fn bind_socket(path: &Path) -> std::io::Result<UnixListener> {
    let is_abandoned = match UnixStream::connect(path).await {
        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
        Ok(_) => false,
    };
    if is_abandoned && std::fs::symlink_metadata(path)?.file_type().is_socket() {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok(listener)
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp {
            host: address.ip().to_string(),
            port: address.port(),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(formatter, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Self::Unix(path) => write!(formatter, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "must be HOST:PORT or unix:/PATH, such as 127.0.0.1:3000, localhost:3000, [::]:3000 or unix:/run/groupwork/http.sock";
        let text = text.trim();
        if let Some(path) = text.strip_prefix(UNIX) {
            let path = PathBuf::from(path);
            return if path.is_absolute() {
                Ok(Self::Unix(path))
            } else {
                Err(FORM)
            };
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(address.into());
        }
        let (host, port) = text.rsplit_once(':').ok_or(FORM)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_name) {
            return Err(FORM);
        }
        Ok(Self::Tcp {
            host: host.to_owned(),
            port: port.parse().map_err(|_| FORM)?,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn address_is_host_with_port_or_absolute_path() {
        for text in [
            "127.0.0.1:3000",
            "localhost:0",
            "school-1.example:80",
            "[::1]:3000",
            "unix:/run/x.sock",
        ] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), text);
        }
        for text in [
            "3000",
            "localhost",
            ":3000",
            "http://x:1",
            "x:99999",
            "unix:x",
            "unix:",
            "a b:1",
        ] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_and_sockets_are_local() {
        let is_local = |text: &str| text.parse::<ListenAddress>().unwrap().is_local();
        assert!(is_local("127.0.0.2:1") && is_local("[::1]:1") && is_local("localhost:1") && is_local("unix:/x"));
        assert!(!is_local("0.0.0.0:1") && !is_local("[::]:1") && !is_local("localhost.example:1"));
    }

    #[test]
    fn unspecified_address_is_reached_through_loopback() {
        let url = |text: &str| text.parse::<ListenAddress>().unwrap().local_url();
        assert_eq!(url("0.0.0.0:3000"), "http://127.0.0.1:3000");
        assert_eq!(url("[::]:3000"), "http://127.0.0.1:3000");
        assert_eq!(url("[::1]:3000"), "http://[::1]:3000");
        assert_eq!(url("localhost:3000"), "http://localhost:3000");
    }

    #[tokio::test]
    async fn socket_of_an_ended_service_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let address = ListenAddress::Unix(folder.path().join("http.sock"));
        let listener = address.bind().await.unwrap();
        let refused = address.bind().await.err().unwrap();
        assert!(format!("{refused:#}").contains("Address already in use"), "{refused:#}");
        drop(listener);
        let mode = address.bind().await.map(|_| {
            std::fs::metadata(address.socket().unwrap())
                .unwrap()
                .permissions()
                .mode()
        });
        assert_eq!(mode.unwrap() & 0o777, 0o660);
    }
}
