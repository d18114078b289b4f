//! One run of a roster source: reads the roster, computes the difference by a dry run of the import, stops if too many
//! people or classes would leave, and applies the rows in batches. Every step can be repeated, so a run that was killed
//! starts again from the beginning; what it had applied is unchanged then.

use std::mem;

use domain::access::{MemberRole, PlatformRole};
use domain::id::{RosterRunId, RosterSourceId};
use domain::import::{ImportMode, RowStatus};
use domain::job::ATTEMPTS_MAX;
use domain::roster_source::{
    Departures, ENTRIES_MAX, RosterCounts, RosterEffect, RosterEntry, RosterObject, RosterRun, RosterRunKind,
    RosterRunState, RosterSource,
};
use domain::text::ExternalId;
use domain::time::Timestamp;
use tokio::sync::mpsc;

use super::{JobOutcome, Jobs};
use crate::actions::imports::{ImportOutcome, ImportedEnrollment};
use crate::actions::rosters;
use crate::changes::Transactor;
use crate::import::{self, Import, ImportPlan, ImportRecord, ImportRules, RosterSnapshot, RowReport};
use crate::roster::FetchFailure;
use adapters::blob_store::FileSource;
use adapters::roster::{FetchedRoster, SKIPPED_MAX};
use common::clock;
use common::error::{Error, Result};
use common::metrics::metrics;
use db::platform::CrossTenantReason;
use db::platform::jobs::ClaimedJob;
use db::rosters::{BroughtClass, BroughtEnrollment, BroughtEnrollmentKind, BroughtPerson};
use db::{RequestContext, Tenant};

/// Maximum number of nightly runs that one round starts, and of lost runs that it ends.
const PER_ROUND: i64 = 50;
/// Maximum length of names and problems of entries.
const TEXT_MAX: usize = 200;
/// Batches of reports between import and run.
const REPORTS_AHEAD: usize = 2;

pub(super) async fn run(jobs: &Jobs, held: &ClaimedJob) -> Result<JobOutcome> {
    let Some(tenant) = &held.tenant else {
        return Err(anyhow::anyhow!("a roster belongs to an organization").into());
    };
    let source = RosterSourceId::new(held.job.payload["sourceId"].as_str().unwrap_or_default());
    let run = RosterRunId::new(held.job.payload["runId"].as_str().unwrap_or_default());
    let attempt = RunAttempt {
        jobs: jobs.clone(),
        tenant: tenant.clone(),
    };
    let (asked, id) = (source.clone(), run.clone());
    let begun = attempt.write(move |tx| rosters::begin(tx, &asked, &id)).await?;
    let Some((source, run)) = begun else {
        return Ok(JobOutcome::default());
    };
    let ended = attempt.execute(&source, run.clone()).await;
    let ended = match ended {
        Ok(ended) => ended,
        // The source was removed in the meantime.
        Err(Error::NotFound) => return Ok(JobOutcome::default()),
        Err(error) if held.job.attempts < ATTEMPTS_MAX && is_temporary(&error) => return Err(error),
        Err(error) => {
            tracing::error!(error = format!("{error:?}"), run_id = %run.id, "roster run failed");
            failed(run, &describe(&error))
        }
    };
    attempt.end(&source, ended).await?;
    Ok(JobOutcome::default())
}

/// Starts nightly runs that are due, and ends runs whose job was given up.
pub async fn start_due(transactor: &Transactor, now: Timestamp) -> Result<()> {
    let lost = transactor.platform_read(CrossTenantReason::Housekeeping, |platform| {
        platform.lost_roster_runs(PER_ROUND)
    });
    for (tenant, id) in lost.await? {
        let context = RequestContext {
            now,
            ..Jobs::context(tenant)
        };
        let interrupt = move |tx: &mut db::WriteTx<'_>| {
            let mut run = match tx.roster_run_by_id(&id) {
                Err(Error::NotFound) => return Ok(()),
                run => run?,
            };
            if !matches!(run.state, RosterRunState::Queued | RosterRunState::Running) {
                return Ok(());
            }
            run.state = RosterRunState::Interrupted;
            run.error_code = Some("interrupted".to_owned());
            run.error_text = Some("The service was stopped during every attempt.".to_owned());
            let source = run.source_id.clone();
            rosters::end(tx, &source, run).map(drop)
        };
        transactor.write(context, interrupt).await?;
        metrics().record_roster_run("interrupted");
    }
    let due = transactor.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.due_roster_sources(now, PER_ROUND)
    });
    for (tenant, id) in due.await? {
        let context = RequestContext {
            now,
            ..Jobs::context(tenant)
        };
        match transactor.write(context, move |tx| rosters::start_night(tx, &id)).await {
            // The source was removed in the meantime.
            Err(Error::NotFound) => {}
            other => other?,
        }
    }
    Ok(())
}

