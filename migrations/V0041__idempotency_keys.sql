-- The answers to creating requests that carried an Idempotency-Key, for a day: a request that is sent again with its key
-- creates nothing and gets the first answer. The key and the request are stored as digests, the answer without secrets.
CREATE TABLE idempotency_keys (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    user_id         TEXT   NOT NULL,
    route           TEXT   NOT NULL,
    key_digest      TEXT   NOT NULL,
    request_digest  TEXT   NOT NULL,
    status          BIGINT,
    location        TEXT,
    etag            TEXT,
    answer          TEXT,
    size            BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    CONSTRAINT idempotency_keys_person_route_key UNIQUE (organization_id, user_id, route, key_digest)
);
CREATE INDEX idempotency_keys_person_index ON idempotency_keys (organization_id, user_id, created_at);
CREATE INDEX idempotency_keys_created_index ON idempotency_keys (created_at);
