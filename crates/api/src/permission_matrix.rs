//! The permission matrix: the expected response for every route, situation and kind of caller. docs/access.md shows it
//! and `tests/permissions/matrix` calls it over HTTP. Its rows are in `crates/api/access`, one file per noun, separate from
//! the routes, so that a route without rows is detected.

use anyhow::{Context as _, bail};

/// The columns of the matrix: the kinds of caller, in order.
pub const ACTORS: [&str; 9] = ["An", "Sg", "Sc", "So", "Tc", "To", "Ad", "Xo", "SA"];

/// The situations of a row. Empty means an active class, a started group and a draft.
pub const SITUATIONS: [&str; 13] = [
    "",
    "hidden",
    "submitted",
    "locked",
    "others",
    "staged",
    "archived",
    "draft",
    "cotaught",
    "handover",
    "above",
    "shared",
    "direct",
];

/// A row: an operation in a situation, and the expected response for each kind of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixRow {
    /// The method in upper case.
    pub method: &'static str,
    /// The path template below `/api`.
    pub path: &'static str,
    /// One of [`SITUATIONS`].
    pub situation: &'static str,
    /// One cell for each of [`ACTORS`]: `yes`, a status, a status with a code, `own` (the same as a caller of this role
    /// in the own organization), or `-` if the case is not called.
    pub cells: [&'static str; 9],
}

/// The file of each noun.
pub const FILES: &[(&str, &str)] = &[
    ("health", include_str!("../access/health.csv")),
    ("auth", include_str!("../access/auth.csv")),
    ("users", include_str!("../access/users.csv")),
    ("school", include_str!("../access/school.csv")),
    ("classes", include_str!("../access/classes.csv")),
    ("groups", include_str!("../access/groups.csv")),
    ("assignments", include_str!("../access/assignments.csv")),
    ("workrooms", include_str!("../access/workrooms.csv")),
    ("messages", include_str!("../access/messages.csv")),
    ("feedback", include_str!("../access/feedback.csv")),
    ("tenants", include_str!("../access/tenants.csv")),
];

/// Rows of routes that do not exist yet.
const PENDING: &str = include_str!("../access/pending.csv");

/// Parses a file. Its header row names the columns.
pub fn read(file: &'static str) -> anyhow::Result<Vec<MatrixRow>> {
    let mut rows = file.lines();
    let head = format!("method,path,situation,{}", ACTORS.join(","));
    if rows.next() != Some(&head) {
        bail!("the first line must be {head}");
    }
    rows.map(|row| parse(row).with_context(|| row)).collect()
}

/// All rows.
pub fn rows() -> anyhow::Result<Vec<MatrixRow>> {
    let mut all = Vec::new();
    for (noun, file) in FILES {
        all.extend(read(file).context(*noun)?);
    }
    Ok(all)
}

/// The rows of routes that do not exist yet.
pub fn pending() -> anyhow::Result<Vec<MatrixRow>> {
    read(PENDING)
}

fn parse(row: &'static str) -> anyhow::Result<MatrixRow> {
    let mut fields = row.split(',');
    let mut next = || fields.next().context("a field is missing");
    let (method, path, situation) = (next()?, next()?, next()?);
    let mut cells = [""; 9];
    for cell in &mut cells {
        *cell = next()?;
        let is_status = cell.get(..3).is_some_and(|status| status.parse::<u16>().is_ok());
        if !(is_status || matches!(*cell, "yes" | "own" | "-")) {
            bail!("{cell} is not a valid cell");
        }
    }
    if fields.next().is_some() || !SITUATIONS.contains(&situation) {
        bail!("too many fields, or unknown situation {situation}");
    }
    Ok(MatrixRow {
        method,
        path,
        situation,
        cells,
    })
}
