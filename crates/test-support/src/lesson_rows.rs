//! Rows of every kind that a lesson creates, inserted directly into the tables. Tests of deletions use them.

use common::clock;
use db::Database;
use db::connection::Connection;

db::statements! {
    TOPIC = "INSERT INTO assignments (organization_id, id, title, title_key, description, deadline, class_id, course_id,
            created_by_id, created_at, updated_at)
        VALUES ($1, $2, 'Leaves', 'leaves', 'Draw.', 9, $3, $4, $5, 1, 1)";
    TOPIC_FILE = "INSERT INTO assignment_attachments (organization_id, id, assignment_id, group_assignment_id, file_name,
            mime_type, size, sha256, file_key, uploaded_by_id, created_at)
        VALUES ($1, $2, $3, $4, 'a.pdf', 'application/pdf', 1, 'x', $2, $5, 1)";
    GROUP = "INSERT INTO groups (organization_id, id, name, name_key, group_number, class_id, subject_id, course_id,
            created_by_id, created_at, updated_at)
        VALUES ($1, $2, $3, $3, $4, $5, (SELECT subject_id FROM courses WHERE id = $6), $6, $7, 1, 1)";
    ROOM = "INSERT INTO work_rooms (organization_id, id, group_id, last_message_seq, created_at, updated_at)
        VALUES ($1, $2, $3, 2, 1, 1)";
    MEMBER = "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
        VALUES ($1, $2, $3, $4, $5, 1)";
    GROUP_FILE = "INSERT INTO group_attachments (organization_id, id, group_id, file_name, mime_type, size, sha256, file_key,
            uploaded_by_id, created_at)
        VALUES ($1, $2, $3, 'a.pdf', 'application/pdf', 1, 'x', $2, $4, 1)";
    MESSAGE = "INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, content, reply_to_id, created_at)
        VALUES ($1, $2, $3, $4, $5, 'Hello', $6, 1)";
    MESSAGE_FILE = "INSERT INTO message_attachments (organization_id, id, work_room_id, message_id, file_name, mime_type, size,
            sha256, file_key, uploaded_by_id, created_at)
        VALUES ($1, $2, $3, $4, 'a.png', 'image/png', 1, 'x', $2, $5, 1)";
    READ = "INSERT INTO work_room_reads (organization_id, work_room_id, user_id, last_read_seq, last_read_at)
        VALUES ($1, $2, $3, 1, 1)";
    LINK = "INSERT INTO group_assignments (organization_id, id, class_id, assignment_id, group_id, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, 1, 1)";
    FEEDBACK = "INSERT INTO feedback (organization_id, id, group_assignment_id, submission_id, document_id, author_id, text,
            published_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, 'Good', 1, 1, 1)";
    DOCUMENT = "INSERT INTO documents (organization_id, id, work_room_id, title, document_type, file_extension, assignment_id,
            current_revision_id, version, created_by_id, last_activity, created_at, updated_at)
        VALUES ($1, $2, $3, 'Page', 'word', 'docx', $4, $5, 1, $6, 1, 1, 1)";
    REVISION = "INSERT INTO document_revisions (organization_id, id, document_id, version, file_key, size, sha256, origin,
            generation, created_at)
        VALUES ($1, $2, $3, 1, $2, 1, 'x', 'EDITOR', 1, 1)";
    SAVE = "INSERT INTO document_saves (organization_id, id, document_id, document_key, url_path_hash, outcome, revision_id,
            created_at)
        VALUES ($1, $2, $3, 'key', '', 'CURRENT', $4, 1)";
    SESSION = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, since, last_callback_at)
        VALUES ($1, $2, $3, 1, 'key', $4, $4)";
    DOCUMENT_LOG = "INSERT INTO document_logs (organization_id, document_id, generation, version, created_at)
        VALUES ($1, $2, 1, 1, 1)";
    DOCUMENT_SNAPSHOT = "INSERT INTO document_snapshots (organization_id, document_id, generation, version, content, created_at)
        VALUES ($1, $2, 1, 0, '{{}}', 1)";
    DOCUMENT_STEP = "INSERT INTO document_steps (organization_id, document_id, generation, version, author_id, client_id, ref, steps,
            created_at)
        VALUES ($1, $2, 1, 1, $3, 'c', 'r', '[]', 1)";
    DOCUMENT_IMAGE = "INSERT INTO document_images (organization_id, id, document_id, mime_type, size, sha256, file_key, width, height,
            uploaded_by_id, created_at)
        VALUES ($1, $2, $3, 'image/png', 1, 'x', $2, 1, 1, $4, 1)";
    LATE_COMMIT = "INSERT INTO late_commits (organization_id, id, document_id, generation, author_id, client_id, ref, version, steps,
            created_at, is_saved)
        VALUES ($1, $2, $3, 1, $4, 'c', 'r', 0, '[]', 1, TRUE)";
    COMMENT_THREAD = "INSERT INTO comment_threads (organization_id, id, document_id, generation, version, from_position, to_position,
            quote, created_at)
        VALUES ($1, $2, $3, 1, 1, 1, 2, 'a', 1)";
    COMMENT = "INSERT INTO document_comments (organization_id, id, thread_id, author_id, text, created_at)
        VALUES ($1, $2, $3, $4, 'Why?', 1)";
    COMMENT_READ = "INSERT INTO comment_reads (organization_id, document_id, user_id, read_until) VALUES ($1, $2, $3, 1)";
    CONTRIBUTION = "INSERT INTO document_contributions (organization_id, document_id, user_id, first_at, last_at, counted_until)
        VALUES ($1, $2, $3, 1, 1, 1)";
    CONVERTED = "INSERT INTO converted_files (organization_id, id, revision_id, submission_document_id, format, file_key, size,
            sha256, created_at)
        VALUES ($1, $2, $3, $4, 'pdf', $2, 1, 'x', 1)";
    SUBMISSION = "INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, submitted_by_id, submitted_at,
            member_ids, created_at)
        VALUES ($1, $2, $3, 1, $4, 1, '[]', 1)";
    COPY = "INSERT INTO submission_documents (organization_id, id, submission_id, document_id, document_version, title,
            file_extension, size, sha256, file_key, created_at)
        VALUES ($1, $2, $3, $4, 1, 'Page', 'docx', 1, 'x', $2, 1)";
    GRADE = "INSERT INTO grades (organization_id, id, submission_id, value, graded_by_id, graded_at, created_at, updated_at)
        VALUES ($1, $2, $3, 'A', $4, 1, 1, 1)";
    MEMBER_GRADE = "INSERT INTO member_grades (organization_id, id, grade_id, user_id, value) VALUES ($1, $2, $3, $4, 'B')";
    GRADE_HISTORY = "INSERT INTO grade_history (organization_id, id, grade_id, version, status, changed_by_id, created_at)
        VALUES ($1, $2, $3, 1, 'DRAFT', $4, 1)";
    HAND_IN_LINK = "UPDATE group_assignments SET status = 'SUBMITTED', current_submission_id = $2
        WHERE organization_id = $1 AND id = $3";
    HAND_IN_DOCUMENT = "UPDATE documents SET status = 'SUBMITTED', submitted_at = 1, submitted_by_id = $3
        WHERE organization_id = $1 AND id = $2";
    FINISH = "UPDATE assignments SET status = 'FINISHED', finished_at = 1 WHERE organization_id = $1 AND id = $2";
    LOCK = "UPDATE documents SET status_before_lock = status, status = 'LOCKED', locked_at = 1, locked_by_assignment_id = $3
        WHERE organization_id = $1 AND id = $2";
    LINK_DOCUMENT = "UPDATE documents SET assignment_id = $3 WHERE organization_id = $1 AND id = $2";
    ANNOUNCEMENT = "INSERT INTO direct_messages (organization_id, id, sender_id, class_id, content, created_at)
        VALUES ($1, $2, $3, $4, 'Hello all', 1)";
}

