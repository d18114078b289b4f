-- Texts that a teacher writes again and again in feedback. They are private: nobody else reads them.
CREATE TABLE text_snippets (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    user_id         TEXT   NOT NULL REFERENCES users (id),
    text            TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX text_snippets_user_idx ON text_snippets (user_id, organization_id, created_at, id);
CREATE INDEX text_snippets_organization_idx ON text_snippets (organization_id);

-- Files that staff add to the grade of a submission. The group sees them with the grade.
CREATE TABLE grade_files (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    submission_id   TEXT   NOT NULL,
    file_name       TEXT   NOT NULL,
    mime_type       TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    uploaded_by_id  TEXT   NOT NULL REFERENCES users (id),
    created_at      BIGINT NOT NULL,
    CONSTRAINT grade_files_file_key_key UNIQUE (file_key),
    CONSTRAINT grade_files_size_check CHECK (size >= 0),
    CONSTRAINT grade_files_submission_fkey FOREIGN KEY (submission_id, organization_id)
        REFERENCES submissions (id, organization_id)
);
CREATE INDEX grade_files_submission_idx ON grade_files (submission_id, organization_id, created_at, id);
CREATE INDEX grade_files_uploaded_by_idx ON grade_files (uploaded_by_id, organization_id);
