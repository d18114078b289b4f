-- Keys of names, made by the program: `search_key` is the name without case and accents, `sort_key` a key of the CLDR root
-- collation, for people by surname and then by name. `name_key` and `title_key` go on deciding which names are equal.
--
-- The rows that are there get their keys after the migrations (store/migrate/names.rs): in small transactions, and again
-- when the version of the keys changes. An empty sort key has not been computed yet; the release before writes such rows.
ALTER TABLE organizations ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE subjects ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE subjects ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE homerooms ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE homerooms ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE classes ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE classes ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE courses ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE courses ADD COLUMN sort_key TEXT NOT NULL DEFAULT '';
ALTER TABLE groups ADD COLUMN search_key TEXT NOT NULL DEFAULT '';
ALTER TABLE assignments ADD COLUMN search_key TEXT NOT NULL DEFAULT '';

-- GET /tenants and the organizations of a person; no statement sorts by the lower-case name any more.
DROP INDEX organizations_name_idx;
CREATE INDEX organizations_sorted_idx ON organizations (sort_key, id);
