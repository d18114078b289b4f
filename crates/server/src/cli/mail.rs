//! `groupwork mail test`: sends a message with the settings of the service and prints the server's own error.

use anyhow::{Context as _, bail};
use clap::Subcommand;

use crate::config::{Config, ServeArgs, StorageArgs};
use adapters::mailer::{Language, Mailer, Recipient};
use common::clock;

/// Subcommands for email.
#[derive(Subcommand)]
pub enum MailCommand {
    /// Send a test message through SMTP_URL and report whether the server accepted it
    Test {
        /// Email address that receives the message
        to: String,
        /// Language of the message: en or de; default DEFAULT_LANGUAGE
        #[arg(long, value_parser = crate::config::language)]
        language: Option<Language>,
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: Box<StorageArgs>,
    },
}

pub fn run(command: MailCommand) -> anyhow::Result<()> {
    let MailCommand::Test {
        to,
        language,
        serve,
        storage,
    } = command;
    let config = Config::check(*serve, *storage)?;
    let Some(server) = config.smtp.clone() else {
        bail!("SMTP_URL is unset: emails are written to DATA_DIR/outbox");
    };
    let recipient = Recipient {
        address: &to,
        name: "",
        locale: None,
    };
    super::runtime()?.block_on(async {
        let mailer = Mailer::new(config.mail())?;
        let sent = mailer.send_test(recipient, language, clock::now()).await;
        match sent.with_context(|| format!("{to} is no email address"))? {
            Ok(()) => {
                println!("{server:?} accepted the message from {} to {to}", config.mail_from);
                Ok(())
            }
            Err(reason) => bail!("{server:?} did not accept the message: {reason}"),
        }
    })
}
