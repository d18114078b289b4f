-- The group reads its own text after the shared one instead of alone.
ALTER TABLE group_assignments ADD COLUMN includes_shared_text BOOLEAN NOT NULL DEFAULT FALSE;
