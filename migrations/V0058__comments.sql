-- Comments on documents in the built-in editor. The passage of a thread is no part of the document.
CREATE TABLE comment_threads (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    document_id     TEXT   NOT NULL,
    -- The passage in one version of a generation. Null for a comment on the whole document, which has no quote either, and
    -- for a passage that was deleted.
    generation      BIGINT,
    version         BIGINT,
    from_position   BIGINT,
    to_position     BIGINT,
    -- The text of the passage when the thread was created or the last generation ended.
    quote           TEXT,
    created_at      BIGINT NOT NULL,
    resolved_at     BIGINT,
    resolved_by_id  TEXT,
    CONSTRAINT comment_threads_organization_key UNIQUE (id, organization_id),
    CONSTRAINT comment_threads_anchor_check CHECK (
        (generation IS NULL AND version IS NULL AND from_position IS NULL AND to_position IS NULL)
        OR (version >= 0 AND from_position < to_position AND generation IS NOT NULL AND quote IS NOT NULL)),
    CONSTRAINT comment_threads_resolved_check CHECK ((resolved_at IS NULL) = (resolved_by_id IS NULL)),
    CONSTRAINT comment_threads_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT comment_threads_resolved_by_fkey FOREIGN KEY (resolved_by_id) REFERENCES users (id)
);
CREATE INDEX comment_threads_document_idx ON comment_threads (document_id, organization_id);

CREATE TABLE document_comments (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    thread_id       TEXT   NOT NULL,
    author_id       TEXT   NOT NULL,
    -- Empty once the author was erased.
    text            TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    edited_at       BIGINT,
    CONSTRAINT document_comments_thread_fkey FOREIGN KEY (thread_id, organization_id)
        REFERENCES comment_threads (id, organization_id),
    CONSTRAINT document_comments_author_fkey FOREIGN KEY (author_id) REFERENCES users (id)
);
CREATE INDEX document_comments_thread_idx ON document_comments (thread_id, organization_id);
-- The export and the erasure of a person.
CREATE INDEX document_comments_author_idx ON document_comments (author_id, organization_id);
