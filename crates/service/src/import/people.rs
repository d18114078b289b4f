//! Validates one user of a row: checks every cell and reports all errors of the row at once.

use domain::access::MemberRole;
use domain::import::{RowProblem, cell, entries};
use domain::text::{ExternalId, ShortName, Username};

use super::header::{RowCells, TableLayout};
use crate::actions::imports::{ImportRecord, ImportedPerson};
use crate::actions::people;

/// The columns of a table of users; `passwordHash` is for migrations from a better-auth database.
pub const LAYOUT: TableLayout = TableLayout {
    table: "",
    required: &["firstName", "lastName", "role"],
    optional: &["email", "username", "externalId", "homeroom", "classes", "passwordHash"],
    is_strict: true,
};

/// The maximum number of classes in one row.
const CLASSES_MAX: usize = 100;
/// The maximum length of the name or id of a class.
const CLASS_MAX: usize = 120;

/// The unvalidated content of a row.
#[derive(Debug, Clone, Default)]
pub struct PersonRow<'a> {
    /// Empty for people without an address.
    pub email: &'a str,
    /// The name to sign in with; empty to have one made, if there is no address.
    pub username: &'a str,
    pub first_name: &'a str,
    pub last_name: &'a str,
    /// `student` or `teacher`.
    pub role: &'a str,
    /// The id in the administration system of the school.
    pub external_id: &'a str,
    /// The id or name of a homeroom.
    pub homeroom: &'a str,
    /// Ids or names of classes.
    pub classes: Vec<String>,
    /// A password hash from a better-auth database.
    pub password_hash: &'a str,
}

impl<'a> PersonRow<'a> {
    /// Reads a row of a table of users.
    pub fn from_cells(cells: RowCells<'a>) -> Self {
        Self {
            email: cells.get("email"),
            username: cells.get("username"),
            first_name: cells.get("firstName"),
            last_name: cells.get("lastName"),
            role: cells.get("role"),
            external_id: cells.get("externalId"),
            homeroom: cells.get("homeroom"),
            classes: entries(cells.get("classes"), ';'),
            password_hash: cells.get("passwordHash"),
        }
    }

    /// Returns the user, or all errors of the row.
    pub fn parse(self) -> Result<ImportRecord, Vec<RowProblem>> {
        let mut problems = Vec::new();
        let role = collect_problem(&mut problems, role(self.role));
        let email = collect_problem(&mut problems, address(self.email));
        let username = collect_problem(&mut problems, user_name(self.username));
        let first_name = collect_problem(&mut problems, text(self.first_name, "firstName", ShortName::try_from));
        let last_name = collect_problem(&mut problems, text(self.last_name, "lastName", ShortName::try_from));
        let external_id = collect_problem(
            &mut problems,
            text(self.external_id, "externalId", ExternalId::try_from),
        );
        let homeroom = collect_problem(&mut problems, text(self.homeroom, "homeroom", ShortName::try_from));
        let password_hash = collect_problem(&mut problems, hash(self.password_hash));
        if cell(self.first_name).is_none() && cell(self.last_name).is_none() {
            problems.push(RowProblem::new("firstName", "required", "or lastName is required"));
        }
        if matches!((&homeroom, role), (Some(Some(_)), Some(MemberRole::Teacher))) {
            problems.push(RowProblem::new("homeroom", "student_only", "is for students"));
        }
        if self.classes.len() > CLASSES_MAX {
            problems.push(RowProblem::new(
                "classes",
                "too_many",
                format!("names more than {CLASSES_MAX}"),
            ));
        }
        if self
            .classes
            .iter()
            .any(|class| class.chars().count() > CLASS_MAX || class.contains(char::is_control))
        {
            problems.push(RowProblem::new(
                "classes",
                "invalid",
                "names something that is no class",
            ));
        }
        match (email, role, problems.is_empty()) {
            (Some(email), Some(role), true) => Ok(ImportRecord::Person(Box::new(ImportedPerson {
                email,
                username: username.flatten(),
                first_name: first_name.flatten(),
                last_name: last_name.flatten(),
                role,
                external_id: external_id.flatten(),
                homeroom: homeroom.flatten(),
                classes: self.classes,
                password_hash: password_hash.flatten(),
            }))),
            _ => Err(problems),
        }
    }
}

fn collect_problem<T>(problems: &mut Vec<RowProblem>, judged: Result<T, RowProblem>) -> Option<T> {
    judged.map_err(|problem| problems.push(problem)).ok()
}

