//! Runs an import: batches of rows in consecutive transactions, each reported when it is committed. Stops between two
//! transactions if the receiver of the reports is gone; committed rows stay, and importing the same file again
//! continues.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::RosterSourceId;
use domain::import::{ImportCounts, RowProblem, RowStatus};
use domain::roster_source::RosterObject;
use domain::text::ShortName;
use tokio::sync::mpsc;

use super::{ImportPlan, NumberedRow, RowSender};
use crate::actions::imports::{self, ImportOutcome, ImportPreview, ImportRecord, ImportRules};
use crate::actions::rosters;
use crate::changes::Transactor;
use adapters::mailer::Mailer;
use common::clock;
use common::error::{Error, Result};
use db::RequestContext;

/// The maximum number of batches between reading and writing.
const BATCHES_AHEAD: usize = 2;
/// The number of batches between two progress events.
const PROGRESS_INTERVAL_BATCHES: usize = 5;

/// An import that has not started.
pub struct Import {
    pub transactor: Transactor,
    /// The importing user and the organization.
    pub context: RequestContext,
    /// Renders the emails to invited users; without it, invitations are created but no email is queued.
    pub mail: Option<Mailer>,
    /// The options for all rows.
    pub rules: ImportRules,
    /// The roster source of the rows. It is recorded as the origin of the people and classes that the import creates.
    pub origin: Option<RosterSourceId>,
}

/// The result of one row.
#[derive(Debug)]
pub struct RowReport {
    /// The file of an archive that contains the row.
    pub file: Option<&'static str>,
    /// The row number.
    pub row: usize,
    pub outcome: ImportOutcome,
    /// What the row is about, for rows of a roster.
    pub subject: Option<RowSubject>,
}

/// The person, class or enrollment of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSubject {
    pub object: RosterObject,
    pub external_id: String,
    pub name: String,
}

impl RowSubject {
    fn of(record: &ImportRecord) -> Option<Self> {
        let (object, external_id, name) = match record {
            ImportRecord::Person(person) => {
                let names = [person.first_name.as_ref(), person.last_name.as_ref()];
                let names: Vec<&str> = names.into_iter().flatten().map(ShortName::as_str).collect();
                (RosterObject::Person, person.external_id.as_ref()?, names.join(" "))
            }
            ImportRecord::RemovedPerson(id) => (RosterObject::Person, id, String::new()),
            ImportRecord::Class(class) => (RosterObject::Class, &class.external_id, class.name.to_string()),
            ImportRecord::RemovedClass(id) => (RosterObject::Class, id, String::new()),
            ImportRecord::Homeroom(homeroom) => {
                (RosterObject::Homeroom, &homeroom.external_id, homeroom.name.to_string())
            }
            ImportRecord::Enrollment(place) => (RosterObject::Enrollment, &place.user, place.class.to_string()),
            ImportRecord::Ignored => return None,
        };
        Some(Self {
            object,
            external_id: external_id.to_string(),
            name,
        })
    }
}

impl Import {
    /// Applies a plan and reports its rows in batches. Returns the number of rows by result. Stops if the receiver of
    /// the reports is dropped.
    pub async fn run(self, plan: ImportPlan, reports: mpsc::Sender<Vec<RowReport>>) -> Result<ImportCounts> {
        let mut counts = ImportCounts::default();
        let outcome = self.apply_batches(plan, &reports, &mut counts).await;
        if !self.rules.is_dry_run {
            // Also after an aborted import, because its rows stay.
            self.write(move |tx| {
                imports::finish(tx, counts);
                Ok(())
            })
            .await?;
        }
        outcome.map(|()| counts)
    }

    async fn apply_batches(
        &self,
        plan: ImportPlan,
        reports: &mpsc::Sender<Vec<RowReport>>,
        counts: &mut ImportCounts,
    ) -> Result<()> {
        let rows = i64::try_from(plan.rows).unwrap_or(i64::MAX);
        let (sender, mut batches) = mpsc::channel(BATCHES_AHEAD);
        let reading = tokio::task::spawn_blocking(move || plan.send(&mut RowSender::new(sender)));
        let preview = Arc::new(Mutex::new(ImportPreview::default()));
        let (import_id, mut duplicates, mut done) = (clock::new_id(), DuplicateDetector::default(), 0);
        while let Some(batch) = batches.recv().await {
            let reports_of_batch = self.apply_batch(batch, &mut duplicates, &preview).await?;
            for report in &reports_of_batch {
                counts.add(report.outcome.status);
            }
            done += 1;
            if reports.send(reports_of_batch).await.is_err() {
                return Ok(());
            }
            if done % PROGRESS_INTERVAL_BATCHES == 0 && counts.total() < rows {
                self.report_progress(&import_id, rows, *counts).await?;
            }
        }
        reading.await.map_err(|error| Error::Internal(error.into()))??;
        if done > 1 {
            self.report_progress(&import_id, rows, *counts).await?;
        }
        Ok(())
    }

