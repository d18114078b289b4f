-- What happened, and what the service still has to do.

-- No foreign keys at all: the record outlives everything it names, the organization's purge excepted.
-- `action` has no CHECK: the record is fire-and-forget, and a word unknown here would silently cost an entry.
CREATE TABLE activity_logs (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    user_id         TEXT,
    -- Copied at the time of writing; an erasure replaces it.
    user_name       TEXT   NOT NULL,
    user_role       TEXT   NOT NULL,
    category        TEXT   NOT NULL,
    action          TEXT   NOT NULL,
    entity_type     TEXT   NOT NULL,
    entity_id       TEXT   NOT NULL,
    entity_name     TEXT,
    class_id        TEXT,
    course_id       TEXT,
    group_id        TEXT,
    assignment_id   TEXT,
    -- JSON object, at most 16 KiB.
    details         TEXT   NOT NULL DEFAULT '{}',
    -- What `search` looks into: user and entity name in lower case.
    search_key      TEXT   NOT NULL DEFAULT '',
    request_id      TEXT,
    created_at      BIGINT NOT NULL,
    CONSTRAINT activity_logs_category_check CHECK (category IN (
        'CLASS', 'HOMEROOM', 'SUBJECT', 'COURSE', 'GROUP', 'ASSIGNMENT',
        'SUBMISSION', 'DOCUMENT', 'FEEDBACK', 'USER', 'TENANT', 'AUTH'))
);
-- An admin's page; a teacher's page (own classes); one group; one person (also the erasure).
CREATE INDEX activity_logs_organization_idx ON activity_logs (organization_id, created_at, id);
CREATE INDEX activity_logs_class_idx ON activity_logs (class_id, organization_id, created_at, id);
CREATE INDEX activity_logs_group_idx ON activity_logs (group_id, organization_id, created_at, id);
CREATE INDEX activity_logs_user_idx ON activity_logs (user_id, organization_id, created_at, id);

-- Files whose rows are gone: written in the unit that removed the rows, worked off after the commit and retried.
-- No foreign key: a purged organization leaves its files here until they are gone too.
CREATE TABLE file_removals (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    file_key        TEXT   NOT NULL,
    attempts        BIGINT NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL,
    last_error      TEXT,
    created_at      BIGINT NOT NULL
);
CREATE INDEX file_removals_next_attempt_idx ON file_removals (next_attempt_at, id);

-- Signals between instances (PostgreSQL): one row for what one unit of work has to tell, written in that unit, named by
-- pg_notify, read by id, pruned after ten minutes. Readers fetch exactly the row they heard of, so an id serves where a
-- sequence would promise an order it cannot keep. organization_id is null for what concerns a session in every school.
CREATE TABLE event_outbox (
    id              TEXT   NOT NULL PRIMARY KEY,
    organization_id TEXT,
    -- JSON array of signals, in the order in which they are carried out.
    signals         TEXT   NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX event_outbox_created_idx ON event_outbox (created_at);

-- Work that must survive a restart: exports, purges, interrupted hand-ins and finishes. organization_id is null for
-- work on the platform, the purge of an organization included (entity_id names it). A runner claims a row by setting
-- lease_until and takes over rows whose lease ran out.
CREATE TABLE jobs (
    id              TEXT   NOT NULL PRIMARY KEY,
    organization_id TEXT,
    kind            TEXT   NOT NULL,
    -- What the job is about (a user, a topic, an organization).
    entity_id       TEXT,
    status          TEXT   NOT NULL DEFAULT 'QUEUED',
    payload         TEXT   NOT NULL DEFAULT '{}',
    result          TEXT,
    -- What it made, to be fetched until expires_at.
    file_key        TEXT,
    attempts        BIGINT NOT NULL DEFAULT 0,
    run_at          BIGINT NOT NULL,
    lease_until     BIGINT,
    last_error      TEXT,
    created_by_id   TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    finished_at     BIGINT,
    expires_at      BIGINT,
    CONSTRAINT jobs_status_check CHECK (status IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED')),
    CONSTRAINT jobs_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT jobs_created_by_fkey FOREIGN KEY (created_by_id) REFERENCES users (id)
);
-- One open job of a kind per thing.
CREATE UNIQUE INDEX jobs_open_key ON jobs (kind, entity_id)
    WHERE status IN ('QUEUED', 'RUNNING') AND entity_id IS NOT NULL;
CREATE INDEX jobs_run_idx ON jobs (status, run_at, id);
CREATE INDEX jobs_organization_idx ON jobs (organization_id, created_at, id);
CREATE INDEX jobs_expires_idx ON jobs (expires_at) WHERE expires_at IS NOT NULL;

-- Bytes a school keeps, counted anew by a task: the quota is asked on every upload and must not add up five tables.
CREATE TABLE storage_usages (
    organization_id TEXT   NOT NULL PRIMARY KEY,
    bytes           BIGINT NOT NULL DEFAULT 0,
    counted_at      BIGINT NOT NULL,
    CONSTRAINT storage_usages_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
