//! Who may do what, cell by cell: the table that docs/access.md shows and `tests/api/matrix` calls over HTTP. Its lines stand in
//! `crates/server/access`, one file for each noun; the routes say nothing of it, so that a route without cells is found out.

use anyhow::{Context as _, bail};

/// The columns of the table, in its order.
pub const ACTORS: [&str; 9] = ["An", "Sg", "Sc", "So", "Tc", "To", "Ad", "Xo", "SA"];

/// The situations a line can be about; without a name it is a class at work, a group that has started, a draft.
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

/// One line: an operation in a situation, and what each actor is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The method, upper-case.
    pub method: &'static str,
    /// The path below `/api`, with `{names}`.
    pub path: &'static str,
    /// One of [`SITUATIONS`].
    pub situation: &'static str,
    /// One answer for each of [`ACTORS`]: `yes`, a status, a status with its code, `own` for what somebody of the same role
    /// gets in this school, or `-` where nobody is called.
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

/// Lines of routes that do not exist yet.
const PENDING: &str = include_str!("../access/pending.csv");

/// The lines of one file; the first line names the columns.
pub fn read(file: &'static str) -> anyhow::Result<Vec<Line>> {
    let mut lines = file.lines();
    let head = format!("method,path,situation,{}", ACTORS.join(","));
    if lines.next() != Some(&head) {
        bail!("the first line must be {head}");
    }
    lines.map(|line| parse(line).with_context(|| line)).collect()
}

/// All lines.
pub fn lines() -> anyhow::Result<Vec<Line>> {
    let mut all = Vec::new();
    for (noun, file) in FILES {
        all.extend(read(file).context(*noun)?);
    }
    Ok(all)
}

/// The lines of routes that do not exist yet.
pub fn pending() -> anyhow::Result<Vec<Line>> {
    read(PENDING)
}

fn parse(line: &'static str) -> anyhow::Result<Line> {
    let mut fields = line.split(',');
    let mut next = || fields.next().context("a field is missing");
    let (method, path, situation) = (next()?, next()?, next()?);
    let mut cells = [""; 9];
    for cell in &mut cells {
        *cell = next()?;
        let is_status = cell.get(..3).is_some_and(|status| status.parse::<u16>().is_ok());
        if !(is_status || matches!(*cell, "yes" | "own" | "-")) {
            bail!("{cell} is no answer");
        }
    }
    if fields.next().is_some() || !SITUATIONS.contains(&situation) {
        bail!("there are too many fields, or nobody knows the situation {situation}");
    }
    Ok(Line {
        method,
        path,
        situation,
        cells,
    })
}
