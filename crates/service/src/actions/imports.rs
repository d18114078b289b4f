//! One transaction of an import. Each of its rows is applied completely or not at all; a rejected row does not affect
//! the others. A dry run applies the rows in a savepoint and rolls it back, so its report matches the real run.

mod person;
mod school;

use std::collections::{BTreeMap, HashMap, HashSet};

use model::access::{MemberRole, Rank};
use model::change::Change;
use model::change::class::ClassChange;
use model::change::homeroom::HomeroomChange;
use model::change::user::UserChange;
use model::id::{ClassId, HomeroomId, UserId};
use model::import::{ImportCounts, ImportMode, RowProblem, RowStatus};
use model::text::{AcademicYear, ExternalId, Name, ShortName};
use model::user::Person;

use adapters::mailer::Mailer;
use common::error::{Error, Result};
use db::Work;

/// The rank of an import, for every importing user: that of an administrator, which is above students and teachers
/// only.
const RANK: Rank = Rank::Member(MemberRole::Admin);

/// The options of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// What happens to existing members.
    pub mode: ImportMode,
    /// Roll back all changes.
    pub is_dry_run: bool,
}

/// The parsed and validated content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Create or update a student or teacher.
    Person(Box<ImportedPerson>),
    /// End a membership.
    PersonGone(ExternalId),
    /// Create or update a class.
    Class(Box<ImportedClass>),
    /// Archive a class.
    ClassGone(ExternalId),
    /// Create or update a homeroom.
    Homeroom(Box<ImportedHomeroom>),
    /// Add or remove a student or teacher of a class or homeroom.
    Place(Box<ImportedPlace>),
    /// A record type without a counterpart in this service; it is skipped.
    Nothing,
}

/// A student or teacher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPerson {
    /// The normalized email address.
    pub email: String,
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
pub struct ImportedPlace {
    /// The class or homeroom.
    pub class: ExternalId,
    pub user: ExternalId,
    /// Whether the user teaches there.
    pub is_teacher: bool,
    /// Whether the user leaves the class or homeroom.
    pub is_gone: bool,
}

/// The result of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub status: RowStatus,
    /// The user that the row is about, if known.
    pub user: Option<UserId>,
    /// Why the row was rejected.
    pub problems: Vec<RowProblem>,
}

/// What a dry run has rolled back so far. Later rows may refer to it.
#[derive(Debug, Default)]
pub struct Foreseen {
    people: HashMap<String, ForeseenMember>,
    /// Classes by id, with the teacher who would own them.
    classes: HashMap<String, ExternalId>,
    /// Homerooms by id, with the id of the row if it existed before.
    homerooms: HashMap<String, Option<HomeroomId>>,
    /// Homerooms that would have a teacher.
    kept: HashSet<String>,
}

/// A member whom a dry run created or assigned an external id.
#[derive(Debug, Clone)]
struct ForeseenMember {
    /// The account, if it existed before.
    user: Option<UserId>,
    role: MemberRole,
    /// Whether the user was only invited.
    is_invited: bool,
}

/// What a dry run remembers about a row.
enum Foresight {
    Person(ExternalId, ForeseenMember),
    Class(ExternalId, ExternalId),
    Homeroom(ExternalId, Option<HomeroomId>),
    Kept(ExternalId),
}

/// The effects of a row.
struct Done {
    status: RowStatus,
    user: Option<UserId>,
    enrolled: Vec<(ClassId, Person)>,
    joined: Vec<(HomeroomId, Person)>,
    foresight: Option<Foresight>,
}

impl Done {
    fn with(status: RowStatus) -> Self {
        Self {
            status,
            user: None,
            enrolled: Vec::new(),
            joined: Vec::new(),
            foresight: None,
        }
    }
}

/// Why a row had no effect.
enum Stop {
    /// The row was rejected.
    Row(Vec<RowProblem>),
    /// A concurrent transaction wrote the same; a retry may find its result.
    Race(Vec<RowProblem>),
    /// The transaction cannot continue.
    Unit(Error),
}

impl Stop {
    fn row(column: &str, code: &str, message: &str) -> Self {
        Self::Row(vec![RowProblem::new(column, code, message)])
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match &error {
            Error::Conflict {
                code, message, path, ..
            } => Self::Race(vec![RowProblem::new(*path, *code, *message)]),
            Error::NotFound => Self::row("", "not_found", "names something that is not there any more"),
            Error::Domain(refusal) => Self::row("", refusal.code(), &refusal.to_string()),
            Error::Invalid(problems) => Self::Row(
                problems
                    .iter()
                    .map(|problem| RowProblem::new(&problem.path, &problem.code, &problem.message))
                    .collect(),
            ),
            _ => Self::Unit(error),
        }
    }
}

/// Applies rows in their order. The caller must still be an administrator of the organization.
pub fn apply(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mailer>,
    rows: &[Record],
    foreseen: &mut Foreseen,
) -> Result<Vec<Outcome>> {
    if work.actor().user.is_some() && !work.rank()?.outranks(MemberRole::Teacher) {
        return Err(Error::ForbiddenRole);
    }
    if !rules.is_dry_run {
        return all(work, rules, mail, rows, foreseen);
    }
    let mut outcomes = None;
    let taken_back = work.attempt(|work| {
        outcomes = Some(all(work, rules, mail, rows, foreseen)?);
        Err(take_back())
    });
    // Without outcomes, the transaction itself failed with that error.
    match outcomes {
        Some(outcomes) => Ok(outcomes),
        None => taken_back.map(|()| Vec::new()),
    }
}