/// Inserts rows of one class of one school.
pub struct LessonRows {
    connection: Connection,
    organization: String,
    class: String,
    teacher: String,
    student: String,
    locks: Vec<(String, Option<String>)>,
}

/// A group with its work room.
#[derive(Debug, Clone)]
pub struct LessonGroup {
    pub id: String,
    pub room: String,
}

macro_rules! run {
    ($rows:expr, $statement:ident, $($argument:expr),*) => {
        $rows.connection.execute(&$statement, db::args![$rows.organization, $($argument),*]).unwrap()
    };
}

impl LessonRows {
    pub fn of(database: &Database, organization: &str, class: &str, teacher: &str, student: &str) -> Self {
        assert!(STATEMENTS.len() > 20);
        let connection = match database {
            Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
            Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
        };
        let [organization, class, teacher, student] = [organization, class, teacher, student].map(str::to_owned);
        let locks = Vec::new();
        Self {
            connection,
            organization,
            class,
            teacher,
            student,
            locks,
        }
    }

    /// Inserts a topic with a shared file.
    pub fn topic(&mut self, course: Option<&str>) -> String {
        let id = clock::new_id();
        run!(self, TOPIC, id, self.class, course, self.teacher);
        run!(self, TOPIC_FILE, clock::new_id(), id, None::<String>, self.teacher);
        id
    }

