-- Documents that were deleted. Their editors are closed, and what the document server saves of them afterwards is kept for
-- a day, for the staff of the class. The row also proves that the keys of the document are ours.
CREATE TABLE deleted_documents (
    organization_id   TEXT    NOT NULL REFERENCES organizations (id),
    id                TEXT    NOT NULL PRIMARY KEY,
    -- Null once the class is deleted, too.
    class_id          TEXT,
    class_name        TEXT    NOT NULL,
    -- The group may be deleted as well.
    group_id          TEXT    NOT NULL,
    group_name        TEXT    NOT NULL,
    title             TEXT    NOT NULL,
    file_extension    TEXT    NOT NULL,
    -- The last generation of its key, and the first whose editors may be open.
    generation        BIGINT  NOT NULL,
    oldest_generation BIGINT  NOT NULL,
    -- Whether its editors have still to be closed.
    is_open           BOOLEAN NOT NULL,
    deleted_at        BIGINT  NOT NULL,
    CONSTRAINT deleted_documents_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT deleted_documents_class_fkey FOREIGN KEY (class_id, organization_id) REFERENCES classes (id, organization_id)
);
CREATE INDEX deleted_documents_class_idx ON deleted_documents (organization_id, class_id);
CREATE INDEX deleted_documents_deleted_idx ON deleted_documents (deleted_at);
CREATE INDEX deleted_documents_open_idx ON deleted_documents (deleted_at) WHERE is_open;

-- What was saved after the deletion: one file for each session, the newest.
CREATE TABLE late_texts (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    document_id     TEXT   NOT NULL,
    generation      BIGINT NOT NULL,
    file_extension  TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    saved_by_id     TEXT,
    last_save       BIGINT,
    received_at     BIGINT NOT NULL,
    CONSTRAINT late_texts_session_key UNIQUE (document_id, generation),
    CONSTRAINT late_texts_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES deleted_documents (id, organization_id),
    CONSTRAINT late_texts_saved_by_fkey FOREIGN KEY (saved_by_id) REFERENCES users (id)
);
CREATE INDEX late_texts_organization_idx ON late_texts (organization_id, document_id);
CREATE INDEX late_texts_received_idx ON late_texts (received_at);
CREATE INDEX late_texts_file_key_idx ON late_texts (file_key);
