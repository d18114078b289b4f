//! Checks the service against its OpenAPI document with schemathesis: requests are generated from the document and sent
//! by a caller of each role. No response may be a server error, each response must match the document, and no request
//! succeeds without a session unless the document allows it. `make test` generates 20 requests for each operation,
//! `make soak` (`GROUPWORK_SOAK=1`) 200.

use std::collections::BTreeMap;
use std::path::Path;

use document_server_simulator::{Simulator, SimulatorSettings};
use domain::access::Access;
use serde_json::{Value, json};

use test_support::accounts::{PASSWORD, enable};
use test_support::openapi_check::document;
use test_support::{
    DOCSERVER_SECRET, DatabaseKind, FRONTEND, LessonFixture, TestApp, TestUser, World, environment, size,
};

/// The directory with the settings and hooks of schemathesis.
const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/schemathesis");
/// The path at which `scripts/setup-tests` installs schemathesis.
const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/schemathesis/bin/schemathesis"
);
/// The callers.
#[derive(Debug, Clone, Copy)]
enum SchemathesisUser {
    Anonymous,
    Student,
    Teacher,
    Admin,
    SuperAdmin,
    DocumentServer,
}

impl SchemathesisUser {
    /// The account, and the school that is active in its sessions.
    fn person(self, world: &World) -> Option<(&TestUser, Option<&str>)> {
        let north = Some(world.north.as_str());
        match self {
            Self::Anonymous | Self::DocumentServer => None,
            Self::Student => Some((&world.ben, north)),
            Self::Teacher => Some((&world.ada, north)),
            Self::Admin => Some((&world.adam, north)),
            Self::SuperAdmin => Some((&world.root, None)),
        }
    }

    /// The minimum number of operations that must succeed at least once. With fewer, the run proves nothing: the
    /// fixtures have changed, a session was lost, or the generated bodies are no longer valid.
    fn least_succeeded(self) -> usize {
        match self {
            Self::Anonymous => 10,
            Self::Student => 60,
            Self::Teacher => 95,
            Self::Admin | Self::SuperAdmin => 105,
            Self::DocumentServer => 2,
        }
    }

    /// Additional command line arguments.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::DocumentServer => &[
                "--phases",
                "fuzzing",
                "--include-path-regex",
                "^/workrooms/documents/{id}/(file|callback)$",
            ],
            // The administrator passes most permission checks, so this run also generates requests that the document
            // forbids.
            Self::Admin => &["--phases", "coverage,fuzzing"],
            _ => &["--phases", "fuzzing"],
        }
    }
}

async fn run_as(caller: SchemathesisUser, kind: DatabaseKind, examples: &str) {
    if !Path::new(PROGRAM).exists() {
        assert!(
            environment("CI").is_none(),
            "schemathesis is required in CI: run scripts/setup-tests"
        );
        test_support::report_skipped("schemathesis is not installed; scripts/setup-tests installs it");
        return;
    }
    let document_server = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    let url = format!("--docserver-url={}", document_server.url());
    let Some(app) = TestApp::start_with(kind, &[&url, "--trust-proxy=127.0.0.1"]).await else {
        return;
    };
    let world = school(&app, caller).await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("openapi.json");
    std::fs::write(&description, document().value.to_string()).unwrap();
    let mut program = tokio::process::Command::new(PROGRAM);
    program
        .args([
            "--config-file",
            &format!("{HOME}/schemathesis.toml"),
            "run",
            "--no-color",
        ])
        .args(["--url", &format!("{}/api", app.base), "--max-examples", examples])
        .args(caller.words())
        .arg(&description)
        .current_dir(folder.path())
        .env("GROUPWORK_WORLD", world.to_string())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", HOME)
        .kill_on_drop(true);
    let output = program.output().await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{caller:?} on {kind:?}:\n{printed}");
    let succeeded = printed
        .lines()
        .find_map(|line| line.strip_prefix("succeeded: ")?.parse::<usize>().ok());
    println!("{caller:?} on {kind:?}: {succeeded:?} operations answered well");
    assert!(
        examples == FEW || succeeded >= Some(caller.least_succeeded()),
        "{caller:?} on {kind:?}: only {succeeded:?}"
    );
    app.close().await;
}

