//! Emails to users. They are rendered and encrypted here, inserted as rows in the transaction that causes them, and
//! sent by `jobs::email_delivery`, so that no request waits for an SMTP server. Without one, they are written to
//! `DATA_DIR/outbox`.

mod outbox_folder;
mod smtp;
mod text;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use domain::access::MemberRole;
use domain::account_email::is_placeholder;
use domain::email::{EmailKind, QueuedEmail};
use domain::organization::Metadata;
use domain::text::Locale;
use domain::time::Timestamp;
use domain::user::User;
use lettre::Message;
use lettre::address::{Address, Envelope};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use serde::{Deserialize, Serialize};

pub use self::outbox_folder::{OutboxEmail, OutboxFolder};
use self::smtp::SmtpPool;
pub use self::smtp::{Delivery, SmtpServer};
use self::text::EmailText;
pub use self::text::{Language, PasskeyNotice};
use common::clock;
use common::encryptor::{EncryptionPurpose, Encryptor};
use common::error::{Error, Result};
use common::metrics::metrics;
use common::settings::RotatedSecret;

/// Settings of the mailer.
#[derive(Debug, Clone)]
pub struct MailerSettings {
    /// URL that links in emails begin with, without a slash at its end.
    pub frontend_url: String,
    /// Sender of all emails.
    pub from: Mailbox,
    /// SMTP server; `None` writes emails into the folder `outbox` of `data_dir`.
    pub smtp: Option<SmtpServer>,
    /// Secret that the key for queued emails is derived from.
    pub encryption_secret: RotatedSecret,
    /// Language of emails to users who have not chosen one, of a school without a language.
    pub default_language: Language,
    /// Data folder of the service.
    pub data_dir: PathBuf,
}

/// The recipient of an email.
#[derive(Debug, Clone, Copy)]
pub struct Recipient<'a> {
    pub address: &'a str,
    pub name: &'a str,
    /// The locale, which determines the language; `None` for the default language of the installation.
    pub locale: Option<&'a Locale>,
}

impl<'a> Recipient<'a> {
    /// Returns a user with their own address; the language is theirs, else that of their school.
    pub fn from_user(user: &'a User, school: Option<&'a Metadata>) -> Self {
        Self {
            address: user.email.stored_form(),
            name: user.name.as_str(),
            locale: user.preferred_locale(school),
        }
    }
}

/// Renders emails and sends them. Cheap to clone.
#[derive(Clone)]
pub struct Mailer(Arc<MailerInner>);

struct MailerInner {
    frontend_url: String,
    from: Mailbox,
    /// The domain of message ids.
    domain: String,
    default_language: Language,
    encryptor: Encryptor,
    outbox: OutboxFolder,
    server: Option<SmtpPool>,
    last_failure: Mutex<Option<DeliveryFailure>>,
}

/// The last attempt of this instance to send an email, if it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFailure {
    pub at: Timestamp,
    /// The reason without email addresses.
    pub reason: String,
}

/// The encrypted content.
#[derive(Serialize, Deserialize)]
struct EmailContent {
    to: String,
    message: String,
}

impl Mailer {
    pub fn new(settings: MailerSettings) -> Result<Self> {
        let from = settings.from;
        let domain = from.email.domain().to_owned();
        let server = settings.smtp.as_ref().map(|server| server.pool(&domain)).transpose();
        Ok(Self(Arc::new(MailerInner {
            frontend_url: settings.frontend_url,
            encryptor: Encryptor::new(&settings.encryption_secret, EncryptionPurpose::Emails)?,
            outbox: OutboxFolder::new(&settings.data_dir),
            server: server.context("SMTP_URL")?,
            from,
            domain,
            default_language: settings.default_language,
            last_failure: Mutex::default(),
        })))
    }

    /// Renders a password reset; `path` begins with a slash and is appended to `FRONTEND_URL`.
    pub fn password_reset(&self, to: Recipient<'_>, path: &str, now: Timestamp) -> Result<QueuedEmail> {
        self.render(EmailKind::PasswordReset, to, path, &[], now)
    }

    /// Notifies a user that another user set the password of the account.
    pub fn password_reset_notice(&self, to: Recipient<'_>, by: &str, now: Timestamp) -> Result<QueuedEmail> {
        self.render(EmailKind::PasswordResetNotice, to, "/", &[("by", by)], now)
    }

    /// Notifies a user that another user removed the second factor of the account. Stored as a notice of a reset, because
    /// the previous release reads the same table.
    pub fn second_factor_reset(&self, to: Recipient<'_>, by: &str, now: Timestamp) -> Result<QueuedEmail> {
        let link = format!("{}/", self.0.frontend_url);
        let values = [("name", to.name), ("link", link.as_str()), ("by", by)];
        let rendered = text::render_second_factor_reset(self.language(to), &values);
        self.build(EmailKind::PasswordResetNotice, to, rendered, now)
    }

