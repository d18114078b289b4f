//! Groups with their rooms, topics and documents in any state, inserted directly into the tables, so that the tests of
//! files and documents do not depend on other modules.

use common::clock;
use db::Database;
use db::connection::Connection;

use super::{TestApp, TestClass, TestUser};

/// A group and its work room.
#[derive(Debug, Clone)]
pub struct GroupRoom {
    pub id: String,
    pub group: String,
}

db::statements! {
        GROUP = "INSERT INTO groups (organization_id, id, name, name_key, group_number, start_date, class_id, subject_id,
                course_id, created_by_id, created_at, updated_at)
            SELECT organization_id, $1, 'Group', 'group', (SELECT COUNT(*) + 1 FROM groups WHERE class_id = $2), CAST($3 AS BIGINT), id,
                $4, $5, teacher_id, 1, 1 FROM classes WHERE id = $2";
        ROOM = "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at)
            SELECT organization_id, $1, id, 1, 1 FROM groups WHERE id = $2";
        MEMBER = "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
            SELECT organization_id, $1, class_id, id, $3, 1 FROM groups WHERE id = $2";
        TOPIC = "INSERT INTO assignments (organization_id, id, title, title_key, description, deadline, class_id, course_id,
                created_by_id, created_at, updated_at)
            SELECT organization_id, $1, 'Topic', 'topic', '', 9999999999999, id, $3, teacher_id, 1, 1
            FROM classes WHERE id = $2";
        LINK = "INSERT INTO group_assignments (organization_id, id, class_id, assignment_id, group_id, created_at, updated_at)
            SELECT organization_id, $1, class_id, $2, id, 1, 1 FROM groups WHERE id = $3";
        LINK_STATUS = "SELECT status FROM group_assignments WHERE assignment_id = $1 AND group_id = $2";
        CLASS_STATUS = "UPDATE classes SET status = $2 WHERE id = $1";
        START = "UPDATE groups SET start_date = $2 WHERE id = $1";
        LOCK = "UPDATE documents SET status_before_lock = status, status = 'LOCKED', locked_at = 5 WHERE id = $1";
        SUBMIT = "UPDATE documents SET status = 'SUBMITTED', assignment_id = $2, submitted_at = 5 WHERE id = $1";
        DRAFT = "UPDATE documents SET status = 'DRAFT', submitted_at = NULL WHERE id = $1";
        GENERATION = "SELECT generation FROM documents WHERE id = $1";
        LATE = "UPDATE document_revisions SET origin = 'LATE_AFTER_LOCK' WHERE document_id = $1 AND version = $2";
        SUBMISSION = "INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, status, submitted_by_id,
                submitted_at, member_ids, created_at)
            SELECT organization_id, $1, id, 1, 'ACTIVE', $4, 5, '[]', 5 FROM group_assignments
            WHERE assignment_id = $2 AND group_id = $3";
        CURRENT = "UPDATE group_assignments SET status = 'SUBMITTED', current_submission_id = $3
            WHERE assignment_id = $1 AND group_id = $2";
        COPY = "INSERT INTO submission_documents (organization_id, id, submission_id, document_id, document_version, title,
                file_extension, size, sha256, file_key, created_at)
            SELECT organization_id, $1, $2, id, version, title, file_extension, size, '', $1, 5 FROM documents WHERE id = $3";
        GRADE = "INSERT INTO grades (organization_id, id, submission_id, value, points, feedback, status, graded_by_id,
                graded_at, created_at, updated_at)
            SELECT organization_id, $1, id, '2+', 12.5, 'Good', 'DRAFT', $3, 6, 6, 6 FROM submissions WHERE id = $2";
        PUBLISH = "UPDATE grades SET status = 'PUBLISHED', published_at = 7 WHERE submission_id = $1";
        ATTACHMENT = "INSERT INTO group_attachments (organization_id, id, group_id, file_name, mime_type, size, sha256,
                file_key, uploaded_by_id, created_at)
            SELECT organization_id, $1, id, $3, 'x/y', CAST($4 AS BIGINT), $5, $6, created_by_id, 1 FROM groups WHERE id = $2";
        CONVERTED = "INSERT INTO converted_files (organization_id, id, revision_id, format, file_key, size, sha256, created_at)
            SELECT organization_id, $1, id, 'pdf', $2, 3, '', 1 FROM document_revisions WHERE document_id = $3";
    REMOVALS = "SELECT COUNT(*) FROM file_removals";
}

