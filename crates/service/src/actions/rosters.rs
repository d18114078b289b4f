//! The roster sources of an organization and their runs: settings, starts, confirmations, and the record of who was
//! brought by which source.

use api_macros::{body, patch};
use domain::change::{RosterChange, RosterRunStep};
use domain::domain_error::DomainError;
use domain::error_code::ErrorCode;
use domain::id::{RosterRunId, RosterSourceId};
use domain::import::RowStatus;
use domain::job::JobKind;
use domain::patch::{FieldDiff, FieldPatch, not_null};
use domain::roster::RosterProtocol;
use domain::roster_source::{
    LEAVE_PERCENT, NIGHTLY_HOUR, RUNS_KEPT, RosterObject, RosterRoles, RosterRun, RosterRunKind, RosterRunState,
    RosterSource, SOURCES_MAX,
};
use domain::text::Name;
use domain::time::Timestamp;
use domain::user::Person;
use serde_json::json;

use super::imports::{ImportOutcome, ImportRecord};
use super::text_checks::{is_plain, number_up_to, text_of};
use crate::roster::Rosters;
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;

/// A roster source to add.
#[body]
pub struct NewRosterSource {
    /// The name of the administration system.
    pub name: Name,
    pub protocol: RosterProtocol,
    /// The URL of the roster server: `https://…`.
    #[garde(length(min = 1, max = 500))]
    pub url: String,
    /// The URL that issues access tokens.
    #[garde(length(min = 1, max = 500))]
    pub token_url: String,
    #[garde(length(min = 1, max = 500), custom(is_plain))]
    pub client_id: String,
    /// Stored encrypted and never returned.
    #[garde(length(min = 1, max = 2000), custom(is_plain))]
    pub client_secret: String,
    /// The scopes of the token request; without them those of the protocol.
    #[garde(inner(length(max = 500), custom(is_plain)))]
    #[schema(nullable = false, max_length = 500)]
    pub scope: Option<String>,
    /// The id of the school at the server, if the server has several.
    #[garde(inner(length(max = 200), custom(is_plain)))]
    #[schema(nullable = false, max_length = 200)]
    pub school_id: Option<String>,
    /// The people who are imported; default ALL.
    #[schema(nullable = false)]
    pub roles: Option<RosterRoles>,
    /// Whether people who are absent from the roster leave, and absent classes are archived; default true.
    #[schema(nullable = false)]
    pub ends_absent: Option<bool>,
    /// A run that would end more than this percentage of people or classes waits for a confirmation; default 5.
    #[garde(inner(range(min = 0, max = 100)))]
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    pub leave_percent: Option<i64>,
    /// Whether the roster is read every night; default true.
    #[schema(nullable = false)]
    pub is_nightly: Option<bool>,
    /// The hour of the nightly run in the time zone of the school; default 3.
    #[garde(inner(range(min = 0, max = 23)))]
    #[schema(nullable = false, minimum = 0, maximum = 23)]
    pub nightly_hour: Option<i64>,
}

/// The fields of a roster source that a PATCH can change.
#[patch]
pub struct RosterSourceEdit {
    /// The name of the administration system.
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    #[garde(custom(not_null))]
    pub protocol: FieldPatch<RosterProtocol>,
    /// The URL of the roster server. A new address needs the client secret again.
    #[garde(custom(not_null), custom(text_of(1, 500)))]
    pub url: FieldPatch<String>,
    /// The URL that issues access tokens. A new address needs the client secret again.
    #[garde(custom(not_null), custom(text_of(1, 500)))]
    pub token_url: FieldPatch<String>,
    #[garde(custom(not_null), custom(text_of(1, 500)))]
    pub client_id: FieldPatch<String>,
    /// Replaces the client secret.
    #[garde(custom(not_null), custom(text_of(1, 2000)))]
    pub client_secret: FieldPatch<String>,
    /// The scopes of the token request.
    #[garde(custom(not_null), custom(text_of(0, 500)))]
    pub scope: FieldPatch<String>,
    /// The id of the school at the server.
    #[garde(custom(not_null), custom(text_of(0, 200)))]
    pub school_id: FieldPatch<String>,
    /// The people who are imported.
    #[garde(custom(not_null))]
    pub roles: FieldPatch<RosterRoles>,
    /// Whether absent people leave and absent classes are archived.
    #[garde(custom(not_null))]
    pub ends_absent: FieldPatch<bool>,
    /// A run that would end more than this percentage of people or classes waits for a confirmation.
    #[garde(custom(not_null), custom(number_up_to(100)))]
    #[schema(value_type = i64, minimum = 0, maximum = 100)]
    pub leave_percent: FieldPatch<i64>,
    /// Whether the roster is read every night.
    #[garde(custom(not_null))]
    pub is_nightly: FieldPatch<bool>,
    /// The hour of the nightly run in the time zone of the school.
    #[garde(custom(not_null), custom(number_up_to(23)))]
    #[schema(value_type = i64, minimum = 0, maximum = 23)]
    pub nightly_hour: FieldPatch<i64>,
}

