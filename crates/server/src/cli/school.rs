//! `groupwork school`: creates the schools of an installation, shows what they use, and moves them to another one.

mod moving;

use anyhow::{Context as _, bail};
use clap::Subcommand;

use super::database::{self, CreateArgs};
use super::print_line;
use crate::bootstrap::open_store;
use crate::config::{Config, ServeArgs, StorageArgs};
use adapters::mailer::Mailer;
use auth::host_resolver;
use common::clock;
use db::platform::CrossTenantReason;
use db::{RequestContext, Tenant};
use domain::organization::{Organization, PlatformHosts};
use domain::text::{Name, Slug, TextError};
use realtime::bus::EventBus;
use serde::Serialize;
use service::actions::organizations::{self, NewTenant};
use service::actions::people::Provisioned;
use service::changes::Transactor;

/// Subcommands for schools.
#[derive(Subcommand)]
pub enum SchoolCommand {
    /// Create a school with its first owner; a temporary password of a new account is printed once
    Create {
        /// Name of the school
        #[arg(long)]
        name: String,
        /// Short name, the subdomain of BASE_DOMAIN: a-z, 0-9 and hyphens
        #[arg(long)]
        slug: String,
        /// Email address of the owner; an existing account is invited
        #[arg(long)]
        owner_email: String,
        /// Name of the owner
        #[arg(long)]
        owner_name: String,
        #[command(flatten)]
        create: CreateArgs,
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: Box<StorageArgs>,
    },
    /// Write one school with its files to an archive, while the service runs
    Export {
        #[command(flatten)]
        arguments: Box<moving::SchoolExportArgs>,
    },
    /// Import a school from an archive, while the service runs; ids are kept
    Import {
        #[command(flatten)]
        arguments: Box<moving::SchoolImportArgs>,
    },
    /// List the schools with their members and the space that they use
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        storage: Box<StorageArgs>,
    },
}

impl SchoolCommand {
    pub fn storage(&self) -> &StorageArgs {
        match self {
            Self::Create { storage, .. } | Self::List { storage, .. } => storage,
            Self::Export { arguments } => &arguments.storage,
            Self::Import { arguments } => &arguments.storage,
        }
    }
}

/// A school with its use of the installation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SchoolUsage {
    slug: String,
    name: String,
    status: &'static str,
    members: i64,
    groups: i64,
    active_sessions: i64,
    /// Bytes of stored files at the last count.
    stored_bytes: i64,
    /// The quota in bytes.
    quota_bytes: i64,
}

pub fn run(command: SchoolCommand) -> anyhow::Result<()> {
    match command {
        SchoolCommand::Create {
            name,
            slug,
            owner_email,
            owner_name,
            create,
            serve,
            storage,
        } => {
            let name = parsed("--name", Name::try_from(name.as_str()))?;
            let slug = parsed("--slug", Slug::try_from(slug.as_str()))?;
            let owner_name = parsed("--owner-name", Name::try_from(owner_name.as_str()))?;
            if service::actions::people::address(&owner_email).is_none() {
                bail!("--owner-email: {owner_email} is not an email address");
            }
            let new = NewTenant {
                name,
                slug,
                custom_domain: None,
                owner_email,
                owner_name,
                metadata: None,
            };
            create_school(new, create, *serve, *storage)
        }
        SchoolCommand::Export { arguments } => moving::export(&arguments),
        SchoolCommand::Import { arguments } => moving::import(&arguments),
        SchoolCommand::List { json, storage } => list(&storage, json),
    }
}

fn parsed<T>(flag: &str, value: Result<T, TextError>) -> anyhow::Result<T> {
    value.map_err(|error| anyhow::anyhow!("{flag}: {error}"))
}

fn create_school(new: NewTenant, create: CreateArgs, serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let database = database::existing_or_new(&storage, create)?;
    let config = Config::check(serve, storage)?;
    let hosts = PlatformHosts {
        base_domain: config.base_domain.clone(),
        frontend: config
            .frontend_origin
            .split_once("://")
            .and_then(|(_, host)| host_resolver::canonical(host)),
    };
    let mail = Mailer::new(config.mail())?;
    let password = auth::temporary_password::generate();
    let hash = better_auth::password::hash(&password);
    let (slug, owner_email) = (new.slug.clone(), new.owner_email.clone());
    let created = super::runtime()?.block_on(async {
        let store = open_store(&database, 1, 1).await.context("open the database")?;
        let transactor = Transactor::new(store, EventBus::without_sockets(&database));
        let tenant = Tenant::for_new_organization(CrossTenantReason::CommandLine);
        let context = RequestContext::for_service(tenant, "groupwork school", clock::now());
        let act = move |tx: &mut db::WriteTx<'_>| organizations::create(tx, &hosts, &new, &hash, &mail);
        let created = transactor.write(context, act).await;
        created.map_err(|error| anyhow::anyhow!("{error}"))
    })?;
    print_line(&format!("created school {slug} ({})", created.organization.name));
    match created.owner {
        Provisioned::Member(joined) if joined.is_new_account => {
            print_line(&format!(
                "owner {owner_email}, temporary password (shown once): {password}"
            ));
        }
        Provisioned::Member(_) => print_line(&format!("owner {owner_email} keeps the password of the account")),
        Provisioned::Invited(_) => print_line(&format!(
            "{owner_email} has an account and is invited by email; until the invitation is accepted, the school has no owner"
        )),
    }
    Ok(())
}

fn list(storage: &StorageArgs, as_json: bool) -> anyhow::Result<()> {
    let database = database::existing(storage)?;
    let schools = super::runtime()?.block_on(async {
        let store = open_store(&database, 1, 1).await.context("open the database")?;
        let read = store.platform_read(CrossTenantReason::CommandLine, |platform| {
            let organizations = platform.organizations(None)?;
            let with_tenant = organizations.into_iter().map(|organization| {
                let tenant = platform.tenant(&organization.id)?;
                Ok((tenant, organization))
            });
            with_tenant.collect::<common::error::Result<Vec<_>>>()
        });
        let mut schools = Vec::new();
        for (tenant, organization) in read.await? {
            let context = RequestContext::for_service(tenant, "groupwork school", clock::now());
            let usage = store.read(context, move |tx| {
                Ok((tx.organization_stats()?, tx.storage_allowance()?))
            });
            let (stats, storage) = usage.await?;
            schools.push(describe(&organization, &stats, &storage));
        }
        Ok::<_, anyhow::Error>(schools)
    })?;
    if as_json {
        print_line(&serde_json::to_string_pretty(&schools)?);
        return Ok(());
    }
    print_line("short name           status     members  groups  sessions   stored   quota  name");
    for school in schools {
        print_line(&format!(
            "{:<20} {:<9} {:>8} {:>7} {:>9} {:>6} MB {:>4} GB  {}",
            school.slug,
            school.status,
            school.members,
            school.groups,
            school.active_sessions,
            school.stored_bytes / 1_000_000,
            school.quota_bytes / 1_000_000_000,
            school.name,
        ));
    }
    Ok(())
}

fn describe(
    organization: &Organization,
    stats: &db::organization_stats::OrganizationStats,
    storage: &domain::storage::StorageAllowance,
) -> SchoolUsage {
    SchoolUsage {
        slug: organization.slug.to_string(),
        name: organization.name.to_string(),
        status: organization.status.as_str(),
        members: stats.members.iter().sum(),
        groups: stats.groups,
        active_sessions: stats.active_sessions,
        stored_bytes: storage.used,
        quota_bytes: storage.quota.get(),
    }
}
