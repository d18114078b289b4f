//! Letters to people. They are written and sealed here, wait as rows of the unit that made them worth sending, and are
//! handed to the mail server by `changes::letters`; nobody who asks for something waits for a mail server. Without one
//! they are laid into `DATA_DIR/outbox`.

mod outbox;
mod seal;
mod server;
mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use lettre::Message;
use lettre::address::{Address, Envelope};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use model::access::MemberRole;
use model::letter::{Letter, LetterKind};
use model::time::Timestamp;
use model::user::User;
use serde::{Deserialize, Serialize};

pub use self::outbox::{Outbox, OutboxEmail};
use self::seal::Seal;
use self::server::Connections;
pub use self::server::{Delivery, Server};
use self::text::{Language, Words};
use common::clock;
use common::error::{Error, Result};
use common::settings::Secret;

/// Settings of the mailer.
#[derive(Debug, Clone)]
pub struct MailSettings {
    /// URL that links in emails begin with, without a slash at its end.
    pub frontend_url: String,
    /// Sender of all emails.
    pub from: Mailbox,
    /// SMTP server; `None` writes emails into the folder `outbox` of `data_dir`.
    pub smtp: Option<Server>,
    /// Secret that the key for queued emails is derived from.
    pub encryption_secret: Secret,
    /// Data folder of the service.
    pub data_dir: PathBuf,
}

/// Whom a letter goes to.
#[derive(Debug, Clone, Copy)]
pub struct Recipient<'a> {
    /// The address.
    pub address: &'a str,
    /// The name.
    pub name: &'a str,
    /// The locale, which chooses the language.
    pub locale: &'a str,
}

impl<'a> Recipient<'a> {
    /// A person at the own address.
    pub fn of(user: &'a User) -> Self {
        Self {
            address: &user.email,
            name: user.name.as_str(),
            locale: user.locale.as_str(),
        }
    }
}

/// Writes letters and hands them over. Cheap to clone.
#[derive(Clone)]
pub struct Mail(Arc<Parts>);

struct Parts {
    front: String,
    from: Mailbox,
    /// What stands behind the `@` of message ids.
    domain: String,
    seal: Seal,
    outbox: Outbox,
    server: Option<Connections>,
}

/// What is under the seal.
#[derive(Serialize, Deserialize)]
struct Enclosed {
    to: String,
    message: String,
}

impl Mail {
    /// The mail room of an installation.
    pub fn new(settings: MailSettings) -> Result<Self> {
        let from = settings.from;
        let domain = from.email.domain().to_owned();
        let server = settings
            .smtp
            .as_ref()
            .map(|server| server.connections(&domain))
            .transpose();
        Ok(Self(Arc::new(Parts {
            front: settings.frontend_url,
            seal: Seal::new(&settings.encryption_secret)?,
            outbox: Outbox::of(&settings.data_dir),
            server: server.context("SMTP_URL")?,
            from,
            domain,
        })))
    }

    /// A link that resets the password; `path` begins with a slash and is appended to FRONTEND_URL.
    pub fn password_reset(&self, to: Recipient<'_>, path: &str, now: Timestamp) -> Result<Letter> {
        self.write(LetterKind::PasswordReset, to, path, &[], now)
    }

    /// Notifies a user that another person set the password of the account.
    pub fn password_reset_notice(&self, to: Recipient<'_>, by: &str, now: Timestamp) -> Result<Letter> {
        self.write(LetterKind::PasswordResetNotice, to, "/", &[("by", by)], now)
    }

    /// The first letter to a new member, with the page where he chooses his password.
    pub fn invitation(
        &self,
        to: Recipient<'_>,
        organization: &str,
        path: &str,
        days: i64,
        now: Timestamp,
    ) -> Result<Letter> {
        let days = days.to_string();
        let values = [("organization", organization), ("days", days.as_str())];
        self.write(LetterKind::Invitation, to, path, &values, now)
    }

    /// The invitation of an address into an organization, with the page where it is accepted.
    #[expect(clippy::too_many_arguments, reason = "each is a value of the email")]
    pub fn organization_invitation(
        &self,
        to: Recipient<'_>,
        organization: &str,
        host: &str,
        role: MemberRole,
        path: &str,
        days: i64,
        now: Timestamp,
    ) -> Result<Letter> {
        let (days, language) = (days.to_string(), Language::of(to.locale));
        let link = format!("{}{path}", self.0.front);
        let values = [
            ("name", to.name),
            ("link", link.as_str()),
            ("organization", organization),
            ("host", host),
            ("role", text::role_name(role, language)),
            ("days", days.as_str()),
        ];
        let words = text::write_organization_invitation(language, &values);
        self.envelope(LetterKind::Invitation, to, words, now)
    }

    /// Notifies a user that the account was taken over, with the page where a new password is asked for.
    pub fn taken_over(&self, to: Recipient<'_>, organization: &str, path: &str, now: Timestamp) -> Result<Letter> {
        let link = format!("{}{path}", self.0.front);
        let values = [
            ("name", to.name),
            ("link", link.as_str()),
            ("organization", organization),
        ];
        let words = text::write_taken_over(Language::of(to.locale), &values);
        self.envelope(LetterKind::Invitation, to, words, now)
    }

