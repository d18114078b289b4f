//! A school with rows in every table that an archive of a school contains, and with all of their files.

use common::clock;
use domain::file::FileKey;
use sha2::{Digest as _, Sha256};

use test_support::lesson_rows::LessonRows;
use test_support::rows::{execute, texts};
use test_support::{DatabaseKind, LessonFixture, ServerEnv, TestApp};

pub struct FullSchool {
    pub app: TestApp,
    /// A document of Ben.
    pub document: String,
    /// A student without an address.
    pub without_address: String,
}

impl FullSchool {
    pub async fn create(kind: DatabaseKind) -> Option<Self> {
        let app = TestApp::start_with(kind, &["--deleted-retention-days=30"]).await?;
        let lesson = LessonFixture::create(&app).await;
        let (world, adam) = (&app.world, app.as_(&app.world.adam));
        let path = format!("/classes/{}/teachers", world.seven_b.id);
        adam.post(&path, serde_json::json!({"userId": world.tom.id}))
            .await
            .expect(200);
        let path = format!("/homerooms/{}/students", lesson.homeroom);
        adam.post(&path, serde_json::json!({"studentIds": [world.ben.id]}))
            .await
            .expect(200);
        insert_lessons(&app).await;
        let without_address = insert_rows(&app).await;
        store_missing_files(&app).await;
        Some(Self {
            document: lesson.document,
            without_address,
            app,
        })
    }

    /// Returns the environment of commands on this installation.
    pub fn env(&self) -> ServerEnv {
        let mut env = ServerEnv::on_database(&self.app.database);
        env.set("DATA_DIR", self.app.folder().to_str().unwrap());
        env
    }

    pub async fn close(self) {
        self.app.close().await;
    }
}

async fn insert_lessons(app: &TestApp) {
    let (database, world) = (app.database.clone(), app.world.clone());
    tokio::task::spawn_blocking(move || {
        let mut rows = LessonRows::of(&database, &world.north, &world.seven_b.id, &world.ada.id, &world.ben.id);
        rows.lesson(41, Some(&world.seven_b.course));
        rows.lesson(42, None);
        rows.announcement();
    })
    .await
    .unwrap();
}

async fn insert_rows(app: &TestApp) -> String {
    let (north, ada, now) = (&app.world.north, &app.world.ada.id, clock::now().as_millis());
    let student = clock::new_id();
    let statements = [
        format!(
            "INSERT INTO deleted_documents (organization_id, id, class_name, group_id, group_name, title, file_extension,
                generation, oldest_generation, is_open, deleted_at)
                VALUES ('{north}', 'deleted-of-north', '7b', 'g', 'g', 'Page', 'docx', 1, 1, FALSE, {now})"
        ),
        format!(
            "INSERT INTO late_texts (organization_id, id, document_id, generation, file_extension, file_key, size, sha256,
                received_at)
                VALUES ('{north}', 'late-of-north', 'deleted-of-north', 1, 'docx', 'late-of-north.docx', 1, 'x', {now})"
        ),
        format!(
            "INSERT INTO deletion_archive_files (organization_id, archive_id, file_key, size, sha256)
                SELECT organization_id, MIN(id), 'archived-file-of-north', 1, 'x' FROM deletion_archives
                WHERE organization_id = '{north}' GROUP BY organization_id"
        ),
        format!(
            "INSERT INTO grade_files (organization_id, id, submission_id, file_name, mime_type, size, sha256, file_key,
                uploaded_by_id, created_at)
                SELECT organization_id, 'file-of-north', MIN(id), 'notes.txt', 'text/plain', 1, 'x', 'grade-file-of-north',
                    '{ada}', 1 FROM submissions WHERE organization_id = '{north}' GROUP BY organization_id"
        ),
        format!(
            "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
                SELECT organization_id, MIN(id), '{}', 1 FROM direct_messages WHERE organization_id = '{north}'
                GROUP BY organization_id",
            app.world.finn.id
        ),
        format!(
            "INSERT INTO users (id, name, name_key, search_key, sort_key, email, email_verified, username, user_name,
                home_organization_id, created_at, updated_at)
                VALUES ('{student}', 'Nils Nomail', 'nils nomail', 'nils nomail', '', '{student}@no-email.invalid', FALSE,
                    'nils.nomail', 'nils.nomail', '{north}', 1, 1)"
        ),
        format!(
            "INSERT INTO members (organization_id, id, user_id, role, created_at)
                VALUES ('{north}', 'member-nils', '{student}', 'student', 1)"
        ),
    ];
    for statement in statements {
        execute(&app.database, statement).await;
    }
    student
}

/// Stores a file of one byte for each row that has none.
async fn store_missing_files(app: &TestApp) {
    let sha256 = Sha256::digest(b"a").iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        write!(text, "{byte:02x}").unwrap();
        text
    });
    for table in [
        "assignment_attachments",
        "converted_files",
        "deletion_archive_files",
        "document_images",
        "document_revisions",
        "grade_files",
        "group_attachments",
        "late_texts",
        "message_attachments",
        "submission_documents",
    ] {
        let keys = texts(
            &app.database,
            format!("SELECT file_key FROM {table} WHERE sha256 = 'x'"),
        )
        .await;
        for key in keys.into_iter().flatten() {
            let mut staging = app.app.files().stage(1);
            staging.write(b"a").await.unwrap();
            let staged = staging.finish().await.unwrap();
            app.app.files().commit(staged, &FileKey::new(key)).await.unwrap();
        }
        execute(
            &app.database,
            format!("UPDATE {table} SET sha256 = '{sha256}', size = 1 WHERE sha256 = 'x'"),
        )
        .await;
    }
    execute(
        &app.database,
        "UPDATE documents SET size = (SELECT r.size FROM document_revisions r WHERE r.id = current_revision_id)
            WHERE current_revision_id IS NOT NULL"
            .to_owned(),
    )
    .await;
}
