//! One unit of an import: some rows, each whole or not at all. A row that is refused changes nothing, the others go on.
//! A dry run does the same in a savepoint and takes everything back, so it tells what the real run then does.

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

use adapters::mail::Mail;
use common::error::{Error, Result};
use db::Work;

/// Whoever imports, it is done with an admin's rank: students and teachers are below it, everybody else is not (contract 5).
const RANK: Rank = Rank::Member(MemberRole::Admin);

/// What holds for all rows of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// What happens to people who are members already.
    pub mode: ImportMode,
    /// Whether everything stays as it is.
    pub is_dry_run: bool,
}

/// What a row asks for, once its cells were read and judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Somebody is a student or a teacher.
    Person(Box<ImportedPerson>),
    /// Somebody is no longer at the school.
    PersonGone(ExternalId),
    /// There is a class.
    Class(Box<ImportedClass>),
    /// A class is over.
    ClassGone(ExternalId),
    /// There is a homeroom.
    Homeroom(Box<ImportedHomeroom>),
    /// Somebody learns or teaches in a class or a homeroom, or does so no longer.
    Place(Box<ImportedPlace>),
    /// Something that has no counterpart here.
    Nothing,
}

/// A student or a teacher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPerson {
    /// The address as it is stored.
    pub email: String,
    /// First name; one of the two is there.
    pub first_name: Option<ShortName>,
    /// Last name.
    pub last_name: Option<ShortName>,
    /// Student or teacher, nothing else.
    pub role: MemberRole,
    /// Id in the school's own administration.
    pub external_id: Option<ExternalId>,
    /// Id or name of a homeroom; a name that is new makes one.
    pub homeroom: Option<ShortName>,
    /// Ids or names of classes that exist.
    pub classes: Vec<String>,
    /// The hash of the password from elsewhere; it never replaces one.
    pub password_hash: Option<String>,
}

/// A class as the school's administration knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedClass {
    /// Its id there.
    pub external_id: ExternalId,
    /// Its name.
    pub name: Name,
    /// Its school year.
    pub academic_year: AcademicYear,
    /// Who owns it when it is new.
    pub teacher: Option<ExternalId>,
}

/// A homeroom as the school's administration knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedHomeroom {
    /// Its id there.
    pub external_id: ExternalId,
    /// Its name.
    pub name: ShortName,
    /// Its school year.
    pub academic_year: AcademicYear,
}

/// Somebody's place in a class or a homeroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPlace {
    /// The class or homeroom.
    pub class: ExternalId,
    /// The person.
    pub user: ExternalId,
    /// Whether the person teaches there.
    pub is_teacher: bool,
    /// Whether the place is given up.
    pub is_gone: bool,
}

/// How a row ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In a word.
    pub status: RowStatus,
    /// The person it was about, if there is one.
    pub user: Option<UserId>,
    /// Why it was refused.
    pub problems: Vec<RowProblem>,
}

/// What a dry run would have made by now: rows further down build on it, although it was taken back.
#[derive(Debug, Default)]
pub struct Foreseen {
    people: HashMap<String, ForeseenMember>,
    /// Classes with the teacher who would own them.
    classes: HashMap<String, ExternalId>,
    /// Homerooms, and those among them that were there before.
    homerooms: HashMap<String, Option<HomeroomId>>,
    /// Homerooms that have a teacher by now.
    kept: HashSet<String>,
}

/// A member whom a dry run made, or gave an id.
#[derive(Debug, Clone)]
struct ForeseenMember {
    /// The account, if it was there before.
    user: Option<UserId>,
    role: MemberRole,
    /// Whether the person is only invited.
    is_invited: bool,
}

/// What a dry run has to remember of a row.
enum Foresight {
    Person(ExternalId, ForeseenMember),
    Class(ExternalId, ExternalId),
    Homeroom(ExternalId, Option<HomeroomId>),
    Kept(ExternalId),
}

/// What a row did.
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

/// Why a row did nothing.
enum Stop {
    /// It is refused.
    Row(Vec<RowProblem>),
    /// Somebody else wrote the same in this very moment; a second look may find it.
    Race(Vec<RowProblem>),
    /// The unit cannot go on.
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
            Error::Refused(refusal) => Self::row("", refusal.code(), &refusal.to_string()),
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

/// Carries out some rows, in their order. Whoever imports must still administer the school.
pub fn apply(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mail>,
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
    // Without outcomes the unit itself failed, and that is the error to tell.
    match outcomes {
        Some(outcomes) => Ok(outcomes),
        None => taken_back.map(|()| Vec::new()),
    }
}

/// Notes that the import is over; one that changed nothing is not worth a record.
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

/// Tells who imports how far it is.
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
    mail: Option<&Mail>,
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

/// One row, looked at anew when somebody else wrote the same meanwhile.
fn one(work: &mut Work<'_>, rules: Rules, mail: Option<&Mail>, row: &Record, foreseen: &Foreseen) -> Result<Ended> {
    let (ended, is_race) = tried(work, rules, mail, row, foreseen)?;
    if !is_race {
        return Ok(ended);
    }
    Ok(tried(work, rules, mail, row, foreseen)?.0)
}

/// One row in a savepoint of its own, and whether it lost a race.
fn tried(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mail>,
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
        // Refused, and everything of the row is taken back.
        (Err(_), Some(Err(problems))) => Ok((Err(problems), is_race)),
        (Err(error), _) => Err(error),
        (Ok(()), None) => Err(take_back()),
    }
}

fn carry_out(
    work: &mut Work<'_>,
    rules: Rules,
    mail: Option<&Mail>,
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

/// New accounts are counted in the one record of the import: nobody listens as them yet, and a record for each would bury
/// all others. What happens to people who were there before is told one by one.
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

/// Ends a savepoint whose outcome is known already; nobody sees this.
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
