-- A hand-in or a finish waits until the open editors have sent what was typed. Changes up to `cut_at` belong to what is
-- frozen; `freezing_until` is set until the freeze is complete and names the moment at which it ends at the latest.
ALTER TABLE documents ADD COLUMN cut_at BIGINT;
ALTER TABLE documents ADD COLUMN freezing_until BIGINT;
-- Changes of this generation that the document server may still hold and that were never saved here.
ALTER TABLE documents ADD COLUMN unsaved_generation BIGINT;
CREATE INDEX documents_freezing_idx ON documents (freezing_until) WHERE freezing_until IS NOT NULL;
-- Users whose page has reported that its editor has sent everything, a JSON array of user ids.
ALTER TABLE editing_sessions ADD COLUMN flushed TEXT NOT NULL DEFAULT '[]';
-- Whether the document server may have been restarted since the last save: then "nothing new" proves nothing.
ALTER TABLE editing_sessions ADD COLUMN has_gap BOOLEAN NOT NULL DEFAULT FALSE;
