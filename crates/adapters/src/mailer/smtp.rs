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
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of one email.
const SEND_TIMEOUT: Duration = Duration::from_mins(2);
/// The maximum number of connections, and how long an idle one is kept.
const CONNECTIONS_MAX: u32 = 2;
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Plain,
    ImplicitTls,
    StartTls,
}

/// The parsed `SMTP_URL`. `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpServer {
    encryption: Encryption,
    host: String,
    port: u16,
    credentials: Option<(String, String)>,
}

impl fmt::Debug for SmtpServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl SmtpServer {
    /// Parses `SMTP_URL`. The error never contains the value, because it may contain a password.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "SMTP_URL must look like smtp://host:25, smtps://user:password@host or starttls://…";
        let url = Url::parse(text).map_err(|_| FORM)?;
        let (encryption, port) = match url.scheme() {
            "smtp" => (Encryption::Plain, 25),
            "smtps" => (Encryption::ImplicitTls, 465),
            "starttls" => (Encryption::StartTls, 587),
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
        if credentials.is_some() && encryption == Encryption::Plain && !is_loopback_host(&host) {
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
    pub(super) fn pool(&self, name: &str) -> anyhow::Result<SmtpPool> {
        let tls = || TlsParameters::new(self.host.clone());
        let tls = match self.encryption {
            Encryption::Plain => Tls::None,
            Encryption::ImplicitTls => Tls::Wrapper(tls()?),
            Encryption::StartTls => Tls::Required(tls()?),
        };
        let pool = PoolConfig::new().max_size(CONNECTIONS_MAX).idle_timeout(IDLE_TIMEOUT);
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(self.host.as_str())
            .port(self.port)
            .tls(tls)
            .timeout(Some(COMMAND_TIMEOUT))
            .hello_name(ClientId::Domain(name.to_owned()))
            .pool_config(pool);
        if let Some((user, password)) = self.credentials.clone() {
            builder = builder.credentials(Credentials::new(user, password));
        }
        Ok(SmtpPool(builder.build()))
    }
}

impl SmtpServer {
    /// Connects and signs in without sending anything. The error is the server's or the TLS library's own text.
    pub async fn check(&self, sender_domain: &str) -> Result<(), String> {
        let pool = self.pool(sender_domain).map_err(|error| format!("{error:#}"))?;
        match tokio::time::timeout(COMMAND_TIMEOUT, pool.0.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err("the server closed the connection".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no response within {} s", COMMAND_TIMEOUT.as_secs())),
        }
    }
}

fn is_loopback_host(host: &str) -> bool {
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
    Deferred(String),
    /// The server rejected the email permanently.
    Rejected(String),
    /// The server is unavailable; other emails need not be tried.
    Unavailable(String),
}

/// SMTP status codes about the client or the server, not the email: shutting down, or authentication failed.
const SERVER_STATUS_CODES: [u16; 6] = [421, 454, 530, 534, 535, 538];

/// A connection pool of an SMTP server.
pub(super) struct SmtpPool(AsyncSmtpTransport<Tokio1Executor>);

impl SmtpPool {
    /// Sends a message; the error is the server's or the TLS library's own text, which may contain an email address.
    pub(super) async fn send_test(&self, envelope: &Envelope, message: &[u8]) -> Result<(), String> {
        match tokio::time::timeout(SEND_TIMEOUT, self.0.send_raw(envelope, message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no response within {} s", SEND_TIMEOUT.as_secs())),
        }
    }

    pub(super) async fn send(&self, envelope: &Envelope, message: &[u8]) -> Delivery {
        match tokio::time::timeout(SEND_TIMEOUT, self.0.send_raw(envelope, message)).await {
            Ok(Ok(_)) => Delivery::Sent,
            Ok(Err(error)) => classify(&error),
            Err(_) => Delivery::Unavailable("timeout".to_owned()),
        }
    }
}

fn classify(error: &SmtpError) -> Delivery {
    // The response may contain an email address, so it is logged at debug level only.
    tracing::debug!(error = format!("{error:?}"), "SMTP error");
    match error.status().map(u16::from) {
        Some(code) if SERVER_STATUS_CODES.contains(&code) => Delivery::Unavailable(format!("SMTP status {code}")),
        Some(code) if error.is_permanent() => Delivery::Rejected(format!("SMTP status {code}")),
        Some(code) => Delivery::Deferred(format!("SMTP status {code}")),
        None if error.is_tls() => Delivery::Unavailable("TLS handshake failed".to_owned()),
        None if error.is_timeout() => Delivery::Unavailable("timeout".to_owned()),
        None if error.is_client() => Delivery::Unavailable("server does not support what SMTP_URL requires".to_owned()),
        None => Delivery::Unavailable("connection failed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_url_names_host_port_and_encryption() {
        let parsed = |text| SmtpServer::parse(text).map(|server| (server.host, server.port, server.credentials));
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
    fn smtp_password_requires_encryption_and_is_never_shown() {
        let secret = "smtp://user:hunter2@mail.example";
        let refused = SmtpServer::parse(secret).expect_err("plain");
        assert!(!refused.contains("hunter2"), "{refused}");
        assert!(SmtpServer::parse("smtp://user:hunter2@127.0.0.1:1025").is_ok());
        assert!(SmtpServer::parse("smtp://user:hunter2@localhost").is_ok());
        assert!(SmtpServer::parse("smtp://user:hunter2@[::1]").is_ok());
        assert!(SmtpServer::parse("smtp://user:hunter2@127.0.0.1.evil.example").is_err());
        assert!(SmtpServer::parse("smtps://user@mail.example").is_err());
        let server = SmtpServer::parse("smtps://user:hunter2@mail.example").expect("fits");
        assert_eq!(format!("{server:?}"), "mail.example:465");
    }
}
