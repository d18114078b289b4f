//! Generates shell completions and manual pages for packages from the command definitions.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;

/// Arguments of `groupwork completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell; the completions are printed to standard output
    shell: Shell,
}

/// Arguments of `groupwork man`.
#[derive(Args)]
pub struct ManArgs {
    /// Folder for one page per command; without it the page of `groupwork` is printed to standard output
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArgs) -> anyhow::Result<()> {
    // Buffered, because the generator panics on a closed pipe.
    let mut words = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "groupwork", &mut words);
    Ok(io::stdout().write_all(&words)?)
}

/// Writes the manual pages.
pub fn man(arguments: ManArgs) -> anyhow::Result<()> {
    let command = Arguments::command();
    match arguments.folder {
        Some(folder) => {
            std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            clap_mangen::generate_to(command, &folder).with_context(|| folder.display().to_string())
        }
        None => Ok(clap_mangen::Man::new(command).render(&mut io::stdout())?),
    }
}
