-- When the grade of a single member was written, and by whom: the other members keep the time of the group's grade.
-- Null in rows of earlier releases; then the time of the group's grade counts.
ALTER TABLE member_grades ADD COLUMN graded_at BIGINT;
ALTER TABLE member_grades ADD COLUMN graded_by_id TEXT REFERENCES users (id);
CREATE INDEX member_grades_graded_by_idx ON member_grades (graded_by_id);
