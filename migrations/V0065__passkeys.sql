-- Passkeys (WebAuthn credentials) of accounts. See docs/passkeys.md.
CREATE TABLE passkeys (
    id                         TEXT    NOT NULL PRIMARY KEY,
    user_id                    TEXT    NOT NULL,
    name                       TEXT,
    -- As base64url without padding.
    credential_id              TEXT    NOT NULL,
    -- In COSE form, as base64.
    public_key                 TEXT    NOT NULL,
    -- The last signature counter; 0 for authenticators without one.
    counter                    BIGINT  NOT NULL,
    transports                 TEXT    NOT NULL,
    is_backup_eligible         BOOLEAN NOT NULL,
    is_backed_up               BOOLEAN NOT NULL,
    aaguid                     TEXT    NOT NULL,
    -- The organization whose administrators could have added the passkey, because they chose the password or control the
    -- provider of the session in which it was added.
    limited_to_organization_id TEXT,
    created_at                 BIGINT  NOT NULL,
    last_used_at               BIGINT,
    CONSTRAINT passkeys_credential_key UNIQUE (credential_id),
    CONSTRAINT passkeys_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX passkeys_user_idx ON passkeys (user_id);
CREATE INDEX passkeys_limit_idx ON passkeys (limited_to_organization_id) WHERE limited_to_organization_id IS NOT NULL;
-- When the user last proved the password in the session.
ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT;
