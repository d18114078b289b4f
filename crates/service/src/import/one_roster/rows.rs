//! Converts the rows of a OneRoster archive to records: users, classes and homerooms first, then memberships, then
//! removals, so that no row depends on a later one.

use domain::import::{PEOPLE_MAX, RowProblem, cell};
use domain::text::{AcademicYear, ExternalId, Name, ShortName, Username};

use super::{ArchiveOverview, CLASSES, ENROLLMENTS, ENROLLMENTS_MAX, OneRosterArchive, USERS, is_deleted};
use crate::actions::imports::{ImportRecord, ImportedClass, ImportedEnrollment, ImportedHomeroom};
use crate::import::header::{RowCells, TableLayout};
use crate::import::people::PersonRow;
use crate::import::{NumberedRow, RowSender};
use common::error::Result;

/// Roles without a counterpart in this service; their rows are skipped.
const IGNORED_ROLES: [&str; 14] = [
    "administrator",
    "aide",
    "counselor",
    "districtadministrator",
    "guardian",
    "other",
    "parent",
    "principal",
    "proctor",
    "relative",
    "siteadministrator",
    "systemadministrator",
    "staff",
    "visitor",
];

type ParsedRow = std::result::Result<ImportRecord, Vec<RowProblem>>;

/// Sends every row once.
pub fn send(archive: &mut OneRosterArchive, overview: &ArchiveOverview, rows_out: &mut RowSender) -> Result<()> {
    rows(archive, &USERS, PEOPLE_MAX, rows_out, |cells| {
        (!is_deleted(cells)).then(|| user(overview, cells))
    })?;
    rows(archive, &CLASSES, PEOPLE_MAX, rows_out, |cells| {
        (!is_deleted(cells)).then(|| class(overview, cells))
    })?;
    rows(archive, &ENROLLMENTS, ENROLLMENTS_MAX, rows_out, |cells| {
        Some(enrollment(cells))
    })?;
    rows(archive, &CLASSES, PEOPLE_MAX, rows_out, |cells| {
        is_deleted(cells).then(|| removal(cells, ImportRecord::RemovedClass))
    })?;
    rows(archive, &USERS, PEOPLE_MAX, rows_out, |cells| {
        is_deleted(cells).then(|| removal(cells, ImportRecord::RemovedPerson))
    })
}