/// One attempt of a run.
struct RunAttempt {
    jobs: Jobs,
    tenant: Tenant,
}

/// What leaves: the records that end it, and the entries that show it.
struct Leaving {
    departures: Departures,
    records: Vec<ImportRecord>,
    people: Vec<(String, String)>,
    classes: Vec<(String, String)>,
    /// Identifies the roster and what leaves.
    difference: String,
}

impl RunAttempt {
    async fn execute(&self, source: &RosterSource, mut run: RosterRun) -> Result<RosterRun> {
        let is_dry_run = run.kind == RosterRunKind::DryRun;
        let etag = source
            .etag
            .as_deref()
            .filter(|_| !is_dry_run && run.confirmed.is_none());
        let roster = match self.jobs.0.rosters.fetch(source, etag, &self.jobs.0.files).await {
            Ok(Some(roster)) => roster,
            Ok(None) => {
                run.state = RosterRunState::Done;
                return Ok(run);
            }
            Err(failure) => return Ok(failed(run, &failure)),
        };
        let file = roster.archive.source();
        let snapshot = RosterSnapshot::read(file.clone()).await?;
        let leaving = self.find_departures(source, &snapshot, &roster).await?;
        drop(snapshot);
        let omitted = i64::try_from(roster.skipped_count).unwrap_or(i64::MAX);
        let mut compared = self
            .import_rows(source, self.plan(source, &file).await?, true, None)
            .await?;
        compared.add_departures(&leaving);
        run.counts = RosterCounts {
            omitted,
            ..compared.counts
        };
        run.difference = Some(leaving.difference.clone());
        self.store_entries(&run, mem::take(&mut compared.entries)).await?;
        if is_dry_run {
            run.state = RosterRunState::Done;
            return Ok(run);
        }
        if leaving.departures.needs_confirmation(source.leave_percent) && run.confirmed != run.difference {
            run.state = RosterRunState::Waiting;
            (run.confirmed, run.confirmed_by) = (None, None);
            return Ok(run);
        }
        let applied = self
            .import_rows(source, self.plan(source, &file).await?, false, Some(&run))
            .await?;
        run.applied = applied.counts.after(run.applied);
        let removals = ImportPlan::from_records(leaving.records);
        let removed = self.import_rows(source, removals, false, Some(&run)).await?;
        run.counts = RosterCounts {
            omitted,
            errors: applied.counts.errors + removed.counts.errors,
            ..removed.counts.after(run.applied)
        };
        run.counts.unchanged = applied.counts.unchanged;
        run.counts.invited = applied.counts.invited;
        let (id, etag) = (source.id.clone(), roster.etag.filter(|_| run.counts.errors == 0));
        self.write(move |tx| tx.set_roster_etag(&id, etag.as_deref())).await?;
        run.state = RosterRunState::Done;
        Ok(run)
    }

    async fn plan(&self, source: &RosterSource, file: &FileSource) -> Result<ImportPlan> {
        let year = import::school_year(clock::now());
        let plan = ImportPlan::from_file(file.clone(), RosterSnapshot::KIND, year).await?;
        Ok(plan.of_roster(source.roles))
    }

    /// Imports rows and counts them. Without a dry run, the progress of the run is stored with every batch.
    async fn import_rows(
        &self,
        source: &RosterSource,
        plan: ImportPlan,
        is_dry_run: bool,
        run: Option<&RosterRun>,
    ) -> Result<RosterComparison> {
        let import = Import {
            transactor: self.jobs.0.transactor.clone(),
            context: Jobs::context(self.tenant.clone()),
            mail: Some(self.jobs.0.mail.clone()),
            rules: ImportRules {
                mode: ImportMode::Upsert,
                is_dry_run,
                is_repeated: true,
            },
            origin: Some(source.id.clone()),
        };
        let (sender, mut reports) = mpsc::channel::<Vec<RowReport>>(REPORTS_AHEAD);
        let mut comparison = RosterComparison::default();
        let collect = async {
            while let Some(batch) = reports.recv().await {
                for report in batch {
                    comparison.add(report);
                }
                if let Some(run) = run {
                    let (id, applied) = (run.id.clone(), comparison.counts.after(run.applied));
                    self.write(move |tx| tx.set_roster_progress(&id, applied)).await?;
                }
            }
            Ok(())
        };
        let (imported, collected): (Result<_>, Result<()>) = tokio::join!(import.run(plan, sender), collect);
        imported?;
        collected?;
        Ok(comparison)
    }

