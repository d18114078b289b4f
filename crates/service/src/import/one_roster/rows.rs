//! Converts the rows of a OneRoster archive to records: users, classes and homerooms first, then memberships, then
//! removals, so that no row depends on a later one.

use model::import::{PEOPLE_MAX, RowProblem, cell};
use model::text::{AcademicYear, ExternalId, Name, ShortName};

use super::{Archive, CLASSES, ENROLLMENTS, Overview, PLACES_MAX, USERS, is_gone};
use crate::actions::imports::{ImportedClass, ImportedHomeroom, ImportedPlace, Record};
use crate::import::columns::{Cells, Layout};
use crate::import::people::Said;
use crate::import::{Numbered, Sending};
use common::error::Result;

/// Roles without a counterpart in this service; their rows are skipped.
const BYSTANDERS: [&str; 14] = [
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

type Judged = std::result::Result<Record, Vec<RowProblem>>;

/// Sends every row once.
pub fn send(archive: &mut Archive, overview: &Overview, sending: &mut Sending) -> Result<()> {
    rows(archive, &USERS, PEOPLE_MAX, sending, |cells| {
        (!is_gone(cells)).then(|| user(overview, cells))
    })?;
    rows(archive, &CLASSES, PEOPLE_MAX, sending, |cells| {
        (!is_gone(cells)).then(|| class(overview, cells))
    })?;
    rows(archive, &ENROLLMENTS, PLACES_MAX, sending, |cells| Some(place(cells)))?;
    rows(archive, &CLASSES, PEOPLE_MAX, sending, |cells| {
        is_gone(cells).then(|| gone(cells, Record::ClassGone))
    })?;
    rows(archive, &USERS, PEOPLE_MAX, sending, |cells| {
        is_gone(cells).then(|| gone(cells, Record::PersonGone))
    })
}

fn rows(
    archive: &mut Archive,
    layout: &Layout,
    limit: usize,
    sending: &mut Sending,
    mut judge: impl FnMut(Cells<'_>) -> Option<Judged>,
) -> Result<()> {
    // Rows that cannot be parsed are reported in the first pass over a file only.
    let is_first = sending.begins(layout.table);
    archive.each(layout, limit, |number, cells| {
        let judged = match cells {
            Ok(cells) => judge(cells),
            Err(problem) => is_first.then(|| Err(vec![problem])),
        };
        match judged {
            Some(record) => sending.send(Numbered {
                file: Some(layout.table),
                number,
                record,
            }),
            None => Ok(()),
        }
    })
}

fn user(overview: &Overview, cells: Cells<'_>) -> Judged {
    let id = cells.get("sourcedId");
    check_status(cells)?;
    if cells.get("enabledUser").eq_ignore_ascii_case("false") {
        return Ok(Record::Nothing);
    }
    let role = match &overview.roles {
        None => cells.get("role"),
        Some(roles) => roles.get(id).map_or("", |role| role.name.as_str()),
    };
    if is_bystander(role) {
        return Ok(Record::Nothing);
    }
    for column in ["orgSourcedIds", "primaryOrgSourcedId"] {
        let named = cells.get(column);
        if !named.is_empty() && !named.split(',').any(|org| overview.schools.contains(org.trim())) {
            return Err(one(column, "unknown", "names no organization of orgs.csv"));
        }
    }
    if cell(id).is_none() {
        return Err(one("sourcedId", "required", "is required"));
    }
    Said {
        email: cells.get("email"),
        first_name: cells.get("givenName"),
        last_name: cells.get("familyName"),
        role,
        external_id: id,
        ..Said::default()
    }
    .judged()
}

fn class(overview: &Overview, cells: Cells<'_>) -> Judged {
    check_status(cells)?;
    let external_id = external_id(cells, "sourcedId")?;
    if !overview.schools.contains(cells.get("schoolSourcedId")) {
        return Err(one("schoolSourcedId", "unknown", "names no organization of orgs.csv"));
    }
    let terms = cells.get("termSourcedIds");
    let year = terms.split(',').find_map(|term| overview.years.get(term.trim()));
    let year = year.unwrap_or(&overview.this_year);
    let academic_year = AcademicYear::try_from(year.as_str())
        .map_err(|reason| one("termSourcedIds", "invalid", &reason.to_string()))?;
    let title = cells.get("title");
    if cells.get("classType").eq_ignore_ascii_case("homeroom") {
        let name = ShortName::try_from(title).map_err(|reason| one("title", "invalid", &reason.to_string()))?;
        return Ok(Record::Homeroom(Box::new(ImportedHomeroom {
            external_id,
            name,
            academic_year,
        })));
    }
    let name = Name::try_from(title).map_err(|reason| one("title", "invalid", &reason.to_string()))?;
    let teacher = overview.teachers.get(external_id.as_str());
    Ok(Record::Class(Box::new(ImportedClass {
        name,
        academic_year,
        teacher: teacher.and_then(|teacher| ExternalId::try_from(teacher.user.as_str()).ok()),
        external_id,
    })))
}

fn place(cells: Cells<'_>) -> Judged {
    let is_gone = is_gone(cells);
    if !is_gone {
        check_status(cells)?;
    }
    let role = cells.get("role");
    if is_bystander(role) {
        return Ok(Record::Nothing);
    }
    let is_teacher = role.eq_ignore_ascii_case("teacher");
    if !is_teacher && !role.eq_ignore_ascii_case("student") {
        return Err(one("role", "invalid", "must be student or teacher"));
    }
    Ok(Record::Place(Box::new(ImportedPlace {
        class: external_id(cells, "classSourcedId")?,
        user: external_id(cells, "userSourcedId")?,
        is_teacher,
        is_gone,
    })))
}

fn gone(cells: Cells<'_>, record: impl FnOnce(ExternalId) -> Record) -> Judged {
    external_id(cells, "sourcedId").map(record)
}

fn external_id(cells: Cells<'_>, column: &str) -> Result<ExternalId, Vec<RowProblem>> {
    ExternalId::try_from(cells.get(column)).map_err(|reason| one(column, "invalid", &reason.to_string()))
}

fn check_status(cells: Cells<'_>) -> Result<(), Vec<RowProblem>> {
    let status = cells.get("status");
    if status.is_empty() || status.eq_ignore_ascii_case("active") {
        Ok(())
    } else {
        Err(one("status", "invalid", "must be active or tobedeleted"))
    }
}

fn is_bystander(role: &str) -> bool {
    BYSTANDERS.contains(&role.to_ascii_lowercase().as_str())
}

fn one(column: &str, code: &str, message: &str) -> Vec<RowProblem> {
    vec![RowProblem::new(column, code, message)]
}
