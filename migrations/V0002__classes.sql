-- The fixed structure of a school: subjects, homerooms, classes and who belongs to them.

CREATE TABLE subjects (
    organization_id TEXT    NOT NULL,
    id              TEXT    NOT NULL PRIMARY KEY,
    name            TEXT    NOT NULL,
    name_key        TEXT    NOT NULL,
    code            TEXT,
    color           TEXT,
    description     TEXT,
    is_active       BOOLEAN NOT NULL DEFAULT TRUE,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    CONSTRAINT subjects_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT subjects_organization_name_key UNIQUE (organization_id, name_key),
    CONSTRAINT subjects_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE homerooms (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL,
    name_key        TEXT   NOT NULL,
    grade_level     TEXT,
    academic_year   TEXT,
    teacher_id      TEXT,
    external_id     TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    CONSTRAINT homerooms_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT homerooms_organization_name_year_key UNIQUE (organization_id, name, academic_year),
    CONSTRAINT homerooms_organization_external_id_key UNIQUE (organization_id, external_id),
    CONSTRAINT homerooms_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT homerooms_teacher_fkey FOREIGN KEY (teacher_id) REFERENCES users (id)
);
-- NULLs are distinct in a unique key; two homerooms "7b" without a year would slip through the constraint above.
CREATE UNIQUE INDEX homerooms_organization_name_without_year_key ON homerooms (organization_id, name)
    WHERE academic_year IS NULL;
CREATE INDEX homerooms_organization_sorted_idx ON homerooms (organization_id, name_key, id);
CREATE INDEX homerooms_teacher_idx ON homerooms (teacher_id, organization_id);

CREATE TABLE homeroom_enrollments (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    homeroom_id     TEXT   NOT NULL,
    student_id      TEXT   NOT NULL,
    enrolled_at     BIGINT NOT NULL,
    CONSTRAINT homeroom_enrollments_homeroom_student_key UNIQUE (homeroom_id, student_id),
    CONSTRAINT homeroom_enrollments_homeroom_fkey FOREIGN KEY (homeroom_id, organization_id)
        REFERENCES homerooms (id, organization_id),
    CONSTRAINT homeroom_enrollments_student_fkey FOREIGN KEY (organization_id, student_id)
        REFERENCES members (organization_id, user_id)
);
CREATE INDEX homeroom_enrollments_student_idx ON homeroom_enrollments (student_id, organization_id);

CREATE TABLE classes (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL,
    name_key        TEXT   NOT NULL,
    academic_year   TEXT   NOT NULL,
    semester        TEXT,
    start_date      BIGINT,
    end_date        BIGINT,
    status          TEXT   NOT NULL DEFAULT 'ACTIVE',
    -- The owner. No reference to members: a class outlives the membership of its teacher, and the right to manage
    -- it asks for the membership anyway.
    teacher_id      TEXT   NOT NULL,
    homeroom_id     TEXT,
    -- JSON array of {weekday, start, end, room}.
    schedule        TEXT,
    external_id     TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    CONSTRAINT classes_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT classes_organization_external_id_key UNIQUE (organization_id, external_id),
    CONSTRAINT classes_status_check CHECK (status IN ('ACTIVE', 'ARCHIVED', 'DRAFT')),
    CONSTRAINT classes_dates_check CHECK (end_date >= start_date),
    CONSTRAINT classes_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT classes_teacher_fkey FOREIGN KEY (teacher_id) REFERENCES users (id),
    CONSTRAINT classes_homeroom_fkey FOREIGN KEY (homeroom_id, organization_id)
        REFERENCES homerooms (id, organization_id)
);
CREATE INDEX classes_organization_sorted_idx ON classes (organization_id, name_key, id);
-- "My classes" of a teacher: asked on every request that a teacher makes.
CREATE INDEX classes_teacher_idx ON classes (teacher_id, organization_id);
CREATE INDEX classes_homeroom_idx ON classes (homeroom_id, organization_id);

-- Co-teachers. The owner stands in classes.teacher_id and has no row here.
CREATE TABLE class_teachers (
    organization_id TEXT   NOT NULL,
    class_id        TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (class_id, user_id),
    CONSTRAINT class_teachers_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    CONSTRAINT class_teachers_user_fkey FOREIGN KEY (organization_id, user_id)
        REFERENCES members (organization_id, user_id)
);
CREATE INDEX class_teachers_user_idx ON class_teachers (user_id, organization_id);

CREATE TABLE class_subjects (
    organization_id TEXT NOT NULL,
    class_id        TEXT NOT NULL,
    subject_id      TEXT NOT NULL,
    -- The organization is part of the key, so that courses can refer to it. A second key of the same meaning beside
    -- it would break ON CONFLICT under load on PostgreSQL: only the key named there is spared the error.
    PRIMARY KEY (class_id, subject_id, organization_id),
    CONSTRAINT class_subjects_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    CONSTRAINT class_subjects_subject_fkey FOREIGN KEY (subject_id, organization_id)
        REFERENCES subjects (id, organization_id)
);
CREATE INDEX class_subjects_subject_idx ON class_subjects (subject_id, organization_id);

CREATE TABLE class_enrollments (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    class_id        TEXT   NOT NULL,
    student_id      TEXT   NOT NULL,
    enrolled_at     BIGINT NOT NULL,
    completed_at    BIGINT,
    -- With the organization for the same reason as in class_subjects: group_members refers to it.
    CONSTRAINT class_enrollments_class_student_key UNIQUE (class_id, student_id, organization_id),
    CONSTRAINT class_enrollments_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id),
    CONSTRAINT class_enrollments_student_fkey FOREIGN KEY (organization_id, student_id)
        REFERENCES members (organization_id, user_id)
);
-- "My classes" of a student.
CREATE INDEX class_enrollments_student_idx ON class_enrollments (student_id, organization_id);
