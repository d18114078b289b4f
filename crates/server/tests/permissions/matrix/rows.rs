//! The rows of the permission matrix: the expected response for every route, situation and kind of caller. They are in
//! `crates/api/access`, one file per noun, separate from the routes, so that a route without rows is detected.

use std::path::{Path, PathBuf};

/// The columns of the matrix: the kinds of caller, in order.
pub const ACTORS: [&str; 9] = ["An", "Sg", "Sc", "So", "Tc", "To", "Ad", "Xo", "SA"];

/// The situations of a row. Empty means an active class, a started group and a draft.
pub const SITUATIONS: [&str; 14] = [
    "",
    "hidden",
    "unpublished",
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

/// All rows, from `crates/api/access`.
pub fn matrix_rows() -> Vec<MatrixRow> {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "csv") && !file.ends_with(PENDING));
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

/// Rows of routes that do not exist yet.
pub fn pending_rows() -> Vec<MatrixRow> {
    read(&folder().join(PENDING))
}

const PENDING: &str = "pending.csv";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/access")
}

/// Parses a file. Its header row names the columns.
fn read(file: &Path) -> Vec<MatrixRow> {
    let text: &'static str = std::fs::read_to_string(file).unwrap().leak();
    let mut rows = text.lines();
    let head = format!("method,path,situation,{}", ACTORS.join(","));
    assert_eq!(rows.next(), Some(&*head), "{}", file.display());
    rows.map(|row| parse(row).unwrap_or_else(|problem| panic!("{}: {row}: {problem}", file.display())))
        .collect()
}

fn parse(row: &'static str) -> Result<MatrixRow, String> {
    let mut fields = row.split(',');
    let mut next = || fields.next().ok_or("a field is missing");
    let (method, path, situation) = (next()?, next()?, next()?);
    let mut cells = [""; 9];
    for cell in &mut cells {
        *cell = next()?;
        let is_status = cell.get(..3).is_some_and(|status| status.parse::<u16>().is_ok());
        if !(is_status || matches!(*cell, "yes" | "own" | "-")) {
            return Err(format!("{cell} is not a valid cell"));
        }
    }
    if fields.next().is_some() || !SITUATIONS.contains(&situation) {
        return Err(format!("too many fields, or unknown situation {situation}"));
    }
    Ok(MatrixRow {
        method,
        path,
        situation,
        cells,
    })
}