/// A run to start.
#[body(Default)]
pub struct NewRosterRun {
    /// Whether the run only shows what it would change; default false.
    #[schema(nullable = false)]
    pub is_dry_run: Option<bool>,
}

/// The confirmation of a run that waits.
#[body]
pub struct RosterConfirmation {
    /// `difference` of the run. If it has changed in the meantime, the run asks again.
    #[garde(length(min = 1, max = 200), custom(is_plain))]
    pub difference: String,
}

/// Adds a source.
pub fn add(tx: &mut WriteTx<'_>, new: &NewRosterSource, rosters: &Rosters) -> Result<RosterSource> {
    tx.lock_membership_changes()?;
    DomainError::check_limit("roster sources", tx.count_roster_sources()? + 1, SOURCES_MAX)?;
    let trimmed = |text: Option<&String>| text.map_or("", |text| text.trim()).to_owned();
    let id = RosterSourceId::new(clock::new_id());
    let mut source = RosterSource {
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        protocol: new.protocol,
        url: new.url.trim().to_owned(),
        token_url: new.token_url.trim().to_owned(),
        client_id: new.client_id.trim().to_owned(),
        client_secret: rosters.encrypt(&id, new.client_secret.trim())?,
        scope: trimmed(new.scope.as_ref()),
        school_id: trimmed(new.school_id.as_ref()),
        roles: new.roles.unwrap_or(RosterRoles::All),
        ends_absent: new.ends_absent.unwrap_or(true),
        leave_percent: new.leave_percent.unwrap_or(LEAVE_PERCENT),
        is_nightly: new.is_nightly.unwrap_or(true),
        nightly_hour: new.nightly_hour.unwrap_or(NIGHTLY_HOUR),
        next_run_at: None,
        etag: None,
        created_at: tx.now(),
        updated_at: tx.now(),
        id,
    };
    check(&source, rosters)?;
    source.next_run_at = next_night(tx, &source)?;
    tx.insert_roster_source(&source)?;
    tx.record(RosterChange::SourceAdded {
        source: Box::new(source.clone()),
    });
    Ok(source)
}

/// Applies a PATCH. A new address needs the client secret again, so that a stored secret is not sent elsewhere.
pub fn edit(
    tx: &mut WriteTx<'_>,
    id: &RosterSourceId,
    edit: &RosterSourceEdit,
    rosters: &Rosters,
) -> Result<RosterSource> {
    let mut source = tx.lock_roster_source(id)?;
    let edit = edit.clone();
    let mut changed = FieldDiff::new();
    changed.edit("name", &mut source.name, edit.name)?;
    changed.edit("protocol", &mut source.protocol, edit.protocol)?;
    changed.edit("url", &mut source.url, edit.url)?;
    changed.edit("tokenUrl", &mut source.token_url, edit.token_url)?;
    changed.edit("clientId", &mut source.client_id, edit.client_id)?;
    changed.edit("scope", &mut source.scope, edit.scope)?;
    changed.edit("schoolId", &mut source.school_id, edit.school_id)?;
    changed.edit("roles", &mut source.roles, edit.roles)?;
    changed.edit("endsAbsent", &mut source.ends_absent, edit.ends_absent)?;
    changed.edit("leavePercent", &mut source.leave_percent, edit.leave_percent)?;
    changed.edit("isNightly", &mut source.is_nightly, edit.is_nightly)?;
    changed.edit("nightlyHour", &mut source.nightly_hour, edit.nightly_hour)?;
    let secret = edit.client_secret.value();
    if let Some(secret) = secret {
        source.client_secret = rosters.encrypt(id, secret.trim())?;
    } else if changed.has("url") || changed.has("tokenUrl") {
        let message = "is required with a new address";
        return Err(Error::invalid("clientSecret", "required", message));
    }
    check(&source, rosters)?;
    if changed.is_empty() && secret.is_none() {
        return Ok(source);
    }
    if changed.has("isNightly") || changed.has("nightlyHour") {
        source.next_run_at = next_night(tx, &source)?;
    }
    // The last roster may have been applied with other rules.
    source.etag = None;
    source.updated_at = tx.now();
    tx.update_roster_source(&source)?;
    tx.record(RosterChange::SourceUpdated {
        source: Box::new(source.clone()),
        changed,
        is_secret_replaced: secret.is_some(),
    });
    Ok(source)
}

