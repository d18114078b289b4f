-- A save that came after newer content (a restore, an upload, a later session) while the document was a draft. Its group
-- sees it; what came after a freeze is for the staff. The check of `origin` lists the origins of its time and SQLite changes
-- no check, so such a revision has the origin LATE_AFTER_LOCK and this mark.
ALTER TABLE document_revisions ADD COLUMN is_for_group BOOLEAN NOT NULL DEFAULT FALSE;
