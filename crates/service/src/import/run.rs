//! Carries out an import: units of some rows, one after the other, each told when it is done. It stops between two units
//! when nobody listens any more; what was done until then stays, and the same file goes on where it stopped.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use model::import::{ImportCounts, RowProblem, RowStatus};
use tokio::sync::mpsc;

use super::{Numbered, Plan, Sending};
use crate::actions::imports::{self, Foreseen, Outcome, Record, Rules};
use crate::changes;
use adapters::mail::Mail;
use common::clock;
use common::error::{Error, Result};
use db::{Standpoint, Store};
use realtime::bus::Bus;

/// Units that may wait between reading and writing.
const AHEAD: usize = 2;
/// Units after which whoever imports is told how far it is.
const TOLD_EVERY: usize = 5;

/// An import about to begin.
pub struct Import {
    /// What is remembered.
    pub store: Store,
    /// Carries what happened to the sockets.
    pub bus: Bus,
    /// Who imports, and into which school.
    pub standpoint: Standpoint,
    /// Writes the emails to invited people; without it invitations are created and no email is queued.
    pub mail: Option<Mail>,
    /// What holds for all rows.
    pub rules: Rules,
}

/// How one row ended.
#[derive(Debug)]
pub struct Reported {
    /// The file of an archive that the row is in.
    pub file: Option<&'static str>,
    /// Its number.
    pub row: usize,
    /// How it ended.
    pub outcome: Outcome,
}

impl Import {
    /// Carries out a plan and reports its rows unit by unit; answers how many ended how. Nobody taking the reports any more
    /// stops it.
    pub async fn run(self, plan: Plan, reports: mpsc::Sender<Vec<Reported>>) -> Result<ImportCounts> {
        let mut counts = ImportCounts::default();
        let outcome = self.units(plan, &reports, &mut counts).await;
        if !self.rules.is_dry_run {
            // Also of an import that broke off: its rows are there.
            self.unit(move |work| {
                imports::finish(work, counts);
                Ok(())
            })
            .await?;
        }
        outcome.map(|()| counts)
    }

    async fn units(&self, plan: Plan, reports: &mpsc::Sender<Vec<Reported>>, counts: &mut ImportCounts) -> Result<()> {
        let rows = i64::try_from(plan.rows).unwrap_or(i64::MAX);
        let (sender, mut units) = mpsc::channel(AHEAD);
        let reading = tokio::task::spawn_blocking(move || plan.send(&mut Sending::to(sender)));
        let foreseen = Arc::new(Mutex::new(Foreseen::default()));
        let (import_id, mut seen, mut done) = (clock::new_id(), Seen::default(), 0);
        while let Some(unit) = units.recv().await {
            let reported = self.carry_out(unit, &mut seen, &foreseen).await?;
            for report in &reported {
                counts.add(report.outcome.status);
            }
            done += 1;
            if reports.send(reported).await.is_err() {
                return Ok(());
            }
            if done % TOLD_EVERY == 0 && counts.total() < rows {
                self.tell(&import_id, rows, *counts).await?;
            }
        }
        reading.await.map_err(|error| Error::Internal(error.into()))??;
        if done > 1 {
            self.tell(&import_id, rows, *counts).await?;
        }
        Ok(())
    }

    /// One unit; rows that were refused before keep their place in the report.
    async fn carry_out(
        &self,
        unit: Vec<Numbered>,
        seen: &mut Seen,
        foreseen: &Arc<Mutex<Foreseen>>,
    ) -> Result<Vec<Reported>> {
        let (mut reported, mut records, mut places) = (Vec::with_capacity(unit.len()), Vec::new(), Vec::new());
        for row in unit {
            let problems = match row.record {
                Ok(record) => match seen.again(&record, row.number) {
                    None => {
                        places.push(reported.len());
                        records.push(record);
                        Vec::new()
                    }
                    Some(problem) => vec![problem],
                },
                Err(problems) => problems,
            };
            reported.push(Reported {
                file: row.file,
                row: row.number,
                outcome: Outcome {
                    status: RowStatus::Failed,
                    user: None,
                    problems,
                },
            });
        }
        if !records.is_empty() {
            let (rules, mail, foreseen) = (self.rules, self.mail.clone(), Arc::clone(foreseen));
            let emails = if rules.is_dry_run {
                Vec::new()
            } else {
                addresses(&records)
            };
            let outcomes = self.unit_taking_over(emails, move |work| {
                let mut foreseen = foreseen.lock().unwrap_or_else(PoisonError::into_inner);
                imports::apply(work, rules, mail.as_ref(), &records, &mut foreseen)
            });
            for (place, outcome) in places.into_iter().zip(outcomes.await?) {
                reported[place].outcome = outcome;
            }
        }
        for report in reported.iter_mut().filter(|report| report.file.is_some()) {
            for problem in &mut report.outcome.problems {
                spell_as_one_roster(problem);
            }
        }
        Ok(reported)
    }

