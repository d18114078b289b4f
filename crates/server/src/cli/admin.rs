//! `groupwork admin`: platform administrators, and the accounts of users who cannot sign in any more. Works without the
//! service, for the case that no administrator is left.

use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use super::database::{self, CreateArgs};
use super::print_line;
use crate::bootstrap::open_store;
use crate::config::{Config, ServeArgs, StorageArgs};
use adapters::mailer::Mailer;
use common::clock;
use db::platform::administration::{AccountSearch, AdministeredAccount, Ban, Comparison};
use db::platform::users::NewUserAccount;
use db::platform::{CrossTenantReason, PlatformWriteTx};
use db::{Actor, Database, Store};
use domain::access::PlatformRole;
use domain::id::UserId;
use domain::patch::FieldPatch;
use realtime::bus::EventBus;
use service::actions::administration::{self, AccountEdit, Administrator};
use service::changes::Transactor;

/// Subcommands for platform administrators and accounts.
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
    /// List the SUPER_ADMINs
    List {
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Set a new password for an account, also of other users; all its sessions end
    ResetPassword {
        /// Read the password from standard input; otherwise one is generated and printed once
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        account: AccountArgs,
    },
    /// Remove the second factor of an account whose user lost it; all its sessions end
    ResetSecondFactor {
        /// Email address of the account
        #[arg(long)]
        email: String,
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: Box<StorageArgs>,
    },
    /// Disable an account: it is banned and all its sessions end
    Disable {
        #[command(flatten)]
        account: AccountArgs,
    },
    /// Enable a disabled account
    Enable {
        #[command(flatten)]
        account: AccountArgs,
    },
}

/// An account of an existing database.
#[derive(Args)]
pub struct AccountArgs {
    /// Email address of the account
    #[arg(long)]
    email: String,
    #[command(flatten)]
    storage: StorageArgs,
}

impl AdminCommand {
    pub fn storage(&self) -> &StorageArgs {
        match self {
            Self::Create { storage, .. } | Self::List { storage } => storage,
            Self::ResetPassword { account, .. } | Self::Disable { account } | Self::Enable { account } => {
                &account.storage
            }
            Self::ResetSecondFactor { storage, .. } => storage,
        }
    }
}

/// The reason of a ban, as administrators see it.
const DISABLED: &str = "disabled at the command line";

pub fn run(command: AdminCommand) -> anyhow::Result<()> {
    match command {
        AdminCommand::Create {
            email,
            name,
            password_stdin,
            create,
            storage,
        } => {
            let database = database::existing_or_new(&storage, create)?;
            create_super_admin(&database, &email, &name, password_stdin)
        }
        AdminCommand::List { storage } => list(&database::existing(&storage)?),
        AdminCommand::ResetPassword {
            password_stdin,
            account,
        } => reset_password(&account, password_stdin),
        AdminCommand::ResetSecondFactor { email, serve, storage } => reset_second_factor(email, *serve, *storage),
        AdminCommand::Disable { account } => {
            let ban = Ban {
                reason: Some(DISABLED.to_owned()),
                until: None,
            };
            edit(&account, FieldPatch::Value(ban), "disabled")
        }
        AdminCommand::Enable { account } => edit(&account, FieldPatch::Null, "enabled"),
    }
}

fn create_super_admin(database: &Database, email: &str, name: &str, password_stdin: bool) -> anyhow::Result<()> {
    let email = better_auth::email::lower_case(email.trim());
    if service::actions::people::address(&email).is_none() {
        bail!("--email: {email} is not an e-mail address");
    }
    let name = domain::text::Name::try_from(name).map_err(|error| anyhow::anyhow!("--name: {error}"))?;
    let (password, is_generated) = choose_password(password_stdin, &[name.as_str(), &email])?;
    let hash = better_auth::password::hash(&password);
    super::runtime()?.block_on(async {
        let store = open_store(database, 1, 1).await.context("open the database")?;
        let new = NewUserAccount::provisioned(name.as_str(), &email, PlatformRole::SuperAdmin, Some(hash));
        let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            platform.insert_user(&new, clock::now())
        });
        written.await.map_err(|error| anyhow::anyhow!("{error}"))
    })?;
    print_line(&format!("created SUPER_ADMIN {email}"));
    print_password(&password, is_generated);
    Ok(())
}

fn list(database: &Database) -> anyhow::Result<()> {
    let now = clock::now();
    let search = AccountSearch {
        filter: Some((
            "role".to_owned(),
            Comparison::OneOf(vec![PlatformRole::SuperAdmin.as_str().to_owned()]),
        )),
        sort: Some(("email".to_owned(), false)),
        ..AccountSearch::default()
    };
    let found = super::runtime()?.block_on(async {
        let store = open_store(database, 1, 1).await.context("open the database")?;
        let read = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
            platform.search_accounts(&search, now)
        });
        read.await.map_err(|error| anyhow::anyhow!("{error}"))
    });
    for account in found?.0 {
        let state = if account.ban_at(now).is_some() || !account.is_active {
            "disabled"
        } else {
            "active"
        };
        print_line(&format!(
            "{state:<8}  {}  {}",
            account.user.email.stored_form(),
            account.user.name
        ));
    }
    Ok(())
}

