-- How often the content of an object was changed: its ETag, which If-Match is compared with. Calls for help and chats do
-- not count. The column is not called "version": that of a document counts its saved contents.
ALTER TABLE organizations ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE subjects ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE homerooms ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE classes ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE courses ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE groups ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE assignments ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE documents ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE submissions ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE feedback ADD COLUMN row_version BIGINT NOT NULL DEFAULT 1;
