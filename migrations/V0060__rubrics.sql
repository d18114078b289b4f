-- Criteria with levels by which work is assessed. The criteria are JSON, because they are read and written as a whole.
CREATE TABLE rubrics (
    organization_id TEXT    NOT NULL REFERENCES organizations (id),
    id              TEXT    NOT NULL PRIMARY KEY,
    owner_id        TEXT    NOT NULL REFERENCES users (id),
    title           TEXT    NOT NULL,
    title_key       TEXT    NOT NULL,
    is_shared       BOOLEAN NOT NULL DEFAULT FALSE,
    criteria        TEXT    NOT NULL,
    criterion_count BIGINT  NOT NULL,
    -- The most points of all criteria; null if none has points.
    max_points      DOUBLE PRECISION,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL
);
CREATE INDEX rubrics_organization_idx ON rubrics (organization_id, title_key, id);
CREATE INDEX rubrics_owner_idx ON rubrics (owner_id, organization_id);

-- The rubric of a topic is a copy: later edits of the rubric do not change it.
CREATE TABLE assignment_rubrics (
    organization_id TEXT    NOT NULL,
    assignment_id   TEXT    NOT NULL PRIMARY KEY,
    -- The rubric it was copied from; it may be deleted.
    rubric_id       TEXT,
    title           TEXT    NOT NULL,
    criteria        TEXT    NOT NULL,
    -- Whether students see the criteria before their grade is published.
    is_shown        BOOLEAN NOT NULL DEFAULT TRUE,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    CONSTRAINT assignment_rubrics_assignment_fkey FOREIGN KEY (assignment_id, organization_id)
        REFERENCES assignments (id, organization_id)
);
CREATE INDEX assignment_rubrics_organization_idx ON assignment_rubrics (organization_id, assignment_id);

-- The filled criteria of a grade, as JSON; null if there are none.
ALTER TABLE grades ADD COLUMN rubric TEXT;
ALTER TABLE grade_history ADD COLUMN rubric TEXT;