    /// Applies one batch; rows that were rejected before keep their position in the report.
    async fn apply_batch(
        &self,
        batch: Vec<NumberedRow>,
        duplicates: &mut DuplicateDetector,
        preview: &Arc<Mutex<ImportPreview>>,
    ) -> Result<Vec<RowReport>> {
        let (mut reports_of_batch, mut records, mut positions) =
            (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
        for row in batch {
            let is_of_roster = self.origin.is_some();
            let subject = row
                .record
                .as_ref()
                .ok()
                .filter(|_| is_of_roster)
                .and_then(RowSubject::of);
            let problems = match row.record {
                Ok(record) => match duplicates.find(&record, row.number) {
                    None => {
                        positions.push(reports_of_batch.len());
                        records.push(record);
                        Vec::new()
                    }
                    Some(problem) => vec![problem],
                },
                Err(problems) => problems,
            };
            reports_of_batch.push(RowReport {
                file: row.file,
                row: row.number,
                outcome: ImportOutcome {
                    status: RowStatus::Failed,
                    user: None,
                    problems,
                },
                subject,
            });
        }
        if !records.is_empty() {
            let (rules, mail, preview) = (self.rules, self.mail.clone(), Arc::clone(preview));
            let emails = if rules.is_dry_run {
                Vec::new()
            } else {
                addresses(&records)
            };
            let origin = self.origin.clone();
            let outcomes = self.write_with_takeovers(emails, move |tx| {
                let mut preview = preview.lock().unwrap_or_else(PoisonError::into_inner);
                let outcomes = imports::apply(tx, rules, mail.as_ref(), &records, &mut preview)?;
                if let Some(source) = origin.as_ref().filter(|_| !rules.is_dry_run) {
                    rosters::record_origins(tx, source, &records, &outcomes)?;
                }
                Ok(outcomes)
            });
            for (position, outcome) in positions.into_iter().zip(outcomes.await?) {
                reports_of_batch[position].outcome = outcome;
            }
        }
        for report in reports_of_batch.iter_mut().filter(|report| report.file.is_some()) {
            for problem in &mut report.outcome.problems {
                use_one_roster_columns(problem);
            }
        }
        Ok(reports_of_batch)
    }

    async fn report_progress(&self, import_id: &str, rows: i64, counts: ImportCounts) -> Result<()> {
        let (import_id, rules) = (import_id.to_owned(), self.rules);
        self.write(move |tx| {
            imports::record_progress(tx, &import_id, rules, rows, counts);
            Ok(())
        })
        .await
    }

    async fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut db::WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let context = RequestContext {
            now: clock::now(),
            ..self.context.clone()
        };
        self.transactor.write(context, act).await
    }

    /// Runs one transaction for rows with users: accounts of these addresses are taken over first, where allowed.
    async fn write_with_takeovers<T: Send + 'static>(
        &self,
        emails: Vec<String>,
        act: impl FnMut(&mut db::WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if emails.is_empty() {
            return self.write(act).await;
        }
        let context = RequestContext {
            now: clock::now(),
            ..self.context.clone()
        };
        self.transactor
            .write_taking_over(context, emails, self.mail.clone(), act)
            .await
    }
}

/// Returns the email addresses in these rows.
fn addresses(records: &[ImportRecord]) -> Vec<String> {
    let address = |record: &ImportRecord| match record {
        ImportRecord::Person(person) => person.email.clone(),
        _ => None,
    };
    records.iter().filter_map(address).collect()
}

/// Marks the key of rows that only the name identifies.
const NAME_ONLY: &str = "";

/// What previous rows were about: a second row about the same object is an error in the file.
#[derive(Default)]
struct DuplicateDetector {
    first_rows: HashMap<(u64, u64), usize>,
    keys: (RandomState, RandomState),
}

impl DuplicateDetector {
    /// Returns an error if a row repeats an earlier one.
    fn find(&mut self, record: &ImportRecord, row: usize) -> Option<RowProblem> {
        let keys: Vec<(&str, String)> = match record {
            ImportRecord::Person(person) => {
                let id = person.external_id.as_ref();
                let id = id.map(|id| ("externalId", format!("person {id}")));
                let email = person.email.as_ref();
                let email = email.map(|email| ("email", format!("address {email}")));
                let username = person.username.as_ref();
                let username = username.map(|name| ("username", format!("user name {name}")));
                let name = person.has_name_only().then(|| {
                    let name = person.generated_name();
                    (NAME_ONLY, format!("name {name}"))
                });
                email.into_iter().chain(id).chain(username).chain(name).collect()
            }
            ImportRecord::RemovedPerson(id) => vec![("sourcedId", format!("person {id}"))],
            ImportRecord::Class(class) => vec![("sourcedId", format!("class {}", class.external_id))],
            ImportRecord::RemovedClass(id) => vec![("sourcedId", format!("class {id}"))],
            ImportRecord::Homeroom(homeroom) => vec![
                ("sourcedId", format!("class {}", homeroom.external_id)),
                (
                    "title",
                    format!("homeroom {} {}", homeroom.academic_year, homeroom.name),
                ),
            ],
            ImportRecord::Enrollment(place) => vec![("userSourcedId", format!("place {} {}", place.class, place.user))],
            ImportRecord::Ignored => Vec::new(),
        };
        // Stores hashes instead of texts to save memory: there may be half a million rows.
        let keys: Vec<_> = keys
            .into_iter()
            .map(|(column, key)| (column, (self.keys.0.hash_one(&key), self.keys.1.hash_one(&key))))
            .collect();
        let repeated = keys
            .iter()
            .find_map(|(column, key)| Some((*column, *self.first_rows.get(key)?)));
        if let Some((NAME_ONLY, first)) = repeated {
            let message = format!("is needed, or externalId, because row {first} has the same name");
            return Some(RowProblem::new("username", "required", message));
        }
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
fn use_one_roster_columns(problem: &mut RowProblem) {
    let column = match problem.column.as_str() {
        "firstName" => "givenName",
        "lastName" => "familyName",
        "externalId" => "sourcedId",
        _ => return,
    };
    column.clone_into(&mut problem.column);
}
