-- Deleted objects that can be restored until `expires_at`. The rows of the deleted subtree are in the chunks, the files
-- are kept in the file storage until the archive goes.
CREATE TABLE deletion_archives (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    noun            TEXT   NOT NULL,
    object_id       TEXT   NOT NULL,
    name            TEXT   NOT NULL,
    -- The class of the object; it may be deleted as well.
    class_id        TEXT   NOT NULL,
    class_name      TEXT   NOT NULL,
    course_id       TEXT,
    -- The group of a document.
    group_id        TEXT,
    group_name      TEXT,
    courses         BIGINT NOT NULL,
    groups          BIGINT NOT NULL,
    assignments     BIGINT NOT NULL,
    documents       BIGINT NOT NULL,
    submissions     BIGINT NOT NULL,
    messages        BIGINT NOT NULL,
    -- The size of the files.
    bytes           BIGINT NOT NULL,
    -- JSON; describes the content of the chunks.
    manifest        TEXT   NOT NULL,
    -- SHA-256 of the manifest.
    seal            TEXT   NOT NULL,
    deleted_by_id   TEXT,
    deleted_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    -- Set once it is restored; the content is gone then.
    restored_at     BIGINT,
    CONSTRAINT deletion_archives_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT deletion_archives_noun_check CHECK (noun IN ('CLASS', 'COURSE', 'GROUP', 'ASSIGNMENT', 'DOCUMENT')),
    CONSTRAINT deletion_archives_deleted_by_fkey FOREIGN KEY (deleted_by_id) REFERENCES users (id)
);
CREATE INDEX deletion_archives_organization_idx ON deletion_archives (organization_id, deleted_at, id);
CREATE INDEX deletion_archives_object_idx ON deletion_archives (object_id, organization_id, deleted_at);
CREATE INDEX deletion_archives_expires_idx ON deletion_archives (expires_at);

-- The rows of an archive: compressed lines of JSON, encoded as base64.
CREATE TABLE deletion_archive_chunks (
    organization_id TEXT   NOT NULL,
    archive_id      TEXT   NOT NULL,
    number          BIGINT NOT NULL,
    content         TEXT   NOT NULL,
    PRIMARY KEY (archive_id, number),
    CONSTRAINT deletion_archive_chunks_archive_fkey FOREIGN KEY (archive_id, organization_id)
        REFERENCES deletion_archives (id, organization_id)
);

-- The files that the rows of an archive refer to.
CREATE TABLE deletion_archive_files (
    organization_id TEXT   NOT NULL,
    archive_id      TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    PRIMARY KEY (archive_id, file_key),
    CONSTRAINT deletion_archive_files_archive_fkey FOREIGN KEY (archive_id, organization_id)
        REFERENCES deletion_archives (id, organization_id)
);
CREATE INDEX deletion_archive_files_key_idx ON deletion_archive_files (file_key);
CREATE INDEX deletion_archive_files_organization_idx ON deletion_archive_files (organization_id, archive_id);

-- The people whose ids the rows of an archive contain, so that an erasure finds their archives.
CREATE TABLE deletion_archive_people (
    organization_id TEXT   NOT NULL,
    archive_id      TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    -- The number of rows with their id.
    mentions        BIGINT NOT NULL,
    PRIMARY KEY (archive_id, user_id),
    CONSTRAINT deletion_archive_people_archive_fkey FOREIGN KEY (archive_id, organization_id)
        REFERENCES deletion_archives (id, organization_id)
);
CREATE INDEX deletion_archive_people_user_idx ON deletion_archive_people (user_id, organization_id);
