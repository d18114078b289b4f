//! Roster sources of all organizations: nightly runs that are due, runs without a job, and client secrets.

use domain::id::{OrganizationId, RosterRunId, RosterSourceId};
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// Sources whose nightly run is due, longest overdue first.
    DUE = "SELECT s.organization_id, s.id FROM roster_sources s JOIN organizations o ON o.id = s.organization_id
        WHERE s.next_run_at <= $1 AND o.deleted_at IS NULL AND o.status = 'ACTIVE'
        ORDER BY s.next_run_at, s.id LIMIT $2";
    /// Unfinished runs whose job has ended.
    LOST = "SELECT r.organization_id, r.id FROM roster_runs r
        WHERE r.state IN ('QUEUED', 'RUNNING') AND NOT EXISTS (SELECT 1 FROM jobs j
            WHERE j.kind = 'ROSTER_RUN' AND j.entity_id = r.job_key AND j.organization_id = r.organization_id
                AND j.status IN ('QUEUED', 'RUNNING'))
        ORDER BY r.source_id LIMIT $1";
    /// The client secrets of all sources.
    SECRETS = "SELECT id, client_secret FROM roster_sources ORDER BY id";
    /// Replaces a client secret that was encrypted again, unless it was changed in the meantime.
    REPLACE_SECRET = "UPDATE roster_sources SET client_secret = $3 WHERE id = $1 AND client_secret = $2";
}

impl PlatformTx<'_> {
    /// Lists sources whose nightly run is due, at most `limit`.
    pub fn due_roster_sources(&mut self, now: Timestamp, limit: i64) -> Result<Vec<(Tenant, RosterSourceId)>> {
        self.fetch_all(&DUE, args![now, limit], |row| {
            let organization: OrganizationId = row.get("organization_id")?;
            Ok((Tenant(organization), row.get("id")?))
        })
    }

    /// Lists unfinished runs that no job will finish, at most `limit`.
    pub fn lost_roster_runs(&mut self, limit: i64) -> Result<Vec<(Tenant, RosterRunId)>> {
        self.fetch_all(&LOST, args![limit], |row| {
            let organization: OrganizationId = row.get("organization_id")?;
            Ok((Tenant(organization), row.get("id")?))
        })
    }

    /// Returns the encrypted client secrets of all sources.
    pub fn roster_secrets(&mut self) -> Result<Vec<(RosterSourceId, String)>> {
        self.fetch_all(&SECRETS, args![], |row| row.pair("id", "client_secret"))
    }

    /// Replaces a client secret unless it has changed.
    pub fn replace_roster_secret(&mut self, id: &RosterSourceId, old: &str, new: &str) -> Result<()> {
        self.execute(&REPLACE_SECRET, args![id, old, new])
    }
}
