//! `groupwork admin create`: creates the first platform administrator.

use std::io::BufRead as _;

use anyhow::{Context as _, bail};
use clap::Subcommand;

use super::database::{self, CreateArgs};
use crate::bootstrap::open_store;
use crate::config::StorageArgs;
use db::platform::CrossTenantReason;
use db::platform::users::NewUserAccount;
use domain::access::PlatformRole;

/// Subcommands for platform administrators.
#[derive(Subcommand)]
pub enum AdminCommand {
    /// Create a SUPER_ADMIN; without --password-stdin a password is generated and printed once
    Create {
        /// Email address to sign in with
        #[arg(long)]
        email: String,
        /// Display name
        #[arg(long)]
        name: String,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        create: CreateArgs,
        #[command(flatten)]
        storage: StorageArgs,
    },
}

pub fn run(command: AdminCommand) -> anyhow::Result<()> {
    let AdminCommand::Create {
        email,
        name,
        password_stdin,
        create,
        storage,
    } = command;
    let email = better_auth::email::lower_case(email.trim());
    if !better_auth::email::is_email(&email) {
        bail!("--email: {email} is not an e-mail address");
    }
    let name = domain::text::Name::try_from(name.as_str()).map_err(|error| anyhow::anyhow!("--name: {error}"))?;
    let given = password_stdin.then(read_password).transpose()?;
    let generated = given.is_none();
    let password = match given {
        Some(password) => {
            let checked = better_auth::password::check_new(&password, &[name.as_str(), &email]);
            checked.map_err(|weak| anyhow::anyhow!("this password {weak}"))?;
            password
        }
        None => auth::temporary_password::generate(),
    };
    let hash = better_auth::password::hash(&password);
    let database = database::existing_or_new(&storage, create)?;
    super::runtime()?.block_on(async {
        let store = open_store(&database, 1, 1).await.context("open the database")?;
        let new = NewUserAccount::provisioned(name.as_str(), &email, PlatformRole::SuperAdmin, Some(hash));
        let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            platform.insert_user(&new, common::clock::now())
        });
        written.await.map_err(|error| anyhow::anyhow!("{error}"))
    })?;
    println!("created SUPER_ADMIN {email}");
    if generated {
        println!("password (shown once): {password}");
    }
    Ok(())
}

fn read_password() -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("read the password")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
