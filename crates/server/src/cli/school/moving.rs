//! `groupwork school export` and `school import`: one school out of one installation and into another.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use backup::school::{COMMAND, ImportOptions, SchoolHeader, SchoolManifest};
use backup::{ArchiveOutput, Installation, Progress, Recipients, WriteOptions};
use clap::Args;
use common::clock;
use db::dump::ImportedSchool;
use db::platform::CrossTenantReason;
use db::{RequestContext, Store};
use domain::account_email::is_placeholder;
use domain::change::{ArchiveOrigin, Change, OrganizationChange};
use domain::id::{OrganizationId, UserId};
use domain::text::Slug;
use domain::time::Timestamp;
use realtime::bus::EventBus;
use service::changes::{Transactor, activity_entry};

use super::super::backup::{NewArchive, ProgressPrinter, check_complete, describe_names, fetch, with_installation};
use super::super::{database, print_line, report};
use super::parsed;
use crate::config::StorageArgs;

/// How long the temporary password of an owner is valid, in seconds.
const OWNER_PASSWORD_SECONDS: i64 = 7 * 24 * 60 * 60;

/// Arguments of `groupwork school export`.
#[derive(Args)]
pub struct SchoolExportArgs {
    /// Short name of the school
    slug: String,
    /// The archive to write, a path or s3://bucket/name; it must not exist yet. `-` writes to standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Encrypt the archive for this public key of age (age1…); several keys are separated by commas
    #[arg(long = "recipient", value_name = "KEY", value_delimiter = ',')]
    recipients: Vec<String>,
    /// URL of this installation; the archive and the activity log of the other installation name it
    #[arg(long, env = "FRONTEND_URL")]
    frontend_url: Option<String>,
    #[command(flatten)]
    pub(super) storage: StorageArgs,
}

/// Arguments of `groupwork school import`.
#[derive(Args)]
pub struct SchoolImportArgs {
    /// The archive to import, a path or s3://bucket/name
    file: PathBuf,
    /// The file with the private key of an encrypted archive
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Another short name for the school
    #[arg(long)]
    slug: Option<String>,
    /// Check the archive against this installation and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Import an archive in which files are missing or damaged
    #[arg(long)]
    incomplete: bool,
    #[command(flatten)]
    pub(super) storage: StorageArgs,
}

/// Exports a school.
pub fn export(arguments: &SchoolExportArgs) -> anyhow::Result<()> {
    let recipients = Recipients::parse(&arguments.recipients)?;
    let new = NewArchive {
        path: &arguments.output,
        recipients: recipients.as_ref(),
        is_without_files: false,
        storage: &arguments.storage,
    };
    let write = |installation: &Installation,
                 output: &mut dyn ArchiveOutput,
                 options: &WriteOptions<'_>,
                 report_progress: &mut dyn FnMut(Progress)| {
        let address = arguments.frontend_url.as_deref().map(str::trim);
        let address = address.filter(|url| !url.is_empty()).map(str::to_owned);
        backup::school::export(installation, &arguments.slug, address, output, options, report_progress)
    };
    new.write(write, |_, written| {
        report(&format!(
            "{}: {} ({}), {}",
            arguments.output.display(),
            written.header.name,
            written.header.slug,
            summary(&written.manifest)
        ));
        report("not in the archive: passwords, second factors, sessions, API tokens, sign-on, verified domains");
        check_complete(&written.manifest.archived, "archive")
    })
}

/// Imports a school.
pub fn import(arguments: &SchoolImportArgs) -> anyhow::Result<()> {
    if let Some(slug) = &arguments.slug {
        parsed("--slug", Slug::try_from(slug.as_str()))?;
    }
    let storage = &arguments.storage;
    let fetched = fetch(&arguments.file, arguments.identity.as_deref(), storage)?;
    let mut progress_printer = ProgressPrinter::new();
    let archive = backup::school::verify(fetched, &mut |progress| progress_printer.print(&progress))?;
    let header = &archive.header;
    print_line(&format!(
        "{}: {} ({}), taken at {} by release {}, {}",
        arguments.file.display(),
        header.name,
        header.slug,
        header.taken_at,
        header.release,
        summary(&archive.manifest)
    ));
    let database = database::existing(storage)?;
    with_installation(storage, database, |installation| {
        installation.verify_storage()?;
        let options = ImportOptions {
            slug: arguments.slug.clone(),
            is_dry_run: arguments.dry_run,
            is_incomplete_accepted: arguments.incomplete,
            free_bytes: free_bytes(storage),
        };
        let record = |imported: &ImportedSchool| activity_entry(&imported_change(&archive.header, imported));
        let imported = backup::school::import(installation, &archive, &options, &record, &mut |progress| {
            progress_printer.print(&progress);
        })?;
        describe(&imported, arguments.dry_run);
        if arguments.dry_run {
            print_line("dry run: nothing was changed");
            return Ok(());
        }
        set_owner_passwords(installation, &imported)
    })
}

