-- How long the work on a topic takes, in the words of the teacher, shown to the students of its groups.
ALTER TABLE assignments ADD COLUMN working_time TEXT;
