//! Parses OneRoster CSV archives (1.1 and 1.2), the export format of school administration systems. The data that
//! rows need of each other is read first: the school, school years, roles, and the teachers of classes.

mod archive;
mod rows;
mod snapshot;

use std::collections::{HashMap, HashSet};

use domain::import::PEOPLE_MAX;

pub use self::archive::OneRosterArchive;
pub use self::rows::send;
pub use self::snapshot::RosterSnapshot;
use super::header::{RowCells, TableLayout};
use common::error::{Error, Result};

/// The maximum number of rows in files of memberships, which are more than users.
const ENROLLMENTS_MAX: usize = 10 * PEOPLE_MAX;

const MANIFEST: TableLayout = file("manifest.csv", &["propertyName", "value"], &[]);
const ORGS: TableLayout = file("orgs.csv", &["sourcedId", "name", "type"], &["status"]);
const SESSIONS: TableLayout = file(
    "academicSessions.csv",
    &["sourcedId", "schoolYear"],
    &["status", "title"],
);
const ROLES: TableLayout = file("roles.csv", &["userSourcedId", "role"], &["status", "roleType"]);
const USERS: TableLayout = file(
    "users.csv",
    &["sourcedId", "givenName", "familyName"],
    &[
        "email",
        "username",
        "status",
        "enabledUser",
        "orgSourcedIds",
        "primaryOrgSourcedId",
        "role",
    ],
);
/// In 1.1 the role is a column of the user.
const USERS_WITH_ROLES: TableLayout = file("users.csv", &["role"], &[]);
const CLASSES: TableLayout = file(
    "classes.csv",
    &["sourcedId", "title", "classType", "schoolSourcedId", "termSourcedIds"],
    &["status"],
);
const ENROLLMENTS: TableLayout = file(
    "enrollments.csv",
    &["classSourcedId", "userSourcedId", "role"],
    &["status", "primary"],
);

