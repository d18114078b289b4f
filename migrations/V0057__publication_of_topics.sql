-- When students see a topic. A draft is invisible to them; with a time, the topic is invisible until then. The defaults
-- keep topics visible at once: those that exist, and those that the previous release creates.
ALTER TABLE assignments ADD COLUMN is_draft BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE assignments ADD COLUMN publish_at BIGINT;
-- The exception of one group. Without a draft and a time, the group follows the topic.
ALTER TABLE group_assignments ADD COLUMN is_draft BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE group_assignments ADD COLUMN publish_at BIGINT;
