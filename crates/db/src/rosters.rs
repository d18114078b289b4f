//! Roster sources of an organization, their runs, and the people and classes that they brought (docs/rosters.md).

use domain::access::{MemberRole, PlatformRole};
use domain::id::{RosterRunId, RosterSourceId, UserId};
use domain::roster_source::{
    RosterCounts, RosterEffect, RosterEntry, RosterObject, RosterRun, RosterRunKind, RosterSource,
};
use domain::user::Person;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    SOURCE_COLUMNS = "s.organization_id, s.id, s.name, s.protocol, s.url, s.token_url, s.client_id, s.client_secret,
            s.scope, s.school_id, s.roles, s.ends_absent, s.leave_percent, s.is_nightly, s.nightly_hour, s.next_run_at, s.etag,
            s.created_at, s.updated_at";
    /// The columns of a run with the names of its users.
    SELECT_RUN = "SELECT r.id, r.source_id, r.kind, r.state, r.counts, r.applied, r.error_code, r.error_text, r.difference,
            r.confirmed, r.created_at, r.started_at, r.finished_at,
            a.id AS starter_id, a.name AS starter_name, a.image AS starter_image,
            b.id AS confirmer_id, b.name AS confirmer_name, b.image AS confirmer_image
        FROM roster_runs r LEFT JOIN users a ON a.id = r.started_by_id LEFT JOIN users b ON b.id = r.confirmed_by_id";
    /// The runs of a source beyond the newest ones that are kept.
    OLD_RUNS = "(SELECT o.id FROM roster_runs o WHERE o.organization_id = $1 AND o.source_id = $2
            AND o.state NOT IN ('QUEUED', 'RUNNING', 'WAITING')
            ORDER BY o.created_at DESC, o.id DESC LIMIT 1000 OFFSET $3)";
    /// No other source contains both the class or homeroom `c` and the person `p`.
    IS_OF_SOURCE_ALONE = "NOT EXISTS (SELECT 1 FROM roster_origins x JOIN roster_origins y
                ON y.organization_id = $1 AND y.object = 'PERSON' AND y.external_id = p.external_id
                    AND y.source_id = x.source_id
                WHERE x.organization_id = $1 AND x.object = c.object AND x.external_id = c.external_id
                    AND x.source_id <> $2)";
}

