-- When a student marked the help request as no longer needed. The flag stays raised until staff lower it.
ALTER TABLE groups ADD COLUMN help_withdrawn_at BIGINT;
