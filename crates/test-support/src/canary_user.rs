//! A student whose every field contains a marker, among users with a different marker. Exports must contain all markers
//! of the student and none of the others; after an erasure no marker of the student may remain.

use common::clock;
use domain::file::FileKey;
use serde_json::{Value, json};

use super::rows::execute;
use super::{LessonFixture, TestApp};

/// The marker in every text that belongs to Ben; lower case, because some texts are stored in lower case.
pub const BEN: &str = "benmark";
/// The marker in every text of Cem and Ada.
pub const OTHERS: &str = "othermark";
/// The marker in every secret.
pub const SECRET: &str = "secretmark";
/// Markers of texts that Ada wrote to or about Ben.
pub const TO_BEN: [&str; 3] = ["toben-message", "toben-grade", "toben-feedback"];

/// The markers that an export of Ben's data in a school contains.
pub const OF_SCHOOL: [&str; 9] = [
    "benmark-name",
    "benmark-image",
    "benmark-mail",
    "benmark-external",
    "benmark-help",
    "benmark-chat",
    "benmark-file",
    "benmark-direct",
    "benmark-note",
];
/// The additional markers of an export that includes the account.
pub const OF_ACCOUNT: [&str; 5] = [
    "benmark-first",
    "benmark-last",
    "benmark-user",
    "benmark-agent",
    "benmark-place",
];

/// The content of a file that Ben uploaded to the chat.
pub const FILE: &[u8] = b"benmark-bytes in a file";

/// A lesson in which Ben used every feature available to a student.
pub struct CanaryUser {
    pub lesson: LessonFixture,
    pub chat_file: FileKey,
    /// The content of the group's document.
    pub document: Vec<u8>,
}

impl CanaryUser {
    pub async fn create(app: &TestApp) -> Self {
        let world = &app.world;
        let (north, ada, ben, cem) = (&world.north, &world.ada.id, &world.ben.id, &world.cem.id);
        let home = format!("UPDATE users SET home_organization_id = '{north}' WHERE id IN ('{ben}', '{cem}', '{ada}')");
        execute(&app.database, home).await;
        for (person, text) in [
            (&world.ben, "BENMARK"),
            (&world.cem, "OTHERMARK-cem"),
            (&world.ada, "OTHERMARK-ada"),
        ] {
            let (id, key) = (&person.id, text.to_lowercase());
            let name = format!(
                "UPDATE users SET name = '{text}-name', name_key = '{key}-name', search_key = '{key}-name',
                    image = 'https://x.example/{text}-image.png'
                WHERE id = '{id}'"
            );
            execute(&app.database, name).await;
        }
        let lesson = LessonFixture::create(app).await;
        let client = app.as_(&world.ben);
        let help = json!({"message": "BENMARK-help"});
        client
            .post(&format!("/groups/{}/help", lesson.group), help)
            .await
            .expect(200);
        let document = format!("/workrooms/documents/{}", lesson.document);
        let bytes: &[u8] = include_bytes!("../../adapters/templates/blank.docx");
        let content = reqwest::multipart::Form::new().part(
            "file",
            reqwest::multipart::Part::bytes(bytes.to_vec()).file_name("report.docx"),
        );
        let put = client
            .request(reqwest::Method::PUT, &format!("{document}/content"))
            .multipart(content);
        client.finish(put).await.expect(200);
        let note = json!({"assignmentId": lesson.assignment, "note": "BENMARK-note"});
        let handed_in = client.post(&format!("{document}/submit"), note).await.expect(200);
        let chat_file = FileKey::new(format!("{}.txt", clock::new_id()));
        let mut staging = app.app.files().stage(1000);
        staging.write(FILE).await.unwrap();
        let staged = staging.finish().await.unwrap();
        let file = (chat_file.clone(), staged.sha256().to_owned());
        app.app.files().commit(staged, &chat_file).await.unwrap();
        execute(&app.database, rows(app, &lesson, &handed_in, &file)).await;
        Self {
            lesson,
            chat_file,
            document: bytes.to_vec(),
        }
    }
}

/// Inserts the second factor of a user.
fn second_factor(user: &str) -> String {
    format!(
        "INSERT INTO second_factors (id, user_id, secret, created_at) VALUES ('{user}', '{user}', 'SECRETMARK', 1);
        INSERT INTO recovery_codes (id, user_id, code_hash, created_at) VALUES ('{user}', '{user}', 'SECRETMARK', 1);
        INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, transports, is_backup_eligible,
                is_backed_up, aaguid, created_at)
            VALUES ('{user}', '{user}', 'BENMARK-passkey', 'SECRETMARK-{user}', 'SECRETMARK', 0, '', FALSE, FALSE, '', 1);"
    )
}

