//! Runs all transactions of the service: begin, act, log, emit events, commit. An error or a panic rolls back and
//! emits nothing. Once queued, a transaction does not depend on the request that started it.

use std::ops::Deref;

use domain::change::Change;
use domain::version::{IfMatch, Version, VersionedObject};

use super::{activity_log, events, sign_in_log, versions};
use crate::actions::take_over::take_over;
use adapters::mailer::Mailer;
use common::error::{Error, Result};
use db::platform::{CrossTenantReason, PlatformWriteTx};
use db::{AfterCommit, RequestContext, Store, WriteTx};
use realtime::bus::EventBus;

/// The database and the event bus: reads like a [`Store`], and writes with log entries and events. Clones share both.
#[derive(Clone)]
pub struct Transactor {
    store: Store,
    bus: EventBus,
}

impl Deref for Transactor {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Transactor {
    pub fn new(store: Store, bus: EventBus) -> Self {
        Self { store, bus }
    }

    pub fn bus(&self) -> &EventBus {
        &self.bus
    }

    /// Runs `act` as one transaction in the organization of `context`.
    pub async fn write<T: Send + 'static>(
        &self,
        context: RequestContext,
        mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let act = move |tx: &mut WriteTx<'_>| {
            let output = act(tx)?;
            versions::increment(tx)?;
            Ok(output)
        };
        let bus = self.bus.clone();
        self.store
            .write_with(context, act, move |tx| before_commit(tx, &bus))
            .await
    }

    /// Runs `act` as one transaction and returns the new version of the object. If the precondition fails, nothing
    /// changes. A missing object, a missing permission and a lock are reported first; a conflict only if the precondition
    /// holds.
    pub async fn write_object<T: Send + 'static>(
        &self,
        context: RequestContext,
        changing: ConditionalChange,
        mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<(T, Version)> {
        let bus = self.bus.clone();
        let act = move |tx: &mut WriteTx<'_>| {
            let ConditionalChange {
                object,
                condition,
                is_deletion,
            } = &changing;
            let is_met = |version: Option<Version>| {
                let condition = condition.as_ref().zip(version);
                condition.is_none_or(|(condition, version)| condition.is_met_by(version))
            };
            // Rows that `act` deletes and rows of users, whose version is raised by statements, are locked first. In all
            // other cases `act` acquires its locks in its own order, and the version is compared again under that lock.
            let is_locked_first = *is_deletion || matches!(object, VersionedObject::User(_));
            let is_met_before = match condition {
                None => true,
                Some(_) if is_locked_first => is_met(tx.version_locked(object)?),
                Some(_) => is_met(tx.version(object)?),
            };
            let output = match act(tx) {
                Err(error) if !is_met_before && error.is_conflict() => return Err(Error::precondition_failed()),
                outcome => outcome?,
            };
            if !is_met_before || condition.is_some() && !is_locked_first && !is_met(tx.version_locked(object)?) {
                return Err(Error::precondition_failed());
            }
            versions::increment(tx)?;
            let version = tx.version(object)?.unwrap_or(Version::FIRST);
            Ok((output, version))
        };
        self.store
            .write_with(context, act, move |tx| before_commit(tx, &bus))
            .await
    }

    /// Runs `act` as one transaction across organizations: what users do with their accounts and sessions. Changes
    /// recorded within an organization are emitted there.
    pub async fn write_platform<T: Send + 'static>(
        &self,
        proof: CrossTenantReason,
        act: impl FnMut(&mut PlatformWriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let bus = self.bus.clone();
        let before_platform_commit = move |tx: &mut PlatformWriteTx<'_>| {
            let changes = tx.take_changes();
            let after = bus.publish_platform(tx, changes.iter().flat_map(events::session_signals).collect())?;
            for change in &changes {
                if let Err(error) = sign_in_log::record(tx, change) {
                    tracing::error!(error = format!("{error:?}"), "activity log entry lost");
                }
            }
            let within = tx.for_each_changed_tenant(|tx| {
                versions::increment(tx)?;
                before_commit(tx, &bus)
            })?;
            let all: AfterCommit = Box::new(move || std::iter::once(after).chain(within).for_each(|after| after()));
            Ok(all)
        };
        self.store.platform_write_with(proof, act, before_platform_commit).await
    }

    /// Runs `act` as one transaction in the organization of `context`, after taking over the accounts of these
    /// addresses (lower case) where the rules allow it: before their membership is inserted.
    pub async fn write_taking_over<T: Send + 'static>(
        &self,
        context: RequestContext,
        emails: Vec<String>,
        mail: Option<Mailer>,
        mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let look = self.read(context.clone(), move |tx| tx.due_take_overs(&emails));
        let due = look.await?;
        if due.is_empty() {
            return self.write(context, act).await;
        }
        self.write_platform(CrossTenantReason::TakeOver, move |tx| {
            for email in &due {
                take_over(tx, &context, email, mail.as_ref())?;
            }
            tx.write_in_tenant(context.clone(), |tx| act(tx))
        })
        .await
    }
}

/// The object that a request changes, and its precondition.
#[derive(Debug, Clone)]
pub struct ConditionalChange {
    pub object: VersionedObject,
    /// The precondition of the request, if it has one.
    pub condition: Option<IfMatch>,
    /// Whether `act` deletes the object, so that it has no version afterwards.
    pub is_deletion: bool,
}

fn before_commit(tx: &mut WriteTx<'_>, bus: &EventBus) -> Result<AfterCommit> {
    let changes = tx.take_changes();
    for key in changes.iter().flat_map(Change::removed_files) {
        tx.insert_file_removal(key)?;
    }
    tx.record_storage_change()?;
    let (actor, now) = (tx.actor().clone(), tx.now());
    let signals: Vec<_> = changes
        .iter()
        .flat_map(|change| events::signals(change, &actor, tx.organization(), now))
        .collect();
    let mut after = bus.publish(tx, signals)?;
    if changes.iter().any(Change::deletes_documents) {
        after = bus.close_editors_after(after);
    }
    // The log entries come last and in a savepoint: a failure is traced and does not fail the request.
    for entry in changes.iter().filter_map(activity_log::entry) {
        if let Err(error) = tx.savepoint(|tx| tx.insert_log(&entry)) {
            tracing::error!(
                error = format!("{error:?}"),
                action = entry.action.as_str(),
                "activity log entry lost"
            );
        }
    }
    Ok(after)
}
