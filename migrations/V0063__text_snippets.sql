-- Texts that a teacher writes again and again in feedback. They are private: nobody else reads them.
CREATE TABLE text_snippets (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    user_id         TEXT   NOT NULL REFERENCES users (id),
    text            TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX text_snippets_user_idx ON text_snippets (user_id, organization_id, created_at, id);
CREATE INDEX text_snippets_organization_idx ON text_snippets (organization_id);
