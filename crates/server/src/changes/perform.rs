//! The only place that opens and ends a unit of work: begin, act, log, tell, commit. An error or a panic rolls back and
//! nothing is told; once queued, the unit no longer depends on the request that asked for it.

use super::{broadcast, cleanup, log, sessions};
use crate::error::Result;
use crate::live::bus::Bus;
use crate::store::platform::{PlatformProof, PlatformWork};
use crate::store::{AfterCommit, Standpoint, Store, Work};

/// Runs `act` as one unit in the organization of `standpoint`.
pub async fn perform<T: Send + 'static>(
    store: &Store,
    bus: &Bus,
    standpoint: Standpoint,
    act: impl FnMut(&mut Work<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let bus = bus.clone();
    store.write(standpoint, act, move |work| conclude(work, &bus)).await
}

/// Runs `act` as one unit across organizations: what people do with their accounts and sessions. What it recorded within
/// organizations is told there.
pub async fn perform_platform<T: Send + 'static>(
    store: &Store,
    bus: &Bus,
    proof: PlatformProof,
    act: impl FnMut(&mut PlatformWork<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let bus = bus.clone();
    let conclude_platform = move |work: &mut PlatformWork<'_>| {
        let changes = work.take_changes();
        let after = bus.carry_platform(work, changes.iter().flat_map(broadcast::orders_of_session).collect())?;
        for change in &changes {
            if let Err(error) = sessions::record(work, change) {
                tracing::error!(error = format!("{error:?}"), "an activity record was lost");
            }
        }
        let within = work.conclude_within(|work| conclude(work, &bus))?;
        let all: AfterCommit = Box::new(move || std::iter::once(after).chain(within).for_each(|after| after()));
        Ok(all)
    };
    store.platform_unit(proof, act, conclude_platform).await
}

fn conclude(work: &mut Work<'_>, bus: &Bus) -> Result<AfterCommit> {
    let changes = work.take_changes();
    for key in changes.iter().flat_map(cleanup::removed_files) {
        work.insert_file_removal(key)?;
    }
    work.note_stored()?;
    let (actor, now) = (work.actor().clone(), work.now());
    let signals: Vec<_> = changes
        .iter()
        .flat_map(|change| broadcast::signals(change, &actor, work.organization(), now))
        .collect();
    let after = bus.carry(work, signals)?;
    // The log comes last and in a savepoint: its failure is traced and does not fail the request (contract 11.16).
    for entry in changes.iter().filter_map(log::entry) {
        if let Err(error) = work.attempt(|work| work.insert_log(&entry)) {
            tracing::error!(
                error = format!("{error:?}"),
                action = entry.action.as_str(),
                "an activity record was lost"
            );
        }
    }
    Ok(after)
}
