-- Documents of a room, every state of their bytes, and what the document server told us.

CREATE TABLE documents (
    organization_id         TEXT   NOT NULL,
    id                      TEXT   NOT NULL PRIMARY KEY,
    work_room_id            TEXT   NOT NULL,
    title                   TEXT   NOT NULL,
    document_type           TEXT   NOT NULL,
    file_extension          TEXT   NOT NULL,
    status                  TEXT   NOT NULL DEFAULT 'DRAFT',
    status_before_lock      TEXT,
    locked_at               BIGINT,
    locked_by_assignment_id TEXT,
    assignment_id           TEXT,
    -- Part of the key by which the document server knows the file; rises when a session must not be joined any more.
    generation              BIGINT NOT NULL DEFAULT 1,
    -- Names a row of document_revisions, which in turn names this row; no foreign key for the reason given at
    -- group_assignments.current_submission_id. Null: nothing saved yet, the blank template is served.
    current_revision_id     TEXT,
    version                 BIGINT NOT NULL DEFAULT 0,
    size                    BIGINT NOT NULL DEFAULT 0,
    created_by_id           TEXT   NOT NULL,
    last_edited_by          TEXT,
    last_activity           BIGINT NOT NULL,
    -- The document server reported a failed save (status 3 or 7) and no good one since.
    save_failed_at          BIGINT,
    submitted_at            BIGINT,
    submitted_by_id         TEXT,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    CONSTRAINT documents_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT documents_type_check CHECK (document_type IN ('word', 'cell', 'slide', 'pdf')),
    CONSTRAINT documents_file_extension_check
        CHECK (file_extension IN ('docx', 'xlsx', 'pptx', 'pdf', 'odt', 'ods', 'odp', 'txt', 'csv')),
    CONSTRAINT documents_status_check CHECK (status IN ('DRAFT', 'SUBMITTED', 'LOCKED')),
    CONSTRAINT documents_status_before_lock_check CHECK (status_before_lock IN ('DRAFT', 'SUBMITTED')),
    CONSTRAINT documents_lock_check CHECK (
        (status = 'LOCKED' AND status_before_lock IS NOT NULL AND locked_at IS NOT NULL)
        OR (status <> 'LOCKED' AND status_before_lock IS NULL AND locked_at IS NULL
            AND locked_by_assignment_id IS NULL)
    ),
    -- A hand-in always belongs to a topic.
    CONSTRAINT documents_submitted_check CHECK (
        (status <> 'SUBMITTED' AND (status_before_lock IS NULL OR status_before_lock <> 'SUBMITTED'))
        OR assignment_id IS NOT NULL
    ),
    CONSTRAINT documents_generation_check CHECK (generation >= 1),
    CONSTRAINT documents_room_fkey FOREIGN KEY (work_room_id, organization_id)
        REFERENCES work_rooms (id, organization_id),
    CONSTRAINT documents_assignment_fkey FOREIGN KEY (assignment_id, organization_id)
        REFERENCES assignments (id, organization_id),
    -- A topic cannot go while it holds a document locked: nobody could unlock it afterwards.
    CONSTRAINT documents_locked_by_assignment_fkey FOREIGN KEY (locked_by_assignment_id, organization_id)
        REFERENCES assignments (id, organization_id),
    CONSTRAINT documents_created_by_fkey FOREIGN KEY (created_by_id) REFERENCES users (id),
    CONSTRAINT documents_last_edited_by_fkey FOREIGN KEY (last_edited_by) REFERENCES users (id),
    CONSTRAINT documents_submitted_by_fkey FOREIGN KEY (submitted_by_id) REFERENCES users (id)
);
CREATE INDEX documents_room_idx ON documents (work_room_id, organization_id, created_at, id);
CREATE INDEX documents_assignment_idx ON documents (assignment_id, organization_id);
CREATE INDEX documents_locked_by_assignment_idx ON documents (locked_by_assignment_id, organization_id)
    WHERE locked_by_assignment_id IS NOT NULL;

CREATE TABLE document_revisions (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    document_id     TEXT   NOT NULL,
    version         BIGINT NOT NULL,
    file_key        TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    saved_by_id     TEXT,
    -- JSON array of user ids.
    editors         TEXT   NOT NULL DEFAULT '[]',
    origin          TEXT   NOT NULL,
    -- Time of the last change inside, as the document server names it; null for uploads and restores.
    last_save       BIGINT,
    generation      BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT document_revisions_document_version_key UNIQUE (document_id, version),
    CONSTRAINT document_revisions_file_key_key UNIQUE (file_key),
    CONSTRAINT document_revisions_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT document_revisions_version_check CHECK (version >= 1),
    CONSTRAINT document_revisions_size_check CHECK (size >= 0),
    CONSTRAINT document_revisions_origin_check
        CHECK (origin IN ('CREATE', 'EDITOR', 'FORCESAVE', 'UPLOAD', 'RESTORE', 'LATE_AFTER_LOCK')),
    CONSTRAINT document_revisions_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT document_revisions_saved_by_fkey FOREIGN KEY (saved_by_id) REFERENCES users (id)
);

-- One row per save notice: a repeat (same key, same path, new token) is recognised here and acknowledged without a
-- second revision. url_path_hash is '' for a notice without bytes. Pruned by age.
CREATE TABLE document_saves (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    document_id     TEXT   NOT NULL,
    document_key    TEXT   NOT NULL,
    url_path_hash   TEXT   NOT NULL,
    sha256          TEXT,
    last_save       BIGINT,
    outcome         TEXT   NOT NULL,
    -- The revision it became; no foreign key, because old revisions go before old notices.
    revision_id     TEXT,
    created_at      BIGINT NOT NULL,
    CONSTRAINT document_saves_document_key_path_key UNIQUE (document_id, document_key, url_path_hash),
    CONSTRAINT document_saves_outcome_check
        CHECK (outcome IN ('PENDING', 'CURRENT', 'LATE', 'OUTDATED', 'UNCHANGED', 'RECOVERED', 'FAILED')),
    CONSTRAINT document_saves_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id)
);
CREATE INDEX document_saves_created_idx ON document_saves (created_at);

-- A document that is open in an editor, one row per key: the watchdog asks the document server about rows that
-- have been silent too long. Removed by the final notice (2 or 4).
CREATE TABLE editing_sessions (
    organization_id  TEXT   NOT NULL,
    id               TEXT   NOT NULL PRIMARY KEY,
    document_id      TEXT   NOT NULL,
    generation       BIGINT NOT NULL,
    document_key     TEXT   NOT NULL,
    -- JSON array of user ids.
    editors          TEXT   NOT NULL DEFAULT '[]',
    since            BIGINT NOT NULL,
    last_callback_at BIGINT NOT NULL,
    -- The forced save we wait for, and the last one that arrived: another instance may hear the answer.
    awaited_nonce    TEXT,
    saved_nonce      TEXT,
    CONSTRAINT editing_sessions_document_generation_key UNIQUE (document_id, generation),
    CONSTRAINT editing_sessions_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id)
);
CREATE INDEX editing_sessions_last_callback_idx ON editing_sessions (last_callback_at);
