//! The SMTP server. `smtps://` and `starttls://` require TLS; `smtp://` is unencrypted and allows a password only for
//! a server on the same machine.

use std::fmt;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error as SmtpError, PoolConfig};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// The timeout of one SMTP response.
const PATIENCE: Duration = Duration::from_secs(30);
/// The timeout of one email.
const LETTER: Duration = Duration::from_mins(2);
/// The maximum number of connections, and how long an idle one is kept.
const CONNECTIONS: u32 = 2;
const IDLE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Plain,
    FromTheStart,
    ByStartTls,
}

/// The parsed `SMTP_URL`. `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    encryption: Encryption,
    host: String,
    port: u16,
    credentials: Option<(String, String)>,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Server {
    /// Parses `SMTP_URL`. The error never contains the value, because it may contain a password.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "SMTP_URL must look like smtp://host:25, smtps://user:password@host or starttls://…";
        let url = Url::parse(text).map_err(|_| FORM)?;
        let (encryption, port) = match url.scheme() {
            "smtp" => (Encryption::Plain, 25),
            "smtps" => (Encryption::FromTheStart, 465),
            "starttls" => (Encryption::ByStartTls, 587),
            _ => return Err(FORM),
        };
        let more = !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
        let host = url.host_str().filter(|host| !host.is_empty() && !more).ok_or(FORM)?;
        // An IPv6 address has brackets in a URL, but not elsewhere.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let decoded = |text: &str| {
            percent_decode_str(text)
                .decode_utf8()
                .map(String::from)
                .map_err(|_| FORM)
        };
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            ("", Some(_)) | (_, None) => return Err("SMTP_URL needs a user name and a password, or neither"),
            (user, Some(password)) => Some((decoded(user)?, decoded(password)?)),
        };
        if credentials.is_some() && encryption == Encryption::Plain && !is_this_machine(&host) {
            return Err("SMTP_URL would send its password unencrypted; use smtps:// or starttls://");
        }
        Ok(Self {
            encryption,
            host,
            port: url.port().unwrap_or(port),
            credentials,
        })
    }

    /// Creates the connection pool; `name` is the host name in `EHLO`.
    pub(super) fn connections(&self, name: &str) -> anyhow::Result<Connections> {
        let tls = || TlsParameters::new(self.host.clone());
        let tls = match self.encryption {
            Encryption::Plain => Tls::None,
            Encryption::FromTheStart => Tls::Wrapper(tls()?),
            Encryption::ByStartTls => Tls::Required(tls()?),
        };
        let pool = PoolConfig::new().max_size(CONNECTIONS).idle_timeout(IDLE);
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(self.host.as_str())
            .port(self.port)
            .tls(tls)
            .timeout(Some(PATIENCE))
            .hello_name(ClientId::Domain(name.to_owned()))
            .pool_config(pool);
        if let Some((user, password)) = self.credentials.clone() {
            builder = builder.credentials(Credentials::new(user, password));
        }
        Ok(Connections(builder.build()))
    }
}

fn is_this_machine(host: &str) -> bool {
    match Host::parse(host) {
        Ok(Host::Ipv4(address)) => address.is_loopback(),
        Ok(Host::Domain(name)) => name == "localhost",
        _ => host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
    }
}

/// The result of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The server accepted the email.
    Sent,
    /// The server rejected the email temporarily (greylisting, a full mailbox): retry later.
    Later(String),
    /// The server rejected the email permanently.
    Refused(String),
    /// The server is unavailable; other emails need not be tried.
    Away(String),
}

/// SMTP status codes about the client or the server, not the email: shutting down, or authentication failed.
const ABOUT_THE_SERVER: [u16; 6] = [421, 454, 530, 534, 535, 538];

/// A connection pool of an SMTP server.
pub(super) struct Connections(AsyncSmtpTransport<Tokio1Executor>);

impl Connections {
    pub(super) async fn send(&self, envelope: &Envelope, message: &[u8]) -> Delivery {
        match tokio::time::timeout(LETTER, self.0.send_raw(envelope, message)).await {
            Ok(Ok(_)) => Delivery::Sent,
            Ok(Err(error)) => judged(&error),
            Err(_) => Delivery::Away("timeout".to_owned()),
        }
    }
}

fn judged(error: &SmtpError) -> Delivery {
    // The response may contain an email address, so it is logged at debug level only.
    tracing::debug!(error = format!("{error:?}"), "SMTP error");
    match error.status().map(u16::from) {
        Some(code) if ABOUT_THE_SERVER.contains(&code) => Delivery::Away(format!("SMTP status {code}")),
        Some(code) if error.is_permanent() => Delivery::Refused(format!("SMTP status {code}")),
        Some(code) => Delivery::Later(format!("SMTP status {code}")),
        None if error.is_tls() => Delivery::Away("TLS handshake failed".to_owned()),
        None if error.is_timeout() => Delivery::Away("timeout".to_owned()),
        None if error.is_client() => Delivery::Away("server does not support what SMTP_URL requires".to_owned()),
        None => Delivery::Away("connection failed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_host_port_and_encryption() {
        let parsed = |text| Server::parse(text).map(|server| (server.host, server.port, server.credentials));
        let user = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        assert_eq!(parsed("smtp://mail.example"), Ok(("mail.example".to_owned(), 25, None)));
        assert_eq!(
            parsed("smtps://ada%40x.example:p%3Aw@mail.example:2465/"),
            Ok(("mail.example".to_owned(), 2465, user("ada@x.example", "p:w")))
        );
        assert_eq!(
            parsed("starttls://a:b@[::1]"),
            Ok(("::1".to_owned(), 587, user("a", "b")))
        );
        for wrong in [
            "mail.example",
            "http://mail.example",
            "smtp://",
            "smtps://host/?tls=none",
            "smtp:host",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_travels_encrypted_and_is_never_shown() {
        let secret = "smtp://user:hunter2@mail.example";
        let refused = Server::parse(secret).expect_err("plain");
        assert!(!refused.contains("hunter2"), "{refused}");
        assert!(Server::parse("smtp://user:hunter2@127.0.0.1:1025").is_ok());
        assert!(Server::parse("smtp://user:hunter2@localhost").is_ok());
        assert!(Server::parse("smtp://user:hunter2@[::1]").is_ok());
        assert!(Server::parse("smtp://user:hunter2@127.0.0.1.evil.example").is_err());
        assert!(Server::parse("smtps://user@mail.example").is_err());
        let server = Server::parse("smtps://user:hunter2@mail.example").expect("fits");
        assert_eq!(format!("{server:?}"), "mail.example:465");
    }
}
