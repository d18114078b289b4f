-- Letters that wait to be sent: written in the unit that makes them worth sending, deleted once a mail server has them.
-- `sealed` holds address and text under a key made from AUTH_SECRET, because a letter may hold a link that works like a
-- password: whoever reads a backup cannot use it.
-- No foreign key: a letter about a person or a school that is gone meanwhile does no harm and has its own end.
CREATE TABLE letters (
    -- The school that writes; null where a person wrote for himself (a forgotten password).
    organization_id TEXT,
    id              TEXT   NOT NULL PRIMARY KEY,
    kind            TEXT   NOT NULL,
    sealed          TEXT   NOT NULL,
    attempts        BIGINT NOT NULL DEFAULT 0,
    -- Also the lease: whoever sends it first moves this ahead, so that two instances do not send it twice.
    next_attempt_at BIGINT NOT NULL,
    -- After this nobody tries any more; the letter is laid into the outbox folder.
    expires_at      BIGINT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX letters_next_attempt_idx ON letters (next_attempt_at, id);
