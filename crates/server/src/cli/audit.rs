//! `groupwork audit export`: the activity logs of all schools and the recent failed sign-ins, page by page, so that memory
//! does not grow with the log.

use std::io::{BufWriter, ErrorKind, Write};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::database;
use crate::bootstrap::open_existing;
use crate::config::StorageArgs;
use api_types::activity_log::ActivityLogView;
use api_types::csv;
use common::clock;
use db::page::Position;
use db::platform::CrossTenantReason;
use db::platform::sign_in::SignInFailure;
use db::{RequestContext, Store};
use domain::activity::ActivityRecord;
use domain::time::Timestamp;

/// Rows that are read at once.
const PAGE_ROWS: i64 = 500;

/// Subcommands for the audit log.
#[derive(Subcommand)]
pub enum AuditCommand {
    /// Write the activity logs of all schools, school by school, then the failed sign-ins that limits still count
    Export(ExportArgs),
}

/// Arguments of `groupwork audit export`.
#[derive(Args)]
pub struct ExportArgs {
    /// Begin with records of this day (UTC) or time: 2026-01-31 or 2026-01-31T08:00:00Z
    #[arg(long, value_parser = moment)]
    from: Option<Timestamp>,
    /// End before this day (UTC) or time
    #[arg(long, value_parser = moment)]
    to: Option<Timestamp>,
    /// Only this school, by its short name; without failed sign-ins, which belong to no school
    #[arg(long, value_name = "SLUG")]
    school: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = AuditFormat::Jsonl)]
    format: AuditFormat,
    #[command(flatten)]
    storage: StorageArgs,
}

/// The format of an export.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuditFormat {
    /// One JSON object per line
    Jsonl,
    /// A table
    Csv,
}

impl AuditCommand {
    pub fn storage(&self) -> &StorageArgs {
        let Self::Export(arguments) = self;
        &arguments.storage
    }
}

/// Parses a day or a time.
fn moment(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text)
        .or_else(|_| Timestamp::parse(&format!("{text}T00:00:00Z")))
        .map_err(|_| "must be a day such as 2026-01-31 or a time such as 2026-01-31T08:00:00Z")
}

/// A record of the activity log of a school.
#[derive(Serialize)]
struct ActivityLine<'a> {
    source: &'static str,
    school: &'a str,
    #[serde(flatten)]
    record: &'a ActivityLogView,
}

/// A failed sign-in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignInLine<'a> {
    source: &'static str,
    id: &'a str,
    created_at: Timestamp,
    /// The email address that was entered, whether or not it has an account.
    account: &'a str,
    /// The address of the client.
    address: &'a str,
}

const ACTIVITY: &str = "activity";
const SIGN_IN_FAILURE: &str = "signInFailure";

