-- Courses of a class, and the groups that work in them.

CREATE TABLE courses (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL,
    name_key        TEXT   NOT NULL,
    description     TEXT,
    class_id        TEXT   NOT NULL,
    subject_id      TEXT   NOT NULL,
    status          TEXT   NOT NULL DEFAULT 'ACTIVE',
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    -- Exact names: "Poems" and "poems" are two courses.
    CONSTRAINT courses_class_subject_name_key UNIQUE (class_id, subject_id, name),
    -- Groups and topics name the class too, so that a course of another class is refused here.
    CONSTRAINT courses_id_class_organization_key UNIQUE (id, class_id, organization_id),
    CONSTRAINT courses_status_check CHECK (status IN ('ACTIVE', 'ARCHIVED')),
    CONSTRAINT courses_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    -- A subject leaves a class only when no course of that class uses it (SUBJECT_IN_USE).
    CONSTRAINT courses_class_subject_fkey FOREIGN KEY (class_id, subject_id, organization_id)
        REFERENCES class_subjects (class_id, subject_id, organization_id)
);
CREATE INDEX courses_organization_sorted_idx ON courses (organization_id, name_key, id);
CREATE INDEX courses_class_sorted_idx ON courses (class_id, organization_id, name_key, id);
CREATE INDEX courses_subject_idx ON courses (subject_id, organization_id);

CREATE TABLE groups (
    organization_id      TEXT    NOT NULL,
    id                   TEXT    NOT NULL PRIMARY KEY,
    name                 TEXT    NOT NULL,
    name_key             TEXT    NOT NULL,
    group_number         BIGINT  NOT NULL,
    display_name         TEXT,
    start_date           BIGINT,
    required_documents   BIGINT  NOT NULL DEFAULT 1,
    class_id             TEXT    NOT NULL,
    subject_id           TEXT,
    -- Null for groups older than courses.
    course_id            TEXT,
    needs_help           BOOLEAN NOT NULL DEFAULT FALSE,
    help_requested_at    BIGINT,
    help_message         TEXT,
    help_requested_by_id TEXT,
    help_claimed_by_id   TEXT,
    help_resolved_at     BIGINT,
    help_resolved_by_id  TEXT,
    created_by_id        TEXT    NOT NULL,
    created_at           BIGINT  NOT NULL,
    updated_at           BIGINT  NOT NULL,
    CONSTRAINT groups_class_number_key UNIQUE (class_id, group_number),
    CONSTRAINT groups_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT groups_id_class_organization_key UNIQUE (id, class_id, organization_id),
    CONSTRAINT groups_number_check CHECK (group_number BETWEEN 1 AND 9999),
    CONSTRAINT groups_required_documents_check CHECK (required_documents BETWEEN 0 AND 50),
    CONSTRAINT groups_help_check CHECK (
        (needs_help AND help_requested_at IS NOT NULL)
        OR (NOT needs_help AND help_requested_at IS NULL AND help_message IS NULL)
    ),
    CONSTRAINT groups_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    CONSTRAINT groups_subject_fkey FOREIGN KEY (subject_id, organization_id)
        REFERENCES subjects (id, organization_id),
    CONSTRAINT groups_course_fkey FOREIGN KEY (course_id, class_id, organization_id)
        REFERENCES courses (id, class_id, organization_id),
    CONSTRAINT groups_help_requested_by_fkey FOREIGN KEY (help_requested_by_id) REFERENCES users (id),
    CONSTRAINT groups_help_claimed_by_fkey FOREIGN KEY (help_claimed_by_id) REFERENCES users (id),
    CONSTRAINT groups_help_resolved_by_fkey FOREIGN KEY (help_resolved_by_id) REFERENCES users (id),
    CONSTRAINT groups_created_by_fkey FOREIGN KEY (created_by_id) REFERENCES users (id)
);
-- GET /groups of a whole school, and of one class when the class is named.
CREATE INDEX groups_organization_class_idx ON groups (organization_id, class_id, group_number, id);
CREATE INDEX groups_course_idx ON groups (course_id, organization_id, group_number, id);
CREATE INDEX groups_subject_idx ON groups (subject_id, organization_id);

-- class_id repeats the class of the group: with it the database itself refuses a member who is not enrolled there,
-- also when the enrolment ends at the same moment. Ending an enrolment removes these rows first.
CREATE TABLE group_members (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    class_id        TEXT   NOT NULL,
    group_id        TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    role            TEXT   NOT NULL DEFAULT 'MEMBER',
    joined_at       BIGINT NOT NULL,
    CONSTRAINT group_members_group_user_key UNIQUE (group_id, user_id),
    CONSTRAINT group_members_role_check CHECK (role IN ('MEMBER', 'LEADER')),
    CONSTRAINT group_members_group_fkey FOREIGN KEY (group_id, class_id, organization_id)
        REFERENCES groups (id, class_id, organization_id),
    CONSTRAINT group_members_enrollment_fkey FOREIGN KEY (class_id, user_id, organization_id)
        REFERENCES class_enrollments (class_id, student_id, organization_id)
);
-- "My groups" of a student: the heart of every student's read.
CREATE INDEX group_members_user_idx ON group_members (user_id, organization_id, class_id);

CREATE TABLE group_attachments (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    group_id        TEXT   NOT NULL,
    file_name       TEXT   NOT NULL,
    mime_type       TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    uploaded_by_id  TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT group_attachments_file_key_key UNIQUE (file_key),
    CONSTRAINT group_attachments_size_check CHECK (size >= 0),
    CONSTRAINT group_attachments_group_fkey FOREIGN KEY (group_id, organization_id)
        REFERENCES groups (id, organization_id),
    CONSTRAINT group_attachments_uploaded_by_fkey FOREIGN KEY (uploaded_by_id) REFERENCES users (id)
);
CREATE INDEX group_attachments_group_idx ON group_attachments (group_id, created_at, id);
