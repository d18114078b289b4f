//! Creates classes from homerooms: one class for each homeroom, with its name, its teacher and its students.

use api_macros::body;
use std::collections::{HashMap, HashSet};

use domain::class::ClassStatus;
use domain::details::ClassDetails;
use domain::domain_error::DomainError;
use domain::homeroom::{Homeroom, HomeroomClassProblem};
use domain::id::{HomeroomId, UserId};
use domain::list::{self, List};
use domain::text::{AcademicYear, Name};
use domain::user::Person;

use super::classes::{self, NewClass};
use common::error::{Error, Result};
use db::WriteTx;
use db::homerooms::HomeroomFilter;

/// The number of homerooms of one request.
pub const HOMEROOMS_MAX: usize = 200;

/// A homeroom for which a class is created.
#[body(PartialEq, Eq, Hash)]
pub struct ChosenHomeroom {
    pub homeroom_id: HomeroomId,
    /// The owner of the class. Defaults to the teacher of the homeroom.
    pub teacher_id: Option<UserId>,
}

/// The classes to create from homerooms.
#[body]
pub struct NewHomeroomClasses {
    /// The school year of the classes.
    pub academic_year: AcademicYear,
    /// The homerooms, at most 200. Defaults to the homerooms of the year, and those without a year, that have no class
    /// in it.
    #[garde(custom(chosen_homerooms))]
    pub homerooms: Option<List<ChosenHomeroom>>,
    /// The owner of the classes whose homerooms have no teacher.
    pub teacher_id: Option<UserId>,
    /// Whether the classes follow their homerooms. Defaults to false: the present students are enrolled once.
    pub follows_homeroom: Option<bool>,
    /// The status of the classes. Defaults to ACTIVE.
    pub status: Option<ClassStatus>,
}

/// What became of one homeroom.
#[derive(Debug, Clone)]
pub struct HomeroomClassResult {
    pub homeroom_id: HomeroomId,
    /// The name of the homeroom; empty if it is unknown.
    pub homeroom_name: String,
    pub outcome: std::result::Result<Box<ClassDetails>, HomeroomClassProblem>,
}

/// Creates the classes. Homerooms for which none can be created are reported and do not affect the others.
pub fn create(tx: &mut WriteTx<'_>, new: &NewHomeroomClasses) -> Result<Vec<HomeroomClassResult>> {
    let mut teachers = TeacherCache::default();
    let fallback = match &new.teacher_id {
        Some(id) => Some(teachers.find(tx, id)?.ok_or(Error::NotFound)?),
        None => None,
    };
    let homerooms = tx.homerooms(&HomeroomFilter::default())?;
    let taken: HashSet<HomeroomId> = tx.homerooms_with_class(&new.academic_year)?.into_iter().collect();
    let by_id: HashMap<&HomeroomId, &Homeroom> = homerooms
        .iter()
        .map(|counted| (&counted.homeroom.id, &counted.homeroom))
        .collect();
    let chosen = match &new.homerooms {
        Some(chosen) => chosen.to_vec(),
        None => homerooms
            .iter()
            .map(|counted| &counted.homeroom)
            .filter(|homeroom| {
                homeroom
                    .academic_year
                    .as_ref()
                    .is_none_or(|year| *year == new.academic_year)
            })
            .filter(|homeroom| !taken.contains(&homeroom.id))
            .map(|homeroom| ChosenHomeroom {
                homeroom_id: homeroom.id.clone(),
                teacher_id: None,
            })
            .collect(),
    };
    DomainError::check_limit("homerooms in one request", chosen.len(), HOMEROOMS_MAX)?;
    let mut results = Vec::with_capacity(chosen.len());
    for ChosenHomeroom {
        homeroom_id,
        teacher_id,
    } in chosen
    {
        let homeroom = by_id.get(&homeroom_id).copied();
        let candidates = [
            teacher_id.as_ref(),
            homeroom.and_then(|homeroom| homeroom.teacher_id.as_ref()),
        ];
        let mut teacher = None;
        for candidate in candidates.into_iter().flatten() {
            teacher = match teacher {
                None => teachers.find(tx, candidate)?,
                found => found,
            };
        }
        let outcome = match (homeroom, teacher.or_else(|| fallback.clone())) {
            (None, _) => Err(HomeroomClassProblem::NotFound),
            (Some(_), _) if taken.contains(&homeroom_id) => Err(HomeroomClassProblem::HasClass),
            (Some(_), None) => Err(HomeroomClassProblem::NoTeacher),
            (Some(homeroom), Some(teacher)) => {
                let class = class_of(homeroom, teacher, new)?;
                Ok(Box::new(classes::create(tx, &class)?))
            }
        };
        results.push(HomeroomClassResult {
            homeroom_name: homeroom.map_or("", |homeroom| homeroom.name.as_str()).to_owned(),
            homeroom_id,
            outcome,
        });
    }
    Ok(results)
}

fn class_of(homeroom: &Homeroom, teacher: Person, new: &NewHomeroomClasses) -> Result<NewClass> {
    let name = Name::try_from(homeroom.name.as_str())
        .map_err(|reason| Error::invalid("name", "format", reason.to_string()))?;
    let follows = new.follows_homeroom.unwrap_or_default();
    Ok(NewClass {
        name,
        academic_year: new.academic_year.clone(),
        semester: None,
        start_date: None,
        end_date: None,
        status: new.status,
        teacher_id: Some(teacher.id),
        homeroom_id: Some(homeroom.id.clone()),
        follows_homeroom: Some(follows),
        subject_ids: None,
        schedule: None,
        external_id: None,
        enroll_homeroom: Some(true),
    })
}

/// The members who can own a class, each looked up once.
#[derive(Default)]
struct TeacherCache(HashMap<UserId, Option<Person>>);

impl TeacherCache {
    fn find(&mut self, tx: &mut WriteTx<'_>, id: &UserId) -> Result<Option<Person>> {
        if let Some(known) = self.0.get(id) {
            return Ok(known.clone());
        }
        let found = match tx.teaching_member(id) {
            Ok(person) => Some(person),
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        self.0.insert(id.clone(), found.clone());
        Ok(found)
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "garde needs it")]
fn chosen_homerooms(chosen: &Option<List<ChosenHomeroom>>, context: &()) -> garde::Result {
    let Some(chosen) = chosen else { return Ok(()) };
    list::not_empty(chosen, context)?;
    if chosen.len() > HOMEROOMS_MAX {
        return Err(garde::Error::new(format!("must have at most {HOMEROOMS_MAX} entries")));
    }
    let ids: HashSet<&HomeroomId> = chosen.iter().map(|entry| &entry.homeroom_id).collect();
    if ids.len() < chosen.len() {
        return Err(garde::Error::new("must not name the same homeroom twice"));
    }
    Ok(())
}
