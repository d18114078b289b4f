//! The binary as an operator runs it: commands, settings, databases, storage, backup, mail, jobs, releases.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

mod administration;
mod architecture;
mod audit;
mod backup;
mod clients;
mod commands;
mod data_folder;
mod databases;
mod doctor;
mod generated_client;
mod import_command;
mod import_memory;
mod jobs;
mod log_output;
mod mail;
mod mail_domains;
mod maintenance;
mod memory;
mod packaging;
mod ports;
mod process;
mod prose_script;
mod releases;
mod roster_runs;
mod school_moves;
mod secret_rotation;
mod settings_file;
mod storage_owner;
mod test_scripts;
