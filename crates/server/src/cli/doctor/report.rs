//! The results of the checks, as lines or as JSON. A reader that closes the pipe ends the output, not the checks.

use serde::Serialize;

use crate::cli::print_line;

/// The result of one check.
pub enum Finding {
    /// It works.
    Fine(String),
    /// It works, with a warning.
    Notice(String),
    /// It does not work; contains what to do about it.
    Fault(String),
}

/// The results in the order of the checks.
pub struct DoctorReport {
    as_json: bool,
    checks: Vec<DoctorCheck>,
}

/// A check with its result.
#[derive(Serialize)]
struct DoctorCheck {
    check: &'static str,
    /// `ok`, `notice` or `fault`.
    status: &'static str,
    message: String,
}

/// The JSON output.
#[derive(Serialize)]
struct DoctorOutput<'a> {
    version: &'static str,
    faults: usize,
    checks: &'a [DoctorCheck],
}

impl DoctorReport {
    pub fn new(as_json: bool) -> Self {
        Self {
            as_json,
            checks: Vec::new(),
        }
    }

    /// Adds a result; prints it unless the output is JSON.
    pub fn add(&mut self, check: &'static str, finding: Finding) {
        let (sign, status, message) = match finding {
            Finding::Fine(message) => ("ok    ", "ok", message),
            Finding::Notice(message) => ("notice", "notice", message),
            Finding::Fault(message) => ("FAULT ", "fault", message),
        };
        if !self.as_json {
            print_line(&format!("{sign}  {check:<16} {message}"));
        }
        self.checks.push(DoctorCheck { check, status, message });
    }

    /// Prints the end of the output and returns the number of faults.
    pub fn finish(self) -> usize {
        let faults = self.checks.iter().filter(|check| check.status == "fault").count();
        if self.as_json {
            let output = DoctorOutput {
                version: env!("CARGO_PKG_VERSION"),
                faults,
                checks: &self.checks,
            };
            print_line(&serde_json::to_string_pretty(&output).unwrap_or_default());
        } else if faults == 0 {
            print_line("\nEverything the service needs works.");
        }
        faults
    }
}