    /// Finds the people, classes and enrollments that the source brought and that its roster no longer contains.
    async fn find_departures(
        &self,
        source: &RosterSource,
        snapshot: &RosterSnapshot,
        roster: &FetchedRoster,
    ) -> Result<Leaving> {
        // A record that cannot be used may be about anyone.
        let is_complete = |resource: &str| {
            let is_listed = usize::try_from(roster.skipped_count).is_ok_and(|count| count <= SKIPPED_MAX);
            is_listed && !roster.skipped.iter().any(|skipped| skipped.resource == resource)
        };
        let ends_people = source.ends_absent && is_complete("users");
        let ends_classes = source.ends_absent && is_complete("classes");
        let mut leaving = Leaving {
            departures: Departures {
                is_empty: roster.people == 0,
                ..Departures::default()
            },
            records: Vec::new(),
            people: Vec::new(),
            classes: Vec::new(),
            difference: String::new(),
        };
        if source.ends_absent && ["users", "classes", "enrollments"].into_iter().all(is_complete) {
            let kinds = [
                (BroughtEnrollmentKind::Class, MemberRole::Student),
                (BroughtEnrollmentKind::CoTeacher, MemberRole::Teacher),
                (BroughtEnrollmentKind::Homeroom, MemberRole::Student),
            ];
            for (kind, _) in kinds.into_iter().filter(|(_, role)| source.roles.includes(*role)) {
                self.find_ended_enrollments(source, snapshot, kind, &mut leaving)
                    .await?;
            }
        }
        self.find_absent_classes(source, snapshot, ends_classes, &mut leaving)
            .await?;
        self.find_absent_people(source, snapshot, ends_people, &mut leaving)
            .await?;
        let ids = leaving.people.iter().chain(&leaving.classes).map(|(id, _)| id.as_str());
        leaving.difference = snapshot.digest(ids);
        Ok(leaving)
    }

    async fn find_absent_people(
        &self,
        source: &RosterSource,
        snapshot: &RosterSnapshot,
        ends_absent: bool,
        leaving: &mut Leaving,
    ) -> Result<()> {
        let (id, roles) = (source.id.clone(), source.roles);
        let next = move |tx: &mut db::ReadTx<'_>, after: &String| tx.brought_people(&id, after);
        let visit = |person: BroughtPerson| {
            // Owners and administrators never leave, nor people whom another source contains.
            let Some((name, role, platform_role)) = person.member else {
                return;
            };
            let is_of_rank =
                !matches!(role, MemberRole::Student | MemberRole::Teacher) || platform_role == PlatformRole::SuperAdmin;
            if is_of_rank || person.is_shared || !roles.includes(role) {
                return;
            }
            leaving.departures.people += 1;
            let id = person.external_id;
            let is_removed = snapshot.removed_people.contains(&id);
            if snapshot.people.contains(&id) || !(is_removed || ends_absent) {
                return;
            }
            if let Ok(external_id) = ExternalId::try_from(id.as_str()) {
                leaving.departures.leaving_people += 1;
                leaving.records.push(ImportRecord::RemovedPerson(external_id));
                leaving.people.push((id, name));
            }
        };
        self.for_each(next, |person| person.external_id.clone(), visit).await
    }

    async fn find_absent_classes(
        &self,
        source: &RosterSource,
        snapshot: &RosterSnapshot,
        ends_absent: bool,
        leaving: &mut Leaving,
    ) -> Result<()> {
        let id = source.id.clone();
        let next = move |tx: &mut db::ReadTx<'_>, after: &String| tx.brought_classes(&id, after);
        let visit = |class: BroughtClass| {
            let Some(name) = class.name.filter(|_| class.is_open && !class.is_shared) else {
                return;
            };
            leaving.departures.classes += 1;
            let id = class.external_id;
            let is_removed = snapshot.removed_classes.contains(&id);
            if snapshot.classes.contains(&id) || !(is_removed || ends_absent) {
                return;
            }
            if let Ok(external_id) = ExternalId::try_from(id.as_str()) {
                leaving.departures.leaving_classes += 1;
                leaving.records.push(ImportRecord::RemovedClass(external_id));
                leaving.classes.push((id, name));
            }
        };
        self.for_each(next, |class| class.external_id.clone(), visit).await
    }

