-- Who changed what when, as the document server tells it with a save: a bounded JSON object with ids of users, no names.
-- Null: it told nothing, or the bytes came another way.
ALTER TABLE document_revisions ADD COLUMN history TEXT;