fn rows(
    archive: &mut OneRosterArchive,
    layout: &TableLayout,
    limit: usize,
    rows_out: &mut RowSender,
    mut parse: impl FnMut(RowCells<'_>) -> Option<ParsedRow>,
) -> Result<()> {
    // Rows that cannot be parsed are reported in the first pass over a file only.
    let is_first = rows_out.start_file(layout.table);
    archive.for_each_row(layout, limit, |number, cells| {
        let parsed = match cells {
            Ok(cells) => parse(cells),
            Err(problem) => is_first.then(|| Err(vec![problem])),
        };
        match parsed {
            Some(record) => rows_out.send(NumberedRow {
                file: Some(layout.table),
                number,
                record,
            }),
            None => Ok(()),
        }
    })
}

fn user(overview: &ArchiveOverview, cells: RowCells<'_>) -> ParsedRow {
    let id = cells.get("sourcedId");
    check_status(cells)?;
    if cells.get("enabledUser").eq_ignore_ascii_case("false") {
        return Ok(ImportRecord::Ignored);
    }
    let role = match &overview.roles {
        None => cells.get("role"),
        Some(roles) => roles.get(id).map_or("", |role| role.name.as_str()),
    };
    if is_ignored_role(role) {
        return Ok(ImportRecord::Ignored);
    }
    for column in ["orgSourcedIds", "primaryOrgSourcedId"] {
        let named = cells.get(column);
        if !named.is_empty() && !named.split(',').any(|org| overview.schools.contains(org.trim())) {
            return Err(problem(column, "unknown", "names no organization of orgs.csv"));
        }
    }
    if cell(id).is_none() {
        return Err(problem("sourcedId", "required", "is required"));
    }
    // Other systems name people in their own form, for instance by address. Such a name is not taken over.
    let (email, username) = (cells.get("email"), cells.get("username"));
    let is_usable = email.is_empty() && Username::try_from(username).is_ok();
    PersonRow {
        email,
        username: if is_usable { username } else { "" },
        first_name: cells.get("givenName"),
        last_name: cells.get("familyName"),
        role,
        external_id: id,
        ..PersonRow::default()
    }
    .parse()
}

fn class(overview: &ArchiveOverview, cells: RowCells<'_>) -> ParsedRow {
    check_status(cells)?;
    let external_id = external_id(cells, "sourcedId")?;
    if !overview.schools.contains(cells.get("schoolSourcedId")) {
        return Err(problem(
            "schoolSourcedId",
            "unknown",
            "names no organization of orgs.csv",
        ));
    }
    let terms = cells.get("termSourcedIds");
    let year = terms.split(',').find_map(|term| overview.years.get(term.trim()));
    let year = year.unwrap_or(&overview.this_year);
    let academic_year = AcademicYear::try_from(year.as_str())
        .map_err(|reason| problem("termSourcedIds", "invalid", &reason.to_string()))?;
    let title = cells.get("title");
    if cells.get("classType").eq_ignore_ascii_case("homeroom") {
        let name = ShortName::try_from(title).map_err(|reason| problem("title", "invalid", &reason.to_string()))?;
        return Ok(ImportRecord::Homeroom(Box::new(ImportedHomeroom {
            external_id,
            name,
            academic_year,
        })));
    }
    let name = Name::try_from(title).map_err(|reason| problem("title", "invalid", &reason.to_string()))?;
    let teacher = overview.teachers.get(external_id.as_str());
    Ok(ImportRecord::Class(Box::new(ImportedClass {
        name,
        academic_year,
        teacher: teacher.and_then(|teacher| ExternalId::try_from(teacher.user.as_str()).ok()),
        external_id,
    })))
}

fn enrollment(cells: RowCells<'_>) -> ParsedRow {
    let is_deleted = is_deleted(cells);
    if !is_deleted {
        check_status(cells)?;
    }
    let role = cells.get("role");
    if is_ignored_role(role) {
        return Ok(ImportRecord::Ignored);
    }
    let is_teacher = role.eq_ignore_ascii_case("teacher");
    if !is_teacher && !role.eq_ignore_ascii_case("student") {
        return Err(problem("role", "invalid", "must be student or teacher"));
    }
    Ok(ImportRecord::Enrollment(Box::new(ImportedEnrollment {
        class: external_id(cells, "classSourcedId")?,
        user: external_id(cells, "userSourcedId")?,
        is_teacher,
        is_deleted,
    })))
}

fn removal(cells: RowCells<'_>, record: impl FnOnce(ExternalId) -> ImportRecord) -> ParsedRow {
    external_id(cells, "sourcedId").map(record)
}

fn external_id(cells: RowCells<'_>, column: &str) -> Result<ExternalId, Vec<RowProblem>> {
    ExternalId::try_from(cells.get(column)).map_err(|reason| problem(column, "invalid", &reason.to_string()))
}

fn check_status(cells: RowCells<'_>) -> Result<(), Vec<RowProblem>> {
    let status = cells.get("status");
    if status.is_empty() || status.eq_ignore_ascii_case("active") {
        Ok(())
    } else {
        Err(problem("status", "invalid", "must be active or tobedeleted"))
    }
}

fn is_ignored_role(role: &str) -> bool {
    IGNORED_ROLES.contains(&role.to_ascii_lowercase().as_str())
}

fn problem(column: &str, code: &str, message: &str) -> Vec<RowProblem> {
    vec![RowProblem::new(column, code, message)]
}