    async fn tell(&self, import_id: &str, rows: i64, counts: ImportCounts) -> Result<()> {
        let (import_id, rules) = (import_id.to_owned(), self.rules);
        self.unit(move |work| {
            imports::tell_progress(work, &import_id, rules, rows, counts);
            Ok(())
        })
        .await
    }

    async fn unit<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut db::Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let standpoint = Standpoint {
            now: clock::now(),
            ..self.standpoint.clone()
        };
        changes::perform(&self.store, &self.bus, standpoint, act).await
    }

    /// The same for rows with people: accounts of these addresses that can be taken over are taken over before.
    async fn unit_taking_over<T: Send + 'static>(
        &self,
        emails: Vec<String>,
        act: impl FnMut(&mut db::Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if emails.is_empty() {
            return self.unit(act).await;
        }
        let standpoint = Standpoint {
            now: clock::now(),
            ..self.standpoint.clone()
        };
        changes::perform_taking_over((&self.store, &self.bus), standpoint, emails, self.mail.clone(), act).await
    }
}

/// The addresses of people in these rows.
fn addresses(records: &[Record]) -> Vec<String> {
    let address = |record: &Record| match record {
        Record::Person(person) => Some(person.email.clone()),
        _ => None,
    };
    records.iter().filter_map(address).collect()
}

/// What the rows so far were about: a second row about the same is a mistake in the file, not a change of mind.
#[derive(Default)]
struct Seen {
    first_rows: HashMap<(u64, u64), usize>,
    keys: (RandomState, RandomState),
}

impl Seen {
    /// What a row repeats, if it repeats anything.
    fn again(&mut self, record: &Record, row: usize) -> Option<RowProblem> {
        let keys: Vec<(&str, String)> = match record {
            Record::Person(person) => {
                let id = person.external_id.as_ref();
                let id = id.map(|id| ("externalId", format!("person {id}")));
                [("email", format!("address {}", person.email))]
                    .into_iter()
                    .chain(id)
                    .collect()
            }
            Record::PersonGone(id) => vec![("sourcedId", format!("person {id}"))],
            Record::Class(class) => vec![("sourcedId", format!("class {}", class.external_id))],
            Record::ClassGone(id) => vec![("sourcedId", format!("class {id}"))],
            Record::Homeroom(homeroom) => vec![
                ("sourcedId", format!("class {}", homeroom.external_id)),
                (
                    "title",
                    format!("homeroom {} {}", homeroom.academic_year, homeroom.name),
                ),
            ],
            Record::Place(place) => vec![("userSourcedId", format!("place {} {}", place.class, place.user))],
            Record::Nothing => Vec::new(),
        };
        // Their hashes are enough, and half a million of them fit where their texts would not.
        let keys: Vec<_> = keys
            .into_iter()
            .map(|(column, key)| (column, (self.keys.0.hash_one(&key), self.keys.1.hash_one(&key))))
            .collect();
        let repeated = keys
            .iter()
            .find_map(|(column, key)| Some((*column, *self.first_rows.get(key)?)));
        if let Some((column, first)) = repeated {
            return Some(RowProblem::new(
                column,
                "duplicate",
                format!("is in row {first} already"),
            ));
        }
        self.first_rows.extend(keys.into_iter().map(|(_, key)| (key, row)));
        None
    }
}

/// An archive has other names for the same columns.
fn spell_as_one_roster(problem: &mut RowProblem) {
    let column = match problem.column.as_str() {
        "firstName" => "givenName",
        "lastName" => "familyName",
        "externalId" => "sourcedId",
        _ => return,
    };
    column.clone_into(&mut problem.column);
}
