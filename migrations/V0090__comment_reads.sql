-- Which comments on a document a user has read.
CREATE TABLE comment_reads (
    organization_id TEXT   NOT NULL,
    document_id     TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    -- The time of the newest comment or edit that the user has seen. The times of a document's comments increase.
    read_until      BIGINT NOT NULL,
    PRIMARY KEY (document_id, user_id),
    CONSTRAINT comment_reads_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT comment_reads_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX comment_reads_user_idx ON comment_reads (user_id, organization_id);
