-- Where a group meets: a room or another place, shown to its students.
ALTER TABLE groups ADD COLUMN meeting_place TEXT;
