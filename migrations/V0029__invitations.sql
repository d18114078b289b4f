-- Invitations: an address whose account this organization did not create is invited, and becomes a member only when its
-- owner accepts. An invitation is bound to the address, never to an account: whoever registered the address first gains
-- nothing by it. Until acceptance there is no row in `members`.
--
-- `class_ids` and `homeroom_ids` are JSON lists of ids without foreign keys: what is gone by the time of acceptance is
-- skipped. `token_digest` is the SHA-256 of the mailed token in base64url. An expired invitation keeps the status 'pending'.
CREATE TABLE invitations (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    -- Lower case, as in users.
    email           TEXT   NOT NULL,
    -- The name as the inviter wrote it, for the email and for an account that is made at acceptance.
    name            TEXT   NOT NULL,
    role            TEXT   NOT NULL,
    external_id     TEXT,
    class_ids       TEXT   NOT NULL DEFAULT '[]',
    homeroom_ids    TEXT   NOT NULL DEFAULT '[]',
    -- Whether the membership that this invitation replaces was the account's home; accepting restores that.
    is_home         BOOLEAN NOT NULL DEFAULT FALSE,
    -- Null when the service itself invited: an import from the command line, a membership turned into an invitation.
    inviter_id      TEXT,
    status          TEXT   NOT NULL DEFAULT 'pending',
    token_digest    TEXT,
    -- When the last email was queued; limits how often an address is written to.
    sent_at         BIGINT,
    expires_at      BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    CONSTRAINT invitations_token_key UNIQUE (token_digest),
    CONSTRAINT invitations_role_check CHECK (role IN ('owner', 'admin', 'teacher', 'student')),
    CONSTRAINT invitations_status_check CHECK (status IN ('pending', 'accepted', 'rejected', 'canceled')),
    CONSTRAINT invitations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT invitations_inviter_fkey FOREIGN KEY (inviter_id) REFERENCES users (id)
);
-- One open invitation per organization and address.
CREATE UNIQUE INDEX invitations_pending_key ON invitations (email, organization_id) WHERE status = 'pending';
-- The list of an organization, newest first.
CREATE INDEX invitations_organization_idx ON invitations (organization_id, created_at, id);
-- When an address was last written to, and what an erasure and a personal export look for.
CREATE INDEX invitations_email_idx ON invitations (email, organization_id);
CREATE INDEX invitations_external_id_idx ON invitations (external_id, organization_id) WHERE external_id IS NOT NULL;
CREATE INDEX invitations_inviter_idx ON invitations (inviter_id) WHERE inviter_id IS NOT NULL;
