-- Second factors: an authenticator app (TOTP), and recovery codes for a lost one. See docs/second-factor.md.

-- Whether a confirmed second factor exists, read with every session.
ALTER TABLE users ADD COLUMN has_second_factor BOOLEAN NOT NULL DEFAULT FALSE;

-- Codes that were wrong for a sign-in that waits for its second factor.
ALTER TABLE verifications ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;

CREATE TABLE second_factors (
    id           TEXT   NOT NULL PRIMARY KEY,
    user_id      TEXT   NOT NULL,
    -- Encrypted with a key that is derived from AUTH_SECRET; the id is authenticated.
    secret       TEXT   NOT NULL,
    -- Null until the first code was entered.
    confirmed_at BIGINT,
    -- The step of the last accepted code: every code is accepted once.
    last_step    BIGINT,
    failures     BIGINT NOT NULL DEFAULT 0,
    locked_until BIGINT,
    created_at   BIGINT NOT NULL,
    CONSTRAINT second_factors_user_key UNIQUE (user_id),
    CONSTRAINT second_factors_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

-- Hashes of unused codes.
CREATE TABLE recovery_codes (
    id         TEXT   NOT NULL PRIMARY KEY,
    user_id    TEXT   NOT NULL,
    code_hash  TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT recovery_codes_code_key UNIQUE (user_id, code_hash),
    CONSTRAINT recovery_codes_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
