-- The built-in editor: the changes of a document in the order in which they were accepted (docs/built-in-editor.md).

-- One row for each generation of a document that was opened in the built-in editor.
CREATE TABLE document_logs (
    organization_id   TEXT   NOT NULL,
    document_id       TEXT   NOT NULL,
    generation        BIGINT NOT NULL,
    -- The number of the last commit, and the one that the newest snapshot contains.
    version           BIGINT NOT NULL DEFAULT 0,
    snapshot_version  BIGINT NOT NULL DEFAULT 0,
    -- The revision with which the generation began; null for the blank template. No foreign key, as for
    -- documents.current_revision_id.
    base_revision_id  TEXT,
    -- The version that the last written revision contains, and the first commit after it.
    saved_version     BIGINT NOT NULL DEFAULT 0,
    unsaved_since     BIGINT,
    last_commit_at    BIGINT,
    -- Set when the frozen document is written: later commits of the generation are late.
    is_closed         BOOLEAN NOT NULL DEFAULT FALSE,
    -- JSON: codes of what prevents editing, and the styles of the file.
    read_only_reasons TEXT   NOT NULL DEFAULT '[]',
    styles            TEXT   NOT NULL DEFAULT '[]',
    created_at        BIGINT NOT NULL,
    PRIMARY KEY (document_id, generation),
    CONSTRAINT document_logs_version_check CHECK (version >= saved_version AND version >= snapshot_version),
    CONSTRAINT document_logs_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id)
);
-- The logs of which a file has to be written.
CREATE INDEX document_logs_unsaved_idx ON document_logs (unsaved_since) WHERE unsaved_since IS NOT NULL;

CREATE TABLE document_steps (
    organization_id TEXT   NOT NULL,
    document_id     TEXT   NOT NULL,
    generation      BIGINT NOT NULL,
    version         BIGINT NOT NULL,
    author_id       TEXT   NOT NULL,
    client_id       TEXT   NOT NULL,
    ref             TEXT   NOT NULL,
    -- JSON array of ProseMirror steps.
    steps           TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (document_id, generation, version),
    CONSTRAINT document_steps_ref_key UNIQUE (document_id, generation, ref),
    CONSTRAINT document_steps_version_check CHECK (version >= 1),
    CONSTRAINT document_steps_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT document_steps_author_fkey FOREIGN KEY (author_id) REFERENCES users (id)
);

CREATE TABLE document_snapshots (
    organization_id TEXT   NOT NULL,
    document_id     TEXT   NOT NULL,
    generation      BIGINT NOT NULL,
    version         BIGINT NOT NULL,
    -- The document as ProseMirror JSON.
    content         TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (document_id, generation, version),
    CONSTRAINT document_snapshots_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id)
);

-- Commits that arrived after their generation had ended. They become a late revision of their author.
CREATE TABLE late_commits (
    organization_id TEXT    NOT NULL,
    id              TEXT    NOT NULL PRIMARY KEY,
    document_id     TEXT    NOT NULL,
    generation      BIGINT  NOT NULL,
    author_id       TEXT    NOT NULL,
    client_id       TEXT    NOT NULL,
    ref             TEXT    NOT NULL,
    -- The version that the steps are based on.
    version         BIGINT  NOT NULL,
    steps           TEXT    NOT NULL,
    created_at      BIGINT  NOT NULL,
    -- Whether a revision contains it.
    is_saved        BOOLEAN NOT NULL DEFAULT FALSE,
    CONSTRAINT late_commits_ref_key UNIQUE (document_id, generation, ref),
    CONSTRAINT late_commits_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT late_commits_author_fkey FOREIGN KEY (author_id) REFERENCES users (id)
);
CREATE INDEX late_commits_unsaved_idx ON late_commits (created_at) WHERE NOT is_saved;
