-- Old commits of a log are stored together in one row, compressed (docs/built-in-editor.md#how-long-commits-are-kept).

-- The first version of a pack; its last one is `version`. Null for a row with one commit.
ALTER TABLE document_steps ADD COLUMN packed_from BIGINT;

-- Up to this version, the commits are packed.
ALTER TABLE document_logs ADD COLUMN packed_version BIGINT NOT NULL DEFAULT 0;
CREATE INDEX document_logs_unpacked_idx ON document_logs (document_id, generation) WHERE packed_version < saved_version;
