-- Rosters: servers with the people and classes of a school, which are read every night or on demand (docs/rosters.md).
CREATE TABLE roster_sources (
    organization_id TEXT    NOT NULL REFERENCES organizations (id),
    id              TEXT    NOT NULL PRIMARY KEY,
    name            TEXT    NOT NULL,
    protocol        TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    token_url       TEXT    NOT NULL,
    client_id       TEXT    NOT NULL,
    -- Encrypted with the id of the row.
    client_secret   TEXT    NOT NULL,
    scope           TEXT    NOT NULL,
    -- The id of the school at the server; empty if the server has one school only.
    school_id       TEXT    NOT NULL,
    roles           TEXT    NOT NULL,
    -- Whether absent people leave and absent classes are archived.
    ends_absent     BOOLEAN NOT NULL,
    -- A run that would end more than this share waits for an administrator.
    leave_percent   BIGINT  NOT NULL,
    is_nightly      BOOLEAN NOT NULL,
    nightly_hour    BIGINT  NOT NULL,
    -- When the next nightly run is due.
    next_run_at     BIGINT,
    -- The version of the roster that was applied completely.
    etag            TEXT,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    CONSTRAINT roster_sources_organization_key UNIQUE (organization_id, id)
);
CREATE INDEX roster_sources_due_idx ON roster_sources (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE roster_runs (
    organization_id  TEXT   NOT NULL,
    id               TEXT   NOT NULL PRIMARY KEY,
    source_id        TEXT   NOT NULL,
    kind             TEXT   NOT NULL,
    state            TEXT   NOT NULL,
    -- Number of rows by result, as JSON.
    counts           TEXT   NOT NULL,
    -- What earlier attempts of an interrupted run have applied, as JSON.
    applied          TEXT   NOT NULL,
    -- `entity_id` of the job of the run.
    job_key          TEXT   NOT NULL,
    error_code       TEXT,
    error_text       TEXT,
    -- Identifies the roster and the people who would leave; a confirmation is valid for this difference only.
    difference       TEXT,
    confirmed        TEXT,
    started_by_id    TEXT,
    confirmed_by_id  TEXT,
    created_at       BIGINT NOT NULL,
    started_at       BIGINT,
    finished_at      BIGINT,
    CONSTRAINT roster_runs_organization_key UNIQUE (organization_id, id),
    CONSTRAINT roster_runs_source_fkey FOREIGN KEY (organization_id, source_id)
        REFERENCES roster_sources (organization_id, id)
);
-- One unfinished run of a source at once.
CREATE UNIQUE INDEX roster_runs_open_key ON roster_runs (source_id) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX roster_runs_source_idx ON roster_runs (organization_id, source_id, created_at, id);
CREATE INDEX roster_runs_started_idx ON roster_runs (started_by_id) WHERE started_by_id IS NOT NULL;
CREATE INDEX roster_runs_confirmed_idx ON roster_runs (confirmed_by_id) WHERE confirmed_by_id IS NOT NULL;

-- Who joins, changes and leaves in a run, in bounded number. Only the latest run of a source has entries.
CREATE TABLE roster_run_entries (
    organization_id TEXT   NOT NULL,
    run_id          TEXT   NOT NULL,
    effect          TEXT   NOT NULL,
    place           BIGINT NOT NULL,
    object          TEXT   NOT NULL,
    external_id     TEXT   NOT NULL,
    name            TEXT   NOT NULL,
    problem         TEXT,
    CONSTRAINT roster_run_entries_key PRIMARY KEY (organization_id, run_id, effect, place),
    CONSTRAINT roster_run_entries_run_fkey FOREIGN KEY (organization_id, run_id)
        REFERENCES roster_runs (organization_id, id)
);
CREATE INDEX roster_run_entries_person_idx ON roster_run_entries (organization_id, external_id);
CREATE INDEX roster_run_entries_name_idx ON roster_run_entries (name);

-- The people and classes that a source brought. Only these leave when the source no longer contains them.
CREATE TABLE roster_origins (
    organization_id TEXT   NOT NULL,
    source_id       TEXT   NOT NULL,
    object          TEXT   NOT NULL,
    external_id     TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT roster_origins_key PRIMARY KEY (organization_id, object, external_id, source_id),
    CONSTRAINT roster_origins_source_fkey FOREIGN KEY (organization_id, source_id)
        REFERENCES roster_sources (organization_id, id)
);
CREATE INDEX roster_origins_source_idx ON roster_origins (organization_id, source_id, object, external_id);
