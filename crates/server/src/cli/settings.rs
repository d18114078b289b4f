//! `groupwork config`: writes, checks and shows the settings. The list of settings is derived from the arguments of
//! `serve`, so it is always complete.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Arg, CommandFactory as _, Subcommand};

use super::Arguments;
use crate::config::settings_file::{self, PACKAGE_FILE, SettingNames};
use crate::config::{self, Config, ServeArgs, StorageArgs};
use common::settings::{address, secret};

/// Subcommands for settings.
#[derive(Subcommand)]
pub enum SettingsCommand {
    /// Write a new settings file with generated secrets
    Init {
        /// URL of the service for users, `https://school.example`; without it the file contains an empty
        /// FRONTEND_URL to be filled in
        #[arg(long)]
        url: Option<String>,
        /// URL of the document server for browsers
        #[arg(long)]
        docserver_url: Option<String>,
        /// Folder of the SQLite database and of the files
        #[arg(long)]
        data_dir: Option<PathBuf>,
        /// The file to write; an existing file is not changed
        #[arg(long, default_value = ".env")]
        file: PathBuf,
    },
    /// Check the settings like `serve`, without starting the service
    Check {
        #[command(flatten)]
        serve: Box<ServeArgs>,
        #[command(flatten)]
        storage: Box<StorageArgs>,
    },
    /// Print the settings with masked secrets
    Show,
    /// Print a file of all settings with descriptions and defaults
    Example,
}

impl SettingsCommand {
    /// Returns whether the command reads the environment.
    pub fn reads_settings(&self) -> bool {
        matches!(self, Self::Check { .. } | Self::Show)
    }
}

/// Returns the names of the settings of all commands.
pub fn names() -> SettingNames {
    let mut names = config::renamed::old_names().map(str::to_owned).collect();
    add_names(&Arguments::command(), &mut names);
    SettingNames(names)
}

fn add_names(command: &clap::Command, names: &mut Vec<String>) {
    let of_arguments = command
        .get_arguments()
        .filter_map(|argument| argument.get_env()?.to_str());
    names.extend(of_arguments.map(str::to_owned));
    for subcommand in command.get_subcommands() {
        add_names(subcommand, names);
    }
}

pub fn run(command: SettingsCommand) -> anyhow::Result<()> {
    match command {
        SettingsCommand::Init {
            url,
            docserver_url,
            data_dir,
            file,
        } => init(url.as_deref(), docserver_url.as_deref(), data_dir.as_deref(), &file),
        SettingsCommand::Check { serve, storage } => check(*serve, *storage),
        SettingsCommand::Show => {
            print!("{}", show());
            Ok(())
        }
        SettingsCommand::Example => {
            print!("{}", example());
            Ok(())
        }
    }
}

fn init(url: Option<&str>, docserver_url: Option<&str>, data_dir: Option<&Path>, file: &Path) -> anyhow::Result<()> {
    if url.is_some_and(|url| address::exact_origin(url).is_none()) {
        bail!("--url {}", address::NOT_AN_ORIGIN);
    }
    if docserver_url.is_some_and(|address| address::base_address(address).is_none()) {
        bail!("--docserver-url {}", address::NOT_AN_ADDRESS);
    }
    let mut text = format!(
        "# Settings of groupwork. All of them: groupwork config example\n\
         # URL of the service for users, such as https://school.example (required)\nFRONTEND_URL={}\nAUTH_SECRET={}\n\
         # The same as JWT_SECRET of the document server.\nDOCSERVER_JWT_SECRET={}\n",
        url.unwrap_or_default(),
        secret::generate_secret(),
        secret::generate_secret(),
    );
    if let Some(folder) = data_dir {
        let folder = folder.to_str().context("--data-dir must be UTF-8 text")?;
        writeln!(text, "DATA_DIR={folder}")?;
    }
    if let Some(address) = docserver_url {
        writeln!(text, "DOCSERVER_URL={address}")?;
    }
    write_private(file, &text).with_context(|| file.display().to_string())?;
    println!("wrote {} with fresh secrets, readable by you alone", file.display());
    if url.is_none() {
        println!("next: set FRONTEND_URL in {}", file.display());
    }
    println!("next: groupwork config check, then groupwork serve");
    Ok(())
}

/// Writes a file that only its owner can read; fails if it exists.
fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn check(serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let config = Config::check(serve, storage)?;
    match settings_file::loaded() {
        Some(file) => {
            let path = file.path.display();
            println!("Settings of {path} and the environment.");
            for name in &file.names {
                if let Some(new) = config::renamed::new_name(name) {
                    println!("{path}: {name} is called {new} now. The old name is accepted for one release.");
                }
            }
        }
        None => println!("Settings of the environment: there is no .env and no {PACKAGE_FILE}."),
    }
    if config.docserver_url.is_none() {
        println!(
            "DOCSERVER_URL is unset: text documents open in the built-in editor; other kinds can be downloaded and uploaded."
        );
    }
    if has_editor_on_own_origin(&config) {
        println!("{SAME_ORIGIN}");
    }
    if config.smtp.is_none() {
        println!("SMTP_URL is unset: mails are laid into DATA_DIR/outbox.");
    }
    if config.frontend_origin.starts_with("http://") && !config.frontend_origin.contains("://localhost") {
        println!("FRONTEND_URL is not https: passwords and session cookies travel in the clear.");
    }
    println!(
        "The settings are complete: groupwork serve will answer at {}",
        config.frontend_url
    );
    Ok(())
}

/// The warning for a document server on the origin of the service.
pub const SAME_ORIGIN: &str = "DOCSERVER_URL is on the origin of FRONTEND_URL: a script of the document server could act there as \
    the user. Give it a host name of its own.";

/// Returns whether the document server has the origin of this service, so that its scripts run there.
pub fn has_editor_on_own_origin(config: &Config) -> bool {
    let origin = config.docserver_url.as_deref().and_then(address::origin_of);
    origin.as_deref() == Some(config.frontend_origin.as_str())
}

/// A setting, from the arguments of `serve`.
struct Setting {
    name: String,
    meaning: String,
    default: Option<String>,
    is_secret: bool,
}

fn settings() -> Vec<Setting> {
    let command = Arguments::command();
    let serve = command
        .find_subcommand("serve")
        .into_iter()
        .flat_map(|serve| serve.get_arguments());
    serve.filter_map(setting).collect()
}

fn setting(argument: &Arg) -> Option<Setting> {
    let name = argument.get_env()?.to_str()?.to_owned();
    let default = argument.get_default_values().first().and_then(|value| value.to_str());
    let meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
    Some(Setting {
        name,
        meaning,
        default: default.map(str::to_owned),
        is_secret: argument.is_hide_env_values_set(),
    })
}

fn show() -> String {
    let mut text = String::new();
    for setting in settings() {
        let set = config::environment(&setting.name).filter(|value| !value.trim().is_empty());
        let line = match (&set, &setting.default) {
            (Some(_), _) if setting.is_secret => "*** (set)".to_owned(),
            (Some(value), _) => value.clone(),
            (None, Some(default)) => format!("{default} (default)"),
            (None, None) => continue,
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}={line}", setting.name);
    }
    text
}

fn example() -> String {
    let mut text = "# Every setting of groupwork. Those without a # are required.\n".to_owned();
    for setting in settings() {
        let is_required = setting.meaning.contains("(required)");
        let lead = if is_required { "" } else { "#" };
        let default = setting.default.unwrap_or_default();
        let _ = write!(text, "\n# {}\n{lead}{}={default}\n", setting.meaning, setting.name);
    }
    text
}
