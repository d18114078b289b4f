-- Tokens with which programs act for an administrator of a school; only their hashes are stored.
CREATE TABLE api_tokens (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL,
    scopes          TEXT   NOT NULL,
    hash            TEXT   NOT NULL,
    hint            TEXT   NOT NULL,
    created_by_id   TEXT   NOT NULL REFERENCES users (id),
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    last_used_at    BIGINT,
    CONSTRAINT api_tokens_hash_key UNIQUE (hash)
);
CREATE INDEX api_tokens_organization_index ON api_tokens (organization_id, created_by_id);
CREATE INDEX api_tokens_created_by_index ON api_tokens (created_by_id);