/// Inserts a text snippet of a user.
fn snippet(organization: &str, user: &str) -> String {
    format!(
        "INSERT INTO text_snippets (organization_id, id, user_id, text, created_at, updated_at)
            VALUES ('{organization}', '{user}', '{user}', 'BENMARK-snippet', 1, 1);"
    )
}

/// Inserts rows that no route creates, or that appear only over time.
#[expect(clippy::too_many_lines, reason = "one row per table")]
fn rows(app: &TestApp, lesson: &LessonFixture, handed_in: &Value, file: &(FileKey, String)) -> String {
    let world = &app.world;
    let (north, ada, ben, cem) = (&world.north, &world.ada.id, &world.ben.id, &world.cem.id);
    let (room, group) = (&lesson.work_room, &lesson.group);
    let submission = handed_in["submission"]["id"].as_str().unwrap();
    let link = handed_in["groupAssignment"]["id"].as_str().unwrap();
    let id = clock::new_id;
    let (grade, homeroom, mail, answer, other) = (id(), id(), id(), id(), id());
    let history =
        json!([{"userId": ben, "feedback": "BENMARK-former"}, {"userId": cem, "feedback": "OTHERMARK-former"}]);
    let account = |user: &str| {
        format!(
            "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
                VALUES ('{}', '{user}', 'credential', '{user}', 'SECRETMARK-hash', 1, 1);",
            id()
        )
    };
    let mut text = format!(
        "UPDATE users SET first_name = 'BENMARK-first', last_name = 'BENMARK-last', username = 'BENMARK-user', user_name = 'BENMARK-user-name',
                email = 'benmark-mail@test.example', ban_reason = 'BENMARK-ban' WHERE id = '{ben}';
        UPDATE users SET first_name = 'OTHERMARK-first', email = 'othermark-mail@test.example' WHERE id = '{cem}';
        UPDATE users SET email = 'othermark-ada@test.example' WHERE id = '{ada}';
        UPDATE members SET external_id = 'BENMARK-external' WHERE user_id = '{ben}';
        UPDATE members SET external_id = 'OTHERMARK-external' WHERE user_id = '{cem}';
        UPDATE sessions SET user_agent = 'BENMARK-agent', ip_address = '192.0.2.7' WHERE user_id = '{ben}';
        UPDATE sessions SET user_agent = 'OTHERMARK-agent' WHERE user_id = '{cem}';
        INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
            VALUES ('{}', 'reset-password:SECRETMARK', '{ben}', 99999999999999, 1, 1);
        INSERT INTO sign_in_failures (id, account_key, address, created_at)
            VALUES ('{}', 'benmark-mail@test.example', 'BENMARK-place', 1);
        INSERT INTO sign_in_successes (account_key, address, last_success_at)
            VALUES ('benmark-mail@test.example', 'BENMARK-place', 1);
        INSERT INTO sign_in_failure_counts (account_key, failures, last_failure_at)
            VALUES ('benmark-mail@test.example', 3, 1);
        INSERT INTO homerooms (organization_id, id, name, name_key, created_at, updated_at)
            VALUES ('{north}', '{homeroom}', '7b', '7b', 1, 1);
        INSERT INTO homeroom_enrollments (organization_id, id, homeroom_id, student_id, enrolled_at)
            VALUES ('{north}', '{}', '{homeroom}', '{ben}', 1);
        INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, content, client_message_id, created_at)
            VALUES ('{north}', '{mail}', '{room}', 2, '{ben}', 'BENMARK-chat', 'BENMARK-client', 1),
                ('{north}', '{answer}', '{room}', 3, '{cem}', 'OTHERMARK-chat', 'c', 2);
        UPDATE work_room_messages SET reply_to_id = '{mail}' WHERE id = '{answer}';
        INSERT INTO work_room_reads (organization_id, work_room_id, user_id, last_read_seq, last_read_at)
            VALUES ('{north}', '{room}', '{ben}', 3, 2);
        INSERT INTO comment_threads (organization_id, id, document_id, created_at)
            VALUES ('{north}', '{mail}', '{}', 1);
        INSERT INTO document_comments (organization_id, id, thread_id, author_id, text, created_at)
            VALUES ('{north}', '{mail}', '{mail}', '{ben}', 'BENMARK-comment', 1),
                ('{north}', '{answer}', '{mail}', '{cem}', 'OTHERMARK-comment for @[{ben}]', 2);
        INSERT INTO comment_reads (organization_id, document_id, user_id, read_until)
            VALUES ('{north}', '{}', '{ben}', 1);
        INSERT INTO document_contributions (organization_id, document_id, user_id, saves, first_at, last_at, counted_until)
            VALUES ('{north}', '{}', '{ben}', 1, 1, 1, 1);",
        id(),
        id(),
        id(),
        lesson.document,
        lesson.document,
        lesson.document,
    );
    text.push_str(&second_factor(ben));
    text.push_str(&snippet(north, ben));
    text.push_str(&account(ben));
    text.push_str(&account(cem));
    let (key, sha256) = (file.0.as_str(), &file.1);
    let rest = format!(
        "INSERT INTO message_attachments (organization_id, id, work_room_id, message_id, file_name, mime_type, size, sha256,
                file_key, uploaded_by_id, created_at)
            VALUES ('{north}', '{}', '{room}', '{mail}', 'BENMARK-file.txt', 'text/plain', {}, '{sha256}', '{key}', '{ben}', 1);
        INSERT INTO direct_messages (organization_id, id, sender_id, subject, content, created_at)
            VALUES ('{north}', '{mail}', '{ben}', 'BENMARK-subject', 'BENMARK-direct', 1),
                ('{north}', '{answer}', '{ada}', NULL, '{}', 2),
                ('{north}', '{other}', '{cem}', NULL, 'OTHERMARK-direct', 3);
        INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
            VALUES ('{north}', '{mail}', '{ada}', 1), ('{north}', '{answer}', '{ben}', 2), ('{north}', '{other}', '{ada}', 3);
        INSERT INTO grades (organization_id, id, submission_id, value, status, graded_by_id, graded_at, published_at, created_at,
                updated_at)
            VALUES ('{north}', '{grade}', '{submission}', 'A', 'PUBLISHED', '{ada}', 1, 1, 1, 1);
        UPDATE group_assignments SET status = 'GRADED' WHERE id = '{link}';
        INSERT INTO member_grades (organization_id, id, grade_id, user_id, feedback)
            VALUES ('{north}', '{}', '{grade}', '{ben}', '{}'), ('{north}', '{}', '{grade}', '{cem}', 'OTHERMARK-grade');
        INSERT INTO grade_history (organization_id, id, grade_id, version, status, member_grades, changed_by_id, created_at)
            VALUES ('{north}', '{}', '{grade}', 1, 'DRAFT', '{history}', '{ada}', 1);
        INSERT INTO feedback (organization_id, id, group_assignment_id, author_id, text, published_at, created_at, updated_at)
            VALUES ('{north}', '{}', '{link}', '{ada}', '{}', 1, 1, 1);
        INSERT INTO activity_logs (organization_id, id, user_name, user_role, category, action, entity_type, entity_id, details,
                created_at)
            VALUES ('{north}', '{}', '', 'none', 'AUTH', 'LOGIN_FAILED', 'user', '{ben}',
                '{{\"email\":\"benmark-mail@test.example\",\"address\":\"192.0.2.7\"}}', 1),
            ('{north}', '{}', 'OTHERMARK-ada', 'teacher', 'GROUP', 'HELP_RESOLVED', 'group', '{group}',
                '{{\"message\":\"BENMARK-help\",\"note\":null,\"waitedSeconds\":3}}', 2);
        UPDATE activity_logs SET group_id = '{group}' WHERE action = 'HELP_RESOLVED';",
        id(),
        FILE.len(),
        TO_BEN[0],
        id(),
        TO_BEN[1],
        id(),
        id(),
        id(),
        TO_BEN[2],
        id(),
        id(),
    );
    text + &rest
}

/// Returns every row of every table as text, prefixed with its table. The event outbox is excluded, because its rows
/// expire.
pub async fn everything(app: &TestApp) -> Vec<String> {
    let database = app.database.clone();
    let all = tokio::task::spawn_blocking(move || super::tables::all_rows(&database));
    all.await
        .unwrap()
        .into_iter()
        .filter(|(table, _)| table != "event_outbox")
        .flat_map(|(table, rows)| rows.into_iter().map(move |row| format!("{table}: {row}")))
        .collect()
}
