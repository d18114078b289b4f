//! What packages carry beside the binary, made from its own definitions: completions of shells and the manual pages.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;

/// For which shell.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell; its words go to standard output
    shell: Shell,
}

/// Where manual pages go.
#[derive(Args)]
pub struct ManArgs {
    /// A folder for one page per command; without it the page of `groupwork` goes to standard output
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Prints what a shell needs to complete our words.
pub fn completions(arguments: &CompletionsArgs) -> anyhow::Result<()> {
    // Not into standard output at once: the generator panics when nobody reads on.
    let mut words = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "groupwork", &mut words);
    Ok(io::stdout().write_all(&words)?)
}

/// Writes the manual.
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
