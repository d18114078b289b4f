//! Runs an import: batches of rows in consecutive transactions, each reported when it is committed. Stops between two
//! transactions if the receiver of the reports is gone; committed rows stay, and importing the same file again
//! continues.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use model::import::{ImportCounts, RowProblem, RowStatus};
use tokio::sync::mpsc;

use super::{Numbered, Plan, Sending};
use crate::actions::imports::{self, Foreseen, Outcome, Record, Rules};
use crate::changes;
use adapters::mailer::Mailer;
use common::clock;
use common::error::{Error, Result};
use db::{Standpoint, Store};
use realtime::bus::EventBus;

/// The maximum number of batches between reading and writing.
const AHEAD: usize = 2;
/// The number of batches between two progress events.
const TOLD_EVERY: usize = 5;

/// An import that has not started.
pub struct Import {
    pub store: Store,
    /// Publishes the events.
    pub bus: EventBus,
    /// The importing user and the organization.
    pub standpoint: Standpoint,
    /// Renders the emails to invited users; without it, invitations are created but no email is queued.
    pub mail: Option<Mailer>,
    /// The options for all rows.
    pub rules: Rules,
}

/// The result of one row.
#[derive(Debug)]
pub struct Reported {
    /// The file of an archive that contains the row.
    pub file: Option<&'static str>,
    /// The row number.
    pub row: usize,
    pub outcome: Outcome,
}

impl Import {
    /// Applies a plan and reports its rows in batches. Returns the number of rows by result. Stops if the receiver of
    /// the reports is dropped.
    pub async fn run(self, plan: Plan, reports: mpsc::Sender<Vec<Reported>>) -> Result<ImportCounts> {
        let mut counts = ImportCounts::default();
        let outcome = self.units(plan, &reports, &mut counts).await;
        if !self.rules.is_dry_run {
            // Also after an aborted import, because its rows stay.
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

    /// Applies one batch; rows that were rejected before keep their position in the report.
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

    /// Runs one transaction for rows with users: accounts of these addresses are taken over first, where allowed.
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

/// Returns the email addresses in these rows.
fn addresses(records: &[Record]) -> Vec<String> {
    let address = |record: &Record| match record {
        Record::Person(person) => Some(person.email.clone()),
        _ => None,
    };
    records.iter().filter_map(address).collect()
}

/// What previous rows were about: a second row about the same object is an error in the file.
#[derive(Default)]
struct Seen {
    first_rows: HashMap<(u64, u64), usize>,
    keys: (RandomState, RandomState),
}

impl Seen {
    /// Returns an error if a row repeats an earlier one.
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
        // Stores hashes instead of texts to save memory: there may be half a million rows.
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

/// Renames columns in errors to their names in OneRoster.
fn spell_as_one_roster(problem: &mut RowProblem) {
    let column = match problem.column.as_str() {
        "firstName" => "givenName",
        "lastName" => "familyName",
        "externalId" => "sourcedId",
        _ => return,
    };
    column.clone_into(&mut problem.column);
}