/// Records the end of an import, unless it changed nothing.
pub fn finish(work: &mut Work<'_>, counts: ImportCounts) {
    if counts.changed_anything() {
        work.record(UserChange::Imported {
            created: counts.created,
            updated: counts.updated,
            invited: counts.invited,
            skipped: counts.skipped,
            failed: counts.failed,
        });
    }
}

/// Sends the progress of an import to the user who started it.
pub fn tell_progress(work: &mut Work<'_>, import_id: &str, rules: Rules, rows: i64, counts: ImportCounts) {
    if let Some(importer) = work.actor().user.clone() {
        work.record(UserChange::ImportProgressed {
            importer,
            import_id: import_id.to_owned(),
            rows,
            counts,
            is_dry_run: rules.is_dry_run,
            is_finished: counts.total() >= rows,
        });
    }
}

fn all(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mailer>,
    rows: &[Record],
    foreseen: &mut Foreseen,
) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(rows.len());
    let (mut enrolled, mut joined) = (BTreeMap::new(), BTreeMap::new());
    for row in rows {
        let (done, changes) = match one(work, rules, mail, row, foreseen)? {
            Ok(done) => done,
            Err(problems) => {
                outcomes.push(Outcome {
                    status: RowStatus::Failed,
                    user: None,
                    problems,
                });
                continue;
            }
        };
        for change in changes {
            work.record(change);
        }
        gather(&mut enrolled, done.enrolled);
        gather(&mut joined, done.joined);
        if rules.is_dry_run {
            foreseen.note(done.foresight);
        }
        outcomes.push(Outcome {
            status: done.status,
            user: done.user,
            problems: Vec::new(),
        });
    }
    for (id, students) in enrolled {
        let class = Box::new(work.class(&id)?);
        work.record(ClassChange::Enrolled { class, students });
    }
    for (id, students) in joined {
        let homeroom = work.homeroom(&id)?.homeroom;
        work.record(HomeroomChange::StudentsAdded { homeroom, students });
    }
    Ok(outcomes)
}

type Ended = std::result::Result<(Done, Vec<Change>), Vec<RowProblem>>;

/// Applies one row; retries once if a concurrent transaction wrote the same.
fn one(work: &mut Work<'_>, rules: Rules, mail: Option<&Mailer>, row: &Record, foreseen: &Foreseen) -> Result<Ended> {
    let (ended, is_race) = tried(work, rules, mail, row, foreseen)?;
    if !is_race {
        return Ok(ended);
    }
    Ok(tried(work, rules, mail, row, foreseen)?.0)
}

/// Applies one row in a savepoint. Also returns whether it conflicted with a concurrent transaction.
fn tried(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mailer>,
    row: &Record,
    foreseen: &Foreseen,
) -> Result<(Ended, bool)> {
    let (mut ended, mut is_race) = (None, false);
    let outcome = work.attempt(|work| match carry_out(work, rules, mail, row, foreseen) {
        Ok(done) => {
            ended = Some(Ok((done, worth_telling(work.take_changes()))));
            Ok(())
        }
        Err(Stop::Row(problems)) => {
            ended = Some(Err(problems));
            Err(take_back())
        }
        Err(Stop::Race(problems)) => {
            (ended, is_race) = (Some(Err(problems)), true);
            Err(take_back())
        }
        Err(Stop::Unit(error)) => Err(error),
    });
    match (outcome, ended) {
        (Ok(()), Some(ended)) => Ok((ended, is_race)),
        // The row was rejected and its savepoint rolled back.
        (Err(_), Some(Err(problems))) => Ok((Err(problems), is_race)),
        (Err(error), _) => Err(error),
        (Ok(()), None) => Err(take_back()),
    }
}

fn carry_out(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mailer>,
    row: &Record,
    foreseen: &Foreseen,
) -> Result<Done, Stop> {
    match row {
        Record::Person(new) => person::bring(work, rules, mail, new),
        Record::PersonGone(external_id) => person::dismiss(work, external_id),
        Record::Class(class) => school::class(work, rules, class, foreseen),
        Record::ClassGone(external_id) => school::close(work, external_id),
        Record::Homeroom(homeroom) => school::homeroom(work, rules, homeroom),
        Record::Place(place) => school::place(work, place, foreseen),
        Record::Nothing => Ok(Done::with(RowStatus::Skipped)),
    }
}

/// Drops the changes about new accounts: the import's own record counts them, no client is connected as these users
/// yet, and single records would flood the log. Changes of existing users are recorded one by one.
fn worth_telling(changes: Vec<Change>) -> Vec<Change> {
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
fn take_back() -> Error {
    Error::Internal(anyhow::anyhow!("taken back on purpose"))
}

impl Foreseen {
    fn note(&mut self, foresight: Option<Foresight>) {
        match foresight {
            None => {}
            Some(Foresight::Person(id, member)) => drop(self.people.insert(id.into_string(), member)),
            Some(Foresight::Class(id, owner)) => drop(self.classes.insert(id.into_string(), owner)),
            Some(Foresight::Homeroom(id, homeroom)) => drop(self.homerooms.insert(id.into_string(), homeroom)),
            Some(Foresight::Kept(id)) => drop(self.kept.insert(id.into_string())),
        }
    }
}