statements! {
    LIST = "SELECT {SOURCE_COLUMNS} FROM roster_sources s WHERE s.organization_id = $1 ORDER BY s.name, s.id";
    BY_ID = "SELECT {SOURCE_COLUMNS} FROM roster_sources s WHERE s.organization_id = $1 AND s.id = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM roster_sources WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM roster_sources WHERE organization_id = $1";
    INSERT = "INSERT INTO roster_sources (organization_id, id, name, protocol, url, token_url, client_id, client_secret,
            scope, school_id, roles, ends_absent, leave_percent, is_nightly, nightly_hour, next_run_at, created_at,
            updated_at)
        VALUES ($1, :id, :name, :protocol, :url, :token_url, :client_id, :client_secret, :scope, :school_id, :roles,
            :ends_absent, :leave_percent, :is_nightly, :nightly_hour, :next_run_at, :created_at, :created_at)";
    UPDATE = "UPDATE roster_sources SET name = :name, protocol = :protocol, url = :url, token_url = :token_url,
            client_id = :client_id, client_secret = :client_secret, scope = :scope, school_id = :school_id,
            roles = :roles, ends_absent = :ends_absent, leave_percent = :leave_percent, is_nightly = :is_nightly,
            nightly_hour = :nightly_hour, next_run_at = :next_run_at, etag = :etag, updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
    DELETE_ENTRIES_OF_SOURCE = "DELETE FROM roster_run_entries WHERE organization_id = $1
        AND run_id IN (SELECT r.id FROM roster_runs r WHERE r.organization_id = $1 AND r.source_id = $2)";
    DELETE_RUNS = "DELETE FROM roster_runs WHERE organization_id = $1 AND source_id = $2";
    DELETE_ORIGINS = "DELETE FROM roster_origins WHERE organization_id = $1 AND source_id = $2";
    DELETE = "DELETE FROM roster_sources WHERE organization_id = $1 AND id = $2";
    /// Stores the version of the roster that was applied completely.
    SET_ETAG = "UPDATE roster_sources SET etag = $3 WHERE organization_id = $1 AND id = $2";
    /// A page of the runs of a source, newest first.
    RUNS = "{SELECT_RUN} WHERE r.organization_id = $1 AND r.source_id = $2 AND (r.created_at, r.id) < ($3, $4)
        ORDER BY r.created_at DESC, r.id DESC LIMIT $5";
    RUN = "{SELECT_RUN} WHERE r.organization_id = $1 AND r.source_id = $2 AND r.id = $3";
    RUN_BY_ID = "{SELECT_RUN} WHERE r.organization_id = $1 AND r.id = $2";
    /// Inserts a run, unless the source has an unfinished one.
    INSERT_RUN = "INSERT INTO roster_runs (organization_id, id, source_id, kind, state, counts, applied, job_key, started_by_id,
            created_at)
        VALUES ($1, $2, $3, $4, 'QUEUED', $5, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    SET_JOB = "UPDATE roster_runs SET job_key = $3 WHERE organization_id = $1 AND id = $2";
    /// Stores what an attempt has applied so far.
    SET_APPLIED = "UPDATE roster_runs SET applied = $3 WHERE organization_id = $1 AND id = $2 AND state = 'RUNNING'";
    /// Discards the waiting runs of a source, which a newer run replaces.
    REPLACE_WAITING = "UPDATE roster_runs SET state = 'DISCARDED', finished_at = $3
        WHERE organization_id = $1 AND source_id = $2 AND state = 'WAITING'";
    UPDATE_RUN = "UPDATE roster_runs SET state = :state, counts = :counts, error_code = :error_code,
            error_text = :error_text, difference = :difference, confirmed = :confirmed,
            confirmed_by_id = :confirmed_by_id, started_at = :started_at, finished_at = :finished_at
        WHERE organization_id = $1 AND id = :id AND state IN ('QUEUED', 'RUNNING', 'WAITING')";
    /// Deletes the entries of the runs of a source that do not wait for a confirmation.
    DELETE_OLD_ENTRIES = "DELETE FROM roster_run_entries WHERE organization_id = $1
        AND run_id IN (SELECT r.id FROM roster_runs r
            WHERE r.organization_id = $1 AND r.source_id = $2 AND r.state <> 'WAITING')";
    DELETE_ENTRIES_OF_OLD_RUNS = "DELETE FROM roster_run_entries WHERE organization_id = $1 AND run_id IN {OLD_RUNS}";
    DELETE_OLD_RUNS = "DELETE FROM roster_runs WHERE organization_id = $1 AND id IN {OLD_RUNS}";
    INSERT_ENTRY = "INSERT INTO roster_run_entries (organization_id, run_id, effect, place, object, external_id, name,
            problem)
        VALUES ($1, :run_id, :effect, :place, :object, :external_id, :name, :problem) ON CONFLICT DO NOTHING";
    /// A page of the entries of a run with one effect.
    ENTRIES = "SELECT e.effect, e.place, e.object, e.external_id, e.name, e.problem FROM roster_run_entries e
        WHERE e.organization_id = $1 AND e.run_id = $2 AND e.effect = $3 AND e.place > $4 ORDER BY e.place LIMIT $5";
    /// The members whom a source brought. Those without a membership are null.
    BROUGHT_PEOPLE = "SELECT o.external_id, u.name, m.role AS member_role, u.role AS platform_role,
            EXISTS (SELECT 1 FROM roster_origins x WHERE x.organization_id = $1 AND x.object = 'PERSON'
                AND x.external_id = o.external_id AND x.source_id <> $2) AS is_shared
        FROM roster_origins o
        LEFT JOIN members m ON m.organization_id = o.organization_id AND m.external_id = o.external_id
        LEFT JOIN users u ON u.id = m.user_id
        WHERE o.organization_id = $1 AND o.source_id = $2 AND o.object = 'PERSON' AND o.external_id > $3
        ORDER BY o.external_id LIMIT $4";
    /// The classes that a source brought.
    BROUGHT_CLASSES = "SELECT o.external_id, k.name, k.status <> 'ARCHIVED' AS is_open,
            EXISTS (SELECT 1 FROM roster_origins x WHERE x.organization_id = $1 AND x.object = 'CLASS'
                AND x.external_id = o.external_id AND x.source_id <> $2) AS is_shared
        FROM roster_origins o
        LEFT JOIN classes k ON k.organization_id = o.organization_id AND k.external_id = o.external_id
        WHERE o.organization_id = $1 AND o.source_id = $2 AND o.object = 'CLASS' AND o.external_id > $3
        ORDER BY o.external_id LIMIT $4";
    /// The enrollments by an import of people whom a source brought in classes that it brought.
    BROUGHT_ENROLLMENTS = "SELECT c.external_id AS class_id, p.external_id AS person_id
        FROM roster_origins c
        JOIN classes k ON k.organization_id = c.organization_id AND k.external_id = c.external_id
        JOIN class_enrollments e ON e.organization_id = c.organization_id AND e.class_id = k.id
        JOIN members m ON m.organization_id = c.organization_id AND m.user_id = e.student_id
        JOIN roster_origins p ON p.organization_id = c.organization_id AND p.source_id = c.source_id
            AND p.object = 'PERSON' AND p.external_id = m.external_id
        WHERE c.organization_id = $1 AND c.source_id = $2 AND c.object = 'CLASS' AND c.external_id >= $3
            AND (c.external_id > $3 OR p.external_id > $4)
            AND e.enrolled_by = 'import' AND k.status <> 'ARCHIVED' AND {IS_OF_SOURCE_ALONE}
        ORDER BY c.external_id, p.external_id LIMIT $5";
    /// The enrollments of people whom a source brought in homerooms that it brought.
    BROUGHT_HOMEROOM_ENROLLMENTS = "SELECT c.external_id AS class_id, p.external_id AS person_id
        FROM roster_origins c
        JOIN homerooms h ON h.organization_id = c.organization_id AND h.external_id = c.external_id
        JOIN homeroom_enrollments e ON e.organization_id = c.organization_id AND e.homeroom_id = h.id
        JOIN members m ON m.organization_id = c.organization_id AND m.user_id = e.student_id
        JOIN roster_origins p ON p.organization_id = c.organization_id AND p.source_id = c.source_id
            AND p.object = 'PERSON' AND p.external_id = m.external_id
        WHERE c.organization_id = $1 AND c.source_id = $2 AND c.object = 'HOMEROOM' AND c.external_id >= $3
            AND (c.external_id > $3 OR p.external_id > $4) AND {IS_OF_SOURCE_ALONE}
        ORDER BY c.external_id, p.external_id LIMIT $5";
    /// The teachers whom a source brought and whom an import added as co-teachers to classes that the source brought.
    BROUGHT_CO_TEACHERS = "SELECT c.external_id AS class_id, p.external_id AS person_id
        FROM roster_origins c
        JOIN classes k ON k.organization_id = c.organization_id AND k.external_id = c.external_id
        JOIN class_teachers t ON t.organization_id = c.organization_id AND t.class_id = k.id
        JOIN members m ON m.organization_id = c.organization_id AND m.user_id = t.user_id
        JOIN roster_origins p ON p.organization_id = c.organization_id AND p.source_id = c.source_id
            AND p.object = 'PERSON' AND p.external_id = m.external_id
        WHERE c.organization_id = $1 AND c.source_id = $2 AND c.object = 'CLASS' AND c.external_id >= $3
            AND (c.external_id > $3 OR p.external_id > $4)
            AND t.added_by = 'import' AND m.role = 'teacher' AND k.status <> 'ARCHIVED' AND {IS_OF_SOURCE_ALONE}
        ORDER BY c.external_id, p.external_id LIMIT $5";
    INSERT_ORIGIN = "INSERT INTO roster_origins (organization_id, source_id, object, external_id, created_at)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    /// Adds a source to an object that another source brought.
    SHARE_ORIGIN = "INSERT INTO roster_origins (organization_id, source_id, object, external_id, created_at)
        SELECT organization_id, CAST($2 AS TEXT), object, external_id, CAST($5 AS BIGINT) FROM roster_origins
        WHERE organization_id = $1 AND object = $3 AND external_id = $4 AND source_id <> $2 LIMIT 1
        ON CONFLICT DO NOTHING";
    DELETE_ORIGIN = "DELETE FROM roster_origins
        WHERE organization_id = $1 AND source_id = $2 AND object = $3 AND external_id = $4";
    /// The queued job of a source is no longer needed.
    DELETE_JOB = "DELETE FROM jobs WHERE organization_id = $1 AND kind = 'ROSTER_RUN' AND status = 'QUEUED'
        AND entity_id IN (SELECT r.job_key FROM roster_runs r
            WHERE r.organization_id = $1 AND r.source_id = $2 AND r.state = 'QUEUED')";
}

