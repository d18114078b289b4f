-- Who put a student into a class: 'teacher', 'admin', 'import' or 'homeroom'. A teacher may give a new password to a student
-- whom the school put into his class, not to one whom he put there himself (contract 6.3): otherwise enrolling somebody
-- would be enough to take over his account. Of enrolments before this release nobody knows, so they count as a teacher's.
ALTER TABLE class_enrollments ADD COLUMN enrolled_by TEXT NOT NULL DEFAULT 'teacher'
    CHECK (enrolled_by IN ('teacher', 'admin', 'import', 'homeroom'));

-- The address that a mailed link confirms; null for all other links.
ALTER TABLE verifications ADD COLUMN address TEXT;
