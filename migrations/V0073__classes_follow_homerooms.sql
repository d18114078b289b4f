-- A class can follow its homeroom: students who join the homeroom are enrolled, and students who leave it are unenrolled.
-- Without a homeroom the value has no effect.
ALTER TABLE classes ADD COLUMN follows_homeroom BOOLEAN NOT NULL DEFAULT FALSE;

-- Whether the enrolment ends when the student leaves the homeroom that the class follows.
ALTER TABLE class_enrollments ADD COLUMN from_homeroom BOOLEAN NOT NULL DEFAULT FALSE;
