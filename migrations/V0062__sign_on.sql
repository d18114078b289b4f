-- Sign-on through the OpenID Connect providers of a school (docs/single-sign-on.md).
CREATE TABLE sign_on_providers (
    organization_id   TEXT    NOT NULL REFERENCES organizations (id),
    id                TEXT    NOT NULL PRIMARY KEY,
    name              TEXT    NOT NULL,
    preset            TEXT    NOT NULL,
    issuer            TEXT    NOT NULL,
    client_id         TEXT    NOT NULL,
    -- Encrypted with the id of the row.
    client_secret     TEXT    NOT NULL,
    linking           TEXT    NOT NULL,
    external_id_claim TEXT    NOT NULL,
    account_creation  TEXT    NOT NULL,
    role_claim        TEXT    NOT NULL,
    teacher_values    TEXT    NOT NULL,
    -- The mail domains whose addresses select this provider, as JSON; empty for all domains of the school.
    domains           TEXT    NOT NULL,
    is_enabled        BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL,
    CONSTRAINT sign_on_providers_organization_key UNIQUE (organization_id, id)
);

-- Who a person is at a provider: issuer and subject, never the email address.
CREATE TABLE external_identities (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    provider_id     TEXT   NOT NULL,
    issuer          TEXT   NOT NULL,
    subject         TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    linked_by       TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    last_sign_in_at BIGINT,
    CONSTRAINT external_identities_subject_key UNIQUE (provider_id, issuer, subject),
    CONSTRAINT external_identities_user_key UNIQUE (provider_id, user_id),
    CONSTRAINT external_identities_provider_fkey FOREIGN KEY (organization_id, provider_id)
        REFERENCES sign_on_providers (organization_id, id),
    CONSTRAINT external_identities_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX external_identities_user_idx ON external_identities (user_id);
CREATE INDEX external_identities_provider_idx ON external_identities (organization_id, provider_id, created_at, id);

-- Sign-ins that wait for the provider. The state and the cookie of the browser are stored as digests.
CREATE TABLE sign_on_attempts (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    state_digest    TEXT   NOT NULL PRIMARY KEY,
    browser_digest  TEXT   NOT NULL,
    provider_id     TEXT   NOT NULL,
    nonce           TEXT   NOT NULL,
    code_verifier   TEXT   NOT NULL,
    callback_url    TEXT   NOT NULL,
    error_url       TEXT   NOT NULL,
    new_user_url    TEXT   NOT NULL,
    expires_at      BIGINT NOT NULL
);
CREATE INDEX sign_on_attempts_expiry_idx ON sign_on_attempts (expires_at);
CREATE INDEX sign_on_attempts_organization_idx ON sign_on_attempts (organization_id);

-- Logout tokens that were processed; each is accepted once.
CREATE TABLE sign_on_logouts (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    provider_id     TEXT   NOT NULL,
    token_id        TEXT   NOT NULL,
    expires_at      BIGINT NOT NULL,
    CONSTRAINT sign_on_logouts_key PRIMARY KEY (provider_id, token_id)
);
CREATE INDEX sign_on_logouts_organization_idx ON sign_on_logouts (organization_id);
CREATE INDEX sign_on_logouts_expiry_idx ON sign_on_logouts (expires_at);

-- A session that a provider opened is valid in the organization of the provider only.
ALTER TABLE sessions ADD COLUMN sign_on_organization_id TEXT;
ALTER TABLE sessions ADD COLUMN sign_on_provider_id TEXT;
ALTER TABLE sessions ADD COLUMN sign_on_subject TEXT;
ALTER TABLE sessions ADD COLUMN sign_on_session TEXT;
CREATE INDEX sessions_sign_on_provider_idx ON sessions (sign_on_provider_id, sign_on_subject)
    WHERE sign_on_provider_id IS NOT NULL;
CREATE INDEX sessions_sign_on_organization_idx ON sessions (sign_on_organization_id)
    WHERE sign_on_organization_id IS NOT NULL;
