-- Guessing limits. A failure from an address at which the account signed in during the last 30 days is counted for that
-- address alone, so that classmates behind a school's address cannot close the account for other addresses.
ALTER TABLE sign_in_failures ADD COLUMN from_known_address BOOLEAN NOT NULL DEFAULT FALSE;
-- Consecutive failures of the account from this address since its last success here.
ALTER TABLE sign_in_successes ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
-- Consecutive failures of an account from addresses without a recent success. Unknown accounts are counted alike; rows are
-- deleted 30 days after the last failure, and beyond a bound the oldest rows of unknown accounts are deleted earlier.
CREATE TABLE sign_in_failure_counts (
    account_key     TEXT   NOT NULL PRIMARY KEY,
    failures        BIGINT NOT NULL,
    last_failure_at BIGINT NOT NULL
);
CREATE INDEX sign_in_failure_counts_last_failure_idx ON sign_in_failure_counts (last_failure_at);
-- Rows under former e-mail addresses of people; from now on they move with the address.
DELETE FROM sign_in_successes
WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.email = sign_in_successes.account_key);
-- Who last set somebody's password and when: shown to the person after the next sign-in. Without a name it was the platform.
ALTER TABLE users ADD COLUMN password_reset_at BIGINT;
ALTER TABLE users ADD COLUMN password_reset_by_id TEXT;
