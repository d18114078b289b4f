//! The mail server of the settings. `smtps://` and `starttls://` are encrypted or nothing is sent; `smtp://` is plain and
//! takes a password only to this machine itself.

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

/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one letter may take altogether.
const LETTER: Duration = Duration::from_mins(2);
/// Connections at once, and how long an idle one is kept for the next letter.
const CONNECTIONS: u32 = 2;
const IDLE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Plain,
    FromTheStart,
    ByStartTls,
}

/// A mail server as SMTP_URL names it; it never shows its password.
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
    /// Reads SMTP_URL; the refusal never repeats it, because it may hold a password.
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
        // An IPv6 address stands in brackets in a URL and without them everywhere else.
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

    /// The connections to it; `name` is how we introduce ourselves.
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

/// What became of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The server has it.
    Sent,
    /// The server does not take this letter now (greylisting, a full box): again later.
    Later(String),
    /// The server will never take this letter.
    Refused(String),
    /// The server takes no letters at all at the moment; the others need not be tried.
    Away(String),
}

/// Answers that say something about us or the server and nothing about the letter: it closes, or wants another password.
const ABOUT_THE_SERVER: [u16; 6] = [421, 454, 530, 534, 535, 538];

/// Kept connections to a mail server.
pub(super) struct Connections(AsyncSmtpTransport<Tokio1Executor>);

impl Connections {
    pub(super) async fn send(&self, envelope: &Envelope, message: &[u8]) -> Delivery {
        match tokio::time::timeout(LETTER, self.0.send_raw(envelope, message)).await {
            Ok(Ok(_)) => Delivery::Sent,
            Ok(Err(error)) => judged(&error),
            Err(_) => Delivery::Away("it is too slow".to_owned()),
        }
    }
}

fn judged(error: &SmtpError) -> Delivery {
    // The server's own words may repeat an address; they are for debugging alone.
    tracing::debug!(error = format!("{error:?}"), "the mail server said no");
    match error.status().map(u16::from) {
        Some(code) if ABOUT_THE_SERVER.contains(&code) => Delivery::Away(format!("it answered {code}")),
        Some(code) if error.is_permanent() => Delivery::Refused(format!("it answered {code}")),
        Some(code) => Delivery::Later(format!("it answered {code}")),
        None if error.is_tls() => Delivery::Away("it speaks no TLS that we trust".to_owned()),
        None if error.is_timeout() => Delivery::Away("it is too slow".to_owned()),
        None if error.is_client() => Delivery::Away("it does not offer what SMTP_URL asks for".to_owned()),
        None => Delivery::Away("it cannot be reached".to_owned()),
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