pub fn run(command: AuditCommand) -> anyhow::Result<()> {
    let AuditCommand::Export(arguments) = command;
    let database = database::existing(&arguments.storage)?;
    let out = BufWriter::new(std::io::stdout().lock());
    let exported = super::runtime()?.block_on(async {
        let store = open_existing(&database).await.context("open the database")?;
        let store = store.context("the database has no schema")?;
        export(&store, &arguments, AuditWriter::new(out, arguments.format)).await
    });
    match exported {
        // The reader has seen enough.
        Err(error) if is_closed_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

async fn export<W: Write>(store: &Store, arguments: &ExportArgs, mut writer: AuditWriter<W>) -> anyhow::Result<()> {
    writer.begin()?;
    let read = store.platform_read(CrossTenantReason::CommandLine, |platform| {
        let organizations = platform.organizations(None)?.into_iter();
        let with_tenant = organizations.map(|organization| {
            let tenant = platform.tenant(&organization.id)?;
            Ok((tenant, organization.slug))
        });
        with_tenant.collect::<common::error::Result<Vec<_>>>()
    });
    let mut schools = read.await.map_err(|error| anyhow::anyhow!("{error}"))?;
    if let Some(wanted) = &arguments.school {
        schools.retain(|(_, slug)| slug.as_str() == wanted);
        if schools.is_empty() {
            bail!("--school: there is no school {wanted}");
        }
    }
    for (tenant, slug) in schools {
        let context = RequestContext::for_service(tenant, "groupwork audit", clock::now());
        let mut after = start(arguments.from);
        loop {
            let (position, to) = (after.clone(), arguments.to);
            let page = store.read(context.clone(), move |tx| {
                tx.exported_activity(&position, to, PAGE_ROWS)
            });
            let page = page.await.map_err(|error| anyhow::anyhow!("{error}"))?;
            let Some(last) = page.last() else { break };
            after = db::activity::position(last);
            for record in page {
                writer.write_activity(slug.as_str(), record)?;
            }
        }
    }
    if arguments.school.is_none() {
        let mut after = start(arguments.from);
        loop {
            let (position, to) = (after.clone(), arguments.to);
            let page = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
                platform.exported_failures(&position, to, PAGE_ROWS)
            });
            let page = page.await.map_err(|error| anyhow::anyhow!("{error}"))?;
            let Some(last) = page.last() else { break };
            after = Position {
                key: last.created_at.as_millis(),
                id: last.id.clone(),
            };
            for failure in &page {
                writer.write_failure(failure)?;
            }
        }
    }
    writer.finish()
}

/// The position before the first record of this time. Ids are never empty.
fn start(from: Option<Timestamp>) -> Position<i64> {
    Position {
        key: from.map_or(i64::MIN, Timestamp::as_millis),
        id: String::new(),
    }
}

/// Writes records in the format of an export.
struct AuditWriter<W> {
    out: W,
    format: AuditFormat,
}

impl<W: Write> AuditWriter<W> {
    fn new(out: W, format: AuditFormat) -> Self {
        Self { out, format }
    }

    fn begin(&mut self) -> anyhow::Result<()> {
        match self.format {
            AuditFormat::Jsonl => Ok(()),
            AuditFormat::Csv => self.write_row(
                &["source", "school"],
                &ActivityLogView::csv_header(),
                &["account", "address"],
            ),
        }
    }

    fn write_activity(&mut self, school: &str, record: ActivityRecord) -> anyhow::Result<()> {
        let record = &ActivityLogView::from(record);
        match self.format {
            AuditFormat::Jsonl => self.write_line(&ActivityLine {
                source: ACTIVITY,
                school,
                record,
            }),
            AuditFormat::Csv => self.write_row(&[ACTIVITY, school], &record.csv_row(), &["", ""]),
        }
    }

    fn write_failure(&mut self, failure: &SignInFailure) -> anyhow::Result<()> {
        let (id, created_at) = (failure.id.as_str(), failure.created_at);
        let (account, address) = (failure.attempt.account_key.as_str(), failure.attempt.address.as_str());
        match self.format {
            AuditFormat::Jsonl => self.write_line(&SignInLine {
                source: SIGN_IN_FAILURE,
                id,
                created_at,
                account,
                address,
            }),
            AuditFormat::Csv => {
                let columns = ActivityLogView::csv_header().matches(',').count() + 1;
                let mut cells = vec![id.to_owned(), created_at.to_string()];
                cells.resize(columns, String::new());
                self.write_row(&[SIGN_IN_FAILURE, ""], &csv::format_row(cells), &[account, address])
            }
        }
    }

    fn write_line(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(line)?;
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Writes the row of a record between the columns that only this export has.
    fn write_row(&mut self, before: &[&str], row: &str, after: &[&str]) -> anyhow::Result<()> {
        let (before, after) = (csv::format_row(before), csv::format_row(after));
        let (before, row) = (before.trim_end_matches("\r\n"), row.trim_end_matches("\r\n"));
        Ok(write!(self.out, "{before},{row},{after}")?)
    }

    fn finish(mut self) -> anyhow::Result<()> {
        Ok(self.out.flush()?)
    }
}
