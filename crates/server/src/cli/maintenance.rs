//! `groupwork maintenance`: makes the installation read-only for a while. The mode is stored in the database; running
//! instances notice it within seconds.

use anyhow::Context as _;
use clap::Subcommand;

use super::{database, print_line};
use crate::bootstrap::open_existing;
use crate::config::StorageArgs;
use common::clock;
use db::platform::{CrossTenantReason, PlatformTx};
use domain::maintenance::Maintenance;
use domain::text::MaintenanceMessage;

/// Subcommands for the maintenance mode.
#[derive(Subcommand)]
pub enum MaintenanceCommand {
    /// Begin maintenance, or change its message: everything can be read, nothing can be changed
    On {
        /// Text for users, for example when it ends
        #[arg(long)]
        message: Option<String>,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// End maintenance
    Off {
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Print whether maintenance mode is on
    Status {
        #[command(flatten)]
        storage: StorageArgs,
    },
}

impl MaintenanceCommand {
    pub fn storage(&self) -> &StorageArgs {
        match self {
            Self::On { storage, .. } | Self::Off { storage } | Self::Status { storage } => storage,
        }
    }
}

pub fn run(command: MaintenanceCommand) -> anyhow::Result<()> {
    let mode = match command {
        MaintenanceCommand::On { message, storage } => {
            let message = message
                .map(|text| MaintenanceMessage::try_from(text.as_str()))
                .transpose()
                .map_err(|error| anyhow::anyhow!("--message: {error}"))?;
            update(&storage, move |platform| {
                platform.begin_maintenance(message.as_ref(), clock::now())
            })
        }
        MaintenanceCommand::Off { storage } => update(&storage, |platform| platform.end_maintenance()),
        MaintenanceCommand::Status { storage } => update(&storage, |_| Ok(())),
    };
    match mode? {
        None => print_line("maintenance mode is off"),
        Some(Maintenance { message, since }) => {
            let message = message.map_or_else(String::new, |message| format!(": {message}"));
            print_line(&format!("maintenance mode is on since {since}{message}"));
        }
    }
    Ok(())
}

/// Changes the mode and returns the new one. The schema is not migrated, because the service may be of another release.
fn update(
    storage: &StorageArgs,
    act: impl Fn(&mut PlatformTx<'_>) -> common::error::Result<()> + Send + 'static,
) -> anyhow::Result<Option<Maintenance>> {
    let database = database::existing(storage)?;
    super::runtime()?.block_on(async {
        let store = open_existing(&database).await.context("open the database")?;
        let store = store.context("the database has no schema")?;
        let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            act(platform)?;
            platform.maintenance()
        });
        written.await.map_err(|error| anyhow::anyhow!("{error}"))
    })
}
