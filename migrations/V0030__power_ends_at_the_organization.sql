-- What an administrator may do ends at the own organization.

-- Deactivation acts on the membership: false shuts this organization only.
ALTER TABLE members ADD COLUMN is_active BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE members SET is_active = FALSE WHERE user_id IN (SELECT id FROM users WHERE NOT is_active);

-- Set while the current password was chosen by an administrator of this organization: until the mailbox confirms, it
-- opens this organization and no other. Emptied, not null, when the organization is deleted: then it opens none.
ALTER TABLE users ADD COLUMN password_organization_id TEXT;
CREATE INDEX users_password_organization_idx ON users (password_organization_id) WHERE password_organization_id IS NOT NULL;

-- True only after a round trip through the mailbox, and so far nobody made one that was recorded. Memberships stay.
UPDATE users SET email_verified = FALSE;