/// Rows of one page of [`ReadTx::brought_people`] and the like.
pub const ORIGIN_PAGE: i64 = 1_000;

/// A person whom a source brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtPerson {
    pub external_id: String,
    /// The membership; `None` if the person was invited, or was removed in the meantime.
    pub member: Option<(String, MemberRole, PlatformRole)>,
    /// Whether another source contains the person, too.
    pub is_shared: bool,
}

/// A class that a source brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtClass {
    pub external_id: String,
    /// The name; `None` if the class was deleted.
    pub name: Option<String>,
    /// Whether the class is not archived.
    pub is_open: bool,
    pub is_shared: bool,
}

/// What an enrollment that a source brought is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroughtEnrollmentKind {
    /// A student of a class.
    Class,
    /// A co-teacher of a class.
    CoTeacher,
    /// A student of a homeroom.
    Homeroom,
}

/// An enrollment that a source brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BroughtEnrollment {
    pub class: String,
    pub person: String,
}

impl ReadTx<'_> {
    /// Lists the sources of the organization by name.
    pub fn roster_sources(&mut self) -> Result<Vec<RosterSource>> {
        self.fetch_all(&LIST, args![], source)
    }

    pub fn roster_source(&mut self, id: &RosterSourceId) -> Result<RosterSource> {
        self.fetch_one(&BY_ID, args![id], source)
    }

    pub fn count_roster_sources(&mut self) -> Result<i64> {
        self.fetch_one(&COUNT, args![], |row| row.only())
    }

    /// Returns a page of the runs of a source, newest first.
    pub fn roster_runs(&mut self, source: &RosterSourceId, window: &Window<i64>) -> Result<Slice<RosterRun, i64>> {
        let (time, id) = window.newest_before();
        let rows = self.fetch_all(&RUNS, args![source, time, id, window.rows()], run)?;
        Ok(window.cut(rows, |found| Position {
            key: found.created_at.as_millis(),
            id: found.id.to_string(),
        }))
    }

    pub fn roster_run(&mut self, source: &RosterSourceId, id: &RosterRunId) -> Result<RosterRun> {
        self.fetch_one(&RUN, args![source, id], run)
    }

    /// Returns a page of the entries of a run.
    pub fn roster_entries(
        &mut self,
        id: &RosterRunId,
        effect: RosterEffect,
        window: &Window<i64>,
    ) -> Result<Slice<RosterEntry, i64>> {
        let after = window.after.as_ref().map_or(-1, |position| position.key);
        let rows = self.fetch_all(&ENTRIES, args![id, effect, after, window.rows()], entry)?;
        Ok(window.cut(rows, |found| Position {
            key: found.place,
            id: String::new(),
        }))
    }

    /// Returns the next people whom a source brought, by external id.
    pub fn brought_people(&mut self, source: &RosterSourceId, after: &str) -> Result<Vec<BroughtPerson>> {
        self.fetch_all(&BROUGHT_PEOPLE, args![source, after, ORIGIN_PAGE], |row| {
            let name: Option<String> = row.get("name")?;
            let role: Option<MemberRole> = row.get::<Option<MemberRole>>("member_role")?;
            let platform_role: Option<PlatformRole> = row.get::<Option<PlatformRole>>("platform_role")?;
            from_row!(row => BroughtPerson {
                external_id, is_shared,
                member: match (name, role, platform_role) {
                    (Some(name), Some(role), Some(platform_role)) => Some((name, role, platform_role)),
                    _ => None,
                },
            })
        })
    }

    /// Returns the next classes that a source brought, by external id.
    pub fn brought_classes(&mut self, source: &RosterSourceId, after: &str) -> Result<Vec<BroughtClass>> {
        self.fetch_all(&BROUGHT_CLASSES, args![source, after, ORIGIN_PAGE], |row| {
            from_row!(row => BroughtClass {
                external_id, name, is_shared,
                is_open: row.get::<Option<bool>>("is_open")?.unwrap_or(false),
            })
        })
    }

    /// Returns the next enrollments of one kind that a source brought, by class and person.
    pub fn brought_enrollments(
        &mut self,
        source: &RosterSourceId,
        kind: BroughtEnrollmentKind,
        after: &BroughtEnrollment,
    ) -> Result<Vec<BroughtEnrollment>> {
        let statement = match kind {
            BroughtEnrollmentKind::Class => &BROUGHT_ENROLLMENTS,
            BroughtEnrollmentKind::CoTeacher => &BROUGHT_CO_TEACHERS,
            BroughtEnrollmentKind::Homeroom => &BROUGHT_HOMEROOM_ENROLLMENTS,
        };
        self.fetch_all(
            statement,
            args![source, after.class, after.person, ORIGIN_PAGE],
            |row| from_row!(row => BroughtEnrollment { class = "class_id", person = "person_id" }),
        )
    }
}

