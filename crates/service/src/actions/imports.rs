//! One transaction of an import. Each of its rows is applied completely or not at all; a rejected row does not affect
//! the others. A dry run applies the rows in a savepoint and rolls it back, so its report matches the real run.

mod person;
mod school;

use domain::{from_fields, user_name};
use std::collections::{BTreeMap, HashMap, HashSet};

use domain::access::{MemberRole, RoleLevel};
use domain::change::{Change, ClassChange, HomeroomChange, UserChange};
use domain::id::{ClassId, HomeroomId, UserId};
use domain::import::{ImportCounts, ImportMode, RowProblem, RowStatus};
use domain::text::{AcademicYear, ExternalId, Name, ShortName, Username};
use domain::user::Person;

use super::homeroom_following::{FollowScope, follow};
use adapters::mailer::Mailer;
use common::error::{Error, Result};
use db::WriteTx;

/// The rank of an import, for every importing user: that of an administrator, which is above students and teachers
/// only.
const RANK: RoleLevel = RoleLevel::Member(MemberRole::Admin);

/// The options of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportRules {
    /// What happens to existing members.
    pub mode: ImportMode,
    /// Roll back all changes.
    pub is_dry_run: bool,
    /// The import is repeated every night: an address is invited once, and not again after it was declined.
    pub is_repeated: bool,
}

/// The parsed and validated content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportRecord {
    /// Create or update a student or teacher.
    Person(Box<ImportedPerson>),
    /// End a membership.
    RemovedPerson(ExternalId),
    /// Create or update a class.
    Class(Box<ImportedClass>),
    /// Archive a class.
    RemovedClass(ExternalId),
    /// Create or update a homeroom.
    Homeroom(Box<ImportedHomeroom>),
    /// Add or remove a student or teacher of a class or homeroom.
    Enrollment(Box<ImportedEnrollment>),
    /// A record type without a counterpart in this service; it is skipped.
    Ignored,
}

/// A student or teacher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPerson {
    /// The normalized email address, if there is one.
    pub email: Option<String>,
    /// The name to sign in with. Without it and without an email address it is made of the person's name.
    pub username: Option<Username>,
    /// The first name. At least one of first and last name is present.
    pub first_name: Option<ShortName>,
    pub last_name: Option<ShortName>,
    /// [`MemberRole::Student`] or [`MemberRole::Teacher`].
    pub role: MemberRole,
    /// The id in the administration system of the school.
    pub external_id: Option<ExternalId>,
    /// The id or name of a homeroom. An unknown name creates a homeroom.
    pub homeroom: Option<ShortName>,
    /// The ids or names of existing classes.
    pub classes: Vec<String>,
    /// A password hash from another system. It never replaces an existing password.
    pub password_hash: Option<String>,
}

impl ImportedPerson {
    /// Returns the user name that is made of the person's name, before a number makes it unique.
    pub fn generated_name(&self) -> Username {
        let text = |name: &Option<ShortName>| name.as_ref().map_or("", ShortName::as_str).to_owned();
        user_name::generate(&text(&self.first_name), &text(&self.last_name))
    }

    /// Returns whether nothing but the name identifies the person.
    pub const fn has_name_only(&self) -> bool {
        self.email.is_none() && self.external_id.is_none() && self.username.is_none()
    }
}

/// A class in the administration system of the school.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedClass {
    pub external_id: ExternalId,
    pub name: Name,
    pub academic_year: AcademicYear,
    /// The owner of the class if it is new.
    pub teacher: Option<ExternalId>,
}

/// A homeroom in the administration system of the school.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedHomeroom {
    pub external_id: ExternalId,
    pub name: ShortName,
    pub academic_year: AcademicYear,
}

/// A student or teacher of a class or homeroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedEnrollment {
    /// The class or homeroom.
    pub class: ExternalId,
    pub user: ExternalId,
    /// Whether the user teaches there.
    pub is_teacher: bool,
    /// Whether the user leaves the class or homeroom.
    pub is_deleted: bool,
}

/// The result of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOutcome {
    pub status: RowStatus,
    /// The user that the row is about, if known.
    pub user: Option<UserId>,
    /// Why the row was rejected.
    pub problems: Vec<RowProblem>,
}

/// What a dry run has rolled back so far. Later rows may refer to it.
#[derive(Debug, Default)]
pub struct ImportPreview {
    people: HashMap<String, PreviewMember>,
    /// Classes by id, with the teacher who would own them.
    classes: HashMap<String, ExternalId>,
    /// Homerooms by id, with the id of the row if it existed before.
    homerooms: HashMap<String, Option<HomeroomId>>,
    /// Homerooms that would have a teacher.
    kept: HashSet<String>,
}