    /// People who stay in the roster leave the classes and homerooms of the roster in which it no longer lists them.
    async fn find_ended_enrollments(
        &self,
        source: &RosterSource,
        snapshot: &RosterSnapshot,
        kind: BroughtEnrollmentKind,
        leaving: &mut Leaving,
    ) -> Result<()> {
        let id = source.id.clone();
        let next = move |tx: &mut db::ReadTx<'_>, after: &BroughtEnrollment| tx.brought_enrollments(&id, kind, after);
        let visit = |enrollment: BroughtEnrollment| {
            leaving.departures.enrollments += 1;
            let (class, person) = (enrollment.class.as_str(), enrollment.person.as_str());
            let stays = snapshot.people.contains(person) && snapshot.classes.contains(class);
            if !stays || snapshot.has_enrollment(class, person) {
                return;
            }
            if let (Ok(class), Ok(user)) = (ExternalId::try_from(class), ExternalId::try_from(person)) {
                leaving.departures.leaving_enrollments += 1;
                let ended = ImportedEnrollment {
                    class,
                    user,
                    is_teacher: kind == BroughtEnrollmentKind::CoTeacher,
                    is_deleted: true,
                };
                leaving.records.push(ImportRecord::Enrollment(Box::new(ended)));
            }
        };
        self.for_each(next, BroughtEnrollment::clone, visit).await
    }

    /// Visits all rows of a list, one page in memory at a time. `next` reads the page after a key.
    async fn for_each<T: Send + 'static, K: Clone + Default + Send + 'static>(
        &self,
        next: impl Fn(&mut db::ReadTx<'_>, &K) -> Result<Vec<T>> + Clone + Send + 'static,
        key: impl Fn(&T) -> K,
        mut visit: impl FnMut(T),
    ) -> Result<()> {
        let mut after = K::default();
        loop {
            let (next, from) = (next.clone(), after.clone());
            let page = self.read(move |tx| next(tx, &from)).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = key(last);
            page.into_iter().for_each(&mut visit);
        }
    }

    async fn store_entries(&self, run: &RosterRun, entries: Vec<RosterEntry>) -> Result<()> {
        for batch in entries.chunks(200) {
            let (id, batch) = (run.id.clone(), batch.to_vec());
            let write = move |tx: &mut db::WriteTx<'_>| {
                // The run may have been deleted with its source.
                tx.roster_run_by_id(&id)?;
                batch.iter().try_for_each(|entry| tx.insert_roster_entry(&id, entry))
            };
            self.write(write).await?;
        }
        Ok(())
    }

    /// Stores the state of a run that ended or waits, in the database, the log and the metrics.
    async fn end(&self, source: &RosterSource, run: RosterRun) -> Result<()> {
        let (id, state) = (run.id.clone(), run.state);
        let error = run.error_code.clone().unwrap_or_default();
        let asked = source.id.clone();
        if !self.write(move |tx| rosters::end(tx, &asked, run.clone())).await? {
            return Ok(());
        }
        let organization = self.tenant.id();
        match state {
            RosterRunState::Waiting => {
                metrics().record_roster_run("waiting");
                tracing::warn!(organization.id = %organization, source_id = %source.id, run_id = %id,
                    "roster run waits for a confirmation: too many would leave");
            }
            RosterRunState::Done => {
                metrics().record_roster_run("done");
                tracing::info!(organization.id = %organization, source_id = %source.id, run_id = %id, "roster run done");
            }
            _ => {
                metrics().record_roster_run("failed");
                tracing::warn!(organization.id = %organization, source_id = %source.id, run_id = %id, error,
                    "roster run failed");
            }
        }
        Ok(())
    }

    async fn read<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut db::ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let context = Jobs::context(self.tenant.clone());
        self.jobs.0.transactor.read(context, act).await
    }

    async fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut db::WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let context = Jobs::context(self.tenant.clone());
        self.jobs.0.transactor.write(context, act).await
    }
}

/// The numbers of a run and its bounded lists.
#[derive(Debug, Default)]
struct RosterComparison {
    counts: RosterCounts,
    entries: Vec<RosterEntry>,
    places: [i64; RosterEffect::ALL.len()],
}

