-- Topics, the groups that work on them, and the files a teacher adds.

CREATE TABLE assignments (
    organization_id      TEXT    NOT NULL,
    id                   TEXT    NOT NULL PRIMARY KEY,
    title                TEXT    NOT NULL,
    title_key            TEXT    NOT NULL,
    description          TEXT    NOT NULL,
    -- The only deadline there is.
    deadline             BIGINT  NOT NULL,
    required_submissions BIGINT  NOT NULL DEFAULT 1,
    class_id             TEXT    NOT NULL,
    -- Null for topics older than courses.
    course_id            TEXT,
    is_shared            BOOLEAN NOT NULL DEFAULT TRUE,
    status               TEXT    NOT NULL DEFAULT 'ACTIVE',
    finished_at          BIGINT,
    finished_by_id       TEXT,
    max_points           DOUBLE PRECISION,
    grade_scale          TEXT,
    late_policy          TEXT    NOT NULL DEFAULT 'ALLOW',
    created_by_id        TEXT    NOT NULL,
    created_at           BIGINT  NOT NULL,
    updated_at           BIGINT  NOT NULL,
    CONSTRAINT assignments_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT assignments_id_class_organization_key UNIQUE (id, class_id, organization_id),
    CONSTRAINT assignments_status_check CHECK (status IN ('ACTIVE', 'FINISHED')),
    CONSTRAINT assignments_finished_check CHECK ((status = 'FINISHED') = (finished_at IS NOT NULL)),
    CONSTRAINT assignments_late_policy_check CHECK (late_policy IN ('ALLOW', 'BLOCK')),
    CONSTRAINT assignments_required_submissions_check CHECK (required_submissions BETWEEN 1 AND 20),
    CONSTRAINT assignments_max_points_check CHECK (max_points >= 0),
    CONSTRAINT assignments_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    CONSTRAINT assignments_course_fkey FOREIGN KEY (course_id, class_id, organization_id)
        REFERENCES courses (id, class_id, organization_id),
    CONSTRAINT assignments_finished_by_fkey FOREIGN KEY (finished_by_id) REFERENCES users (id),
    CONSTRAINT assignments_created_by_fkey FOREIGN KEY (created_by_id) REFERENCES users (id)
);
CREATE INDEX assignments_organization_sorted_idx ON assignments (organization_id, deadline, id);
CREATE INDEX assignments_class_sorted_idx ON assignments (class_id, organization_id, deadline, id);
CREATE INDEX assignments_course_idx ON assignments (course_id, organization_id, deadline, id);

-- The link of one group to one topic, the unit of submission. class_id repeats the class of both, so that a group and
-- a topic of different classes cannot be linked.
CREATE TABLE group_assignments (
    organization_id       TEXT   NOT NULL,
    id                    TEXT   NOT NULL PRIMARY KEY,
    class_id              TEXT   NOT NULL,
    assignment_id         TEXT   NOT NULL,
    group_id              TEXT   NOT NULL,
    status                TEXT   NOT NULL DEFAULT 'NOT_STARTED',
    -- Names a row of submissions, which in turn names this row. SQLite cannot add a foreign key afterwards and
    -- PostgreSQL cannot declare one ahead, so this half of the circle is kept by the program (contract check 10).
    current_submission_id TEXT,
    description_override  TEXT,
    late_allowed_until    BIGINT,
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT NOT NULL,
    CONSTRAINT group_assignments_assignment_group_key UNIQUE (assignment_id, group_id),
    CONSTRAINT group_assignments_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT group_assignments_id_assignment_organization_key UNIQUE (id, assignment_id, organization_id),
    CONSTRAINT group_assignments_status_check
        CHECK (status IN ('NOT_STARTED', 'IN_PROGRESS', 'SUBMITTED', 'RETURNED', 'GRADED')),
    CONSTRAINT group_assignments_current_submission_check
        CHECK ((status IN ('SUBMITTED', 'GRADED')) = (current_submission_id IS NOT NULL)),
    CONSTRAINT group_assignments_assignment_fkey FOREIGN KEY (assignment_id, class_id, organization_id)
        REFERENCES assignments (id, class_id, organization_id),
    CONSTRAINT group_assignments_group_fkey FOREIGN KEY (group_id, class_id, organization_id)
        REFERENCES groups (id, class_id, organization_id)
);
CREATE INDEX group_assignments_assignment_idx ON group_assignments (assignment_id, organization_id, created_at, id);
CREATE INDEX group_assignments_group_idx ON group_assignments (group_id, organization_id, created_at, id);
-- GET /assignments/submissions/overview: newest first, a school or one class.
CREATE INDEX group_assignments_organization_created_idx ON group_assignments (organization_id, created_at, id);
CREATE INDEX group_assignments_class_created_idx ON group_assignments (class_id, organization_id, created_at, id);

CREATE TABLE assignment_attachments (
    organization_id     TEXT   NOT NULL,
    id                  TEXT   NOT NULL PRIMARY KEY,
    assignment_id       TEXT   NOT NULL,
    -- Null: for the whole topic. Set: for that group only, and then a group of this very topic.
    group_assignment_id TEXT,
    file_name           TEXT   NOT NULL,
    mime_type           TEXT   NOT NULL,
    size                BIGINT NOT NULL,
    sha256              TEXT   NOT NULL,
    file_key            TEXT   NOT NULL,
    -- Set while the file waits for the bulk edit that names it; students do not see it, a sweep drops it after a day.
    staged_at           BIGINT,
    uploaded_by_id      TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    CONSTRAINT assignment_attachments_file_key_key UNIQUE (file_key),
    CONSTRAINT assignment_attachments_size_check CHECK (size >= 0),
    CONSTRAINT assignment_attachments_staged_check CHECK (staged_at IS NULL OR group_assignment_id IS NULL),
    CONSTRAINT assignment_attachments_assignment_fkey FOREIGN KEY (assignment_id, organization_id)
        REFERENCES assignments (id, organization_id),
    CONSTRAINT assignment_attachments_group_assignment_fkey
        FOREIGN KEY (group_assignment_id, assignment_id, organization_id)
        REFERENCES group_assignments (id, assignment_id, organization_id),
    CONSTRAINT assignment_attachments_uploaded_by_fkey FOREIGN KEY (uploaded_by_id) REFERENCES users (id)
);
CREATE INDEX assignment_attachments_assignment_idx ON assignment_attachments (assignment_id, created_at, id);
CREATE INDEX assignment_attachments_group_assignment_idx ON assignment_attachments (group_assignment_id)
    WHERE group_assignment_id IS NOT NULL;
CREATE INDEX assignment_attachments_staged_idx ON assignment_attachments (staged_at)
    WHERE staged_at IS NOT NULL;
