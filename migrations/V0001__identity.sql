-- Who exists: organizations, people, their sessions and memberships.
--
-- The same text runs on SQLite and on PostgreSQL; what that costs is written once, here.
--   * Ids are UUIDv7 text made by the program. They grow with time, so ordering by id is ordering by age and
--     no sequence is needed (the two databases do not agree on how to declare one).
--   * Times are BIGINT milliseconds since 1970 UTC, handed in by the program. JSON is TEXT and never queried inside.
--   * `name_key`, `title_key` and `search_key` hold the lower-case form made by the program: the lower() of SQLite
--     knows ASCII only.
--   * A primary key says NOT NULL aloud, because SQLite would otherwise accept NULL in a TEXT key.
--   * Tables of a school carry organization_id. Their parents have UNIQUE (id, organization_id), and every reference
--     inside the school names both columns, so that no row can point into another school. The id stands first on
--     purpose: an index that starts with organization_id would tempt the SQLite planner (which has no statistics on
--     a young database) to read a whole school where it should read one class.
--   * People who did something (created_by_id, graded_by_id, ..) are references to users only: the trace outlives the
--     membership, and a SUPER_ADMIN has none. An erased person keeps the row of users, emptied (erased_at).
--   * Nothing cascades. A deletion that forgets a table fails here instead of leaving orphans.

-- Facts about this installation, one row each: `deployment_id` stands in front of document keys when several
-- installations share a document server.
CREATE TABLE settings (
    name       TEXT   NOT NULL PRIMARY KEY,
    value      TEXT   NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE organizations (
    id            TEXT   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL,
    name_key      TEXT   NOT NULL,
    slug          TEXT   NOT NULL,
    custom_domain TEXT,
    logo          TEXT,
    status        TEXT   NOT NULL DEFAULT 'ACTIVE',
    metadata      TEXT,
    -- Set by DELETE /tenants/:id; the purge job removes the rows later.
    deleted_at    BIGINT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    CONSTRAINT organizations_slug_key UNIQUE (slug),
    CONSTRAINT organizations_custom_domain_key UNIQUE (custom_domain),
    CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED'))
);
CREATE INDEX organizations_name_idx ON organizations (name_key, id);

CREATE TABLE users (
    id                            TEXT    NOT NULL PRIMARY KEY,
    name                          TEXT    NOT NULL,
    name_key                      TEXT    NOT NULL,
    first_name                    TEXT,
    last_name                     TEXT,
    -- Stored in lower case, so that the plain unique key is the case-insensitive one.
    email                         TEXT    NOT NULL,
    email_verified                BOOLEAN NOT NULL DEFAULT TRUE,
    username                      TEXT,
    role                          TEXT    NOT NULL DEFAULT 'STUDENT',
    image                         TEXT,
    locale                        TEXT    NOT NULL DEFAULT 'en',
    timezone                      TEXT,
    is_active                     BOOLEAN NOT NULL DEFAULT TRUE,
    must_change_password          BOOLEAN NOT NULL DEFAULT FALSE,
    temporary_password_expires_at BIGINT,
    last_login_at                 BIGINT,
    banned                        BOOLEAN NOT NULL DEFAULT FALSE,
    ban_reason                    TEXT,
    ban_expires                   BIGINT,
    -- The organization that made the account and may administer it; null when it ended that membership.
    home_organization_id          TEXT,
    erased_at                     BIGINT,
    created_at                    BIGINT  NOT NULL,
    updated_at                    BIGINT  NOT NULL,
    CONSTRAINT users_email_key UNIQUE (email),
    CONSTRAINT users_role_check CHECK (role IN ('SUPER_ADMIN', 'ADMIN', 'TEACHER', 'STUDENT')),
    CONSTRAINT users_home_organization_fkey FOREIGN KEY (home_organization_id) REFERENCES organizations (id)
);
CREATE INDEX users_name_idx ON users (name_key, id);
CREATE INDEX users_home_organization_idx ON users (home_organization_id);

CREATE TABLE accounts (
    id          TEXT   NOT NULL PRIMARY KEY,
    user_id     TEXT   NOT NULL,
    provider_id TEXT   NOT NULL,
    account_id  TEXT   NOT NULL,
    password    TEXT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    CONSTRAINT accounts_provider_account_key UNIQUE (provider_id, account_id),
    CONSTRAINT accounts_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX accounts_user_idx ON accounts (user_id);

CREATE TABLE sessions (
    id                     TEXT   NOT NULL PRIMARY KEY,
    user_id                TEXT   NOT NULL,
    token                  TEXT   NOT NULL,
    expires_at             BIGINT NOT NULL,
    ip_address             TEXT,
    user_agent             TEXT,
    active_organization_id TEXT,
    impersonated_by        TEXT,
    created_at             BIGINT NOT NULL,
    updated_at             BIGINT NOT NULL,
    CONSTRAINT sessions_token_key UNIQUE (token),
    CONSTRAINT sessions_user_fkey FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT sessions_active_organization_fkey FOREIGN KEY (active_organization_id) REFERENCES organizations (id),
    CONSTRAINT sessions_impersonated_by_fkey FOREIGN KEY (impersonated_by) REFERENCES users (id)
);
CREATE INDEX sessions_user_idx ON sessions (user_id);
CREATE INDEX sessions_expires_idx ON sessions (expires_at);
-- GET /admin/sessions and /admin/stats.
CREATE INDEX sessions_active_organization_idx ON sessions (active_organization_id);

-- Password resets and address changes: one row per unused link.
CREATE TABLE verifications (
    id         TEXT   NOT NULL PRIMARY KEY,
    identifier TEXT   NOT NULL,
    value      TEXT   NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX verifications_identifier_idx ON verifications (identifier);
CREATE INDEX verifications_expires_idx ON verifications (expires_at);

CREATE TABLE members (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    user_id         TEXT   NOT NULL,
    role            TEXT   NOT NULL,
    external_id     TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT,
    CONSTRAINT members_organization_user_key UNIQUE (organization_id, user_id),
    CONSTRAINT members_organization_external_id_key UNIQUE (organization_id, external_id),
    CONSTRAINT members_role_check CHECK (role IN ('owner', 'admin', 'teacher', 'student')),
    CONSTRAINT members_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT members_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX members_user_idx ON members (user_id, organization_id);

-- One row per failed sign-in of the last 15 minutes. Unknown accounts are counted alike, hence the written address
-- (account_key, lower case) instead of a user id. `address` is the IPv4 address or the IPv6 /64.
CREATE TABLE sign_in_failures (
    id          TEXT   NOT NULL PRIMARY KEY,
    account_key TEXT   NOT NULL,
    address     TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX sign_in_failures_account_idx ON sign_in_failures (account_key, created_at);
CREATE INDEX sign_in_failures_address_idx ON sign_in_failures (address, created_at);
CREATE INDEX sign_in_failures_created_idx ON sign_in_failures (created_at);

-- Addresses from which an account signed in during the last 30 days: they keep their own limit, so that strangers
-- cannot lock a pupil out.
CREATE TABLE sign_in_successes (
    account_key     TEXT   NOT NULL,
    address         TEXT   NOT NULL,
    last_success_at BIGINT NOT NULL,
    PRIMARY KEY (account_key, address)
);
CREATE INDEX sign_in_successes_last_success_idx ON sign_in_successes (last_success_at);

-- Counters of slow limits that must hold across instances and restarts (reset mails, imports).
CREATE TABLE rate_windows (
    name              TEXT   NOT NULL PRIMARY KEY,
    window_started_at BIGINT NOT NULL,
    hits              BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX rate_windows_started_idx ON rate_windows (window_started_at);
