-- What groups handed in, and what teachers said about it.

CREATE TABLE submissions (
    organization_id     TEXT    NOT NULL,
    id                  TEXT    NOT NULL PRIMARY KEY,
    group_assignment_id TEXT    NOT NULL,
    attempt             BIGINT  NOT NULL,
    status              TEXT    NOT NULL DEFAULT 'ACTIVE',
    submitted_by_id     TEXT    NOT NULL,
    submitted_at        BIGINT  NOT NULL,
    on_behalf           BOOLEAN NOT NULL DEFAULT FALSE,
    -- Judged once, at submission; a later deadline does not rewrite it silently.
    is_late             BOOLEAN NOT NULL DEFAULT FALSE,
    late_by_seconds     BIGINT  NOT NULL DEFAULT 0,
    -- JSON array of user ids, frozen: who was in the group at that moment.
    member_ids          TEXT    NOT NULL,
    note                TEXT,
    withdrawn_at        BIGINT,
    withdrawn_by_id     TEXT,
    created_at          BIGINT  NOT NULL,
    CONSTRAINT submissions_group_assignment_attempt_key UNIQUE (group_assignment_id, attempt),
    CONSTRAINT submissions_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT submissions_id_group_assignment_organization_key UNIQUE (id, group_assignment_id, organization_id),
    CONSTRAINT submissions_attempt_check CHECK (attempt >= 1),
    CONSTRAINT submissions_status_check CHECK (status IN ('ACTIVE', 'SUPERSEDED', 'WITHDRAWN', 'RETURNED')),
    CONSTRAINT submissions_late_check CHECK (late_by_seconds >= 0),
    CONSTRAINT submissions_group_assignment_fkey FOREIGN KEY (group_assignment_id, organization_id)
        REFERENCES group_assignments (id, organization_id),
    CONSTRAINT submissions_submitted_by_fkey FOREIGN KEY (submitted_by_id) REFERENCES users (id),
    CONSTRAINT submissions_withdrawn_by_fkey FOREIGN KEY (withdrawn_by_id) REFERENCES users (id)
);
CREATE UNIQUE INDEX submissions_one_active_key ON submissions (group_assignment_id)
    WHERE status = 'ACTIVE';

-- The immutable copy of a document as it was handed in. file_key names a file of its own, never that of a revision:
-- the document may go, the hand-in stays.
CREATE TABLE submission_documents (
    organization_id  TEXT   NOT NULL,
    id               TEXT   NOT NULL PRIMARY KEY,
    submission_id    TEXT   NOT NULL,
    document_id      TEXT,
    document_version BIGINT NOT NULL,
    title            TEXT   NOT NULL,
    file_extension   TEXT   NOT NULL,
    size             BIGINT NOT NULL,
    sha256           TEXT   NOT NULL,
    -- Not unique: the next attempt may keep the unchanged copies of the one before. Remove a file with its last row.
    file_key         TEXT   NOT NULL,
    created_at       BIGINT NOT NULL,
    CONSTRAINT submission_documents_submission_document_key UNIQUE (submission_id, document_id),
    CONSTRAINT submission_documents_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT submission_documents_size_check CHECK (size >= 0),
    CONSTRAINT submission_documents_submission_fkey FOREIGN KEY (submission_id, organization_id)
        REFERENCES submissions (id, organization_id),
    CONSTRAINT submission_documents_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id)
);
CREATE INDEX submission_documents_document_idx ON submission_documents (document_id, organization_id);
CREATE INDEX submission_documents_file_idx ON submission_documents (file_key);

-- The one place of a grade; the document's grade is read through from here.
CREATE TABLE grades (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    submission_id   TEXT   NOT NULL,
    value           TEXT,
    points          DOUBLE PRECISION,
    feedback        TEXT,
    status          TEXT   NOT NULL DEFAULT 'DRAFT',
    -- Rises with every change, next to a row of grade_history; nobody overwrites a colleague unseen.
    version         BIGINT NOT NULL DEFAULT 1,
    graded_by_id    TEXT   NOT NULL,
    graded_at       BIGINT NOT NULL,
    published_at    BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    CONSTRAINT grades_submission_key UNIQUE (submission_id),
    CONSTRAINT grades_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT grades_status_check CHECK (status IN ('DRAFT', 'PUBLISHED')),
    CONSTRAINT grades_published_check CHECK (status <> 'PUBLISHED' OR published_at IS NOT NULL),
    CONSTRAINT grades_points_check CHECK (points >= 0),
    CONSTRAINT grades_submission_fkey FOREIGN KEY (submission_id, organization_id)
        REFERENCES submissions (id, organization_id),
    CONSTRAINT grades_graded_by_fkey FOREIGN KEY (graded_by_id) REFERENCES users (id)
);