/// Removes a source with its runs. The people and classes that it brought remain.
pub fn remove(tx: &mut WriteTx<'_>, id: &RosterSourceId) -> Result<()> {
    let source = tx.lock_roster_source(id)?;
    tx.delete_roster_source(id)?;
    tx.record(RosterChange::SourceRemoved {
        source: Box::new(source),
    });
    Ok(())
}

/// Queues a run of a source and replaces one that waits for a confirmation.
pub fn start(tx: &mut WriteTx<'_>, id: &RosterSourceId, kind: RosterRunKind) -> Result<RosterRun> {
    let source = tx.lock_roster_source(id)?;
    let (run, job) = (RosterRunId::new(clock::new_id()), clock::new_id());
    if !tx.insert_roster_run(&run, (id, &job), kind)? {
        return Err(is_open());
    }
    if kind != RosterRunKind::DryRun {
        tx.replace_waiting_roster_runs(id)?;
    }
    tx.trim_roster_runs(id, RUNS_KEPT)?;
    open_job(tx, id, &run, &job)?;
    let run = tx.roster_run(id, &run)?;
    record_run(tx, RosterRunStep::Started, source, &run);
    Ok(run)
}

/// Confirms a run that waits, for the difference that the administrator has seen.
pub fn confirm(
    tx: &mut WriteTx<'_>,
    id: &RosterSourceId,
    run: &RosterRunId,
    confirmation: &RosterConfirmation,
) -> Result<RosterRun> {
    let source = tx.lock_roster_source(id)?;
    let mut run = tx.roster_run(id, run)?;
    if run.state != RosterRunState::Waiting || run.difference.as_ref() != Some(&confirmation.difference) {
        return Err(has_changed());
    }
    run.state = RosterRunState::Queued;
    run.confirmed.clone_from(&run.difference);
    run.confirmed_by = tx.actor().user.clone().map(|id| Person {
        id,
        name: String::new(),
        image: None,
    });
    let job = clock::new_id();
    tx.update_roster_run(&run)?;
    tx.set_roster_job(&run.id, &job)?;
    open_job(tx, id, &run.id, &job)?;
    let run = tx.roster_run(id, &run.id)?;
    record_run(tx, RosterRunStep::Confirmed, source, &run);
    Ok(run)
}

/// Discards a run that waits.
pub fn discard(tx: &mut WriteTx<'_>, id: &RosterSourceId, run: &RosterRunId) -> Result<RosterRun> {
    let source = tx.lock_roster_source(id)?;
    let mut run = tx.roster_run(id, run)?;
    if run.state != RosterRunState::Waiting {
        return Err(has_changed());
    }
    run.state = RosterRunState::Discarded;
    run.finished_at = Some(tx.now());
    tx.update_roster_run(&run)?;
    record_run(tx, RosterRunStep::Discarded, source, &run);
    Ok(run)
}

/// Starts the nightly run of a source and schedules the next one. The night is omitted while a run is open.
pub fn start_night(tx: &mut WriteTx<'_>, id: &RosterSourceId) -> Result<()> {
    let mut source = tx.lock_roster_source(id)?;
    if source.next_run_at.is_none_or(|due| due > tx.now()) {
        // Another instance has started it.
        return Ok(());
    }
    source.next_run_at = next_night(tx, &source)?;
    tx.update_roster_source(&source)?;
    match start(tx, id, RosterRunKind::Nightly) {
        Err(Error::Conflict {
            code: ErrorCode::RosterRunOpen,
            ..
        }) => Ok(()),
        other => other.map(drop),
    }
}

