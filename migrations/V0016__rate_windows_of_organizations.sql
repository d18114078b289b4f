-- What is counted across instances and restarts belongs to a school: its groups' calls for help, its imports. The table
-- that stood here was never written to.
DROP TABLE rate_windows;
CREATE TABLE rate_windows (
    organization_id   TEXT   NOT NULL REFERENCES organizations (id),
    name              TEXT   NOT NULL,
    window_started_at BIGINT NOT NULL,
    hits              BIGINT NOT NULL,
    PRIMARY KEY (organization_id, name)
);
