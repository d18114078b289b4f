//! A school with as many students as sockets, inserted directly into the database: classes and groups of
//! equal size, a session for every user.

use std::fmt::Write as _;
use std::path::Path;

use crate::server::AUTH_SECRET;

/// The users who connect and the user who writes.
pub struct SocketSchool {
    pub id: String,
    /// Cookie of the teacher of all classes.
    pub teacher: String,
    /// The students, class after class.
    pub people: Vec<BenchStudent>,
    /// Students per class.
    pub class_size: usize,
}

/// A student with a session.
pub struct BenchStudent {
    pub id: String,
    /// The session id.
    pub session: String,
    /// The session cookie.
    pub cookie: String,
    /// The group id.
    pub group: String,
}

impl SocketSchool {
    /// Returns the id of a class.
    pub fn class(number: usize) -> String {
        format!("0190a1b2-0000-7000-8000-{:012x}", 0xc000_0000 + number)
    }
}

/// Builds an id with the length of those of the service.
fn id(kind: usize, number: usize) -> String {
    format!("0190a1b2-0000-7000-8000-{:012x}", (kind << 32) + number)
}

/// Inserts this many classes with this many students each, in groups of this size.
pub fn write(database: &Path, classes: usize, class_size: usize, group_size: usize) -> anyhow::Result<SocketSchool> {
    let mut connection = rusqlite::Connection::open(database)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    let transaction = connection.transaction()?;
    let (school, teacher, subject, far) = (id(0xa, 0), id(0xb, 0), id(0xd, 0), i64::MAX / 4);
    let mut sql = format!(
        "INSERT INTO organizations (id, name, name_key, slug, created_at, updated_at)
            VALUES ('{school}', 'Crowded school', 'crowded school', 'crowded', 1, 1);
        INSERT INTO users (id, name, name_key, email, home_organization_id, created_at, updated_at)
            VALUES ('{teacher}', 'Teacher', 'teacher', 'teacher@crowded.example', '{school}', 1, 1);
        INSERT INTO members (organization_id, id, user_id, role, created_at)
            VALUES ('{school}', '{teacher}', '{teacher}', 'teacher', 1);
        INSERT INTO sessions (id, user_id, token, expires_at, active_organization_id, created_at, updated_at)
            VALUES ('{teacher}', '{teacher}', 'token-of-the-teacher', {far}, '{school}', 1, 1);
        INSERT INTO subjects (organization_id, id, name, name_key, created_at, updated_at)
            VALUES ('{school}', '{subject}', 'Biology', 'biology', 1, 1);"
    );
    let mut people = Vec::new();
    for number in 0..classes {
        let (class, course) = (SocketSchool::class(number), id(0xe, number));
        write!(
            sql,
            "INSERT INTO classes (organization_id, id, name, name_key, academic_year, teacher_id, created_at, updated_at)
                VALUES ('{school}', '{class}', 'Class {number}', 'class {number}', '2026/2027', '{teacher}', 1, 1);
            INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ('{school}', '{class}', '{subject}');
            INSERT INTO courses (organization_id, id, name, name_key, class_id, subject_id, created_at, updated_at)
                VALUES ('{school}', '{course}', 'Cells', 'cells', '{class}', '{subject}', 1, 1);"
        )?;
        for seat in 0..class_size {
            let place = number * class_size + seat;
            let learner = BenchStudent {
                id: id(0xf, place),
                session: id(0x10, place),
                cookie: format!(
                    "better-auth.session_token={}",
                    better_auth::cookie::sign(AUTH_SECRET, &token(place))
                ),
                group: id(0x11, place / group_size),
            };
            let (student, session, group, token) = (&learner.id, &learner.session, &learner.group, token(place));
            write!(
                sql,
                "INSERT INTO users (id, name, name_key, email, home_organization_id, created_at, updated_at)
                    VALUES ('{student}', 'Student {place}', 'student {place}', 's{place}@crowded.example', '{school}', 1, 1);
                INSERT INTO members (organization_id, id, user_id, role, created_at)
                    VALUES ('{school}', '{student}', '{student}', 'student', 1);
                INSERT INTO sessions (id, user_id, token, expires_at, active_organization_id, created_at, updated_at)
                    VALUES ('{session}', '{student}', '{token}', {far}, '{school}', 1, 1);
                INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
                    VALUES ('{school}', '{student}', '{class}', '{student}', 1);"
            )?;
            if seat % group_size == 0 {
                write!(
                    sql,
                    "INSERT INTO groups (organization_id, id, name, name_key, group_number, class_id, subject_id, course_id,
                        created_by_id, created_at, updated_at)
                        VALUES ('{school}', '{group}', 'Group {seat}', 'group {seat}', {seat} + 1, '{class}', '{subject}',
                            '{course}', '{teacher}', 1, 1);
                    INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at)
                        VALUES ('{school}', '{group}', '{group}', 1, 1);"
                )?;
            }
            write!(
                sql,
                "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
                    VALUES ('{school}', '{student}', '{class}', '{group}', '{student}', 1);"
            )?;
            people.push(learner);
        }
    }
    transaction.execute_batch(&sql)?;
    transaction.commit()?;
    connection.execute_batch("ANALYZE")?;
    let teacher = better_auth::cookie::sign(AUTH_SECRET, "token-of-the-teacher");
    Ok(SocketSchool {
        id: school,
        teacher: format!("better-auth.session_token={teacher}"),
        people,
        class_size,
    })
}

fn token(place: usize) -> String {
    format!("{place:032}")
}
