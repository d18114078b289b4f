-- What many schools in one database need: every statement finds its rows by an index (tests/api/growth reads the plans).

-- The sessions of a person in one school: without the second column a person who leaves was looked for among the sessions
-- of the whole school.
DROP INDEX sessions_user_idx;
CREATE INDEX sessions_user_organization_idx ON sessions (user_id, active_organization_id);

-- Nobody reads it: lists of people are of a school and begin with its members.
DROP INDEX users_name_idx;

-- Groups that call for help now, and who called or is on the way (the export and the erasure of a person).
CREATE INDEX groups_needs_help_idx ON groups (organization_id, class_id) WHERE needs_help;
CREATE INDEX groups_help_requested_by_idx ON groups (help_requested_by_id, organization_id)
    WHERE help_requested_by_id IS NOT NULL;
CREATE INDEX groups_help_claimed_by_idx ON groups (help_claimed_by_id) WHERE help_claimed_by_id IS NOT NULL;

-- What a person wrote and brought, for his export and his erasure. Both walked the tables of all schools.
CREATE INDEX work_room_messages_sender_idx ON work_room_messages (sender_id, organization_id, id)
    WHERE sender_id IS NOT NULL;
CREATE INDEX message_attachments_uploaded_by_idx ON message_attachments (uploaded_by_id, organization_id, id);
CREATE INDEX assignment_attachments_uploaded_by_idx ON assignment_attachments (uploaded_by_id, organization_id, id);
CREATE INDEX group_attachments_uploaded_by_idx ON group_attachments (uploaded_by_id, organization_id, id);
CREATE INDEX feedback_author_idx ON feedback (author_id, organization_id, id);
CREATE INDEX submissions_note_idx ON submissions (submitted_by_id) WHERE note IS NOT NULL;
-- What was done to an account: few records of a log that holds millions.
CREATE INDEX activity_logs_account_idx ON activity_logs (entity_id, organization_id, created_at, id)
    WHERE entity_type = 'user';

-- Owners of a school, one or two among a thousand members.
CREATE INDEX members_owner_idx ON members (organization_id) WHERE role = 'owner';

-- Accounts that a school made, in the order in which its purge takes them.
DROP INDEX users_home_organization_idx;
CREATE INDEX users_home_organization_idx ON users (home_organization_id, id);

-- Links that were mailed to a person.
CREATE INDEX verifications_value_idx ON verifications (value);
-- Whether a file is still the outcome of a job: asked for every file that is removed.
CREATE INDEX jobs_file_idx ON jobs (file_key) WHERE file_key IS NOT NULL;
-- Whether there are passwords that another program has hashed: asked at sign-ins, and mostly there are none.
CREATE INDEX accounts_imported_idx ON accounts (id) WHERE password NOT LIKE '$argon2id$%';