impl TestApp {
    /// Runs a closure with a direct database connection.
    pub async fn tables<T: Send + 'static>(&self, act: impl FnOnce(&mut Connection) -> T + Send + 'static) -> T {
        let database = self.database.clone();
        let work = move || {
            let mut connection = match &database {
                Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
                Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
            };
            act(&mut connection)
        };
        tokio::task::spawn_blocking(work).await.unwrap()
    }

    /// Inserts a group of a class with its room and members.
    pub async fn room(&self, class: &TestClass, members: &[&TestUser]) -> GroupRoom {
        let members: Vec<String> = members.iter().map(|person| person.id.clone()).collect();
        let class = class.clone();
        self.tables(move |tables| {
            let room = GroupRoom {
                id: clock::new_id(),
                group: clock::new_id(),
            };
            assert!(!STATEMENTS.is_empty());
            let course = db::args![room.group, class.id, None::<i64>, class.subject, class.course];
            tables.execute(&GROUP, course).unwrap();
            tables.execute(&ROOM, db::args![room.id, room.group]).unwrap();
            for member in members {
                tables
                    .execute(&MEMBER, db::args![clock::new_id(), room.group, member])
                    .unwrap();
            }
            room
        })
        .await
    }

    /// Inserts a topic of a class and assigns it to groups.
    pub async fn topic(&self, class: &TestClass, rooms: &[&GroupRoom]) -> String {
        let groups: Vec<String> = rooms.iter().map(|room| room.group.clone()).collect();
        let class = class.clone();
        self.tables(move |tables| {
            let id = clock::new_id();
            tables.execute(&TOPIC, db::args![id, class.id, class.course]).unwrap();
            for group in groups {
                tables.execute(&LINK, db::args![clock::new_id(), id, group]).unwrap();
            }
            id
        })
        .await
    }

    /// Returns the status of a group's topic assignment.
    pub async fn link_status(&self, topic: &str, room: &GroupRoom) -> String {
        let (topic, group) = (topic.to_owned(), room.group.clone());
        self.tables(move |tables| {
            let found = tables.fetch_optional(&LINK_STATUS, db::args![topic, group], |row| row.only::<String>());
            found.unwrap().unwrap()
        })
        .await
    }

    /// Sets the status of a class.
    pub async fn set_class_status(&self, class: &TestClass, status: &'static str) {
        let id = class.id.clone();
        self.tables(move |tables| tables.execute(&CLASS_STATUS, db::args![id, status]).unwrap())
            .await;
    }

    /// Sets the start date of a group.
    pub async fn set_group_start(&self, room: &GroupRoom, at: i64) {
        let group = room.group.clone();
        self.tables(move |tables| tables.execute(&START, db::args![group, at]).unwrap())
            .await;
    }

    /// Locks a document as a finished topic does.
    pub async fn lock(&self, document: &str) {
        let id = document.to_owned();
        self.tables(move |tables| tables.execute(&LOCK, db::args![id]).unwrap())
            .await;
    }

    /// Submits a document for a topic, with a draft grade of the teacher; returns the submission id.
    pub async fn insert_submission(&self, document: &str, topic: &str, room: &GroupRoom, teacher: &TestUser) -> String {
        let (id, topic, group, teacher) = (
            document.to_owned(),
            topic.to_owned(),
            room.group.clone(),
            teacher.id.clone(),
        );
        self.tables(move |tables| {
            let submission = clock::new_id();
            tables.execute(&SUBMIT, db::args![id, topic]).unwrap();
            tables
                .execute(&SUBMISSION, db::args![submission, topic, group, teacher])
                .unwrap();
            tables.execute(&CURRENT, db::args![topic, group, submission]).unwrap();
            tables
                .execute(&COPY, db::args![clock::new_id(), submission, id])
                .unwrap();
            tables
                .execute(&GRADE, db::args![clock::new_id(), submission, teacher])
                .unwrap();
            submission
        })
        .await
    }

    /// Publishes the grade of a submission.
    pub async fn publish(&self, submission: &str) {
        let id = submission.to_owned();
        self.tables(move |tables| tables.execute(&PUBLISH, db::args![id]).unwrap())
            .await;
    }

    /// Resets a document to a draft; its copies remain.
    pub async fn withdraw(&self, document: &str) {
        let id = document.to_owned();
        self.tables(move |tables| tables.execute(&DRAFT, db::args![id]).unwrap())
            .await;
    }

    /// Returns the generation of a document's key.
    pub async fn generation(&self, document: &str) -> i64 {
        let id = document.to_owned();
        self.tables(move |tables| {
            let found = tables.fetch_optional(&GENERATION, db::args![id], |row| row.only());
            found.unwrap().unwrap()
        })
        .await
    }

    /// Marks a revision as late.
    pub async fn insert_late_revision(&self, document: &str, version: i64) {
        let id = document.to_owned();
        self.tables(move |tables| tables.execute(&LATE, db::args![id, version]).unwrap())
            .await;
    }

    /// Inserts a file of a group and stores its bytes in the format of the service.
    pub async fn group_file(&self, room: &GroupRoom, name: &str, bytes: &[u8]) -> String {
        let mut staging = self.app.files().stage(1 << 20);
        staging.write(bytes).await.unwrap();
        let staged = staging.finish().await.unwrap();
        let (id, group, name) = (clock::new_id(), room.group.clone(), name.to_owned());
        let (size, sha256) = (i64::try_from(staged.size()).unwrap(), staged.sha256().to_owned());
        let key = domain::file::FileKey::new(format!("{id}.bin"));
        self.app.files().commit(staged, &key).await.unwrap();
        let row = id.clone();
        self.tables(move |tables| {
            tables
                .execute(&ATTACHMENT, db::args![row, group, name, size, sha256, key.as_str()])
                .unwrap();
        })
        .await;
        id
    }

    /// Inserts a conversion of the only revision of a document.
    pub async fn insert_conversion(&self, document: &str) {
        let key = domain::file::FileKey::new(format!("{document}.pdf"));
        let mut staging = self.app.files().stage(10);
        staging.write(b"pdf").await.unwrap();
        self.app
            .files()
            .commit(staging.finish().await.unwrap(), &key)
            .await
            .unwrap();
        let id = document.to_owned();
        self.tables(move |tables| {
            tables
                .execute(&CONVERTED, db::args![clock::new_id(), key.as_str(), id])
                .unwrap();
        })
        .await;
    }

    /// Counts the files that are queued for removal.
    pub async fn pending_removals(&self) -> i64 {
        self.tables(|tables| {
            tables
                .fetch_optional(&REMOVALS, &[], |row| row.only())
                .unwrap()
                .unwrap()
        })
        .await
    }

    /// Returns the names of all files in the storage, including temporary files of running writes.
    pub fn stored_files(&self) -> Vec<String> {
        fn below(folder: &std::path::Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    below(&path, found);
                } else {
                    found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let mut found = Vec::new();
        below(&self.folder().join("files"), &mut found);
        // The marker file of the storage.
        found.retain(|name| name != "id");
        found
    }
}
