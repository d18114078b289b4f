-- User names for sign-in, unique within the organization that created the account. The column `username` stays for the
-- previous release, which does not require its values to be unique; both are written.
ALTER TABLE users ADD COLUMN user_name TEXT;
-- Adopts the former values that are valid and that no other account of the organization has.
UPDATE users SET user_name = LOWER(username)
WHERE username IS NOT NULL AND erased_at IS NULL AND home_organization_id IS NOT NULL
    AND LENGTH(username) BETWEEN 2 AND 60
    AND LTRIM(username, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_') = ''
    AND LTRIM(username, '.-_') = username AND RTRIM(username, '.-_') = username
    AND NOT EXISTS (SELECT 1 FROM users o WHERE o.home_organization_id = users.home_organization_id
        AND o.id <> users.id AND LOWER(o.username) = LOWER(users.username));
CREATE UNIQUE INDEX users_home_user_name_key ON users (home_organization_id, user_name);
-- Short names that an organization had before. User names with them go on working, so no other organization can take
-- them.
CREATE TABLE former_slugs (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    slug            TEXT   NOT NULL PRIMARY KEY,
    created_at      BIGINT NOT NULL
);
CREATE INDEX former_slugs_organization_idx ON former_slugs (organization_id);
-- Until when the session, which was opened with a provisional password, may set a new one without the old one.
ALTER TABLE sessions ADD COLUMN new_password_until BIGINT;
