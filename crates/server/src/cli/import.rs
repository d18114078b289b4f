//! `groupwork import`: imports students and teachers from a local file, like `POST /users/import`.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use domain::access::Viewer;
use domain::import::{ImportCounts, ImportMode};
use tokio::sync::mpsc;

use super::database::{self, CreateArgs};
use crate::bootstrap::open_store;
use crate::config::StorageArgs;
use adapters::blob_store::{FileSource, inspect};
use common::clock;
use db::platform::CrossTenantReason;
use db::{Actor, Database, RequestContext, Store, Tenant};
use realtime::bus::EventBus;
use service::changes::Transactor;
use service::import::{self, Import, ImportPlan, ImportRules, RowReport};

/// The number of rows between two progress lines.
const PROGRESS_INTERVAL_ROWS: i64 = 1_000;

/// Arguments of `groupwork import`.
#[derive(Args)]
pub struct ImportArgs {
    /// A table of users (.csv) or a OneRoster archive (.zip)
    file: PathBuf,
    /// The short name (slug) of the organization
    #[arg(long)]
    organization: String,
    /// Only report what would change
    #[arg(long)]
    dry_run: bool,
    /// What happens to existing members
    #[arg(long, value_enum, default_value_t = Mode::Upsert)]
    mode: Mode,
    #[command(flatten)]
    create: CreateArgs,
    #[command(flatten)]
    pub storage: StorageArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// They are updated
    Upsert,
    /// They are not changed
    Create,
}

/// Runs the import. Fails if rows were rejected, so that scripts notice; the other rows are imported.
pub fn run(arguments: ImportArgs) -> anyhow::Result<()> {
    std::fs::metadata(&arguments.file).with_context(|| arguments.file.display().to_string())?;
    let database = database::existing_or_new(&arguments.storage, arguments.create)?;
    let counts = super::runtime()?.block_on(import(&arguments, database))?;
    let ImportCounts {
        created,
        updated,
        invited,
        skipped,
        failed,
    } = counts;
    let what = if arguments.dry_run { "dry run: " } else { "" };
    println!("{what}{created} created, {updated} updated, {invited} invited, {skipped} skipped, {failed} failed");
    if failed > 0 {
        bail!("{failed} rows were refused");
    }
    Ok(())
}

async fn import(arguments: &ImportArgs, database: Database) -> anyhow::Result<ImportCounts> {
    let name = arguments
        .file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let source = FileSource::File(arguments.file.clone());
    let kind = inspect::table_type(&source, &name.unwrap_or_default()).await?;
    let plan = ImportPlan::from_file(source, kind, import::school_year(clock::now())).await?;
    let store = open_store(&database, 1, 1).await.context("open the database")?;
    let import = Import {
        context: context(&store, &arguments.organization).await?,
        transactor: Transactor::new(store, EventBus::without_sockets(&database)),
        // The command line has no key to encrypt emails; an administrator can resend invitations from the list of
        // users.
        mail: None,
        rules: ImportRules {
            mode: match arguments.mode {
                Mode::Upsert => ImportMode::Upsert,
                Mode::Create => ImportMode::Create,
            },
            is_dry_run: arguments.dry_run,
            is_repeated: false,
        },
        origin: None,
    };
    let (sender, mut reports) = mpsc::channel::<Vec<RowReport>>(2);
    let running = tokio::spawn(import.run(plan, sender));
    let mut done = 0;
    while let Some(unit) = reports.recv().await {
        let mut out = std::io::stdout().lock();
        for row in &unit {
            writeln!(out, "{}", report_line(row))?;
        }
        let before = done;
        done += i64::try_from(unit.len())?;
        if before / PROGRESS_INTERVAL_ROWS != done / PROGRESS_INTERVAL_ROWS {
            super::report(&format!("{done} rows"));
        }
    }
    Ok(running.await??)
}

async fn context(store: &Store, slug: &str) -> anyhow::Result<RequestContext> {
    let wanted = slug.to_owned();
    let found = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
        platform.organization_with_slug(&wanted)
    });
    let tenant: Tenant = found
        .await?
        .with_context(|| format!("--organization: there is no school with the short name {slug}"))?;
    Ok(RequestContext {
        tenant,
        viewer: Viewer::Admin,
        actor: Actor {
            user: None,
            name: "groupwork import".to_owned(),
            role: "system",
            impersonated_by: None,
            api_token: None,
            request_id: None,
        },
        now: clock::now(),
    })
}

/// Formats the result of a row: position, status and errors.
fn report_line(reported: &RowReport) -> String {
    let RowReport { file, row, outcome, .. } = reported;
    let place = file.map_or_else(|| format!("row {row}"), |file| format!("{file} row {row}"));
    let problems = outcome.problems.iter();
    let reasons: Vec<String> = problems
        .map(|problem| format!("{} {}", problem.column, problem.message).trim().to_owned())
        .collect();
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {}", reasons.join("; "))
    };
    format!("{place} {}{reasons}", outcome.status)
}