CREATE TABLE member_grades (
    organization_id TEXT NOT NULL,
    id              TEXT NOT NULL PRIMARY KEY,
    grade_id        TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    value           TEXT,
    points          DOUBLE PRECISION,
    feedback        TEXT,
    CONSTRAINT member_grades_grade_user_key UNIQUE (grade_id, user_id),
    CONSTRAINT member_grades_points_check CHECK (points >= 0),
    CONSTRAINT member_grades_grade_fkey FOREIGN KEY (grade_id, organization_id)
        REFERENCES grades (id, organization_id),
    CONSTRAINT member_grades_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX member_grades_user_idx ON member_grades (user_id, organization_id);

-- Every state a grade has had, the present one included.
CREATE TABLE grade_history (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    grade_id        TEXT   NOT NULL,
    version         BIGINT NOT NULL,
    value           TEXT,
    points          DOUBLE PRECISION,
    feedback        TEXT,
    status          TEXT   NOT NULL,
    -- JSON array of {userId, value, points, feedback}.
    member_grades   TEXT   NOT NULL DEFAULT '[]',
    changed_by_id   TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT grade_history_grade_version_key UNIQUE (grade_id, version),
    CONSTRAINT grade_history_status_check CHECK (status IN ('DRAFT', 'PUBLISHED')),
    CONSTRAINT grade_history_grade_fkey FOREIGN KEY (grade_id, organization_id)
        REFERENCES grades (id, organization_id),
    CONSTRAINT grade_history_changed_by_fkey FOREIGN KEY (changed_by_id) REFERENCES users (id)
);

CREATE TABLE feedback (
    organization_id     TEXT   NOT NULL,
    id                  TEXT   NOT NULL PRIMARY KEY,
    group_assignment_id TEXT   NOT NULL,
    submission_id       TEXT,
    document_id         TEXT,
    author_id           TEXT   NOT NULL,
    text                TEXT   NOT NULL,
    visibility          TEXT   NOT NULL DEFAULT 'GROUP',
    published_at        BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    CONSTRAINT feedback_visibility_check CHECK (visibility IN ('GROUP', 'STAFF')),
    CONSTRAINT feedback_group_assignment_fkey FOREIGN KEY (group_assignment_id, organization_id)
        REFERENCES group_assignments (id, organization_id),
    CONSTRAINT feedback_submission_fkey FOREIGN KEY (submission_id, group_assignment_id, organization_id)
        REFERENCES submissions (id, group_assignment_id, organization_id),
    CONSTRAINT feedback_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT feedback_author_fkey FOREIGN KEY (author_id) REFERENCES users (id)
);
CREATE INDEX feedback_group_assignment_idx ON feedback (group_assignment_id, organization_id, created_at, id);
CREATE INDEX feedback_submission_idx ON feedback (submission_id, organization_id);
CREATE INDEX feedback_document_idx ON feedback (document_id, organization_id);

-- Conversions kept for reuse (PDF): of a revision or of a handed-in copy, whose bytes never change.
CREATE TABLE converted_files (
    organization_id        TEXT   NOT NULL,
    id                     TEXT   NOT NULL PRIMARY KEY,
    revision_id            TEXT,
    submission_document_id TEXT,
    format                 TEXT   NOT NULL,
    file_key               TEXT   NOT NULL,
    size                   BIGINT NOT NULL,
    sha256                 TEXT   NOT NULL,
    created_at             BIGINT NOT NULL,
    CONSTRAINT converted_files_revision_format_key UNIQUE (revision_id, format),
    CONSTRAINT converted_files_submission_document_format_key UNIQUE (submission_document_id, format),
    CONSTRAINT converted_files_file_key_key UNIQUE (file_key),
    CONSTRAINT converted_files_source_check CHECK ((revision_id IS NULL) <> (submission_document_id IS NULL)),
    CONSTRAINT converted_files_size_check CHECK (size >= 0),
    CONSTRAINT converted_files_revision_fkey FOREIGN KEY (revision_id, organization_id)
        REFERENCES document_revisions (id, organization_id),
    CONSTRAINT converted_files_submission_document_fkey FOREIGN KEY (submission_document_id, organization_id)
        REFERENCES submission_documents (id, organization_id)
);