/// Parses a role. Imports contain only students and teachers; administrators are added individually.
fn role(text: &str) -> Result<MemberRole, RowProblem> {
    match cell(text).map(str::to_ascii_lowercase).as_deref() {
        Some("student") => Ok(MemberRole::Student),
        Some("teacher") => Ok(MemberRole::Teacher),
        Some("admin" | "owner" | "super_admin") => Err(RowProblem::new(
            "role",
            "FORBIDDEN_RANK",
            "must be student or teacher; admins are named one by one",
        )),
        Some(_) => Err(RowProblem::new("role", "invalid", "must be student or teacher")),
        None => Err(RowProblem::new("role", "required", "is required")),
    }
}

/// Email addresses must be ASCII, because lower-casing maps some other characters to ASCII look-alikes.
fn address(text: &str) -> Result<Option<String>, RowProblem> {
    let Some(text) = cell(text) else { return Ok(None) };
    let address = people::address(text).filter(|_| text.is_ascii());
    let invalid = || {
        RowProblem::new(
            "email",
            "invalid",
            "is no e-mail address; leave it empty if there is none",
        )
    };
    address.map(Some).ok_or_else(invalid)
}

fn user_name(text: &str) -> Result<Option<Username>, RowProblem> {
    let Some(text) = cell(text) else { return Ok(None) };
    Username::try_from(text).map(Some).map_err(|reason| {
        let shown: String = text.chars().take(60).collect();
        RowProblem::new("username", "invalid", format!("is “{shown}”, but {reason}"))
    })
}

fn text<'a, T>(
    row: &'a str,
    column: &str,
    read: impl FnOnce(&'a str) -> Result<T, domain::text::TextError>,
) -> Result<Option<T>, RowProblem> {
    let read = cell(row).map(read).transpose();
    read.map_err(|reason| RowProblem::new(column, "invalid", reason.to_string()))
}

fn hash(text: &str) -> Result<Option<String>, RowProblem> {
    match cell(text) {
        None => Ok(None),
        Some(hash) if better_auth::password::is_imported_hash(hash) => Ok(Some(hash.to_owned())),
        Some(_) => Err(RowProblem::new(
            "passwordHash",
            "invalid",
            "is no hash of a better-auth database",
        )),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn ben() -> PersonRow<'static> {
        PersonRow {
            email: "Ben@School.Example",
            first_name: " Ben ",
            last_name: "Lake",
            role: "Student",
            ..PersonRow::default()
        }
    }

    fn columns(row: PersonRow<'_>) -> Vec<String> {
        row.parse()
            .unwrap_err()
            .into_iter()
            .map(|problem| problem.column)
            .collect()
    }

    #[test]
    fn import_row_is_parsed_to_user() {
        let Ok(ImportRecord::Person(person)) = ben().parse() else {
            panic!("refused")
        };
        assert_eq!(person.email.as_deref(), Some("ben@school.example"));
        assert!(!person.has_name_only());
        assert_eq!(person.first_name.unwrap().as_str(), "Ben");
        assert_eq!((person.role, person.external_id), (MemberRole::Student, None));
    }

    #[test]
    fn import_row_without_email_is_parsed() {
        let row = PersonRow { email: "", ..ben() };
        let Ok(ImportRecord::Person(person)) = row.parse() else {
            panic!("refused")
        };
        assert_eq!((&person.email, person.has_name_only()), (&None, true));
        assert_eq!(person.generated_name().as_str(), "ben.lake");
        let named = PersonRow {
            email: "",
            username: " Ben.L ",
            ..ben()
        };
        let Ok(ImportRecord::Person(person)) = named.parse() else {
            panic!("refused")
        };
        assert_eq!(person.username.unwrap().as_str(), "ben.l");
    }

    #[test]
    fn import_row_cannot_create_admin() {
        for role in ["admin", "owner", "OWNER", "SUPER_ADMIN", "root", "ѕtudent", ""] {
            assert_eq!(columns(PersonRow { role, ..ben() }), ["role"], "{role}");
        }
    }

    #[test]
    fn all_errors_of_import_row_are_reported() {
        let row = PersonRow {
            email: "ad\u{430}@school.example",
            username: "ben lake",
            first_name: "",
            last_name: "",
            role: "teacher",
            homeroom: "7b",
            external_id: "a\u{7}b",
            password_hash: "secret",
            classes: vec!["x".repeat(CLASS_MAX + 1)],
        };
        let wrong = [
            "email",
            "username",
            "externalId",
            "passwordHash",
            "firstName",
            "homeroom",
            "classes",
        ];
        assert_eq!(columns(row), wrong);
    }

    #[test]
    fn email_address_with_lookalike_letters_is_rejected() {
        // Lower-casing maps the Kelvin sign to an ASCII k.
        assert_eq!(
            columns(PersonRow {
                email: "\u{212a}im@school.example",
                ..ben()
            }),
            ["email"]
        );
    }
}