/// A member whom a dry run created or assigned an external id.
#[derive(Debug, Clone)]
struct PreviewMember {
    /// The account, if it existed before.
    user: Option<UserId>,
    role: MemberRole,
    /// Whether the user was only invited.
    is_invited: bool,
}

/// What a dry run remembers about a row.
enum PreviewEntry {
    Person(ExternalId, PreviewMember),
    Class(ExternalId, ExternalId),
    Homeroom(ExternalId, Option<HomeroomId>),
    Kept(ExternalId),
}

/// The effects of a row.
struct RowResult {
    status: RowStatus,
    user: Option<UserId>,
    enrolled: Vec<(ClassId, Person)>,
    joined: Vec<(HomeroomId, Person)>,
    preview_entry: Option<PreviewEntry>,
}

impl RowResult {
    fn with(status: RowStatus) -> Self {
        Self {
            status,
            user: None,
            enrolled: Vec::new(),
            joined: Vec::new(),
            preview_entry: None,
        }
    }
}

/// Why a row had no effect.
enum RowError {
    /// The row was rejected.
    TableRow(Vec<RowProblem>),
    /// A concurrent transaction wrote the same; a retry may find its result.
    Race(Vec<RowProblem>),
    /// The transaction cannot continue.
    Transaction(Error),
}

impl RowError {
    fn row(column: &str, code: &str, message: &str) -> Self {
        Self::TableRow(vec![RowProblem::new(column, code, message)])
    }
}

impl From<Error> for RowError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Conflict {
                code, message, path, ..
            } => Self::Race(vec![RowProblem::new(*path, code.as_str(), *message)]),
            Error::NotFound => Self::row("", "not_found", "names something that is not there any more"),
            Error::Domain(domain_error) => Self::row("", domain_error.code().as_str(), &domain_error.to_string()),
            Error::Invalid(problems) => Self::TableRow(
                problems
                    .iter()
                    .map(|problem| RowProblem::new(&problem.path, &problem.code, &problem.message))
                    .collect(),
            ),
            _ => Self::Transaction(error),
        }
    }
}

/// Applies rows in their order. The caller must still be an administrator of the organization.
pub fn apply(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    rows: &[ImportRecord],
    preview: &mut ImportPreview,
) -> Result<Vec<ImportOutcome>> {
    if tx.actor().user.is_some() && !tx.role_level()?.outranks(MemberRole::Teacher) {
        return Err(Error::ForbiddenRole);
    }
    if !rules.is_dry_run {
        return apply_all(tx, rules, mail, rows, preview);
    }
    let mut outcomes = None;
    let taken_back = tx.savepoint(|tx| {
        outcomes = Some(apply_all(tx, rules, mail, rows, preview)?);
        Err(rollback_error())
    });
    // Without outcomes, the transaction itself failed with that error.
    match outcomes {
        Some(outcomes) => Ok(outcomes),
        None => taken_back.map(|()| Vec::new()),
    }
}

/// Records the end of an import, unless it changed nothing.
pub fn finish(tx: &mut WriteTx<'_>, counts: ImportCounts) {
    if counts.changed_anything() {
        tx.record(from_fields!(counts => UserChange::Imported { created, updated, invited, skipped, failed }));
    }
}

/// Sends the progress of an import to the user who started it.
pub fn record_progress(tx: &mut WriteTx<'_>, import_id: &str, rules: ImportRules, rows: i64, counts: ImportCounts) {
    if let Some(importer) = tx.actor().user.clone() {
        tx.record(UserChange::ImportProgressed {
            importer,
            import_id: import_id.to_owned(),
            rows,
            counts,
            is_dry_run: rules.is_dry_run,
            is_finished: counts.total() >= rows,
        });
    }
}

fn apply_all(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    rows: &[ImportRecord],
    preview: &mut ImportPreview,
) -> Result<Vec<ImportOutcome>> {
    let mut outcomes = Vec::with_capacity(rows.len());
    let (mut enrolled, mut joined) = (BTreeMap::new(), BTreeMap::new());
    for row in rows {
        let (done, changes) = match apply_row(tx, rules, mail, row, preview)? {
            Ok(done) => done,
            Err(problems) => {
                outcomes.push(ImportOutcome {
                    status: RowStatus::Failed,
                    user: None,
                    problems,
                });
                continue;
            }
        };
        for change in changes {
            tx.record(change);
        }
        gather(&mut enrolled, done.enrolled);
        gather(&mut joined, done.joined);
        if rules.is_dry_run {
            preview.note(done.preview_entry);
        }
        outcomes.push(ImportOutcome {
            status: done.status,
            user: done.user,
            problems: Vec::new(),
        });
    }
    for (id, students) in enrolled {
        let class = Box::new(tx.class(&id)?);
        tx.record(ClassChange::Enrolled { class, students });
    }
    for (id, students) in joined {
        let homeroom = tx.homeroom(&id)?.homeroom;
        tx.record(HomeroomChange::StudentsAdded { homeroom, students });
        follow(tx, FollowScope::Homeroom(&id))?;
    }
    Ok(outcomes)
}