fn reset_password(arguments: &AccountArgs, password_stdin: bool) -> anyhow::Result<()> {
    let (password, is_generated) = choose_password(password_stdin, &[&arguments.email])?;
    let hash = better_auth::password::hash(&password);
    let account = with_account(arguments, move |tx, admin, user| {
        administration::set_password(tx, admin, user, &hash)
    })?;
    print_line(&format!(
        "the password of {} was set; all its sessions ended",
        account.user.email.stored_form()
    ));
    print_password(&password, is_generated);
    Ok(())
}

/// Removes a second factor. The user is notified if the settings of `serve` are known, which an email needs.
fn reset_second_factor(email: String, serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let mail = match Config::check(serve, storage.clone()) {
        Ok(config) => Some(Mailer::new(config.mail()).map_err(|error| anyhow::anyhow!("{error}"))?),
        Err(_) => None,
    };
    let (arguments, has_mail) = (AccountArgs { email, storage }, mail.is_some());
    let had_factor = Arc::new(AtomicBool::new(false));
    let had = Arc::clone(&had_factor);
    let account = with_account(&arguments, move |tx, admin, user| {
        let removed = administration::reset_second_factor(tx, admin, user, mail.as_ref())?;
        had.store(removed, Ordering::Relaxed);
        Ok(())
    })?;
    let email = account.user.email.stored_form();
    if !had_factor.load(Ordering::Relaxed) {
        print_line(&format!("{email} has no second factor"));
        return Ok(());
    }
    print_line(&format!(
        "the second factor of {email} was removed; all its sessions ended"
    ));
    match (has_mail, account.user.email_verified) {
        (true, true) => print_line("an email to the user is queued"),
        (true, false) => print_line("no email is queued, because the mailbox was never verified: tell the user"),
        (false, _) => print_line("no email is queued, because the settings of `serve` are unknown: tell the user"),
    }
    Ok(())
}

fn edit(arguments: &AccountArgs, ban: FieldPatch<Ban>, done: &str) -> anyhow::Result<()> {
    let edit = AccountEdit {
        ban,
        ..AccountEdit::default()
    };
    let account = with_account(arguments, move |tx, admin, user| {
        administration::edit(tx, admin, user, &edit).map(drop)
    })?;
    print_line(&format!("{} is {done}", account.user.email.stored_form()));
    Ok(())
}

/// Runs an action on the account with this email address and returns the account before it.
fn with_account(
    arguments: &AccountArgs,
    act: impl Fn(&mut PlatformWriteTx<'_>, &Administrator, &UserId) -> common::error::Result<()> + Send + 'static,
) -> anyhow::Result<AdministeredAccount> {
    let database = database::existing(&arguments.storage)?;
    let email = better_auth::email::lower_case(arguments.email.trim());
    super::runtime()?.block_on(async {
        let store = open_store(&database, 1, 1).await.context("open the database")?;
        let user = find_account(&store, &email).await?;
        let admin = administrator();
        let transactor = Transactor::new(store, EventBus::without_sockets(&database));
        let changed = transactor.write_platform(CrossTenantReason::CommandLine, move |tx| {
            let account = tx.account(&user)?;
            act(tx, &admin, &user)?;
            Ok(account)
        });
        changed.await.map_err(|error| anyhow::anyhow!("{error}"))
    })
}

async fn find_account(store: &Store, email: &str) -> anyhow::Result<UserId> {
    let wanted = email.to_owned();
    let read = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
        platform.user_with_email(&wanted)
    });
    let found = read.await.map_err(|error| anyhow::anyhow!("{error}"))?;
    found.with_context(|| format!("--email: there is no account {email}"))
}

/// The command line as the activity log shows it.
fn administrator() -> Administrator {
    Administrator {
        id: UserId::new(""),
        actor: Actor {
            user: None,
            name: "groupwork admin".to_owned(),
            role: "system",
            impersonated_by: None,
            api_token: None,
            request_id: None,
        },
        now: clock::now(),
    }
}

/// Reads and checks a password, or generates one; returns whether it was generated.
fn choose_password(password_stdin: bool, known_words: &[&str]) -> anyhow::Result<(String, bool)> {
    if !password_stdin {
        return Ok((auth::temporary_password::generate(), true));
    }
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("read the password")?;
    let password = line.trim_end_matches(['\r', '\n']).to_owned();
    let checked = better_auth::password::check_new(&password, known_words);
    checked.map_err(|weak| anyhow::anyhow!("this password {weak}"))?;
    Ok((password, false))
}

fn print_password(password: &str, is_generated: bool) {
    if is_generated {
        print_line(&format!("password (shown once): {password}"));
    }
}