    /// Notifies a user that a passkey of the account was added or removed; see [`Self::second_factor_reset`] for its kind.
    pub fn passkey_notice(
        &self,
        to: Recipient<'_>,
        notice: PasskeyNotice,
        passkey: &str,
        now: Timestamp,
    ) -> Result<QueuedEmail> {
        let link = format!("{}/me", self.0.frontend_url);
        let passkey = if passkey.is_empty() { "Passkey" } else { passkey };
        let values = [("name", to.name), ("link", link.as_str()), ("passkey", passkey)];
        let rendered = text::render_passkey_notice(notice, self.language(to), &values);
        self.build(EmailKind::PasswordResetNotice, to, rendered, now)
    }

    /// Renders the first email to a new member, with the page to choose a password.
    pub fn invitation(
        &self,
        to: Recipient<'_>,
        organization: &str,
        path: &str,
        days: i64,
        now: Timestamp,
    ) -> Result<QueuedEmail> {
        let days = days.to_string();
        let values = [("organization", organization), ("days", days.as_str())];
        self.render(EmailKind::Invitation, to, path, &values, now)
    }

    /// Renders the invitation of an address to an organization, with the page to accept it.
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
    ) -> Result<QueuedEmail> {
        let (days, language) = (days.to_string(), self.language(to));
        let link = format!("{}{path}", self.0.frontend_url);
        let values = [
            ("name", to.name),
            ("link", link.as_str()),
            ("organization", organization),
            ("host", host),
            ("role", text::role_name(role, language)),
            ("days", days.as_str()),
        ];
        let rendered = text::render_organization_invitation(language, &values);
        self.build(EmailKind::Invitation, to, rendered, now)
    }

    /// Notifies a user that the account was taken over, with the page to request a new password.
    pub fn account_takeover(
        &self,
        to: Recipient<'_>,
        organization: &str,
        path: &str,
        now: Timestamp,
    ) -> Result<QueuedEmail> {
        let link = format!("{}{path}", self.0.frontend_url);
        let values = [
            ("name", to.name),
            ("link", link.as_str()),
            ("organization", organization),
        ];
        let rendered = text::render_account_takeover(self.language(to), &values);
        self.build(EmailKind::Invitation, to, rendered, now)
    }

    /// Returns the host of `FRONTEND_URL`.
    pub fn host(&self) -> &str {
        let authority = self.0.frontend_url.split_once("://").map_or("", |(_, rest)| rest);
        authority.split(['/', ':']).next().unwrap_or_default()
    }

    /// Renders the confirmation link for a new address.
    pub fn address_confirmation(&self, to: Recipient<'_>, path: &str, now: Timestamp) -> Result<QueuedEmail> {
        self.render(EmailKind::AddressConfirmation, to, path, &[], now)
    }

    /// Notifies the old address about the new one; `path` is the sign-in page.
    pub fn address_notice(
        &self,
        to: Recipient<'_>,
        new_address: &str,
        path: &str,
        now: Timestamp,
    ) -> Result<QueuedEmail> {
        self.render(EmailKind::AddressNotice, to, path, &[("newAddress", new_address)], now)
    }

    /// Sends an email to the SMTP server, or writes it to the outbox folder if none is configured.
    pub async fn deliver(&self, mail: &QueuedEmail) -> Result<Delivery> {
        let Some(EmailContent { to, message }) = self.decrypt(mail) else {
            return Ok(Delivery::Rejected(
                "AUTH_SECRET has changed since it was written".to_owned(),
            ));
        };
        // Callers skip accounts without an email address; no message may leave for one.
        if is_placeholder(&to) {
            return Ok(Delivery::Rejected("the account has no email address".to_owned()));
        }
        let Some(server) = &self.0.server else {
            self.0.outbox.write(&mail.id, message.into_bytes()).await?;
            return Ok(Delivery::Sent);
        };
        let to: Address = to.parse().context("the recipient of an email")?;
        let envelope = Envelope::new(Some(self.0.from.email.clone()), vec![to]).context("the envelope of an email")?;
        let delivery = server.send(&envelope, message.as_bytes()).await;
        self.record(&delivery);
        Ok(delivery)
    }

    /// Sends a test message at once, not through the queue; without a language in that of the installation. The error
    /// is the server's or the TLS library's own text.
    pub async fn send_test(
        &self,
        to: Recipient<'_>,
        language: Option<Language>,
        now: Timestamp,
    ) -> Result<std::result::Result<(), String>> {
        let Some(server) = &self.0.server else {
            return Ok(Err(
                "SMTP_URL is unset: emails are written to DATA_DIR/outbox".to_owned()
            ));
        };
        let link = format!("{}/", self.0.frontend_url);
        let rendered =
            text::render_test_message(language.unwrap_or(self.0.default_language), &[("link", link.as_str())]);
        let (address, message) = self.message(&clock::new_id(), to, rendered, now)?;
        let envelope = Envelope::new(Some(self.0.from.email.clone()), vec![address]).context("the envelope")?;
        Ok(server.send_test(&envelope, message.as_bytes()).await)
    }

    /// Returns why the last attempt of this instance failed; `None` after a successful one.
    pub fn last_failure(&self) -> Option<DeliveryFailure> {
        self.0
            .last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns whether an SMTP server is configured.
    pub fn has_server(&self) -> bool {
        self.0.server.is_some()
    }

    fn record(&self, delivery: &Delivery) {
        metrics().record_email(match delivery {
            Delivery::Sent => "sent",
            Delivery::Deferred(_) => "deferred",
            Delivery::Rejected(_) => "rejected",
            Delivery::Unavailable(_) => "unavailable",
        });
        let failure = match delivery {
            Delivery::Sent => None,
            Delivery::Deferred(reason) | Delivery::Rejected(reason) | Delivery::Unavailable(reason) => {
                Some(DeliveryFailure {
                    at: clock::now(),
                    reason: reason.clone(),
                })
            }
        };
        *self.0.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Writes an email that cannot be sent to the outbox folder, so that it is not lost.
    pub async fn move_to_outbox(&self, mail: &QueuedEmail) -> Result<()> {
        match self.decrypt(mail) {
            Some(content) => self.0.outbox.write(&mail.id, content.message.into_bytes()).await,
            None => Ok(()),
        }
    }

    /// Returns whether a queued email is addressed to `address`.
    pub fn is_addressed_to(&self, mail: &QueuedEmail, address: &str) -> bool {
        self.decrypt(mail)
            .is_some_and(|content| content.to.eq_ignore_ascii_case(address))
    }

    /// Returns the folder of unsent emails.
    pub fn outbox(&self) -> &OutboxFolder {
        &self.0.outbox
    }

    fn language(&self, to: Recipient<'_>) -> Language {
        to.locale
            .map_or(self.0.default_language, |locale| Language::from_locale(locale.as_str()))
    }

    fn decrypt(&self, mail: &QueuedEmail) -> Option<EmailContent> {
        let text = self.0.encryptor.decrypt(&mail.id, &mail.sealed)?;
        serde_json::from_str(&text).ok()
    }

    fn render(
        &self,
        kind: EmailKind,
        to: Recipient<'_>,
        path: &str,
        values: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<QueuedEmail> {
        let link = format!("{}{path}", self.0.frontend_url);
        let mut all = vec![("name", to.name), ("link", link.as_str())];
        all.extend_from_slice(values);
        let rendered = text::render(kind, self.language(to), &all);
        self.build(kind, to, rendered, now)
    }

    /// Encrypts a rendered email.
    fn build(&self, kind: EmailKind, to: Recipient<'_>, rendered: EmailText, now: Timestamp) -> Result<QueuedEmail> {
        let id = clock::new_id();
        let (address, message) = self.message(&id, to, rendered, now)?;
        let content = serde_json::to_string(&EmailContent {
            to: address.to_string(),
            message,
        })?;
        Ok(QueuedEmail {
            sealed: self.0.encryptor.encrypt(&id, &content)?,
            expires_at: kind.expires_at(now),
            created_at: now,
            id,
            kind,
        })
    }

    /// Builds a message with its headers.
    fn message(&self, id: &str, to: Recipient<'_>, rendered: EmailText, now: Timestamp) -> Result<(Address, String)> {
        let address: Address = to
            .address
            .parse()
            .map_err(|_| Error::invalid("email", "format", "is no address that mail can be sent to"))?;
        let since_epoch = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or_default());
        // Prevents automatic replies, such as out-of-office messages (RFC 3834).
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        let message = Message::builder()
            .from(self.0.from.clone())
            .to(Mailbox::new(Some(text::one_line(to.name)), address.clone()))
            .subject(rendered.subject)
            .date(UNIX_EPOCH + since_epoch)
            .message_id(Some(format!("<{id}@{}>", self.0.domain)))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
            .multipart(MultiPart::alternative_plain_html(rendered.plain, rendered.html))
            .context("build an email")?;
        let message = String::from_utf8(message.formatted()).context("an email is text")?;
        Ok((address, message))
    }
}

/// Returns the default sender if `MAIL_FROM` is not required, because no SMTP server is configured.
pub fn sender_at(frontend_origin: &str) -> Mailbox {
    let host = frontend_origin.split_once("://").map_or("", |(_, authority)| authority);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let address = Address::new("no-reply", host).or_else(|_| Address::new("no-reply", "localhost"));
    Mailbox::new(Some("groupwork".to_owned()), address.expect("localhost is a host"))
}

/// Parses `MAIL_FROM`: `address` or `Name <address>`.
pub fn sender(text: &str) -> Option<Mailbox> {
    text.parse().ok().filter(|_| !text.chars().any(char::is_control))
}
