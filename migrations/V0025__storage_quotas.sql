-- How much a school and each of its groups may keep; absent means what the program allows everybody.
ALTER TABLE organizations ADD COLUMN storage_quota BIGINT;
ALTER TABLE organizations ADD COLUMN group_storage_quota BIGINT;

-- What a school keeps now is bytes + added: `added` only grows, by every file as its row is written, and a count sets `bytes`
-- to its result less what `added` was when it looked. Files that go are noticed by the next count; `removals` tells
-- whether there were any since the last one.
ALTER TABLE storage_usages ADD COLUMN added BIGINT NOT NULL DEFAULT 0;
ALTER TABLE storage_usages ADD COLUMN removals BIGINT NOT NULL DEFAULT 0;
ALTER TABLE storage_usages ADD COLUMN removals_counted BIGINT NOT NULL DEFAULT 0;
