-- One open job of a kind per thing and organization: two schools that a person belongs to may each ask for what they hold
-- about her, and neither shall learn that the other does.
DROP INDEX jobs_open_key;
CREATE UNIQUE INDEX jobs_open_key ON jobs (kind, entity_id, COALESCE(organization_id, ''))
    WHERE status IN ('QUEUED', 'RUNNING') AND entity_id IS NOT NULL;