type RowOutcome = std::result::Result<(RowResult, Vec<Change>), Vec<RowProblem>>;

/// Applies one row; retries once if a concurrent transaction wrote the same.
fn apply_row(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    row: &ImportRecord,
    preview: &ImportPreview,
) -> Result<RowOutcome> {
    let (ended, is_race) = try_row(tx, rules, mail, row, preview)?;
    if !is_race {
        return Ok(ended);
    }
    Ok(try_row(tx, rules, mail, row, preview)?.0)
}

/// Applies one row in a savepoint. Also returns whether it conflicted with a concurrent transaction.
fn try_row(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    row: &ImportRecord,
    preview: &ImportPreview,
) -> Result<(RowOutcome, bool)> {
    let (mut ended, mut is_race) = (None, false);
    let outcome = tx.savepoint(|tx| match apply_record(tx, rules, mail, row, preview) {
        Ok(done) => {
            ended = Some(Ok((done, recorded_changes(tx.take_changes()))));
            Ok(())
        }
        Err(RowError::TableRow(problems)) => {
            ended = Some(Err(problems));
            Err(rollback_error())
        }
        Err(RowError::Race(problems)) => {
            (ended, is_race) = (Some(Err(problems)), true);
            Err(rollback_error())
        }
        Err(RowError::Transaction(error)) => Err(error),
    });
    match (outcome, ended) {
        (Ok(()), Some(ended)) => Ok((ended, is_race)),
        // The row was rejected and its savepoint rolled back.
        (Err(_), Some(Err(problems))) => Ok((Err(problems), is_race)),
        (Err(error), _) => Err(error),
        (Ok(()), None) => Err(rollback_error()),
    }
}

fn apply_record(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    row: &ImportRecord,
    preview: &ImportPreview,
) -> Result<RowResult, RowError> {
    match row {
        ImportRecord::Person(new) => person::import_person(tx, rules, mail, new),
        ImportRecord::RemovedPerson(external_id) => person::deactivate(tx, external_id),
        ImportRecord::Class(class) => school::import_class(tx, rules, class, preview),
        ImportRecord::RemovedClass(external_id) => school::archive_class(tx, external_id),
        ImportRecord::Homeroom(homeroom) => school::import_homeroom(tx, rules, homeroom),
        ImportRecord::Enrollment(place) => school::import_enrollment(tx, place, preview),
        ImportRecord::Ignored => Ok(RowResult::with(RowStatus::Skipped)),
    }
}

/// Drops the changes about new accounts: the import's own record counts them, no client is connected as these users
/// yet, and single records would flood the log. Changes of existing users are recorded one by one.
fn recorded_changes(changes: Vec<Change>) -> Vec<Change> {
    let is_new = |change: &Change| {
        matches!(
            change,
            Change::User(UserChange::Created {
                is_new_account: true,
                ..
            })
        )
    };
    changes.into_iter().filter(|change| !is_new(change)).collect()
}

fn gather<K: Ord>(into: &mut BTreeMap<K, Vec<Person>>, found: Vec<(K, Person)>) {
    for (key, person) in found {
        into.entry(key).or_default().push(person);
    }
}

/// An error that rolls back a savepoint whose outcome is already known. It is never returned to a client.
fn rollback_error() -> Error {
    Error::Internal(anyhow::anyhow!("taken back on purpose"))
}

impl ImportPreview {
    fn note(&mut self, preview_entry: Option<PreviewEntry>) {
        match preview_entry {
            None => {}
            Some(PreviewEntry::Person(id, member)) => drop(self.people.insert(id.into_string(), member)),
            Some(PreviewEntry::Class(id, owner)) => drop(self.classes.insert(id.into_string(), owner)),
            Some(PreviewEntry::Homeroom(id, homeroom)) => drop(self.homerooms.insert(id.into_string(), homeroom)),
            Some(PreviewEntry::Kept(id)) => drop(self.kept.insert(id.into_string())),
        }
    }
}