    /// The host of FRONTEND_URL.
    pub fn host(&self) -> &str {
        let authority = self.0.front.split_once("://").map_or("", |(_, rest)| rest);
        authority.split(['/', ':']).next().unwrap_or_default()
    }

    /// A link that proves that a new address belongs to the person.
    pub fn address_confirmation(&self, to: Recipient<'_>, path: &str, now: Timestamp) -> Result<Letter> {
        self.write(LetterKind::AddressConfirmation, to, path, &[], now)
    }

    /// Tells the old address of the new one; `path` is the page where he signs in.
    pub fn address_notice(&self, to: Recipient<'_>, new_address: &str, path: &str, now: Timestamp) -> Result<Letter> {
        self.write(LetterKind::AddressNotice, to, path, &[("newAddress", new_address)], now)
    }

    /// Hands a letter to the mail server, or lays it into the outbox where there is none.
    pub async fn deliver(&self, letter: &Letter) -> Result<Delivery> {
        let Some(Enclosed { to, message }) = self.opened(letter) else {
            return Ok(Delivery::Refused(
                "AUTH_SECRET has changed since it was written".to_owned(),
            ));
        };
        let Some(server) = &self.0.server else {
            self.0.outbox.lay(&letter.id, message.into_bytes()).await?;
            return Ok(Delivery::Sent);
        };
        let to: Address = to.parse().context("the address of a letter")?;
        let envelope = Envelope::new(Some(self.0.from.email.clone()), vec![to]).context("the envelope of a letter")?;
        Ok(server.send(&envelope, message.as_bytes()).await)
    }

    /// Lays a letter that no server takes into the outbox, so that it is not lost.
    pub async fn lay_aside(&self, letter: &Letter) -> Result<()> {
        match self.opened(letter) {
            Some(enclosed) => self.0.outbox.lay(&letter.id, enclosed.message.into_bytes()).await,
            None => Ok(()),
        }
    }

    /// Whether a queued email is for an address.
    pub fn is_for(&self, letter: &Letter, address: &str) -> bool {
        self.opened(letter)
            .is_some_and(|enclosed| enclosed.to.eq_ignore_ascii_case(address))
    }

    /// The folder of emails that no mail server took.
    pub fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    fn opened(&self, letter: &Letter) -> Option<Enclosed> {
        let text = self.0.seal.open(&letter.id, &letter.sealed)?;
        serde_json::from_str(&text).ok()
    }

    fn write(
        &self,
        kind: LetterKind,
        to: Recipient<'_>,
        path: &str,
        values: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<Letter> {
        let link = format!("{}{path}", self.0.front);
        let mut all = vec![("name", to.name), ("link", link.as_str())];
        all.extend_from_slice(values);
        let words = text::write(kind, Language::of(to.locale), &all);
        self.envelope(kind, to, words, now)
    }

    /// Encrypts a rendered email.
    fn envelope(&self, kind: LetterKind, to: Recipient<'_>, words: Words, now: Timestamp) -> Result<Letter> {
        let address: Address = to
            .address
            .parse()
            .map_err(|_| Error::invalid("email", "format", "is no address that mail can be sent to"))?;
        let id = clock::new_id();
        let since_epoch = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or_default());
        // Machines that answer letters (holiday notes) must not answer this one (RFC 3834).
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        let message = Message::builder()
            .from(self.0.from.clone())
            .to(Mailbox::new(Some(text::one_line(to.name)), address.clone()))
            .subject(words.subject)
            .date(UNIX_EPOCH + since_epoch)
            .message_id(Some(format!("<{id}@{}>", self.0.domain)))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
            .multipart(MultiPart::alternative_plain_html(words.plain, words.html))
            .context("write a letter")?;
        let message = String::from_utf8(message.formatted()).context("a letter is text")?;
        let enclosed = serde_json::to_string(&Enclosed {
            to: address.to_string(),
            message,
        })?;
        Ok(Letter {
            sealed: self.0.seal.close(&id, &enclosed)?,
            expires_at: kind.expires_at(now),
            created_at: now,
            id,
            kind,
        })
    }
}

/// Who letters come from where no MAIL_FROM is needed, because nobody but the administrator sends them.
pub fn sender_at(frontend_origin: &str) -> Mailbox {
    let host = frontend_origin.split_once("://").map_or("", |(_, authority)| authority);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let address = Address::new("no-reply", host).or_else(|_| Address::new("no-reply", "localhost"));
    Mailbox::new(Some("groupwork".to_owned()), address.expect("localhost is a host"))
}

/// Who letters come from: MAIL_FROM, as `address` or `Name <address>`.
pub fn sender(text: &str) -> Option<Mailbox> {
    text.parse().ok().filter(|_| !text.chars().any(char::is_control))
}