impl WriteTx<'_> {
    /// Returns a source, locked until the end of the transaction.
    pub fn lock_roster_source(&mut self, id: &RosterSourceId) -> Result<RosterSource> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<RosterSourceId>("id"))?;
        self.roster_source(id)
    }

    pub fn insert_roster_source(&mut self, new: &RosterSource) -> Result<()> {
        self.execute_named(
            &INSERT,
            named![new =>
                id, name, protocol, url, token_url, client_id, client_secret, scope, school_id, roles, ends_absent,
                leave_percent, is_nightly, nightly_hour, next_run_at, created_at,
            ],
        )
    }

    pub fn update_roster_source(&mut self, source: &RosterSource) -> Result<()> {
        self.execute_named(
            &UPDATE,
            named![source =>
                id, name, protocol, url, token_url, client_id, client_secret, scope, school_id, roles, ends_absent,
                leave_percent, is_nightly, nightly_hour, next_run_at, etag, updated_at,
            ],
        )
    }

    /// Stores the version of the roster that was applied completely.
    pub fn set_roster_etag(&mut self, id: &RosterSourceId, etag: Option<&str>) -> Result<()> {
        self.execute(&SET_ETAG, args![id, etag])
    }

    /// Deletes a source with its runs. The people and classes that it brought remain.
    pub fn delete_roster_source(&mut self, id: &RosterSourceId) -> Result<()> {
        self.execute(&DELETE_JOB, args![id])?;
        for statement in [&DELETE_ENTRIES_OF_SOURCE, &DELETE_RUNS, &DELETE_ORIGINS, &DELETE] {
            self.execute(statement, args![id])?;
        }
        Ok(())
    }

    /// Inserts a queued run; returns false if the source has an unfinished one.
    pub fn insert_roster_run(
        &mut self,
        id: &RosterRunId,
        (source, job): (&RosterSourceId, &str),
        kind: RosterRunKind,
    ) -> Result<bool> {
        let (by, now) = (self.actor().user.clone(), self.now());
        let counts = serde_json::to_string(&RosterCounts::default())?;
        Ok(self.execute_counted(&INSERT_RUN, args![id, source, kind, counts, job, by, now])? > 0)
    }

    /// Sets the key of the job of a run.
    pub fn set_roster_job(&mut self, id: &RosterRunId, job: &str) -> Result<()> {
        self.execute(&SET_JOB, args![id, job])
    }

    /// Stores what an attempt of a run has applied so far.
    pub fn set_roster_progress(&mut self, id: &RosterRunId, applied: RosterCounts) -> Result<()> {
        let applied = serde_json::to_string(&applied)?;
        self.execute(&SET_APPLIED, args![id, applied])
    }

    /// Discards the waiting runs of a source.
    pub fn replace_waiting_roster_runs(&mut self, source: &RosterSourceId) -> Result<()> {
        let now = self.now();
        self.execute(&REPLACE_WAITING, args![source, now])
    }

    /// Returns a run by its id alone.
    pub fn roster_run_by_id(&mut self, id: &RosterRunId) -> Result<RosterRun> {
        self.fetch_one(&RUN_BY_ID, args![id], run)
    }

    /// Stores a run that has not ended; returns false if it has, or was deleted with its source.
    pub fn update_roster_run(&mut self, run: &RosterRun) -> Result<bool> {
        let counts = serde_json::to_string(&run.counts)?;
        let confirmed_by = run.confirmed_by.as_ref().map(|person| &person.id);
        self.execute_conditional(
            &UPDATE_RUN,
            named![run =>
                id, state, error_code, error_text, difference, confirmed, started_at, finished_at,
                counts: counts,
                confirmed_by_id: confirmed_by,
            ],
        )
    }

    /// Deletes the entries of runs that do not wait, and the runs beyond the newest `kept`.
    pub fn trim_roster_runs(&mut self, source: &RosterSourceId, kept: i64) -> Result<()> {
        self.execute(&DELETE_OLD_ENTRIES, args![source])?;
        self.execute(&DELETE_ENTRIES_OF_OLD_RUNS, args![source, kept])?;
        self.execute(&DELETE_OLD_RUNS, args![source, kept])
    }

    pub fn insert_roster_entry(&mut self, run: &RosterRunId, entry: &RosterEntry) -> Result<()> {
        self.execute_named(
            &INSERT_ENTRY,
            named![entry => effect, place, object, external_id, name, problem, run_id: run],
        )
    }

    /// Records that a source brought an object.
    pub fn insert_roster_origin(
        &mut self,
        source: &RosterSourceId,
        object: RosterObject,
        external_id: &str,
    ) -> Result<()> {
        let now = self.now();
        self.execute(&INSERT_ORIGIN, args![source, object, external_id, now])
    }

    /// Records that a source contains an object that another source brought.
    pub fn share_roster_origin(
        &mut self,
        source: &RosterSourceId,
        object: RosterObject,
        external_id: &str,
    ) -> Result<()> {
        let now = self.now();
        self.execute(&SHARE_ORIGIN, args![source, object, external_id, now])
    }

    pub fn delete_roster_origin(
        &mut self,
        source: &RosterSourceId,
        object: RosterObject,
        external_id: &str,
    ) -> Result<()> {
        self.execute(&DELETE_ORIGIN, args![source, object, external_id])
    }
}

