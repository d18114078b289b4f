-- Who worked on what, and documents that were handed out.

-- How long and how often somebody wrote in a document, from what the document server tells: one row for a document and a
-- person, however often he comes back. Time counts once: `counted_until` is the moment up to which it was.
CREATE TABLE document_contributions (
    organization_id TEXT   NOT NULL,
    document_id     TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    editing_millis  BIGINT NOT NULL DEFAULT 0,
    saves           BIGINT NOT NULL DEFAULT 0,
    first_at        BIGINT NOT NULL,
    last_at         BIGINT NOT NULL,
    counted_until   BIGINT NOT NULL,
    PRIMARY KEY (document_id, user_id),
    CONSTRAINT document_contributions_time_check CHECK (editing_millis >= 0 AND editing_millis <= counted_until - first_at),
    CONSTRAINT document_contributions_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT document_contributions_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
-- The export and the erasure of a person.
CREATE INDEX document_contributions_user_idx ON document_contributions (user_id, organization_id);

-- The file of a topic of which the teacher handed out this copy. No reference: the copy outlives the file.
ALTER TABLE documents ADD COLUMN handed_out_from TEXT;
-- Handing out again gives nobody a second one.
CREATE UNIQUE INDEX documents_handed_out_key ON documents (work_room_id, handed_out_from)
    WHERE handed_out_from IS NOT NULL;