/// The input of the hooks: the caller and the existing ids.
async fn school(app: &TestApp, caller: SchemathesisUser) -> Value {
    let (lesson, world) = (LessonFixture::create(app).await, &app.world);
    let person = caller.person(world);
    if let Some((person, _)) = person {
        enable(app, person).await;
    }
    json!({
        "base": format!("{}/api", app.base),
        "origin": FRONTEND,
        "login": person.map(|(person, _)| json!({"email": person.email, "password": PASSWORD})),
        "organization": person.and_then(|(_, organization)| organization),
        "documentKey": key_of_document(app, &lesson).await,
        "writer": world.ben.id,
        "documentSecret": matches!(caller, SchemathesisUser::DocumentServer).then_some(DOCSERVER_SECRET),
        "paths": ids_of_paths(app, &lesson),
        "fields": ids_of_fields(world, &lesson),
    })
}

/// Returns the key of the current document state at the document server.
async fn key_of_document(app: &TestApp, lesson: &LessonFixture) -> Value {
    let path = format!("/workrooms/documents/{}/editor-config", lesson.document);
    app.as_(&app.world.ben).get(&path).await.expect(200)["document"]["key"].clone()
}

/// The values of path parameters, by path and name.
fn ids_of_paths(app: &TestApp, lesson: &LessonFixture) -> BTreeMap<String, BTreeMap<String, [String; 1]>> {
    let with_ids = document().rows.iter().filter(|row| row.access != Access::Anyone);
    let ids = with_ids.map(|row| {
        let names = row.path.split(['{', '}']).skip(1).step_by(2);
        let ids = names.map(|name| {
            // The other school is used, because the school of the test must not be suspended or deleted.
            let id = if row.path.starts_with("/tenants/") {
                app.world.south.clone()
            } else {
                lesson.parameter(app, &row.path, name)
            };
            (name.to_owned(), [id])
        });
        (row.path.clone(), ids.collect())
    });
    ids.collect()
}

/// The values that replace generated values in queries and bodies, by field name. The most likely value comes first.
/// Some values are hidden from most users or belong to another school.
fn ids_of_fields(world: &World, lesson: &LessonFixture) -> Value {
    let (seven_b, south, eight_a) = (&world.seven_b, &world.south_class, &world.eight_a);
    let students = [&world.ben, &world.cem, &world.dana, &world.eli, &world.zack].map(|person| &person.id);
    let groups = [&lesson.group, &lesson.hidden_group];
    json!({
        "classId": [seven_b.id, eight_a.id, south.id], "classIds": [seven_b.id, south.id],
        "courseId": [seven_b.course, eight_a.course, south.course],
        "subjectId": [seven_b.subject, south.subject], "subjectIds": [seven_b.subject, south.subject],
        "homeroomId": [lesson.homeroom], "teacherId": [world.ada.id, world.tom.id, world.zoe.id],
        "groupId": groups, "groupIds": groups, "toGroupId": groups, "assignmentId": [lesson.assignment],
        "assignment_id": [lesson.assignment], "templateAttachmentId": [lesson.attachment],
        "addAttachmentIds": [lesson.attachment], "removeAttachmentIds": [lesson.attachment],
        "memberIds": students, "studentIds": students, "userId": students, "userIds": students,
        "organizationId": [world.north, world.south], "groupAssignmentId": [lesson.link], "submissionId": [lesson.submission],
        "documentId": [lesson.copy, lesson.document], "recipientIds": students, "workRoomId": [lesson.work_room],
        "attachmentIds": [lesson.chat_file], "messageId": [lesson.message], "lastReadMessageId": [lesson.message],
        "threadId": [lesson.comment_thread], "commentId": [lesson.comment],
    })
}

/// Examples for each operation in the short run. These are too few to require that any operation succeeds.
const FEW: &str = "1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_to_few_requests_of_students_are_documented() {
    run_as(SchemathesisUser::Student, DatabaseKind::Sqlite, FEW).await;
}

/// Generates a test for a caller on a database.
macro_rules! schemathesis_tests {
    ($($name:ident: $caller:ident on $kind:ident;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "long: make test-resilience"]
            async fn $name() {
                run_as(SchemathesisUser::$caller, DatabaseKind::$kind, size("20", "200")).await;
            }
        )*
    };
}

// PostgreSQL is tested with the caller that reaches most statements, because the two databases differ only below the
// permission checks.
schemathesis_tests! {
    requests_without_session_are_rejected: Anonymous on Sqlite;
    responses_to_students_are_documented: Student on Sqlite;
    responses_to_teachers_are_documented: Teacher on Sqlite;
    responses_to_admins_are_documented: Admin on Sqlite;
    responses_to_admins_are_documented_on_postgres: Admin on Postgres;
    responses_to_super_admins_are_documented: SuperAdmin on Sqlite;
    responses_to_document_server_are_documented: DocumentServer on Sqlite;
}