/// Returns the change that the activity log of the school records. The archive states its origin; it is not verified.
fn imported_change(header: &SchoolHeader, imported: &ImportedSchool) -> Change {
    let origin = ArchiveOrigin {
        installation: header.installation.clone(),
        slug: header.slug.clone(),
        release: header.release.clone(),
        taken_at: Timestamp::parse(&header.taken_at).ok(),
        accounts: imported.accounts,
        invited: imported.invited.len(),
    };
    let change = OrganizationChange::Imported {
        organization: OrganizationId::new(imported.organization.as_str()),
        name: imported.name.clone(),
        origin,
    };
    change.into()
}

/// Returns the free bytes of the disk with the files; `None` if they are in an object store.
fn free_bytes(storage: &StorageArgs) -> Option<u64> {
    let files_url = storage.files_url.as_deref().map(str::trim);
    if files_url.is_some_and(|url| !url.is_empty()) {
        return None;
    }
    let disk = rustix::fs::statvfs(existing_folder(&storage.data_dir)).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn existing_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

fn describe(imported: &ImportedSchool, is_dry_run: bool) {
    for (table, rows) in imported.rows.iter().filter(|(_, rows)| **rows > 0) {
        print_line(&format!("{rows:>10}  {table}"));
    }
    let what = if is_dry_run {
        "would be imported as"
    } else {
        "imported as"
    };
    print_line(&format!(
        "{what} {} ({}): {} new accounts, {} people need a first password",
        imported.slug, imported.organization, imported.accounts, imported.without_password
    ));
    for line in describe_names("has an account here and is invited", &imported.invited) {
        print_line(&line);
    }
    if !imported.invited.is_empty() {
        print_line(
            "invited people: their work is kept by deactivated accounts. Send the invitations in the list of users",
        );
    }
    if imported.erased > 0 {
        print_line(&format!("{} people were erased here, and again now", imported.erased));
    }
    if imported.owners.is_empty() {
        print_line("the school has no owner until the invitation of an owner is accepted");
    }
}

/// Gives every owner a temporary password, which is printed once. All other people get theirs from the owner, or
/// choose one through the link of "Forgot your password?".
fn set_owner_passwords(installation: &Installation, imported: &ImportedSchool) -> anyhow::Result<()> {
    let store = Store::open(&installation.database, 1, 1)?;
    let transactor = Transactor::new(store.clone(), EventBus::without_sockets(&installation.database));
    let organization = imported.slug.clone();
    let found = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
        platform.organization_with_slug(&organization)
    });
    let tenant = installation
        .runtime
        .block_on(found)?
        .context("the imported school is gone")?;
    for (owner, email) in &imported.owners {
        let password = auth::temporary_password::generate();
        let hash = better_auth::password::hash(&password);
        let context = RequestContext::for_service(tenant.clone(), COMMAND, clock::now());
        let user = UserId::new(owner.as_str());
        let written = transactor.write(context, move |tx| {
            let good_until = tx.now().plus_seconds(OWNER_PASSWORD_SECONDS);
            tx.write_password(&user, &hash, true, Some(good_until))
        });
        installation.runtime.block_on(written)?;
        let shown = if is_placeholder(email) { owner } else { email };
        print_line(&format!("owner {shown}, temporary password (shown once): {password}"));
    }
    Ok(())
}

fn summary(manifest: &SchoolManifest) -> String {
    format!(
        "{} rows of {} tables, {} files of {} bytes",
        manifest.rows(),
        manifest.tables.len(),
        manifest.archived.files,
        manifest.archived.bytes
    )
}