/// Begins an attempt of a run; `None` if it has ended or its source was removed.
pub fn begin(
    tx: &mut WriteTx<'_>,
    source: &RosterSourceId,
    run: &RosterRunId,
) -> Result<Option<(RosterSource, RosterRun)>> {
    let found = match tx.lock_roster_source(source) {
        Err(Error::NotFound) => return Ok(None),
        found => found?,
    };
    let mut run = match tx.roster_run(source, run) {
        Err(Error::NotFound) => return Ok(None),
        run => run?,
    };
    if !matches!(run.state, RosterRunState::Queued | RosterRunState::Running) {
        return Ok(None);
    }
    let is_first = run.state == RosterRunState::Queued;
    run.state = RosterRunState::Running;
    run.started_at = run.started_at.or(Some(tx.now()));
    tx.update_roster_run(&run)?;
    // Entries of an interrupted attempt or of the difference before a confirmation.
    tx.trim_roster_runs(source, RUNS_KEPT)?;
    if is_first {
        record_run(tx, RosterRunStep::Started, found.clone(), &run);
    }
    Ok(Some((found, run)))
}

/// Stores the state of a run that ended or waits; returns false if it was ended otherwise.
pub fn end(tx: &mut WriteTx<'_>, source: &RosterSourceId, mut run: RosterRun) -> Result<bool> {
    let source = match tx.lock_roster_source(source) {
        Err(Error::NotFound) => return Ok(false),
        found => found?,
    };
    if run.state != RosterRunState::Waiting {
        run.finished_at = Some(tx.now());
    }
    if !tx.update_roster_run(&run)? {
        return Ok(false);
    }
    record_run(tx, RosterRunStep::Ended, source, &run);
    Ok(true)
}

/// Records which people and classes of a batch a source brought: those that it created or invited, and those that
/// another source had brought.
pub fn record_origins(
    tx: &mut WriteTx<'_>,
    source: &RosterSourceId,
    records: &[ImportRecord],
    outcomes: &[ImportOutcome],
) -> Result<()> {
    let has_others = tx.count_roster_sources()? > 1;
    for (record, outcome) in records.iter().zip(outcomes) {
        let (object, external_id) = match record {
            ImportRecord::Person(person) => match &person.external_id {
                Some(id) => (RosterObject::Person, id),
                None => continue,
            },
            ImportRecord::Class(class) => (RosterObject::Class, &class.external_id),
            ImportRecord::Homeroom(homeroom) => (RosterObject::Homeroom, &homeroom.external_id),
            ImportRecord::RemovedClass(id) if outcome.status != RowStatus::Failed => {
                tx.delete_roster_origin(source, RosterObject::Class, id.as_str())?;
                continue;
            }
            _ => continue,
        };
        match outcome.status {
            RowStatus::Created | RowStatus::Invited => tx.insert_roster_origin(source, object, external_id.as_str())?,
            RowStatus::Updated | RowStatus::Skipped if has_others => {
                tx.share_roster_origin(source, object, external_id.as_str())?;
            }
            RowStatus::Updated | RowStatus::Skipped | RowStatus::Failed => {}
        }
    }
    Ok(())
}

fn record_run(tx: &mut WriteTx<'_>, step: RosterRunStep, source: RosterSource, run: &RosterRun) {
    let (source, run) = (Box::new(source), Box::new(run.clone()));
    tx.record(RosterChange::Run { source, run, step });
}

/// Queues the job of a run. Each has a key of its own, because the previous job of a run may still be ending.
fn open_job(tx: &mut WriteTx<'_>, source: &RosterSourceId, run: &RosterRunId, key: &str) -> Result<()> {
    tx.open_job(JobKind::RosterRun, key, &json!({"sourceId": source, "runId": run}))
        .map(drop)
}

fn next_night(tx: &mut WriteTx<'_>, source: &RosterSource) -> Result<Option<Timestamp>> {
    if !source.is_nightly {
        return Ok(None);
    }
    let hour = i8::try_from(source.nightly_hour).unwrap_or_default();
    let zone = tx.time_zone()?;
    Ok(Some(zone.next_hour(tx.now(), hour)))
}

/// Rejects addresses that must not be read.
fn check(source: &RosterSource, rosters: &Rosters) -> Result<()> {
    for (field, url) in [("url", &source.url), ("tokenUrl", &source.token_url)] {
        if !rosters.allows(url) {
            let message = "must begin with https:// and must not be a private address";
            return Err(Error::invalid(field, "address_not_allowed", message));
        }
    }
    Ok(())
}

fn is_open() -> Error {
    Error::Conflict {
        code: ErrorCode::RosterRunOpen,
        message: "The roster is being read already; wait until the run has ended.",
        path: "state",
        existing_id: None,
    }
}

fn has_changed() -> Error {
    Error::Conflict {
        code: ErrorCode::RosterRunChanged,
        message: "The run does not wait for this confirmation any more; look at it again.",
        path: "difference",
        existing_id: None,
    }
}
