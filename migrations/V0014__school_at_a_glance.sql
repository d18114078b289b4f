-- What an administrator looks at: the log of one course or topic, the sessions of a school, its files by kind.

-- The two filters of /activity-logs that no index served.
CREATE INDEX activity_logs_course_idx ON activity_logs (course_id, organization_id, created_at, id);
CREATE INDEX activity_logs_assignment_idx ON activity_logs (assignment_id, organization_id, created_at, id);

-- GET /admin/sessions: newest first, page after page.
CREATE INDEX sessions_active_organization_created_idx ON sessions (active_organization_id, created_at, id);

-- A JSON object: bytes by kind, and the classes that keep the most.
ALTER TABLE storage_usages ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
