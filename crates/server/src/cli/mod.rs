//! The commands of the binary. This is the only room that prints.
#![expect(clippy::print_stdout, reason = "commands talk to the person who typed them")]

mod admin;
mod backup;
mod data_folder;
mod database;
mod demo;
pub mod describe;
mod doctor;
mod healthcheck;
mod import;
mod log_writer;
mod manual;
mod migrate;
mod serve;
mod settings;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::config::{self, ServeArgs, StorageArgs};
use common::settings::Refused;

/// groupwork: the server on which a school's groups work together
#[derive(Parser)]
#[command(name = "groupwork", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Migrate, then run the service
    Serve {
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Run a demo school with everything it needs, on this machine only
    Demo(demo::DemoArgs),
    /// Bring the database schema up to date
    Migrate {
        #[command(flatten)]
        create: database::CreateArgs,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// People of the platform
    Admin {
        #[command(subcommand)]
        command: admin::AdminCommand,
    },
    /// Import students and teachers of a school from a file
    Import(import::ImportArgs),
    /// Write everything into one archive, while the service runs
    Backup(backup::BackupArgs),
    /// Bring a backup back, into an empty place
    Restore(backup::RestoreArgs),
    /// Compare rows, files and checksums
    Scrub(backup::ScrubArgs),
    /// The settings: write, check, show
    Config {
        #[command(subcommand)]
        command: settings::SettingsCommand,
    },
    /// Try everything the service needs and say what to do about what fails
    Doctor {
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Whether the service on this machine can work, as an exit code
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Print what a shell needs to complete commands and settings
    Completions(manual::CompletionsArgs),
    /// Print the manual
    Man(manual::ManArgs),
    /// Print the OpenAPI document
    Openapi,
    /// Print the `AsyncAPI` document of the events
    Events,
    /// Print the table of routes and who may call them
    Access,
    /// Print the table of personal data, with what exports and erasures do with it
    Privacy,
    /// Print the statements of this release, which the next ones must still be able to run
    Statements,
}

/// Runs the command of this process and answers its exit code.
pub fn run() -> ExitCode {
    let dotenv = config::dotenv::load(&settings::is_setting);
    let command = Arguments::parse().command;
    let outcome = match dotenv {
        Err(refused) if command.reads_settings() => Err(refused.into()),
        _ => perform(command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line for a refused configuration; a chain of causes for everything else.
            match error.downcast_ref::<Refused>() {
                Some(refused) => report(&refused.to_string()),
                None => report(&format!("{error:#}")),
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to stderr, as far as it can be written: a command must not fail because its messages are not read.
fn report(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

impl Command {
    /// Whether it depends on the environment and `.env`. What prints documents, or writes a first `.env`, does not.
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
}

fn perform(command: Command) -> anyhow::Result<()> {
    // The manual pages are readable by all users.
    if !matches!(command, Command::Man(_)) {
        data_folder::make_files_private();
    }
    match command {
        Command::Serve { serve, storage } => serve::run(*serve, storage),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Migrate { create, storage } => migrate::run(&storage, create),
        Command::Admin { command } => admin::run(command),
        Command::Import(arguments) => import::run(arguments),
        Command::Backup(arguments) => backup::backup(arguments),
        Command::Restore(arguments) => backup::restore(arguments),
        Command::Scrub(arguments) => backup::scrub(arguments),
        Command::Config { command } => settings::run(command),
        Command::Doctor { serve, storage } => doctor::run(*serve, storage),
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

/// How long a service that has ended waits for what still holds a thread.
const LEFTOVERS: Duration = Duration::from_secs(10);

/// Runs a service until it ends by itself. What then still holds a thread, because a disk or a database does not answer, is
/// left to itself: nothing of it was acknowledged, and whoever stops a service wants it to end.
fn run_service(service: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    run_and_leave(service, LEFTOVERS)
}

fn run_and_leave(service: impl Future<Output = anyhow::Result<()>>, leftovers: Duration) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(service);
    runtime.shutdown_timeout(leftovers);
    outcome
}

/// The runtime of a command.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn a_service_ends_although_a_thread_is_held() {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let holds = async {
            tokio::task::spawn_blocking(move || released.recv().is_err());
            Ok(())
        };
        // Without a limit this would wait for what is only released afterwards.
        run_and_leave(holds, Duration::from_millis(50)).unwrap();
        drop(release);
    }
}
