-- Each save forgets the notices of its document that are too old. Without the second column it read all that are left;
-- by their age alone nobody looks for them.
DROP INDEX document_saves_created_idx;
CREATE INDEX document_saves_document_idx ON document_saves (document_id, created_at);