fn source(row: &Columns<'_>) -> Result<RosterSource> {
    from_row!(row => RosterSource {
        organization_id, id, name, protocol, url, token_url, client_id, client_secret, scope, school_id, roles,
        ends_absent, leave_percent, is_nightly, nightly_hour, next_run_at, etag, created_at, updated_at,
    })
}

fn run(row: &Columns<'_>) -> Result<RosterRun> {
    let person = |id: Option<UserId>, name: &str, image: &str| -> Result<Option<Person>> {
        let Some(id) = id else { return Ok(None) };
        Ok(Some(Person {
            id,
            name: row.get::<Option<String>>(name)?.unwrap_or_default(),
            image: row.get(image)?,
        }))
    };
    from_row!(row => RosterRun {
        id, source_id, kind, state, error_code, error_text, difference, confirmed, created_at, started_at, finished_at,
        counts: row.json("counts")?,
        applied: row.json("applied")?,
        started_by: person(row.get("starter_id")?, "starter_name", "starter_image")?,
        confirmed_by: person(row.get("confirmer_id")?, "confirmer_name", "confirmer_image")?,
    })
}

fn entry(row: &Columns<'_>) -> Result<RosterEntry> {
    from_row!(row => RosterEntry { effect, place, object, external_id, name, problem })
}