impl RosterComparison {
    fn add(&mut self, report: RowReport) {
        let outcome = report.outcome;
        let Some(subject) = report.subject else {
            if outcome.status == RowStatus::Failed {
                self.counts.errors += 1;
                let place = format!("{} {}", report.file.unwrap_or_default(), report.row);
                let problem = first_problem(&outcome);
                self.list(
                    RosterEffect::Rejected,
                    RosterObject::Person,
                    String::new(),
                    place,
                    problem,
                );
            }
            return;
        };
        let counts = &mut self.counts;
        let (count, effect) = match (subject.object, outcome.status) {
            (_, RowStatus::Failed) => (&mut counts.errors, Some(RosterEffect::Rejected)),
            // Records of removed people have no name.
            (RosterObject::Person, RowStatus::Updated) if subject.name.is_empty() => (&mut counts.left, None),
            (RosterObject::Person, RowStatus::Created) => (&mut counts.created, Some(RosterEffect::Joins)),
            (RosterObject::Person, RowStatus::Updated) => (&mut counts.updated, Some(RosterEffect::Changes)),
            (RosterObject::Person, RowStatus::Invited) => (&mut counts.invited, Some(RosterEffect::Invited)),
            (RosterObject::Person, RowStatus::Skipped) => (&mut counts.unchanged, None),
            (RosterObject::Class, RowStatus::Updated) if subject.name.is_empty() => (&mut counts.classes_left, None),
            (RosterObject::Class | RosterObject::Homeroom, RowStatus::Created) => {
                (&mut counts.classes_created, Some(RosterEffect::Joins))
            }
            (RosterObject::Class | RosterObject::Homeroom, RowStatus::Updated) => {
                (&mut counts.classes_updated, Some(RosterEffect::Changes))
            }
            (RosterObject::Enrollment, RowStatus::Created) => (&mut counts.enrollments_created, None),
            (RosterObject::Enrollment, RowStatus::Updated) => (&mut counts.enrollments_left, None),
            _ => return,
        };
        *count += 1;
        if let Some(effect) = effect {
            let problem = first_problem(&outcome);
            self.list(effect, subject.object, subject.external_id, subject.name, problem);
        }
    }

    fn add_departures(&mut self, leaving: &Leaving) {
        self.counts.left += leaving.departures.leaving_people;
        self.counts.classes_left += leaving.departures.leaving_classes;
        self.counts.enrollments_left += leaving.departures.leaving_enrollments;
        for (object, list) in [
            (RosterObject::Person, &leaving.people),
            (RosterObject::Class, &leaving.classes),
        ] {
            for (id, name) in list {
                self.list(RosterEffect::Leaves, object, id.clone(), name.clone(), None);
            }
        }
    }

    fn list(
        &mut self,
        effect: RosterEffect,
        object: RosterObject,
        external_id: String,
        name: String,
        problem: Option<String>,
    ) {
        let shortened = |text: String| text.chars().take(TEXT_MAX).collect::<String>();
        let place = &mut self.places[effect as usize];
        if *place >= ENTRIES_MAX {
            return;
        }
        self.entries.push(RosterEntry {
            effect,
            place: *place,
            object,
            external_id,
            name: shortened(name),
            problem: problem.map(|problem| shortened(problem.trim().to_owned())),
        });
        *place += 1;
    }
}

fn first_problem(outcome: &ImportOutcome) -> Option<String> {
    let problem = outcome.problems.first()?;
    Some(format!("{} {}", problem.column, problem.message))
}

fn failed(mut run: RosterRun, failure: &FetchFailure) -> RosterRun {
    run.state = RosterRunState::Failed;
    run.error_code = Some(failure.code.to_owned());
    run.error_text = Some(failure.text.clone());
    run
}

/// Returns whether a repetition may succeed: the file is the same, but the database may not have been available.
const fn is_temporary(error: &Error) -> bool {
    matches!(
        error,
        Error::Internal(_) | Error::Overloaded | Error::NotReady | Error::Maintenance
    )
}

fn describe(error: &Error) -> FetchFailure {
    FetchFailure {
        code: if is_temporary(error) {
            "internal"
        } else {
            "not_importable"
        },
        text: match error {
            Error::Internal(_) => "The roster could not be imported; the log of the service has the cause.".to_owned(),
            other => other.to_string(),
        },
    }
}
