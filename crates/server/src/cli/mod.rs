//! The commands of the binary. No other module prints to stdout.
#![expect(clippy::print_stdout, reason = "commands print to the terminal")]

mod admin;
mod audit;
mod backup;
mod data_folder;
mod database;
mod demo;
pub mod describe;
mod doctor;
mod files;
mod healthcheck;
mod import;
mod log_writer;
mod mail;
mod maintenance;
mod manual;
mod migrate;
mod school;
mod serve;
mod settings;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::settings_file::{self, Scope};
use crate::config::{self, ServeArgs, StorageArgs};
use common::settings::SettingsError;

/// groupwork: the server on which a school's groups work together
#[derive(Parser)]
#[command(name = "groupwork", version, about)]
struct Arguments {
    /// Settings file; by default `.env` in the working directory, else /etc/groupwork/groupwork.env
    #[arg(long, global = true, value_name = "FILE")]
    env_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Migrate the database, then run the service
    Serve {
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Run a demo school with everything it needs, on this machine only
    Demo(demo::DemoArgs),
    /// Apply pending database migrations
    Migrate {
        #[command(flatten)]
        create: database::CreateArgs,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Manage platform administrators and accounts that cannot sign in
    Admin {
        #[command(subcommand)]
        command: admin::AdminCommand,
    },
    /// Create and list the schools of this installation
    School {
        #[command(subcommand)]
        command: school::SchoolCommand,
    },
    /// Export the activity logs of the schools and the failed sign-ins
    Audit {
        #[command(subcommand)]
        command: audit::AuditCommand,
    },
    /// Test the settings of emails
    Mail {
        #[command(subcommand)]
        command: mail::MailCommand,
    },
    /// Make the installation read-only for maintenance, with a message for users
    Maintenance {
        #[command(subcommand)]
        command: maintenance::MaintenanceCommand,
    },
    /// Import students and teachers of a school from a file
    Import(import::ImportArgs),
    /// Write a backup of all data to one archive, while the service runs
    Backup(backup::BackupArgs),
    /// Restore a backup into an empty installation
    Restore(backup::RestoreArgs),
    /// Verify rows, files and checksums
    Scrub(backup::ScrubArgs),
    /// Move the files to another storage
    Files {
        #[command(subcommand)]
        command: files::FilesCommand,
    },
    /// Create, check or show the settings
    Config {
        #[command(subcommand)]
        command: settings::SettingsCommand,
    },
    /// Check all dependencies of the service and print how to fix faults
    Doctor {
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Report the readiness of the local service as an exit code
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Print shell completions
    Completions(manual::CompletionsArgs),
    /// Print the manual pages
    Man(manual::ManArgs),
    /// Print the OpenAPI document
    Openapi,
    /// Print the `AsyncAPI` document of the events
    Events,
    /// Print the table of routes with their access rules
    Access,
    /// Print the table of personal data, with its handling in exports and erasures
    Privacy,
    /// Print the statements of this release, which the next releases must support
    Statements,
}

/// Runs the command of this process and returns its exit code.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let is_demo = arguments.iter().any(|argument| argument == "demo");
    let scope = if is_demo { Scope::Demo } else { Scope::Installation };
    let loaded = settings_file::load(&arguments, scope, &settings::names()).and_then(|()| config::renamed::apply());
    let command = parse().command;
    let outcome = match loaded {
        Err(refused) if command.reads_settings() => Err(refused.into()),
        _ => perform(command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line for invalid settings; the chain of causes for everything else.
            match error.downcast_ref::<SettingsError>() {
                Some(refused) => report(&refused.to_string()),
                None => report(&format!("{error:#}")),
            }
            ExitCode::FAILURE
        }
    }
}

/// Parses the arguments and the environment. Exits with a message if they are invalid.
fn parse() -> Arguments {
    let command = ignore_empty_variables(Arguments::command());
    let parsed = Arguments::from_arg_matches(&command.get_matches());
    parsed.unwrap_or_else(|error| error.exit())
}

/// Removes empty variables, so that they count as unset for settings of every type.
fn ignore_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |name: &str| config::environment(name).is_some_and(|value| value.trim().is_empty());
    command
        .mut_args(|argument| {
            if argument.get_env().and_then(OsStr::to_str).is_some_and(is_empty) {
                argument.env(None::<&'static str>)
            } else {
                argument
            }
        })
        .mut_subcommands(ignore_empty_variables)
}

/// Writes a line to stdout. `println!` would panic after the reader has closed the pipe.
fn print_line(line: &str) {
    drop(writeln!(std::io::stdout(), "{line}"));
}

/// Writes a line to stderr. Ignores errors, because a command must not fail when its messages are not read.
fn report(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

impl Command {
    /// Returns whether the command reads the environment and `.env`. Commands that print documents or write a first
    /// `.env` do not.
    fn reads_settings(&self) -> bool {
        match self {
            Self::Completions(_)
            | Self::Man(_)
            | Self::Openapi
            | Self::Events
            | Self::Access
            | Self::Privacy
            | Self::Statements => false,
            Self::Config { command } => command.reads_settings(),
            _ => true,
        }
    }

    /// Returns the data folder of a command that works on an installation next to its service.
    fn shared_data_folder(&self) -> Option<&Path> {
        let storage = match self {
            Self::Migrate { storage, .. } | Self::Doctor { storage, .. } => storage,
            Self::Admin { command } => command.storage(),
            Self::School { command } => command.storage(),
            Self::Maintenance { command } => command.storage(),
            Self::Audit { command } => command.storage(),
            Self::Import(arguments) => &arguments.storage,
            Self::Backup(arguments) => &arguments.storage,
            Self::Restore(arguments) => &arguments.storage,
            Self::Scrub(arguments) => &arguments.storage,
            _ => return None,
        };
        Some(&storage.data_dir)
    }
}

fn perform(command: Command) -> anyhow::Result<()> {
    // The manual pages are readable by all users.
    if !matches!(command, Command::Man(_)) {
        data_folder::make_files_private();
    }
    if let Some(folder) = command.shared_data_folder() {
        data_folder::become_owner(folder)?;
    }
    if command.reads_settings() && !matches!(command, Command::Serve { .. }) {
        for (name, setting) in settings_file::near_misses(&settings::names()) {
            report(&format!(
                "{name} in the environment is no setting of groupwork: did you mean {setting}?"
            ));
        }
    }
    match command {
        Command::Serve { serve, storage } => serve::run(*serve, storage),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Migrate { create, storage } => migrate::run(&storage, create),
        Command::Admin { command } => admin::run(command),
        Command::School { command } => school::run(command),
        Command::Mail { command } => mail::run(command),
        Command::Audit { command } => audit::run(command),
        Command::Maintenance { command } => maintenance::run(command),
        Command::Import(arguments) => import::run(arguments),
        Command::Backup(arguments) => backup::backup(arguments),
        Command::Restore(arguments) => backup::restore(arguments),
        Command::Scrub(arguments) => backup::scrub(arguments),
        Command::Files { command } => command.run(),
        Command::Config { command } => settings::run(command),
        Command::Doctor { json, serve, storage } => doctor::run(*serve, storage, json),
        Command::Healthcheck(arguments) => healthcheck::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(arguments),
        Command::Openapi => describe::openapi(),
        Command::Events => describe::events(),
        Command::Access => describe::access(),
        Command::Privacy => describe::privacy(),
        Command::Statements => describe::statements(),
    }
}

/// How long a stopped service waits for blocked threads.
const BLOCKED_THREADS_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a service until it ends. Threads that still wait for a disk or a database are then abandoned: none of their
/// work was acknowledged, and the process must not hang.
fn run_service(service: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    run_with_shutdown_timeout(service, BLOCKED_THREADS_TIMEOUT)
}

fn run_with_shutdown_timeout(
    service: impl Future<Output = anyhow::Result<()>>,
    shutdown_timeout: Duration,
) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(service);
    runtime.shutdown_timeout(shutdown_timeout);
    outcome
}

/// Builds the runtime of a command.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn service_stops_despite_blocked_thread() {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let holds = async {
            tokio::task::spawn_blocking(move || released.recv().is_err());
            Ok(())
        };
        // Without a timeout, this would wait for a value that is dropped only later.
        run_with_shutdown_timeout(holds, Duration::from_millis(50)).unwrap();
        drop(release);
    }
}
