//! One hundred rows of every kind around one lesson, inserted directly into the tables. Tests use them to detect lists
//! that run one query per row.

use std::fmt::Write as _;

use super::rows::execute;
use super::{LessonFixture, TestApp};

/// The number of rows of each kind.
pub const MANY: usize = 100;

/// Adds rows to a lesson; `link` is the assignment of its topic to its visible group. Rows for a new list are added
/// here.
#[expect(clippy::too_many_lines, reason = "one list of what can grow")]
pub async fn grow(app: &TestApp, lesson: &LessonFixture, link: &str) {
    let world = &app.world;
    let (north, class) = (&world.north, &world.seven_b);
    let (class_id, subject, course) = (&class.id, &class.subject, &class.course);
    let (ada, tom, ben, adam) = (&world.ada.id, &world.tom.id, &world.ben.id, &world.adam.id);
    let LessonFixture {
        homeroom,
        group,
        assignment,
        work_room,
        document,
        sign_on_provider,
        roster_source,
        roster_run,
        ..
    } = lesson;
    let far = i64::MAX / 4;
    let mut sql = String::from("BEGIN;");
    for n in 0..MANY {
        // Users: students of the class and the homeroom, half of them in the group; co-teachers.
        write!(
            sql,
            "INSERT INTO users (id, name, name_key, email, home_organization_id, created_at, updated_at) VALUES
                ('u{n}', 'Pupil {n}', 'pupil {n}', 'u{n}@many.example', '{north}', 1, 1),
                ('t{n}', 'Tutor {n}', 'tutor {n}', 't{n}@many.example', '{north}', 1, 1);
            INSERT INTO members (organization_id, id, user_id, role, created_at) VALUES
                ('{north}', 'mu{n}', 'u{n}', 'student', 1), ('{north}', 'mt{n}', 't{n}', 'teacher', 1);
            INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
                VALUES ('{north}', 'e{n}', '{class_id}', 'u{n}', 1);
            INSERT INTO class_teachers (organization_id, class_id, user_id, created_at)
                VALUES ('{north}', '{class_id}', 't{n}', 1);
            INSERT INTO homeroom_enrollments (organization_id, id, homeroom_id, student_id, enrolled_at)
                VALUES ('{north}', 'he{n}', '{homeroom}', 'u{n}', 1);
            INSERT INTO sessions (id, user_id, token, expires_at, active_organization_id, created_at, updated_at) VALUES
                ('se{n}', 'u{n}', 'token{n}', {far}, '{north}', 1, 1),
                ('sb{n}', '{ben}', 'tokenb{n}', {far}, '{north}', 1, 1);
            INSERT INTO external_identities (organization_id, id, provider_id, issuer, subject, user_id, linked_by, created_at)
                VALUES ('{north}', 'xi{n}', '{sign_on_provider}', 'i', 's{n}', 'u{n}', 'ADMINISTRATOR', 1);
            INSERT INTO roster_runs (organization_id, id, source_id, kind, state, counts, applied, job_key, started_by_id, created_at)
                VALUES ('{north}', 'rr{n}', '{roster_source}', 'ON_DEMAND', 'DONE', '{{}}', '{{}}', 'rj{n}', 'u{n}', 1);
            INSERT INTO roster_run_entries (organization_id, run_id, effect, place, object, external_id, name)
                VALUES ('{north}', '{roster_run}', 'LEAVES', {n}, 'PERSON', 'x{n}', 'Pupil {n}');
            INSERT INTO invitations (organization_id, id, email, name, role, expires_at, created_at, updated_at)
                VALUES ('{north}', 'in{n}', 'in{n}@many.example', 'Invited {n}', 'student', {far}, 1, 1);"
        )
        .unwrap();
        if n % 2 == 0 {
            write!(
                sql,
                "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
                    VALUES ('{north}', 'gx{n}', '{class_id}', '{group}', 'u{n}', 1);"
            )
            .unwrap();
        }
        // The structure of the school.
        write!(
            sql,
            "INSERT INTO subjects (organization_id, id, name, name_key, created_at, updated_at)
                VALUES ('{north}', 's{n}', 'Subject {n}', 'subject {n}', 1, 1);
            INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ('{north}', '{class_id}', 's{n}');
            INSERT INTO homerooms (organization_id, id, name, name_key, created_at, updated_at)
                VALUES ('{north}', 'h{n}', 'Homeroom {n}', 'homeroom {n}', 1, 1);
            INSERT INTO homeroom_enrollments (organization_id, id, homeroom_id, student_id, enrolled_at)
                VALUES ('{north}', 'hb{n}', 'h{n}', '{ben}', 1);
            INSERT INTO classes (organization_id, id, name, name_key, academic_year, teacher_id, created_at, updated_at)
                VALUES ('{north}', 'k{n}', 'TestClass {n}', 'class {n}', '2026/2027', '{ada}', 1, 1);
            INSERT INTO class_teachers (organization_id, class_id, user_id, created_at)
                VALUES ('{north}', 'k{n}', '{tom}', 1);
            INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ('{north}', 'k{n}', 's{n}');
            INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
                VALUES ('{north}', 'kb{n}', 'k{n}', '{ben}', 1);
            INSERT INTO courses (organization_id, id, name, name_key, class_id, subject_id, created_at, updated_at)
                VALUES ('{north}', 'c{n}', 'Course {n}', 'course {n}', '{class_id}', 's{n}', 1, 1);"
        )
        .unwrap();
        // Groups on the topic, topics of the group.
        let number = 1000 + n;
        write!(
            sql,
            "INSERT INTO groups (organization_id, id, name, name_key, group_number, class_id, subject_id, course_id,
                created_by_id, created_at, updated_at)
                VALUES ('{north}', 'g{n}', 'Many {n}', 'many {n}', {number}, '{class_id}', '{subject}', '{course}',
                '{ada}', 1, 1);
            INSERT INTO work_rooms (organization_id, id, group_id, last_message_seq, created_at, updated_at)
                VALUES ('{north}', 'w{n}', 'g{n}', 1, 1, 1);
            INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, content, created_at)
                VALUES ('{north}', 'mw{n}', 'w{n}', 1, '{ben}', 'Hello', 1);
            INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
                VALUES ('{north}', 'gm{n}', '{class_id}', 'g{n}', '{ben}', 1);
            INSERT INTO assignments (organization_id, id, title, title_key, description, deadline, class_id, course_id,
                created_by_id, created_at, updated_at)
                VALUES ('{north}', 'a{n}', 'Topic {n}', 'topic {n}', 'Draw.', 9, '{class_id}', '{course}', '{ada}', 1, 1);
            INSERT INTO group_assignments (organization_id, id, class_id, assignment_id, group_id, created_at, updated_at)
                VALUES ('{north}', 'l{n}', '{class_id}', 'a{n}', '{group}', 1, 1),
                ('{north}', 'x{n}', '{class_id}', '{assignment}', 'g{n}', 1, 1);"
        )
        .unwrap();
        // Files, documents and their revisions, submissions.
        write!(
            sql,
            "INSERT INTO assignment_attachments (organization_id, id, assignment_id, file_name, mime_type, size, sha256,
                file_key, uploaded_by_id, created_at) VALUES
                ('{north}', 'f{n}', '{assignment}', 'a.pdf', 'application/pdf', 1, 'x', 'f{n}', '{ada}', 1),
                ('{north}', 'fa{n}', 'a{n}', 'a.pdf', 'application/pdf', 1, 'x', 'fa{n}', '{ada}', 1);
            INSERT INTO group_attachments (organization_id, id, group_id, file_name, mime_type, size, sha256, file_key,
                uploaded_by_id, created_at)
                VALUES ('{north}', 'gf{n}', '{group}', 'a.pdf', 'application/pdf', 1, 'x', 'gf{n}', '{ada}', 1);
            INSERT INTO documents (organization_id, id, work_room_id, title, document_type, file_extension, created_by_id,
                last_activity, created_at, updated_at)
                VALUES ('{north}', 'd{n}', '{work_room}', 'Page {n}', 'word', 'docx', '{ben}', 1, 1, 1);
            INSERT INTO comment_threads (organization_id, id, document_id, created_at)
                VALUES ('{north}', 'ct{n}', '{document}', 1);
            INSERT INTO document_comments (organization_id, id, thread_id, author_id, text, created_at) VALUES
                ('{north}', 'co{n}', 'ct{n}', '{ben}', 'Why?', 1), ('{north}', 'cr{n}', 'ct{n}', '{ada}', 'See there.', 2);
            INSERT INTO document_revisions (organization_id, id, document_id, version, file_key, size, sha256, origin,
                generation, created_at)
                VALUES ('{north}', 'r{n}', '{document}', {number}, 'r{n}', 1, 'x', 'EDITOR', 1, 1);
            INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, status, submitted_by_id,
                submitted_at, member_ids, created_at)
                VALUES ('{north}', 'su{n}', '{link}', {number}, 'SUPERSEDED', '{ben}', 1, '[]', 1);
            INSERT INTO submission_documents (organization_id, id, submission_id, document_id, document_version, title,
                file_extension, size, sha256, file_key, created_at)
                VALUES ('{north}', 'sd{n}', 'su{n}', '{document}', 1, 'Page', 'docx', 1, 'x', 'sd{n}', 1);
            INSERT INTO feedback (organization_id, id, group_assignment_id, submission_id, author_id, text, published_at,
                created_at, updated_at)
                VALUES ('{north}', 'fb{n}', '{link}', 'su{n}', '{ada}', 'Good', 1, 1, 1);"
        )
        .unwrap();
        // Text of deleted documents, which expires after a day.
        let now = common::clock::now().as_millis();
        write!(
            sql,
            "INSERT INTO deleted_documents (organization_id, id, class_id, class_name, group_id, group_name, title,
                file_extension, generation, oldest_generation, is_open, deleted_at)
                VALUES ('{north}', 'dd{n}', '{class_id}', '7b', '{group}', 'G', 'Page', 'docx', 1, 1, FALSE, {now});
            INSERT INTO late_texts (organization_id, id, document_id, generation, file_extension, file_key, size, sha256,
                received_at)
                VALUES ('{north}', 'lt{n}', 'dd{n}', 1, 'docx', 'lt{n}', 1, 'x', {now});
            INSERT INTO deletion_archives (organization_id, id, noun, object_id, name, class_id, class_name, courses, groups,
                assignments, documents, submissions, messages, bytes, manifest, seal, deleted_by_id, deleted_at, expires_at)
                VALUES ('{north}', 'da{n}', 'GROUP', 'dg{n}', 'Deleted', '{class_id}', '7b', 0, 1, 0, 0, 0, 0, 0, '', '',
                '{ada}', {now}, 4000000000000);"
        )
        .unwrap();
        // Other schools.
        write!(
            sql,
            "INSERT INTO organizations (id, name, name_key, slug, created_at, updated_at)
                VALUES ('o{n}', 'School {n}', 'school {n}', 'school-{n}', 1, 1);"
        )
        .unwrap();
        // Chat messages and the activity log.
        write!(
            sql,
            "INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, content, created_at)
                VALUES ('{north}', 'ms{n}', '{work_room}', {number}, '{ben}', 'Hello', 1);
            INSERT INTO message_attachments (organization_id, id, work_room_id, message_id, file_name, mime_type, size, sha256,
                file_key, uploaded_by_id, created_at)
                VALUES ('{north}', 'mf{n}', '{work_room}', 'ms{n}', 'a.pdf', 'application/pdf', 1, 'x', 'mf{n}', '{ben}', 1);
            INSERT INTO direct_messages (organization_id, id, sender_id, content, created_at)
                VALUES ('{north}', 'dm{n}', '{tom}', 'Hello', 1);
            INSERT INTO message_recipients (organization_id, message_id, user_id, created_at) VALUES
                ('{north}', 'dm{n}', '{adam}', 1), ('{north}', 'dm{n}', '{ada}', 1), ('{north}', 'dm{n}', '{ben}', 1);
            INSERT INTO activity_logs (organization_id, id, user_name, user_role, category, action, entity_type, entity_id,
                class_id, created_at)
                VALUES ('{north}', 'al{n}', 'Ada', 'teacher', 'CLASS', 'UPDATE', 'class', 'x', '{class_id}', 1);"
        )
        .unwrap();
    }
    write!(
        sql,
        "UPDATE work_rooms SET last_message_seq = 2000 WHERE id = '{work_room}'; COMMIT;"
    )
    .unwrap();
    execute(&app.database, sql).await;
}