    /// Inserts a group with a member, a file, and a room with a message and a reply to it.
    pub fn group(&mut self, number: i64, course: Option<&str>) -> LessonGroup {
        let (id, room, question, answer) = (clock::new_id(), clock::new_id(), clock::new_id(), clock::new_id());
        run!(
            self,
            GROUP,
            id,
            format!("group {number}"),
            number,
            self.class,
            course,
            self.teacher
        );
        run!(self, ROOM, room, id);
        run!(self, MEMBER, clock::new_id(), self.class, id, self.student);
        run!(self, GROUP_FILE, clock::new_id(), id, self.teacher);
        run!(self, MESSAGE, question, room, 1_i64, self.student, None::<String>);
        run!(self, MESSAGE, answer, room, 2_i64, self.teacher, question);
        run!(self, MESSAGE_FILE, clock::new_id(), room, answer, self.teacher);
        run!(self, MESSAGE_FILE, clock::new_id(), room, None::<String>, self.teacher);
        run!(self, READ, room, self.student);
        LessonGroup { id, room }
    }

    /// Assigns a topic to a group, with a file of the assignment and feedback.
    pub fn link(&mut self, topic: &str, group: &LessonGroup) -> String {
        let id = clock::new_id();
        run!(self, LINK, id, self.class, topic, group.id);
        run!(self, TOPIC_FILE, clock::new_id(), topic, id, self.teacher);
        run!(
            self,
            FEEDBACK,
            clock::new_id(),
            id,
            None::<String>,
            None::<String>,
            self.teacher
        );
        id
    }

    /// Inserts a document with content that is open in an editor.
    pub fn document(&mut self, group: &LessonGroup, topic: Option<&str>) -> String {
        let (id, revision) = (clock::new_id(), clock::new_id());
        run!(self, DOCUMENT, id, group.room, topic, revision, self.student);
        run!(self, REVISION, revision, id);
        run!(self, SAVE, clock::new_id(), id, revision);
        // The service asks the document server about sessions without a recent callback, and ends them.
        run!(self, SESSION, clock::new_id(), id, clock::now());
        run!(self, CONTRIBUTION, id, self.student);
        run!(self, DOCUMENT_LOG, id);
        run!(self, DOCUMENT_SNAPSHOT, id);
        run!(self, DOCUMENT_STEP, id, self.student);
        run!(self, DOCUMENT_IMAGE, clock::new_id(), id, self.student);
        run!(self, LATE_COMMIT, clock::new_id(), id, self.student);
        let thread = clock::new_id();
        run!(self, COMMENT_THREAD, thread, id);
        run!(self, COMMENT, clock::new_id(), thread, self.student);
        run!(self, COMMENT_READ, id, self.student);
        run!(self, CONVERTED, clock::new_id(), revision, None::<String>);
        id
    }

    pub fn link_document(&mut self, document: &str, topic: &str) {
        run!(self, LINK_DOCUMENT, document, topic);
    }

    /// Submits an assigned document, with a grade and a comment.
    pub fn submit(&mut self, link: &str, document: &str) {
        self.submit_all(link, &[document.to_owned()]);
    }

    /// Submits assigned documents in one submission, with a grade and a comment.
    pub fn submit_all(&mut self, link: &str, documents: &[String]) {
        let (id, grade) = (clock::new_id(), clock::new_id());
        run!(self, SUBMISSION, id, link, self.student);
        run!(self, GRADE, grade, id, self.teacher);
        run!(self, MEMBER_GRADE, clock::new_id(), grade, self.student);
        run!(self, GRADE_HISTORY, clock::new_id(), grade, self.teacher);
        run!(self, HAND_IN_LINK, id, link);
        for document in documents {
            let copy = clock::new_id();
            run!(self, COPY, copy, id, document);
            run!(self, CONVERTED, clock::new_id(), None::<String>, copy);
            run!(self, FEEDBACK, clock::new_id(), link, id, document, self.teacher);
            run!(self, HAND_IN_DOCUMENT, document, self.student);
        }
    }

    pub fn finish(&mut self, topic: &str) {
        run!(self, FINISH, topic);
    }

    /// Locks a document; `None` is a lock from a version that did not store the topic.
    pub fn lock(&mut self, document: &str, topic: Option<&str>) {
        run!(self, LOCK, document, topic);
    }

    /// Queues a lock for [`Self::flush_locks`], because the document is submitted first.
    pub fn queue_lock(&mut self, document: &str, topic: Option<&str>) {
        self.locks.push((document.to_owned(), topic.map(str::to_owned)));
    }

    pub fn flush_locks(&mut self) {
        for (document, topic) in std::mem::take(&mut self.locks) {
            self.lock(&document, topic.as_deref());
        }
    }

    pub fn announcement(&mut self) {
        run!(self, ANNOUNCEMENT, clock::new_id(), self.teacher, self.class);
    }

    /// Inserts a topic and a group with one submitted and one other document: a row in every table that a lesson uses.
    pub fn lesson(&mut self, number: i64, course: Option<&str>) -> (String, LessonGroup, String) {
        let (topic, group) = (self.topic(course), self.group(number, course));
        let link = self.link(&topic, &group);
        let page = self.document(&group, Some(&topic));
        self.document(&group, None);
        self.submit(&link, &page);
        (topic, group, link)
    }
}