/// Other columns of these files are ignored; the standard allows additional ones.
const fn file(
    table: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> TableLayout {
    TableLayout {
        table,
        required,
        optional,
        is_strict: false,
    }
}

/// The data that the rows of an archive need of each other.
#[derive(Debug)]
pub struct ArchiveOverview {
    /// The number of rows that are reported.
    pub rows: usize,
    schools: HashSet<String>,
    years: HashMap<String, String>,
    this_year: String,
    /// Roles by user, if they are in a separate file (1.2).
    roles: Option<HashMap<String, Role>>,
    teachers: HashMap<String, Teacher>,
}

#[derive(Debug)]
struct Role {
    name: String,
    is_primary: bool,
}

#[derive(Debug)]
struct Teacher {
    user: String,
    is_primary: bool,
}

impl ArchiveOverview {
    /// Reads an archive once, so that errors of the whole archive are reported before anything is written.
    pub fn read(archive: &mut OneRosterArchive, this_year: String) -> Result<Self> {
        check_manifest(archive)?;
        for needed in [&ORGS, &USERS, &CLASSES, &ENROLLMENTS] {
            if !archive.has(needed.table) {
                return Err(Error::invalid(needed.table, "required", "is missing from the archive"));
            }
        }
        let mut overview = Self {
            rows: 0,
            schools: schools(archive)?,
            years: years(archive)?,
            this_year,
            roles: archive.has(ROLES.table).then(|| roles(archive)).transpose()?,
            teachers: HashMap::new(),
        };
        if overview.roles.is_none() {
            archive.check_columns(&USERS_WITH_ROLES)?;
        }
        overview.teachers = teachers(archive)?;
        for (layout, limit) in [
            (&USERS, PEOPLE_MAX),
            (&CLASSES, PEOPLE_MAX),
            (&ENROLLMENTS, ENROLLMENTS_MAX),
        ] {
            overview.rows += count(archive, layout, limit)?;
        }
        Ok(overview)
    }
}

/// Returns whether a row is marked for deletion, regardless of case.
fn is_deleted(cells: RowCells<'_>) -> bool {
    cells.get("status").eq_ignore_ascii_case("tobedeleted")
}

fn check_manifest(archive: &mut OneRosterArchive) -> Result<()> {
    if !archive.has(MANIFEST.table) {
        return Err(Error::invalid(
            MANIFEST.table,
            "required",
            "is missing from the archive",
        ));
    }
    let mut version = String::new();
    let mut absent = Vec::new();
    archive.for_each_row(&MANIFEST, 200, |_, cells| {
        let Ok(cells) = cells else { return Ok(()) };
        let (name, value) = (cells.get("propertyName"), cells.get("value"));
        if name.eq_ignore_ascii_case("oneroster.version") {
            value.clone_into(&mut version);
        }
        if value.eq_ignore_ascii_case("absent")
            && let Some(file) = name.strip_prefix("file.")
        {
            absent.push(format!("{file}.csv"));
        }
        Ok(())
    })?;
    if !["1.1", "1.2"].contains(&version.as_str()) {
        return Err(Error::invalid(
            MANIFEST.table,
            "version",
            "must say that oneroster.version is 1.1 or 1.2",
        ));
    }
    for needed in [&ORGS, &USERS, &CLASSES, &ENROLLMENTS] {
        if absent.iter().any(|file| file.eq_ignore_ascii_case(needed.table)) {
            return Err(Error::invalid(
                needed.table,
                "absent",
                "is absent according to manifest.csv",
            ));
        }
    }
    Ok(())
}

/// Returns the ids of the organizations in the export. An import is for one school, so there may be only one.
fn schools(archive: &mut OneRosterArchive) -> Result<HashSet<String>> {
    let (mut ids, mut schools) = (HashSet::new(), 0);
    archive.for_each_row(&ORGS, PEOPLE_MAX, |_, cells| {
        let Ok(cells) = cells else { return Ok(()) };
        if !is_deleted(cells) {
            ids.insert(cells.get("sourcedId").to_owned());
            schools += usize::from(cells.get("type").eq_ignore_ascii_case("school"));
        }
        Ok(())
    })?;
    if schools == 1 {
        Ok(ids)
    } else {
        let found = format!("names {schools} schools; an import is for one");
        Err(Error::invalid(ORGS.table, "one_school", found))
    }
}

/// Returns school years by term. The standard stores the year in which a school year ends.
fn years(archive: &mut OneRosterArchive) -> Result<HashMap<String, String>> {
    let mut years = HashMap::new();
    archive.for_each_row(&SESSIONS, PEOPLE_MAX, |_, cells| {
        if let Ok(cells) = cells
            && let Ok(ends) = cells.get("schoolYear").parse::<u16>()
            && ends > 1000
        {
            years.insert(cells.get("sourcedId").to_owned(), format!("{}/{ends}", ends - 1));
        }
        Ok(())
    })?;
    Ok(years)
}

fn roles(archive: &mut OneRosterArchive) -> Result<HashMap<String, Role>> {
    let mut roles: HashMap<String, Role> = HashMap::new();
    archive.for_each_row(&ROLES, ENROLLMENTS_MAX, |_, cells| {
        let Ok(cells) = cells else { return Ok(()) };
        if is_deleted(cells) {
            return Ok(());
        }
        let role = Role {
            name: cells.get("role").chars().take(40).collect(),
            is_primary: cells.get("roleType").eq_ignore_ascii_case("primary"),
        };
        let known = roles.get(cells.get("userSourcedId"));
        if known.is_none_or(|known| !known.is_primary && role.is_primary) {
            roles.insert(cells.get("userSourcedId").to_owned(), role);
        }
        Ok(())
    })?;
    Ok(roles)
}

/// Returns the teacher of each class: the primary teacher, or else the first one.
fn teachers(archive: &mut OneRosterArchive) -> Result<HashMap<String, Teacher>> {
    let mut teachers: HashMap<String, Teacher> = HashMap::new();
    archive.for_each_row(&ENROLLMENTS, ENROLLMENTS_MAX, |_, cells| {
        let Ok(cells) = cells else { return Ok(()) };
        if is_deleted(cells) || !cells.get("role").eq_ignore_ascii_case("teacher") {
            return Ok(());
        }
        let teacher = Teacher {
            user: cells.get("userSourcedId").chars().take(200).collect(),
            is_primary: ["true", "1", "yes"].contains(&cells.get("primary").to_ascii_lowercase().as_str()),
        };
        let class = cells.get("classSourcedId");
        let known = teachers.get(class);
        let is_better = known.is_none_or(|known| !known.is_primary && teacher.is_primary);
        // Limits memory: a file may contain another class in every row.
        if is_better && (teachers.len() < PEOPLE_MAX || teachers.contains_key(class)) {
            teachers.insert(class.chars().take(200).collect(), teacher);
        }
        Ok(())
    })?;
    Ok(teachers)
}

fn count(archive: &mut OneRosterArchive, layout: &TableLayout, limit: usize) -> Result<usize> {
    let mut rows = 0;
    archive.for_each_row(layout, limit, |_, _| {
        rows += 1;
        Ok(())
    })?;
    Ok(rows)
}
